//! `transition_repeat`: one call-and-answer pair recurring in a window, or one answer whatever is asked.
//!
//! - Invariant: /1 one pair `repeats` times within the last `window` calls, others may lie between, under the
//!   terms of A1 to A3; /2 five near-equal tries in a row that change nothing, with one answer (A6);
//!   /3 one informative answer to five tries in a row that change nothing, under ever new arguments (A7);
//!   /4 three delegations in a row that are nearly one and are only acknowledged (A7).
//! - Ignores: waits, acknowledgements under different arguments (except for /2), unfinished states in no hurry.
//! - Source rule (agentbudget): any pair stands `repeats` times in the last `window` steps, this one included.
//! - Cost: one look at the keys of the last calls and one at the answer of the last call but one.

use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::lanes::{Call, View};
use crate::model::{AnomalyType, Confidence, Finding, Lack, Likeness, Role, Severity, Targets};

use super::ready::Ready;
use super::repeats::{self, Past, Same};
use super::rows::Enough;
use super::settings::config;
use super::stuck::{count, facts, lacking};
use super::{Detector, Judgement, Rules, wording};

config! {
    /// Settings of `transition_repeat`.
    pub struct Config (enabled: true) {
        /// Calls looked back over, the judged one included; 0 = all that are kept.
        window: u32 = 9,
        /// Occurrences needed.
        repeats: u32 = 3,
        /// Compare answers after taking out durations, times and ids.
        neutralize_volatile: bool = true,
    }
}

/// What the source compares: the call, and what came back if anything.
type Pair = (Option<u64>, bool, u64);

/// How often each pair came. A usual window is a short list; thousands of pairs are not walked for each other.
#[derive(Default)]
struct Counts {
    few: SmallVec<[(Pair, usize); 16]>,
    many: HashMap<Pair, usize, foldhash::fast::RandomState>,
}

impl Counts {
    /// Counts one more of a pair; how many there are.
    fn add(&mut self, pair: Pair) -> usize {
        let times = if let Some(at) = self.few.iter().position(|(other, _)| *other == pair) {
            self.few.get_mut(at).map(|(_, times)| times)
        } else if self.few.len() < self.few.inline_size() {
            self.few.push((pair, 0));
            self.few.last_mut().map(|(_, times)| times)
        } else {
            Some(self.many.entry(pair).or_default())
        };
        times.map_or(0, |times| {
            *times += 1;
            *times
        })
    }
}

/// Tries with one answer after which it is clear that nothing new comes (A6, A7).
const SAME_ANSWERS: usize = 5;
/// The same with a state that is not final (A3), and with commands that say nothing.
const SAME_STATES: usize = 10;
/// Different calls among them, so that it is no plain repeat.
const NEW_CALLS: usize = 3;
/// Delegations in a row.
const DELEGATIONS: usize = 3;
/// How alike these must be, each to each.
const DELEGATIONS_ALIKE: f64 = 0.8;
/// Repeats of an unfinished state closer than this are busy polling.
const BUSY: std::time::Duration = std::time::Duration::from_secs(10);
/// What a lane keeps when the window is said to be everything.
const EVERYTHING: usize = 4096;

/// The detector.
#[derive(Debug)]
pub(super) struct TransitionRepeat {
    window: usize,
    repeats: u32,
    neutralize: bool,
    ready: Ready,
}

impl TransitionRepeat {
    pub(super) fn new(config: &Config, rules: Rules) -> Self {
        Self {
            window: match usize::try_from(config.window) {
                Ok(0) => EVERYTHING,
                Ok(window) => window.min(EVERYTHING),
                Err(_) => EVERYTHING,
            },
            repeats: config.repeats,
            neutralize: config.neutralize_volatile,
            ready: Ready::new(config.common(), rules),
        }
    }

