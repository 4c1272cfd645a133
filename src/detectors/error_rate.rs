//! `error_rate`: too large a share of failed calls.
//!
//! - Invariant: of the last `window` calls of a run, all lanes together, at least `threshold` failed; judged
//!   when a call fails and the window is full. Aware: with two classes of error or three different calls at
//!   least (A13).
//! - Ignores (aware): failures that are answers; windows whose failures are mostly one failing loop or one
//!   repeated call, since that is reported already.
//! - Source rule (Promptise HIGH_ERROR_RATE, whose unit is the run): failed / all >= threshold.
//! - Cost: nothing for a call that did not fail; else one walk over the window.

use serde::Deserialize;
use smallvec::SmallVec;

use crate::lanes::{At, Order, Reply, RunOutcome, View};
use crate::model::{AnomalyType, Confidence, Fact, Finding, Lack, Member, Outcome, Severity};

use super::failure_loop::FailureLoop;
use super::ready::Ready;
use super::repeats::{failed_in_source, hash};
use super::settings::config;
use super::{Detector, Judgement, Rules, wording};

config! {
    /// Settings of `error_rate`.
    pub struct Config (enabled: true) {
        /// Share of failures from which it fires, above 0 and at most 1.
        threshold: f64 = 0.5,
        /// Outcomes looked back over.
        window: u32 = 10,
        /// What is counted.
        unit: Unit = Unit::Call,
    }
}

/// What `error_rate` counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Tool calls.
    #[default]
    Call,
    /// Runs of agents.
    Run,
}

/// Different calls among the failures, unless there are two classes of error.
const DIFFERENT_CALLS: usize = 3;
/// Different classes of error.
const DIFFERENT_CLASSES: usize = 2;

/// The detector.
#[derive(Debug)]
pub(super) struct ErrorRate {
    threshold: f64,
    window: usize,
    unit: Unit,
    family: FailureLoop,
    ready: Ready,
}

impl ErrorRate {
    pub(super) fn new(config: &Config, rules: Rules) -> Self {
        Self {
            threshold: config.threshold,
            window: usize::try_from(config.window.max(1)).unwrap_or(usize::MAX),
            unit: config.unit,
            family: FailureLoop::new(&super::FailureLoopConfig::default(), Rules::Aware),
            ready: Ready::new(config.common(), rules),
        }
    }

    fn call(&self, view: &View<'_>) -> Judgement {
        let Some(call) = view.call() else {
            return Judgement::Quiet;
        };
        let aware = self.ready.rules == Rules::Aware;
        let counts = |outcome: Outcome| match outcome {
            Outcome::Failed(failure) if aware => !failure.is_answer,
            other => failed_in_source(other),
        };
        if !counts(call.outcome) {
            return if aware && call.outcome == Outcome::Unknown {
                Judgement::NotAssessed(Lack::NoResults)
            } else {
                Judgement::Quiet
            };
        }
        let Some(window) = self.window(&view.run.outcomes, call.order) else {
            return Judgement::Quiet;
        };
        let failures: SmallVec<[&RunOutcome; 16]> =
            window.iter().filter(|one| counts(one.outcome)).collect();
        let share = ratio(failures.len(), window.len());
        if share < self.threshold {
            return Judgement::Quiet;
        }
        let unread = failures.iter().filter(|failure| failure.key == 0).count();
        if aware && unread * 2 > failures.len() {
            // They may be one call again and again, which is told by others.
            return Judgement::NotAssessed(Lack::NoArguments);
        }
        if aware && (!various(&failures) || self.told_by_family(view, &failures)) {
            return Judgement::Quiet;
        }
        let mut finding = self.finding(call.member(), failures.len(), window.len(), "calls");
        let first = window.first().map_or(call.order, |first| first.order);
        finding.members = super::repeats::bounded(
            view.calls()
                .iter()
                .filter(|other| other.order >= first && other.outcome.failed()),
        );
        finding.tool = Some(view.names.text(call.tool));
        Judgement::Found(Box::new(finding))
    }

