//! `ping_pong`: two calls in turn.
//!
//! - Invariant: two tries take turns for `window` / 2 rounds with equal answers, within one turn, and nothing
//!   they depend on changed in between (A5); with unknown answers one round more.
//! - Ignores: waits; rounds that hold a poll or an unfinished state, below 5 rounds.
//! - Source rule (failure taxonomy sentinel): s(T) = s(T-2), s(T-1) = s(T-3), s(T) != s(T-1).
//! - Cost: one look at the keys of the last calls; units are made only when the key was seen before.

use crate::lanes::{Call, View};
use crate::model::{AnomalyType, Confidence, Fact, Finding, Lack, Severity};

use super::patterns::{self, Rounds, Units};
use super::ready::Ready;
use super::repeats::Past;
use super::settings::config;
use super::stuck::{count, facts, lacking};
use super::{Detector, Judgement, Rules, wording};

config! {
    /// Settings of `ping_pong`.
    pub struct Config (enabled: true) {
        /// Calls that must alternate: two rounds by default.
        window: u32 = 4,
    }
}

/// Rounds needed when one of the calls waits for something (A3: ten polls).
pub(super) const PATIENT_ROUNDS: usize = 5;

/// The detector.
#[derive(Debug)]
pub(super) struct PingPong {
    rounds: usize,
    ready: Ready,
}

impl PingPong {
    pub(super) fn new(config: &Config, rules: Rules) -> Self {
        Self {
            rounds: usize::try_from(config.window / 2)
                .unwrap_or(usize::MAX)
                .max(2),
            ready: Ready::new(config.common(), rules),
        }
    }

    fn source(&self, past: &Past<'_>) -> Judgement {
        if past.judged.exact.is_none() {
            return Judgement::NotAssessed(Lack::NoArguments);
        }
        let [.., a, b, c, d] = past.calls else {
            return Judgement::Quiet;
        };
        if a.exact != c.exact || b.exact != d.exact || c.exact == d.exact {
            return Judgement::Quiet;
        }
        let (Some(first), Some(second)) = (a.exact, b.exact) else {
            return Judgement::NotAssessed(Lack::NoArguments);
        };
        let last = past.calls.len() - 1;
        let members: Vec<usize> = (last - 3..=last).rev().collect();
        let mut finding = past.finding(AnomalyType::PingPong, &members, &[first, second]);
        finding.count = 2;
        finding.message = wording::message(format!(
            "{} took turns over the last 4 calls",
            sides(past, [c, d], false),
        ));
        finding.facts = vec![
            ("rounds", Fact::Int(2)),
            ("tool_a", Fact::Text(past.names.text(a.tool))),
            ("tool_b", Fact::Text(past.names.text(b.tool))),
        ];
        Judgement::Found(Box::new(finding))
    }

    fn aware(&self, past: &Past<'_>) -> Judgement {
        if past.key(past.judged).is_none() {
            return Judgement::NotAssessed(Lack::NoArguments);
        }
        if past.seen_before() && patterns::begins(&patterns::newest_units(past, 4), 2, past) {
            let units = patterns::units(past);
            let rounds = patterns::rounds(&units, 2, past);
            let patient = patterns::waits_for_something(&units, 2, past);
            if let Some(known) = enough(rounds, self.rounds, patient) {
                return Judgement::Found(Box::new(self.finding(past, &units, rounds, known)));
            }
        }
        lacking(past)
    }

    fn finding(&self, past: &Past<'_>, units: &Units, rounds: Rounds, known: bool) -> Finding {
        let count_of = if known { rounds.sure() } else { rounds.all() };
        let members = patterns::members(units, count_of * 2);
        let keys = patterns::keys(units, 2, past);
        let mut finding = past.finding(AnomalyType::PingPong, &members, &keys);
        weigh(&mut finding, known, &self.ready);
        finding.count = u32::try_from(count_of).unwrap_or(u32::MAX);
        let side = |at: usize| {
            let first = units.get(at).and_then(|unit| unit.calls(past).next());
            first.unwrap_or(past.judged)
        };
        let (a, b) = (side(1), side(0));
        let batches = units
            .iter()
            .take(2)
            .any(|unit| unit.calls(past).count() > 1);
        let with = match (known, a.tool == b.tool) {
            (true, _) => " with the same answers, and nothing changed",
            (false, true) => "; answers are not known",
            (false, false) => " with the same arguments; answers are not known",
        };
        finding.message = wording::message(format!(
            "{} took turns for {count_of} rounds{with}",
            sides(past, [a, b], batches),
        ));
        finding.facts = facts(past, &members, self.rounds);
        finding.facts.splice(
            ..1,
            [
                ("rounds", count(count_of)),
                ("tool_a", Fact::Text(past.names.text(a.tool))),
                ("tool_b", Fact::Text(past.names.text(b.tool))),
            ],
        );
        finding
    }
}

impl Detector for PingPong {
    fn anomaly(&self) -> AnomalyType {
        AnomalyType::PingPong
    }

    fn rules(&self) -> Rules {
        self.ready.rules
    }

