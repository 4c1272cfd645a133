//! A step arrives: its run is found or opened, it joins its conversation, it is taken in and waits for
//! judgement.

use std::time::Duration;

use crate::model::{Action, Name, Step, Timestamp, TraceId};

use super::content::At;
use super::conversation::{Conversation, ConversationId};
use super::facts::note_late;
use super::observe::Taken;
use super::tombstones::Tombstone;
use super::{Pending, Run, Seen, Sessions, Site, Turn};

/// After its root has been judged a run stays open this long for stragglers.
const CLOSE_AFTER_ROOT: Duration = Duration::from_secs(2);
/// The same where log records tell of steps: an SDK's batch of 5 s and one.
const CLOSE_AFTER_ROOT_WITH_RECORDS: Duration = Duration::from_secs(6);
/// A refusal makes retries, and so disorder, likely for this long.
const REFUSAL_MEMORY: Duration = Duration::from_secs(60);

impl Sessions {
    /// Takes in a step. `now` is its arrival.
    pub fn observe(&mut self, step: &Step, site: Site, now: Timestamp) -> Seen {
        let key = self.run_key(step, now);
        if let Some(tombstone) = self.tombstones.get(key, now) {
            return self.observe_late(key, step, tombstone);
        }
        if self.runs.get(&key).is_none() {
            self.open_run(key, step, now);
        }
        let Some(run) = self.runs.get_mut(&key) else {
            return Seen::Plain;
        };
        run.last_seen = run.last_seen.max(now);
        if !self.settings.source && !run.spans.first_sight(step.span) {
            return Seen::Duplicate(run.mark_of(step.span).cloned());
        }
        if run.steps >= self.settings.run.max_steps {
            run.incomplete = true;
            return Seen::OverLimit;
        }
        self.join(key, step, now);
        let taken = self.take_in(key, step, now);
        let seen = self.queue(key, step, taken, site, now);
        self.account(key);
        seen
    }

    /// Opens the run of a step that is about to be observed, so that it can be told of the spans between its
    /// steps before.
    pub fn open_for(&mut self, step: &Step, now: Timestamp) {
        let key = self.run_key(step, now);
        if self.tombstones.get(key, now).is_none() && self.runs.get(&key).is_none() {
            self.open_run(key, step, now);
        }
    }

    fn run_key(&mut self, step: &Step, now: Timestamp) -> TraceId {
        let known = self.key_of(step.trace);
        if self.settings.turn != Turn::Conversation || self.runs.get(&known).is_some() {
            return known;
        }
        let Some(name) = &step.conversation else {
            return known;
        };
        let id = ConversationId::of(&step.service, name);
        match self
            .conversations
            .get(&id)
            .and_then(|conversation| conversation.run)
        {
            Some(run) if run != known && self.runs.get(&run).is_some() => {
                self.aliases.insert(step.trace, run);
                run
            }
            _ => {
                if let Some(conversation) = self.conversation_mut(id, name, now) {
                    conversation.run = Some(known);
                }
                known
            }
        }
    }

    fn open_run(&mut self, key: TraceId, step: &Step, now: Timestamp) {
        let mut run = Run::new(
            key,
            step.service.clone(),
            step.resource,
            self.capacity,
            self.settings.meters,
            now,
        );
        run.watch = self.settings.timers.then(Box::default);
        self.bytes += run.accounted;
        self.opened += 1;
        self.runs.insert(key, Box::new(run));
        self.idle_runs.add(key, now);
    }

    fn conversation_mut(
        &mut self,
        id: ConversationId,
        name: &Name,
        now: Timestamp,
    ) -> Option<&mut Conversation> {
        if self.conversations.get(&id).is_none() {
            let conversation = Box::new(Conversation::new(name.clone(), now));
            self.bytes += conversation.accounted;
            self.conversations.insert(id, conversation);
            self.idle_conversations.add(id, now);
        }
        self.conversations.get_mut(&id).map(Box::as_mut)
    }

    /// A run joins the conversation that one of its spans names, however late; the first name wins.
    fn join(&mut self, key: TraceId, step: &Step, now: Timestamp) {
        let Some(name) = step
            .conversation
            .as_ref()
            .filter(|_| self.settings.join_conversations)
        else {
            return;
        };
        let Some(run) = self.runs.get_mut(&key) else {
            return;
        };
        if let Some(id) = run.conversation {
            if let Some(conversation) = self.conversations.get_mut(&id) {
                conversation.last_seen = conversation.last_seen.max(now);
            }
            return;
        }
        let id = ConversationId::of(&step.service, name);
        run.conversation = Some(id);
        run.session = name.clone();
        let ledger = std::mem::take(&mut run.own_ledger);
        if let Some(conversation) = self.conversation_mut(id, name, now) {
            conversation.last_seen = conversation.last_seen.max(now);
            conversation.ledger.merge(ledger);
        }
    }

