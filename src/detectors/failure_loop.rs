//! `failure_loop`: the same failing call again and again.
//!
//! - Invariant: `threshold` failures of one call with one class of error, nothing changed between them that
//!   the call depends on; or `threshold` tries in a row with one class of error about the same names under
//!   near-equal arguments (A4). An error about another name is news to the agent: tries that only guess on,
//!   each refused for another name, count from twice the threshold.
//! - Ignores: failures that are answers (no match, a timeout wanted), refusals, unknown outcomes (skipped),
//!   waits. Checks under varying arguments: looking at several red tests is no loop.
//! - Source rule (failure taxonomy sentinel): the last `threshold` calls have one signature and each failed; an
//!   unknown outcome breaks the row.
//! - Cost: nothing for a call that did not fail; else a walk back over at most 10 calls a repeat.

use smallvec::SmallVec;

use crate::lanes::{Call, View};
use crate::model::{
    AnomalyType, Confidence, Fact, Failure, Finding, Lack, Outcome, Role, Severity,
};

use super::ready::Ready;
use super::repeats::{AMONG, Past, failed_in_source, near};
use super::settings::config;
use super::stuck::{count, facts, lacking};
use super::{Detector, Judgement, Rules, wording};

/// How many times the threshold near-equal tries have to reach that are each refused for another name.
pub(super) const GUESSES: usize = 2;

config! {
    /// Settings of `failure_loop`.
    pub struct Config (enabled: true) {
        /// Failures needed.
        threshold: u32 = 3,
    }
}

/// The detector.
#[derive(Debug)]
pub(super) struct FailureLoop {
    threshold: u32,
    ready: Ready,
}

impl FailureLoop {
    pub(super) fn new(config: &Config, rules: Rules) -> Self {
        Self {
            threshold: config.threshold,
            ready: Ready::new(config.common(), rules),
        }
    }

    fn source(&self, past: &Past<'_>) -> Judgement {
        let Some(exact) = past.judged.exact else {
            return Judgement::NotAssessed(Lack::NoArguments);
        };
        let threshold = usize::try_from(self.threshold.max(1)).unwrap_or(usize::MAX);
        let from = past.calls.len().checked_sub(threshold);
        let Some(row) = from.and_then(|from| past.calls.get(from..)) else {
            return Judgement::Quiet;
        };
        if !row
            .iter()
            .all(|call| call.exact == Some(exact) && failed_in_source(call.outcome))
        {
            return Judgement::Quiet;
        }
        let members: SmallVec<[usize; 16]> = (past.calls.len() - row.len()..past.calls.len())
            .rev()
            .collect();
        let mut finding = past.finding(AnomalyType::FailureLoop, &members, &[exact]);
        let code = past.judged.failure().and_then(|failure| failure.exit_code);
        finding.message = wording::message(format!(
            "`{}` failed {threshold} consecutive times{}",
            wording::tool(past.names, past.judged.tool),
            exit_words(code),
        ));
        finding.facts = vec![
            ("repeats", count(members.len())),
            ("threshold", count(threshold)),
        ];
        finding
            .facts
            .extend(code.map(|code| ("exit_code", Fact::Int(code.into()))));
        Judgement::Found(Box::new(finding))
    }

    fn aware(&self, past: &Past<'_>, failure: Failure) -> Judgement {
        let mut threshold = past.threshold(self.threshold);
        if failure.vague {
            threshold = threshold.saturating_mul(2);
        }
        let same = same_call(past, failure);
        if past.key(past.judged).is_some() && same.len() >= threshold {
            let keys: SmallVec<[u64; 1]> = past.key(past.judged).into_iter().collect();
            let mut finding = past.finding(AnomalyType::FailureLoop, &same, &keys);
            if failure.class == 0 {
                finding.confidence = Confidence::Likely;
            }
            if failure.vague {
                // What went wrong is not known to be the same (A2).
                finding.confidence = Confidence::Heuristic;
                finding.reason = Some("no_results");
                finding.severity = self.ready.severity(Severity::Info);
            }
            finding.message = message(
                past,
                &same,
                failure,
                "the same arguments and the same error",
            );
            finding.facts = all_facts(past, &same, threshold, failure);
            return Judgement::Found(Box::new(finding));
        }
        if let Some(finding) = near_equal(past, failure, threshold) {
            return Judgement::Found(Box::new(finding));
        }
        if past.judged.key.is_none() {
            return Judgement::NotAssessed(Lack::NoArguments);
        }
        match lacking(past) {
            Judgement::NotAssessed(Lack::NoResults) if !failure.vague => Judgement::Quiet,
            other => other,
        }
    }
}

impl Detector for FailureLoop {
    fn anomaly(&self) -> AnomalyType {
        AnomalyType::FailureLoop
    }

    fn rules(&self) -> Rules {
        self.ready.rules
    }

    fn window(&self) -> usize {
        // Twice: vague failures count half.
        self.ready.window(self.threshold, 2)
    }

