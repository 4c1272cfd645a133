//! Taking a step into its run: identity, lane, place, and the facts that the ledger keeps.

use crate::lanes::{Call, Ledger, Names, Order, Place, Reply, RunOutcome};
use crate::model::{Action, AgentRun, Claim, Finish, ModelCall, Outcome, Step, ToolCall};

use super::facts::{as_share, belongs_to_any_goal, note_in_ledger, plain_call};
use super::requests::{since_its_start, take_hints};
use super::run::Asked;
use super::{LaneId, Run};

/// What taking in a step came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Taken {
    /// A call, at its place.
    Call { lane: LaneId, order: Order },
    /// A reply, at its place.
    Reply {
        lane: LaneId,
        order: Order,
        is_claim: bool,
        hash: Option<u64>,
    },
    /// Older than all that its lane keeps: only the ledger knows of it.
    TooLate,
    /// The second span of a call that is known already.
    SecondSpan,
    /// Nothing to judge.
    Nothing,
}

impl Run {
    /// Where a step stands. In source mode arrival alone counts.
    fn order_of(&self, step: &Step, source: bool) -> Order {
        if source {
            return Order {
                arrival: self.steps,
                ..Order::default()
            };
        }
        Order {
            end: step.end,
            start: step.start,
            height: u16::MAX - self.spans.depth(step.parent),
            arrival: self.steps,
        }
    }

    /// Takes in a step that has not been seen. O(distance from the end of the lane).
    pub(super) fn take_in(
        &mut self,
        step: &Step,
        names: &mut Names,
        ledger: &mut Ledger,
        source: bool,
    ) -> Taken {
        let order = self.order_of(step, source);
        if !source {
            self.disordered |= order < self.greatest;
            self.many_resources |= step.resource != self.resource;
        }
        self.greatest = self.greatest.max(order);
        let belongs = self.attribute(step, source);
        if !source {
            self.spans.link(
                step.span,
                step.parent,
                belongs.certain.then_some(belongs.lane),
            );
        }
        let index = self.steps;
        self.steps = self.steps.saturating_add(1);
        self.watch_step(step, order, index, belongs.lane);
        match &step.action {
            Action::ToolCall(call) => {
                let call = self.call_of(step, call, order, index, belongs.lane, names);
                self.take_call(step, call, belongs.lane, ledger, source)
            }
            Action::ModelCall(model) => {
                self.note_tools(model.tools.as_ref(), order, index + 1, belongs.lane);
                self.note_wants(step, model, order, index, names);
                self.take_model(step, model, order, index, belongs.lane, ledger, source)
            }
            Action::AgentRun(run) => {
                if !run.handoff {
                    let since = since_its_start(order, source);
                    self.note_tools(run.tools.as_ref(), since, 0, belongs.lane);
                }
                self.take_agent(step, run, order, index, belongs.lane, ledger, source)
            }
        }
    }

    fn call_of(
        &self,
        step: &Step,
        call: &ToolCall,
        order: Order,
        index: u32,
        lane: LaneId,
        names: &mut Names,
    ) -> Call {
        Call {
            asked_by: self.asked_by(call.call_id).map_or(0, |asked| asked.by),
            turn: self.lane(lane).map_or(0, |lane| lane.turn_at(step.start)),
            ..plain_call(step, call, order, index, names)
        }
    }

