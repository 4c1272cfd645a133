//! Content that is switched off is said loudly: once for each service, with the setting that turns it on.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![expect(
    clippy::disallowed_methods,
    reason = "reads fixtures, opens sockets and starts the binary itself"
)]

mod support;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent_sentinel::engine::{Engine, Notice, Output};
use agent_sentinel::model::Timestamp;
use agent_sentinel::otlp;
use agent_sentinel::steps::{Reader, Settings};
use serde_json::{Value, json};

use support::backend::Backend;
use support::collector::{self, Collector};
use support::http;

fn notices(bodies: impl IntoIterator<Item = bytes::Bytes>, end: bool) -> Vec<Notice> {
    let mut reader = Reader::new(Arc::new(Settings::default()));
    let mut engine = Engine::new(Default::default());
    let mut out = Output::default();
    for (at, body) in bodies.into_iter().enumerate() {
        let now = Timestamp::from_nanos((at as u64 + 1) * 1_000_000);
        engine.ingest(reader.read(body).unwrap(), now, &mut out);
    }
    if end {
        engine.drain(Timestamp::from_nanos(u64::MAX / 2), &mut out);
    }
    out.notices
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// What is said of each library that was captured, over all its scenarios.
#[test]
fn every_capture_is_told_what_it_leaves_out() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/captures");
    let mut told = String::new();
    for library in files(&root).iter().filter(|path| path.is_dir()) {
        let bodies = files(library);
        let bodies = bodies
            .iter()
            .filter(|file| file.extension().is_some_and(|e| e == "pb"))
            .filter(|file| !file.to_str().unwrap().contains(".logs."))
            .map(|file| bytes::Bytes::from(std::fs::read(file).unwrap()));
        let name = library.file_name().unwrap().to_str().unwrap();
        for notice in notices(bodies, true) {
            let _ = writeln!(
                told,
                "{name}: {}\n    {}",
                notice.missing_words(),
                notice.advice()
            );
        }
    }
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("content_off", told);
    });
}

/// Tool calls of one service, each with what `attributes` adds.
fn request(service: &str, scope: &str, spans: u64, attributes: &Value) -> String {
    let attributes: Vec<Value> = attributes
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, text)| json!({ "key": key, "value": { "stringValue": text } }))
        .collect();
    let spans: Vec<Value> = (1..=spans)
        .map(|number| {
            json!({
                "traceId": format!("{:032x}", 7),
                "spanId": format!("{number:016x}"),
                "name": "x",
                "startTimeUnixNano": (number * 1_000_000).to_string(),
                "endTimeUnixNano": (number * 1_000_000 + 5).to_string(),
                "attributes": attributes,
            })
        })
        .collect();
    json!({ "resourceSpans": [{
        "resource": { "attributes": [{ "key": "service.name", "value": { "stringValue": service } }] },
        "scopeSpans": [{ "scope": { "name": scope }, "spans": spans }],
    }]})
    .to_string()
}

fn body(text: &str) -> bytes::Bytes {
    otlp::transcode(text.as_bytes()).unwrap()
}

fn call() -> Value {
    json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look" })
}

#[test]
fn a_service_is_told_of_once_and_not_before_its_eighth_step() {
    let seven = body(&request("a", "pydantic-ai", 7, &call()));
    assert_eq!(notices([seven.clone()], false), []);
    let told = notices([seven.clone(), seven.clone(), seven.clone(), seven], true);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].missing_words(), "arguments, results");
    assert_eq!(
        told[0].advice(),
        "pydantic-ai: InstrumentationSettings(include_content=True)"
    );
}

#[test]
fn what_comes_with_some_calls_is_not_missing() {
    let mut full = call();
    full["gen_ai.tool.call.arguments"] = "{}".into();
    full["gen_ai.tool.call.result"] = "done".into();
    let bodies = [
        body(&request("a", "x", 3, &full)),
        body(&request("a", "x", 30, &call())),
    ];
    assert_eq!(notices(bodies, true), []);
}

#[test]
fn services_told_of_are_few_a_minute_and_bounded() {
    let many = |from: usize, to: usize| {
        (from..to).map(|n| body(&request(&format!("s{n}"), "x", 8, &call())))
    };
    assert_eq!(notices(many(0, 50), false).len(), 10);
    assert_eq!(notices(many(0, 400), true).len(), 256);
}

#[test]
fn spans_of_no_known_convention_are_said_too_and_with_their_scope() {
    let other = json!({ "acme.tool": "look" });
    let few = body(&request("a", "acme.agent", 99, &other));
    assert_eq!(notices([few], false), []);
    let many = body(&request("a", "acme.agent", 100, &other));
    let told = notices([many], false);
    assert_eq!(told.len(), 1);
    assert!(told[0].advice().contains("(scope acme.agent)"));
    assert!(told[0].advice().contains("processors.anomaly.dialects"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_collector_says_so_in_its_log_and_in_a_metric() {
    let backend = Backend::start().await;
    let exporter = format!("{{endpoint: 'http://{}'}}", backend.address());
    let mut collector = Collector::start(&collector::config(&[("otlp_grpc", exporter)]));
    let text = request("shop", "agent_framework", 8, &call());
    let (status, _) = http::post(
        collector.address("http"),
        "/v1/traces",
        "application/json",
        text.as_bytes(),
    )
    .await;
    assert_eq!(status, 200);
    let line = collector.wait_for("content is off");
    assert_eq!(line["level"], "WARN");
    assert_eq!(line["service"], "shop");
    assert_eq!(line["missing"], "arguments, results");
    let message = line["message"].as_str().unwrap();
    assert!(message.contains("ENABLE_SENSITIVE_DATA=true"), "{message}");
    let series = "sentinel_content_missing{service=\"shop\",content=\"arguments\"} 1";
    loop {
        let (_, page) = http::get(collector.address("metrics"), "/metrics").await;
        if page.contains(series) {
            break;
        }
        tokio::task::yield_now().await;
    }
    collector.stop();
}
