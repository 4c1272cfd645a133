//! An agent that nobody else knows, read by configuration alone: what stands where, what goes first, and a stuck
//! loop found by the real binary.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "starts the binary itself")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use agent_sentinel::config::{self, Source};
use agent_sentinel::model::{Action, Finish, ModelCall, Outcome, Step, Timestamp, ToolCall};
use agent_sentinel::steps::Reader;
use agent_sentinel::{otlp, steps};
use serde_json::{Map, Value, json};

const SHIPPED: &str = "collector-config/home-grown.yaml";

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    std::fs::read_to_string(path).unwrap()
}

fn load(text: &str) -> steps::Settings {
    match config::load(
        &[Source::file("c.yaml", text)],
        &[],
        &|_| None,
        Timestamp::ZERO,
    ) {
        Ok((settings, warnings)) => {
            assert!(warnings.is_empty(), "{warnings}");
            settings.steps
        }
        Err(report) => panic!("{report}"),
    }
}

/// Settings with these dialects, as YAML in one line.
fn dialects(text: &str) -> steps::Settings {
    load(&format!(
        "receivers: {{otlp: {{}}}}
exporters: {{debug: {{}}}}
processors: {{anomaly: {{dialects: [{text}]}}}}
service: {{pipelines: {{traces: {{receivers: [otlp], processors: [anomaly], exporters: [debug]}}}}}}
"
    ))
}

fn value(value: &Value) -> Value {
    match value {
        Value::String(text) => json!({ "stringValue": text }),
        Value::Bool(yes) => json!({ "boolValue": yes }),
        Value::Number(number) if number.is_i64() => json!({ "intValue": number.to_string() }),
        Value::Number(number) => json!({ "doubleValue": number }),
        Value::Array(list) => {
            json!({ "arrayValue": { "values": list.iter().map(self::value).collect::<Vec<_>>() } })
        }
        Value::Object(map) => json!({ "kvlistValue": { "values": attributes(map) } }),
        Value::Null => json!({}),
    }
}

fn attributes(map: &Map<String, Value>) -> Vec<Value> {
    map.iter()
        .map(|(key, of)| json!({ "key": key, "value": value(of) }))
        .collect()
}

fn span(number: u64, name: &str, attrs: Value) -> Value {
    let start = number * 1_000_000_000;
    json!({
        "traceId": "0102030405060708090a0b0c0d0e0f10",
        "spanId": format!("{number:016x}"),
        "parentSpanId": "00000000000000ff",
        "name": name,
        "startTimeUnixNano": start.to_string(),
        "endTimeUnixNano": (start + 500_000_000).to_string(),
        "attributes": attributes(attrs.as_object().unwrap()),
    })
}

fn request(scope: &str, spans: &[Value]) -> String {
    json!({ "resourceSpans": [{
        "resource": { "attributes": attributes(json!({
            "service.name": "home-grown", "acme.instance": "i-7"
        }).as_object().unwrap()) },
        "scopeSpans": [{ "scope": { "name": scope }, "spans": spans }],
    }]})
    .to_string()
}

fn read(settings: &steps::Settings, scope: &str, spans: &[Value]) -> Vec<Step> {
    let body = otlp::transcode(request(scope, spans).as_bytes()).unwrap();
    let mut reader = Reader::new(Arc::new(settings.clone()));
    reader.read(body).unwrap().steps
}

fn one(settings: &steps::Settings, scope: &str, span: Value) -> Step {
    let mut steps = read(settings, scope, &[span]);
    assert_eq!(steps.len(), 1, "{steps:?}");
    steps.remove(0)
}

fn call(step: &Step) -> &ToolCall {
    match &step.action {
        Action::ToolCall(call) => call,
        other => panic!("{other:?}"),
    }
}

