//! A lane: the last steps of one agent in one run, in order.

use crate::model::{Timestamp, ToolSet};

use super::{Call, Meter, Order, Reply};

/// The last calls and replies of one agent. Bounded by [`Lane::forget`], the oldest first.
#[derive(Clone, Debug, Default)]
pub struct Lane {
    calls: Vec<Call>,
    replies: Vec<Reply>,
    definitions: Vec<Definitions>,
    /// Calls ever taken in.
    pub calls_seen: u32,
    /// Calls that came older than everything kept: in the ledger only.
    pub late: u32,
    /// What was spent; counts only where a budget is set.
    pub meter: Meter,
    /// Whose steps these are could not be told, beyond that they hang under one parent (DESIGN 3.4).
    pub unknown: bool,
}

/// The tools that a model step of the lane was given.
#[derive(Clone, Debug)]
pub struct Definitions {
    /// Place of the model step.
    pub order: Order,
    /// Its arrival plus one, as in [`Call::asked_by`].
    pub by: u32,
    /// The tools.
    pub tools: ToolSet,
}

/// Where an insertion ended up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At this index of the list; every index behind it moved by one.
    At(usize),
    /// Older than everything kept: not taken in.
    TooOld,
}

impl Lane {
    /// Replies kept.
    pub const REPLIES_MAX: usize = 8;

    /// Definitions kept: of a row of equal ones the first and the last.
    pub const DEFINITIONS_MAX: usize = 16;

    /// Notes the tools that a model step was given.
    pub fn note_definitions(&mut self, new: Definitions) {
        let list = &mut self.definitions;
        let at = list.partition_point(|other| other.order <= new.order);
        list.insert(at, new);
        let equal = |window: &[Definitions]| match window {
            [first, middle, last] => first.tools == middle.tools && middle.tools == last.tools,
            _ => false,
        };
        if let Some(row) = list.windows(3).position(equal) {
            list.remove(row + 1);
        }
        if list.len() > Self::DEFINITIONS_MAX {
            list.remove(0);
        }
    }

    /// The tools given to the model step that asked for a call, where it is known (`by`, not 0) and carried
    /// any; else those of the nearest model step up to `order` that did.
    pub fn definitions_for(&self, by: u32, order: Order) -> Option<&ToolSet> {
        let asking = self.definitions.iter().find(|d| by != 0 && d.by == by);
        let earlier = || self.definitions.iter().rev().find(|d| d.order <= order);
        asking.or_else(earlier).map(|found| &found.tools)
    }

    /// The calls kept, oldest first.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// The replies kept, oldest first.
    pub fn replies(&self) -> &[Reply] {
        &self.replies
    }

    /// Inserts a call at its place; one older than all of a list of `capacity` or more is not taken in.
    /// O(distance from the end).
    pub fn insert_call(&mut self, call: Call, capacity: usize) -> Place {
        self.calls_seen = self.calls_seen.saturating_add(1);
        let place = insert(&mut self.calls, call, |c| c.order, capacity);
        if place == Place::TooOld {
            self.late = self.late.saturating_add(1);
        }
        place
    }

    /// Inserts a reply at its place; one older than all of a list of [`Lane::REPLIES_MAX`] or more is not.
    pub fn insert_reply(&mut self, reply: Reply) -> Place {
        insert(&mut self.replies, reply, |r| r.order, Self::REPLIES_MAX)
    }

    /// Takes out the calls and replies that `belongs` says yes to, in order: they go to another lane.
    pub fn split_off(
        &mut self,
        mut belongs: impl FnMut(&Call) -> bool,
        mut replies: impl FnMut(&Reply) -> bool,
    ) -> (Vec<Call>, Vec<Reply>) {
        let moved_calls: Vec<Call> = self.calls.extract_if(.., |call| belongs(call)).collect();
        let moved_replies = self
            .replies
            .extract_if(.., |reply| replies(reply))
            .collect();
        let moved = u32::try_from(moved_calls.len()).unwrap_or(u32::MAX);
        self.calls_seen = self.calls_seen.saturating_sub(moved);
        (moved_calls, moved_replies)
    }