    fn window<'v>(&self, outcomes: &'v [RunOutcome], until: Order) -> Option<&'v [RunOutcome]> {
        let end = outcomes.partition_point(|outcome| outcome.order <= until);
        outcomes.get(end.checked_sub(self.window)?..end)
    }

    /// Whether most of these failures are one failing loop, or one call again and again: told already.
    fn told_by_family(&self, view: &View<'_>, failures: &[&RunOutcome]) -> bool {
        let most = |times: usize| times * 2 > failures.len();
        let one_call = failures.iter().any(|failure| {
            let times = failures
                .iter()
                .filter(|other| other.key == failure.key)
                .count();
            failure.key != 0 && times >= DIFFERENT_CALLS && most(times)
        });
        if one_call {
            return true;
        }
        let Some(first) = failures.first() else {
            return false;
        };
        let At::Call(judged) = view.at else {
            return false;
        };
        let mut steps: SmallVec<[u32; 64]> = SmallVec::new();
        for (back, call) in view.calls().iter().rev().enumerate() {
            if call.order < first.order {
                break;
            }
            let Some(at) = judged.checked_sub(back).filter(|_| call.outcome.failed()) else {
                continue;
            };
            let earlier = View {
                at: At::Call(at),
                ..*view
            };
            if let Judgement::Found(finding) = self.family.judge(&earlier) {
                steps.extend(finding.members.iter().map(|member| member.step));
            }
            steps.sort_unstable();
            steps.dedup();
            if most(steps.len()) {
                return true;
            }
        }
        false
    }

    fn run(&self, view: &View<'_>) -> Judgement {
        let Some(run) = view.reply().filter(|reply| reply.of_run && reply.failed) else {
            return Judgement::Quiet;
        };
        let runs = view.ledger.replies().iter();
        let mut runs: SmallVec<[&Reply; 16]> = runs
            .filter(|reply| reply.of_run && reply.order < run.order && reply.span != run.span)
            .collect();
        runs.push(run);
        let Some(from) = runs.len().checked_sub(self.window) else {
            return Judgement::Quiet;
        };
        let window = runs.get(from..).unwrap_or_default();
        let failed = window.iter().filter(|reply| reply.failed);
        let failures = failed.clone().count();
        if ratio(failures, window.len()) < self.threshold {
            return Judgement::Quiet;
        }
        let mut finding = self.finding(run.member(), failures, window.len(), "runs");
        finding.members = failed.map(|reply| reply.member()).collect();
        Judgement::Found(Box::new(finding))
    }

    fn finding(&self, judged: Member, failures: usize, all: usize, what: &str) -> Finding {
        let share = ratio(failures, all);
        Finding {
            anomaly: AnomalyType::ErrorRate,
            rule: if self.unit == Unit::Run { 2 } else { 1 },
            severity: self.ready.severity(Severity::Warning),
            confidence: Confidence::Exact,
            reason: None,
            members: SmallVec::from_slice(&[judged]),
            count: u32::try_from(failures).unwrap_or(u32::MAX),
            tool: None,
            evidence_key: hash(b"error_rate"),
            shape: SmallVec::new(),
            facts: vec![
                (
                    "errors",
                    Fact::Int(i64::try_from(failures).unwrap_or(i64::MAX)),
                ),
                ("window", Fact::Int(i64::try_from(all).unwrap_or(i64::MAX))),
                ("error_rate", Fact::Float(share)),
                ("threshold", Fact::Float(self.threshold)),
            ],
            message: wording::message(format!(
                "{:.0}% of the last {all} {what} failed (threshold {:.0}%)",
                share * 100.0,
                self.threshold * 100.0,
            )),
        }
    }
}

impl Detector for ErrorRate {
    fn anomaly(&self) -> AnomalyType {
        AnomalyType::ErrorRate
    }

    fn rules(&self) -> Rules {
        self.ready.rules
    }

    fn window(&self) -> usize {
        self.window
    }

    fn judge(&self, view: &View<'_>) -> Judgement {
        match self.unit {
            Unit::Call => self.call(view),
            Unit::Run => self.run(view),
        }
    }
}

fn ratio(part: usize, all: usize) -> f64 {
    // Windows are small: both numbers are exact as doubles, as the source computes them.
    let number = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    number(part) / number(all).max(1.0)
}

/// At least two classes of error, or three different calls (A13).
fn various(failures: &[&RunOutcome]) -> bool {
    let mut classes: SmallVec<[u64; 16]> = SmallVec::new();
    let mut keys: SmallVec<[u64; 16]> = SmallVec::new();
    for failure in failures {
        if let Outcome::Failed(kind) = failure.outcome {
            classes.push(kind.class);
        }
        keys.push(failure.key);
    }
    for list in [&mut classes, &mut keys] {
        list.sort_unstable();
        list.dedup();
    }
    classes.len() >= DIFFERENT_CLASSES || keys.len() >= DIFFERENT_CALLS
}

#[cfg(test)]
mod tests {
    use super::super::testing::{fires, last};
    use super::*;

    fn aware() -> ErrorRate {
        ErrorRate::new(&Config::default(), Rules::Aware)
    }

    fn source(window: u32, threshold: f64) -> ErrorRate {
        let config = Config {
            window,
            threshold,
            ..Config::default()
        };
        ErrorRate::new(&config, Rules::Source)
    }

    const NEVER: [usize; 0] = [];

    #[test]
    fn source_full_window_and_a_failure() {
        assert_eq!(fires(&source(6, 0.5), "a a a! a! a! a!"), [5]);
        assert_eq!(fires(&source(4, 0.5), "a! a! a a"), NEVER);
        assert_eq!(fires(&source(4, 0.5), "a! a a a!"), [3]);
        assert_eq!(fires(&source(4, 0.5), "a a a a!"), NEVER);
        assert_eq!(fires(&source(4, 0.5), "a! a! a!"), NEVER);
    }

    #[test]
    fn a13_several_classes_or_calls() {
        let mixed = "a!1 b c d!2 e f g!3 h!4 i!5 j!6";
        assert_eq!(fires(&aware(), mixed), [9]);
        assert_eq!(last(&aware(), mixed).unwrap().members.len(), 6);
        // Mostly one failing call: told by failure_loop.
        assert_eq!(fires(&aware(), "b c d a! a! a! a! a! e f!2"), NEVER);
        assert_eq!(fires(&aware(), "b c d e a1! a2! a3! a4! a5! a6!"), NEVER);
    }

    #[test]
    fn a13_answers_in_the_form_of_failures_are_left_out() {
        assert_eq!(fires(&aware(), "a% b% c% d% e% f% g% h% i% j%"), NEVER);
        assert_eq!(fires(&aware(), "a% b% c% d% e% f!1 g!2 h!3 i!4 j%"), NEVER);
    }
}