    fn source(&self, past: &Past<'_>) -> Judgement {
        let from = past.calls.len().saturating_sub(self.window);
        let window = past.calls.get(from..).unwrap_or_default();
        let needed = usize::try_from(self.repeats).unwrap_or(usize::MAX).max(1);
        if past.judged.exact.is_none() {
            return Judgement::NotAssessed(Lack::NoArguments);
        }
        let pair = |call: &Call| {
            let answer = if self.neutralize {
                call.answer.canonical
            } else {
                call.answer.raw
            };
            (call.exact, call.answer.known, answer)
        };
        // Oldest first: the pair that reaches the threshold first is the one reported.
        let mut counts = Counts::default();
        for call in window {
            let this = pair(call);
            if counts.add(this) < needed {
                continue;
            }
            let last = past.calls.len() - 1;
            let mut members: SmallVec<[usize; 16]> = (from..=last)
                .rev()
                .filter(|at| past.calls.get(*at).is_some_and(|call| pair(call) == this))
                .collect();
            let repeats = members.len();
            if members.first() != Some(&last) {
                members.insert(0, last);
            }
            let keys: SmallVec<[u64; 1]> = this.0.into_iter().collect();
            let mut finding = past.finding(AnomalyType::TransitionRepeat, &members, &keys);
            finding.count = u32::try_from(repeats).unwrap_or(u32::MAX);
            finding.tool = Some(past.names.text(call.tool));
            finding.message = wording::message(format!(
                "`{}` with one answer stands {repeats} times in the last {} steps",
                wording::tool(past.names, call.tool),
                window.len(),
            ));
            finding.facts = vec![("repeats", count(repeats)), ("window", count(self.window))];
            return Judgement::Found(Box::new(finding));
        }
        Judgement::Quiet
    }

    fn aware(&self, past: &Past<'_>) -> Judgement {
        let found = self
            .pair(past)
            .or_else(|| self.same_answers(past))
            .or_else(|| self.delegations(past));
        match found {
            Some(finding) => Judgement::Found(Box::new(finding)),
            None if past.key(past.judged).is_none() => Judgement::NotAssessed(Lack::NoArguments),
            None => lacking(past),
        }
    }

    fn pair(&self, past: &Past<'_>) -> Option<Finding> {
        let key = past.key(past.judged)?;
        if past.judged.void || !past.seen_before() {
            return None;
        }
        let mut row = past.row();
        let needed = past.threshold(self.repeats);
        past.one_a_try(&mut row);
        let among = u32::try_from(self.window).unwrap_or(u32::MAX);
        let enough = past.enough(&row, needed, among)?;
        let usable = match enough {
            Enough::NoResults => row.members.len(),
            Enough::Repeats | Enough::Poll => row.sure,
        };
        let members = row.members.get(..usable).unwrap_or_default();
        let mut finding = past.finding(AnomalyType::TransitionRepeat, members, &[key]);
        match enough {
            Enough::Repeats if past.raw_equal(members) => {}
            Enough::Repeats => finding.confidence = Confidence::Likely,
            Enough::Poll => {
                finding.confidence = Confidence::Likely;
                finding.reason = Some("poll");
            }
            Enough::NoResults => {
                finding.confidence = Confidence::Heuristic;
                finding.reason = Some("no_results");
                finding.severity = self.ready.severity(Severity::Info);
            }
        }
        finding.facts = facts(past, members, needed);
        finding.message = wording::message(format!(
            "`{}` with the same arguments {} came {} times within {} calls",
            wording::tool(past.names, past.judged.tool),
            if enough == Enough::NoResults {
                "(answers not known)"
            } else {
                "and the same answer"
            },
            members.len(),
            past.calls
                .len()
                .saturating_sub(members.last().copied().unwrap_or_default()),
        ));
        Some(finding)
    }

    /// A6 and the first part of A7: one answer in a row, whatever is asked.
    fn same_answers(&self, past: &Past<'_>) -> Option<Finding> {
        let judged = past.judged;
        let certain = past.changes_nothing(judged);
        if !judged.answer.known || !(certain || may_change_nothing(past, judged)) {
            return None;
        }
        let news = certain && judged.answer.informs && !judged.answer.pending;
        let mut near = true;
        let mut near_members: SmallVec<[usize; 16]> = SmallVec::new();
        let mut members: SmallVec<[usize; 16]> = SmallVec::new();
        let mut busy = true;
        let mut last: Option<&Call> = None;
        let newest = past.calls.len().saturating_sub(1);
        for (index, call) in std::iter::once((newest, judged)).chain(past.back()) {
            let looks = past.changes_nothing(call) || (!certain && may_change_nothing(past, call));
            if !looks || past.same_answer(call, judged) != Same::Yes {
                break;
            }
            if let Some(last) = last {
                if call.one_try_with(last) {
                    continue;
                }
                near &= repeats::near(call, last);
                busy &= last.end.since(call.end) < BUSY;
            }
            if near {
                near_members.push(index);
            } else if !news && near_members.len() < SAME_ANSWERS {
                break;
            }
            members.push(index);
            last = Some(call);
        }
        let needed = answers_needed(past, busy);
        if near_members.len() >= needed && are_different(past, &near_members, 2) {
            return Some(self.answers_finding(past, &near_members, 2, "near_equal"));
        }
        (news && members.len() >= needed && are_different(past, &members, NEW_CALLS))
            .then(|| self.answers_finding(past, &members, 3, "no_progress"))
    }

