//! Taking a tool call into its run: what it is with all that is known of it, whether another span has told of it,
//! and the facts that the ledger keeps.

use crate::lanes::{Call, Cost, Ledger, Names, Place, RunOutcome};
use crate::model::{Outcome, Step, ToolCall};

use super::Run;
use super::facts::{as_share, belongs_to_any_goal, note_in_ledger, plain_call};
use super::observe::{Arrived, Taken};
use super::requests::take_hints;
use super::spending::plain_cost;
use super::telling::Asker;

impl Run {
    fn call_of(&self, arrived: Arrived<'_>, raw: &ToolCall, names: &mut Names) -> Call {
        let Arrived {
            step,
            order,
            index,
            lane,
            source,
        } = arrived;
        let asked = self.asked_by(raw.call_id);
        let plain = plain_call(step, raw, order, index, names);
        // Where the tool's span tells no arguments, or a bare value, what the model asked for counts (P3).
        let asked_for = asked
            .and_then(|asked| asked.key)
            .filter(|_| !source && (raw.nameless || raw.key.is_none()));
        Call {
            asked_by: asked.map_or(0, |asked| asked.by),
            key: asked_for.or(plain.key),
            turn: self.lane(lane).map_or(0, |lane| lane.turn_at(step.start)),
            ..plain
        }
    }

    /// Takes in a tool call.
    pub(super) fn take_call(
        &mut self,
        arrived: Arrived<'_>,
        raw: &ToolCall,
        names: &mut Names,
        ledger: &mut Ledger,
    ) -> Taken {
        let Arrived { step, source, .. } = arrived;
        let mut call = self.call_of(arrived, raw, names);
        if !source && let Some(known) = self.is_second_span(&call) {
            if let Some(id) = call.call_id {
                self.watch_call(Some(id), &raw.tool, arrived.lane);
            }
            let heard = self.hear(arrived, None, Some(known));
            self.pay_again(arrived, &heard, known, ledger);
            return Taken::SecondSpan;
        }
        self.watch_call(call.call_id, &raw.tool, arrived.lane);
        self.note_call_facts(step, raw, &call, ledger);
        if !source && self.shows_concurrency(&call, arrived.lane) {
            self.split_by_parent();
        }
        let lane = if self.concurrent && self.lane(arrived.lane).is_some_and(|l| l.is_unnamed()) {
            call.lane_unknown = true;
            self.attribute(step, source).lane
        } else {
            arrived.lane
        };
        take_hints(&mut call, raw.hints);
        call.more.asked = self.facts.asks.meet(&call);
        if !source && call.key.is_none() {
            self.borrow_key(&mut call);
        }
        self.wait_for_schema(raw, &call);
        let (order, capacity) = (call.order, self.capacity);
        let cost = if source {
            self.facts.pay(step.end, &step.usage, false);
            plain_cost(step)
        } else {
            let heard = self.hear(arrived, None, None);
            self.settle(&heard, ledger);
            self.facts.pay(step.end, &heard.own, false);
            heard.own.cost_usd.map_or(Cost::None, Cost::Known)
        };
        self.meter(step, order, lane, ledger, cost);
        let Some(home) = self.lane_mut(lane) else {
            return Taken::Nothing;
        };
        match home.lane.insert_call(call, capacity) {
            Place::At(_) => Taken::Call { lane, order },
            Place::TooOld => {
                self.late_steps = self.late_steps.saturating_add(1);
                Taken::TooLate
            }
        }
    }

    /// A call of which no arguments are told, by a name that joins it to no request, has those of the next request
    /// for its tool (P15).
    pub(super) fn borrow_key(&mut self, call: &mut Call) {
        if let Some((key, by)) = self.facts.asks.lend(call) {
            call.key = Some(key);
            call.more.asked = true;
            if call.asked_by == 0 {
                call.asked_by = by;
            }
        }
    }

    /// Two spans of one call are one step (DESIGN 3.6): the same call id, or the same tool and key in
    /// overlapping intervals from different scopes. Within one scope an id alone is not enough: some emitters
    /// count from zero with every answer, and a framework may run one call again. The known one learns what only
    /// the second one says, and its place is returned.
    fn is_second_span(&mut self, call: &Call) -> Option<Asker> {
        for lane in &mut self.lanes {
            let same = |other: &Call| {
                let overlap = call.start <= other.end && other.start <= call.end;
                let by_id = call.call_id.is_some()
                    && call.call_id == other.call_id
                    && call.span != other.span
                    && (overlap || call.scope != other.scope);
                let by_shape = overlap
                    && call.scope != other.scope
                    && call.tool == other.tool
                    && (call.key == other.key || call.key.is_none() || other.key.is_none());
                by_id || by_shape
            };
            let Some(at) = lane.lane.calls().iter().rposition(same) else {
                continue;
            };
            let known = lane.lane.call_mut(at)?;
            known.key = known.key.or(call.key);
            known.exact = known.exact.or(call.exact);
            if !known.answer.known {
                known.answer = call.answer;
            }
            if known.outcome == Outcome::Unknown || call.outcome.failed() {
                known.outcome = call.outcome;
            }
            return Some(Asker {
                order: known.order,
                member: known.member(),
            });
        }
        None
    }

    fn note_call_facts(&mut self, step: &Step, raw: &ToolCall, call: &Call, ledger: &mut Ledger) {
        let facts = &mut self.facts;
        facts.calls = facts.calls.saturating_add(1);
        facts.last_call_end = facts.last_call_end.max(Some(step.end));
        facts.seen_arguments |= raw.key.is_some();
        facts.seen_results |= call.answer.known;
        let outcome = RunOutcome {
            order: call.order,
            outcome: as_share(raw, call.outcome),
            key: call.key.unwrap_or(0),
        };
        let at = facts
            .outcomes
            .partition_point(|other| other.order <= outcome.order);
        facts.outcomes.insert(at, outcome);
        if let Some(topics) = &raw.topics {
            let trail = facts.trail.get_or_insert_default();
            trail.note_call(call.order, topics, belongs_to_any_goal(raw));
        }
        note_in_ledger(step, raw, call, ledger);
    }
}
