//! What the numbers of the detectors may be: one table, by which all of them are checked and explained.
//!
//! Invariant: a number in range can make its detector fire. `rules: source` takes what its source takes, even where
//! nothing can come of it: it is there to compare.

use std::time::Duration;

use crate::model::{AnomalyType, Range};

use super::settings::Problem;
use super::{Rules, Settings, Unit};

/// One number of one detector.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The detector.
    pub anomaly: AnomalyType,
    /// The key below its type.
    pub key: &'static str,
    aware: Range,
    source: Range,
    /// What is configured, where anything is.
    value: fn(&Settings) -> Option<f64>,
}

impl Key {
    /// What it takes under a kind of rules.
    pub fn range(&self, rules: Rules) -> Range {
        match rules {
            Rules::Aware => self.aware,
            Rules::Source => self.source,
        }
    }

    /// What the detector has under this key; `None` without a value of its own.
    pub fn value(&self, settings: &Settings) -> Option<f64> {
        (self.value)(settings)
    }
}

/// Calls that a lane keeps at most: [`super::Table::WINDOW_MAX`].
const CALLS: u32 = 4096;
/// Repeats that fit into them twice: unknown answers count half (A2), and others may lie between.
const REPEATS: u32 = CALLS / 2;
/// Answers that a conversation keeps: [`crate::lanes::FACTS_MAX`].
const ANSWERS: u32 = 16;
/// Writes allowed at most: a lane keeps three calls for each.
const WRITES: u32 = CALLS / 3 - 1;
/// Bits of the richest text that is read whole; no 4-grams carry more.
const BITS: f64 = 16.0;
/// Tokens that the part of a text which is read surely has.
const TOKENS: u32 = 16_384;
/// Longer than any unit: a clock that says so is wrong (budget_time).
const MONTH: f64 = 30.0 * 86_400.0;
/// As far as clocks are believed to lie apart: the default of `max_clock_skew`.
const SKEW: f64 = 300.0;
/// More money than there is.
const DOLLARS: f64 = 1e15;

const fn row(
    anomaly: AnomalyType,
    key: &'static str,
    ranges: (Range, Range),
    value: fn(&Settings) -> Option<f64>,
) -> Key {
    Key {
        anomaly,
        key,
        aware: ranges.0,
        source: ranges.1,
        value,
    }
}

const fn both(range: Range) -> (Range, Range) {
    (range, range)
}

fn seconds(time: Duration) -> Option<f64> {
    Some(time.as_secs_f64())
}