    fn answers_finding(
        &self,
        past: &Past<'_>,
        members: &[usize],
        rule: u8,
        reason: &'static str,
    ) -> Finding {
        let keys: SmallVec<[u64; 64]> = members
            .iter()
            .filter_map(|index| past.calls.get(*index)?.key)
            .collect();
        let mut finding = past.finding(AnomalyType::TransitionRepeat, members, &keys);
        finding.rule = rule;
        finding.reason = Some(reason);
        finding.confidence = Confidence::Heuristic;
        // The keys change with every call; the tool and the reason are what the episode is about.
        let tool = past.names.text(past.judged.tool);
        finding.evidence_key = repeats::mix(
            repeats::hash(tool.as_bytes()),
            repeats::hash(reason.as_bytes()),
        );
        finding.facts = facts(past, members, SAME_ANSWERS);
        finding
            .facts
            .push(("different_calls", count(different(past, members))));
        let what = match rule {
            2 => "nearly the same calls",
            4 => "nearly the same delegations",
            _ => "ever new calls",
        };
        finding.message = wording::message(format!(
            "{} {what} in a row of `{}` all got the same answer",
            members.len(),
            wording::name(&tool),
        ));
        finding
    }

    /// The second part of A7.
    fn delegations(&self, past: &Past<'_>) -> Option<Finding> {
        let judged = past.judged;
        if past.role(judged) != Role::Delegate || !judged.answer.acknowledges {
            return None;
        }
        let mut members: SmallVec<[usize; 16]> = SmallVec::new();
        members.push(past.calls.len().saturating_sub(1));
        for (index, call) in past.back() {
            let row = members.iter().filter_map(|at| past.calls.get(*at));
            let alike = |other: &Call| {
                call.tool == other.tool
                    && (past.same_call(call, other)
                        || Likeness::of(&call.sketch, &other.sketch).words >= DELEGATIONS_ALIKE)
            };
            if !call.answer.acknowledges || !row.clone().all(alike) {
                break;
            }
            if !row.clone().any(|other| other.one_try_with(call)) {
                members.push(index);
            }
        }
        (members.len() >= DELEGATIONS)
            .then(|| self.answers_finding(past, &members, 4, "delegations"))
    }
}

/// How many tries with the judged answer are needed; `busy`: they came within seconds of each other.
pub(super) fn answers_needed(past: &Past<'_>, busy: bool) -> usize {
    let answer = &past.judged.answer;
    // A command that says nothing under one name after another (`which`, `test -f`, a search) is how one looks
    // for what is there; its frame of fixed words makes the calls look alike.
    let looks_around = past.role(past.judged) == Role::Shell && !answer.informs;
    if looks_around || (answer.pending && !busy) {
        SAME_STATES
    } else {
        SAME_ANSWERS
    }
}

/// A command of which nobody can say what it changes, if its answer is more than an acknowledgement: near-equal
/// ones with one answer have changed nothing.
fn may_change_nothing(past: &Past<'_>, call: &Call) -> bool {
    let unknown = Targets {
        unknown: true,
        ..Targets::default()
    };
    past.role(call) == Role::Shell && call.changes == unknown && !call.answer.acknowledges
}

/// Whether these are so many different calls at least; a few, found soon where there are.
fn are_different(past: &Past<'_>, members: &[usize], least: usize) -> bool {
    let mut keys: SmallVec<[Option<u64>; 4]> = SmallVec::new();
    for call in members.iter().filter_map(|index| past.calls.get(*index)) {
        if !keys.contains(&call.key) {
            keys.push(call.key);
        }
        if keys.len() >= least {
            return true;
        }
    }
    false
}

/// How many different calls these are.
fn different(past: &Past<'_>, members: &[usize]) -> usize {
    let mut keys: SmallVec<[Option<u64>; 64]> = members
        .iter()
        .filter_map(|index| past.calls.get(*index).map(|call| call.key))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    keys.len()
}

impl Detector for TransitionRepeat {
    fn anomaly(&self) -> AnomalyType {
        AnomalyType::TransitionRepeat
    }

    fn rules(&self) -> Rules {
        self.ready.rules
    }

    fn window(&self) -> usize {
        self.window.max(self.ready.window(0, 2))
    }

