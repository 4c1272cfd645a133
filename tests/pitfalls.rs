//! What real emitters do that fools a plain reader, one test each, numbered as in the list of what was
//! seen in the field (P1 to P35). What only a whole run shows is in `pitfalls_runs.rs`.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::sync::Arc;

use agent_sentinel::model::{
    Action, AgentRun, Arguments, Finish, ModelCall, Outcome, Role, Step, ToolCall,
};
use agent_sentinel::otlp;
use agent_sentinel::steps::{Reader, Reading, Settings};
use proptest::prelude::*;
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

/// A span for [`body`]: its attributes, and whatever else of it matters.
fn span(attrs: Value, rest: Value) -> Value {
    let mut span = json!({
        "traceId": "0102030405060708090a0b0c0d0e0f10",
        "spanId": "0102030405060708",
        "parentSpanId": "0102030405060709",
        "name": "x",
        "startTimeUnixNano": "1000",
        "endTimeUnixNano": "2000",
        "attributes": attributes(attrs.as_object().unwrap()),
    });
    for (key, value) in rest.as_object().unwrap() {
        span[key] = value.clone();
    }
    span
}

fn event(name: &str, attrs: Value) -> Value {
    json!({ "name": name, "attributes": attributes(attrs.as_object().unwrap()) })
}

fn body(scope: &str, spans: &[Value]) -> bytes::Bytes {
    let request = json!({ "resourceSpans": [{
        "resource": { "attributes": attributes(json!({
            "service.name": "s", "process.working_directory": "/w"
        }).as_object().unwrap()) },
        "scopeSpans": [{ "scope": { "name": scope }, "spans": spans }],
    }]});
    otlp::transcode(request.to_string().as_bytes()).unwrap()
}

fn read(scope: &str, spans: &[Value]) -> Reading {
    Reader::new(Arc::new(Settings::default()))
        .read(body(scope, spans))
        .unwrap()
}

fn one(span: Value) -> Step {
    let mut reading = read("", &[span]);
    assert_eq!(reading.steps.len(), 1);
    reading.steps.remove(0)
}

/// A GenAI tool span.
fn call(attrs: Value) -> ToolCall {
    call_with(attrs, json!({}))
}

fn call_with(attrs: Value, rest: Value) -> ToolCall {
    let mut all = json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t" });
    for (key, value) in attrs.as_object().unwrap() {
        all[key] = value.clone();
    }
    match one(span(all, rest)).action {
        Action::ToolCall(call) => *call,
        other => panic!("{other:?}"),
    }
}

/// A GenAI model span.
fn chat(attrs: Value) -> ModelCall {
    let mut all = json!({ "gen_ai.operation.name": "chat" });
    for (key, value) in attrs.as_object().unwrap() {
        all[key] = value.clone();
    }
    model(span(all, json!({})))
}

fn model(span: Value) -> ModelCall {
    match one(span).action {
        Action::ModelCall(call) => *call,
        other => panic!("{other:?}"),
    }
}

fn run(span: Value) -> AgentRun {
    match one(span).action {
        Action::AgentRun(run) => *run,
        other => panic!("{other:?}"),
    }
}

/// The answer of a model, as GenAI output messages.
fn says(messages: Value) -> ModelCall {
    chat(json!({ "gen_ai.output.messages": messages.to_string() }))
}

fn empty(call: &ModelCall) -> bool {
    call.text.is_some_and(|text| text.chars == 0)
}

