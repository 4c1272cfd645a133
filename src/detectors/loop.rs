//! `loop`: a cycle of calls.
//!
//! - Invariant: the newest tries are a pattern of 3 to 8 tries that came `min_repeats` times in a row with
//!   equal answers, within one turn, nothing they depend on changed in between (A5); with unknown answers
//!   one round more. One call repeated is `stuck`, two in turn are `ping_pong`.
//! - Ignores: waits; cycles that hold a poll or an unfinished state, below 5 rounds.
//! - Source rule (Promptise LOOP): the tail of the last `window` calls is a pattern of at least 2 calls, repeated
//!   `min_repeats` times; the shortest that fits.
//! - Cost: one look at the keys of the last calls; units are made only when the key was seen before.

use smallvec::SmallVec;

use crate::lanes::View;
use crate::model::{AnomalyType, Fact, Finding, Lack};

use super::patterns::{self, Rounds, Units};
use super::ping_pong::{enough, weigh};
use super::ready::Ready;
use super::repeats::Past;
use super::settings::config;
use super::stuck::{count, facts, lacking};
use super::{Detector, Judgement, Rules, wording};

config! {
    /// Settings of `loop`.
    pub struct Config (enabled: true) {
        /// Calls looked back over.
        window: u32 = 20,
        /// Rounds needed.
        min_repeats: u32 = 2,
    }
}

/// Lengths of a cycle that the aware rule looks for.
const PERIODS: std::ops::RangeInclusive<usize> = 3..=8;
/// Most names of a pattern shown.
const NAMES_MAX: usize = 4;

/// The detector.
#[derive(Debug)]
pub(super) struct Loop {
    window: usize,
    min_repeats: usize,
    ready: Ready,
}

impl Loop {
    pub(super) fn new(config: &Config, rules: Rules) -> Self {
        Self {
            window: usize::try_from(config.window).unwrap_or(usize::MAX),
            min_repeats: usize::try_from(config.min_repeats.max(2)).unwrap_or(usize::MAX),
            ready: Ready::new(config.common(), rules),
        }
    }

    fn source(&self, past: &Past<'_>) -> Judgement {
        if past.judged.exact.is_none() {
            return Judgement::NotAssessed(Lack::NoArguments);
        }
        let from = past.calls.len().saturating_sub(self.window);
        let window = past.calls.get(from..).unwrap_or_default();
        if window.len() < 4 || window.iter().any(|call| call.exact.is_none()) {
            return Judgement::Quiet;
        }
        for length in 2..=window.len() / self.min_repeats {
            let equal = (length..window.len())
                .rev()
                .take_while(|at| {
                    let pair = (window.get(*at), window.get(at - length));
                    matches!(pair, (Some(a), Some(b)) if a.exact == b.exact)
                })
                .count();
            let repeats = equal / length + 1;
            if repeats >= self.min_repeats {
                return Judgement::Found(Box::new(cycle(past, length, repeats)));
            }
        }
        Judgement::Quiet
    }

    fn aware(&self, past: &Past<'_>) -> Judgement {
        if past.key(past.judged).is_none() {
            return Judgement::NotAssessed(Lack::NoArguments);
        }
        if past.seen_before() {
            let newest = patterns::newest_units(past, 2 * PERIODS.end());
            let mut all: Option<Units> = None;
            for period in PERIODS {
                if !patterns::begins(&newest, period, past) {
                    continue;
                }
                let units = &*all.get_or_insert_with(|| patterns::units(past));
                if period.saturating_mul(self.min_repeats) > self.window.min(units.len()) {
                    break;
                }
                let rounds = patterns::rounds(units, period, past);
                let patient = patterns::waits_for_something(units, period, past);
                if let Some(known) = enough(rounds, self.min_repeats, patient) {
                    return Judgement::Found(Box::new(
                        self.finding(past, units, period, rounds, known),
                    ));
                }
            }
        }
        lacking(past)
    }

    fn finding(
        &self,
        past: &Past<'_>,
        units: &Units,
        period: usize,
        rounds: Rounds,
        known: bool,
    ) -> Finding {
        let count_of = if known { rounds.sure() } else { rounds.all() };
        let members = patterns::members(units, count_of * period);
        let keys = patterns::keys(units, period, past);
        let mut finding = past.finding(AnomalyType::Loop, &members, &keys);
        weigh(&mut finding, known, &self.ready);
        finding.count = u32::try_from(count_of).unwrap_or(u32::MAX);
        let names = units.iter().take(period).rev().filter_map(|unit| {
            let call = unit.calls(past).next()?;
            Some(wording::tool(past.names, call.tool))
        });
        finding.message = message(
            &names.collect::<Vec<_>>(),
            count_of,
            if known {
                "answers"
            } else {
                "arguments; answers are not known"
            },
        );
        finding.facts = facts(past, &members, self.min_repeats);
        finding.facts.splice(
            ..1,
            [("rounds", count(count_of)), ("period", count(period))],
        );
        finding
    }
}

