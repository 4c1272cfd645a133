//! Runs, conversations and the lanes of agents: where every step belongs (DESIGN 3.3 to 3.9).
//!
//! Invariant: all state is bounded in bytes; no clock is read; a step is taken in once, however often its
//! span arrives. Judging is the engine's business.

mod agent_lane;
mod arrival;
mod attribution;
mod calls;
mod content;
mod conversation;
mod facts;
mod found;
mod idle;
mod lending;
mod observe;
mod replies;
mod requests;
mod run;
mod said;
mod settings;
mod spans;
mod spending;
mod table;
mod telling;
mod tombstones;
mod watch;

use bytes::Bytes;

use crate::detectors::Scope;
use crate::lanes::{Ledger, Meter, Names};
use crate::model::{Link, Timestamp, TraceId};

pub use agent_lane::{AgentLane, LaneKey};
pub use content::Learned;
pub use conversation::{Conversation, ConversationId};
pub use run::{Lacks, Pending, Run, Site, Tally};
pub use settings::{ConversationLimits, RunLimits, Settings, Settle, Turn};
pub use watch::{Deadline, Last, Watch};

use idle::IdleQueue;
use table::Table;
use tombstones::Tombstones;

/// A lane within its run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LaneId(pub u16);

/// What became of a step on arrival.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    /// It is taken in and waits in its run's `pending` until it is due.
    Pending,
    /// A second copy of a span, with what the first was marked with.
    Duplicate(Option<Bytes>),
    /// The second span of one call.
    SecondSpan,
    /// Too old for its lane, or its run is closed: the ledger knows, nothing judges.
    Late,
    /// Its run has too many steps.
    OverLimit,
    /// It carries nothing to judge.
    Plain,
}

/// Why a run was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// Its root ended.
    RootEnded,
    /// Nothing was heard of it for long.
    Idle,
    /// Its memory was needed.
    Memory,
    /// The process ends.
    Shutdown,
}

impl CloseReason {
    /// All reasons.
    pub const ALL: [Self; 4] = [Self::RootEnded, Self::Idle, Self::Memory, Self::Shutdown];

    /// The metric label.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RootEnded => "root_ended",
            Self::Idle => "idle",
            Self::Memory => "memory",
            Self::Shutdown => "shutdown",
        }
    }
}

/// All open runs and conversations.
#[derive(Debug)]
pub struct Sessions {
    settings: Settings,
    capacity: usize,
    runs: Table<TraceId, Box<Run>>,
    /// With `turn: conversation`: further traces of an open run.
    aliases: Table<TraceId, TraceId>,
    conversations: Table<ConversationId, Box<Conversation>>,
    tombstones: Tombstones,
    idle_runs: IdleQueue<TraceId>,
    idle_conversations: IdleQueue<ConversationId>,
    /// Names of tools.
    pub names: Names,
    bytes: u64,
    refused_at: Option<Timestamp>,
    superseded: Vec<Site>,
    opened: u64,
}

impl Sessions {
    /// Opens the books; a lane keeps `capacity` calls.
    pub fn new(settings: Settings, capacity: usize) -> Self {
        Self {
            settings,
            capacity,
            runs: Table::default(),
            aliases: Table::default(),
            conversations: Table::default(),
            tombstones: Tombstones::default(),
            idle_runs: IdleQueue::default(),
            idle_conversations: IdleQueue::default(),
            names: Names::default(),
            bytes: 0,
            refused_at: None,
            superseded: Vec::new(),
            opened: 0,
        }
    }

    /// Open runs.
    pub fn open_runs(&self) -> usize {
        self.runs.len()
    }

    /// Remembered conversations.
    pub fn conversations(&self) -> usize {
        self.conversations.len()
    }

    /// Bytes held, as accounted.
    pub fn bytes(&self) -> u64 {
        self.bytes + self.tombstones.bytes()
    }

    /// Runs ever opened.
    pub fn opened(&self) -> u64 {
        self.opened
    }

    /// Takes the sites of waiting claims that a later span of the same text has replaced.
    pub fn superseded(&mut self) -> Vec<Site> {
        std::mem::take(&mut self.superseded)
    }

    /// A request was refused: its sender will send again, out of order.
    pub fn note_refusal(&mut self, now: Timestamp) {
        self.refused_at = Some(now);
    }

    /// The key of the run that a trace belongs to.
    pub fn key_of(&self, trace: TraceId) -> TraceId {
        if self.aliases.len() == 0 {
            return trace;
        }
        self.aliases.get(&trace).copied().unwrap_or(trace)
    }

    /// An open run.
    pub fn run(&self, trace: TraceId) -> Option<&Run> {
        self.runs.get(&self.key_of(trace)).map(Box::as_ref)
    }

    /// An open run.
    pub fn run_mut(&mut self, trace: TraceId) -> Option<&mut Run> {
        let key = self.key_of(trace);
        self.runs.get_mut(&key).map(Box::as_mut)
    }

    /// The ledger that a run's steps are judged by.
    pub fn ledger_of<'a>(&'a self, run: &'a Run) -> &'a Ledger {
        run.conversation
            .and_then(|id| self.conversations.get(&id))
            .map_or(&run.own_ledger, |conversation| &conversation.ledger)
    }

