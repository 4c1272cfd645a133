//! One agent's lane in a run, with the turns its model inputs show.

use crate::lanes::{Call, Lane, Order, Reply};
use crate::model::{Name, SpanId, Timestamp};

use super::LaneId;

/// Increases of the number of user messages remembered.
const TURNS_MAX: usize = 32;

/// Whose lane it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaneKey {
    /// An agent with a name.
    Named(Name),
    /// An agent without one, known by its span.
    Span(SpanId),
    /// Steps of nobody known.
    Unnamed,
    /// Steps of nobody known under one parent, in a visibly concurrent run.
    Parent(SpanId),
}

/// A lane and what judging needs beside it.
#[derive(Clone, Debug)]
pub struct AgentLane {
    /// Its id in the run.
    pub id: LaneId,
    /// Whose it is.
    pub key: LaneKey,
    /// Its steps.
    pub lane: Lane,
    /// The greatest place among its calls judged for good.
    pub frontier: Option<Order>,
    /// Start of model steps whose input held more user messages than any before, with that number.
    turns: Vec<(Timestamp, u32)>,
    /// Turns forgotten from the front.
    turns_gone: u16,
    /// Start of its earliest model step that tells how many user messages its input held.
    first_input: Option<Timestamp>,
}

impl AgentLane {
    pub(super) fn new(id: LaneId, key: LaneKey) -> Self {
        let mut lane = Lane::default();
        lane.unknown = matches!(key, LaneKey::Parent(_));
        Self {
            id,
            key,
            lane,
            frontier: None,
            turns: Vec::new(),
            turns_gone: 0,
            first_input: None,
        }
    }

    /// The agent's name, where it has one.
    pub fn agent(&self) -> Option<&Name> {
        match &self.key {
            LaneKey::Named(name) => Some(name),
            _ => None,
        }
    }

    /// Whether nobody is known whose steps these are.
    pub fn is_unnamed(&self) -> bool {
        matches!(self.key, LaneKey::Unnamed | LaneKey::Parent(_))
    }

    /// Notes that a model input at `start` held `count` user messages. Returns whether calls already in the
    /// lane may now belong to a later turn.
    pub(super) fn note_user_messages(&mut self, start: Timestamp, count: u32) -> bool {
        let first = self.first_input.map_or(start, |first| first.min(start));
        self.first_input = Some(first);
        let at = self.turns.partition_point(|(other, _)| *other <= start);
        let before = self
            .turns
            .iter()
            .take(at)
            .map(|(_, count)| *count)
            .max()
            .unwrap_or(0);
        if count <= before {
            return false;
        }
        self.turns.insert(at, (start, count));
        // What came later and does not exceed this one any more is no increase.
        let mut greatest = count;
        let mut index = 0;
        self.turns.retain(|(_, count)| {
            index += 1;
            let keep = index <= at + 1 || *count > greatest;
            greatest = greatest.max(if index > at + 1 { *count } else { greatest });
            keep
        });
        if self.turns.len() > TURNS_MAX {
            self.turns.remove(0);
            self.turns_gone = self.turns_gone.saturating_add(1);
        }
        self.lane
            .calls()
            .last()
            .is_some_and(|call| call.start >= start)
    }

    /// Start of its earliest model step that tells how many user messages its input held.
    pub(super) fn first_input(&self) -> Option<Timestamp> {
        self.first_input
    }

    /// When its turns after the first began, as far as remembered.
    pub(super) fn turn_starts(&self) -> impl Iterator<Item = Timestamp> + '_ {
        let skip = usize::from(self.turns_gone == 0);
        self.turns.iter().skip(skip).map(|(start, _)| *start)
    }

    /// The turn of something that started at `start`: how many increases came before. Saturates.
    pub fn turn_at(&self, start: Timestamp) -> u16 {
        turn_of(&self.turns, self.turns_gone, start)
    }

    /// Works out the turns of all steps anew, after a model step has come late.
    pub(super) fn renumber_turns(&mut self) {
        let (turns, gone) = (std::mem::take(&mut self.turns), self.turns_gone);
        self.lane.set_turns(|start| turn_of(&turns, gone, start));
        self.turns = turns;
    }

    /// Where a call stands, by its place.
    pub fn find_call(&self, order: Order) -> Option<usize> {
        self.lane
            .calls()
            .binary_search_by(|call: &Call| call.order.cmp(&order))
            .ok()
    }

    /// Where a reply stands, by its place.
    pub fn find_reply(&self, order: Order) -> Option<usize> {
        self.lane
            .replies()
            .binary_search_by(|reply: &Reply| reply.order.cmp(&order))
            .ok()
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.lane.heap_bytes() + self.turns.capacity() * size_of::<(Timestamp, u32)>()
    }
}

fn turn_of(turns: &[(Timestamp, u32)], gone: u16, start: Timestamp) -> u16 {
    let passed = turns.partition_point(|(other, _)| *other <= start);
    // The first input of a lane begins no new turn.
    gone.saturating_add(u16::try_from(passed.saturating_sub(1)).unwrap_or(u16::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_grow_with_the_user_messages_in_any_order() {
        let at = Timestamp::from_nanos;
        let mut lane = AgentLane::new(LaneId(0), LaneKey::Unnamed);
        lane.note_user_messages(at(10), 1);
        lane.note_user_messages(at(50), 3);
        assert_eq!(lane.turn_at(at(20)), 0);
        assert_eq!(lane.turn_at(at(60)), 1);
        lane.note_user_messages(at(30), 2);
        assert_eq!(
            (
                lane.turn_at(at(20)),
                lane.turn_at(at(40)),
                lane.turn_at(at(60))
            ),
            (0, 1, 2)
        );
        lane.note_user_messages(at(70), 3);
        assert_eq!(
            lane.turn_at(at(80)),
            2,
            "the same number again begins no turn"
        );
        lane.note_user_messages(at(5), 9);
        assert_eq!(lane.turn_at(at(80)), 0, "later inputs no longer exceed it");
    }
}
