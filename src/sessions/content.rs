//! Content of a step that comes behind the step itself, as log records do: the step learns what it did not tell, and
//! is judged again if that changes anything.
//!
//! Invariant: no step is counted twice; what a step told itself stays; what was spent is the step's own to tell.

use crate::lanes::{Call, Ledger, More, Names, Order, Reply};
use crate::model::{Action, Member, ModelCall, Outcome, SpanId, Step, Timestamp, ToolCall};
use crate::model::{Claim, TraceId};

use super::facts::{as_share, note_in_ledger, plain_call};
use super::observe::Arrived;
use super::telling::Asker;
use super::{LaneId, Pending, Run, Sessions, Settle, Site};

/// What became of content that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learned {
    /// Its step is not known, and may still come.
    Unknown,
    /// Its step was here, and is too far back by now.
    TooLate,
    /// Its step had told all of it.
    Nothing,
    /// Its step has learned from it: this run is to be judged again.
    News(TraceId),
}

/// When, and under which rules, content comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    pub(super) source: bool,
    pub(super) settle: Settle,
    pub(super) now: Timestamp,
}

/// A step to be judged once more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Again {
    lane: LaneId,
    is_call: bool,
    is_claim: bool,
    order: Order,
    span: SpanId,
}

impl Sessions {
    /// Takes in content of a step that may have been observed. `now` is its arrival.
    pub fn learn(&mut self, content: &Step, now: Timestamp) -> Learned {
        let key = self.key_of(content.trace);
        let at = At {
            source: self.settings.source,
            settle: self.settings.settle,
            now,
        };
        let Some(run) = self.runs.get_mut(&key) else {
            let closed = self.tombstones.get(key, now).is_some();
            return if closed {
                Learned::TooLate
            } else {
                Learned::Unknown
            };
        };
        if !run.spans.saw(content.span) {
            return Learned::Unknown;
        }
        run.last_seen = run.last_seen.max(now);
        let conversation = run.conversation;
        let learned = match conversation.and_then(|id| self.conversations.get_mut(&id)) {
            Some(one) => run.learn(content, &mut self.names, &mut one.ledger, at),
            None => {
                let mut ledger = std::mem::take(&mut run.own_ledger);
                let learned = run.learn(content, &mut self.names, &mut ledger, at);
                run.own_ledger = ledger;
                learned
            }
        };
        self.account(key);
        match learned {
            None => Learned::TooLate,
            Some(false) => Learned::Nothing,
            Some(true) => Learned::News(key),
        }
    }
}

impl Run {
    /// `None`: the step is too far back. Else whether there was anything to learn.
    fn learn(
        &mut self,
        content: &Step,
        names: &mut Names,
        ledger: &mut Ledger,
        at: At,
    ) -> Option<bool> {
        let source = at.source;
        match &content.action {
            Action::ModelCall(told) => {
                let (known, lane) = self.reply_told_by(content.span)?;
                self.learn_answer(content, told, known, lane, source, names, ledger);
            }
            Action::ToolCall(told) => {
                let place = self.call_told_by(content.span)?;
                let news = self.learn_call(content, told, place, names, ledger);
                self.again.extend(news);
            }
            Action::AgentRun(_) => return Some(false),
        }
        let news = !self.again.is_empty();
        if news {
            self.check_arguments(source);
        }
        self.queue_again(at);
        Some(news)
    }

    /// Lets the steps that have learned something wait for judgement.
    pub(super) fn queue_again(&mut self, at: At) {
        for one in std::mem::take(&mut self.again) {
            self.wait_again(one, at);
        }
    }

    /// The reply that a span told of, or told again.
    fn reply_told_by(&self, span: SpanId) -> Option<(Asker, LaneId)> {
        let known = self.known_as(span);
        let stands = known.map_or(span, |known| known.member.span);
        self.lanes.iter().find_map(|lane| {
            let mut replies = lane.lane.replies().iter();
            let reply = replies.find(|reply| reply.span == stands && !reply.of_run)?;
            let member = Member {
                trace: reply.trace,
                span: reply.span,
                step: reply.step,
                start: reply.start,
                end: reply.end,
            };
            let order = reply.order;
            Some((Asker { order, member }, lane.id))
        })
    }

    fn call_told_by(&self, span: SpanId) -> Option<(LaneId, usize)> {
        self.lanes.iter().find_map(|lane| {
            let at = lane.lane.calls().iter().rposition(|c| c.span == span)?;
            Some((lane.id, at))
        })
    }

