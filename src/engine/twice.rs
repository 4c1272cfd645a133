//! What is told twice counts once: model answers, calls and what they cost, whichever span comes first.

use proptest::prelude::*;

use crate::lanes::Order;
use crate::model::{Action, Claim, Role, Step, Timestamp};

use super::Settings;
use super::testing::{Bench, answer, asking, call, ms, root, span, trace};

/// As a second instrumentation tells it, beside the first.
fn again(step: &Step, span_n: u32) -> Step {
    let mut step = step.clone();
    step.span = span(span_n);
    step.scope = 2;
    step
}

/// As a wrapper around it tells it.
fn around(step: &mut Step, span_n: u32) -> Step {
    let mut wrapper = step.clone();
    wrapper.span = span(span_n);
    wrapper.start = wrapper.start.minus(std::time::Duration::from_millis(1));
    wrapper.end = wrapper.end.plus(std::time::Duration::from_millis(1));
    step.parent = Some(wrapper.span);
    wrapper
}

fn silent(mut step: Step) -> Step {
    if let Action::ModelCall(model) = &mut step.action {
        model.text = None;
        model.requested.clear();
    }
    step
}

fn paid(mut step: Step, tokens: u64, usd: Option<f64>) -> Step {
    step.usage.input_tokens = Some(tokens);
    step.usage.output_tokens = Some(1);
    step.usage.cost_usd = usd;
    step
}

fn metered(steps: &[&[Step]]) -> Bench {
    let mut bench = Bench::new(|s| s.detectors.budget_cost.max_usd = Some(1000.0));
    for (at, steps) in (1..).zip(steps) {
        bench.send(10_000 * at, steps);
    }
    bench
}

/// Dollars, priced and unpriced steps by the session's meter; tokens, and requests without any, by the run.
fn spent(bench: &Bench) -> (f64, u64, u64, u64, u32) {
    let run = bench.engine.sessions.run(trace(1)).unwrap();
    let last = Order {
        end: Timestamp::MAX,
        ..Order::default()
    };
    let meter = &bench.engine.sessions.ledger_of(run).meter;
    let amount = meter.as_of(last, trace(1), false);
    let bill = run.facts.spent;
    (
        amount.usd,
        amount.priced,
        amount.unpriced,
        bill.tokens,
        bill.uncounted,
    )
}

#[test]
fn an_answer_told_by_two_instrumentations_is_one() {
    let one = paid(answer(1, 1, 100, "Well.", Claim::None), 9, Some(0.25));
    let other = again(&one, 2);
    for steps in [[one.clone(), other.clone()], [other, one]] {
        assert_eq!(spent(&metered(&[&steps])), (0.25, 1, 0, 10, 0));
        assert_eq!(
            spent(&metered(&[&steps[..1], &steps[1..]])),
            (0.25, 1, 0, 10, 0)
        );
    }
}

#[test]
fn answers_of_one_instrumentation_are_as_many_as_its_spans() {
    let one = paid(answer(1, 1, 100, "Well.", Claim::None), 9, Some(0.25));
    let mut parallel = one.clone();
    parallel.span = span(2);
    let steps = [one.clone(), parallel.clone()];
    assert_eq!(spent(&metered(&[&steps])).0, 0.5);
    let doubled = [
        one.clone(),
        again(&one, 3),
        parallel.clone(),
        again(&parallel, 4),
    ];
    assert_eq!(spent(&metered(&[&doubled])).0, 0.5, "each is told twice");
    let [a, b, c, d] = doubled;
    assert_eq!(spent(&metered(&[&[a, c, b, d]])).0, 0.5);
    let mut later = again(&one, 5);
    (later.start, later.end) = (ms(300), ms(310));
    assert_eq!(spent(&metered(&[&[one, later]])).0, 0.5, "not at one time");
}

