//! Tries as units, and whether their sequence repeats itself (A5).
//!
//! Invariant: two units are one when they hold the same set of calls with equal answers and nothing that
//! the later one depends on was changed between them.

use smallvec::SmallVec;

use crate::lanes::Call;

use super::repeats::{Past, Same};

/// Most calls of one try that are compared; a larger one is like no other.
const UNIT_MAX: usize = 16;

/// The calls of one try, by index, oldest first, each key once.
#[derive(Clone, Debug, Default)]
pub(super) struct Unit {
    calls: SmallVec<[usize; 2]>,
}

/// The units of the turn up to the judged call, newest first.
pub(super) type Units = SmallVec<[Unit; 32]>;

/// How far the tail of the units repeats a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rounds {
    /// Units that equal the one a period before them, from the newest on.
    matched: usize,
    /// As `matched`, counted only as long as answers are known.
    sure: usize,
    period: usize,
}

impl Rounds {
    /// Whole rounds, the first one included.
    pub(super) fn all(self) -> usize {
        self.matched / self.period + usize::from(self.matched > 0)
    }

    /// Whole rounds whose answers are known to be equal.
    pub(super) fn sure(self) -> usize {
        self.sure / self.period + usize::from(self.sure > 0)
    }
}

/// Groups the calls that may be set beside the judged one into tries, all of them.
pub(super) fn units(past: &Past<'_>) -> Units {
    newest_units(past, usize::MAX)
}

/// The newest `most` tries: enough to tell that there is no pattern, at a part of the cost.
pub(super) fn newest_units(past: &Past<'_>, most: usize) -> Units {
    let mut units = Units::new();
    let judged = past.calls.len().saturating_sub(1);
    let mut current = Unit::default();
    current.calls.push(judged);
    for (index, call) in past.back() {
        let one_try = current
            .calls
            .iter()
            .filter_map(|other| past.calls.get(*other))
            .any(|other| call.one_try_with(other));
        if !one_try {
            units.push(std::mem::take(&mut current));
            if units.len() >= most {
                break;
            }
        }
        current.calls.push(index);
    }
    if !current.calls.is_empty() {
        units.push(current);
    }
    for unit in &mut units {
        unit.settle(past);
    }
    units
}

impl Unit {
    /// Oldest first, each call once: the calls of one try are a set.
    fn settle(&mut self, past: &Past<'_>) {
        if self.calls.len() < 2 {
            return;
        }
        self.calls.reverse();
        let mut kept: SmallVec<[usize; 2]> = SmallVec::new();
        for index in &self.calls {
            let Some(call) = past.calls.get(*index) else {
                continue;
            };
            let copy = kept
                .iter()
                .filter_map(|other| past.calls.get(*other))
                .any(|other| past.same_call(other, call));
            if !copy {
                kept.push(*index);
            }
        }
        self.calls = kept;
    }

    /// Its calls, oldest first.
    pub(super) fn calls<'v>(&'v self, past: &'v Past<'_>) -> impl Iterator<Item = &'v Call> {
        self.calls.iter().filter_map(|index| past.calls.get(*index))
    }

    /// Indices of its calls, oldest first.
    pub(super) fn indices(&self) -> &[usize] {
        &self.calls
    }

    /// Whether two units hold the same set of calls, whatever came back.
    pub(super) fn same_calls(&self, other: &Self, past: &Past<'_>) -> bool {
        self.calls.len() == other.calls.len()
            && self.calls.len() <= UNIT_MAX
            && self
                .calls(past)
                .all(|call| other.calls(past).any(|other| past.same_call(call, other)))
    }

    /// Whether an older unit was the same one: same calls, equal answers, nothing changed since.
    fn repeats(&self, older: &Self, past: &Past<'_>) -> Same {
        if self.calls.len() != older.calls.len() || self.calls.len() > UNIT_MAX {
            return Same::No;
        }
        let mut same = Same::Yes;
        for index in &self.calls {
            let Some(call) = past.calls.get(*index) else {
                return Same::No;
            };
            let twin = older
                .calls
                .iter()
                .filter_map(|at| Some((*at, past.calls.get(*at)?)))
                .find(|(_, twin)| past.same_call(twin, call));
            let Some((at, twin)) = twin else {
                return Same::No;
            };
            same = same.and(past.same_answer(twin, call));
            if same == Same::No || past.reset_within(at + 1..*index, call) {
                return Same::No;
            }
        }
        same
    }
}

/// How many of the newest units repeat the one `period` before them.
pub(super) fn rounds(units: &Units, period: usize, past: &Past<'_>) -> Rounds {
    let mut rounds = Rounds {
        matched: 0,
        sure: 0,
        period,
    };
    let older = units.get(period..).unwrap_or_default();
    for (unit, before) in units.iter().zip(older) {
        match unit.repeats(before, past) {
            Same::No => break,
            Same::Yes if rounds.sure == rounds.matched => rounds.sure += 1,
            Same::Yes | Same::Unknown => {}
        }
        rounds.matched += 1;
    }
    rounds
}

/// Whether the newest units look like a pattern of that period and of no shorter one: two rounds at least. What
/// does not is none of whatever length, so that most repeats need no further look.
pub(super) fn begins(units: &Units, period: usize, past: &Past<'_>) -> bool {
    let two = units.get(..period.saturating_mul(2)).unwrap_or_default();
    let older = two.get(period..).unwrap_or_default();
    !older.is_empty()
        && two
            .iter()
            .zip(older)
            .all(|(unit, before)| unit.same_calls(before, past))
        && !has_shorter_period(units, period, past)
}

/// Whether the newest `period` units are themselves a shorter pattern: of one unit, or of two.
pub(super) fn has_shorter_period(units: &Units, period: usize, past: &Past<'_>) -> bool {
    let shifted = |by: usize| {
        let tail = units.get(..period).unwrap_or_default();
        tail.iter()
            .zip(tail.get(by..).unwrap_or_default())
            .all(|(unit, before)| unit.same_calls(before, past))
    };
    (period > 1 && shifted(1)) || (period > 2 && period.is_multiple_of(2) && shifted(2))
}

/// Indices of all calls in the newest `count` units, newest first.
pub(super) fn members(units: &Units, count: usize) -> SmallVec<[usize; 16]> {
    units
        .iter()
        .take(count)
        .flat_map(|unit| unit.indices().iter().rev().copied())
        .collect()
}

/// Keys of the calls in one round.
pub(super) fn keys(units: &Units, period: usize, past: &Past<'_>) -> SmallVec<[u64; 8]> {
    let round = units.iter().take(period);
    round
        .flat_map(|unit| unit.calls(past).filter_map(|call| past.key(call)))
        .collect()
}

/// Whether a round holds a poll, or a state that is asked for in no hurry: then A3 is lenient.
pub(super) fn waits_for_something(units: &Units, period: usize, past: &Past<'_>) -> bool {
    units.iter().take(period).any(|unit| {
        unit.calls(past)
            .any(|call| past.polls(call) || call.answer.pending)
    })
}