    /// The meter that a budget of this scope counts by, for a step of a lane that started at `start`.
    pub fn meter_mut(
        &mut self,
        trace: TraceId,
        lane: LaneId,
        scope: Scope,
        start: Timestamp,
    ) -> Option<&mut Meter> {
        let key = self.key_of(trace);
        let run = self.runs.get_mut(&key)?;
        match scope {
            Scope::Agent => run.lane_mut(lane).map(|lane| &mut lane.lane.meter),
            Scope::Turn => run.facts.turns.of_mut(start),
            Scope::Session => {
                let id = run.conversation;
                match id.and_then(|id| self.conversations.get_mut(&id)) {
                    Some(conversation) => Some(&mut conversation.ledger.meter),
                    None => Some(&mut run.own_ledger.meter),
                }
            }
        }
    }

    /// Keeps the chain of parents whole over spans that no dialect knows.
    pub fn link(&mut self, link: &Link) {
        if let Some(run) = self.run_mut(link.trace) {
            run.spans.link(link.span, Some(link.parent), None);
        }
    }

    /// Holds the arguments that a run's calls were made with against the schemas known by now.
    pub fn check_arguments(&mut self, trace: TraceId) {
        let source = self.settings.source;
        if let Some(run) = self.run_mut(trace) {
            run.check_arguments(source);
        }
    }

    /// Forgets what the waiting steps of a run need no more; called when some of them have been judged.
    pub fn forget_judged(&mut self, trace: TraceId) {
        let key = self.key_of(trace);
        let Some(run) = self.runs.get_mut(&key) else {
            return;
        };
        run.forget();
        let floor = run.pending.front().map(|pending| pending.order);
        match run
            .conversation
            .and_then(|id| self.conversations.get_mut(&id))
        {
            Some(conversation) => conversation.ledger.forget(floor),
            None => run.own_ledger.forget(floor),
        }
        self.account(key);
    }

    /// The run that has to go: idle for too long, or the longest idle when memory is short. It must be
    /// closed next: it is not named a second time.
    pub fn next_to_close(&mut self, now: Timestamp) -> Option<(TraceId, CloseReason)> {
        let limit = now.minus(self.settings.run.idle_timeout);
        if let Some(key) = self.pop_idle(limit) {
            return Some((key, CloseReason::Idle));
        }
        if self.bytes() <= self.settings.max_state {
            return None;
        }
        // Conversations that nobody talks in go before runs that are still open.
        while self.bytes() > self.settings.max_state
            && self.conversations_idle_longer()
            && self.forget_conversation(Timestamp::MAX)
        {}
        if self.bytes() <= self.settings.max_state {
            return None;
        }
        self.pop_idle(Timestamp::MAX)
            .map(|key| (key, CloseReason::Memory))
    }

    fn conversations_idle_longer(&self) -> bool {
        match (
            self.idle_conversations.earliest(),
            self.idle_runs.earliest(),
        ) {
            (Some(conversation), Some(run)) => conversation < run,
            (conversation, None) => conversation.is_some(),
            (None, Some(_)) => false,
        }
    }

    fn pop_idle(&mut self, limit: Timestamp) -> Option<TraceId> {
        let runs = &self.runs;
        let timeout = self.settings.run.idle_timeout;
        self.idle_runs.pop_idle(limit, |key| {
            runs.get(key).map(|run| run.idle_since(timeout))
        })
    }

    /// Forgets conversations that were idle for too long.
    pub fn forget_idle_conversations(&mut self, now: Timestamp) {
        let limit = now.minus(self.settings.conversation.idle_timeout);
        while self.forget_conversation(limit) {}
    }

    fn forget_conversation(&mut self, limit: Timestamp) -> bool {
        let conversations = &self.conversations;
        let last_seen = |id: &ConversationId| conversations.get(id).map(|c| c.last_seen);
        let Some(id) = self.idle_conversations.pop_idle(limit, last_seen) else {
            return false;
        };
        if let Some(conversation) = self.conversations.remove(&id) {
            self.bytes = self.bytes.saturating_sub(conversation.accounted);
        }
        true
    }

    /// Closes a run: its ring is freed, a tombstone stays.
    pub fn close(&mut self, key: TraceId, now: Timestamp) -> Option<Box<Run>> {
        let mut run = self.runs.remove(&key)?;
        self.bytes = self.bytes.saturating_sub(run.accounted);
        if let Some(conversation) = run
            .conversation
            .and_then(|id| self.conversations.get_mut(&id))
        {
            conversation.last_seen = conversation.last_seen.max(run.last_seen);
            if conversation.run == Some(key) {
                conversation.run = None;
            }
        }
        let seen = std::mem::take(&mut run.spans).into_seen();
        self.tombstones.add(key, run.conversation, seen, now);
        Some(run)
    }

    /// The longest idle run, whatever its age: at the end of everything. It must be closed next.
    pub fn next_at_shutdown(&mut self) -> Option<TraceId> {
        self.pop_idle(Timestamp::MAX)
    }

    /// A moment before which no run can become idle.
    pub fn earliest_idle(&self) -> Option<Timestamp> {
        let timeout = self.settings.run.idle_timeout;
        let seen = self.idle_runs.earliest()?;
        let due = seen.plus(timeout);
        // A run heard of at the end of time is never idle: time has no moment left for it.
        (due.minus(timeout) >= seen).then_some(due)
    }
}