    /// Takes in steps of another lane at their places; they count for this lane from now on.
    pub fn absorb(&mut self, calls: Vec<Call>, replies: Vec<Reply>, capacity: usize) {
        for call in calls {
            self.calls_seen = self.calls_seen.saturating_add(1);
            insert(&mut self.calls, call, |c| c.order, capacity);
        }
        for reply in replies {
            insert(&mut self.replies, reply, |r| r.order, Self::REPLIES_MAX);
        }
    }

    /// Works out the turn of every step anew; `turn` maps a start to a turn.
    pub fn set_turns(&mut self, turn: impl Fn(Timestamp) -> u16) {
        self.calls
            .iter_mut()
            .for_each(|call| call.turn = turn(call.start));
        self.replies
            .iter_mut()
            .for_each(|reply| reply.turn = turn(reply.start));
    }

    /// Forgets what no judgement needs any more: all but the last `capacity` calls before the first call that
    /// waits, all but the last [`Lane::REPLIES_MAX`] replies before the first reply that waits.
    pub fn forget(
        &mut self,
        capacity: usize,
        first_call: Option<Order>,
        first_reply: Option<Order>,
    ) {
        forget(&mut self.calls, |c| c.order, first_call, capacity);
        forget(
            &mut self.replies,
            |r| r.order,
            first_reply,
            Self::REPLIES_MAX,
        );
        let first = match (first_call, first_reply) {
            (Some(call), Some(reply)) => Some(call.min(reply)),
            (call, reply) => call.or(reply),
        };
        self.meter.forget(first);
    }

    /// A call that may be changed, except for its order.
    pub fn call_mut(&mut self, at: usize) -> Option<&mut Call> {
        self.calls.get_mut(at)
    }

    /// Changes the reply at a place, but not its order.
    pub fn change_reply(&mut self, order: Order, change: impl FnOnce(&mut Reply)) {
        if let Ok(at) = self.replies.binary_search_by(|r| r.order.cmp(&order))
            && let Some(reply) = self.replies.get_mut(at)
        {
            change(reply);
        }
    }

    /// Bytes held on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.calls.capacity() * size_of::<Call>()
            + self.replies.capacity() * size_of::<Reply>()
            + self.definitions.capacity() * size_of::<Definitions>()
            + self.meter.heap_bytes()
            + self
                .definitions
                .iter()
                .map(|d| d.tools.bytes())
                .sum::<usize>()
    }
}

/// Inserts in order. Nothing is forgotten here: what still waits for judgement needs what came before it.
fn insert<T>(list: &mut Vec<T>, item: T, order: impl Fn(&T) -> Order, capacity: usize) -> Place {
    let place = order(&item);
    let mut at = list.len();
    while at > 0 && list.get(at - 1).is_some_and(|before| order(before) > place) {
        at -= 1;
    }
    if at == 0 && list.len() >= capacity {
        return Place::TooOld;
    }
    list.insert(at, item);
    Place::At(at)
}

/// Forgets all but the last `capacity` items before `floor`; without one, all but the last `capacity`.
pub(super) fn forget<T>(
    list: &mut Vec<T>,
    order: impl Fn(&T) -> Order,
    floor: Option<Order>,
    capacity: usize,
) {
    if list.len() <= capacity {
        return;
    }
    let needed = match floor {
        Some(floor) => list.partition_point(|item| order(item) < floor),
        None => list.len(),
    };
    list.drain(..needed.saturating_sub(capacity));
    // A large request must not leave its size behind in every run it touched.
    if list.capacity() > 2 * list.len().max(capacity) {
        list.shrink_to(list.len().max(capacity));
    }
}
