//! Rows of repeats: how many, how close together, and whether they are enough (A2, A3).
//!
//! Invariant: the judged call is the first member; a row never crosses an unequal answer or a change that
//! makes a new beginning.

use std::time::Duration;

use smallvec::SmallVec;

use crate::lanes::Call;
use crate::model::Outcome;

use super::repeats::{AMONG, Past, Same};

/// Equal answers after which a poll is stuck.
const POLLS: usize = 10;
/// Fewer polls are enough over this time.
const SLOW_POLLS: usize = 6;
const SLOW_POLLS_OVER: Duration = Duration::from_secs(300);
/// Repeats closer than this are busy polling (A3).
const BUSY: Duration = Duration::from_secs(10);

/// Repeats of the judged call.
#[derive(Debug, Default)]
pub(super) struct Row {
    /// Indices of the members, the judged one first.
    pub(super) members: SmallVec<[usize; 16]>,
    /// How many calls each lies behind the judged one.
    places: SmallVec<[u32; 16]>,
    /// So many members from the first have answers that are known to be equal.
    pub(super) sure: usize,
}

/// Why a row is long enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Enough {
    /// So many equal calls.
    Repeats,
    /// A poll without new output for too long.
    Poll,
    /// Twice the threshold, since answers are not known (A2).
    NoResults,
}

impl Past<'_> {
    /// The judged call's repeats with equal answers, at most [`AMONG`] calls from one to the next.
    pub(super) fn row(&self) -> Row {
        let mut row = Row::starting_at(self.calls.len().saturating_sub(1));
        let mut others = Others::of(self);
        let mut place = 0;
        for (index, call) in self.back() {
            place += 1;
            if place - row.last_place() > AMONG {
                break;
            }
            if self.same_call(call, self.judged) {
                match self.same_answer(call, self.judged) {
                    Same::No => break,
                    _ if others.moved(self) => break,
                    Same::Yes if row.sure == row.members.len() => row.sure += 1,
                    Same::Yes | Same::Unknown => {}
                }
                row.push(index, place);
            } else if self.resets(index, self.judged) {
                break;
            } else {
                others.pass(call);
            }
        }
        row
    }

    /// Leaves of each try only one member: a try counts once, except for `stuck`.
    pub(super) fn one_a_try(&self, row: &mut Row) {
        let mut kept = Row::default();
        let mut last: Option<&Call> = None;
        for (at, (index, place)) in row.members.iter().zip(&row.places).enumerate() {
            let Some(call) = self.calls.get(*index) else {
                continue;
            };
            if last.is_none_or(|last| !last.one_try_with(call)) {
                kept.push(*index, *place);
                kept.sure += usize::from(at < row.sure);
            }
            last = Some(call);
        }
        *row = kept;
    }

    /// Whether a row is long enough (A2, A3), and why.
    pub(super) fn enough(&self, row: &Row, threshold: usize, among: u32) -> Option<Enough> {
        let sure = row.members.get(..row.sure).unwrap_or_default();
        if self.polls(self.judged) || self.waits_for_news(sure) {
            return self.long_poll(sure).then_some(Enough::Poll);
        }
        if self.judged.answer.pending {
            if row.within(self.busy(sure), threshold, among) {
                return Some(Enough::Repeats);
            }
            return self.long_poll(sure).then_some(Enough::Poll);
        }
        if row.within(row.sure, threshold, among) {
            return Some(Enough::Repeats);
        }
        (row.sure < row.members.len()
            && row.within(row.members.len(), threshold.saturating_mul(2), among))
        .then_some(Enough::NoResults)
    }

    fn long_poll(&self, members: &[usize]) -> bool {
        let over = members
            .last()
            .and_then(|index| self.calls.get(*index))
            .map_or(Duration::ZERO, |first| self.judged.end.since(first.end));
        let configured = self.ready.of(self.names, self.judged.tool);
        let polls = configured
            .and_then(|over| over.threshold)
            .and_then(|threshold| usize::try_from(threshold).ok())
            .unwrap_or(POLLS);
        members.len() >= polls || (members.len() >= SLOW_POLLS && over >= SLOW_POLLS_OVER)
    }

    /// Whether these look for something that has not come, and let time pass before each new look: waiting, as a poll.
    fn waits_for_news(&self, members: &[usize]) -> bool {
        let waited = |pair: &[usize]| match pair {
            [newer, older] => {
                let (newer, older) = (*newer, *older);
                let gap = match (self.calls.get(newer), self.calls.get(older)) {
                    (Some(newer), Some(older)) => newer.end.since(older.end),
                    _ => Duration::ZERO,
                };
                let between = self.calls.get(older + 1..newer).unwrap_or_default();
                gap >= BUSY && between.iter().any(|call| self.waits(call))
            }
            _ => false,
        };
        members.len() > 1
            && self.judged.answer.acknowledges
            && self.changes_nothing(self.judged)
            && members.windows(2).all(waited)
    }

    /// How many members from the first lie less than [`BUSY`] apart.
    fn busy(&self, members: &[usize]) -> usize {
        let apart = |pair: &[usize]| match pair {
            [newer, older] => match (self.calls.get(*newer), self.calls.get(*older)) {
                (Some(newer), Some(older)) => newer.end.since(older.end) >= BUSY,
                _ => true,
            },
            _ => true,
        };
        let gap = members.windows(2).position(apart);
        gap.map_or(members.len(), |gap| gap + 1)
    }

    /// How many different tries the first `count` members are.
    pub(super) fn tries(&self, members: &[usize]) -> usize {
        let mut tries = 0;
        let mut last: Option<&Call> = None;
        for call in members.iter().filter_map(|index| self.calls.get(*index)) {
            if last.is_none_or(|last| !last.one_try_with(call)) {
                tries += 1;
            }
            last = Some(call);
        }
        tries
    }
}

