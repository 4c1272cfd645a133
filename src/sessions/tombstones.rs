//! Closed runs, remembered for a while so that stragglers do not open them anew (DESIGN 3.9).

use std::collections::VecDeque;
use std::time::Duration;

use crate::model::{Timestamp, TraceId};

use super::ConversationId;
use super::table::Table;

/// How long a tombstone stays.
const STAYS: Duration = Duration::from_secs(600);
/// Most tombstones.
const MAX: usize = 200_000;

/// What stays of a closed run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tombstone {
    pub(super) conversation: Option<ConversationId>,
    closed: Timestamp,
}

/// All tombstones, the oldest first to go.
#[derive(Debug, Default)]
pub(super) struct Tombstones {
    table: Table<TraceId, Tombstone>,
    order: VecDeque<(Timestamp, TraceId)>,
}

impl Tombstones {
    pub(super) fn add(
        &mut self,
        trace: TraceId,
        conversation: Option<ConversationId>,
        now: Timestamp,
    ) {
        self.table.insert(
            trace,
            Tombstone {
                conversation,
                closed: now,
            },
        );
        self.order.push_back((now, trace));
        while let Some((closed, trace)) = self.order.front().copied() {
            if self.order.len() <= MAX && now.since(closed) < STAYS {
                break;
            }
            self.order.pop_front();
            if self
                .table
                .get(&trace)
                .is_some_and(|tombstone| tombstone.closed == closed)
            {
                self.table.remove(&trace);
            }
        }
    }

    /// The tombstone of a trace, if it has not worn off.
    pub(super) fn get(&self, trace: TraceId, now: Timestamp) -> Option<Tombstone> {
        self.table
            .get(&trace)
            .copied()
            .filter(|tombstone| now.since(tombstone.closed) < STAYS)
    }

    /// Bytes held: 64 a tombstone, hash table and order together.
    pub(super) fn bytes(&self) -> u64 {
        self.order.len() as u64 * 64
    }
}
