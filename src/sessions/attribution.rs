//! Whose step it is (DESIGN 3.4): the agent the span names; else the agent of the model step that asked
//! for its call id, where that is known; else the nearest ancestor already known; else the run's unnamed lane. An agent span
//! that arrives names its descendants from then on.

use crate::lanes::{Call, Reply};
use crate::model::{Action, Name, SpanId, Step};

use super::agent_lane::{AgentLane, LaneKey};
use super::{LaneId, Run};

/// Lanes of a run; the steps of further agents go to the unnamed lane.
const LANES_MAX: usize = 256;

/// A step's lane, and whether that is certain enough to pass on to its descendants.
pub(super) struct Belongs {
    pub(super) lane: LaneId,
    pub(super) certain: bool,
}

impl Run {
    /// Finds or opens the lane of a step.
    pub(super) fn attribute(&mut self, step: &Step, one_lane: bool) -> Belongs {
        if one_lane {
            return Belongs {
                lane: self.lane_of(LaneKey::Unnamed),
                certain: false,
            };
        }
        if let Action::AgentRun(run) = &step.action
            && !run.handoff
        {
            return Belongs {
                lane: self.agent_lane(step),
                certain: true,
            };
        }
        if let Some(agent) = &step.agent {
            return Belongs {
                lane: self.lane_of(LaneKey::Named(agent.clone())),
                certain: true,
            };
        }
        let call_id = match &step.action {
            Action::ToolCall(call) => call.call_id,
            _ => None,
        };
        // A model step that nobody is known to have made says less than a known ancestor.
        let asked = self.asked_by(call_id).and_then(|asked| asked.lane);
        let named = asked.filter(|id| self.lane(*id).is_some_and(|lane| !lane.is_unnamed()));
        if let Some(lane) = named.or(self.spans.lane_above(step.parent)).or(asked) {
            return Belongs {
                lane,
                certain: true,
            };
        }
        let key = match step.parent {
            Some(parent) if self.concurrent => LaneKey::Parent(parent),
            _ => LaneKey::Unnamed,
        };
        Belongs {
            lane: self.lane_of(key),
            certain: false,
        }
    }

    /// The lane that a key names, opened on first sight.
    fn lane_of(&mut self, key: LaneKey) -> LaneId {
        if let Some(lane) = self.lanes.iter().find(|lane| lane.key == key) {
            return lane.id;
        }
        if self.lanes.len() >= LANES_MAX {
            return LaneId(0);
        }
        let id = LaneId(u16::try_from(self.lanes.len()).unwrap_or(0));
        // Most runs have one agent: room for four would be a tenth of what a run takes.
        if self.lanes.is_empty() {
            self.lanes.reserve_exact(1);
        }
        self.lanes.push(AgentLane::new(id, key));
        id
    }

    /// The lane of an agent whose span has come: its descendants among the unnamed steps are moved there.
    fn agent_lane(&mut self, step: &Step) -> LaneId {
        let key = match &step.agent {
            Some(name) => LaneKey::Named(Name::clone(name)),
            None => LaneKey::Span(step.span),
        };
        self.spans.link(step.span, step.parent, None);
        let known = self
            .lanes
            .iter()
            .find(|lane| lane.key == key)
            .map(|lane| lane.id);
        let lane = match known.or_else(|| self.rename(step.span, &key)) {
            Some(lane) => lane,
            None => self.lane_of(key),
        };
        self.spans.agent(step.span, step.parent, lane);
        self.move_descendants(step.span, lane);
        lane
    }

    /// Gives an unnamed lane its name when all its steps descend from the agent: its id, and so its
    /// episodes, stay.
    fn rename(&mut self, agent: SpanId, key: &LaneKey) -> Option<LaneId> {
        let spans = &self.spans;
        let below = |parent| spans.is_below(parent, agent);
        let lane = self.lanes.iter_mut().find(|lane| {
            lane.is_unnamed()
                && !(lane.lane.calls().is_empty() && lane.lane.replies().is_empty())
                && lane.lane.calls().iter().all(|call| below(call.parent))
                && lane.lane.replies().iter().all(|reply| below(reply.parent))
        })?;
        lane.key = key.clone();
        lane.lane.unknown = false;
        Some(lane.id)
    }