    fn take_call(
        &mut self,
        step: &Step,
        call: Call,
        lane: LaneId,
        ledger: &mut Ledger,
        source: bool,
    ) -> Taken {
        let Action::ToolCall(raw) = &step.action else {
            return Taken::Nothing;
        };
        self.watch_call(call.call_id, &raw.tool, lane);
        if !source && self.is_second_span(&call) {
            return Taken::SecondSpan;
        }
        self.note_call_facts(step, raw, &call, ledger);
        if !source && self.shows_concurrency(&call, lane) {
            self.split_by_parent();
        }
        let mut call = call;
        let lane = if self.concurrent && self.lane(lane).is_some_and(|l| l.is_unnamed()) {
            call.lane_unknown = true;
            self.attribute(step, source).lane
        } else {
            lane
        };
        take_hints(&mut call, raw.hints);
        call.more.asked = self.facts.asks.meet(&call);
        self.wait_for_schema(raw, &call);
        let (order, capacity) = (call.order, self.capacity);
        self.meter(step, order, lane, ledger, source);
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

    /// Two spans of one call are one step (DESIGN 3.6): the same call id, or the same tool and key in
    /// overlapping intervals from different scopes. The known one learns what only the second one says.
    fn is_second_span(&mut self, call: &Call) -> bool {
        for lane in &mut self.lanes {
            let same = |other: &Call| {
                let by_id = call.call_id.is_some() && call.call_id == other.call_id;
                let by_shape = call.scope != other.scope
                    && call.tool == other.tool
                    && (call.key == other.key || call.key.is_none() || other.key.is_none())
                    && call.start <= other.end
                    && other.start <= call.end;
                (by_id && call.span != other.span) || by_shape
            };
            let Some(at) = lane.lane.calls().iter().rposition(same) else {
                continue;
            };
            if let Some(known) = lane.lane.call_mut(at) {
                known.key = known.key.or(call.key);
                known.exact = known.exact.or(call.exact);
                if !known.answer.known {
                    known.answer = call.answer;
                }
                if known.outcome == Outcome::Unknown || call.outcome.failed() {
                    known.outcome = call.outcome;
                }
            }
            return true;
        }
        false
    }

    fn note_call_facts(&mut self, step: &Step, raw: &ToolCall, call: &Call, ledger: &mut Ledger) {
        let facts = &mut self.facts;
        facts.calls = facts.calls.saturating_add(1);
        facts.last_call_end = facts.last_call_end.max(Some(step.end));
        facts.seen_arguments |= call.key.is_some();
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
        facts.pay(step.end, &step.usage, false);
        note_in_ledger(step, raw, call, ledger);
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one step's identity, spelled out"
    )]
    fn take_model(
        &mut self,
        step: &Step,
        model: &ModelCall,
        order: Order,
        index: u32,
        lane: LaneId,
        ledger: &mut Ledger,
        source: bool,
    ) -> Taken {
        self.facts.pay(step.end, &step.usage, true);
        self.meter(step, order, lane, ledger, source);
        self.facts.note_answer(model);
        self.facts.note_wishes(order, model.wishes.as_ref());
        if model.goal.is_some_and(|goal| goal.asks_for_tests) {
            ledger.note_goal_asks_for_tests(step.start);
        }
        for requested in &model.requested {
            let Some(call) = requested.call_id else {
                continue;
            };
            self.note_asked(Asked {
                call,
                by: index + 1,
                lane: Some(lane),
            });
            self.adopt_call(call, index + 1);
        }
        self.watch_model(model, order, lane);
        if let Some(count) = model.user_messages.filter(|_| !source)
            && let Some(lane) = self.lane_mut(lane)
            && lane.note_user_messages(step.start, count)
        {
            lane.renumber_turns();
        }
        if self.meters && !source && model.user_messages.is_some() {
            self.begin_turns();
        }
        let asks_for_calls = !model.requested.is_empty() || model.finish == Finish::ToolCalls;
        let reply = Reply {
            text: model.text,
            reasoning: model.reasoning,
            finish: model.finish,
            asks_for_calls,
            failed: model.failed,
            ..self.reply_of(step, order, index, lane)
        };
        self.take_reply(reply, lane, ledger)
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one step's identity, spelled out"
    )]
    fn take_agent(
        &mut self,
        step: &Step,
        run: &AgentRun,
        order: Order,
        index: u32,
        lane: LaneId,
        ledger: &mut Ledger,
        source: bool,
    ) -> Taken {
        self.meter(step, order, lane, ledger, source);
        self.facts.seen_definitions |= run.tools.is_some();
        self.facts.note_wishes(order, run.wishes.as_ref());
        self.facts.text_call_on_run |= run.output.is_some_and(|text| text.call_as_text);
        if run.goal.is_some_and(|goal| goal.asks_for_tests) {
            ledger.note_goal_asks_for_tests(step.start);
        }
        if run.handoff {
            return Taken::Nothing;
        }
        self.facts.agent_runs = self.facts.agent_runs.saturating_add(1);
        if run.output.is_none() {
            return self.take_silent_end(step, run, order, index, lane, source);
        }
        let reply = Reply {
            text: run.output,
            failed: run.failed,
            of_run: true,
            ..self.reply_of(step, order, index, lane)
        };
        // The span of the run repeats its last answer: one text is one reply.
        let hash = run.output.map(|text| text.hash);
        let repeats =
            !source
                && ledger.replies().iter().rev().take(4).any(|other| {
                    other.trace == step.trace && other.text.map(|text| text.hash) == hash
                });
        if !repeats {
            return self.take_reply(reply, lane, ledger);
        }
        let is_claim = is_claim(&reply);
        // Some things are known at the end of the run alone: that a turn ended with an empty answer, for one.
        let judged = is_claim
            || run
                .output
                .is_some_and(|text| text.call_as_text || !text.visible);
        match self
            .lane_mut(lane)
            .map(|home| home.lane.insert_reply(reply))
        {
            Some(Place::At(_)) if judged => Taken::Reply {
                lane,
                order,
                is_claim,
                hash,
            },
            _ => Taken::Nothing,
        }
    }

    /// The end of a run of whose texts nothing was captured: judged for what it lacks alone.
    fn take_silent_end(
        &mut self,
        step: &Step,
        run: &AgentRun,
        order: Order,
        index: u32,
        lane: LaneId,
        source: bool,
    ) -> Taken {
        if source || run.failed || self.facts.seen_texts {
            return Taken::Nothing;
        }
        let reply = Reply {
            of_run: true,
            ..self.reply_of(step, order, index, lane)
        };
        let place = self
            .lane_mut(lane)
            .map(|home| home.lane.insert_reply(reply));
        match place {
            Some(Place::At(_)) => Taken::Reply {
                lane,
                order,
                is_claim: false,
                hash: None,
            },
            _ => Taken::Nothing,
        }
    }

    fn reply_of(&self, step: &Step, order: Order, index: u32, lane: LaneId) -> Reply {
        Reply {
            order,
            trace: step.trace,
            span: step.span,
            parent: step.parent,
            step: index,
            start: step.start,
            end: step.end,
            resource: step.resource,
            audience: step.audience,
            text: None,
            reasoning: None,
            finish: Finish::Unknown,
            asks_for_calls: false,
            failed: false,
            of_run: false,
            turn: self.lane(lane).map_or(0, |lane| lane.turn_at(step.start)),
        }
    }

    fn take_reply(&mut self, reply: Reply, lane: LaneId, ledger: &mut Ledger) -> Taken {
        self.facts.seen_texts |= reply.text.is_some_and(|text| text.chars > 0);
        let (order, is_claim) = (reply.order, is_claim(&reply));
        let hash = reply.text.map(|text| text.hash);
        ledger.add_reply(reply);
        let Some(home) = self.lane_mut(lane) else {
            return Taken::Nothing;
        };
        match home.lane.insert_reply(reply) {
            Place::At(_) => Taken::Reply {
                lane,
                order,
                is_claim,
                hash,
            },
            Place::TooOld => Taken::TooLate,
        }
    }
}

fn is_claim(reply: &Reply) -> bool {
    !reply.asks_for_calls
        && !reply.failed
        && reply.text.is_some_and(|text| text.claim != Claim::None)
}
