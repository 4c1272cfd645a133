//! What was judged and marked may be judged again: the same marks, once.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![expect(
    clippy::disallowed_methods,
    reason = "a test keeps its files and starts the program itself"
)]

#[path = "support/field.rs"]
mod field;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use agent_sentinel::otlp;
use field::{Case, Dialect, Shape};
use serde_json::{Value, json};

/// What replay writes of an input, and what it prints.
fn annotate(folder: &Path, input: &str, content: &[u8]) -> (String, String) {
    annotate_with(folder, input, content, &[])
}

fn annotate_with(folder: &Path, input: &str, content: &[u8], more: &[&str]) -> (String, String) {
    let path = folder.join(input);
    std::fs::write(&path, content).unwrap();
    let out = folder.join("annotated.jsonl");
    let output = Command::new(env!("CARGO_BIN_EXE_agent-sentinel"))
        .args(["replay", "--format", "json", "--annotated"])
        .args([&out, &path])
        .args(more)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let printed = String::from_utf8(output.stdout).unwrap();
    (std::fs::read_to_string(&out).unwrap(), printed)
}

fn each<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

/// Every span with its resource and scope, however they are put into requests, in an order of their own.
fn spans(lines: &str) -> Vec<String> {
    let mut all = Vec::new();
    for line in lines.lines() {
        let request: Value = serde_json::from_str(line).unwrap();
        for resource in each(&request, "resourceSpans") {
            for scope in each(resource, "scopeSpans") {
                for span in each(scope, "spans") {
                    all.push(format!(
                        "{span} {} {}",
                        resource["resource"], scope["scope"]
                    ));
                }
            }
        }
    }
    all.sort();
    all
}

fn mentions(spans: &[String], what: &str) -> usize {
    spans.iter().filter(|span| span.contains(what)).count()
}

/// Judges an input and its output again; returns what is written then.
fn judged_again(input: &str, content: &[u8]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let (once, _) = annotate(folder.path(), input, content);
    let want = spans(&once);
    let same = |name: &str, content: &[u8]| {
        let (twice, _) = annotate(folder.path(), name, content);
        let got = spans(&twice);
        let wrong: Vec<_> = got.iter().filter(|span| !want.contains(span)).collect();
        assert!(
            wrong.is_empty() && got.len() == want.len(),
            "{input} as {name}: {} of {}, {} differ, first {:?}",
            got.len(),
            want.len(),
            wrong.len(),
            wrong.first()
        );
    };
    same("again.jsonl", once.as_bytes());
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, once.as_bytes()).unwrap();
    same("again.jsonl.gz", &gzip.finish().unwrap());
    let mut bodies = Vec::new();
    let (mut stamped, mut batches) = (String::new(), String::new());
    for (at, line) in (1u64..).zip(once.lines()) {
        bodies.extend_from_slice(&otlp::transcode(line.as_bytes()).unwrap());
        let stamp = 1_790_000_000_000_000_000 + at * 1_000_000;
        writeln!(
            stamped,
            r#"{{"receivedUnixNano":"{stamp}","request":{line}}}"#
        )
        .unwrap();
        let request: Value = serde_json::from_str(line).unwrap();
        writeln!(
            batches,
            "{}",
            json!({ "batches": request["resourceSpans"] })
        )
        .unwrap();
    }
    // Requests joined are one request.
    same("again.pb", &bodies);
    same("again.stamped.json", stamped.as_bytes());
    same("again.batches.json", batches.as_bytes());
    want
}

/// A status that was set where there was none is no failure of the step when it is judged again.
#[test]
fn a_status_of_ours_is_none_of_the_steps() {
    let attribute = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let spans: Vec<Value> = (1..=3u64)
        .map(|n| {
            json!({
                "traceId": format!("{:032x}", 1), "spanId": format!("{n:016x}"), "name": "call",
                "startTimeUnixNano": (n * 1_000_000_000).to_string(),
                "endTimeUnixNano": (n * 1_000_000_000 + 1).to_string(),
                "attributes": [
                    attribute("gen_ai.operation.name", "execute_tool"),
                    attribute("gen_ai.tool.name", "search"),
                    attribute("gen_ai.tool.call.arguments", r#"{"query":"retry"}"#),
                    attribute("gen_ai.tool.call.result", "3 pages: a, b, c"),
                ],
            })
        })
        .collect();
    let request = json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).to_string();
    let folder = tempfile::tempdir().unwrap();
    let wanted = [
        "--config",
        "yaml:processors::anomaly::annotate::status: error_if_unset",
    ];
    let (once, told) = annotate_with(folder.path(), "in.jsonl", request.as_bytes(), &wanted);
    assert!(once.contains("sentinel.anomaly.status_set"), "{once}");
    assert!(told.contains(r#""type":"stuck""#), "{told}");
    let (twice, again) = annotate_with(folder.path(), "again.jsonl", once.as_bytes(), &wanted);
    assert_eq!((once, told), (twice, again));
}

/// All cases as lines of a recording.
fn recording(shape: Shape, dialect: Dialect) -> String {
    let mut cases: Vec<Case> = field::load("cases");
    cases.extend(field::load("rivals"));
    let mut lines = String::new();
    for case in &cases {
        for request in &field::requests(case, shape) {
            let document = field::document(case, request, dialect);
            writeln!(lines, "{document}").unwrap();
        }
    }
    lines
}

#[test]
fn marks_are_written_once() {
    for (shape, dialect) in [
        (Shape::Plain, Dialect::GenAi),
        (Shape::Sdk, Dialect::OpenInference),
    ] {
        let lines = recording(shape, dialect);
        let spans = judged_again("cases.jsonl", lines.as_bytes());
        assert!(mentions(&spans, "sentinel.anomaly.detected") > 50);
        assert!(mentions(&spans, "sentinel.note.type") > 2);
    }
}

#[test]
fn the_demo_and_captures_are_written_once() {
    let spans = judged_again("demo.jsonl", include_bytes!("../src/cli/demo/runs.jsonl"));
    assert!(mentions(&spans, "sentinel.run.anomaly_count") > 0);
    for (name, capture) in [
        (
            "langchain-dual",
            &include_bytes!("fixtures/captures/langchain-dual/healthy.001.pb")[..],
        ),
        (
            "pydantic-ai",
            include_bytes!("fixtures/captures/pydantic-ai/stuck.001.pb"),
        ),
        (
            "strands",
            include_bytes!("fixtures/captures/strands/unknown_tool.001.pb"),
        ),
    ] {
        judged_again(&format!("{name}.pb"), capture);
    }
}

#[test]
fn findings_are_printed_again() {
    let folder = tempfile::tempdir().unwrap();
    let (once, first) = annotate(
        folder.path(),
        "demo.jsonl",
        include_bytes!("../src/cli/demo/runs.jsonl"),
    );
    let (_, second) = annotate(folder.path(), "again.jsonl", once.as_bytes());
    let found = |printed: &str| {
        let record = |line: &str| {
            let record: Value = serde_json::from_str(line).unwrap();
            [
                &record["type"],
                &record["span_id"],
                &record["state"],
                &record["severity"],
            ]
            .map(ToString::to_string)
        };
        let mut found: Vec<_> = printed.lines().map(record).collect();
        found.sort();
        found
    };
    assert!(!found(&first).is_empty());
    assert_eq!(found(&first), found(&second));
}
