//! When a run has something due.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::model::{Timestamp, TraceId};

/// Wake-ups of runs, the earliest first. A run may have several; one too many does no harm.
#[derive(Debug, Default)]
pub(super) struct Timers {
    heap: BinaryHeap<Reverse<(Timestamp, TraceId)>>,
}

impl Timers {
    pub(super) fn set(&mut self, due: Timestamp, run: TraceId) {
        self.heap.push(Reverse((due, run)));
    }

    /// The next run whose time has come.
    pub(super) fn pop(&mut self, now: Timestamp) -> Option<TraceId> {
        let Reverse((due, run)) = *self.heap.peek()?;
        if due > now {
            return None;
        }
        self.heap.pop();
        Some(run)
    }

    pub(super) fn next(&self) -> Option<Timestamp> {
        self.heap.peek().map(|Reverse((due, _))| *due)
    }
}
