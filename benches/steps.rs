//! What it costs to read one span into a step: an ordinary tool span of 2 KB, a model span with a long
//! history, a span that is no step. `cargo bench --bench steps`.

use std::hint::black_box;
use std::sync::Arc;

use agent_sentinel::otlp;
use agent_sentinel::steps::{Reader, Settings};
use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde_json::{Value, json};

/// Spans in one body.
const SPANS: usize = 64;

fn attribute(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

fn body(attributes: impl Fn(usize) -> Vec<Value>) -> Bytes {
    let spans: Vec<Value> = (0..SPANS)
        .map(|number| {
            json!({
                "traceId": "0102030405060708090a0b0c0d0e0f10",
                "spanId": format!("{:016x}", number + 1),
                "parentSpanId": "0102030405060709",
                "name": "x",
                "startTimeUnixNano": "1000",
                "endTimeUnixNano": "2000",
                "attributes": attributes(number),
            })
        })
        .collect();
    let request = json!({ "resourceSpans": [{
        "resource": { "attributes": [attribute("service.name", "bench"), attribute("telemetry.sdk.language", "python")] },
        "scopeSpans": [{ "scope": { "name": "bench" }, "spans": spans }],
    }]});
    otlp::transcode(request.to_string().as_bytes()).unwrap_or_default()
}

/// A tool span of 2 KB: arguments of 150 bytes, each its own; a result of 1.5 KB.
fn tool_spans() -> Bytes {
    let line = "src/module/file.py:120: def compute(self, value): return value + 1\n";
    body(|number| {
        let arguments = json!({ "pattern": format!("compute_{number}"), "path": "/srv/agent/src/module",
            "include": "*.py", "context": 3, "description": "look for the function" });
        vec![
            attribute("gen_ai.operation.name", "execute_tool"),
            attribute("gen_ai.tool.name", "grep_search"),
            attribute("gen_ai.tool.type", "function"),
            attribute("gen_ai.tool.call.id", &format!("call_{number:08x}")),
            attribute("gen_ai.agent.name", "coder"),
            attribute(
                "gen_ai.conversation.id",
                "0b8f1c1e-6d0e-4f3e-9d55-5a1b8e2e1b11",
            ),
            attribute("gen_ai.tool.call.arguments", &arguments.to_string()),
            attribute("gen_ai.tool.call.result", &line.repeat(22)),
        ]
    })
}

/// A model span whose input repeats a history of 120 KB.
fn chat_spans() -> Bytes {
    let mut history =
        vec![json!({ "role": "user", "parts": [{ "type": "text", "content": "Fix the test." }] })];
    for number in 0..40 {
        history.push(json!({ "role": "assistant", "parts": [{ "type": "tool_call", "id": format!("c{number}"),
            "name": "read_file", "arguments": { "path": "src/x.py" } }] }));
        history.push(json!({ "role": "tool", "parts": [{ "type": "tool_call_response", "id": format!("c{number}"),
            "response": "    return \"value\"  # a line of code\n".repeat(75) }] }));
    }
    let input = Value::from(history).to_string();
    let output = json!([{ "role": "assistant", "parts": [{ "type": "text",
        "content": "I will look at the next file." }], "finish_reason": "stop" }]);
    body(|_| {
        vec![
            attribute("gen_ai.operation.name", "chat"),
            attribute("gen_ai.input.messages", &input),
            attribute("gen_ai.output.messages", &output.to_string()),
        ]
    })
}

/// A span of a web server.
fn other_spans() -> Bytes {
    body(|number| {
        let mut attributes: Vec<Value> = [
            "http.request.method",
            "url.path",
            "url.scheme",
            "server.address",
            "network.protocol.version",
            "user_agent.original",
            "client.address",
            "http.route",
            "thread.name",
        ]
        .iter()
        .map(|key| attribute(key, "some value of usual length"))
        .collect();
        attributes.push(attribute("request", &number.to_string()));
        attributes
    })
}

fn spans(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("span");
    group.throughput(Throughput::Elements(SPANS as u64));
    for (name, body) in [
        ("tool_2kb", tool_spans()),
        ("chat_120kb", chat_spans()),
        ("other", other_spans()),
    ] {
        group.bench_function(format!("bytes_only/{name}"), |bencher| {
            bencher.iter(|| otlp::read(black_box(body.clone()), |_| {}));
        });
        let mut reader = Reader::new(Arc::new(Settings::default()));
        group.bench_function(format!("steps/{name}"), |bencher| {
            bencher.iter(|| reader.read(black_box(body.clone())));
        });
    }
    group.finish();
}

criterion_group!(benches, spans);
criterion_main!(benches);
