//! Looking back over a lane for repeats (A1 to A3): what may be set beside the judged call, when two
//! answers are one, and what in between makes a repeat a new beginning.
//!
//! Invariant: nothing behind the judged call, before its turn, of another concurrent parent, or of a tool
//! that is ignored is ever looked at; waiting is no step.

use smallvec::SmallVec;

use crate::lanes::{Call, Names, View};
use crate::model::{AnomalyType, Confidence, Finding, Likeness, Member, Outcome, Role, Severity};

use super::ready::Ready;
use super::{KeyBy, Rules};

/// Among how many calls repeats are counted when others lie between.
pub(super) const AMONG: u32 = 10;
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
    pub(super) ready: &'v Ready,
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
        let over = self.ready.of(self.names, call.tool);
        !self.waits(call) && !over.is_some_and(|over| over.ignore)
    }

    /// Whether a call only lets time pass.
    pub(super) fn waits(&self, call: &Call) -> bool {
        let over = self.ready.of(self.names, call.tool);
        match over.and_then(|over| over.role) {
            Some(role) => role == Role::Wait,
            None => call.waits || call.role == Role::Wait,
        }
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
        a.tool == b.tool && ((a.key.is_some() && a.key == b.key) || self.by_tool(a))
    }

    /// Whether all calls of this one's tool are the same by configuration.
    fn by_tool(&self, call: &Call) -> bool {
        self.ready.keys_by_tool
            && self
                .ready
                .of(self.names, call.tool)
                .is_some_and(|over| over.key == Some(KeyBy::Tool))
    }

    /// What makes a call the same as others: its key, or its tool as configured; `None` when nothing is known.
    pub(super) fn key(&self, call: &Call) -> Option<u64> {
        if self.by_tool(call) {
            return Some(hash(self.names.text(call.tool).as_bytes()));
        }
        call.key
    }

    /// Whether two answers are the same: equal after neutralising, or one class of error (A1). Between different
    /// calls nothing is neutralised.
    pub(super) fn same_answer(&self, a: &Call, b: &Call) -> Same {
        same_answer(a, b, self.same_call(a, b))
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

    /// Whether a call can only look (A6): by its role, or a command without an effect; `readOnlyHint: false` says
    /// that it cannot.
    pub(super) fn changes_nothing(&self, call: &Call) -> bool {
        call.changes.is_empty()
            && call.more.hints.read_only != Some(false)
            && matches!(
                self.role(call),
                Role::Read | Role::Poll | Role::Fetch | Role::Search | Role::Shell
            )
    }

    /// Whether the call at `index` is a successful, differing change of something that `call` depends on or
    /// changes itself (A1). Differing: another key than the last change of the same target, or something that
    /// it depends on itself was changed since then (a restart after another edit is another restart); and no taking back
    /// of the last change.
    pub(super) fn resets(&self, index: usize, call: &Call) -> bool {
        let Some(change) = self.calls.get(index) else {
            return false;
        };
        if !changed(change)
            || !(change.changes.touches(&call.reads) || change.changes.touches(&call.changes))
        {
            return false;
        }
        if self.undone(index, change) {
            return false;
        }
        self.last_like(index, change).is_none_or(|last| {
            (last + 1..index).any(|between| {
                self.calls.get(between).is_some_and(|other| {
                    changed(other)
                        && other.changes.touches(&change.reads)
                        && self.last_like(between, other).is_none()
                })
            })
        })
    }

    /// The last change of what the change at `index` changes, when it was the very same call.
    fn last_like(&self, index: usize, change: &Call) -> Option<usize> {
        let before = self.calls.get(..index).unwrap_or_default();
        let last = before
            .iter()
            .rposition(|other| changed(other) && other.changes.touches(&change.changes))?;
        let same = self.calls.get(last)?.key;
        (same.is_some() && same == change.key).then_some(last)
    }

    /// Whether the change at `index` only takes back the last one of its target, with a call that was made before: to
    /// and fro is no news.
    fn undone(&self, index: usize, change: &Call) -> bool {
        let same_target = |other: &&Call| changed(other) && other.changes.touches(&change.changes);
        let before = self.calls.get(..index).unwrap_or_default();
        let mut others = before.iter().rev().filter(same_target);
        let last = others.next();
        change.key.is_some()
            && last.is_some_and(|last| last.key != change.key)
            && others.next().is_some_and(|other| other.key == change.key)
    }

    /// Whether anything in a range of indices is such a change.
    pub(super) fn reset_within(&self, range: std::ops::Range<usize>, call: &Call) -> bool {
        range.into_iter().any(|index| self.resets(index, call))
    }

    /// Whether an earlier call has the key of the judged one, or may count as the same by configuration. Cheap:
    /// most steps end here, so nothing else is looked at.
    pub(super) fn seen_before(&self) -> bool {
        let before = self.calls.len().saturating_sub(1);
        let judged = self.judged;
        self.ready.keys_by_tool
            || self
                .calls
                .get(..before)
                .unwrap_or_default()
                .iter()
                .rev()
                .any(|call| call.key == judged.key && call.tool == judged.tool)
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
        let shown: SmallVec<[usize; 32]> = proof(members).collect();
        Finding {
            anomaly,
            rule: 1,
            severity: self.ready.severity(Severity::Warning),
            confidence: Confidence::Exact,
            reason: None,
            members: bounded(shown.iter().rev().filter_map(|i| self.calls.get(*i))),
            count: u32::try_from(members.len()).unwrap_or(u32::MAX),
            tool: Some(tool),
            evidence_key,
            shape,
            facts: Vec::new(),
            message: String::new(),
        }
    }
}

/// Whether a call did change something that can be named.
fn changed(call: &Call) -> bool {
    !call.changes.is_empty() && !call.outcome.failed() && call.outcome != Outcome::Refused
}

/// Whether a call failed by exit code, status or flag: all that a source system looks at.
pub(super) fn failed_in_source(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Failed(failure) if !failure.soft)
}

fn same_answer(a: &Call, b: &Call, neutral: bool) -> Same {
    match (a.outcome, b.outcome) {
        (Outcome::Failed(x), Outcome::Failed(y)) => {
            if (x.vague || y.vague) && x.class == y.class && x.exit_code == y.exit_code {
                return Same::Unknown;
            }
            if x.class != 0 && y.class != 0 {
                return if x.class == y.class {
                    Same::Yes
                } else {
                    Same::No
                };
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
    if a.answer.raw == b.answer.raw || (neutral && a.answer.digest == b.answer.digest) {
        Same::Yes
    } else {
        Same::No
    }
}

/// Whether two calls of one tool are the same or near-equal (A6).
pub(super) fn near(a: &Call, b: &Call) -> bool {
    if a.tool != b.tool {
        return false;
    }
    let like = Likeness::of(&a.sketch, &b.sketch);
    // Values of one character have no pairs: that both have none says nothing when their words differ.
    let no_pairs = like.words == 0.0 && like.pairs == 1.0;
    (a.key.is_some() && a.key == b.key) || (like.near() && !no_pairs)
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

/// Those of a proof's members, newest first, that are shown: the last ones, and the first.
pub(super) fn proof(members: &[usize]) -> impl Iterator<Item = usize> + '_ {
    let last = members.len().min(Finding::MEMBERS_MAX - 1);
    let (last, others) = members.split_at(last);
    last.iter().chain(others.last()).copied()
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