    #[expect(clippy::too_many_arguments, reason = "one answer, spelled out")]
    fn learn_answer(
        &mut self,
        content: &Step,
        told: &ModelCall,
        known: Asker,
        lane: LaneId,
        source: bool,
        names: &mut Names,
        ledger: &mut Ledger,
    ) {
        let before = self.reply_at(lane, known.order);
        let asks = self.facts.asks.count;
        let seen_definitions = self.facts.seen_definitions;
        let step = Step {
            start: known.member.start,
            end: known.member.end,
            ..content.clone()
        };
        let arrived = Arrived {
            step: &step,
            order: known.order,
            index: known.member.step,
            lane,
            source,
        };
        self.facts.note_wishes(known.order, told.wishes.as_ref());
        if told.goal.is_some_and(|goal| goal.asks_for_tests) {
            ledger.note_goal_asks_for_tests(known.member.start);
        }
        self.facts.seen_texts |= told.text.is_some_and(|text| text.chars > 0);
        self.note_said(content.span, told);
        if !source {
            self.hear_results(told, known.order);
        }
        self.learn_from(arrived, told, known, names, ledger);
        let after = self.reply_at(lane, known.order);
        let news = asks != self.facts.asks.count
            || seen_definitions != self.facts.seen_definitions
            || before.map(essence) != after.map(essence);
        if let Some(reply) = after.filter(|_| news) {
            self.again.push(Again {
                lane,
                is_call: false,
                is_claim: !reply.asks_for_calls
                    && !reply.failed
                    && reply.text.is_some_and(|text| text.claim != Claim::None),
                order: reply.order,
                span: reply.span,
            });
        }
        if source || asks == self.facts.asks.count {
            return;
        }
        for requested in &told.requested {
            if let (Some(id), Some(key)) = (requested.call_id, requested.key) {
                let news = self.lend_key(id, key);
                self.again.extend(news);
            }
        }
        self.lend_by_order();
    }

    fn reply_at(&self, lane: LaneId, order: Order) -> Option<Reply> {
        let lane = self.lane(lane)?;
        let at = lane.find_reply(order)?;
        lane.lane.replies().get(at).copied()
    }

    /// Gives a call what its span did not tell.
    fn learn_call(
        &mut self,
        content: &Step,
        told: &ToolCall,
        place: (LaneId, usize),
        names: &mut Names,
        ledger: &mut Ledger,
    ) -> Option<Again> {
        let (lane, at) = place;
        let known = *self.lane(lane)?.lane.calls().get(at)?;
        let step = Step {
            trace: known.trace,
            span: known.span,
            parent: known.parent,
            start: known.start,
            end: known.end,
            scope: known.scope,
            resource: known.more.resource,
            audience: known.audience,
            ..content.clone()
        };
        let fresh = plain_call(&step, told, known.order, known.step, names);
        let mut call = known;
        let arguments = known.key.is_none() && fresh.key.is_some();
        let answer = !known.answer.known && fresh.answer.known;
        let outcome = known.outcome == Outcome::Unknown && fresh.outcome != Outcome::Unknown;
        if !(arguments || answer || outcome) {
            return None;
        }
        if arguments {
            call = with_arguments(&known, &fresh);
        }
        if answer {
            (call.answer, call.ignored) = (fresh.answer, fresh.ignored);
        }
        if outcome {
            call.outcome = fresh.outcome;
            call.more.unknown_tool |= fresh.more.unknown_tool;
        }
        self.facts.seen_arguments |= arguments;
        self.facts.seen_results |= answer;
        let outcomes = &mut self.facts.outcomes;
        if let Some(share) = outcomes.iter_mut().find(|one| one.order == call.order) {
            share.outcome = as_share(told, call.outcome);
            share.key = call.key.unwrap_or(share.key);
        }
        if arguments {
            note_in_ledger(&step, told, &call, ledger);
            self.wait_for_schema(told, &call);
        }
        *self.lane_mut(lane)?.lane.call_mut(at)? = call;
        Some(again_of(lane, &call))
    }

    /// Lets a step wait for judgement again, unless it still waits for the first.
    fn wait_again(&mut self, again: Again, at: At) {
        let due = at
            .now
            .plus(self.settle_time(at.settle, again.is_claim, false));
        let same = |other: &&mut Pending| other.order == again.order;
        if let Some(waiting) = self.pending.iter_mut().find(same) {
            waiting.is_claim |= again.is_claim;
            return;
        }
        self.wait(Pending {
            lane: again.lane,
            is_call: again.is_call,
            is_claim: again.is_claim,
            order: again.order,
            span: again.span,
            due,
            arrived: at.now,
            waits_for_parents: false,
            again: true,
            site: Site::GONE,
        });
    }
}

/// What a judgement of a reply looks at, as far as it can be learned.
fn essence(reply: Reply) -> (bool, bool, bool, bool) {
    (
        reply.text.is_some(),
        reply.reasoning.is_some(),
        reply.asks_for_calls,
        reply.finish != crate::model::Finish::Unknown,
    )
}

pub(super) fn again_of(lane: LaneId, call: &Call) -> Again {
    Again {
        lane,
        is_call: true,
        is_claim: false,
        order: call.order,
        span: call.span,
    }
}

/// A call with all that follows from its arguments.
fn with_arguments(known: &Call, fresh: &Call) -> Call {
    Call {
        call_id: known.call_id.or(fresh.call_id),
        tool: known.tool,
        answer: known.answer,
        outcome: known.outcome,
        asked_by: known.asked_by,
        turn: known.turn,
        lane_unknown: known.lane_unknown,
        ignored: known.ignored,
        fired: known.fired,
        more: More {
            identity: known.more.identity,
            unknown_tool: known.more.unknown_tool,
            bearing: known.more.bearing,
            asked: known.more.asked,
            hints: known.more.hints,
            ..fresh.more
        },
        ..*fresh
    }
}
