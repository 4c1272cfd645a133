//! The marks of findings on the span that shows them.

use bytes::Bytes;

use crate::model::{AnomalyType, Report, Severity, Timestamp};
use crate::otlp::{AttributeValue, PatchWriter};

use super::message::{hex16, shown};
use super::{RunSummary, Settings, event};

/// Events written on one span at most; the count attribute tells of the rest.
const EVENTS_MAX: usize = 8;
/// The name of the event: fixed, so that it can be queried.
pub(super) const EVENT: &str = "sentinel.anomaly";

/// When the marked span ran: an event lies within it.
#[derive(Clone, Copy, Debug)]
pub struct SpanTimes {
    /// Its start.
    pub start: Timestamp,
    /// Its end.
    pub end: Timestamp,
}

/// Encodes what is appended to one span: the marks of `reports`, and the summary of a run where the span
/// is an agent's. With `keep_marks` the span came with marks: only events are added.
pub fn mark(
    reports: &[Report],
    summary: Option<&RunSummary>,
    times: SpanTimes,
    keep_marks: bool,
    settings: &Settings,
) -> Bytes {
    let mut writer = PatchWriter::new();
    if !keep_marks {
        writer = attributes(writer, reports, settings);
    }
    if let Some(summary) = summary {
        writer = summary.write(writer);
    }
    for report in reports.iter().take(EVENTS_MAX) {
        writer = event::write(writer, report, times, settings);
    }
    writer.finish()
}

/// The report that speaks for the span: the most severe, the first of equals.
fn primary<'a>(reports: impl Iterator<Item = &'a Report>) -> Option<&'a Report> {
    reports.fold(None, |best: Option<&Report>, report| match best {
        Some(best) if best.severity >= report.severity => Some(best),
        _ => Some(report),
    })
}

fn attributes(mut writer: PatchWriter, reports: &[Report], settings: &Settings) -> PatchWriter {
    let alarming = |report: &&Report| report.severity >= Severity::Warning;
    let Some(report) = primary(reports.iter().filter(alarming)) else {
        let Some(note) = primary(reports.iter()) else {
            return writer;
        };
        return writer.attribute(
            "sentinel.note.type",
            AttributeValue::Str(note.finding.anomaly.name()),
        );
    };
    let finding = &report.finding;
    let count = i64::try_from(reports.iter().filter(alarming).count()).unwrap_or(i64::MAX);
    writer = writer
        .attribute("sentinel.anomaly.detected", AttributeValue::Bool(true))
        .attribute(
            "sentinel.anomaly.type",
            AttributeValue::Str(finding.anomaly.name()),
        )
        .attribute(
            "sentinel.anomaly.severity",
            AttributeValue::Str(report.severity.name()),
        )
        .attribute(
            "sentinel.anomaly.severity_number",
            AttributeValue::Int(report.severity.number()),
        )
        .attribute("sentinel.anomaly.count", AttributeValue::Int(count));
    for anomaly in AnomalyType::ALL {
        if reports
            .iter()
            .filter(alarming)
            .any(|report| report.finding.anomaly == anomaly)
        {
            let key = format!("sentinel.anomaly.{anomaly}");
            writer = writer.attribute(&key, AttributeValue::Bool(true));
        }
    }
    let message = shown(&finding.message, settings);
    writer = writer
        .attribute("sentinel.anomaly.message", AttributeValue::Str(&message))
        .attribute(
            "sentinel.anomaly.rule",
            AttributeValue::Str(&finding.rule_name()),
        )
        .attribute(
            "sentinel.anomaly.confidence",
            AttributeValue::Str(finding.confidence.name()),
        );
    if let Some(reason) = finding.reason {
        writer = writer.attribute("sentinel.anomaly.reason", AttributeValue::Str(reason));
    }
    if let Some(evidence) = evidence_span(report) {
        writer = writer.attribute(
            "sentinel.anomaly.evidence_span_id",
            AttributeValue::Str(&evidence),
        );
    }
    writer
        .attribute(
            "sentinel.anomaly.fingerprint",
            AttributeValue::Str(&hex16(report.fingerprint)),
        )
        .attribute(
            "sentinel.anomaly.episode",
            AttributeValue::Str(&hex16(report.episode)),
        )
        .attribute(
            "sentinel.anomaly.state",
            AttributeValue::Str(report.state.name()),
        )
}

/// The step that the finding points at beside the judged one: the first of its proof.
fn evidence_span(report: &Report) -> Option<String> {
    let judged = report.finding.judged()?.span;
    let first = report.finding.members.first()?.span;
    (first != judged).then(|| first.to_string())
}