#[test]
fn p1_redacted_and_missing_are_not_empty() {
    let parts = |parts: Value| says(json!([{ "role": "assistant", "parts": parts }]));
    assert_eq!(parts(json!([{ "type": "text" }])).text, None);
    assert_eq!(chat(json!({})).text, None);
    assert!(empty(&parts(json!([]))));
    assert!(empty(&parts(json!([{ "type": "text", "content": "" }]))));
    assert!(empty(&parts(json!([{ "type": "text", "content": " " }]))));
    assert!(empty(&says(
        json!([{ "role": "assistant", "content": null }])
    )));
    // A picture is an answer, though none that can be read.
    assert_eq!(
        parts(json!([{ "type": "blob", "content": "AAAA" }])).text,
        None
    );
    let flat = |attrs: Value| {
        let mut all = json!({ "openinference.span.kind": "LLM" });
        for (key, value) in attrs.as_object().unwrap() {
            all[key] = value.clone();
        }
        model(span(all, json!({})))
    };
    assert!(empty(&flat(
        json!({ "llm.output_messages.0.message.role": "assistant" })
    )));
    assert_eq!(flat(json!({})).text, None);
    assert_eq!(
        flat(json!({ "llm.output_messages.0.message.content": "__REDACTED__" })).text,
        None
    );
}

#[test]
fn p2_no_text_and_no_call_after_tool_calls_is_not_empty() {
    let finish =
        |reason: &str| says(json!([{ "role": "assistant", "parts": [], "finish_reason": reason }]));
    assert_eq!(finish("tool_calls").text, None);
    assert_eq!(finish("tool_calls").finish, Finish::ToolCalls);
    assert!(empty(&finish("stop")));
}

