//! Spans written by hand, as bodies, and what the engine says of them.
#![expect(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each test file that includes this uses a part of it; spans are sound"
)]

use std::sync::Arc;

use agent_sentinel::config::{self, Purpose, Source};
use agent_sentinel::engine::{Engine, Output};
use agent_sentinel::model::{Signal, Timestamp};
use agent_sentinel::otlp;
use agent_sentinel::steps::{Reader, Reading, Settings};
use bytes::Bytes;
use serde_json::{Map, Value, json};

/// An OTLP/JSON value of the kind that a JSON value has.
fn any(value: &Value) -> Value {
    match value {
        Value::String(text) => json!({ "stringValue": text }),
        Value::Bool(truth) => json!({ "boolValue": truth }),
        Value::Number(number) if number.is_i64() => json!({ "intValue": number.to_string() }),
        Value::Number(number) => json!({ "doubleValue": number }),
        Value::Array(items) => {
            json!({ "arrayValue": { "values": items.iter().map(any).collect::<Vec<_>>() } })
        }
        Value::Object(members) => json!({ "kvlistValue": { "values": attributes(members) } }),
        Value::Null => json!({}),
    }
}

fn attributes(members: &Map<String, Value>) -> Value {
    members
        .iter()
        .map(|(key, value)| json!({ "key": key, "value": any(value) }))
        .collect()
}

/// A span: a tenth of a second long, the second after the last by default.
#[derive(Clone, Debug)]
pub struct Span {
    /// Number of its trace.
    pub trace: u64,
    pub id: u64,
    /// 0: a root.
    pub parent: u64,
    pub name: String,
    /// Milliseconds.
    pub start: u64,
    pub end: u64,
    pub attributes: Value,
    pub status: Value,
    pub events: Vec<Value>,
}

impl Span {
    /// A root of trace 1, `id` seconds after zero.
    pub fn new(id: u64, name: &str, attributes: Value) -> Self {
        Self {
            trace: 1,
            id,
            parent: 0,
            name: name.to_owned(),
            start: id * 1000,
            end: id * 1000 + 100,
            attributes,
            status: json!({}),
            events: Vec::new(),
        }
    }

    pub fn under(mut self, parent: u64) -> Self {
        self.parent = parent;
        self
    }

    pub fn of_trace(mut self, trace: u64) -> Self {
        self.trace = trace;
        self
    }

    pub fn lasting(mut self, start: u64, end: u64) -> Self {
        (self.start, self.end) = (start, end);
        self
    }

    pub fn failed(mut self, message: &str) -> Self {
        self.status = json!({ "code": 2, "message": message });
        self
    }

    pub fn ok(mut self) -> Self {
        self.status = json!({ "code": 1 });
        self
    }

    pub fn event(mut self, name: &str, of: Value) -> Self {
        let of = attributes(of.as_object().unwrap());
        self.events.push(json!({ "name": name, "attributes": of }));
        self
    }

    fn json(&self) -> Value {
        let nanos = |ms: u64| (1_790_000_000_000_000_000 + ms * 1_000_000).to_string();
        let mut span = json!({
            "traceId": format!("{:032x}", self.trace),
            "spanId": format!("{:016x}", self.id),
            "name": self.name,
            "startTimeUnixNano": nanos(self.start),
            "endTimeUnixNano": nanos(self.end),
            "attributes": attributes(self.attributes.as_object().unwrap()),
            "status": self.status,
            "events": self.events,
        });
        if self.parent != 0 {
            span["parentSpanId"] = format!("{:016x}", self.parent).into();
        }
        span
    }
}

/// A request of one scope.
pub fn body(scope: &str, spans: &[Span]) -> Bytes {
    let spans: Vec<Value> = spans.iter().map(Span::json).collect();
    let request = json!({ "resourceSpans": [{
        "resource": { "attributes": attributes(json!({
            "service.name": "s", "process.working_directory": "/w"
        }).as_object().unwrap()) },
        "scopeSpans": [{ "scope": { "name": scope }, "spans": spans }],
    }]});
    otlp::transcode(request.to_string().as_bytes()).unwrap()
}

/// A log record: a name, milliseconds, the trace and the span that it stands in (0: none), attributes, and a body.
#[derive(Clone, Debug)]
pub struct Record {
    pub name: String,
    pub at: u64,
    pub within: (u64, u64),
    pub attributes: Value,
    pub body: Value,
}

impl Record {
    /// One with attributes alone.
    pub fn new(at: u64, name: &str, within: (u64, u64), attributes: Value) -> Self {
        Self {
            name: name.to_owned(),
            at,
            within,
            attributes,
            body: Value::Null,
        }
    }

    /// One that says all in its body.
    pub fn said(at: u64, name: &str, within: (u64, u64), body: Value) -> Self {
        Self {
            body,
            ..Self::new(at, name, within, json!({}))
        }
    }

    fn json(&self) -> Value {
        let mut record = json!({
            "timeUnixNano": (1_790_000_000_000_000_000 + self.at * 1_000_000).to_string(),
            "eventName": self.name,
            "attributes": attributes(self.attributes.as_object().unwrap()),
            "body": any(&self.body),
        });
        if self.within != (0, 0) {
            record["traceId"] = format!("{:032x}", self.within.0).into();
            record["spanId"] = format!("{:016x}", self.within.1).into();
        }
        record
    }
}

/// A request of log records of one scope.
pub fn log_body(scope: &str, records: &[Record]) -> Bytes {
    let records: Vec<Value> = records.iter().map(Record::json).collect();
    let request = json!({ "resourceLogs": [{
        "resource": { "attributes": attributes(json!({
            "service.name": "s", "process.working_directory": "/w"
        }).as_object().unwrap()) },
        "scopeLogs": [{ "scope": { "name": scope }, "logRecords": records }],
    }]});
    let json = request.to_string();
    otlp::transcode_with_hint(Signal::Logs, json.as_bytes())
        .unwrap()
        .0
}

/// What is read of a request.
pub fn read(scope: &str, spans: &[Span]) -> Reading {
    Reader::new(Arc::new(Settings::default()))
        .read(body(scope, spans))
        .unwrap()
}

/// What the engine says of requests that arrive one after the other, by its defaults.
pub fn judge(bodies: &[Bytes]) -> Output {
    let text = r#"
receivers: {otlp: {protocols: {http: {endpoint: "localhost:0"}}}}
processors: {anomaly: {}}
exporters: {debug: {}}
service: {pipelines: {traces: {receivers: [otlp], processors: [anomaly], exporters: [debug]}}}
"#;
    let source = Source::file("spans.yaml", text.to_owned());
    let (settings, _) =
        config::load_for(Purpose::Replay, &[source], &[], &|_| None, Timestamp::ZERO)
            .unwrap_or_else(|report| panic!("{}", report.render(false)));
    let mut reader = Reader::new(Arc::new(settings.steps));
    let mut engine = Engine::new(settings.engine);
    let (mut out, mut now) = (Output::default(), Timestamp::ZERO);
    for body in bodies {
        let reading = reader.read(body.clone()).unwrap();
        now = reading
            .steps
            .iter()
            .map(|step| step.end)
            .fold(now, Ord::max);
        engine.ingest(reading, now, &mut out);
        engine.advance(now, &mut out);
    }
    engine.drain(now, &mut out);
    out
}

/// The types found, in the order of their reports.
pub fn found(out: &Output) -> Vec<&'static str> {
    let reports = out.reports.iter();
    reports
        .map(|report| report.finding.anomaly.name())
        .collect()
}
