//! Budgets of time under timers, and budgets of all scopes: each rule with its test.

use std::time::Duration;

use proptest::prelude::*;

use crate::detectors::{Rules, Scope};
use crate::model::{Action, Carrier, Claim, Role, Step};

use super::Settings;
use super::testing::{Bench, answer, asking, call, ms, reading, root, trace};

fn max(ms: u64) -> impl Fn(&mut Settings) {
    move |s| s.detectors.budget_time.max = Some(Duration::from_millis(ms))
}

fn idle(ms: u64) -> impl Fn(&mut Settings) {
    move |s| s.detectors.budget_time.idle = Some(Duration::from_millis(ms))
}

fn look(span: u32, end: u64) -> Step {
    call(1, span, end, &format!("look {span}"), &format!("at {span}"))
}

fn reasons(bench: &Bench) -> Vec<(&'static str, u32)> {
    let reports = bench.out.reports.iter();
    let of = |f: &crate::model::Finding| (f.reason.unwrap_or(""), f.judged().unwrap().step);
    reports.map(|report| of(&report.finding)).collect()
}

#[test]
fn a_limit_of_time_is_passed_without_a_step() {
    let mut bench = Bench::new(max(1000));
    bench.send(100, &[look(1, 100)]).advance(1090);
    assert_eq!(reasons(&bench), []);
    bench.advance(1091);
    assert_eq!(reasons(&bench), [("exceeded", 0)]);
    assert_eq!((bench.released(), bench.synthetic()), (1, 1));
    let report = &bench.out.reports[0];
    assert_eq!(report.at, ms(1090), "a second after the start");
    assert!(matches!(report.carrier, Carrier::Synthetic(_)));
    bench.send(5000, &[look(2, 5000)]).advance(9000);
    assert_eq!(bench.reports().len(), 1, "once a limit");
}

#[test]
fn a_step_that_shows_it_carries_it_itself() {
    let mut bench = Bench::new(max(1000));
    bench
        .send(100, &[look(1, 100)])
        .send(5000, &[look(2, 5000)]);
    assert_eq!(reasons(&bench), [("exceeded", 1)]);
    assert_eq!((bench.patched(), bench.synthetic()), (1, 0));
}

#[test]
fn clocks_of_agents_may_be_wrong() {
    // Sent an hour after it happened: that hour is not the run's.
    let mut bench = Bench::new(max(60_000));
    bench.send(3_600_000, &[look(1, 100)]).advance(3_659_000);
    assert_eq!(reasons(&bench), []);
    bench.advance(3_660_000);
    assert_eq!(reasons(&bench), [("exceeded", 0)]);
    // A step from tomorrow measures nothing and moves no clock.
    let mut bench = Bench::new(max(60_000));
    let mut ahead = look(2, 86_400_000);
    ahead.start = ms(50);
    bench.send(100, &[look(1, 100), ahead]).advance(60_000);
    assert_eq!(reasons(&bench), []);
}

#[test]
fn silence_of_an_open_run_is_told_once() {
    let mut bench = Bench::new(idle(5000));
    bench.send(100, &[look(1, 100)]).advance(5099);
    assert_eq!(reasons(&bench), []);
    bench.advance(5100);
    assert_eq!(reasons(&bench), [("idle", 0)]);
    assert_eq!(bench.out.reports[0].at, ms(5100));
    bench.send(6000, &[look(2, 6000)]).advance(60_000);
    assert_eq!(reasons(&bench).len(), 1);
}

#[test]
fn who_has_given_the_final_answer_may_be_silent() {
    let mut bench = Bench::new(|s| {
        idle(5000)(s);
        max(7000)(s);
    });
    bench.send(100, &[look(1, 100)]);
    bench.send(200, &[answer(1, 2, 200, "It rains.", Claim::None)]);
    bench.advance(500_000);
    assert_eq!(reasons(&bench), []);
    let mut bench = Bench::new(idle(500));
    bench.send(
        100,
        &[look(1, 100), root(1, 9, 50, 100, "Bye.", Claim::None)],
    );
    bench.advance(500_000);
    assert_eq!(reasons(&bench), []);
}

#[test]
fn a_call_that_does_not_come_back_hangs() {
    let mut bench = Bench::new(idle(5000));
    bench.send(100, &[asking(1, 1, 100, 7, Role::Shell)]);
    // Others are heard meanwhile.
    let mut other = answer(1, 2, 3000, "Hm.", Claim::None);
    other.agent = Some("other".into());
    bench.send(3000, &[other]).advance(5099);
    assert_eq!(reasons(&bench), []);
    bench.advance(5100);
    assert_eq!(reasons(&bench), [("hung", 1)], "names the run's last step");
    assert_eq!(bench.out.reports[0].finding.tool.as_deref(), Some("run_it"));
    bench.advance(100_000);
    assert_eq!(reasons(&bench).len(), 1);
}