    fn take_in(&mut self, key: TraceId, step: &Step, now: Timestamp) -> Taken {
        let source = self.settings.source;
        let in_future = step.end > now.plus(self.settings.max_clock_skew);
        let Some(run) = self.runs.get_mut(&key) else {
            return Taken::Nothing;
        };
        let greatest = run.greatest;
        if let Some(watch) = &mut run.watch {
            watch.ahead = in_future;
        }
        let taken = match run
            .conversation
            .and_then(|id| self.conversations.get_mut(&id))
        {
            Some(conversation) => {
                run.take_in(step, &mut self.names, &mut conversation.ledger, source)
            }
            None => {
                let mut ledger = std::mem::take(&mut run.own_ledger);
                let taken = run.take_in(step, &mut self.names, &mut ledger, source);
                run.own_ledger = ledger;
                taken
            }
        };
        if in_future {
            run.greatest = greatest;
        } else {
            run.facts.latest_end = run.facts.latest_end.max(step.end);
        }
        taken
    }

    /// Puts what was taken in among the steps that wait for judgement.
    fn queue(
        &mut self,
        key: TraceId,
        step: &Step,
        taken: Taken,
        site: Site,
        now: Timestamp,
    ) -> Seen {
        let refused = self
            .refused_at
            .is_some_and(|at| now.since(at) < REFUSAL_MEMORY);
        let settle = self.settings.settle;
        let source = self.settings.source;
        let linger = if self.settings.records {
            CLOSE_AFTER_ROOT_WITH_RECORDS
        } else {
            CLOSE_AFTER_ROOT
        };
        let Some(run) = self.runs.get_mut(&key) else {
            return Seen::Plain;
        };
        self.superseded.append(&mut run.freed);
        run.queue_again(At {
            source,
            settle,
            now,
        });
        let root = step.parent.is_none() && matches!(step.action, Action::AgentRun(_));
        if root {
            run.close_at = Some(now.plus(linger).max(run.close_at.unwrap_or_default()));
        } else if let Some(close_at) = run.close_at {
            run.close_at = Some(close_at.max(now.plus(linger)));
        }
        let (lane, order, is_call, is_claim) = match taken {
            Taken::Call { lane, order } => (lane, order, true, false),
            Taken::Reply {
                lane,
                order,
                is_claim,
                hash,
            } => {
                if is_claim && !source {
                    // The span of the run repeats its last answer: the claim is one, and the later span
                    // takes the mark.
                    run.supersede_claim(hash, &mut self.superseded);
                }
                (lane, order, false, is_claim)
            }
            Taken::TooLate => return Seen::Late,
            Taken::SecondSpan => return Seen::SecondSpan,
            Taken::Nothing => return Seen::Plain,
        };
        let due = now.plus(run.settle_time(settle, is_claim, refused));
        let span = step.span;
        run.wait(Pending {
            lane,
            is_call,
            is_claim,
            order,
            span,
            due,
            arrived: now,
            waits_for_parents: false,
            again: false,
            site,
        });
        Seen::Pending
    }

    fn observe_late(&mut self, key: TraceId, step: &Step, tombstone: Tombstone) -> Seen {
        if !self.settings.source && !self.tombstones.first_sight(key, step.span) {
            return Seen::Duplicate(None);
        }
        let Some(conversation) = tombstone
            .conversation
            .and_then(|id| self.conversations.get_mut(&id))
        else {
            return Seen::Late;
        };
        note_late(
            step,
            &mut self.names,
            &mut conversation.ledger,
            self.settings.meters,
        );
        conversation.ledger.forget(None);
        Seen::Late
    }

    pub(super) fn account(&mut self, key: TraceId) {
        let Some(run) = self.runs.get_mut(&key) else {
            return;
        };
        let now = run.bytes() as u64;
        self.bytes = (self.bytes + now).saturating_sub(run.accounted);
        run.accounted = now;
        if let Some(conversation) = run
            .conversation
            .and_then(|id| self.conversations.get_mut(&id))
        {
            let now = conversation.bytes();
            self.bytes = (self.bytes + now).saturating_sub(conversation.accounted);
            conversation.accounted = now;
        }
    }
}
