//! Which step of a run is judged next.

use smallvec::SmallVec;

use crate::model::{Timestamp, TraceId};
use crate::sessions::{LaneId, Pending, Settle};

use super::intake::Work;
use super::{Engine, Output};

impl Engine {
    /// Judges the steps of a run that are due, and those that stand before them.
    pub(super) fn settle_due(
        &mut self,
        trace: TraceId,
        now: Timestamp,
        mut work: Option<&mut Work>,
        out: &mut Output,
    ) {
        let mut waiting: SmallVec<[LaneId; 2]> = SmallVec::new();
        while let Some(pending) = self.next_due_step(trace, now, &waiting) {
            if !self.settle_step(trace, pending, now, work.as_deref_mut(), out) {
                waiting.push(pending.lane);
            }
        }
    }

    /// The next step to judge: of those that are due, and of those that stand before one of them, the first
    /// in order. A claim that settles longer than other replies is not hurried by them.
    fn next_due_step(&self, trace: TraceId, now: Timestamp, waiting: &[LaneId]) -> Option<Pending> {
        let run = self.sessions.run(trace)?;
        let alike = matches!(self.settings.sessions.settle, Settle::Fixed(_));
        // They stand in their order: those passed over are the first ones that are not due, one of each kind.
        let mut passed: [Option<Pending>; 3] = [None; 3];
        for pending in &run.pending {
            if pending.is_call && waiting.contains(&pending.lane) {
                continue;
            }
            let kind = match (pending.is_call, pending.is_claim && !alike) {
                (true, _) => 0,
                (false, false) => 1,
                (false, true) => 2,
            };
            let Some(first) = passed.get_mut(kind) else {
                continue;
            };
            if pending.due <= now {
                return first.or(Some(*pending));
            }
            first.get_or_insert(*pending);
        }
        None
    }
}