#[test]
fn what_came_back_does_not_hang() {
    let back = |change: &dyn Fn(&mut Step)| {
        let mut bench = Bench::new(idle(5000));
        bench.send(100, &[asking(1, 1, 100, 7, Role::Shell)]);
        let mut step = look(2, 2000);
        change(&mut step);
        bench.send(2000, &[step]);
        bench.send(6000, &[look(3, 6000)]).advance(7500);
        reasons(&bench)
    };
    let by_id = |step: &mut Step| {
        if let Action::ToolCall(call) = &mut step.action {
            call.call_id = Some(7);
        }
    };
    assert_eq!(back(&by_id), []);
    assert_eq!(
        back(&|_| {}),
        [],
        "a span without an id is the call asked for"
    );
    let mut bench = Bench::new(idle(5000));
    bench.send(100, &[asking(1, 1, 100, 7, Role::Shell)]);
    bench
        .send(2000, &[asking(1, 2, 2000, 8, Role::Shell)])
        .advance(6999);
    assert_eq!(reasons(&bench), [], "the model went on");
    bench.advance(7000);
    assert_eq!(reasons(&bench), [("hung", 1)]);
}

#[test]
fn people_may_take_their_time_and_helpers_are_heard() {
    let mut bench = Bench::new(idle(5000));
    bench.send(100, &[asking(1, 1, 100, 7, Role::Delegate)]);
    let mut helper = look(2, 4000);
    helper.agent = Some("helper".into());
    bench.send(4000, &[helper]).advance(8999);
    assert_eq!(reasons(&bench), []);
    bench.advance(9000);
    assert_eq!(reasons(&bench), [("hung", 1)]);
}

#[test]
fn the_end_of_the_input_passes_no_limit() {
    let mut bench = Bench::new(|s| {
        idle(5000)(s);
        max(7000)(s);
    });
    bench
        .send(100, &[asking(1, 1, 100, 7, Role::Shell)])
        .drain(100);
    assert_eq!(reasons(&bench), []);
    assert_eq!(bench.out.closed.len(), 1);
}

#[test]
fn source_rules_have_no_timers() {
    let mut bench = Bench::new(|s| {
        s.rules = Rules::Source;
        max(1000)(s);
    });
    bench.send(100, &[look(1, 100)]).advance(100_000);
    assert_eq!(reasons(&bench), []);
    bench.send(100_100, &[look(2, 100_100)]);
    assert_eq!(reasons(&bench), [("exceeded", 1)]);
}

#[test]
fn without_stamps_the_step_read_then_is_named() {
    let mut bench = Bench::new(idle(1000));
    bench
        .send(100, &[look(1, 100)])
        .send(5000, &[look(2, 5000)]);
    assert_eq!(reasons(&bench), [("idle", 1)]);
}

#[test]
fn a_run_with_a_deadline_is_not_closed_before() {
    let mut bench = Bench::new(max(1_800_000));
    bench.send(100, &[look(1, 100)]).advance(1_700_000);
    assert!(bench.out.closed.is_empty());
    bench.advance(1_900_000);
    assert_eq!(reasons(&bench), [("exceeded", 0)]);
    assert_eq!(bench.out.closed.len(), 1);
}

#[test]
fn each_turn_and_each_agent_has_a_budget_of_its_own() {
    let by = |agent: &str, mut step: Step| {
        step.agent = Some(agent.into());
        step
    };
    let steps = |scope| {
        move |s: &mut Settings| {
            s.detectors.budget_steps.max = Some(2);
            s.detectors.budget_steps.scope = scope;
        }
    };
    let mut bench = Bench::new(steps(Scope::Agent));
    for n in 0..3u32 {
        let at = 100 * u64::from(n + 1);
        bench.send(
            at,
            &[by("a", look(10 + n, at)), by("b", look(20 + n, at + 5))],
        );
    }
    assert_eq!(
        bench.reports(),
        ["budget_steps opened @12", "budget_steps opened @22"]
    );
    let asked = |span: u32, at: u64, count: u32| {
        let mut step = answer(1, span, at, "Hm.", Claim::None);
        if let Action::ModelCall(model) = &mut step.action {
            model.user_messages = Some(count);
        }
        step
    };
    let mut bench = Bench::new(steps(Scope::Turn));
    for turn in 0..3u32 {
        let from = 1000 * u64::from(turn) + 20;
        bench.send(from, &[asked(50 + turn, from, turn + 1)]);
        let calls = if turn == 1 { 3 } else { 2 };
        for n in 0..calls {
            let at = from + 100 * u64::from(n + 1);
            bench.send(at, &[look(100 * (turn + 1) + n, at)]);
        }
    }
    assert_eq!(bench.reports(), ["budget_steps opened @202"]);
    assert_eq!(bench.engine.counters().budgets_near[15..], [3, 0, 0]);
}

