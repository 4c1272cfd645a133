//! What a detector is shown when it judges one step.

use smallvec::SmallVec;

use crate::model::{Bill, Finding, Finish, Member, ModelCall, Outcome, Timestamp, Usage, Words};

use super::lane::forget;
use super::{Asks, Call, Lane, Ledger, Names, Order, Reply, Trail, Turns};

/// One call's outcome, as a run remembers it over all lanes (error_rate).
#[derive(Clone, Copy, Debug)]
pub struct RunOutcome {
    /// Its place.
    pub order: Order,
    /// How it ended.
    pub outcome: Outcome,
    /// Key of the call, 0 when not known.
    pub key: u64,
}

/// What one model call, or one tool call with a price, tells of what it has spent.
#[derive(Clone, Copy, Debug)]
struct Payment {
    end: Timestamp,
    spent: Bill,
}

/// Counters of one run.
#[derive(Clone, Debug, Default)]
pub struct RunFacts {
    /// Outcomes of the run's last calls over all lanes, by order; bounded by [`RunFacts::forget`].
    pub outcomes: Vec<RunOutcome>,
    /// What its model answers asked for.
    pub asks: Asks,
    /// Tool calls executed in the run.
    pub calls: u32,
    /// What was spent turn by turn; counts only where a budget is set.
    pub turns: Turns,
    /// The latest end of a step whose clock can be right.
    pub latest_end: Timestamp,
    /// Ends of the run's earliest and latest call over all lanes.
    pub last_call_end: Option<Timestamp>,
    /// Arguments, results, definitions and texts seen at all: decides between quiet and not assessed.
    pub seen_arguments: bool,
    /// The span of a run gave out a tool call written as text.
    pub text_call_on_run: bool,
    /// Some call carried its result.
    pub seen_results: bool,
    /// Some model step carried tool definitions.
    pub seen_definitions: bool,
    /// Some model step carried text.
    pub seen_texts: bool,
    /// Answers of models read.
    pub answers: u32,
    /// Spans of whole runs of agents read.
    pub agent_runs: u32,
    /// Some answer stopped to call and does not show what.
    pub hides_calls: bool,
    /// All that was spent.
    pub spent: Bill,
    /// What the last model calls and priced tool calls have spent, by order; bounded.
    payments: Vec<Payment>,
    /// The greatest end of a payment that was forgotten.
    paid_before: Option<Timestamp>,
    /// What the goal names and what followed from it; only where goal_drift is judged.
    pub trail: Option<Box<Trail>>,
}

impl RunFacts {
    /// Forgets all but the last `capacity` outcomes before the first call that waits for judgement, and what
    /// was spent long before the first step that waits.
    pub fn forget(&mut self, capacity: usize, first_call: Option<Order>, first: Option<Order>) {
        forget(&mut self.outcomes, |o| o.order, first_call, capacity);
        self.turns.forget(first);
        self.forget_payments(first);
    }

    /// Notes what an answer of a model shows at all.
    pub fn note_answer(&mut self, model: &ModelCall) {
        self.answers = self.answers.saturating_add(1);
        self.hides_calls |= model.requested.is_empty() && model.finish == Finish::ToolCalls;
        self.seen_definitions |= model.tools.is_some();
    }

    /// Payments kept before the first step that waits.
    const PAYMENTS_MAX: usize = 32;
    /// Most of them, whatever waits.
    const PAYMENTS_WAITING_MAX: usize = 4096;

    /// Adds up what a step has spent; `expected`: it should tell (model calls). Agent spans repeat totals: they
    /// are never given here.
    pub fn pay(&mut self, end: Timestamp, usage: &Usage, expected: bool) {
        let spent = Bill::of(usage, expected);
        if spent == Bill::default() {
            return;
        }
        self.spent = self.spent.plus(&spent);
        let at = self.payments.partition_point(|other| other.end <= end);
        self.payments.insert(at, Payment { end, spent });
        if self.payments.len() > Self::PAYMENTS_WAITING_MAX {
            self.forget_payments(None);
        }
    }

    /// Another step tells what one that ended at `end` did not tell of tokens, of cost: it is no longer missed.
    pub fn forgive(&mut self, end: Timestamp, tokens: bool, cost: bool) {
        let misses = |spent: &Bill| (tokens && spent.uncounted > 0) || (cost && spent.unpriced > 0);
        let paid = |bill: &mut Bill| {
            bill.uncounted = bill.uncounted.saturating_sub(tokens.into());
            bill.unpriced = bill.unpriced.saturating_sub(cost.into());
        };
        let mut known = self.payments.iter_mut().rev();
        if let Some(payment) = known.find(|one| one.end == end && misses(&one.spent)) {
            paid(&mut payment.spent);
            paid(&mut self.spent);
        }
    }

