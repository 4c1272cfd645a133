//! Tool definitions from the bytes of a span to the finding: whose they are, when they arrive, and what they
//! prove about arguments (A12) and names (A11), and hints about tools.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::sync::Arc;

use agent_sentinel::detectors::Rules;
use agent_sentinel::engine::{Engine, Output, Settings};
use agent_sentinel::model::{AnomalyType, Fact, Severity, Timestamp};
use agent_sentinel::otlp;
use agent_sentinel::steps::{self, Reader};
use serde_json::{Value, json};

const SECOND: u64 = 1_000_000_000;

/// An OTLP/JSON value of the kind that a JSON value has.
fn any(value: &Value) -> Value {
    match value {
        Value::Bool(truth) => json!({ "boolValue": truth }),
        Value::String(text) => json!({ "stringValue": text }),
        other => json!({ "stringValue": other.to_string() }),
    }
}

/// A span of one trace: number, parent, start and end in seconds, attributes.
fn span(number: u64, parent: u64, times: (u64, u64), attributes: &Value) -> Value {
    let attributes = attributes.as_object().unwrap().iter();
    let attributes: Vec<Value> = attributes
        .map(|(key, value)| json!({ "key": key, "value": any(value) }))
        .collect();
    let mut span = json!({
        "traceId": "0102030405060708090a0b0c0d0e0f10",
        "spanId": format!("{number:016x}"),
        "name": "x",
        "startTimeUnixNano": (times.0 * SECOND).to_string(),
        "endTimeUnixNano": (times.1 * SECOND).to_string(),
        "attributes": attributes,
    });
    if parent != 0 {
        span["parentSpanId"] = json!(format!("{parent:016x}"));
    }
    span
}

/// A chat span that asks for calls `(id, tool, arguments)`.
fn chat(number: u64, at: u64, tools: Option<&Value>, calls: &[(&str, &str, Value)]) -> Value {
    let parts: Vec<Value> = calls
        .iter()
        .map(|(id, name, arguments)| {
            json!({ "type": "tool_call", "id": id, "name": name, "arguments": arguments })
        })
        .collect();
    let parts = if parts.is_empty() {
        json!([{ "type": "text", "content": "That is how it stands." }])
    } else {
        json!(parts)
    };
    let mut attributes = json!({
        "gen_ai.operation.name": "chat",
        "gen_ai.output.messages": [{ "role": "assistant", "parts": parts }],
    });
    if let Some(tools) = tools {
        attributes["gen_ai.tool.definitions"] = tools.clone();
    }
    span(number, 1, (at, at + 1), &attributes)
}

/// A tool span; without a result it failed.
fn call(
    number: u64,
    at: u64,
    (id, tool): (&str, &str),
    args: &Value,
    result: Option<&str>,
) -> Value {
    let mut attributes = json!({
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "gen_ai.tool.call.id": id,
        "gen_ai.tool.call.arguments": args,
    });
    match result {
        Some(result) => attributes["gen_ai.tool.call.result"] = json!(result),
        None => attributes["error.type"] = json!("tool_error"),
    }
    span(number, 1, (at, at + 1), &attributes)
}

fn agent(end: u64, tools: Option<&Value>) -> Value {
    let mut attributes = json!({ "gen_ai.operation.name": "invoke_agent" });
    if let Some(tools) = tools {
        attributes["gen_ai.tool.definitions"] = tools.clone();
    }
    span(1, 0, (0, end), &attributes)
}

fn tools() -> Value {
    json!([
        { "name": "read", "parameters": { "type": "object",
            "properties": { "path": { "type": "string" }, "line": { "type": "integer" } },
            "required": ["path"] } },
        { "type": "function", "function": { "name": "wide" } },
    ])
}

/// What is found when each list of spans comes as one request.
fn judge(rules: Rules, requests: &[Vec<Value>]) -> Output {
    let mut reader = Reader::new(Arc::new(steps::Settings::default()));
    let mut engine = Engine::new(Settings {
        rules,
        ..Settings::default()
    });
    let mut out = Output::default();
    let mut now = Timestamp::ZERO;
    for spans in requests {
        let body = json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": spans }] }] });
        let reading = reader
            .read(otlp::transcode(body.to_string().as_bytes()).unwrap())
            .unwrap();
        now = reading
            .steps
            .iter()
            .map(|step| step.end)
            .fold(now, Ord::max);
        engine.ingest(reading, now, &mut out);
    }
    engine.drain(now, &mut out);
    out
}

/// `type/reason tool member step severity` of what was found about tools and arguments.
fn found(out: &Output) -> Vec<String> {
    let about = |anomaly| {
        matches!(
            anomaly,
            AnomalyType::InvalidArgs | AnomalyType::ToolHallucination
        )
    };
    out.reports
        .iter()
        .filter(|report| about(report.finding.anomaly))
        .map(|report| {
            let finding = &report.finding;
            let member = finding.facts.iter().find(|(name, _)| *name == "member");
            let member = match member {
                Some((_, Fact::Text(pointer))) => format!(" {pointer}"),
                _ => String::new(),
            };
            let mark = if report.severity >= Severity::Warning {
                "!"
            } else {
                ""
            };
            format!(
                "{} {}{member} at {}{mark}",
                finding.reason.unwrap_or_default(),
                finding.tool.as_deref().unwrap_or_default(),
                finding.judged().unwrap().step,
            )
        })
        .collect()
}

