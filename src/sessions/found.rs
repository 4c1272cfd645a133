//! What was found on the last steps of a run, and how their spans were marked: a step that is judged again is not
//! accused of it anew, and a second copy of a span gets the same marks.

use bytes::Bytes;

use crate::lanes::Order;
use crate::model::{AnomalyType, SpanId};

use super::Run;

/// Steps of which is remembered what was found on them.
const FOUND_MAX: usize = 64;
/// Marked spans remembered for their duplicates.
const MARKED_MAX: usize = 32;

impl Run {
    /// Notes what was found on a step.
    pub fn note_found(&mut self, order: Order, types: &[AnomalyType]) {
        let bits = types.iter().fold(0, |all, one| all | 1 << (*one as u8));
        if bits == 0 {
            return;
        }
        if let Some((_, known)) = self.found.iter_mut().find(|(other, _)| *other == order) {
            *known |= bits;
            return;
        }
        if self.found.len() >= FOUND_MAX {
            self.found.remove(0);
        }
        self.found.push((order, bits));
    }

    /// Whether this was found on a step before.
    pub fn has_found(&self, order: Order, anomaly: AnomalyType) -> bool {
        let mut found = self.found.iter();
        found.any(|(other, bits)| *other == order && bits & (1 << (anomaly as u8)) != 0)
    }

    /// Remembers what a span was marked with, so that a second copy of it gets the same.
    pub fn note_mark(&mut self, span: SpanId, patch: Bytes) {
        if let Some(slot) = self.marked.iter_mut().find(|(marked, _)| *marked == span) {
            slot.1 = patch;
            return;
        }
        if self.marked.len() >= MARKED_MAX {
            self.marked.remove(0);
        }
        self.marked.push((span, patch));
    }

    /// What a span was marked with.
    pub fn mark_of(&self, span: SpanId) -> Option<&Bytes> {
        self.marked
            .iter()
            .find(|(marked, _)| *marked == span)
            .map(|(_, patch)| patch)
    }
}
