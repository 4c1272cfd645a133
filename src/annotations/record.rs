//! A finding as an OTLP log record about the span it accuses.
//!
//! Invariant: it says all that marks on the span would have said, and what their event would: whoever reads only
//! logs misses nothing.

use bytes::Bytes;

use crate::model::{EVENT, Report, SpanId, Timestamp, TraceId};
use crate::otlp::{self, AttributeValue, Record};

use super::Settings;
use super::mark::everything;
use super::message::shown;
use super::synthetic::{US, service_alone};

/// The request that holds the record of a report. `accused` is the span it is about, `observed` our own time;
/// `sender` as for [`super::synthetic()`].
pub fn record(
    report: &Report,
    accused: (TraceId, SpanId),
    observed: Timestamp,
    sender: Option<&[u8]>,
    settings: &Settings,
) -> Bytes {
    let entries = everything(report, settings);
    let attributes: Vec<(&str, AttributeValue<'_>)> = entries
        .iter()
        .map(|(key, value)| (key.as_ref(), value.lent()))
        .collect();
    let record = Record {
        trace: accused.0,
        span: accused.1,
        name: EVENT,
        at: report.at,
        observed,
        severity_number: report.severity.number(),
        severity: report.severity.name(),
        body: &shown(&report.finding.message, settings),
        attributes: &attributes,
    };
    match sender {
        Some(sender) => otlp::log_request_of(sender, US, &record),
        None => otlp::log_request_of(&service_alone(&report.service), US, &record),
    }
}