#[test]
fn what_one_span_does_not_tell_the_other_may() {
    let inner = paid(answer(1, 1, 100, "Well.", Claim::None), 9, None);
    let mut priced = inner.clone();
    priced.usage = Default::default();
    priced.usage.cost_usd = Some(0.5);
    let outer = again(&priced, 2);
    let both = (0.5, 1, 0, 10, 0);
    assert_eq!(
        spent(&metered(&[std::slice::from_ref(&inner)])),
        (0.0, 0, 1, 10, 0)
    );
    assert_eq!(spent(&metered(&[&[inner.clone(), outer.clone()]])), both);
    assert_eq!(spent(&metered(&[&[outer, inner.clone()]])), both);
    let mut within = inner;
    let wrapper = around(&mut within, 3);
    let mut wrapper = silent(wrapper);
    wrapper.usage = priced.usage;
    assert_eq!(spent(&metered(&[&[within.clone(), wrapper.clone()]])), both);
    assert_eq!(spent(&metered(&[&[wrapper, within]])), both);
}

#[test]
fn totals_on_spans_of_agents_are_not_spent_again() {
    let steps = [
        paid(answer(1, 1, 100, "First.", Claim::None), 9, Some(0.25)),
        paid(answer(1, 2, 200, "Second.", Claim::None), 19, Some(0.5)),
        paid(
            root(1, 9_999, 0, 300, "Second.", Claim::None),
            28,
            Some(0.75),
        ),
    ];
    assert_eq!(spent(&metered(&[&steps])), (0.75, 2, 0, 30, 0));
    let [a, b, c] = steps;
    assert_eq!(spent(&metered(&[&[c, b, a]])), (0.75, 2, 0, 30, 0));
}

#[test]
fn a_span_sent_again_is_not_counted_again() {
    let named = |mut step: Step| {
        step.conversation = Some("c".into());
        step
    };
    let steps = [
        named(paid(
            answer(1, 1, 100, "First.", Claim::None),
            9,
            Some(0.25),
        )),
        named(call(1, 2, 150, "look", "x")),
        named(root(1, 9_999, 0, 200, "First.", Claim::None)),
    ];
    let mut bench = metered(&[&[steps.clone(), steps.clone()].concat()]);
    assert_eq!(spent(&bench), (0.25, 1, 0, 10, 0));
    // The run is closed by now.
    bench.advance(60_000);
    assert!(bench.engine.sessions.run(trace(1)).is_none());
    let late = named(paid(answer(1, 5, 160, "Late.", Claim::None), 9, Some(0.5)));
    bench
        .send(61_000, &steps)
        .send(62_000, std::slice::from_ref(&late))
        .send(63_000, &[late]);
    let other = named(paid(
        answer(2, 7, 64_000, "New.", Claim::None),
        9,
        Some(1.0),
    ));
    bench.send(64_000, &[other]);
    let run = bench.engine.sessions.run(trace(2)).unwrap();
    let meter = &bench.engine.sessions.ledger_of(run).meter;
    let last = Order {
        end: Timestamp::MAX,
        ..Order::default()
    };
    let amount = meter.as_of(last, trace(2), false);
    assert_eq!((amount.usd, amount.calls, amount.priced), (1.75, 1, 3));
    assert_eq!(bench.engine.counters().duplicate_spans, 7);
}

#[test]
fn a_call_that_only_its_second_span_prices_is_paid_once() {
    let one = call(1, 1, 100, "look", "x");
    let mut other = again(&one, 2);
    other.usage.cost_usd = Some(0.5);
    let mut third = again(&other, 3);
    third.scope = 3;
    let bench = metered(&[&[one, other, third]]);
    assert_eq!(spent(&bench).0, 0.5);
    let run = bench.engine.sessions.run(trace(1)).unwrap();
    assert_eq!(
        (run.facts.calls, bench.engine.counters().second_spans),
        (1, 2)
    );
}

fn blank(span_n: u32, end: u64) -> Step {
    let mut step = answer(1, span_n, end, "", Claim::None);
    if let Action::ModelCall(model) = &mut step.action {
        model.finish = Default::default();
    }
    step
}

