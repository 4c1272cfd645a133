//! Findings whose span has left (DESIGN 3.7): as a span of our own, or as a log record.

use crate::annotations::{self, LatePolicy};
use crate::model::{Carrier, Release, Report, Selection, SpanId};

use super::{Engine, Output};

impl Engine {
    /// Sends a report on by itself, since the span it accuses has left. `resource` is that span's.
    pub(super) fn send_late(
        &mut self,
        report: &mut Report,
        accused: SpanId,
        resource: u64,
        out: &mut Output,
    ) {
        self.counters.late_reports += 1;
        report.carrier = Carrier::Log(accused);
        if self.settings.annotate.late == LatePolicy::Log {
            return;
        }
        let sender = self.resources.get(resource).map(|bytes| bytes.as_ref());
        let made = annotations::synthetic(report, sender, &self.settings.annotate);
        if let Some((span, body)) = made {
            report.carrier = Carrier::Synthetic(span);
            self.counters.synthetic_spans += 1;
            out.releases.push(Release {
                body,
                spans: Selection::All,
                count: 1,
                patches: Vec::new(),
                synthetic: true,
            });
        }
    }
}