/// All of them.
const KEYS: [Key; 20] = {
    use AnomalyType as A;
    [
        row(A::Stuck, "threshold", both(Range::count(2, REPEATS)), |s| {
            Some(s.stuck.threshold.into())
        }),
        row(
            A::FailureLoop,
            "threshold",
            both(Range::count(1, REPEATS)),
            |s| Some(s.failure_loop.threshold.into()),
        ),
        // The source always looks at four.
        row(
            A::PingPong,
            "window",
            (Range::count(4, CALLS - 4), Range::count(4, 4)),
            |s| Some(s.ping_pong.window.into()),
        ),
        row(
            A::Loop,
            "window",
            (Range::count(6, CALLS), Range::count(4, CALLS)),
            |s| Some(s.r#loop.window.into()),
        ),
        row(
            A::Loop,
            "min_repeats",
            (Range::count(2, CALLS / 3), Range::count_from(2)),
            |s| Some(s.r#loop.min_repeats.into()),
        ),
        row(
            A::TransitionRepeat,
            "window",
            both(Range::count(0, CALLS)),
            |s| Some(s.transition_repeat.window.into()),
        ),
        row(
            A::TransitionRepeat,
            "repeats",
            (Range::count(2, REPEATS), Range::count_from(1)),
            |s| Some(s.transition_repeat.repeats.into()),
        ),
        row(
            A::EmptyResponse,
            "threshold",
            both(Range::count(2, ANSWERS)),
            |s| Some(s.empty_response.threshold.into()),
        ),
        row(
            A::ErrorRate,
            "threshold",
            both(Range::number(0.0, 1.0).above()),
            |s| Some(s.error_rate.threshold),
        ),
        row(A::ErrorRate, "window", both(Range::count(2, CALLS)), |s| {
            Some(s.error_rate.window.into())
        }),
        row(
            A::PrematureVictory,
            "clock_tolerance",
            both(Range::seconds(0.0, SKEW)),
            |s| seconds(s.premature_victory.clock_tolerance),
        ),
        // Texts are measured once, with 4-grams.
        row(A::Stutter, "ngram", both(Range::count(4, 4)), |s| {
            Some(s.stutter.ngram.into())
        }),
        row(
            A::Stutter,
            "max_entropy",
            both(Range::number(0.0, BITS)),
            |s| Some(s.stutter.max_entropy),
        ),
        row(
            A::Stutter,
            "min_tokens",
            both(Range::count(0, TOKENS)),
            |s| s.stutter.min_tokens.map(Into::into),
        ),
        row(
            A::GoalDrift,
            "window",
            both(Range::count(3, REPEATS)),
            |s| Some(s.goal_drift.window.into()),
        ),
        row(
            A::WriteStorm,
            "limit",
            (Range::count(1, WRITES), Range::ANY),
            |s| Some(s.write_storm.limit as f64),
        ),
        row(
            A::WriteStorm,
            "window",
            (Range::ANY_TIME.above(), Range::ANY_TIME),
            |s| seconds(s.write_storm.window),
        ),
        row(
            A::BudgetSteps,
            "max",
            (Range::count_from(1), Range::count_from(0)),
            |s| s.budget_steps.max.map(|max| max as f64),
        ),
        row(
            A::BudgetCost,
            "max_usd",
            (
                Range::dollars(0.0, DOLLARS).above(),
                Range::dollars(0.0, DOLLARS),
            ),
            |s| s.budget_cost.max_usd,
        ),
        row(
            A::BudgetTime,
            "max",
            (
                Range::seconds(0.0, MONTH).above(),
                Range::seconds(0.0, MONTH),
            ),
            |s| s.budget_time.max.and_then(seconds),
        ),
    ]
};

/// Silence allowed: a key of aware rules only.
const IDLE: Key = row(
    AnomalyType::BudgetTime,
    "idle",
    both(Range::seconds(0.0, MONTH).above()),
    |s| s.budget_time.idle.and_then(seconds),
);

/// All numbers of all detectors.
pub fn keys() -> impl Iterator<Item = &'static Key> {
    KEYS.iter().chain(std::iter::once(&IDLE))
}

/// The number that counts repeats for a detector, which tools may have of their own.
pub(super) fn threshold_of(anomaly: AnomalyType) -> Option<&'static Key> {
    let keys = ["threshold", "repeats"];
    KEYS.iter()
        .find(|one| one.anomaly == anomaly && keys.contains(&one.key))
}

/// Numbers out of range, and numbers that cannot go together. `rules` is the processor's choice.
pub(super) fn check(settings: &Settings, rules: Rules, problems: &mut Vec<Problem>) {
    let in_force = |anomaly| settings.common(anomaly).rules.unwrap_or(rules);
    for key in keys() {
        let range = key.range(in_force(key.anomaly));
        if let Some(fault) = key.value(settings).and_then(|value| range.fault(value)) {
            let path = format!("{}.{}", key.anomaly, key.key);
            let problem = Problem::new(&path, fault);
            problems.push(problem.helped(format!("allowed: {}", range.words())));
        }
    }
    let mut wrong = |path: &str, message: String, help: &str| {
        problems.push(Problem::new(path, message).helped(help.to_owned()));
    };
    let aware = |anomaly| in_force(anomaly) == Rules::Aware;
    let cycle = &settings.r#loop;
    // A window below this is out of range as it is.
    let seen = cycle.window.max(6);
    if aware(AnomalyType::Loop) && cycle.min_repeats.saturating_mul(3) > seen {
        wrong(
            "loop.min_repeats",
            format!(
                "{} rounds do not fit into a window of {}: the shortest cycle has 3 calls",
                cycle.min_repeats, cycle.window
            ),
            "allowed: a `window` of at least 3 times `min_repeats`",
        );
    }
    let pairs = &settings.transition_repeat;
    if aware(AnomalyType::TransitionRepeat) && pairs.window > 0 && pairs.repeats > pairs.window {
        wrong(
            "transition_repeat.repeats",
            format!(
                "{} repeats do not fit into a window of {}",
                pairs.repeats, pairs.window
            ),
            "allowed: `repeats` of at most `window`; a `window` of 0 is all calls that are kept",
        );
    }
    let errors = &settings.error_rate;
    if errors.unit == Unit::Run && errors.window > ANSWERS {
        wrong(
            "error_rate.window",
            format!(
                "is {}, must be at most {ANSWERS} with `unit: run`",
                errors.window
            ),
            "allowed: a whole number from 2 to 16; a conversation keeps no more",
        );
    }
    budgets(settings, in_force(AnomalyType::BudgetTime), &mut wrong);
}

