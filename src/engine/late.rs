//! Findings whose span has left (DESIGN 3.7): as a span of our own, or as a log record.

use crate::annotations::{self, LatePolicy};
use crate::model::{Carrier, Release, Report, Selection, SpanId, Timestamp, TraceId};

use super::{Engine, Output};

impl Engine {
    /// Sends a report on by itself, since the span it accuses has left. `resource` is that span's.
    pub(super) fn send_late(
        &mut self,
        report: &mut Report,
        accused: (TraceId, SpanId),
        resource: u64,
        now: Timestamp,
        out: &mut Output,
    ) {
        if self.known.has(report, accused.1) {
            // It came with its mark, or with a span that tells of it.
            report.carrier = Carrier::Span(accused.1);
            return;
        }
        report.carrier = Carrier::Log(accused.1);
        self.counters.late_reports += 1;
        let as_record = match self.settings.annotate.late {
            LatePolicy::Auto => self.settings.logs,
            LatePolicy::Log => true,
            LatePolicy::Span => false,
        };
        if as_record {
            self.send_record(report, accused, resource, now, out);
            return;
        }
        self.send_span(report, resource, out);
    }

    /// Sends a report on beside the spans, which pass untouched: as a span of our own where that is asked for, else as
    /// a log record.
    pub(super) fn send_observed(
        &mut self,
        report: &mut Report,
        accused: (TraceId, SpanId),
        resource: u64,
        now: Timestamp,
        out: &mut Output,
    ) {
        report.carrier = Carrier::Log(accused.1);
        if self.settings.annotate.late == LatePolicy::Span {
            self.send_span(report, resource, out);
        } else {
            self.send_record(report, accused, resource, now, out);
        }
    }

    /// Sends a report on as a span of our own.
    fn send_span(&mut self, report: &mut Report, resource: u64, out: &mut Output) {
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

    /// Sends a report on as a log record, if anybody takes some.
    pub(super) fn send_record(
        &mut self,
        report: &Report,
        accused: (TraceId, SpanId),
        resource: u64,
        now: Timestamp,
        out: &mut Output,
    ) {
        if !self.settings.logs {
            return;
        }
        let sender = self.resources.get(resource).map(|bytes| bytes.as_ref());
        let settings = &self.settings.annotate;
        out.records
            .push(annotations::record(report, accused, now, sender, settings));
        self.counters.log_records += 1;
    }
}
