//! A conversation: a ledger that runs join, however late.

use std::hash::{BuildHasher, Hash, Hasher};

use crate::lanes::Ledger;
use crate::model::{Name, Service, Timestamp, TraceId};

/// A conversation within its service. Not guessable from outside: two services never share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConversationId(u64);

impl ConversationId {
    /// The id of a conversation that a service names. Stable within and between processes, so that a replay
    /// shows the same.
    pub fn of(service: &Service, name: &str) -> Self {
        let mut hasher = foldhash::quality::FixedState::with_seed(0x5e55_1045).build_hasher();
        service.namespace.hash(&mut hasher);
        service.name.hash(&mut hasher);
        name.hash(&mut hasher);
        Self(hasher.finish())
    }

    /// The number itself, for keys of other tables.
    pub fn number(self) -> u64 {
        self.0
    }
}

/// What is known of a conversation.
#[derive(Debug)]
pub struct Conversation {
    /// Its name as sent.
    pub name: Name,
    /// Its facts.
    pub ledger: Ledger,
    /// When it was last heard of (arrival).
    pub last_seen: Timestamp,
    /// With `turn: conversation`: its open run.
    pub(super) run: Option<TraceId>,
    /// Bytes as accounted last.
    pub(super) accounted: u64,
}

impl Conversation {
    pub(super) fn new(name: Name, now: Timestamp) -> Self {
        let mut conversation = Self {
            name,
            ledger: Ledger::default(),
            last_seen: now,
            run: None,
            accounted: 0,
        };
        conversation.accounted = conversation.bytes();
        conversation
    }

    pub(super) fn bytes(&self) -> u64 {
        (size_of::<Self>() + self.name.len() + self.ledger.heap_bytes()) as u64
    }
}
