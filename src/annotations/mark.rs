//! The marks of findings on the span that shows them.

use std::borrow::Cow;

use bytes::Bytes;

use crate::model::{AnomalyType, EVENTS_MAX, Report, STATUS_SET, Severity, Timestamp};
use crate::otlp::{AttributeValue, PatchWriter, StatusCode};

use super::event::{Entries, Own, int, text};
use super::message::{hex16, shown};
use super::{RunSummary, Settings, StatusPolicy, event};

/// What is known of the span that bears the marks.
#[derive(Clone, Copy, Debug)]
pub struct Bearer {
    /// Its start: an event lies within it.
    pub start: Timestamp,
    /// Its end.
    pub end: Timestamp,
    /// Its status is unset, and may be set.
    pub unset: bool,
}

/// Encodes what is appended to one span: the marks of `reports`, and the summary of a run where the span
/// is an agent's. With `keep_marks` the span came with marks: only events are added.
pub fn mark(
    reports: &[Report],
    summary: Option<&RunSummary>,
    bearer: Bearer,
    keep_marks: bool,
    settings: &Settings,
) -> Bytes {
    let mut writer = PatchWriter::new();
    if !keep_marks {
        for (key, value) in attributes(reports, settings) {
            writer = writer.attribute(&key, value.lent());
        }
        writer = status(writer, reports, bearer, settings);
    }
    if let Some(summary) = summary.filter(|_| !keep_marks) {
        writer = summary.write(writer);
    }
    for report in reports.iter().take(EVENTS_MAX) {
        writer = event::write(writer, report, bearer, settings);
    }
    writer.finish()
}

/// Sets the status of a span that has none, where that is wanted and something is wrong; said, so that it can be
/// undone behind us.
fn status(
    writer: PatchWriter,
    reports: &[Report],
    bearer: Bearer,
    settings: &Settings,
) -> PatchWriter {
    let wanted = settings.status == StatusPolicy::ErrorIfUnset && bearer.unset;
    match alarm(reports).filter(|_| wanted) {
        Some(report) => writer
            .attribute(STATUS_SET, AttributeValue::Bool(true))
            .status(StatusCode::Error, &shown(&report.finding.message, settings)),
        None => writer,
    }
}

/// The report that speaks for the span: the most severe, the first of equals.
fn primary<'a>(reports: impl Iterator<Item = &'a Report>) -> Option<&'a Report> {
    reports.fold(None, |best: Option<&Report>, report| match best {
        Some(best) if best.severity >= report.severity => Some(best),
        _ => Some(report),
    })
}

fn alarming(report: &&Report) -> bool {
    report.severity >= Severity::Warning
}

/// The report that speaks for a span on which something is wrong.
fn alarm(reports: &[Report]) -> Option<&Report> {
    primary(reports.iter().filter(alarming))
}

/// The attributes of a span with these findings.
fn attributes(reports: &[Report], settings: &Settings) -> Entries {
    let Some(report) = alarm(reports) else {
        return primary(reports.iter()).map(note).into_iter().collect();
    };
    let count = reports.iter().filter(alarming).count();
    let mut entries = vec![
        (Cow::Borrowed("sentinel.anomaly.detected"), Own::Bool(true)),
        text("sentinel.anomaly.type", report.finding.anomaly.name()),
        text("sentinel.anomaly.severity", report.severity.name()),
        severity_number(report),
        int("sentinel.anomaly.count", count),
    ];
    for anomaly in AnomalyType::ALL {
        if reports
            .iter()
            .filter(alarming)
            .any(|report| report.finding.anomaly == anomaly)
        {
            let key = format!("sentinel.anomaly.{anomaly}");
            entries.push((Cow::Owned(key), Own::Bool(true)));
        }
    }
    entries.extend(told(report, settings));
    entries
}

/// All that can be said of one finding, each key once: the attributes that its span would carry, those of its
/// event, and for a finding of severity info what marks of graver ones say.
pub(super) fn everything(report: &Report, settings: &Settings) -> Entries {
    let mut entries = attributes(std::slice::from_ref(report), settings);
    let more = std::iter::once(severity_number(report))
        .chain(told(report, settings))
        .chain(event::entries(report, settings));
    for (key, value) in more {
        if !entries.iter().any(|(known, _)| *known == key) {
            entries.push((key, value));
        }
    }
    entries
}

fn note(report: &Report) -> (Cow<'static, str>, Own) {
    text("sentinel.note.type", report.finding.anomaly.name())
}

fn severity_number(report: &Report) -> (Cow<'static, str>, Own) {
    int("sentinel.anomaly.severity_number", report.severity.number())
}

/// What is told of one finding beside type and severity.
fn told(report: &Report, settings: &Settings) -> Entries {
    let finding = &report.finding;
    let mut entries = vec![
        text(
            "sentinel.anomaly.message",
            &shown(&finding.message, settings),
        ),
        text("sentinel.anomaly.rule", &finding.rule_name()),
        text("sentinel.anomaly.confidence", finding.confidence.name()),
    ];
    let reason = finding.reason;
    entries.extend(reason.map(|reason| text("sentinel.anomaly.reason", reason)));
    let evidence = evidence_span(report);
    entries.extend(evidence.map(|span| text("sentinel.anomaly.evidence_span_id", &span)));
    entries.push(text(
        "sentinel.anomaly.fingerprint",
        &hex16(report.fingerprint),
    ));
    entries.push(text("sentinel.anomaly.episode", &hex16(report.episode)));
    entries.push(text("sentinel.anomaly.state", report.state.name()));
    let link = report.trace_url.as_deref();
    entries.extend(link.map(|link| text("sentinel.anomaly.trace_url", link)));
    entries
}

/// The step that the finding points at beside the judged one: the first of its proof.
fn evidence_span(report: &Report) -> Option<String> {
    let judged = report.finding.judged()?.span;
    let first = report.finding.members.first()?.span;
    (first != judged).then(|| first.to_string())
}