/// The finding of the source rule.
fn cycle(past: &Past<'_>, length: usize, repeats: usize) -> Finding {
    let end = past.calls.len();
    let members: SmallVec<[usize; 16]> = (end - length * repeats..end).rev().collect();
    let pattern = past.calls.get(end - length..).unwrap_or_default();
    let keys: SmallVec<[u64; 8]> = pattern.iter().filter_map(|call| call.exact).collect();
    let mut finding = past.finding(AnomalyType::Loop, &members, &keys);
    finding.count = u32::try_from(repeats).unwrap_or(u32::MAX);
    let names = pattern
        .iter()
        .map(|call| wording::tool(past.names, call.tool));
    finding.message = message(&names.collect::<Vec<_>>(), repeats, "arguments");
    finding.facts = vec![
        ("rounds", Fact::Int(i64::from(finding.count))),
        ("period", count(length)),
    ];
    finding
}

fn message(names: &[String], rounds: usize, same: &str) -> String {
    let shown = names.get(..NAMES_MAX).unwrap_or(names);
    let more = if shown.len() < names.len() {
        ", ..."
    } else {
        ""
    };
    wording::message(format!(
        "a cycle of {} calls ({}{more}) came {rounds} times in a row with the same {same}",
        names.len(),
        shown.join(", "),
    ))
}

impl Detector for Loop {
    fn anomaly(&self) -> AnomalyType {
        AnomalyType::Loop
    }

    fn rules(&self) -> Rules {
        self.ready.rules
    }

    fn window(&self) -> usize {
        self.window
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

    fn aware() -> Loop {
        Loop::new(&Config::default(), Rules::Aware)
    }

    fn source() -> Loop {
        Loop::new(&Config::default(), Rules::Source)
    }

    const NEVER: [usize; 0] = [];

    #[test]
    fn source_cycle() {
        assert_eq!(fires(&source(), "a b a b a"), [3, 4]);
        assert_eq!(fires(&source(), "a b c a b c"), [5]);
        assert_eq!(fires(&source(), "a a a a"), [3]);
        assert_eq!(fires(&source(), "a a b a a b"), [5]);
        assert_eq!(fires(&source(), "a b c d"), NEVER);
        assert_eq!(last(&source(), "a b a b a b").unwrap().count, 3);
    }

    #[test]
    fn a5_periods_three_to_eight() {
        assert_eq!(fires(&aware(), "a b c a b c a"), [5, 6]);
        assert_eq!(fires(&aware(), "a b c d e f g h a b c d e f g h"), [15]);
        assert_eq!(fires(&aware(), "a b a b a b a b"), NEVER);
        assert_eq!(fires(&aware(), "a a a a a a a a"), NEVER);
        assert_eq!(fires(&aware(), "a b c a b=x c"), NEVER);
        assert_eq!(fires(&aware(), "a b c | a b c"), NEVER);
        assert_eq!(fires(&aware(), "a b c a b d"), NEVER);
        let finding = last(&aware(), "a b c a b c a b c").unwrap();
        assert_eq!(
            (finding.count, finding.members.len(), finding.shape.len()),
            (3, 9, 3)
        );
    }

    #[test]
    fn a5_unknown_answers_need_a_round_more() {
        assert_eq!(fires(&aware(), "a? b? c? a? b? c?"), NEVER);
        assert_eq!(fires(&aware(), "a? b? c? a? b? c? a? b? c?"), [8]);
    }

    #[test]
    fn a1_reading_editing_testing() {
        let healthy = "r<f eA>f t<f r<f eB>f t<f r<f eC>f t<f";
        assert_eq!(fires(&aware(), healthy), NEVER);
        let failing = "r<f e>f! t!<f r<f e>f! t!<f";
        assert_eq!(fires(&aware(), failing), [5]);
    }

    #[test]
    fn tells_what_happened() {
        insta::assert_snapshot!(
            last(&aware(), "a b c d e a b c d e").unwrap().message,
            @"a cycle of 5 calls (a, b, c, d, ...) came 2 times in a row with the same answers"
        );
    }
}