    fn judge(&self, view: &View<'_>) -> Judgement {
        let Some(past) = Past::new(view, &self.ready) else {
            return Judgement::Quiet;
        };
        match self.ready.rules {
            Rules::Source => self.source(&past),
            Rules::Aware => self.aware(&past),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{fires, last};
    use super::*;

    fn aware() -> TransitionRepeat {
        TransitionRepeat::new(&Config::default(), Rules::Aware)
    }

    fn source(window: u32, repeats: u32) -> TransitionRepeat {
        let config = Config {
            window,
            repeats,
            ..Config::default()
        };
        TransitionRepeat::new(&config, Rules::Source)
    }

    const NEVER: [usize; 0] = [];

    #[test]
    fn source_window() {
        assert_eq!(fires(&source(9, 3), "a b c d a e f g a"), [8]);
        assert_eq!(fires(&source(9, 3), "a b c d a e f g h a"), NEVER);
        assert_eq!(fires(&source(0, 3), "a b c d a e f g h a"), [9]);
        assert_eq!(fires(&source(9, 3), "a=x a=y a=z"), NEVER);
        // Not latched: it fires as long as the pair stands in the window.
        assert_eq!(fires(&source(5, 3), "a a a b c d"), [2, 3, 4]);
        assert_eq!(fires(&source(9, 1), "a"), [0]);
    }

    #[test]
    fn a1_pairs_in_a_window() {
        assert_eq!(fires(&aware(), "a b c a d e a"), [6]);
        assert_eq!(fires(&aware(), "e>f a<f b e>f a<f d e>f a<f"), [6, 7]);
        assert_eq!(fires(&aware(), "a<f b eA>f a<f d eB>f a<f"), NEVER);
        assert_eq!(fires(&aware(), "a a& a&"), NEVER);
    }

    #[test]
    fn a6_near_equal_calls_with_one_answer() {
        assert_eq!(fires(&aware(), "a1=x a2=x a3=x a4=x a5=x"), [4]);
        assert_eq!(fires(&aware(), "a1=ok a2=ok a3=ok a4=ok a5=ok"), [4]);
        assert_eq!(last(&aware(), "a1=x a2=x a3=x a4=x a5=x").unwrap().rule, 2);
        assert_eq!(fires(&aware(), "a1=x a2=x a3=x a4=y a5=x a6=x"), NEVER);
        assert_eq!(fires(&aware(), "a1=x a2=x& a3=x& a4=x& a5=x&"), NEVER);
        // A command of which nobody knows what it does: only if its answer says something.
        let mut bench = super::super::testing::Bench::default();
        for number in 1..=5 {
            let mut call = bench.blank("a", &format!("a{number}"));
            call.role = Role::Shell;
            call.changes.unknown = true;
            call.answer.raw = 1;
            call.answer.informs = true;
            bench.push(call);
        }
        assert_eq!(bench.found(&aware()).len(), 1);
        // A command that says nothing looks for what is there.
        let looks = |times: usize| {
            (1..=times)
                .map(|number| format!("a{number}=(shell)"))
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(fires(&aware(), &looks(9)), NEVER);
        assert_eq!(fires(&aware(), &looks(10)), [9]);
        // Calls that change something select what they change.
        assert_eq!(
            fires(&aware(), "a1=ok>f a2=ok>g a3=ok>h a4=ok>i a5=ok>j"),
            NEVER
        );
        assert_eq!(
            fires(
                &aware(),
                "a1=ok(other) a2=ok(other) a3=ok(other) a4=ok(other) a5=ok(other)"
            ),
            NEVER
        );
    }

    #[test]
    fn a7_no_progress() {
        let line = "aA=notfoundanywhere bB=notfoundanywhere cC=notfoundanywhere \
                    dD=notfoundanywhere eE=notfoundanywhere";
        assert_eq!(fires(&aware(), line), [4]);
        assert_eq!(last(&aware(), line).unwrap().reason, Some("no_progress"));
        assert_eq!(
            fires(&aware(), "aA=short bB=short cC=short dD=short eE=short"),
            NEVER
        );
    }

    #[test]
    fn a7_delegations() {
        let line = "a1=ok(delegate) a2=ok(delegate) a3=ok(delegate)";
        assert_eq!(fires(&aware(), line), NEVER, "shared words below 0.8");
        let same = "a=ok(delegate) a=ok(delegate) a=ok(delegate)";
        assert_eq!(
            last(&aware(), same).unwrap().anomaly,
            AnomalyType::TransitionRepeat
        );
        assert_eq!(
            fires(&aware(), "aA=ok(delegate) aB=ok(delegate) aC=ok(delegate)"),
            NEVER
        );
    }
}
