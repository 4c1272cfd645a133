//! What requests to models tell of calls whose own spans do not: arguments from what was asked for, results from the
//! input of a later request.
//!
//! Invariant: what the span of a call tells itself stays.

use crate::lanes::{Call, Order};
use crate::model::{CallId, ModelCall, Outcome};

use super::Run;
use super::content::{Again, again_of};

impl Run {
    /// Gives calls what the input of a later request tells of their results, where their own spans tell none.
    pub(super) fn hear_results(&mut self, model: &ModelCall, order: Order) {
        for told in &model.answered {
            let met = self.facts.asks.met_by(told.call_id, order);
            let same = |call: &Call| {
                let asked = met.is_some_and(|met| met == call.order);
                let named = call.call_id == Some(told.call_id) && call.order < order;
                (asked || named) && !call.answer.known
            };
            let found = self.lanes.iter_mut().find_map(|lane| {
                let at = lane.lane.calls().iter().rposition(same)?;
                Some((lane.id, lane.lane.call_mut(at)?))
            });
            let Some((lane, call)) = found else { continue };
            call.answer = told.answer;
            if call.outcome == Outcome::Unknown {
                call.outcome = told.outcome;
            }
            self.facts.seen_results = true;
            let outcomes = &mut self.facts.outcomes;
            if let Some(share) = outcomes.iter_mut().find(|one| one.order == call.order) {
                share.outcome = call.outcome;
            }
            self.again.push(again_of(lane, call));
        }
    }

    /// A call whose own span tells no arguments has those that the model asked for.
    pub(super) fn lend_key(&mut self, id: CallId, key: u64) -> Option<Again> {
        let calls = |call: &Call| call.call_id == Some(id) && call.key.is_none();
        for lane in &mut self.lanes {
            let lane_id = lane.id;
            let Some(at) = lane.lane.calls().iter().rposition(calls) else {
                continue;
            };
            let call = lane.lane.call_mut(at)?;
            call.key = Some(key);
            return Some(again_of(lane_id, call));
        }
        None
    }

    /// Gives calls of which no arguments are told those of the requests for their tools, in order.
    pub(super) fn lend_by_order(&mut self) {
        for at in 0..self.lanes.len() {
            let Some(lane) = self.lanes.get(at) else {
                return;
            };
            let (id, calls) = (lane.id, lane.lane.calls().iter());
            let bare: Vec<Order> = calls
                .filter(|call| call.key.is_none())
                .map(|call| call.order)
                .collect();
            for order in bare {
                let lane = self.lanes.get(at);
                let place = lane.and_then(|lane| lane.find_call(order));
                let known = lane
                    .zip(place)
                    .and_then(|(lane, at)| lane.lane.calls().get(at));
                let Some(mut call) = known.copied() else {
                    continue;
                };
                self.borrow_key(&mut call);
                if call.key.is_none() {
                    continue;
                }
                let lane = self.lanes.get_mut(at);
                if let Some((lane, place)) = lane.zip(place)
                    && let Some(known) = lane.lane.call_mut(place)
                {
                    *known = call;
                    self.again.push(again_of(id, &call));
                }
            }
        }
    }
}
