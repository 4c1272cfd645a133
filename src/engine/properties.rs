//! The property of DESIGN 3: for any batching, and any arrival order in which no step is displaced by more
//! than the settle time, the same findings with the same members. Which span carries the mark may differ.

use std::time::Duration;

use proptest::prelude::*;

use crate::model::{Claim, Step};
use crate::sessions::Settle;

use super::testing::{Bench, answer, call, edit, ms, reading, test_run};

const SETTLE_MS: u64 = 2000;

/// What one step of a generated run is.
#[derive(Clone, Debug)]
enum Kind {
    Call(u8, u8),
    Edit(u8),
    Test,
    Claim,
    Say(u8),
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        6 => (0..3u8, 0..2u8).prop_map(|(key, answer)| Kind::Call(key, answer)),
        1 => (0..2u8).prop_map(Kind::Edit),
        1 => Just(Kind::Test),
        1 => Just(Kind::Claim),
        1 => (0..2u8).prop_map(Kind::Say),
    ]
}

fn step(number: u32, at: u64, agent: Option<u8>, kind: &Kind) -> Step {
    let mut step = match kind {
        Kind::Call(key, text) => call(1, number, at, &format!("k{key}"), &format!("a{text}")),
        Kind::Edit(key) => edit(1, number, at, &format!("edit {key}")),
        Kind::Test => test_run(1, number, at - 20, at),
        Kind::Claim => answer(1, number, at, &format!("Done {number}"), Claim::Done),
        Kind::Say(n) => answer(
            1,
            number,
            at,
            if *n == 0 { " " } else { "Looking." },
            Claim::None,
        ),
    };
    step.agent = agent.map(|n| format!("agent {n}").as_str().into());
    step
}

/// Plan of a step: what it is, milliseconds after the one before, how much later than its end it arrives,
/// whose it is.
type Plan = (Kind, u64, u64, Option<u8>);

fn plans() -> impl Strategy<Value = Vec<Plan>> {
    prop::collection::vec(
        (kind(), 1..400u64, 0..SETTLE_MS, prop::option::of(0..2u8)),
        1..60,
    )
}

/// The steps of a plan, and for each how much later than its end it arrives.
fn run(plans: &[Plan]) -> Vec<(Step, u64)> {
    let mut at = 1000;
    let mut out = Vec::new();
    for (number, (kind, gap, delay, agent)) in plans.iter().enumerate() {
        at += gap;
        out.push((step(number as u32 + 1, at, *agent, kind), *delay));
    }
    out
}

fn bench() -> Bench {
    Bench::new(|s| s.sessions.settle = Settle::Fixed(Duration::from_millis(SETTLE_MS)))
}

/// Findings with their members, in an order of their own.
fn found(bench: &Bench) -> Vec<String> {
    let mut found: Vec<String> = bench
        .out
        .reports
        .iter()
        .map(|report| {
            let finding = &report.finding;
            let members: Vec<_> = finding.members.iter().map(|member| member.span).collect();
            format!(
                "{} {} {members:?} {:?}",
                finding.anomaly,
                report.state.name(),
                report.severity
            )
        })
        .collect();
    found.sort();
    found
}

fn end_ms(step: &Step) -> u64 {
    (step.end.nanos() - ms(0).nanos()) / 1_000_000
}

/// What is found live, with a clock that is looked at `ticks` milliseconds after each arrival, and in a
/// replay of the recording.
fn live_and_replayed(
    plans: &[Plan],
    ticks: &[u64],
    two_resources: bool,
) -> (Vec<String>, Vec<String>) {
    let steps = run(plans);
    let mut arrivals: Vec<(u64, Step)> = steps
        .iter()
        .enumerate()
        .map(|(n, (step, delay))| {
            let mut step = step.clone();
            step.resource += u64::from(two_resources && n % 5 == 4);
            (end_ms(&step) + delay, step)
        })
        .collect();
    arrivals.sort_by_key(|(at, _)| *at);
    let mut live = Bench::new(|_| {});
    let mut replayed = Bench::new(|_| {});
    for (n, (at, step)) in arrivals.iter().enumerate() {
        let steps = std::slice::from_ref(step);
        replayed
            .engine
            .arrive(reading(steps), ms(*at), &mut replayed.out);
        live.engine.arrive(reading(steps), ms(*at), &mut live.out);
        let next = arrivals.get(n + 1).map_or(u64::MAX, |(next, _)| *next);
        if let Some(tick) = ticks.get(n) {
            // Timers fire late, never early, and never at or after the next arrival.
            live.advance((at + tick).min(next - 1).max(*at));
        }
    }
    live.drain(1_000_000);
    replayed.drain(1_000_000);
    (found(&live), found(&replayed))
}