fn each(spans: Vec<Value>) -> Vec<Vec<Value>> {
    spans.into_iter().map(|span| vec![span]).collect()
}

#[test]
fn a12_the_schema_of_the_asking_step_or_of_the_nearest_before() {
    let bad = json!({ "path": ["a"] });
    let first = chat(2, 0, Some(&tools()), &[("a", "read", bad.clone())]);
    let call_a = call(3, 1, ("a", "read"), &bad, None);
    // The second answer carries no definitions.
    let second = chat(4, 2, None, &[("b", "read", json!({ "line": 3 }))]);
    let call_b = call(5, 3, ("b", "read"), &json!({ "line": 3 }), None);
    let call_c = call(
        6,
        4,
        ("", "read"),
        &json!({ "path": "a", "line": "x" }),
        None,
    );
    let last = chat(7, 5, None, &[]);
    let spans = vec![first, call_a, second, call_b, call_c, last];
    let expected = ["schema read /path at 1", "schema read /line at 4!"];
    let one_by_one = judge(Rules::Aware, &each(spans.clone()));
    assert_eq!(found(&one_by_one), expected);
    let mut backwards = spans;
    backwards.reverse();
    let told = found(&judge(Rules::Aware, &[backwards]));
    assert_eq!(told.len(), 2, "{told:?}");
}

#[test]
fn a12_carriers_that_are_no_objects_are_not_judged() {
    let asked = json!({ "path": "a" });
    for carried in [
        json!("a"),
        json!("\"a\""),
        json!("{'path': 'a'}"),
        json!("{\"path\": \"a"),
    ] {
        let spans = vec![
            chat(2, 0, Some(&tools()), &[("a", "read", asked.clone())]),
            call(3, 1, ("a", "read"), &carried, Some("text")),
            chat(4, 2, Some(&tools()), &[]),
        ];
        assert_eq!(
            found(&judge(Rules::Aware, &each(spans))),
            [""; 0],
            "{carried}"
        );
    }
    // What the model wrote stands in for them.
    let spans = vec![
        chat(
            2,
            0,
            Some(&tools()),
            &[("a", "read", json!({ "path": 5.5 }))],
        ),
        call(3, 1, ("a", "read"), &json!("5.5"), None),
    ];
    let told = found(&judge(Rules::Aware, &each(spans)));
    assert_eq!(told, ["schema read /path at 1"]);
    // In the source's world arguments are an object or wrong.
    let spans = vec![
        chat(2, 0, Some(&tools()), &[("a", "read", asked)]),
        call(3, 1, ("a", "read"), &json!("path=a"), Some("text")),
    ];
    let told = found(&judge(Rules::Source, &each(spans)));
    assert_eq!(told, ["schema read  at 1"]);
}

#[test]
fn a12_double_encoding_nulls_and_envelopes_are_no_breach() {
    for arguments in [
        json!("{\"path\":\"a\",\"line\":null}"),
        json!("\"{\\\"path\\\":\\\"a\\\"}\""),
        json!("{\"kwargs\":{\"path\":\"a\",\"line\":3.0}}"),
        json!("{\"args\":[],\"kwargs\":{\"path\":\"a\"},\"sanitize_inputs_outputs\":true}"),
        json!("{\"path\":\"a\",\"line\":\"3\",\"runtime\":{}}"),
    ] {
        let spans = vec![
            chat(2, 0, Some(&tools()), &[("a", "read", arguments.clone())]),
            call(3, 1, ("a", "read"), &arguments, Some("text")),
            chat(4, 2, Some(&tools()), &[]),
        ];
        let out = judge(Rules::Aware, &each(spans));
        assert_eq!(found(&out), [""; 0], "{arguments}");
        let lacks = &out.closed.first().unwrap().not_assessed;
        assert_eq!(lacks.len(), 0, "{arguments}: {lacks:?}");
    }
}

#[test]
fn a12_without_definitions_nothing_is_assessed() {
    let args = json!({ "path": ["a"] });
    let spans = vec![
        chat(2, 0, None, &[("a", "read", args.clone())]),
        call(3, 1, ("a", "read"), &args, Some("text")),
        chat(4, 2, None, &[]),
    ];
    let out = judge(Rules::Aware, &each(spans));
    assert_eq!(found(&out), [""; 0]);
    let lacks = &out.closed.first().unwrap().not_assessed;
    assert!(
        lacks.iter().any(|(of, _)| *of == AnomalyType::InvalidArgs),
        "{lacks:?}"
    );
}

