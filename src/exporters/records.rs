//! What `debug` prints of log records: a line a record, and its attributes where details are asked for.

use std::fmt::Write;

use bytes::Bytes;
use serde_json::Value;

use crate::otlp::{BodyError, records_to_json};

use super::debug::{BOLD, DIM, RED, Text, YELLOW};
use super::settings::Verbosity;

/// The event name of our own records, which are findings whatever their severity.
const OURS: &str = "sentinel.anomaly";

/// An ExportLogsServiceRequest as text, by way of its JSON.
pub(super) fn render_records(body: &Bytes, verbosity: Verbosity) -> Result<String, BodyError> {
    let json = records_to_json(body)?;
    // Our own JSON; if it were none, there would be nothing to show.
    let request: Value = serde_json::from_str(&json).unwrap_or_default();
    let mut lines = String::new();
    let mut count = 0;
    for resource in members(&request, "resourceLogs") {
        for scope in members(resource, "scopeLogs") {
            for record in members(scope, "logRecords") {
                count += 1;
                line(&mut lines, record, verbosity);
            }
        }
    }
    let noun = if count == 1 {
        "log record"
    } else {
        "log records"
    };
    Ok(format!("{BOLD}{count} {noun}{BOLD:#}\n{lines}"))
}

pub(super) fn members<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    of.get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn line(out: &mut String, record: &Value, verbosity: Verbosity) {
    let text = |key: &str| record.get(key).and_then(Value::as_str).unwrap_or_default();
    let said = record.pointer("/body/stringValue").and_then(Value::as_str);
    let number = record.get("severityNumber").and_then(Value::as_i64);
    let number = number.unwrap_or_default();
    let (style, sign) = match number {
        17.. => (RED, '!'),
        _ if number >= 13 || text("eventName") == OURS => (YELLOW, '!'),
        _ => (DIM, '-'),
    };
    let _ = writeln!(
        out,
        "{style}{sign} {} ({}){style:#} {}  {DIM}trace {} span {}{DIM:#}",
        Text(text("eventName")),
        Text(text("severityText")),
        Text(said.unwrap_or_default()),
        Text(text("traceId")),
        Text(text("spanId")),
    );
    if verbosity != Verbosity::Detailed {
        return;
    }
    for attribute in members(record, "attributes") {
        let key = attribute.get("key").and_then(Value::as_str);
        let value = attribute.get("value").and_then(Value::as_object);
        let value = value.and_then(|value| value.values().next());
        let shown = match value {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => "(empty)".to_owned(),
        };
        let key = Text(key.unwrap_or_default());
        let _ = writeln!(out, "    {DIM}{key}{DIM:#} {}", Text(&shown));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{SpanId, Timestamp, TraceId};
    use crate::otlp::{AttributeValue, MadeBy, Record, log_request_of, sender};

    #[test]
    fn a_record_is_a_line_and_strangers_texts_steer_nothing() {
        let by = MadeBy {
            name: "sentinel",
            version: "1",
        };
        let record = Record {
            trace: TraceId::from_slice(&[7; 16]).unwrap(),
            span: SpanId::from_slice(&[1; 8]).unwrap(),
            name: "sentinel.anomaly",
            at: Timestamp::from_nanos(42),
            observed: Timestamp::from_nanos(43),
            severity_number: 17,
            severity: "error",
            body: "said \u{1b}[2J twice",
            attributes: &[
                ("sentinel.anomaly.type", AttributeValue::Str("stuck")),
                ("sentinel.waste.calls", AttributeValue::Int(4)),
            ],
        };
        let body = log_request_of(&sender(&[("service.name", "svc")]), by, &record);
        let plain = |verbosity| {
            let text = render_records(&body, verbosity).unwrap();
            anstream::adapter::strip_str(&text).to_string()
        };
        let line = "1 log record\n! sentinel.anomaly (error) said \\x1b[2J twice  \
                    trace 07070707070707070707070707070707 span 0101010101010101\n";
        assert_eq!(plain(Verbosity::Basic), line);
        let more = "    sentinel.anomaly.type stuck\n    sentinel.waste.calls 4\n";
        assert_eq!(plain(Verbosity::Detailed), format!("{line}{more}"));
    }
}