#[test]
fn empty_answers_are_counted_by_answer_not_by_span() {
    let two: Vec<Step> = [blank(1, 100), blank(2, 200)]
        .iter()
        .flat_map(|step| {
            [
                step.clone(),
                again(step, u32::from(step.span.as_bytes()[7]) + 50),
            ]
        })
        .collect();
    let mut bench = Bench::new(|_| ());
    bench.send(1000, &two).advance(5000);
    assert_eq!(bench.reports(), [] as [&str; 0]);
    bench.send(6000, &[blank(3, 300)]).advance(9000);
    assert_eq!(bench.reports(), ["empty_response opened @3"]);
}

#[test]
fn a_span_that_captured_nothing_gives_way_to_one_that_did() {
    let words = "I will look into this once more and then tell you";
    let mut steps = Vec::new();
    for n in 1..=3 {
        let mut inner = answer(1, n, u64::from(n) * 100, words, Claim::None);
        let outer = around(&mut inner, n + 50);
        steps.extend([silent(inner), outer]);
    }
    let mut bench = Bench::new(|_| ());
    bench.send(1000, &steps).advance(5000);
    assert_eq!(bench.reports(), ["stutter opened @53"]);
    let run = bench.engine.sessions.run(trace(1)).unwrap();
    assert_eq!(run.lanes[0].lane.replies().len(), 3);
    assert_eq!(bench.released(), 6);
    steps.reverse();
    let mut bench = Bench::new(|_| ());
    bench.send(1000, &steps).advance(5000);
    assert_eq!(bench.reports(), ["stutter opened @53"]);
}

#[test]
fn requests_told_twice_are_answered_by_one_call() {
    let idle = |s: &mut Settings| {
        s.detectors.budget_time.idle = Some(std::time::Duration::from_secs(60));
    };
    let asks = asking(1, 1, 100, 7, Role::Shell);
    let mut ran = call(1, 3, 200, "run_it", "x");
    if let Action::ToolCall(call) = &mut ran.action {
        call.call_id = Some(7);
    }
    let steps = [
        asks.clone(),
        again(&asks, 2),
        ran.clone(),
        again(&ran, 4),
        answer(1, 5, 300, "Here it is.", Claim::None),
    ];
    let mut bench = Bench::new(idle);
    bench.send(1000, &steps).advance(200_000);
    assert_eq!(bench.reports(), [] as [&str; 0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Three answers, each told by up to three spans of which any may lack what others tell, in any order and
    /// cut into requests anywhere.
    #[test]
    fn what_is_spent_does_not_hang_on_which_span_comes_first(
        plans in prop::collection::vec((0..4u8, any::<bool>(), any::<bool>()), 1..=3),
        order in Just((0..9usize).collect::<Vec<_>>()).prop_shuffle(),
        cut in 0..9usize,
    ) {
        let mut steps = Vec::new();
        let mut dollars = 0.0;
        for (n, (kind, inner_mute, dear)) in (1..).zip(&plans) {
            let usd = if *dear { Some(f64::from(n)) } else { None };
            dollars += usd.unwrap_or(0.0);
            let words = format!("Answer {n}.");
            let mut inner = paid(answer(1, n, u64::from(n) * 100, &words, Claim::None), 9, usd);
            match kind {
                0 => steps.push(inner),
                1 => steps.extend([again(&inner, n + 20), inner]),
                2 => {
                    let outer = around(&mut inner, n + 40);
                    let inner = if *inner_mute { silent(inner) } else { inner };
                    steps.extend([outer, inner]);
                }
                _ => {
                    let outer = around(&mut inner, n + 40);
                    let beside = again(&outer, n + 20);
                    steps.extend([outer, inner, beside]);
                }
            }
        }
        let tokens = 10 * plans.len() as u64;
        let shuffled: Vec<Step> = order.iter().filter_map(|at| steps.get(*at).cloned()).collect();
        let (front, back) = shuffled.split_at(cut.min(shuffled.len()));
        let (usd, _, unpriced, counted, uncounted) = spent(&metered(&[front, back]));
        prop_assert_eq!((usd, counted, uncounted), (dollars, tokens, 0));
        let cheap = plans.iter().filter(|(_, _, dear)| !dear).count() as u64;
        prop_assert_eq!(unpriced, cheap);
    }
}