    fn judge(&self, view: &View<'_>) -> Judgement {
        let Some(past) = Past::new(view, &self.ready) else {
            return Judgement::Quiet;
        };
        match (self.ready.rules, past.judged.failure()) {
            (Rules::Source, _) => self.source(&past),
            (Rules::Aware, Some(failure)) if !failure.is_answer => self.aware(&past, failure),
            (Rules::Aware, None) if past.judged.outcome == Outcome::Unknown => {
                Judgement::NotAssessed(Lack::NoResults)
            }
            (Rules::Aware, _) => Judgement::Quiet,
        }
    }
}

/// The finding of a row of near-equal tries, if it is long enough.
fn near_equal(past: &Past<'_>, failure: Failure, threshold: usize) -> Option<Finding> {
    let Alike { all, same_names } = alike(past, failure);
    let (members, threshold, what) = if same_names.len() >= threshold {
        let what = "nearly the same arguments and the same error";
        (same_names, threshold, what)
    } else if all.len() >= threshold.saturating_mul(GUESSES) {
        let what = "nearly the same arguments and one kind of error about other names";
        (all, threshold.saturating_mul(GUESSES), what)
    } else {
        return None;
    };
    let keys: SmallVec<[u64; 16]> = members
        .iter()
        .filter_map(|index| past.calls.get(*index)?.key)
        .collect();
    let mut finding = past.finding(AnomalyType::FailureLoop, &members, &keys);
    finding.rule = 2;
    finding.reason = Some("near_equal");
    finding.confidence = Confidence::Heuristic;
    // The keys change with every call: the tool and the error are what the episode is about.
    finding.evidence_key = super::repeats::mix(
        super::repeats::hash(past.names.text(past.judged.tool).as_bytes()),
        failure.class,
    );
    finding.message = message(past, &members, failure, what);
    finding.facts = all_facts(past, &members, threshold, failure);
    Some(finding)
}

/// Whether two failures are of one kind: one class; where no class is known, one exit code.
fn one_kind(a: Failure, b: Failure) -> bool {
    a.class == b.class && (a.class != 0 || a.exit_code == b.exit_code)
}

/// Failures of the very call, newest first, one a try: a success of it, another error, or a change ends them.
pub(super) fn same_call(past: &Past<'_>, failure: Failure) -> SmallVec<[usize; 16]> {
    let mut members = SmallVec::new();
    members.push(past.calls.len().saturating_sub(1));
    let mut last = past.judged;
    let mut since = 0;
    for (index, call) in past.back() {
        since += 1;
        if since > AMONG {
            break;
        }
        if !past.same_call(call, past.judged) {
            if past.resets(index, past.judged) {
                break;
            }
            continue;
        }
        match call.outcome {
            Outcome::Failed(other) if other.is_answer => {}
            Outcome::Failed(other) if one_kind(other, failure) => {
                if !call.one_try_with(last) {
                    members.push(index);
                }
                last = call;
                since = 0;
            }
            Outcome::Unknown | Outcome::Refused => {}
            Outcome::Failed(_) | Outcome::Succeeded => break,
        }
    }
    members
}

/// Tries in a row that failed alike, newest first, one call a try.
#[derive(Debug, Default)]
pub(super) struct Alike {
    /// With the judged call's class of error, under near-equal arguments.
    pub(super) all: SmallVec<[usize; 16]>,
    /// Those of them that were refused for the same names as the judged call.
    pub(super) same_names: SmallVec<[usize; 16]>,
}

/// Looks back for tries that failed as the judged call did.
pub(super) fn alike(past: &Past<'_>, failure: Failure) -> Alike {
    let mut found = Alike::default();
    if failure.class == 0 || failure.vague || past.role(past.judged) == Role::Verify {
        return found;
    }
    found.all.push(past.calls.len().saturating_sub(1));
    found.same_names.push(past.calls.len().saturating_sub(1));
    let mut last = past.judged;
    let mut since = 0;
    for (index, call) in past.back() {
        since += 1;
        match call.outcome {
            _ if since > AMONG => break,
            Outcome::Failed(other) if other.is_answer => {}
            Outcome::Unknown | Outcome::Refused => {}
            Outcome::Failed(other) => {
                if other.class != failure.class || !near(call, last) {
                    break;
                }
                if !call.one_try_with(last) {
                    found.all.push(index);
                    if other.names == failure.names {
                        found.same_names.push(index);
                    }
                    since = 0;
                }
                last = call;
            }
            Outcome::Succeeded if looks_only(past, call) => {}
            Outcome::Succeeded => break,
        }
    }
    found
}

/// A look at something by another tool does not end a row of failures; anything else that worked does.
fn looks_only(past: &Past<'_>, call: &Call) -> bool {
    call.tool != past.judged.tool
        && call.changes.is_empty()
        && matches!(past.role(call), Role::Read | Role::Search)
}

fn exit_words(code: Option<i32>) -> String {
    code.map_or_else(String::new, |code| format!(" with exit code {code}"))
}

fn message(past: &Past<'_>, members: &[usize], failure: Failure, what: &str) -> String {
    let step = members
        .last()
        .and_then(|index| past.calls.get(*index))
        .map_or(past.judged.step, |first| first.step);
    wording::message(format!(
        "`{}` failed {} times with {what}{} since step {step}",
        wording::tool(past.names, past.judged.tool),
        members.len(),
        exit_words(failure.exit_code),
    ))
}

