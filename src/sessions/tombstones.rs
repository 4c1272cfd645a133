//! Closed runs, remembered for a while so that stragglers do not open them anew (DESIGN 3.9).

use std::collections::VecDeque;
use std::time::Duration;

use crate::model::{SpanId, Timestamp, TraceId};

use super::ConversationId;
use super::table::Table;

/// How long a tombstone stays.
const STAYS: Duration = Duration::from_secs(600);
/// Most tombstones.
const MAX: usize = 200_000;
/// Spans of closed runs remembered, all runs together: a sender that tries again sends what was counted.
const SEEN_MAX: usize = 128 * 1024;

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
    /// Spans of the runs closed last, as far as a conversation still counts their steps.
    seen: Table<TraceId, Vec<SpanId>>,
    seen_order: VecDeque<TraceId>,
    seen_count: usize,
}

impl Tombstones {
    pub(super) fn add(
        &mut self,
        trace: TraceId,
        conversation: Option<ConversationId>,
        seen: Vec<SpanId>,
        now: Timestamp,
    ) {
        if conversation.is_some() && !seen.is_empty() {
            self.keep(trace, seen);
        }
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

    /// Keeps the spans of a run; those of the run closed longest ago go first.
    fn keep(&mut self, trace: TraceId, seen: Vec<SpanId>) {
        self.seen_count += seen.len();
        match self.seen.get_mut(&trace) {
            Some(known) => {
                self.seen_count -= known.len();
                *known = seen;
            }
            None => {
                self.seen.insert(trace, seen);
                self.seen_order.push_back(trace);
            }
        }
        while self.seen_count > SEEN_MAX {
            let Some(oldest) = self.seen_order.pop_front() else {
                break;
            };
            let gone = self.seen.remove(&oldest);
            self.seen_count -= gone.map_or(0, |seen| seen.len());
        }
    }

    /// Notes a span of a closed run; `false` when it was seen before. Runs whose spans are not kept know none.
    pub(super) fn first_sight(&mut self, trace: TraceId, span: SpanId) -> bool {
        let Some(seen) = self.seen.get_mut(&trace) else {
            return true;
        };
        if seen.contains(&span) {
            return false;
        }
        if self.seen_count < SEEN_MAX {
            seen.push(span);
            self.seen_count += 1;
        }
        true
    }

    /// Bytes held: 64 a tombstone, hash table and order together; 8 a span.
    pub(super) fn bytes(&self) -> u64 {
        (self.order.len() * 64 + self.seen_order.len() * 64 + self.seen_count * size_of::<SpanId>())
            as u64
    }
}
