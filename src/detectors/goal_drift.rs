//! `goal_drift`: work that has left the goal. A preview, off by default.
//!
//! - Invariant: successive calls of one lane and turn that weigh `window` or more, none of which shares a word, a name
//!   or a part of a path with what users asked for, nor with what followed from it: words of the calls that did,
//!   and of their answers, one from the other. A call that changes something weighs two, any other one; the calls of
//!   one try count once, three tries at least.
//! - Ignores: checks, waits, polls, questions, calls without a word; everything before the first call that shares a
//!   word with the goal itself (the goal may be in another language than the work: not assessed); delegations.
//! - Source rule (failure taxonomy sentinel, cascading drift): none; with `rules: source` it says nothing.
//! - Cost: nothing while it is off; else the words of each text are taken and looked up.

use smallvec::SmallVec;

use crate::lanes::{Call, View};
use crate::model::{
    AnomalyType, Bearing, Confidence, Fact, Finding, Lack, Outcome, Role, Severity, Targets,
};

use super::ready::Ready;
use super::repeats::{bounded, hash};
use super::settings::config;
use super::stuck::count;
use super::{Detector, Judgement, Rules, wording};

config! {
    /// Settings of `goal_drift`.
    pub struct Config (enabled: false) {
        /// Weight of successive calls off the goal from which it fires; a call that changes something weighs two.
        window: u32 = 6,
    }
}

/// Different tries needed, however much they weigh.
const TRIES: usize = 3;

/// The detector.
#[derive(Debug)]
pub(super) struct GoalDrift {
    window: usize,
    ready: Ready,
}

/// Calls that have left the goal, newest first.
#[derive(Default)]
struct Stretch<'v> {
    calls: SmallVec<[&'v Call; 8]>,
    tries: usize,
    weight: usize,
    changes: usize,
    /// The last call before it that was on the goal.
    before: Option<&'v Call>,
}

impl GoalDrift {
    pub(super) fn new(config: &Config, rules: Rules) -> Self {
        Self {
            window: usize::try_from(config.window).unwrap_or(usize::MAX),
            ready: Ready::new(config.common(), rules),
        }
    }

    fn stretch<'v>(&self, view: &View<'v>, judged: &Call) -> Stretch<'v> {
        let mut stretch = Stretch::default();
        for call in view.calls().iter().rev() {
            match call.more.bearing {
                _ if call.turn != judged.turn => break,
                Bearing::Neutral => continue,
                Bearing::Off if self.aside(view, call) => continue,
                Bearing::Off => {}
                Bearing::On => {
                    stretch.before = Some(call);
                    break;
                }
                _ => break,
            }
            let new_try = stretch
                .calls
                .last()
                .is_none_or(|last| !last.one_try_with(call));
            let changes = changes(call, self.role(view, call));
            if new_try {
                stretch.tries += 1;
                stretch.weight += if changes { 2 } else { 1 };
            }
            stretch.changes += usize::from(changes);
            stretch.calls.push(call);
        }
        stretch
    }

    fn role(&self, view: &View<'_>, call: &Call) -> Role {
        let over = self.ready.of(view.names, call.tool);
        over.and_then(|over| over.role).unwrap_or(call.role)
    }

    /// Whether a call is not looked at: ignored, or work handed to somebody else, who has a goal of his own.
    fn aside(&self, view: &View<'_>, call: &Call) -> bool {
        let over = self.ready.of(view.names, call.tool);
        over.is_some_and(|over| over.ignore) || self.role(view, call) == Role::Delegate
    }

    fn finding(&self, view: &View<'_>, judged: &Call, stretch: &Stretch<'_>) -> Finding {
        let first = stretch.calls.last().copied().unwrap_or(judged);
        let calls = stretch.calls.len();
        let mut facts = vec![
            ("calls", count(calls)),
            ("may_change", count(stretch.changes)),
        ];
        let last = stretch.before.map(|call| call.step);
        facts.extend(last.map(|step| ("last_on_goal_step", Fact::Int(step.into()))));
        Finding {
            anomaly: AnomalyType::GoalDrift,
            rule: 1,
            severity: self.ready.severity(Severity::Info),
            confidence: Confidence::Heuristic,
            reason: None,
            members: bounded(stretch.calls.iter().rev().copied()),
            count: u32::try_from(calls).unwrap_or(u32::MAX),
            tool: Some(view.names.text(judged.tool)),
            evidence_key: hash(b"goal_drift"),
            shape: SmallVec::new(),
            facts,
            message: wording::message(format!(
                "{calls} calls in a row since step {} share no word with the goal or with what followed from it; \
                 {} of them may change something",
                first.step, stretch.changes,
            )),
        }
    }
}

impl Detector for GoalDrift {
    fn anomaly(&self) -> AnomalyType {
        AnomalyType::GoalDrift
    }

    fn rules(&self) -> Rules {
        self.ready.rules
    }

    fn window(&self) -> usize {
        self.window.saturating_mul(2)
    }