fn all_facts(
    past: &Past<'_>,
    members: &[usize],
    threshold: usize,
    failure: Failure,
) -> Vec<(&'static str, Fact)> {
    let mut facts = facts(past, members, threshold);
    facts.extend(
        failure
            .exit_code
            .map(|code| ("exit_code", Fact::Int(code.into()))),
    );
    facts
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, fires, last};
    use super::*;

    fn aware() -> FailureLoop {
        FailureLoop::new(&Config::default(), Rules::Aware)
    }

    fn source() -> FailureLoop {
        FailureLoop::new(&Config::default(), Rules::Source)
    }

    const NEVER: [usize; 0] = [];

    #[test]
    fn source_row_breaks_on_unknown() {
        assert_eq!(fires(&source(), "a! a! a! a!"), [2, 3]);
        assert_eq!(fires(&source(), "a! a!7 a!8"), [2]);
        assert_eq!(fires(&source(), "a! a! a? a! a!"), NEVER);
        assert_eq!(fires(&source(), "a! a! a a!"), NEVER);
    }

    #[test]
    fn a4_key_and_class_decide() {
        assert_eq!(fires(&aware(), "a!7=x a!7=y a!7=z"), [2]);
        assert_eq!(fires(&aware(), "a!7 a!8 a!7"), NEVER);
        assert_eq!(fires(&aware(), "a! a? a! a!"), [3]);
        assert_eq!(fires(&aware(), "a! b a! c a!"), [4]);
        assert_eq!(fires(&aware(), "a! a! a a!"), NEVER);
        assert_eq!(fires(&aware(), "a a! a! a!"), [3]);
    }

    #[test]
    fn a4_answers_and_refusals_never_count() {
        assert_eq!(fires(&aware(), "a% a% a% a%"), NEVER);
        assert_eq!(fires(&aware(), "a- a- a- a-"), NEVER);
        let bench = Bench::of("a?");
        assert_eq!(
            bench.at(&aware(), 0),
            Judgement::NotAssessed(Lack::NoResults)
        );
    }

    #[test]
    fn a4_near_equal_tries() {
        assert_eq!(fires(&aware(), "a1! a2! a3!"), [2]);
        assert_eq!(
            last(&aware(), "a1! a2! a3!").unwrap().reason,
            Some("near_equal")
        );
        // One batch is one try; other arguments, other errors, a success, checks: no loop.
        assert_eq!(fires(&aware(), "a1! a2!& a3!&"), NEVER);
        assert_eq!(fires(&aware(), "aA! aB! aC!"), NEVER);
        assert_eq!(fires(&aware(), "a1!7 a2!8 a3!9"), NEVER);
        assert_eq!(fires(&aware(), "a1! a2! a4 a3!"), NEVER);
        assert_eq!(
            fires(&aware(), "a1!(verify) a2!(verify) a3!(verify)"),
            NEVER
        );
        // A look at something in between does not help.
        assert_eq!(fires(&aware(), "a1! b a2! c a3!"), [4]);
    }

    #[test]
    fn a4_another_name_refused_is_progress() {
        assert_eq!(fires(&aware(), "a1!#1 a2!#2 a3!#3"), NEVER);
        assert_eq!(fires(&aware(), "a1!#1 a2!#2 a3!#2"), NEVER);
        // What counts are the tries about one name, one after the other or in turn.
        assert_eq!(fires(&aware(), "a1!#1 a2!#2 a3!#2 a4!#2"), [3]);
        assert_eq!(last(&aware(), "a1!#1 a2!#2 a3!#2 a4!#2").unwrap().count, 3);
        assert_eq!(fires(&aware(), "a1!#1 a2!#2 a3!#1 a4!#2 a5!#1"), [4]);
        // Guessing on and on is a loop all the same, as is one call whatever it is refused for.
        let guesses = "a1!#1 a2!#2 a3!#3 a4!#4 a5!#5 a6!#6";
        assert_eq!(fires(&aware(), guesses), [5]);
        let found = last(&aware(), guesses).unwrap();
        assert_eq!((found.count, found.reason), (6, Some("near_equal")));
        assert_eq!(fires(&aware(), "a1!#1 a1!#2 a1!#3"), [2]);
    }

    #[test]
    fn a1_edits_between_red_tests_are_debugging() {
        assert_eq!(
            fires(&aware(), "a!<f eA>f(edit) a!<f eB>f(edit) a!<f"),
            NEVER
        );
        assert_eq!(fires(&aware(), "a!<f eA>f! a!<f eA>f! a!<f"), [4]);
        assert_eq!(fires(&aware(), "a! a! | a!"), NEVER);
    }

    #[test]
    fn tells_what_happened() {
        insta::assert_snapshot!(
            last(&aware(), "a! a! a!").unwrap().message,
            @"`a` failed 3 times with the same arguments and the same error with exit code 1 since step 0"
        );
    }
}