    fn window(&self) -> usize {
        self.rounds.saturating_mul(2).saturating_add(2)
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

/// What alternates, by the last call of each side: two tools by their names; two calls of one tool, which differ in
/// what they ask, by where they stand. `batches`: a side is several calls at once.
fn sides(past: &Past<'_>, [a, b]: [&Call; 2], batches: bool) -> String {
    let name = |call: &Call| wording::tool(past.names, call.tool);
    if a.tool != b.tool {
        return format!("`{}` and `{}`", name(a), name(b));
    }
    let (name, steps) = (name(a), format!("(steps {} and {})", a.step, b.step));
    if batches {
        return format!("two different batches of calls that begin with `{name}` {steps}");
    }
    format!("two calls of `{name}` with different arguments {steps}")
}

/// Whether there are rounds enough: `Some(true)` with known answers, `Some(false)` with unknown ones.
pub(super) fn enough(rounds: Rounds, needed: usize, patient: bool) -> Option<bool> {
    let needed = if patient {
        needed.max(PATIENT_ROUNDS)
    } else {
        needed
    };
    if rounds.sure() >= needed {
        Some(true)
    } else if rounds.all() > needed && rounds.sure() < rounds.all() {
        Some(false)
    } else {
        None
    }
}

/// What unknown answers make of a finding (A2).
pub(super) fn weigh(finding: &mut Finding, known: bool, ready: &Ready) {
    finding.confidence = Confidence::Likely;
    if !known {
        finding.reason = Some("no_results");
        finding.confidence = Confidence::Heuristic;
        finding.severity = ready.severity(Severity::Info);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{fires, last};
    use super::*;

    fn aware() -> PingPong {
        PingPong::new(&Config::default(), Rules::Aware)
    }

    fn source() -> PingPong {
        PingPong::new(&Config::default(), Rules::Source)
    }

    const NEVER: [usize; 0] = [];

    #[test]
    fn source_alternation() {
        assert_eq!(fires(&source(), "a b a b a"), [3, 4]);
        assert_eq!(fires(&source(), "a=1 b=2 a=3 b=4"), [3]);
        assert_eq!(fires(&source(), "a a a a"), NEVER);
        assert_eq!(fires(&source(), "a b c a b"), NEVER);
    }

    #[test]
    fn an_edit_that_is_undone() {
        // The first time each of the two is news.
        assert_eq!(fires(&aware(), "e>f g>f e>f g>f e>f"), [4]);
        assert_eq!(fires(&aware(), "e>f g>f h>f g>f e>f"), NEVER);
    }

    #[test]
    fn a5_two_rounds_with_equal_answers() {
        assert_eq!(fires(&aware(), "a b a b"), [3]);
        assert_eq!(fires(&aware(), "a b a"), NEVER);
        assert_eq!(fires(&aware(), "a=x b a=y b"), NEVER);
        assert_eq!(fires(&aware(), "a b | a b"), NEVER);
        assert_eq!(fires(&aware(), "a a a a"), NEVER);
        let finding = last(&aware(), "a b a b a b").unwrap();
        assert_eq!((finding.count, finding.members.len()), (3, 6));
    }

    #[test]
    fn a5_unknown_answers_need_three_rounds() {
        assert_eq!(fires(&aware(), "a? b? a? b? a?"), NEVER);
        assert_eq!(fires(&aware(), "a? b? a? b? a? b?"), [5]);
        assert_eq!(
            last(&aware(), "a? b? a? b? a? b?").unwrap().reason,
            Some("no_results")
        );
    }

    #[test]
    fn a1_edits_and_tests_in_turn() {
        // An edit that differs is work; one that does not is none.
        assert_eq!(fires(&aware(), "eA>f a!<f eB>f a!<f eC>f a!<f"), NEVER);
        assert_eq!(fires(&aware(), "e>f a!<f e>f a!<f"), [3]);
    }

    #[test]
    fn a3_waits_and_polls() {
        assert_eq!(fires(&aware(), "a s~ a s~ a s~"), NEVER);
        assert_eq!(fires(&aware(), "a* b a* b a* b a* b"), NEVER);
        assert_eq!(fires(&aware(), "a* b a* b a* b a* b a* b"), [9]);
    }

    #[test]
    fn says_what_took_turns() {
        let said = |line: &str| last(&aware(), line).unwrap().message;
        insta::assert_snapshot!(
            said("a b a b"),
            @"`a` and `b` took turns for 2 rounds with the same answers, and nothing changed"
        );
        insta::assert_snapshot!(
            said("c a1 a2 a1 a2"),
            @"two calls of `a` with different arguments (steps 3 and 4) took turns for 2 rounds with the same answers, and nothing changed"
        );
        insta::assert_snapshot!(
            said("a1? a2? a1? a2? a1? a2?"),
            @"two calls of `a` with different arguments (steps 4 and 5) took turns for 3 rounds; answers are not known"
        );
        insta::assert_snapshot!(
            said("a1 b& a2 b& a1 b& a2 b&"),
            @"two different batches of calls that begin with `a` (steps 4 and 6) took turns for 2 rounds with the same answers, and nothing changed"
        );
        insta::assert_snapshot!(
            last(&source(), "a1 a2 a1 a2").unwrap().message,
            @"two calls of `a` with different arguments (steps 2 and 3) took turns over the last 4 calls"
        );
    }

    #[test]
    fn tries_are_sets() {
        assert_eq!(fires(&aware(), "a b& c b a& c"), [5]);
        assert_eq!(fires(&aware(), "a b& a b& a b&"), NEVER);
    }
}