#[test]
fn a_session_has_one_budget_over_its_runs() {
    let mut bench = Bench::new(|s| s.detectors.budget_steps.max = Some(3));
    for n in 1..=6u8 {
        let at = 1000 * u64::from(n);
        let mut step = call(n, u32::from(n), at, &format!("look {n}"), "x");
        step.conversation = Some("c".into());
        bench.send(at, &[step]);
    }
    assert_eq!(bench.reports(), ["budget_steps opened @4"]);
}

#[test]
fn cost_that_wrappers_repeat_counts_once() {
    let paid = |span_n: u32, parent: u32, end: u64, usd: f64| {
        let mut step = asking(1, span_n, end, u64::from(span_n), Role::Read);
        step.parent = Some(super::testing::span(parent));
        step.usage.cost_usd = Some(usd);
        step
    };
    let mut bench = Bench::new(|s| s.detectors.budget_cost.max_usd = Some(0.5));
    bench.send(100, &[paid(1, 2, 100, 0.3), paid(2, 9, 110, 0.3)]);
    bench.send(200, &[paid(3, 4, 200, 0.2), paid(4, 9, 210, 0.2)]);
    assert_eq!(reasons(&bench), []);
    bench.send(300, &[paid(5, 9, 300, 0.01)]);
    assert_eq!(bench.reports(), ["budget_cost opened @5"]);
}

/// What a generated run does: milliseconds later, which lane, whether it asks.
type Plan = (u64, u8, bool);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn with_timers_a_recording_replays_to_what_was_said_live(
        plans in prop::collection::vec((1..3000u64, 0..2u8, any::<bool>()), 1..30),
        delays in prop::collection::vec(0..2500u64, 30),
        ticks in prop::collection::vec(0..4000u64, 30),
        limits in (500..9000u64, 200..4000u64),
    ) {
        let steps = planned(&plans);
        let mut arrivals: Vec<(u64, Step)> = steps
            .iter()
            .zip(&delays)
            .map(|((at, step), delay)| (at + delay, step.clone()))
            .collect();
        arrivals.sort_by_key(|(at, _)| *at);
        let bench = || Bench::new(|s| {
            max(limits.0)(s);
            idle(limits.1)(s);
            s.detectors.budget_steps.max = Some(4);
            s.detectors.budget_steps.scope = Scope::Agent;
        });
        let (mut live, mut replayed) = (bench(), bench());
        for (n, (at, step)) in arrivals.iter().enumerate() {
            let step = std::slice::from_ref(step);
            replayed.engine.arrive(reading(step), ms(*at), &mut replayed.out);
            live.engine.arrive(reading(step), ms(*at), &mut live.out);
            let next = arrivals.get(n + 1).map_or(u64::MAX, |(next, _)| *next);
            live.advance((at + ticks[n]).min(next - 1).max(*at));
        }
        let end = 1_000_000;
        live.advance(end).drain(end);
        replayed.advance(end).drain(end);
        let told = |bench: &Bench| {
            let reports = bench.out.reports.iter();
            let mut told: Vec<String> = reports
                .map(|r| format!("{:?} {:?} {:?}", r.finding, r.state, r.at))
                .collect();
            told.sort();
            told
        };
        prop_assert_eq!(told(&live), told(&replayed));
        prop_assert_eq!(live.released() as usize, steps.len());
        let made = live.engine.counters().synthetic_spans;
        prop_assert_eq!(u64::from(live.synthetic()), made);
    }
}

fn planned(plans: &[Plan]) -> Vec<(u64, Step)> {
    let mut at = 1000;
    let mut steps = Vec::new();
    for (n, (gap, lane, asks)) in (1..).zip(plans) {
        at += gap;
        let mut step = if *asks {
            asking(1, n, at, u64::from(n), Role::Shell)
        } else {
            look(n, at)
        };
        step.agent = Some(format!("agent {lane}").as_str().into());
        steps.push((at, step));
    }
    debug_assert!(steps.iter().all(|(_, step)| step.trace == trace(1)));
    steps
}
