//! What log records tell of agents: content is joined to its span in any order, over real sockets too; agents that
//! send log records alone are judged; and the records themselves pass as the very bytes they came in.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![expect(
    clippy::disallowed_methods,
    reason = "a test opens sockets and starts processes itself"
)]

#[path = "support/spans.rs"]
mod made;
mod support;

use std::sync::Arc;
use std::time::Duration;

use agent_sentinel::engine::{Engine, Join, Output, Settings};
use agent_sentinel::model::{Carrier, Timestamp};
use agent_sentinel::otlp;
use agent_sentinel::steps::{self, Reader};
use bytes::Bytes;
use proptest::prelude::*;
use serde_json::{Value, json};

use made::{Record, Span, body, found, log_body};
use support::backend::Backend;
use support::collector::{self, Collector};
use support::{http, wire};

const DETAILS: &str = "gen_ai.client.inference.operation.details";

/// A change, and an answer of which its span tells nothing.
fn spans() -> Bytes {
    let edit = json!({
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "edit_file",
        "gen_ai.tool.call.id": "c1", "gen_ai.tool.call.arguments": "{\"path\":\"/w/calc.py\",\"new\":\"a+b\"}",
        "gen_ai.tool.call.result": "1 file changed",
    });
    let answer = json!({
        "gen_ai.operation.name": "chat", "gen_ai.request.model": "m",
        "gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 5,
        "gen_ai.response.finish_reasons": ["stop"],
    });
    body(
        "test",
        &[
            Span::new(1, "execute_tool edit_file", edit).under(9),
            Span::new(2, "chat m", answer).under(9),
        ],
    )
}

/// The answer's content, all at once.
fn details() -> Record {
    let said = json!({
        "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "Fix it."}]}],
        "gen_ai.output.messages": [{"role": "assistant", "finish_reason": "stop",
            "parts": [{"type": "text", "content": "Fixed. All tests pass."}]}],
    });
    Record::new(2100, DETAILS, (1, 2), said)
}

/// The same, message by message.
fn messages() -> [Record; 2] {
    let choice = json!({"index": 0, "finish_reason": "stop",
        "message": {"role": "assistant", "content": "Fixed. All tests pass."}});
    [
        Record::said(
            2000,
            "gen_ai.user.message",
            (1, 2),
            json!({"content": "Fix it."}),
        ),
        Record::said(2100, "gen_ai.choice", (1, 2), choice),
    ]
}

/// A request in a recording.
enum Sent {
    Spans(Bytes),
    Logs(Bytes),
}

/// What is said of requests that arrive a second apart.
fn judge(sent: Vec<Sent>) -> (Output, [u64; 4]) {
    let mut reader = Reader::new(Arc::new(steps::Settings::default()));
    let mut settings = Settings::default();
    settings.sessions.records = true;
    let mut engine = Engine::new(settings);
    let (mut out, mut now) = (
        Output::default(),
        Timestamp::from_nanos(1_790_000_003_000_000_000),
    );
    for request in sent {
        let reading = match request {
            Sent::Spans(body) => reader.read(body).unwrap(),
            Sent::Logs(body) => reader.read_records(body).unwrap().1,
        };
        engine.arrive(reading, now, &mut out);
        now = now.plus(Duration::from_secs(1));
    }
    engine.advance(now, &mut out);
    engine.drain(now, &mut out);
    let joins = engine.counters().joins;
    (out, joins)
}

fn joined(joins: [u64; 4], join: Join) -> u64 {
    joins[join as usize]
}

fn logs(records: &[Record]) -> Sent {
    Sent::Logs(log_body("test", records))
}

