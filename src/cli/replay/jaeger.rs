//! Jaeger's own JSON, as its user interface downloads a trace and `GET /api/traces` answers: made into OTLP/JSON.
//!
//! What it spells as tags is put back where OTLP has it: status, kind, scope. Which bytes came to Jaeger is not known
//! any more: an integer that was sent as a text is an integer again only where Jaeger says so.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// `{"data": [...]}`.
#[derive(Debug, Deserialize)]
struct Answer {
    data: Vec<Trace>,
}

#[derive(Debug, Deserialize)]
struct Trace {
    /// Read one by one: one that is of no use takes no other along.
    #[serde(default)]
    spans: Vec<Value>,
    #[serde(default)]
    processes: HashMap<String, Process>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Process {
    #[serde(default)]
    service_name: String,
    #[serde(default)]
    tags: Vec<Tag>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Span {
    #[serde(rename = "traceID")]
    trace_id: String,
    #[serde(rename = "spanID")]
    span_id: String,
    /// Old versions write the parent here.
    #[serde(default, rename = "parentSpanID")]
    parent_span_id: String,
    #[serde(default)]
    operation_name: String,
    #[serde(default)]
    references: Vec<Reference>,
    /// Microseconds since the epoch.
    #[serde(default)]
    start_time: u64,
    /// Microseconds.
    #[serde(default)]
    duration: u64,
    #[serde(default)]
    tags: Vec<Tag>,
    #[serde(default)]
    logs: Vec<Log>,
    #[serde(default, rename = "processID")]
    process_id: String,
    #[serde(default)]
    process: Option<Process>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reference {
    #[serde(default)]
    ref_type: String,
    #[serde(default, rename = "traceID")]
    trace_id: String,
    #[serde(default, rename = "spanID")]
    span_id: String,
}

#[derive(Clone, Debug, Deserialize)]
struct Tag {
    key: String,
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    value: Value,
}

#[derive(Debug, Deserialize)]
struct Log {
    /// Microseconds since the epoch.
    #[serde(default)]
    timestamp: u64,
    #[serde(default)]
    fields: Vec<Tag>,
}

/// The request in an answer of Jaeger's.
///
/// # Errors
/// The text is not what Jaeger writes.
pub(super) fn to_otlp(text: &str) -> Result<String, String> {
    let answer: Answer =
        serde_json::from_str(text).map_err(|error| format!("Jaeger's JSON: {error}"))?;
    let mut out = "{\"resourceSpans\":[".to_owned();
    let mut parts = 0u32;
    for trace in answer.data {
        for span in trace.spans {
            let part = match serde_json::from_value::<Span>(span) {
                Ok(span) => {
                    let listed = trace.processes.get(&span.process_id);
                    resource_spans(&span, span.process.as_ref().or(listed))
                }
                // Without ids it is cut out and counted by whoever reads it next.
                Err(error) => {
                    json!({ "scopeSpans": [{ "spans": [{ "name": error.to_string() }] }] })
                }
            };
            if parts > 0 {
                out.push(',');
            }
            parts += 1;
            // A part at a time: a tree of them all would take many times the text.
            out.push_str(&part.to_string());
        }
    }
    out.push_str("]}");
    Ok(out)
}

/// One span with its resource and scope: what belongs together is found again by the reader.
fn resource_spans(span: &Span, process: Option<&Process>) -> Value {
    let resource = process.map_or(Value::Null, |process| {
        let name = Tag {
            key: "service.name".to_owned(),
            kind: "string".to_owned(),
            value: process.service_name.as_str().into(),
        };
        let tags = process.tags.iter().cloned().chain([name]);
        json!({ "attributes": attributes(tags) })
    });
    let mut scope = Map::new();
    for (key, member) in [
        ("otel.scope.name", "name"),
        ("otel.scope.version", "version"),
        ("otel.library.name", "name"),
        ("otel.library.version", "version"),
    ] {
        if let Some(value) = text_of(&span.tags, key) {
            scope.entry(member).or_insert_with(|| value.into());
        }
    }
    json!({
        "resource": resource,
        "scopeSpans": [{ "scope": scope, "spans": [otlp_span(span)] }],
    })
}

fn otlp_span(span: &Span) -> Value {
    let parent = |reference: &&Reference| reference.ref_type == "CHILD_OF";
    let parent = span.references.iter().find(parent);
    let parent = parent.filter(|parent| id(&parent.trace_id, 32) == id(&span.trace_id, 32));
    let parent = parent.map_or(span.parent_span_id.as_str(), |parent| &parent.span_id);
    let own = span.tags.iter().filter(|tag| !is_put_back(tag)).cloned();
    let events = span.logs.iter().map(event);
    json!({
        "traceId": id(&span.trace_id, 32),
        "spanId": id(&span.span_id, 16),
        "parentSpanId": if parent.is_empty() { String::new() } else { id(parent, 16) },
        "name": span.operation_name,
        "kind": kind(text_of(&span.tags, "span.kind").unwrap_or_default()),
        "startTimeUnixNano": nanos(span.start_time),
        "endTimeUnixNano": nanos(span.start_time.saturating_add(span.duration)),
        "attributes": attributes(own),
        "events": events.collect::<Vec<Value>>(),
        "status": status(&span.tags),
    })
}

/// Tags that tell what OTLP has a field for.
fn is_put_back(tag: &Tag) -> bool {
    // `error: "disk full"` says more than that it failed.
    if tag.key == "error" {
        return tag.value.is_boolean() || tag.value == "true" || tag.value == "false";
    }
    matches!(
        tag.key.as_str(),
        "span.kind"
            | "otel.status_code"
            | "otel.status_description"
            | "otel.scope.name"
            | "otel.scope.version"
            | "otel.library.name"
            | "otel.library.version"
            | "internal.span.format"
    )
}

fn status(tags: &[Tag]) -> Value {
    let failed = tags
        .iter()
        .any(|tag| tag.key == "error" && (tag.value == Value::Bool(true) || tag.value == "true"));
    let code = match text_of(tags, "otel.status_code") {
        Some("OK") => 1,
        Some("ERROR") => 2,
        _ if failed => 2,
        _ => 0,
    };
    let message = text_of(tags, "otel.status_description").unwrap_or_default();
    json!({ "code": code, "message": message })
}

fn event(log: &Log) -> Value {
    let name = text_of(&log.fields, "event").unwrap_or("log");
    let fields = log.fields.iter().filter(|tag| tag.key != "event").cloned();
    json!({ "timeUnixNano": nanos(log.timestamp), "name": name, "attributes": attributes(fields) })
}

fn attributes(tags: impl Iterator<Item = Tag>) -> Value {
    tags.map(|tag| json!({ "key": tag.key, "value": value(&tag) }))
        .collect()
}

/// A tag's value in the type that Jaeger says.
fn value(tag: &Tag) -> Value {
    let text = || match &tag.value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match (tag.kind.as_str(), &tag.value) {
        ("bool", Value::Bool(yes)) => json!({ "boolValue": yes }),
        ("bool", Value::String(yes)) => json!({ "boolValue": yes == "true" }),
        // Large ones come as texts.
        ("int64", _) if text().parse::<i64>().is_ok() => json!({ "intValue": text() }),
        ("float64", _) => match text().parse::<f64>() {
            Ok(number) if number.is_finite() => json!({ "doubleValue": number }),
            _ => json!({ "stringValue": text() }),
        },
        _ => json!({ "stringValue": text() }),
    }
}

fn text_of<'a>(tags: &'a [Tag], key: &str) -> Option<&'a str> {
    tags.iter()
        .find(|tag| tag.key == key)
        .and_then(|tag| tag.value.as_str())
}

/// An id with the zeros that Jaeger leaves away. What is no id stays as it is, for the reader to report.
fn id(written: &str, digits: usize) -> String {
    format!("{written:0>digits$}")
}

fn nanos(micros: u64) -> String {
    micros.saturating_mul(1000).to_string()
}

fn kind(written: &str) -> u8 {
    match written {
        "internal" => 1,
        "server" => 2,
        "client" => 3,
        "producer" => 4,
        "consumer" => 5,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DOWNLOAD: &str = r#"{"data":[{"traceID":"1f","spans":[
        {"traceID":"1f","spanID":"a","operationName":"execute_tool read_file",
         "references":[{"refType":"CHILD_OF","traceID":"1f","spanID":"b"}],
         "startTime":1790000000000000,"duration":2500,"processID":"p1","warnings":null,
         "tags":[{"key":"gen_ai.tool.name","type":"string","value":"read_file"},
                 {"key":"n","type":"int64","value":"9007199254740993"},{"key":"x","type":"float64","value":0.5},
                 {"key":"yes","type":"bool","value":true},
                 {"key":"span.kind","type":"string","value":"internal"},
                 {"key":"otel.scope.name","type":"string","value":"agents"},
                 {"key":"otel.status_code","type":"string","value":"ERROR"},
                 {"key":"otel.status_description","type":"string","value":"ENOENT"},
                 {"key":"error","type":"bool","value":true}],
         "logs":[{"timestamp":1790000000001000,"fields":[
            {"key":"event","type":"string","value":"exception"},
            {"key":"exception.type","type":"string","value":"OSError"}]}]}],
        "processes":{"p1":{"serviceName":"shop","tags":[{"key":"host.name","type":"string","value":"h"}]}}}]}"#;

    #[test]
    fn a_download_becomes_what_was_sent() {
        let otlp: Value = serde_json::from_str(&to_otlp(DOWNLOAD).unwrap()).unwrap();
        insta::assert_snapshot!(serde_json::to_string_pretty(&otlp).unwrap());
        crate::otlp::transcode(otlp.to_string().as_bytes()).unwrap();
    }

    #[test]
    fn what_is_no_answer_of_jaeger_is_said() {
        assert!(to_otlp(r#"{"data":{}}"#).is_err());
        let words = DOWNLOAD.replace(
            "\"error\",\"type\":\"bool\",\"value\":true",
            "\"error\",\"type\":\"string\",\"value\":\"disk full\"",
        );
        assert!(to_otlp(&words).unwrap().contains("disk full"));
        // One bad span takes no other along.
        let bad = DOWNLOAD.replacen("\"spans\":[", "\"spans\":[{\"spanID\":\"a\"},", 1);
        let otlp = to_otlp(&bad).unwrap();
        assert!(
            otlp.contains("traceID") && otlp.contains("read_file"),
            "{otlp}"
        );
        let body = crate::otlp::transcode(otlp.as_bytes()).unwrap();
        let mut seen = 0;
        let read = crate::otlp::read(body, |_| seen += 1).unwrap();
        assert_eq!((seen, read.malformed.total()), (1, 1));
    }

    proptest! {
        #[test]
        fn no_answer_breaks_it(cut in 0..DOWNLOAD.len(), put in "\\PC{0,12}") {
            let cut = DOWNLOAD.floor_char_boundary(cut);
            let text = format!("{}{put}{}", &DOWNLOAD[..cut], &DOWNLOAD[cut..]);
            if let Ok(otlp) = to_otlp(&text) {
                let _ = crate::otlp::transcode(otlp.as_bytes());
            }
        }
    }
}