#[test]
fn a11_every_unknown_tool_asked_for_is_told_once() {
    let asks = [
        ("a", "ghost", json!({})),
        ("b", "Read", json!({ "path": "x" })),
        ("c", "mcp__x__wide", json!({})),
        ("d", "spook", json!({})),
        ("e", "transfer_to_billing_agent", json!({})),
        ("f", "final_answer", json!({ "answer": "x" })),
    ];
    let spans = vec![
        chat(2, 0, Some(&tools()), &asks),
        call(3, 1, ("b", "Read"), &json!({ "path": "x" }), Some("text")),
        call(4, 1, ("c", "mcp__x__wide"), &json!({}), Some("text")),
        chat(5, 3, Some(&tools()), &[]),
        agent(9, None),
    ];
    let expected = ["not_executed ghost at 3", "not_executed spook at 3"];
    assert_eq!(found(&judge(Rules::Aware, &each(spans.clone()))), expected);
    assert_eq!(
        found(&judge(Rules::Aware, std::slice::from_ref(&spans))),
        expected
    );
    // No other answer comes: the run's end settles it, on the answer that asked.
    let cut: Vec<Value> = spans.into_iter().take(3).collect();
    let expected = ["not_executed ghost at 0", "not_executed spook at 0"];
    assert_eq!(found(&judge(Rules::Aware, &each(cut))), expected);
}

#[test]
fn a11_success_proves_the_tool_whenever_it_comes() {
    let spans = vec![
        chat(2, 0, Some(&tools()), &[("a", "loaded", json!({}))]),
        call(3, 1, ("a", "loaded"), &json!({}), Some("text")),
        chat(4, 60, Some(&tools()), &[("b", "loaded", json!({ "x": 1 }))]),
        agent(90, None),
    ];
    assert_eq!(found(&judge(Rules::Aware, &each(spans.clone()))), [""; 0]);
    let mut swapped = spans;
    swapped.swap(0, 1);
    assert_eq!(found(&judge(Rules::Aware, &[swapped])), [""; 0]);
}

#[test]
fn a11_definitions_of_an_agents_span_hold_from_its_start() {
    let spans = vec![
        chat(
            2,
            0,
            None,
            &[
                ("a", "ghost", json!({})),
                ("b", "read", json!({ "path": 5.5 })),
            ],
        ),
        call(3, 1, ("b", "read"), &json!({ "path": 5.5 }), None),
        call(4, 2, ("", "spook"), &json!({}), None),
        chat(5, 4, None, &[]),
        agent(9, Some(&tools())),
    ];
    let mut told = found(&judge(Rules::Aware, std::slice::from_ref(&spans)));
    told.sort_unstable();
    assert_eq!(
        told,
        [
            "not_defined spook at 2",
            "not_executed ghost at 3",
            "schema read /path at 1"
        ]
    );
    // It comes when the calls have been judged: what still can be told is told at the end.
    let told = found(&judge(Rules::Aware, &each(spans)));
    assert_eq!(told, ["not_executed ghost at 0", "not_defined spook at 2"]);
}

#[test]
fn a11_a_call_written_as_text_by_a_run_without_an_agents_span() {
    let text = r#"<tool_call>{"name": "read", "arguments": {"path": "a"}}</tool_call>"#;
    let mut written = chat(2, 0, Some(&tools()), &[]);
    let message = json!([{ "role": "assistant", "parts": [{ "type": "text", "content": text }] }]);
    for attribute in written["attributes"].as_array_mut().unwrap() {
        if attribute["key"] == "gen_ai.output.messages" {
            attribute["value"] = any(&message);
        }
    }
    let told = |spans| found(&judge(Rules::Aware, &each(spans)));
    assert_eq!(told(vec![written.clone()]), ["call_as_text  at 0"]);
    let run = call(3, 2, ("", "read"), &json!({ "path": "a" }), Some("text"));
    assert_eq!(told(vec![written.clone(), run]), [""; 0]);
    assert_eq!(told(vec![written, chat(4, 3, None, &[])]), [""; 0]);
}

#[test]
fn a6_what_a_tool_is_said_to_do_counts_where_its_name_says_nothing() {
    let rows = |hints: Value, tool: &str| {
        let definitions = json!([{ "name": tool, "annotations": hints,
            "inputSchema": { "type": "object" } }]);
        let mut spans = vec![chat(2, 0, Some(&definitions), &[])];
        for n in 0..6u64 {
            let args = json!({ "q": format!("alpha beta gamma delta {n}") });
            spans.push(call(
                10 + n,
                2 * n + 2,
                ("", tool),
                &args,
                Some("nothing was found here"),
            ));
        }
        let out = judge(Rules::Aware, &each(spans));
        out.reports
            .iter()
            .any(|report| report.finding.anomaly == AnomalyType::TransitionRepeat)
    };
    assert!(rows(json!({ "readOnlyHint": true }), "frobnicate"));
    assert!(!rows(json!({}), "frobnicate"));
    assert!(rows(json!({}), "lookup_part"));
    assert!(!rows(json!({ "readOnlyHint": false }), "lookup_part"));
}