#[test]
fn content_goes_to_its_span_in_any_order() {
    let orders: [(&str, Vec<Sent>); 6] = [
        ("log first", vec![logs(&[details()]), Sent::Spans(spans())]),
        ("span first", vec![Sent::Spans(spans()), logs(&[details()])]),
        (
            "messages first",
            vec![logs(&messages()), Sent::Spans(spans())],
        ),
        (
            "messages later",
            vec![Sent::Spans(spans()), logs(&messages())],
        ),
        (
            "in pieces",
            vec![
                logs(&messages()[..1]),
                Sent::Spans(spans()),
                logs(&messages()[1..]),
            ],
        ),
        (
            "twice",
            vec![logs(&[details()]), Sent::Spans(spans()), logs(&[details()])],
        ),
    ];
    for (order, sent) in orders {
        let (out, joins) = judge(sent);
        assert_eq!(found(&out), ["premature_victory"], "{order}");
        let accused = out.reports[0].finding.judged().unwrap().span;
        assert_eq!(accused.to_string(), "0000000000000002", "{order}");
        assert_eq!(joined(joins, Join::Unmatched), 0, "{order}");
        assert!(joined(joins, Join::Joined) > 0, "{order}");
        let left: u32 = out
            .releases
            .iter()
            .filter(|r| !r.synthetic)
            .map(|r| r.count)
            .sum();
        assert_eq!(left, 2, "{order}: every span once");
    }
}

#[test]
fn nothing_is_found_without_the_content_and_the_rest_is_counted() {
    let (out, joins) = judge(vec![Sent::Spans(spans())]);
    assert_eq!((found(&out).len(), joins), (0, [0; 4]));
    let elsewhere = Record {
        within: (7, 7),
        ..details()
    };
    let (out, joins) = judge(vec![Sent::Spans(spans()), logs(&[elsewhere])]);
    assert_eq!(found(&out).len(), 0);
    assert_eq!(joined(joins, Join::Unmatched), 1);
}

#[test]
fn content_that_the_span_told_already_changes_nothing() {
    let told = json!({
        "gen_ai.operation.name": "chat", "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.output.messages": r#"[{"role":"assistant","parts":[{"type":"text","content":"Here is the list."}]}]"#,
    });
    let span = body("test", &[Span::new(2, "chat m", told)]);
    let (out, joins) = judge(vec![Sent::Spans(span), logs(&[details()])]);
    assert_eq!(found(&out).len(), 0, "the span's word stands");
    assert_eq!(joined(joins, Join::Joined), 1);
}

#[test]
fn content_is_waited_for_no_longer_than_a_minute() {
    let mut reader = Reader::new(Arc::new(steps::Settings::default()));
    let mut engine = Engine::new(Settings::default());
    let mut out = Output::default();
    let now = Timestamp::from_nanos(1_790_000_003_000_000_000);
    let content = reader
        .read_records(log_body("test", &[details()]))
        .unwrap()
        .1;
    engine.arrive(content, now, &mut out);
    assert_eq!(engine.next_due(), Some(now.plus(Duration::from_secs(60))));
    engine.advance(now.plus(Duration::from_secs(60)), &mut out);
    assert_eq!(joined(engine.counters().joins, Join::Unmatched), 1);
    assert_eq!(engine.next_due(), None);
}

/// What is said of a captured scenario whose content came as log records.
fn captured(library: &str, scenario: &str, logs_first: bool) -> (Output, [u64; 4]) {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let read = |path: std::path::PathBuf| Bytes::from(std::fs::read(path).unwrap());
    let spans = fixtures.join(format!("captures/{library}/{scenario}.001.pb"));
    let logs = fixtures.join(format!("captured_logs/{library}.{scenario}.logs.pb"));
    let mut sent = vec![Sent::Spans(read(spans)), Sent::Logs(read(logs))];
    if logs_first {
        sent.reverse();
    }
    judge(sent)
}

#[test]
fn captured_content_is_found_in_either_order() {
    for logs_first in [true, false] {
        let of = |library, scenario| captured(library, scenario, logs_first);
        // The spans of the calls tell neither arguments nor results: requests and later inputs do.
        let (out, joins) = of("google-adk-content", "stuck");
        assert_eq!(found(&out), ["failure_loop"], "{logs_first}");
        assert_eq!(joined(joins, Join::Joined), 5);
        assert_eq!(joined(joins, Join::Unmatched), 0);
        let (out, joins) = of("google-adk-content", "healthy");
        assert_eq!((found(&out).len(), joined(joins, Join::Joined)), (0, 5));
        // Here they stand on both: told twice, counted once.
        let (out, _) = of("openlit-openai", "stuck");
        assert_eq!(found(&out).len(), 0, "no call has a span");
        let (out, _) = of("openlit-openai", "empty");
        assert_eq!(found(&out), ["empty_response"; 3]);
    }
}

