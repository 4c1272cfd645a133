//! Tests: what is told, what is only counted, and what somebody has accepted.

use globset::{Glob, GlobMatcher};

use crate::detectors::{self, Override};
use crate::model::{AnomalyType, Emit, Severity, Step, Timestamp};
use crate::policies::Ignore;

use super::testing::{Bench, call, ms};
use super::{Settings, Why, ignore_line};

fn same(trace: u8, from: u32, count: u32) -> Vec<Step> {
    (0..count)
        .map(|n| call(trace, from + n, 100 * u64::from(n + 1), "read a", "x"))
        .collect()
}

#[test]
fn a_fingerprint_is_the_same_through_an_episode_and_in_every_run() {
    let mut bench = Bench::new(|_| {});
    bench.send(1000, &same(1, 1, 6)).send(2000, &same(2, 11, 3));
    let lines: Vec<String> = bench.out.reports.iter().map(ignore_line).collect();
    assert_eq!(
        lines,
        ["- {type: stuck, fingerprint: c87416d659372ce0, reason: \"why this is fine\"}"; 3]
    );
}

fn glob(text: &str) -> Option<GlobMatcher> {
    Some(Glob::new(text).unwrap().compile_matcher())
}

/// An override for the first bit of the audience.
fn over(settings: &mut Settings, change: impl FnOnce(&mut Override)) {
    let mut one = Override {
        agent: None,
        tool: None,
        settings: settings.detectors.clone(),
    };
    change(&mut one);
    settings.overrides.push(one);
}

fn threshold(threshold: u32) -> impl FnOnce(&mut detectors::Settings) {
    move |settings| {
        settings.stuck.threshold = threshold;
        settings.transition_repeat.repeats = threshold;
    }
}

/// Steps whose resource every override means.
fn meant(mut steps: Vec<Step>) -> Vec<Step> {
    steps.iter_mut().for_each(|step| step.audience = u64::MAX);
    steps
}

#[test]
fn the_first_override_that_means_a_step_counts() {
    let bench = || {
        Bench::new(|settings| {
            over(settings, |one| {
                one.tool = glob("read *");
                one.agent = glob("plan*");
                threshold(5)(&mut one.settings);
            });
            over(settings, |one| {
                one.tool = glob("*a");
                threshold(4)(&mut one.settings);
            });
        })
    };
    let named = |agent: &str| {
        let mut steps = meant(same(1, 1, 5));
        steps.iter_mut().for_each(|s| s.agent = Some(agent.into()));
        steps
    };
    let first = |steps: &[Step]| bench().send(1000, steps).reports().remove(0);
    assert_eq!(first(&named("planner")), "stuck opened @5");
    assert_eq!(first(&named("writer")), "stuck opened @4");
    assert_eq!(first(&meant(same(1, 1, 5))), "stuck opened @4");
    assert_eq!(first(&same(1, 1, 5)), "stuck opened @3", "another service");
    let mut other = meant(same(1, 1, 5));
    for step in &mut other {
        if let crate::model::Action::ToolCall(call) = &mut step.action {
            call.tool = "list".into();
        }
    }
    assert_eq!(first(&other), "stuck opened @3", "another tool");
}

#[test]
fn a_lane_remembers_as_much_as_an_override_wants() {
    let mut bench = Bench::new(|settings| {
        over(settings, |one| threshold(90)(&mut one.settings));
    });
    for step in meant(same(1, 1, 90)) {
        bench.send(20_000, &[step]);
    }
    assert_eq!(bench.reports(), ["stuck opened @90"]);
}

fn emit(emit: Emit) -> Bench {
    Bench::new(|settings| {
        over(settings, |one| {
            one.settings.stuck.emit = Some(emit);
            one.settings.transition_repeat.emit = Some(emit);
        });
    })
}

