//! Findings that were told before they came here: on spans that came marked, or by spans of a sentinel's own.
//!
//! Invariant: what was told is not told again, nor is what a run's own span says of it. Bounded, the oldest go
//! first.

use std::collections::{BTreeSet, VecDeque};

use crate::annotations;
use crate::model::{Report, SpanId, TraceId, told_in};

/// Most of what is remembered.
const TOLD_MAX: usize = 1 << 18;

/// What was told.
#[derive(Debug, Default)]
pub(super) struct Known {
    keys: BTreeSet<u64>,
    order: VecDeque<u64>,
}

impl Known {
    /// Notes what a body tells.
    pub(super) fn note(&mut self, keys: &[u64]) {
        for key in keys {
            if !self.keys.insert(*key) {
                continue;
            }
            self.order.push_back(*key);
            if self.order.len() > TOLD_MAX
                && let Some(oldest) = self.order.pop_front()
            {
                self.keys.remove(&oldest);
            }
        }
    }

    /// Whether anything was told in a trace.
    pub(super) fn in_trace(&self, trace: TraceId) -> bool {
        !self.keys.is_empty() && self.keys.contains(&told_in(trace))
    }

    /// Whether a finding on this span was told, or may have been.
    pub(super) fn has(&self, report: &Report, accused: SpanId) -> bool {
        if self.keys.is_empty() {
            return false;
        }
        let keys = annotations::keys(report, accused);
        keys.is_some_and(|keys| keys.iter().any(|key| self.keys.contains(key)))
    }
}