fn codex(calls: u64, output: impl Fn(u64) -> String) -> Vec<Record> {
    let record = |at, name: &str, more: Value| {
        let mut all = json!({"event.name": name, "conversation.id": "c-1"});
        all.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        Record::new(at, "", (0, 0), all)
    };
    let mut records = vec![record(
        0,
        "codex.user_prompt",
        json!({"prompt": "[REDACTED]"}),
    )];
    for n in 0..calls {
        records.push(record(
            2000 * n + 1000,
            "codex.sse_event",
            json!({"event.kind": "response.completed", "input_token_count": "100", "output_token_count": "20"}),
        ));
        records.push(record(
            2000 * n + 2000,
            "codex.tool_result",
            json!({"tool_name": "shell", "call_id": format!("call-{n}"), "success": "true", "duration_ms": "20",
                "arguments": r#"{"command":["bash","-lc","cat notes.txt"]}"#, "output": output(n)}),
        ));
    }
    records
}

#[test]
fn codex_is_judged_by_its_log_records_alone() {
    let same = |_| "Exit code: 0\nOutput:\nhello, this is the note".to_owned();
    let (out, joins) = judge(vec![logs(&codex(3, same))]);
    assert_eq!(found(&out), ["stuck"]);
    assert_eq!(joined(joins, Join::Alone), 6);
    assert_eq!(&*out.reports[0].session, "c-1");
    assert!(matches!(out.reports[0].carrier, Carrier::Synthetic(_)));
    // In requests of their own, and the last of them sent again.
    let records = codex(3, same);
    let mut each: Vec<Sent> = records
        .iter()
        .map(|one| logs(std::slice::from_ref(one)))
        .collect();
    each.push(logs(&records[records.len() - 1..]));
    let (again, _) = judge(each);
    assert_eq!(found(&again), ["stuck"]);
    assert_eq!(again.reports[0].waste.calls, out.reports[0].waste.calls);
    // Output that changes is progress; previews that were cut prove nothing.
    let (out, _) = judge(vec![logs(&codex(3, |n| {
        format!("note {n} of the day, and more")
    }))]);
    assert_eq!(found(&out).len(), 0);
    let cut = |_| "hello\n[... telemetry preview truncated ...]".to_owned();
    let (out, _) = judge(vec![logs(&codex(3, cut))]);
    assert_eq!(found(&out).len(), 0);
}

#[test]
fn a_prompt_begins_a_turn_of_a_session_told_by_records() {
    let same = |_| "hello, this is the note".to_owned();
    let mut records = codex(4, same);
    let prompt = Record {
        at: 4500,
        ..records[0].clone()
    };
    records.push(prompt);
    let (out, _) = judge(vec![logs(&records)]);
    assert_eq!(found(&out).len(), 0, "two calls a turn");
    assert_eq!(out.closed.len(), 2);
    assert!(out.closed.iter().all(|run| &*run.session == "c-1"));
}

fn claude(name: &str, at: u64, more: Value) -> Record {
    let mut all = json!({"event.name": name, "session.id": "s-1"});
    all.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    Record {
        body: format!("claude_code.{name}").into(),
        ..Record::new(at, "", (0, 0), all)
    }
}

fn failing(at: u64, id: &str, within: (u64, u64)) -> Record {
    let more = json!({"tool_name": "Bash", "tool_use_id": id, "success": "false", "duration_ms": "300",
        "error_type": "ShellError", "error": "Exit code 2: no rule to make target",
        "tool_parameters": r#"{"bash_command":"make","full_command":"make tset"}"#});
    Record {
        within,
        ..claude("tool_result", at, more)
    }
}

#[test]
fn claude_code_is_judged_by_its_log_records_alone() {
    let request =
        json!({"request_id": "r-1", "input_tokens": 10, "output_tokens": 5, "cost_usd": 0.01});
    let response = json!({"request_id": "r-1", "response": "Fixed. All tests pass."});
    let redacted = json!({"request_id": "r-2", "response": "<REDACTED>"});
    let records = [
        claude("user_prompt", 0, json!({"prompt_length": 9})),
        failing(1000, "t-1", (0, 0)),
        failing(2000, "t-2", (0, 0)),
        failing(3000, "t-3", (0, 0)),
        claude("assistant_response", 4001, response),
        claude("api_request", 4000, request),
        claude("assistant_response", 4002, redacted),
    ];
    let (out, joins) = judge(vec![logs(&records)]);
    assert_eq!(found(&out), ["failure_loop", "premature_victory"]);
    assert_eq!(
        joined(joins, Join::Alone),
        4,
        "a response is no step beside its request"
    );
    assert_eq!(joined(joins, Join::Joined), 1);
    let each = records
        .iter()
        .map(|one| logs(std::slice::from_ref(one)))
        .collect();
    assert_eq!(found(&judge(each).0), ["failure_loop", "premature_victory"]);
}

#[test]
fn what_spans_tell_too_is_told_once() {
    let tool = |n: u64| {
        let told = json!({"tool_name": "Bash", "tool_use_id": format!("t-{n}"), "session.id": "s-1",
            "full_command": "make tset", "success": false, "error": "Exit code 2: no rule to make target"});
        Span::new(n, "claude_code.tool", told).under(9)
    };
    let two = body("spans", &[tool(1), tool(2)]);
    // In the trace of the spans: the same calls by their ids.
    let within = [failing(1100, "t-1", (1, 1)), failing(2100, "t-2", (1, 2))];
    let (out, _) = judge(vec![Sent::Spans(two.clone()), logs(&within)]);
    assert_eq!(
        found(&out).len(),
        0,
        "two calls, however often they are told"
    );
    // Outside of any trace: left to the spans of the session.
    let alone = [failing(1100, "t-1", (0, 0)), failing(2100, "t-2", (0, 0))];
    let (out, joins) = judge(vec![Sent::Spans(two), logs(&alone)]);
    assert_eq!(found(&out).len(), 0);
    assert_eq!(joined(joins, Join::Left), 2);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Whatever records tell, they are passed on as they would be unread.
    #[test]
    fn reading_events_changes_no_byte_that_is_passed_on(
        names in proptest::collection::vec(prop_oneof![
            Just(DETAILS), Just("gen_ai.choice"), Just("gen_ai.user.message"), Just("claude_code.tool_result"),
            Just("claude_code.user_prompt"), Just("codex.tool_result"), Just("other"),
        ], 0..8),
        text in ".{0,40}",
        cut in any::<prop::sample::Index>(),
    ) {
        let records: Vec<Record> = (0u64..).zip(&names).map(|(n, name)| Record {
            body: text.clone().into(),
            ..Record::new(n, name, (n, n), json!({"session.id": text, "conversation.id": text, "tool_name": text,
                "arguments": text, "gen_ai.output.messages": text, "gen_ai.input.messages": text}))
        }).collect();
        let mut bytes = log_body("test", &records).to_vec();
        if let Some(at) = (!bytes.is_empty()).then(|| cut.index(bytes.len())) {
            bytes[at] ^= 0x55;
        }
        for sent in [log_body("test", &records), bytes.into()] {
            let plain = otlp::read_records(sent.clone(), |_| {});
            let read = Reader::new(Arc::new(steps::Settings::default())).read_records(sent);
            match (plain, read) {
                (Ok(plain), Ok((read, _))) => {
                    prop_assert_eq!(plain.body, read.body);
                    prop_assert_eq!(plain.records, read.records);
                    prop_assert_eq!(plain.malformed.total(), read.malformed.total());
                }
                (Err(plain), Err(read)) => prop_assert_eq!(plain.to_string(), read.to_string()),
                (plain, read) => prop_assert!(false, "{:?} {:?}", plain.is_ok(), read.is_ok()),
            }
        }
    }
}

/// A collector that reads the log records of its pipeline.
struct House {
    spans: Backend,
    logs: Backend,
    collector: Collector,
}

impl House {
    async fn open(processors: &str) -> Self {
        let (spans, logs) = (Backend::start().await, Backend::start().await);
        let to = |backend: &Backend| format!("{{endpoint: 'http://{}'}}", backend.address());
        let config = collector::config(&[("otlp_grpc", to(&spans))])
            .replacen("exporters:\n", &format!("exporters:\n  otlp_http/logs: {}\n", to(&logs)), 1)
            .replace(
                "exporters: [otlp_grpc]}",
                &format!("exporters: [otlp_grpc]}}\n    logs: {{receivers: [otlp], {processors}exporters: [otlp_http/logs]}}"),
            );
        let collector = Collector::start(&config);
        Self {
            spans,
            logs,
            collector,
        }
    }

    async fn post(&self, path: &str, body: &[u8]) {
        let front = self.collector.address("http");
        let (status, answer) = http::post(front, path, "application/x-protobuf", body).await;
        assert_eq!(status, 200, "{answer}");
    }

    /// Waits until the engine has counted this.
    async fn counted(&self, series: &str) {
        let page = self.collector.address("metrics");
        while !http::get(page, "/metrics").await.1.contains(series) {
            tokio::task::yield_now().await;
        }
    }
}

fn marked(spans: &Backend) -> bool {
    let bodies = spans.bodies();
    wire::all_spans(&bodies).iter().any(|span| {
        wire::attribute_keys(span)
            .iter()
            .any(|key| key == "sentinel.anomaly.type")
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn over_sockets_content_that_comes_first_marks_the_span() {
    let house = House::open("processors: [anomaly], ").await;
    let sent = log_body("test", &[details()]);
    house.post("/v1/logs", &sent).await;
    house.post("/v1/traces", &spans()).await;
    house.spans.until_spans(2).await;
    assert!(marked(&house.spans));
    house.logs.until("the record", |got| got.len() == 1).await;
    assert_eq!(house.logs.bodies()[0], sent);
    house
        .counted(r#"sentinel_log_events_total{outcome="joined"} 1"#)
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_sockets_content_that_comes_later_makes_a_record() {
    let house = House::open("processors: [anomaly], ").await;
    house.post("/v1/traces", &spans()).await;
    house.spans.until_spans(2).await;
    // In two requests.
    let sent = messages().map(|one| log_body("test", &[one]));
    for body in &sent {
        house.post("/v1/logs", body).await;
    }
    house
        .logs
        .until("records and finding", |got| got.len() == 3)
        .await;
    let bodies = house.logs.bodies();
    assert!(
        sent.iter().all(|body| bodies.contains(body)),
        "as they came"
    );
    let told = bodies.iter().find(|body| !sent.contains(body)).unwrap();
    let mut about = Vec::new();
    otlp::read_records(told.clone(), |one| {
        about.push((one.record.event_name().to_owned(), one.record.span_id()));
    })
    .unwrap();
    assert_eq!(about.len(), 1);
    assert_eq!(about[0].0, "sentinel.anomaly");
    assert_eq!(about[0].1.unwrap().to_string(), "0000000000000002");
    assert!(!marked(&house.spans), "the span had left");
}

#[tokio::test(flavor = "multi_thread")]
async fn over_sockets_a_record_whose_span_never_comes_passes() {
    let house = House::open("processors: [anomaly], ").await;
    let sent = log_body("test", &[details()]);
    house.post("/v1/logs", &sent).await;
    house.logs.until("the record", |got| got.len() == 1).await;
    let ended = house.collector.stop();
    assert_eq!(
        ended.status.code(),
        Some(0),
        "{}",
        collector::show(&ended.log)
    );
    assert_eq!(house.logs.bodies(), [sent]);
    assert!(house.spans.got().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_processor_nothing_is_joined() {
    let house = House::open("").await;
    let sent = log_body("test", &[details()]);
    house.post("/v1/logs", &sent).await;
    house.post("/v1/traces", &spans()).await;
    house.spans.until_spans(2).await;
    house.logs.until("the record", |got| got.len() == 1).await;
    assert!(!marked(&house.spans));
    house
        .counted(r#"sentinel_log_events_total{outcome="joined"} 0"#)
        .await;
}
