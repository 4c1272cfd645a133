//! Taking what models and whole runs gave out into a run: replies, what they ask for, and the facts that the
//! ledger keeps.

use crate::lanes::{Cost, Ledger, Names, Order, Place, Reply};
use crate::model::{AgentRun, Claim, Finish, ModelCall};

use super::observe::{Arrived, Taken};
use super::run::Asked;
use super::said::Said;
use super::spending::plain_cost;
use super::telling::Asker;
use super::{LaneId, Run};

impl Run {
    /// Takes in a request to a model and its answer.
    pub(super) fn take_model(
        &mut self,
        arrived: Arrived<'_>,
        model: &ModelCall,
        names: &mut Names,
        ledger: &mut Ledger,
    ) -> Taken {
        let Arrived {
            step,
            order,
            lane,
            source,
            ..
        } = arrived;
        self.facts.note_wishes(order, model.wishes.as_ref());
        if model.goal.is_some_and(|goal| goal.asks_for_tests) {
            ledger.note_goal_asks_for_tests(step.start);
        }
        let this = Asker {
            order,
            member: arrived.member(),
        };
        if source {
            self.facts.pay(step.end, &step.usage, true);
            self.meter(step, order, lane, ledger, plain_cost(step));
        } else {
            let heard = self.hear(arrived, Some(Said::of(model)), None);
            if let Some(known) = heard.second_of {
                self.pay_again(arrived, &heard, known, ledger);
                self.learn_from(arrived, model, known, names, ledger);
                return Taken::SecondSpan;
            }
            self.settle(&heard, ledger);
            for silent in &heard.silent {
                self.drop_reply(silent.order, ledger);
            }
            let expected = heard.expected && !model.handed_over;
            self.facts.pay(step.end, &heard.own, expected);
            let cost = match heard.own.cost_usd {
                Some(usd) => Cost::Known(usd),
                None if expected && !model.failed => Cost::Unknown,
                None => Cost::None,
            };
            self.meter(step, order, lane, ledger, cost);
        }
        self.facts.note_answer(model);
        if !source {
            self.hear_results(model, order);
        }
        self.note_tools(model.tools.as_ref(), order, this.by(), lane);
        self.note_wants(&this, model, names);
        self.note_ids(&this, model, lane);
        self.watch_model(model, order, lane);
        self.note_input(arrived, model);
        let reply = Reply {
            text: model.text,
            reasoning: model.reasoning,
            finish: model.finish,
            asks_for_calls: asks_for_calls(model),
            failed: model.failed,
            ..self.reply_of(arrived)
        };
        self.take_reply(reply, lane, ledger)
    }

    /// Notes who asked for calls by id.
    fn note_ids(&mut self, asker: &Asker, model: &ModelCall, lane: LaneId) {
        for requested in &model.requested {
            let Some(call) = requested.call_id else {
                continue;
            };
            self.note_asked(Asked {
                call,
                by: asker.by(),
                lane: Some(lane),
                key: requested.key,
            });
            self.adopt_call(call, asker.by());
        }
    }

    /// Notes what the input of a model shows of turns.
    fn note_input(&mut self, arrived: Arrived<'_>, model: &ModelCall) {
        let Some(count) = model.user_messages.filter(|_| !arrived.source) else {
            return;
        };
        if let Some(lane) = self.lane_mut(arrived.lane)
            && lane.note_user_messages(arrived.step.start, count)
        {
            lane.renumber_turns();
        }
        if self.meters {
            self.begin_turns();
        }
    }

    /// Takes from the second span of an answer what the first one did not tell.
    pub(super) fn learn_from(
        &mut self,
        arrived: Arrived<'_>,
        model: &ModelCall,
        known: Asker,
        names: &mut Names,
        ledger: &mut Ledger,
    ) {
        self.facts.seen_definitions |= model.tools.is_some();
        self.note_tools(model.tools.as_ref(), known.order, known.by(), arrived.lane);
        self.note_input(arrived, model);
        let home = self
            .lanes
            .iter()
            .find(|lane| lane.find_reply(known.order).is_some());
        let lane = home.map_or(arrived.lane, |lane| lane.id);
        let mut asks = self.facts.asks.wants().iter();
        let asked = asks.any(|want| want.by == known.by());
        if !asked && !model.requested.is_empty() {
            self.note_wants(&known, model, names);
            self.watch_model(model, known.order, lane);
        }
        let ids = model.requested.iter().filter_map(|one| one.call_id);
        if ids.clone().any(|id| self.asked_by(Some(id)).is_none()) {
            self.note_ids(&known, model, lane);
        }
        let learn = |reply: &mut Reply| {
            if reply.finish == Finish::Unknown {
                reply.finish = model.finish;
            }
            reply.text = reply.text.or(model.text);
            reply.reasoning = reply.reasoning.or(model.reasoning);
            reply.asks_for_calls |= asks_for_calls(model);
        };
        if let Some(home) = self.lane_mut(lane) {
            home.lane.change_reply(known.order, learn);
        }
        ledger.change_reply(known.member.span, learn);
    }

    /// Drops the reply of a span that captured nothing, once another has told the answer.
    fn drop_reply(&mut self, order: Order, ledger: &mut Ledger) {
        for lane in &mut self.lanes {
            let (_, dropped) = lane.lane.split_off(|_| false, |reply| reply.order == order);
            for reply in dropped {
                ledger.drop_reply(reply.span);
            }
        }
        let freed = &mut self.freed;
        self.pending.retain(|pending| {
            let keep = pending.order != order || pending.is_call;
            if !keep {
                freed.push(pending.site);
            }
            keep
        });
    }

    /// Takes in the span of an agent's run, or of a hand-off to another.
    pub(super) fn take_agent(
        &mut self,
        arrived: Arrived<'_>,
        run: &AgentRun,
        ledger: &mut Ledger,
    ) -> Taken {
        let Arrived {
            step,
            order,
            lane,
            source,
            ..
        } = arrived;
        self.meter(step, order, lane, ledger, Cost::None);
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
            return self.take_silent_end(arrived, run);
        }
        let reply = Reply {
            text: run.output,
            failed: run.failed,
            of_run: true,
            ..self.reply_of(arrived)
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
    fn take_silent_end(&mut self, arrived: Arrived<'_>, run: &AgentRun) -> Taken {
        let Arrived { lane, order, .. } = arrived;
        if arrived.source || run.failed || self.facts.seen_texts {
            return Taken::Nothing;
        }
        let reply = Reply {
            of_run: true,
            ..self.reply_of(arrived)
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

    fn reply_of(&self, arrived: Arrived<'_>) -> Reply {
        let step = arrived.step;
        Reply {
            order: arrived.order,
            trace: step.trace,
            span: step.span,
            parent: step.parent,
            step: arrived.index,
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
            turn: self
                .lane(arrived.lane)
                .map_or(0, |lane| lane.turn_at(step.start)),
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

fn asks_for_calls(model: &ModelCall) -> bool {
    !model.requested.is_empty() || model.finish == Finish::ToolCalls
}

fn is_claim(reply: &Reply) -> bool {
    !reply.asks_for_calls
        && !reply.failed
        && reply.text.is_some_and(|text| text.claim != Claim::None)
}