/// Calls kept of those between two repeats.
const BETWEEN: usize = 4;

/// What was asked between repeats of a call that only acknowledges: its answer cannot tell whether it did something
/// (a click, a keystroke), those of others can. Empty where the answer itself tells.
#[derive(Default)]
struct Others<'c> {
    /// Whether others are the ones to tell.
    tell: bool,
    /// After the newer repeat.
    newer: SmallVec<[&'c Call; BETWEEN]>,
    /// After the older one, as far as it was come to.
    older: SmallVec<[&'c Call; BETWEEN]>,
}

impl<'c> Others<'c> {
    fn of(past: &Past<'_>) -> Self {
        let judged = past.judged;
        Self {
            tell: judged.answer.known
                && judged.answer.acknowledges
                && judged.outcome == Outcome::Succeeded
                && !past.changes_nothing(judged),
            ..Self::default()
        }
    }

    /// Goes past a call between two repeats, newest first.
    fn pass(&mut self, call: &'c Call) {
        if self.tell && self.older.len() < BETWEEN {
            self.older.push(call);
        }
    }

    /// Comes to a repeat: whether a call after it was answered differently when it came again after the newer one.
    fn moved(&mut self, past: &Past<'_>) -> bool {
        let older = std::mem::take(&mut self.older);
        let newer = std::mem::replace(&mut self.newer, older);
        newer.iter().any(|newer| {
            self.newer.iter().any(|older| {
                past.same_call(newer, older) && past.same_answer(newer, older) == Same::No
            })
        })
    }
}

impl Row {
    fn starting_at(judged: usize) -> Self {
        let mut row = Self::default();
        row.push(judged, 0);
        row.sure = 1;
        row
    }

    pub(super) fn push(&mut self, index: usize, place: u32) {
        self.members.push(index);
        self.places.push(place);
    }

    fn last_place(&self) -> u32 {
        self.places.last().copied().unwrap_or(0)
    }

    /// Whether `threshold` of the first `usable` members lie within `among` calls, or in a row.
    fn within(&self, usable: usize, threshold: usize, among: u32) -> bool {
        usable >= threshold
            && threshold.checked_sub(1).is_some_and(|last| {
                self.places.get(last).is_some_and(|place| {
                    *place < among || usize::try_from(*place).is_ok_and(|place| place == last)
                })
            })
    }
}
