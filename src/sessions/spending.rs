//! What steps cost, and which meters count it. Nothing here runs where no budget is set.

use crate::lanes::{Call, Cost, Ledger, Meter, Order, Reply, Spent};
use crate::model::{Action, Step};

use super::{LaneId, Run};

/// What a step costs, as it says itself. Spans of agents repeat the totals of the steps within: they are
/// never counted. A request that failed and tells no cost is taken to have had none.
pub(super) fn plain_cost(step: &Step) -> Cost {
    match (step.usage.cost_usd, &step.action) {
        (_, Action::AgentRun(_)) => Cost::None,
        (Some(usd), _) => Cost::Known(usd),
        (None, Action::ModelCall(model)) if !model.failed && !model.handed_over => Cost::Unknown,
        (None, _) => Cost::None,
    }
}

impl Run {
    /// Counts a step in the meters of its session, its lane and its turn.
    pub(super) fn meter(
        &mut self,
        step: &Step,
        order: Order,
        lane: LaneId,
        ledger: &mut Ledger,
        cost: Cost,
    ) {
        let is_call = matches!(step.action, Action::ToolCall(_));
        let spent = Spent::new(order, step.trace, step.start, is_call, cost);
        self.count(spent, lane, ledger);
    }

    /// Counts what was spent in the meters of the session, of a lane and of the turn.
    pub(super) fn count(&mut self, spent: Spent, lane: LaneId, ledger: &mut Ledger) {
        if !self.meters {
            return;
        }
        ledger.meter.add(spent);
        if let Some(turn) = self.facts.turns.of_mut(spent.start) {
            turn.add(spent);
        }
        if let Some(lane) = self.lane_mut(lane) {
            lane.lane.meter.add(spent);
        }
    }

    /// Tells the meters of turns where turns begin: at the growing inputs of the agent that was asked first.
    pub(super) fn begin_turns(&mut self) {
        let asked = self.lanes.iter().filter(|l| l.first_input().is_some());
        let first = asked.min_by_key(|lane| lane.first_input());
        if let Some(lane) = first {
            let starts: Vec<_> = lane.turn_starts().collect();
            self.facts.turns.begin_at(&starts);
        }
    }

    /// Takes what these steps spent out of the meters of all lanes but `to`.
    pub(super) fn spent_elsewhere(
        &mut self,
        calls: &[Call],
        replies: &[Reply],
        to: LaneId,
    ) -> Meter {
        let mut spent = Meter::default();
        if !self.meters {
            return spent;
        }
        for lane in self.lanes.iter_mut().filter(|lane| lane.id != to) {
            spent.merge(lane.lane.meter.split_off(|one| {
                calls.iter().any(|call| call.order == one.order)
                    || replies.iter().any(|reply| reply.order == one.order)
            }));
        }
        spent
    }
}
