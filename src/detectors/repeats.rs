//! Looking back over a lane for repeats (A1 to A3): what may be set beside the judged call, when two
//! answers are one, and what in between makes a repeat a new beginning.
//!
//! Invariant: nothing behind the judged call, before its turn, of another concurrent parent, or of a tool
//! that is ignored is ever looked at; waiting is no step.

use std::time::Duration;

use smallvec::SmallVec;

use crate::lanes::{Call, Names, View};
use crate::model::{AnomalyType, Confidence, Finding, Likeness, Member, Outcome, Role, Severity};

use super::ready::Ready;
use super::{KeyBy, Rules};

/// Among how many calls repeats are counted when others lie between.
pub(super) const AMONG: u32 = 10;
/// Equal answers after which a poll is stuck.
const POLLS: usize = 10;
/// Fewer polls are enough over this time.
const SLOW_POLLS: usize = 6;
const SLOW_POLLS_OVER: Duration = Duration::from_secs(300);
/// Repeats closer than this are busy polling (A3).
const BUSY: Duration = Duration::from_secs(10);

/// Whether two answers are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Same {
    /// They are.
    Yes,
    /// They are not.
    No,
    /// Nothing says.
    Unknown,
}

impl Same {
    /// Both have to hold.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            _ => Self::Yes,
        }
    }
}

/// The judged call and what of its lane may be set beside it.
#[derive(Clone, Copy)]
pub(super) struct Past<'v> {
    /// The calls of the lane up to and including the judged one.
    pub(super) calls: &'v [Call],
    /// The judged one.
    pub(super) judged: &'v Call,
    pub(super) names: &'v Names,
    ready: &'v Ready,
}

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

impl<'v> Past<'v> {
    /// What lies behind the call judged; `None` when a reply is judged, or a call that is not looked at.
    pub(super) fn new(view: &View<'v>, ready: &'v Ready) -> Option<Self> {
        let judged = view.call()?;
        let past = Self {
            calls: view.calls(),
            judged,
            names: view.names,
            ready,
        };
        (ready.rules == Rules::Source || past.counts(judged)).then_some(past)
    }

    fn counts(&self, call: &Call) -> bool {
        !call.waits
            && call.role != Role::Wait
            && !self
                .ready
                .of(self.names, call.tool)
                .is_some_and(|over| over.ignore)
    }

    /// Earlier calls that may be set beside the judged one, newest first, with their index.
    pub(super) fn back(self) -> impl Iterator<Item = (usize, &'v Call)> {
        let judged = self.judged;
        let before = self.calls.len().saturating_sub(1);
        self.calls
            .get(..before)
            .unwrap_or_default()
            .iter()
            .enumerate()
            .rev()
            .take_while(|(_, call)| call.turn == judged.turn)
            .filter(move |(_, call)| {
                let known = !call.lane_unknown && !judged.lane_unknown;
                (known || call.parent == judged.parent) && self.counts(call)
            })
    }

    /// Whether two calls are the same one: by key, or as configured for the tool.
    pub(super) fn same_call(&self, a: &Call, b: &Call) -> bool {
        if a.tool != b.tool {
            return false;
        }
        match self.ready.of(self.names, a.tool).and_then(|over| over.key) {
            Some(KeyBy::Tool) => true,
            Some(KeyBy::Call) | None => a.key.is_some() && a.key == b.key,
        }
    }

    /// The threshold configured for the judged tool, else the detector's.
    pub(super) fn threshold(&self, own: u32) -> usize {
        let over = self.ready.of(self.names, self.judged.tool);
        let threshold = over.and_then(|over| over.threshold).unwrap_or(own);
        usize::try_from(threshold.max(1)).unwrap_or(usize::MAX)
    }

    /// The role of a call, as configured for its tool or as read.
    pub(super) fn role(&self, call: &Call) -> Role {
        let over = self.ready.of(self.names, call.tool);
        over.and_then(|over| over.role).unwrap_or(call.role)
    }

    /// Whether a call asks for new output of something that runs (A3).
    pub(super) fn polls(&self, call: &Call) -> bool {
        let over = self.ready.of(self.names, call.tool);
        over.and_then(|over| over.poll)
            .unwrap_or_else(|| call.poll || self.role(call) == Role::Poll)
    }

    /// Whether the call at `index` is a successful, differing change of something that `call` depends on or
    /// changes itself (A1). Differing: another key than the last change of the same target.
    pub(super) fn resets(&self, index: usize, call: &Call) -> bool {
        let Some(change) = self.calls.get(index) else {
            return false;
        };
        if !changed(change)
            || !(change.changes.touches(&call.reads) || change.changes.touches(&call.changes))
        {
            return false;
        }
        let before = self.calls.get(..index).unwrap_or_default();
        let last = before
            .iter()
            .rev()
            .find(|other| changed(other) && other.changes.touches(&change.changes));
        last.is_none_or(|last| last.key.is_none() || last.key != change.key)
    }

    /// Whether anything in a range of indices is such a change.
    pub(super) fn reset_within(&self, range: std::ops::Range<usize>, call: &Call) -> bool {
        range.into_iter().any(|index| self.resets(index, call))
    }