    /// All that had been spent by a moment; `None` when that is too long ago to tell.
    pub fn spent_by(&self, moment: Timestamp) -> Option<Bill> {
        if self.paid_before.is_some_and(|gone| gone > moment) {
            return None;
        }
        let from = self.payments.partition_point(|one| one.end <= moment);
        let later = self.payments.get(from..).unwrap_or_default();
        let later = later
            .iter()
            .fold(Bill::default(), |sum, one| sum.plus(&one.spent));
        Some(self.spent.since(&later))
    }

    /// Tool calls executed up to and with the one at `order`.
    pub fn calls_by(&self, order: Order) -> u32 {
        let until = self.outcomes.partition_point(|one| one.order <= order);
        let later = self.outcomes.len().saturating_sub(until);
        self.calls
            .saturating_sub(u32::try_from(later).unwrap_or(u32::MAX))
    }

    /// Forgets payments that no judgement is likely to ask for.
    fn forget_payments(&mut self, first: Option<Order>) {
        let before = match first {
            Some(first) => self.payments.partition_point(|one| one.end < first.end),
            None => self.payments.len(),
        };
        let gone = before.saturating_sub(Self::PAYMENTS_MAX);
        let last = self.payments.drain(..gone).next_back();
        self.paid_before = self.paid_before.max(last.map(|one| one.end));
        if self.payments.capacity() > 4 * Self::PAYMENTS_MAX.max(self.payments.len()) {
            self.payments.shrink_to(Self::PAYMENTS_MAX);
        }
    }

    /// Bytes held on the heap.
    pub fn heap_bytes(&self) -> usize {
        let trail = self.trail.as_ref().map_or(0, |trail| trail.heap_bytes());
        self.outcomes.capacity() * size_of::<RunOutcome>()
            + self.payments.capacity() * size_of::<Payment>()
            + self.turns.heap_bytes()
            + self.asks.heap_bytes()
            + trail
    }

    /// Notes what users want, where anybody asks.
    pub fn note_wishes(&mut self, order: Order, wishes: Option<&Words>) {
        if let Some(words) = wishes {
            let trail = self.trail.get_or_insert_default();
            trail.note_goal(order, words);
        }
    }
}

/// Which step is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// The call at this index of the lane.
    Call(usize),
    /// The reply at this index of the lane.
    Reply(usize),
}

/// All that a detector may look at. It looks back from `at`; what stands behind it in the lane has
/// arrived, but is not to be used: a verdict is as of the step's own time.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The step judged.
    pub at: At,
    /// Its lane.
    pub lane: &'a Lane,
    /// Its run.
    pub run: &'a RunFacts,
    /// Its conversation, or the run's own ledger.
    pub ledger: &'a Ledger,
    /// Names of tools.
    pub names: &'a Names,
    /// How many calls before the judged step are shown: as many as a lane is sure to keep. What came in one
    /// large request stands in the lane as well, but a verdict must not depend on what came together.
    pub reach: usize,
}

impl<'a> View<'a> {
    /// The last calls of the lane up to and including the judged one, oldest first; for a reply, those before
    /// it: at most [`View::reach`] of them and the judged one.
    pub fn calls(&self) -> &'a [Call] {
        let calls = self.lane.calls();
        let (before, end) = match self.at {
            At::Call(at) => (at, at.saturating_add(1)),
            At::Reply(_) => {
                let Some(reply) = self.reply() else {
                    return &[];
                };
                let end = calls.partition_point(|call| call.order < reply.order);
                (end, end)
            }
        };
        let end = end.min(calls.len());
        let from = before.saturating_sub(self.reach).min(end);
        calls.get(from..end).unwrap_or(calls)
    }

    /// Those of the calls shown that are members of a proof, in the proof's order. Members stand in the order of
    /// the lane: one walk back finds them all.
    pub fn calls_of(&self, members: &[Member]) -> SmallVec<[&'a Call; Finding::MEMBERS_MAX]> {
        let calls = self.calls();
        let mut end = calls.len();
        let mut found = SmallVec::new();
        for member in members.iter().rev() {
            let until = |end| {
                let before = calls.get(..end).unwrap_or_default();
                before.iter().rposition(|call| call.span == member.span)
            };
            if let Some(at) = until(end).or_else(|| until(calls.len())) {
                found.extend(calls.get(at));
                end = at;
            }
        }
        found.reverse();
        found
    }

    /// The call judged.
    pub fn call(&self) -> Option<&'a Call> {
        match self.at {
            At::Call(at) => self.lane.calls().get(at),
            At::Reply(_) => None,
        }
    }

    /// The reply judged.
    pub fn reply(&self) -> Option<&'a Reply> {
        match self.at {
            At::Reply(at) => self.lane.replies().get(at),
            At::Call(_) => None,
        }
    }

    /// The replies of the lane up to and including the judged one; for a call, those before it.
    pub fn replies(&self) -> &'a [Reply] {
        let replies = self.lane.replies();
        match self.at {
            At::Reply(at) => replies.get(..=at).unwrap_or(replies),
            At::Call(_) => {
                let Some(call) = self.call() else { return &[] };
                let end = replies.partition_point(|reply| reply.order < call.order);
                replies.get(..end).unwrap_or(replies)
            }
        }
    }
}