#[test]
fn the_end_of_a_recording_is_judged_as_if_its_clock_ran_on() {
    use Kind::{Call, Claim, Say};
    let call = |gap, delay| (Call(0, 0), gap, delay, None);
    let mut plans = vec![
        (Claim, 1, 1213, None),
        (Say(0), 1, 777, None),
        call(1, 0),
        call(1, 0),
        call(1, 0),
        (Claim, 1, 773, None),
        call(1, 0),
        (Claim, 1, 771, None),
        call(1, 0),
        call(9, 0),
        call(287, 0),
        (Say(0), 309, 165, None),
    ];
    plans.extend([161, 280, 355, 348, 248, 295].map(|gap| call(gap, 0)));
    plans.extend([call(81, 1602), call(1, 0)]);
    // A claim that came late waits longer than the answer behind it.
    let (live, replayed) = live_and_replayed(&plans, &[2860; 20], true);
    assert_eq!(live, replayed);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn order_and_batching_within_settle_change_no_finding(
        plans in plans(),
        batch in prop_oneof![1..8usize, 30..60usize],
    ) {
        let steps = run(&plans);
        let mut in_order = bench();
        for (step, _) in &steps {
            in_order.send(end_ms(step), std::slice::from_ref(step));
        }
        in_order.advance(1_000_000).drain(1_000_000);

        let mut arrivals: Vec<(u64, Step)> =
            steps.iter().map(|(step, delay)| (end_ms(step) + delay, step.clone())).collect();
        arrivals.sort_by_key(|(at, _)| *at);
        let mut shuffled = bench();
        for batch in arrivals.chunks(batch) {
            // A batch arrives no later than any of its steps may: it is cut where that would be broken.
            let mut group: Vec<Step> = Vec::new();
            let mut earliest = u64::MAX;
            let mut latest = 0;
            for (at, step) in batch {
                if !group.is_empty() && *at > earliest.min(end_ms(step)) + SETTLE_MS - 1 {
                    shuffled.send(latest, &group);
                    group.clear();
                    earliest = u64::MAX;
                }
                earliest = earliest.min(end_ms(step));
                latest = *at;
                group.push(step.clone());
            }
            shuffled.send(latest, &group);
        }
        shuffled.advance(1_000_000).drain(1_000_000);

        prop_assert_eq!(found(&in_order), found(&shuffled));
        prop_assert_eq!(shuffled.released() as usize, steps.len());
    }

    #[test]
    fn a_recording_with_its_stamps_replays_to_what_was_said_live(
        plans in plans(),
        ticks in prop::collection::vec(0..3000u64, 0..60),
        two_resources in any::<bool>(),
    ) {
        let (live, replayed) = live_and_replayed(&plans, &ticks, two_resources);
        prop_assert_eq!(live, replayed);
    }

    #[test]
    fn every_span_leaves_exactly_once_whatever_comes(
        plans in plans(),
        max_held in 0..2000u64,
        copies in prop::collection::vec(any::<prop::sample::Index>(), 0..10),
        auto in any::<bool>(),
    ) {
        let steps = run(&plans);
        let mut bench = Bench::new(|s| {
            s.sessions.max_held = max_held;
            s.sessions.max_state = 30_000;
            if !auto {
                s.sessions.settle = Settle::Fixed(Duration::from_millis(SETTLE_MS));
            }
        });
        let mut sent = 0;
        for (n, (step, delay)) in steps.iter().enumerate() {
            let mut step = step.clone();
            if n % 7 == 3 {
                step.resource = 2;
            }
            if n % 11 == 5 {
                step.trace = super::testing::trace(2);
            }
            bench.send(end_ms(&step) + delay, &[step]);
            sent += 1;
        }
        for copy in copies {
            let (step, _) = copy.get(&steps);
            bench.send(500_000, std::slice::from_ref(step));
            sent += 1;
        }
        bench.drain(600_000);
        prop_assert_eq!(bench.released(), sent);
        prop_assert_eq!(u64::from(bench.synthetic()), bench.engine.counters().synthetic_spans);
        for release in &bench.out.releases {
            prop_assert!(release.patches.is_sorted_by_key(|patch| patch.span));
            for patch in &release.patches {
                prop_assert!(release.spans.contains(patch.span));
            }
        }
    }
}