#[test]
fn a_rule_on_trial_is_counted_and_marks_nothing() {
    let steps = meant(same(1, 1, 13));
    let (mut loud, mut trial) = (emit(Emit::Span), emit(Emit::Metric));
    for step in &steps {
        loud.send(2000, std::slice::from_ref(step));
        trial.send(2000, std::slice::from_ref(step));
    }
    assert_eq!(loud.reports().len(), 3);
    assert_eq!((trial.reports().len(), trial.patched()), (0, 0));
    // The episodes are the same ones.
    let states = |reports: Vec<(u64, &str)>| format!("{reports:?}");
    let told = loud.out.reports.iter();
    let kept = trial.out.quiet.iter();
    assert!(kept.clone().all(|quiet| quiet.why == Why::Trial));
    assert_eq!(
        states(told.map(|r| (r.episode, r.state.name())).collect()),
        states(
            kept.map(|q| (q.report.episode, q.report.state.name()))
                .collect()
        ),
    );
    let counters = trial.engine.counters();
    assert_eq!(counters.trials_of(AnomalyType::Stuck, Severity::Error), 2);
    assert_eq!(counters.trials_of(AnomalyType::Stuck, Severity::Warning), 1);
    assert_eq!(
        counters.reports_of(AnomalyType::Stuck, Severity::Warning),
        0
    );
    assert_eq!(counters.held_spans, 0, "nothing is held for it");
}

#[test]
fn off_is_not_judged() {
    let mut bench = emit(Emit::Off);
    bench.send(2000, &meant(same(1, 1, 13))).drain(3000);
    assert_eq!((bench.out.reports.len(), bench.out.quiet.len()), (0, 0));
}

fn ignoring(until: Option<Timestamp>, change: impl FnOnce(&mut Ignore)) -> Bench {
    let mut ignore = Ignore {
        entry: 1,
        anomaly: AnomalyType::Stuck,
        fingerprint: 0xc874_16d6_5937_2ce0,
        until,
        reason: Some("known".into()),
        service: None,
        agent: None,
        tool: None,
    };
    change(&mut ignore);
    Bench::new(|settings| settings.ignore.push(ignore))
}

#[test]
fn an_accepted_finding_is_counted_and_not_told() {
    let run = |mut bench: Bench| {
        bench.send(1000, &same(1, 1, 6)).drain(2000);
        assert_eq!(bench.patched(), bench.out.reports.len());
        let ignored = bench.engine.counters().ignored;
        (ignored[AnomalyType::Stuck as usize], bench.reports().len())
    };
    assert_eq!(run(ignoring(None, |_| {})), (2, 0));
    assert_eq!(run(ignoring(Some(ms(1001)), |_| {})), (2, 0));
    assert_eq!(run(ignoring(Some(ms(1000)), |_| {})), (0, 2), "over");
    assert_eq!(run(ignoring(None, |one| one.fingerprint += 1)), (0, 2));
    assert_eq!(
        run(ignoring(None, |one| one.anomaly = AnomalyType::Loop)),
        (0, 2)
    );
    assert_eq!(run(ignoring(None, |one| one.service = glob("s*"))), (2, 0));
    assert_eq!(run(ignoring(None, |one| one.service = glob("t*"))), (0, 2));
    assert_eq!(
        run(ignoring(None, |one| one.agent = glob("*"))),
        (0, 2),
        "no agent"
    );
    assert_eq!(run(ignoring(None, |one| one.tool = glob("read ?"))), (2, 0));
    let mut bench = ignoring(None, |_| {});
    bench.send(1000, &same(1, 1, 3));
    assert_eq!(
        bench.out.quiet[0].why,
        Why::Ignored {
            entry: 1,
            reason: Some("known".into())
        }
    );
    assert_eq!(bench.engine.counters().held_spans, 0);
}

#[test]
fn a_configured_severity_is_not_raised() {
    for severity in [Severity::Info, Severity::Warning, Severity::Critical] {
        let mut bench = Bench::new(|settings| settings.detectors.stuck.severity = Some(severity));
        bench.send(1000, &same(1, 1, 6));
        let severities: Vec<Severity> = bench.out.reports.iter().map(|r| r.severity).collect();
        assert_eq!(severities, [severity; 2]);
    }
}