    /// Whether an earlier call of the turn has the key of the judged one. Cheap: most steps end here.
    pub(super) fn seen_before(&self) -> bool {
        self.back()
            .any(|(_, call)| self.same_call(call, self.judged))
    }

    /// The judged call's repeats with equal answers, at most [`AMONG`] calls from one to the next.
    pub(super) fn row(&self) -> Row {
        let mut row = Row::starting_at(self.calls.len().saturating_sub(1));
        let mut place = 0;
        for (index, call) in self.back() {
            place += 1;
            if place - row.last_place() > AMONG {
                break;
            }
            if self.same_call(call, self.judged) {
                match same_answer(call, self.judged) {
                    Same::No => break,
                    Same::Yes if row.sure == row.members.len() => row.sure += 1,
                    Same::Yes | Same::Unknown => {}
                }
                row.push(index, place);
            } else if self.resets(index, self.judged) {
                break;
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
        if self.polls(self.judged) {
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

    /// Whether all these members answered with the very same text.
    pub(super) fn raw_equal(&self, members: &[usize]) -> bool {
        members
            .iter()
            .filter_map(|index| self.calls.get(*index))
            .all(|call| call.answer.known && call.answer.raw == self.judged.answer.raw)
    }

    /// Whether calls of other concurrent parents were left out that would have been repeats (DESIGN 3.4).
    pub(super) fn blind(&self) -> bool {
        let before = self.calls.len().saturating_sub(1);
        self.calls
            .get(..before)
            .unwrap_or_default()
            .iter()
            .rev()
            .take_while(|call| call.turn == self.judged.turn)
            .any(|call| {
                (call.lane_unknown || self.judged.lane_unknown)
                    && call.parent != self.judged.parent
                    && self.same_call(call, self.judged)
            })
    }

    /// A finding about these members (newest first), still without words and facts.
    pub(super) fn finding(&self, anomaly: AnomalyType, members: &[usize], keys: &[u64]) -> Finding {
        let tool = self.names.text(self.judged.tool);
        let mut shape: SmallVec<[u64; 4]> = keys.iter().copied().collect();
        shape.sort_unstable();
        shape.dedup();
        shape.truncate(Finding::MEMBERS_MAX);
        let evidence_key = shape
            .iter()
            .fold(hash(tool.as_bytes()), |all, key| mix(all, *key));
        Finding {
            anomaly,
            rule: 1,
            severity: self.ready.severity(Severity::Warning),
            confidence: Confidence::Exact,
            reason: None,
            members: bounded(members.iter().rev().filter_map(|i| self.calls.get(*i))),
            count: u32::try_from(members.len()).unwrap_or(u32::MAX),
            tool: Some(tool),
            evidence_key,
            shape,
            facts: Vec::new(),
            message: String::new(),
        }
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

/// Whether a call did change something that can be named.
fn changed(call: &Call) -> bool {
    !call.changes.is_empty() && !call.outcome.failed() && call.outcome != Outcome::Refused
}

/// Whether two answers of one call are the same: equal after neutralising, or one class of error (A1).
pub(super) fn same_answer(a: &Call, b: &Call) -> Same {
    match (a.outcome, b.outcome) {
        (Outcome::Failed(x), Outcome::Failed(y)) => {
            if x.class != 0 && x.class == y.class {
                return Same::Yes;
            }
            if x.exit_code.is_some() && y.exit_code.is_some() && x.exit_code != y.exit_code {
                return Same::No;
            }
        }
        (Outcome::Refused, Outcome::Refused) => return Same::Yes,
        (Outcome::Failed(_) | Outcome::Refused, Outcome::Succeeded)
        | (Outcome::Succeeded, Outcome::Failed(_) | Outcome::Refused) => return Same::No,
        _ => {}
    }
    if !a.answer.known || !b.answer.known {
        return Same::Unknown;
    }
    let neutral = a.key.is_some() && a.key == b.key;
    if a.answer.raw == b.answer.raw || (neutral && a.answer.digest == b.answer.digest) {
        Same::Yes
    } else {
        Same::No
    }
}

/// Whether two calls of one tool are the same or near-equal (A6).
pub(super) fn near(a: &Call, b: &Call) -> bool {
    a.tool == b.tool
        && ((a.key.is_some() && a.key == b.key) || Likeness::of(&a.sketch, &b.sketch).near())
}

/// Members of a proof, oldest first; a longer one keeps its first and its last ones.
pub(super) fn bounded<'c>(calls: impl Iterator<Item = &'c Call>) -> SmallVec<[Member; 4]> {
    let mut members: SmallVec<[Member; 4]> = calls.map(Call::member).collect();
    let over = members.len().saturating_sub(Finding::MEMBERS_MAX);
    if over > 0 {
        members.drain(1..=over);
    }
    members
}

/// A hash of a text that is the same in every process.
pub(super) fn hash(text: &[u8]) -> u64 {
    text.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Two hashes as one.
pub(super) fn mix(a: u64, b: u64) -> u64 {
    let mut x = a.rotate_left(23) ^ b.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x ^= x >> 32;
    x.wrapping_mul(0xd6e8_feb8_6659_fd93)
}