    /// Moves the steps below an agent's span out of the unnamed lanes.
    fn move_descendants(&mut self, agent: SpanId, to: LaneId) {
        let capacity = self.capacity;
        for at in 0..self.lanes.len() {
            let Some(lane) = self.lanes.get_mut(at) else {
                break;
            };
            if lane.id == to || !lane.is_unnamed() {
                continue;
            }
            let spans = &self.spans;
            let (calls, replies) = lane.lane.split_off(
                |call: &Call| spans.is_below(call.parent, agent),
                |reply: &Reply| spans.is_below(reply.parent, agent),
            );
            self.place(calls, replies, to, capacity);
        }
    }

    /// Splits the unnamed lane by parent, once steps under different parents have overlapped.
    pub(super) fn split_by_parent(&mut self) {
        self.concurrent = true;
        let capacity = self.capacity;
        let Some(lane) = self
            .lanes
            .iter_mut()
            .find(|lane| lane.key == LaneKey::Unnamed)
        else {
            return;
        };
        let (calls, replies) = lane
            .lane
            .split_off(|call| call.parent.is_some(), |reply| reply.parent.is_some());
        for mut call in calls {
            call.lane_unknown = true;
            let Some(parent) = call.parent else { continue };
            let to = self.lane_of(LaneKey::Parent(parent));
            self.place(vec![call], Vec::new(), to, capacity);
        }
        for reply in replies {
            let Some(parent) = reply.parent else { continue };
            let to = self.lane_of(LaneKey::Parent(parent));
            self.place(Vec::new(), vec![reply], to, capacity);
        }
    }

    /// Puts moved steps into a lane and points what waits for judgement there.
    fn place(&mut self, calls: Vec<Call>, replies: Vec<Reply>, to: LaneId, capacity: usize) {
        if calls.is_empty() && replies.is_empty() {
            return;
        }
        for pending in &mut self.pending {
            let moved = calls.iter().any(|call| call.span == pending.span)
                || replies.iter().any(|reply| reply.span == pending.span);
            if moved {
                pending.lane = to;
            }
        }
        let judged = calls
            .iter()
            .map(|call| call.order)
            .filter(|order| !self.pending.iter().any(|pending| pending.order == *order))
            .max();
        let moved = |order| {
            calls.iter().any(|call| call.order == order)
                || replies.iter().any(|reply| reply.order == order)
        };
        self.watch_moved(moved, to);
        // What those model steps asked for and has not come yet follows them.
        for asked in &mut self.asked {
            let by_moved = |reply: &Reply| reply.step.checked_add(1) == Some(asked.by);
            if replies.iter().any(by_moved) {
                asked.lane = Some(to);
            }
        }
        let spent = self.spent_elsewhere(&calls, &replies, to);
        if let Some(lane) = self.lane_mut(to) {
            lane.lane.meter.merge(spent);
            lane.lane.absorb(calls, replies, capacity);
            lane.frontier = lane.frontier.max(judged);
        }
    }

    /// Whether a call overlaps in time with an unnamed step of another parent, with neither above the other
    /// and no model step having asked for both: then the run is visibly concurrent (DESIGN 3.4).
    pub(super) fn shows_concurrency(&self, call: &Call, lane: LaneId) -> bool {
        let Some(lane) = self.lane(lane) else {
            return false;
        };
        if self.concurrent || lane.key != LaneKey::Unnamed {
            return false;
        }
        lane.lane.calls().iter().rev().take(8).any(|other| {
            other.parent != call.parent
                && other.start < call.end
                && call.start < other.end
                && !(call.asked_by != 0 && call.asked_by == other.asked_by)
                && !self.spans.is_below(call.parent, other.span)
                && !self.spans.is_below(other.parent, call.span)
        })
    }
}