    fn judge(&self, view: &View<'_>) -> Judgement {
        let Some(judged) = view.call() else {
            return Judgement::Quiet;
        };
        if self.ready.rules == Rules::Source {
            return Judgement::Quiet;
        }
        match judged.more.bearing {
            Bearing::Unread => return Judgement::NotAssessed(Lack::NoArguments),
            Bearing::NoGoal => return Judgement::NotAssessed(Lack::NoGoal),
            Bearing::NoResults => return Judgement::NotAssessed(Lack::NoResults),
            Bearing::TooMuch => return Judgement::NotAssessed(Lack::Truncated),
            Bearing::Neutral | Bearing::On => return Judgement::Quiet,
            Bearing::Off => {}
        }
        if self.aside(view, judged) {
            return Judgement::Quiet;
        }
        let stretch = self.stretch(view, judged);
        if stretch.tries < TRIES || stretch.weight < self.window {
            return Judgement::Quiet;
        }
        Judgement::Found(Box::new(self.finding(view, judged, &stretch)))
    }
}

/// Whether a call may have done more than look. What failed or was refused changed nothing.
fn changes(call: &Call, role: Role) -> bool {
    if matches!(call.outcome, Outcome::Failed(_) | Outcome::Refused) {
        return false;
    }
    match role {
        Role::Read | Role::Search | Role::Fetch => false,
        // A command of which nobody can say what it changes mostly looks.
        Role::Shell => call.changes != Targets::default() && !call.changes.unknown,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, finding};
    use super::*;
    use crate::lanes::At;

    /// Judges every call of a line; `bearings` has one sign a call: `+` on, `.` neutral, `x` off, `?` no
    /// goal, `r` no results.
    fn fires(line: &str, bearings: &str) -> Vec<usize> {
        let mut bench = Bench::of(line);
        for (at, sign) in bearings.chars().enumerate() {
            let call = bench.lane.call_mut(at).expect("a sign a call");
            call.more.bearing = match sign {
                '+' => Bearing::On,
                '.' => Bearing::Neutral,
                'x' => Bearing::Off,
                'r' => Bearing::NoResults,
                _ => Bearing::NoGoal,
            };
        }
        let detector = GoalDrift::new(&Config::default(), Rules::Aware);
        let found = (0..bench.lane.calls().len())
            .filter_map(|at| Some((at, finding(bench.at(&detector, at))?)));
        found
            .map(|(at, finding)| {
                assert_eq!(finding.severity, Severity::Info);
                assert_eq!(usize::try_from(finding.count), Ok(finding.members.len()));
                at
            })
            .collect()
    }

    #[test]
    fn a_stretch_of_work_on_something_else() {
        assert_eq!(fires("a b c d e f g", "+xxxxxx"), [6], "six looks");
        assert_eq!(
            fires("a b(edit) c(edit) d(edit)", "+xxx"),
            [3],
            "three changes"
        );
        assert_eq!(fires("a b c(edit) d(edit) e(edit)", "+xxxx"), [4]);
        assert_eq!(
            fires("a b! c(edit)! d(edit)! e f g", "+xxxxxx"),
            [6],
            "failed"
        );
    }

    #[test]
    fn what_is_on_the_goal_or_cannot_be_told_begins_anew() {
        assert_eq!(fires("a b c d e f g h", "+xxxx+xx"), [0usize; 0]);
        assert_eq!(fires("a b c d e f g h", "+xxx?xxx"), [0usize; 0]);
        assert_eq!(fires("a b c d e f g h", "+xxxrxxx"), [0usize; 0]);
        assert_eq!(
            fires("a b c d | e f g", "+xxxxxx"),
            [0usize; 0],
            "a user has spoken"
        );
        assert_eq!(
            fires("a b c d e f g h", "+xxx.xxx"),
            [7],
            "neutral ones do not count"
        );
        assert_eq!(
            fires("a b(edit) c(edit)& d(edit)& e(edit)", "+xxxx"),
            [0usize; 0],
            "one try"
        );
        assert_eq!(
            fires("a b(delegate) c(delegate) d(delegate)", "+xxx"),
            [0usize; 0]
        );
    }

    #[test]
    fn what_it_lacks_is_said_and_the_source_says_nothing() {
        let mut bench = Bench::of("a");
        let aware = GoalDrift::new(&Config::default(), Rules::Aware);
        for (bearing, lack) in [
            (Bearing::Unread, Lack::NoArguments),
            (Bearing::NoGoal, Lack::NoGoal),
            (Bearing::NoResults, Lack::NoResults),
            (Bearing::TooMuch, Lack::Truncated),
        ] {
            bench.lane.call_mut(0).expect("one").more.bearing = bearing;
            assert_eq!(bench.at(&aware, 0), Judgement::NotAssessed(lack));
            let source = GoalDrift::new(&Config::default(), Rules::Source);
            assert_eq!(source.judge(&bench.view(At::Call(0))), Judgement::Quiet);
        }
    }
}
