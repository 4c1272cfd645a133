//! `ping_pong`: two calls in turn.
//!
//! - Invariant: two tries take turns for `window` / 2 rounds with equal answers, within one turn, and nothing
//!   they depend on changed in between (A5); with unknown answers one round more.
//! - Ignores: waits; rounds that hold a poll or an unfinished state, below 5 rounds.
//! - Source rule (failure taxonomy sentinel): s(T) = s(T-2), s(T-1) = s(T-3), s(T) != s(T-1).
//! - Cost: one look at the keys of the last calls; units are made only when the key was seen before.

use crate::lanes::View;
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
            "`{}` and `{}` took turns over the last 4 calls",
            wording::tool(past.names, a.tool),
            wording::tool(past.names, b.tool),
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
        if past.seen_before() {
            let units = patterns::units(past);
            if let [newest, before, ..] = units.as_slice()
                && !newest.same_calls(before, past)
            {
                let rounds = patterns::rounds(&units, 2, past);
                let patient = patterns::waits_for_something(&units, 2, past);
                if let Some(known) = enough(rounds, self.rounds, patient) {
                    return Judgement::Found(Box::new(self.finding(past, &units, rounds, known)));
                }
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
        let mut tools = units.iter().take(2).rev().filter_map(|unit| {
            let call = unit.calls(past).next()?;
            Some(past.names.text(call.tool))
        });
        let (a, b) = (
            tools.next().unwrap_or_default(),
            tools.next().unwrap_or_default(),
        );
        finding.message = wording::message(format!(
            "`{}` and `{}` took turns for {count_of} rounds with the same {}",
            wording::name(&a),
            wording::name(&b),
            if known {
                "answers, and nothing changed"
            } else {
                "arguments; answers are not known"
            },
        ));
        finding.facts = facts(past, &members, self.rounds);
        finding.facts.splice(
            ..1,
            [
                ("rounds", count(count_of)),
                ("tool_a", Fact::Text(a)),
                ("tool_b", Fact::Text(b)),
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
    fn tries_are_sets() {
        assert_eq!(fires(&aware(), "a b& c b a& c"), [5]);
        assert_eq!(fires(&aware(), "a b& a b& a b&"), NEVER);
    }
}