fn budgets(settings: &Settings, rules: Rules, wrong: &mut impl FnMut(&str, String, &str)) {
    let time = &settings.budget_time;
    let Some(idle) = time.idle else { return };
    if rules == Rules::Source {
        wrong(
            "budget_time.idle",
            "silence is watched by timers, which `rules: source` has not".to_owned(),
            "leave `idle` out, or set `rules: aware`",
        );
    } else if let Some(max) = time.max.filter(|max| idle > *max && !max.is_zero()) {
        wrong(
            "budget_time.idle",
            format!("a silence of {idle:?} can never be reached within a `max` of {max:?}"),
            "allowed: an `idle` of at most `max`",
        );
    }
}

/// Keys with another value than their default that mean nothing under the rules in force: the key's path and the
/// rules that heed it.
pub fn unheeded(settings: &Settings, rules: Rules) -> Vec<([&'static str; 2], Rules)> {
    let defaults = Settings::default();
    let aware = |anomaly| settings.common(anomaly).rules.unwrap_or(rules) == Rules::Aware;
    let mut keys = Vec::new();
    let entropy = settings.stutter.max_entropy.to_bits();
    if aware(AnomalyType::Stutter) && entropy != defaults.stutter.max_entropy.to_bits() {
        keys.push((["stutter", "max_entropy"], Rules::Source));
    }
    if aware(AnomalyType::TransitionRepeat) && !settings.transition_repeat.neutralize_volatile {
        keys.push((["transition_repeat", "neutralize_volatile"], Rules::Source));
    }
    if settings.goal_drift.enabled && !aware(AnomalyType::GoalDrift) {
        keys.push((["goal_drift", "enabled"], Rules::Aware));
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::super::{Detector, Table, table};
    use super::*;

    #[test]
    fn the_bounds_are_those_of_what_is_kept() {
        assert_eq!(usize::try_from(CALLS), Ok(Table::WINDOW_MAX));
        assert_eq!(usize::try_from(ANSWERS), Ok(crate::lanes::FACTS_MAX));
    }

    #[test]
    fn defaults_are_in_range() {
        for rules in [Rules::Aware, Rules::Source] {
            for key in keys() {
                let value = key.value(&Settings::default());
                let fault = value.and_then(|value| key.range(rules).fault(value));
                assert_eq!(fault, None, "{} {}", key.anomaly, key.key);
            }
        }
    }

    /// With the greatest thresholds a lane still keeps what they need.
    #[test]
    fn the_greatest_fits_into_a_lane() {
        let json = format!(
            r#"{{"stuck": {{"threshold": {REPEATS}}}, "failure_loop": {{"threshold": {REPEATS}}},
                "ping_pong": {{"window": {}}}, "loop": {{"window": {CALLS}}},
                "goal_drift": {{"enabled": true, "window": {REPEATS}}}, "write_storm": {{"limit": {WRITES}}},
                "error_rate": {{"window": {CALLS}}}}}"#,
            CALLS - 4
        );
        let settings: Settings = serde_json::from_str(&json).unwrap();
        assert_eq!(settings.check(Rules::Aware), []);
        for anomaly in AnomalyType::ALL {
            let built: Option<Box<dyn Detector>> = table::build(anomaly, &settings, Rules::Aware);
            let window = built.map_or(0, |detector| detector.window());
            assert!(window <= Table::WINDOW_MAX, "{anomaly}: {window}");
        }
    }
}