#[test]
fn p3_arguments_are_read_in_every_shape() {
    let bare = key_of(r#"{"path": "a"}"#);
    for wrapped in [
        r#"{"args": [], "sanitize_inputs_outputs": true, "kwargs": {"path":"a"}}"#,
        r#""{\"path\": \"a\"}""#,
        r#"{"input_str": "{'path': 'a'}", "tags": ["x"]}"#,
        "{'path': 'a'}",
    ] {
        assert_eq!(key_of(wrapped), bare, "{wrapped}");
    }
    // A bare value is what the tool got, though not as JSON.
    assert_eq!(key_of("a"), key_of("a"));
    assert_ne!(key_of("a"), key_of("b"));
    let invalid = call(json!({ "gen_ai.tool.call.arguments": r#"{"INVALID_JSON": "{\"path\""}"# }));
    assert_eq!(invalid.arguments, Arguments::NotJson);
}

fn key_of(arguments: &str) -> u64 {
    call(json!({ "gen_ai.tool.call.arguments": arguments }))
        .key
        .unwrap()
}

#[test]
fn p24_envelopes_come_off() {
    let bare = key_of(r#"{"path": "a"}"#);
    for wrapped in [
        r#"{"kwargs": {"path": "a"}}"#,
        r#"{"input": {"path": "a"}, "kwargs": null}"#,
        r#"{"arguments": {"path": "a"}}"#,
        r#"{"args": [], "kwargs": {"path": "a"}}"#,
    ] {
        assert_eq!(key_of(wrapped), bare, "{wrapped}");
    }
    // Arguments that only look like a wrapping stay whole.
    for whole in [
        r#"{"input": "a"}"#,
        r#"{"input": {"path": "a"}, "mode": "x"}"#,
        r#"{"args": [1], "kwargs": {"path": "a"}}"#,
    ] {
        assert_ne!(key_of(whole), bare, "{whole}");
    }
}

#[test]
fn p4_errors_inside_results_under_a_good_status() {
    let result = |result: &str| {
        call_with(
            json!({ "gen_ai.tool.call.result": result }),
            json!({ "status": { "code": 1 } }),
        )
        .outcome
    };
    for failed in [
        r#"{"status": "error", "error_message": "no"}"#,
        r#"{"type": "tool", "data": {"content": "no", "status": "error", "tool_call_id": "c"}}"#,
        r#"{"content": [{"type": "text", "text": "no"}], "isError": true}"#,
        r#"{"error": true}"#,
        r#"{"stdout": "no", "exit_code": 2}"#,
        "no\n[exit code: 1]",
    ] {
        let Outcome::Failed(failure) = result(failed) else {
            panic!("{failed}");
        };
        assert!(failure.soft, "{failed}");
    }
    for good in [
        r#"{"error": null, "data": 1}"#,
        r#"{"error": ""}"#,
        r#"{"status": "draft", "content": "x"}"#,
        "fine\n[exit code: 0]",
        "the error is in line 4",
    ] {
        assert_eq!(result(good), Outcome::Succeeded, "{good}");
    }
}

#[test]
fn p5_a_constant_error_text_is_one_class() {
    let class = || {
        let call = call_with(
            json!({ "gen_ai.tool.call.result": "An error occurred while running the tool." }),
            json!({ "status": { "code": 2, "message": "Error running tool (non-fatal)" } }),
        );
        match call.outcome {
            Outcome::Failed(failure) => failure.class,
            other => panic!("{other:?}"),
        }
    };
    assert_ne!(class(), 0);
    assert_eq!(class(), class());
}

#[test]
fn p7_second_spans_of_mcp_calls_are_no_steps() {
    let call = json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t",
        "mcp.method.name": "tools/call" });
    assert_eq!(
        read("fastmcp", &[span(call.clone(), json!({}))])
            .steps
            .len(),
        1
    );
    assert_eq!(
        read("mcp-python-sdk", &[span(call.clone(), json!({}))])
            .steps
            .len(),
        0
    );
    let mut seam = call;
    seam["fastmcp.span.seam"] = json!(true);
    assert_eq!(read("fastmcp", &[span(seam, json!({}))]).steps.len(), 0);
    let plain = span(
        json!({ "mcp.method.name": "tools/call" }),
        json!({ "name": "tools/call read" }),
    );
    match one(plain).action {
        Action::ToolCall(call) => assert_eq!(&*call.tool, "read"),
        other => panic!("{other:?}"),
    }
    let list = span(json!({ "mcp.method.name": "tools/list" }), json!({}));
    assert_eq!(read("fastmcp", &[list]).steps.len(), 0);
}

#[test]
fn p12_the_class_of_an_error_is_not_its_traceback() {
    let class = |message: &str| {
        let status = json!({ "status": { "code": 2, "message": message } });
        match call_with(json!({}), status).outcome {
            Outcome::Failed(failure) => failure.class,
            other => panic!("{other:?}"),
        }
    };
    let first =
        class("RuntimeError('boom')Traceback (most recent call last):\n  File \"a.py\", line 1");
    let second = class(
        "RuntimeError('boom')Traceback (most recent call last):\n  File \"b.py\", line 22, in f",
    );
    assert_eq!(first, second);
}

#[test]
fn p13_a_tool_name_on_a_model_span_is_no_call() {
    let call = chat(json!({ "gen_ai.tool.name": "t", "gen_ai.tool.call.id": "c" }));
    assert_eq!(call.requested.len(), 0);
}

#[test]
fn p14_tool_parameters_are_not_arguments() {
    let step = one(span(
        json!({ "openinference.span.kind": "TOOL", "tool.name": "t", "tool.parameters": "{\"a\": 1}" }),
        json!({}),
    ));
    let Action::ToolCall(call) = step.action else {
        panic!()
    };
    assert_eq!((call.key, call.arguments), (None, Arguments::Unknown));
}

#[test]
fn p15_call_ids_that_are_none_and_ids_inside_results() {
    let id = call(json!({ "gen_ai.tool.call.id": "<not specified>" })).call_id;
    assert_eq!(id, None);
    let within = |result: &str| {
        let step = one(span(
            json!({ "openinference.span.kind": "TOOL", "tool.name": "t", "output.value": result }),
            json!({}),
        ));
        let Action::ToolCall(call) = step.action else {
            panic!()
        };
        call.call_id
    };
    let wrapped = r#"{"type": "tool", "data": {"content": "x", "tool_call_id": "c1"}}"#;
    assert_eq!(
        within(wrapped),
        call(json!({ "gen_ai.tool.call.id": "c1" })).call_id
    );
    assert_eq!(within("plain"), None);
}

#[test]
fn p34_structured_arguments_and_results_read_as_their_json() {
    let text = call(
        json!({ "gen_ai.tool.call.arguments": r#"{"argv":["a","b"],"n":1}"#,
        "gen_ai.tool.call.result": r#"[{"text":"x"}]"# }),
    );
    let structured = call(
        json!({ "gen_ai.tool.call.arguments": { "argv": ["a", "b"], "n": 1 },
        "gen_ai.tool.call.result": [{ "text": "x" }] }),
    );
    assert_eq!((text.key, text.exact), (structured.key, structured.exact));
    assert_eq!(text.answer, structured.answer);
}

#[test]
fn p16_structured_messages_and_lists_in_strings() {
    let messages = json!([{ "role": "assistant", "parts": [{ "type": "text", "content": "hello" },
        { "type": "tool_call", "id": "c", "name": "t", "arguments": { "n": 1 } }] }]);
    let structured = chat(json!({ "gen_ai.output.messages": messages }));
    assert_eq!(structured, says(messages));
    for reasons in [
        json!(["stop"]),
        json!("[\"stop\"]"),
        json!("stop"),
        json!("\"stop\""),
    ] {
        let call = chat(json!({ "gen_ai.response.finish_reasons": reasons }));
        assert_eq!(call.finish, Finish::Stop);
    }
}

#[test]
fn p17_a_final_answer_as_a_call_is_a_claim() {
    let step = one(span(
        json!({ "openinference.span.kind": "TOOL", "tool.name": "final_answer",
            "input.value": r#"{"args": [], "sanitize_inputs_outputs": true, "kwargs": {"answer": "All 3 tests pass."}}"# }),
        json!({}),
    ));
    let Action::ModelCall(claim) = step.action else {
        panic!()
    };
    assert_eq!(claim.text.unwrap().chars, 17);
    assert_eq!(claim.finish, Finish::Stop);
}

#[test]
fn p27_tools_that_end_a_run_are_no_calls() {
    for tool in ["finish", "final_answer", "submit"] {
        let step = one(span(
            json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool,
                "gen_ai.tool.call.arguments": r#"{"answer": "All done."}"# }),
            json!({}),
        ));
        assert!(matches!(step.action, Action::ModelCall(_)), "{tool}");
    }
    // A tool that hands over nothing claims nothing, and is no empty answer either.
    let submit = one(span(
        json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "submit",
            "gen_ai.tool.call.arguments": "{}" }),
        json!({}),
    ));
    let Action::ModelCall(claim) = submit.action else {
        panic!()
    };
    assert_eq!(claim.text, None);
}

#[test]
fn p18_a_frameworks_own_prompt_is_no_user_turn() {
    let input = json!([
        { "role": "user", "parts": [{ "type": "text", "content": "Fix it." }] },
        { "role": "assistant", "parts": [] },
        { "role": "user", "parts": [{ "type": "text", "content": "<system>Please return text or call a tool.</system>" }] },
        { "role": "user", "parts": [{ "type": "tool_call_response", "id": "c", "response": "x" }] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "c", "content": "x" }] },
        { "role": "user", "parts": [{ "type": "text", "content": "And now?" }] },
    ]);
    let call = chat(json!({ "gen_ai.input.messages": input.to_string() }));
    assert_eq!(call.user_messages, Some(2));
}

#[test]
fn p19_a_shell_command_may_be_bare_or_argv() {
    for arguments in [
        json!("pytest -q"),
        json!(r#"{"cmd": ["bash", "-lc", "pytest -q"]}"#),
        json!(r#"{"command": "pytest -q"}"#),
    ] {
        let call = call(
            json!({ "gen_ai.tool.name": "bash", "gen_ai.tool.call.arguments": arguments,
            "gen_ai.tool.call.result": "1 failed, 2 passed in 0.1s\n[exit code: 1]" }),
        );
        assert_eq!(call.role, Role::Shell);
        assert!(call.effects.verification.is_some(), "{arguments}");
    }
}

#[test]
fn p22_a_model_span_without_output_says_nothing() {
    let call = chat(json!({ "gen_ai.response.finish_reasons": ["stop"] }));
    assert_eq!((call.text, call.requested.len()), (None, 0));
}

#[test]
fn p23_any_spelling_of_tool_calls_explains_an_empty_text() {
    for reason in [
        json!("tool-calls"),
        json!(["tool_use"]),
        json!("[\"TOOL_CALL\"]"),
        json!("function_call"),
    ] {
        let call = chat(json!({ "gen_ai.response.finish_reasons": reason,
            "gen_ai.output.messages": r#"[{"role":"assistant","parts":[]}]"# }));
        assert_eq!(call.text, None, "{reason}");
    }
}

#[test]
fn p26_roles_are_found_behind_prefixes() {
    let role = |tool: &str| {
        call(json!({ "gen_ai.tool.name": tool, "gen_ai.tool.call.arguments": "{}" })).role
    };
    assert_eq!(role("mcp__files__read_file"), Role::Read);
    assert_eq!(role("Files-read_file"), Role::Read);
}

#[test]
fn p28_calls_come_in_many_shapes() {
    let requested = |messages| {
        let mut requested = says(messages).requested;
        // The text itself is as it was sent.
        requested.iter_mut().for_each(|call| call.given = None);
        requested
    };
    let expected = requested(json!([{ "role": "assistant", "parts": [
        { "type": "tool_call", "id": "c", "name": "t", "arguments": { "n": 1 } }] }]));
    assert_eq!(expected.len(), 1);
    assert_eq!(expected.first().unwrap().arguments, Arguments::Valid);
    for message in [
        json!({ "role": "assistant", "content": null, "tool_calls": [
            { "id": "c", "type": "function", "function": { "name": "t", "arguments": "{\"n\": 1}" } }] }),
        json!({ "role": "assistant", "tool_calls": [{ "id": "c", "name": "t", "args": { "n": 1 } }] }),
        json!({ "role": "assistant", "tool_calls": [{ "id": "c", "tool_name": "t", "arguments": { "n": 1 } }] }),
        json!({ "role": "assistant", "parts": [{ "type": "tool_call", "id": "c", "name": "t", "arguments": "{\"n\":1}" }],
            "tool_calls": [{ "id": "c", "name": "t", "args": { "n": 1 } }] }),
        json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "c", "name": "t", "input": { "n": 1 } }] }),
        json!({ "toolUse": { "toolUseId": "c", "name": "t", "input": { "n": 1 } } }),
        json!({ "type": "function_call", "call_id": "c", "id": "fc", "name": "t", "arguments": "{\"n\": 1}" }),
    ] {
        assert_eq!(requested(json!([message])), expected, "{message}");
    }
}

#[test]
fn p29_histories_repeat_and_are_read_for_their_users_alone() {
    let turn =
        |text: &str| json!({ "role": "user", "parts": [{ "type": "text", "content": text }] });
    let answer = json!({ "role": "assistant", "parts": [{ "type": "text", "content": "Done, all tests pass." }] });
    let history = json!([turn("Fix it."), answer, turn("And the docs?")]);
    let call = chat(json!({ "gen_ai.input.messages": history.to_string(),
        "gen_ai.output.messages": r#"[{"role":"assistant","parts":[{"type":"text","content":"Later."}]}]"# }));
    // What the model said before is not what it says now.
    assert_eq!((call.user_messages, call.text.unwrap().chars), (Some(2), 6));
}

#[test]
fn p30_placeholders_are_no_sessions() {
    let session = |attrs: Value| {
        let mut all = json!({ "gen_ai.operation.name": "chat" });
        for (key, value) in attrs.as_object().unwrap() {
            all[key] = value.clone();
        }
        one(span(all, json!({}))).conversation
    };
    for placeholder in [
        "",
        "null",
        "default",
        "[Scrubbed due to 'session']",
        "00000000-0000-0000-0000-000000000000",
        "***",
    ] {
        assert_eq!(
            session(json!({ "gen_ai.conversation.id": placeholder })),
            None,
            "{placeholder}"
        );
    }
    let next = session(json!({ "gen_ai.conversation.id": "None", "session.id": "s-1" }));
    assert_eq!(next.as_deref(), Some("s-1"));
    let metadata = one(span(
        json!({ "openinference.span.kind": "LLM",
            "metadata": r#"{"thread_id": "t-1", "session_id": "null", "lc_agent_name": "a"}"# }),
        json!({}),
    ));
    assert_eq!(metadata.conversation.as_deref(), Some("t-1"));
    assert_eq!(metadata.agent.as_deref(), Some("a"));
}

#[test]
fn p32_signs_of_failure_beside_the_status() {
    let failed = |attrs: Value| matches!(call(attrs).outcome, Outcome::Failed(f) if !f.soft);
    assert!(failed(
        json!({ "error.type": "timeout", "gen_ai.tool.call.result": "x" })
    ));
    assert!(failed(
        json!({ "tool.is_error": true, "gen_ai.tool.call.result": "x" })
    ));
    assert!(failed(json!({ "gen_ai.tool.status": "error" })));
    assert!(failed(json!({ "process.exit.code": 3 })));
    assert!(!failed(json!({ "gen_ai.tool.status": "success" })));
    assert!(!failed(
        json!({ "process.exit.code": 0, "gen_ai.tool.call.result": "Error: none" })
    ));
    let exception = json!({ "events": [event("exception", json!({ "exception.type": "E", "exception.message": "m" }))] });
    assert!(call_with(json!({}), exception).outcome.failed());
    assert_eq!(call(json!({})).outcome, Outcome::Unknown);
}

#[test]
fn generation_b_messages_come_as_events() {
    let tool = one(span(
        json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t" }),
        json!({ "events": [
            event("gen_ai.tool.message", json!({ "content": "{\"n\": 1}", "id": "c" })),
            event("gen_ai.choice", json!({ "message": "[{\"text\": \"x\"}]", "id": "c" })),
        ] }),
    ));
    let Action::ToolCall(tool) = tool.action else {
        panic!()
    };
    let plain = call(
        json!({ "gen_ai.tool.call.arguments": "{\"n\": 1}", "gen_ai.tool.call.id": "c",
        "gen_ai.tool.call.result": "x" }),
    );
    assert_eq!(
        (tool.key, tool.call_id, tool.answer),
        (plain.key, plain.call_id, plain.answer)
    );
    // On an agent's span the same event holds plain text.
    let agent = run(span(
        json!({ "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a" }),
        json!({ "events": [event("gen_ai.choice", json!({ "message": "[1] see there" }))] }),
    ));
    assert_eq!(agent.output.unwrap().chars, 13);
}

#[test]
fn the_output_of_a_run_is_its_last_words() {
    let inner = json!([
        { "role": "assistant", "parts": [{ "type": "text", "content": "first" }, { "type": "tool_call", "name": "t" }] },
        { "role": "tool", "parts": [{ "type": "tool_call_response", "response": "x" }] },
        { "role": "assistant", "parts": [{ "type": "text", "content": "the end" }] },
    ]);
    let agent = run(span(
        json!({ "gen_ai.operation.name": "invoke_agent", "gen_ai.output.messages": inner.to_string() }),
        json!({}),
    ));
    assert_eq!(agent.output.unwrap().chars, 7);
}

#[test]
fn json_cut_short_by_a_length_limit_is_unknown() {
    let whole = json!([{ "role": "assistant", "parts": [{ "type": "text", "content": "hello" }] }])
        .to_string();
    let cut = whole.get(..whole.len() - 9).unwrap();
    assert_eq!(chat(json!({ "gen_ai.output.messages": cut })).text, None);
    let input = json!([{ "role": "user", "content": "Run the tests." }, { "role": "user", "content": "x" }]).to_string();
    let cut = chat(json!({ "gen_ai.input.messages": input.get(..input.len() - 3).unwrap() }));
    assert_eq!(cut.user_messages, None);
    assert!(cut.goal.unwrap().asks_for_tests);
}

#[test]
fn marks_of_a_sentinel_are_seen_and_links_are_kept_for_traces_with_steps() {
    let marked = span(
        json!({ "gen_ai.operation.name": "chat", "sentinel.anomaly.detected": true }),
        json!({}),
    );
    let other = span(
        json!({ "http.method": "GET" }),
        json!({ "spanId": "0102030405060719" }),
    );
    let stranger = span(
        json!({}),
        json!({ "traceId": "1102030405060708090a0b0c0d0e0f10" }),
    );
    let reading = read("", &[marked, other, stranger]);
    assert_eq!(
        (
            reading.already_marked,
            reading.steps.len(),
            reading.links.len()
        ),
        (1, 1, 1)
    );
    let step = reading.steps.first().unwrap();
    assert!(step.already_marked);
    assert_eq!(step.working_directory.as_deref(), Some("/w"));
    assert_eq!(&*step.service.name, "s");
}

#[test]
fn configured_roles_hold_without_a_path_or_a_command() {
    let settings: Settings =
        serde_json::from_value(json!({ "tools": { "my_writer": "edit", "run_*": "verify" } }))
            .unwrap();
    let mut reader = Reader::new(Arc::new(settings));
    let mut outcome = |tool: &str, code: i64| {
        let attrs = json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool,
            "gen_ai.tool.call.arguments": "{\"i\": 1}", "process.exit.code": code });
        let reading = reader.read(body("v", &[span(attrs, json!({}))])).unwrap();
        match reading.steps.into_iter().next().unwrap().action {
            Action::ToolCall(call) => *call,
            other => panic!("{other:?}"),
        }
    };
    assert!(outcome("my_writer", 0).effects.edits_source);
    use agent_sentinel::model::Verdict;
    let verdict = |call: ToolCall| call.effects.verification.unwrap().verdict;
    assert_eq!(verdict(outcome("run_checks", 0)), Verdict::Passed);
    assert_eq!(verdict(outcome("run_checks", 1)), Verdict::Failed);
}

#[test]
fn a_signature_is_made_only_when_asked_for() {
    let settings = Settings {
        show_signature: true,
        ..Settings::default()
    };
    let attrs = json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t",
        "gen_ai.tool.call.arguments": "{}" });
    let reading = Reader::new(Arc::new(settings))
        .read(body("", &[span(attrs, json!({}))]))
        .unwrap();
    let Action::ToolCall(shown) = &reading.steps.first().unwrap().action else {
        panic!()
    };
    assert!(shown.signature.is_some());
    assert_eq!(
        call(json!({ "gen_ai.tool.call.arguments": "{}" })).signature,
        None
    );
}

/// Texts that begin like what is read and go on as they like.
fn wild() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("[{\"role\":\"assistant\",\"parts\":["),
        Just("{\"type\":\"text\",\"content\":\""),
        Just("\"}"),
        Just("]}]"),
        Just("{\"kwargs\":{"),
        Just("\\\""),
        Just("\\u00"),
        Just("\u{e9}"),
        Just("{\"result\":"),
        Just("\"stdout\":\"x\",\"exit_code\":1}"),
        Just("[{\"text\":\"a\"}]"),
        Just("{\"toolUse\":{\"name\":\"t\",\"input\":{}}}"),
        Just("null"),
        Just(","),
        Just("}"),
        Just("]"),
        Just("user"),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_content_panics(text in wild(), kind in 0..6usize) {
        let keys = ["gen_ai.output.messages", "gen_ai.input.messages", "gen_ai.tool.call.arguments",
            "gen_ai.tool.call.result", "input.value", "output.value", "metadata", "gen_ai.tool.definitions",
            "gen_ai.response.finish_reasons", "pydantic_ai.all_messages"];
        let mut attrs = Map::new();
        for key in keys {
            attrs.insert(key.to_owned(), json!(text));
        }
        let (marker, value) = [("gen_ai.operation.name", "chat"), ("gen_ai.operation.name", "execute_tool"),
            ("gen_ai.operation.name", "invoke_agent"), ("openinference.span.kind", "LLM"),
            ("openinference.span.kind", "TOOL"), ("openinference.span.kind", "AGENT")][kind];
        attrs.insert(marker.to_owned(), json!(value));
        let reading = read("", &[span(Value::Object(attrs), json!({}))]);
        prop_assert_eq!(reading.steps.len(), 1);
    }
}