fn answer(step: &Step) -> &ModelCall {
    match &step.action {
        Action::ModelCall(call) => call,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_call_by_the_shipped_example() {
    let settings = load(&file(SHIPPED));
    let mut told = span(
        1,
        "acme step",
        json!({
            "acme.kind": "call", "acme.call.name": "fetch_page", "acme.call.id": "c1",
            "acme.call.with": {"url": "https://example.org", "depth": 2},
            "acme.call.state": "failed", "acme.call.problem": "connection reset",
        }),
    );
    told["events"] = json!([{ "name": "call.output", "attributes":
        attributes(json!({ "body": "nothing came" }).as_object().unwrap()) }]);
    let step = one(&settings, "acme.agent", told);
    let call = call(&step);
    assert_eq!(&*call.tool, "fetch_page");
    assert!(call.call_id.is_some() && call.key.is_some() && call.answer.known);
    assert!(matches!(call.outcome, Outcome::Failed(failure) if !failure.soft && !failure.vague));
    // The instance stands for a chat that the span does not name.
    assert_eq!(step.conversation.as_deref(), Some("i-7"));
    let same = span(
        2,
        "acme step",
        json!({
            "acme.kind": "call", "acme.call.name": "fetch_page",
            "acme.call.with": "{\"depth\": 2, \"url\": \"https://example.org\"}",
            "acme.chat.id": "chat-1", "acme.call.state": true,
        }),
    );
    let step = one(&settings, "acme.agent", same);
    assert_eq!(
        self::call(&step).key,
        call.key,
        "structured or JSON: one call"
    );
    assert_eq!(self::call(&step).outcome, Outcome::Succeeded);
    assert!(!self::call(&step).answer.known, "missing is unknown");
    assert_eq!(step.conversation.as_deref(), Some("chat-1"));
}

#[test]
fn an_answer_and_a_run_by_the_shipped_example() {
    let settings = load(&file(SHIPPED));
    let said = span(
        1,
        "acme step",
        json!({
            "acme.kind": "think", "acme.think.said": "I will look.",
            "acme.think.asks": "[{\"id\": \"c1\", \"name\": \"look\", \"arguments\": {\"at\": 1}}]",
            "acme.think.stopped": "tool_calls", "acme.think.read": 100, "acme.think.wrote": "20",
            "acme.think.usd": 0.25, "acme.tools": ["look", "act"],
            "acme.task": "{\"wanted\": {\"text\": \"make the tests pass\"}}",
        }),
    );
    let step = one(&settings, "acme.agent", said);
    assert_eq!(step.usage.input_tokens, Some(100));
    assert_eq!(step.usage.output_tokens, Some(20));
    assert_eq!(step.usage.cost_usd, Some(0.25));
    let answer = answer(&step);
    assert_eq!(answer.finish, Finish::ToolCalls);
    assert_eq!(&*answer.requested[0].tool, "look");
    assert!(answer.text.is_some() && answer.tools.is_some());
    assert!(answer.goal.is_some_and(|goal| goal.asks_for_tests));
    let run = one(
        &settings,
        "acme.agent",
        span(2, "acme run planner", json!({})),
    );
    assert!(matches!(run.action, Action::AgentRun(_)));
    assert_eq!(run.agent.as_deref(), Some("planner"));
    // Neither another scope's spans nor such of no role.
    assert!(read(&settings, "other", &[span(3, "acme run x", json!({}))]).is_empty());
    assert!(read(&settings, "acme.agent", &[span(3, "db query", json!({}))]).is_empty());
    // A call that names no tool is none.
    let nameless = span(4, "acme step", json!({ "acme.kind": "call" }));
    assert!(read(&settings, "acme.agent", &[nameless]).is_empty());
}

#[test]
fn the_first_that_means_a_span_reads_it_and_built_in_ones_fill_in() {
    let chat = json!({
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "built_in",
        "gen_ai.tool.call.arguments": "{\"a\": 1}", "gen_ai.conversation.id": "theirs", "my.tool": "mine",
        "my.chat": "ours",
    });
    let settings = dialects(
        "{name: a, when: {attributes: {my.missing: '*'}}, tool_name: my.tool}, \
         {name: b, when: {attributes: {my.chat: 'ou*'}}, session: my.chat}, \
         {name: c, when: {span: '*'}, tool_name: my.tool}",
    );
    let step = one(&settings, "", span(1, "x", chat.clone()));
    assert_eq!(&*call(&step).tool, "built_in");
    assert_eq!(step.conversation.as_deref(), Some("ours"));
    assert!(
        call(&step).key.is_some(),
        "as the built-in convention reads it"
    );
    let settings =
        dialects("{name: c, when: {span: x}, role: tool, tool_name: [my.none, my.tool]}");
    let step = one(&settings, "", span(1, "x", chat.clone()));
    assert_eq!(&*call(&step).tool, "mine");
    // What another part of a run says is not mixed in.
    let settings = dialects("{name: c, when: {span: x}, role: model, text: my.chat}");
    let step = one(&settings, "", span(1, "x", chat.clone()));
    assert!(answer(&step).text.is_some() && answer(&step).requested.is_empty());
    // To complete known spans makes no steps of unknown ones.
    let settings = dialects("{name: c, when: {scope: '*'}, session: my.chat}");
    let step = one(&settings, "", span(1, "x", chat.clone()));
    assert_eq!(step.conversation.as_deref(), Some("ours"));
    assert!(
        read(
            &settings,
            "",
            &[span(1, "GET /", json!({ "my.chat": "ours" }))]
        )
        .is_empty()
    );
    // A second span of a call that another one tells.
    let settings = dialects("{name: c, when: {span: x}, role: duplicate}");
    assert!(read(&settings, "", &[span(1, "x", chat)]).is_empty());
}

#[test]
fn the_name_of_a_span_names_the_tool_where_nothing_else_does() {
    let settings = dialects(
        "{name: c, when: {scope: mine}, arguments: my.args, failed_when: {attributes: {http.status: '5*'}}}",
    );
    let step = one(
        &settings,
        "mine",
        span(1, "lookup", json!({ "my.args": "x", "http.status": 503 })),
    );
    assert_eq!(&*call(&step).tool, "lookup");
    assert!(call(&step).outcome.failed());
    let settings = dialects("{name: c, when: {scope: mine}, tool_name: {span_name: 'tool *!'}}");
    let step = one(&settings, "mine", span(1, "tool lookup!", json!({})));
    assert_eq!(&*call(&step).tool, "lookup");
    assert!(read(&settings, "mine", &[span(1, "tool lookup", json!({}))]).is_empty());
}

#[test]
fn cost_is_what_is_configured_and_nothing_else() {
    let attrs = json!({ "my.usd": "0.5", "my.total_cost": 3.5, "my.bad": -1 });
    let settings = dialects("{name: c, when: {scope: mine}, role: model, cost: my.usd}");
    let step = one(&settings, "mine", span(1, "x", attrs.clone()));
    assert_eq!(step.usage.cost_usd, Some(0.5));
    for key in ["", ", cost: my.bad", ", cost: my.none"] {
        let settings = dialects(&format!(
            "{{name: c, when: {{scope: mine}}, role: model{key}}}"
        ));
        let step = one(&settings, "mine", span(1, "x", attrs.clone()));
        assert_eq!(step.usage.cost_usd, None, "{key}");
    }
}

#[test]
fn placeholders_and_words_for_no_error_say_nothing() {
    let settings = dialects(
        "{name: c, when: {scope: mine}, tool_name: t, session: s, error: e, error_type: k, result: r}",
    );
    for word in ["", "null", "none", "false", "0"] {
        let attrs = json!({ "t": "look", "s": "default", "e": word, "k": word, "r": "[REDACTED]" });
        let step = one(&settings, "mine", span(1, "x", attrs));
        assert_eq!(step.conversation, None);
        assert!(!call(&step).outcome.failed(), "{word:?}");
        assert!(!call(&step).answer.known);
    }
    let attrs = json!({ "t": "look", "e": true, "r": "" });
    let step = one(&settings, "mine", span(1, "x", attrs));
    assert!(call(&step).outcome.failed() && call(&step).answer.known);
}

/// Five equal calls with equal answers, as an agent of one's own tells them.
fn stuck() -> String {
    let spans: Vec<Value> = (1..=5)
        .map(|number| {
            span(
                number,
                "acme step",
                json!({
                    "acme.kind": "call", "acme.call.name": "fetch_page", "acme.chat.id": "chat-1",
                    "acme.call.with": "{\"url\": \"https://example.org\"}",
                    "acme.call.gave": "the same page as before", "acme.call.state": "ok",
                }),
            )
        })
        .collect();
    request("acme.agent", &spans)
}

fn replay(arguments: &[&str]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let input = dir.path().join("stuck.jsonl");
    std::fs::write(&input, stuck()).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_agent-sentinel"))
        .arg("replay")
        .args(arguments)
        .arg(&input)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("COLUMNS", "100")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_home_grown_agents_loop_is_found_through_its_configuration() {
    let found = replay(&["--config", SHIPPED, "--format", "json"]);
    let found: Value = serde_json::from_str(found.lines().next().unwrap()).unwrap();
    assert_eq!(found["type"], "stuck");
    assert_eq!(found["tool"], "fetch_page");
    assert_eq!(found["session"], "chat-1");
}

#[test]
fn without_it_what_is_missing_is_said() {
    let text = replay(&["--format", "text"]);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "home-grown: none of 5 spans is a step of an agent",
        "(scope acme.agent)",
        "processors.anomaly.dialects",
    ] {
        assert!(line.contains(words), "{words}: {text}");
    }
    assert_eq!(replay(&["--format", "json"]), "");
}
