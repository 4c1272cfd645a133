//! What real emitters do that fools a plain reader, as far as only a whole run shows it: numbered as in
//! `pitfalls.rs`; and agents without names beside each other, in the shapes of several frameworks.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "reads fixtures")]

#[path = "support/spans.rs"]
mod spans;

use std::fmt::Write as _;

use agent_sentinel::engine::Output;
use agent_sentinel::model::{Action, Outcome, Severity};
use bytes::Bytes;
use serde_json::{Value, json};
use spans::{Span, body, found, judge, read};

const FINAL: &str = "The file does not exist, I give up.";

/// The attributes of both, the second ones winning.
fn with(mut one: Value, other: &Value) -> Value {
    for (key, value) in other.as_object().unwrap() {
        one[key] = value.clone();
    }
    one
}

/// A GenAI tool span.
fn tool(id: u64, name: &str, arguments: &Value, result: &str) -> Span {
    Span::new(
        id,
        &format!("execute_tool {name}"),
        json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name,
            "gen_ai.tool.call.arguments": arguments.to_string(), "gen_ai.tool.call.result": result }),
    )
}

/// A reading of a missing file.
fn miss(id: u64) -> Span {
    let path = json!({ "path": "src/missing.py" });
    let mut span = tool(id, "read_file", &path, "");
    span.attributes
        .as_object_mut()
        .unwrap()
        .remove("gen_ai.tool.call.result");
    span.failed("FileNotFoundError: src/missing.py")
}

/// A GenAI model span that gives out these parts.
fn chat(id: u64, parts: &Value, finish: &str) -> Span {
    let message = json!([{ "role": "assistant", "parts": parts, "finish_reason": finish }]);
    Span::new(
        id,
        "chat m",
        json!({ "gen_ai.operation.name": "chat", "gen_ai.output.messages": message.to_string(),
            "gen_ai.response.finish_reasons": [finish] }),
    )
}

fn says(id: u64, text: &str) -> Span {
    chat(id, &json!([{ "type": "text", "content": text }]), "stop")
}

fn asks(id: u64, tool: &str, arguments: &Value) -> Span {
    let part = json!([{ "type": "tool_call", "id": format!("call-{id}"), "name": tool, "arguments": arguments }]);
    chat(id, &part, "tool_calls")
}

fn agent(id: u64, name: &str) -> Span {
    let attributes = json!({ "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name });
    Span::new(id, &format!("invoke_agent {name}"), attributes)
}

fn one(spans: &[Span]) -> Output {
    judge(&[body("s", spans)])
}

fn capture(path: &str) -> Bytes {
    let root = env!("CARGO_MANIFEST_DIR");
    std::fs::read(format!("{root}/tests/fixtures/captures/{path}"))
        .unwrap()
        .into()
}

fn lacks(out: &Output, anomaly: &str) -> Vec<&'static str> {
    let all = out.closed.iter().flat_map(|run| &run.not_assessed);
    all.filter(|(of, _)| of.name() == anomaly)
        .flat_map(|(_, lacks)| lacks.iter().map(|lack| lack.words()))
        .collect()
}

#[test]
fn p6_unknown_tools_without_a_span_are_found_in_the_answer() {
    let definitions = json!([{ "type": "function", "name": "read_file" }]).to_string();
    let end = says(9, "I could not do it.");
    // GenAI, tools on the model's span, and on the run's alone.
    let mut ask = asks(2, "launch_rocket", &json!({ "target": "moon" })).under(1);
    let run = Span {
        attributes: with(
            agent(1, "a").attributes,
            &json!({ "gen_ai.tool.definitions": definitions }),
        ),
        ..agent(1, "a").lasting(0, 9_900)
    };
    let on_run = one(&[ask.clone(), end.clone().under(1), run]);
    assert_eq!(found(&on_run), ["tool_hallucination"]);
    ask.attributes["gen_ai.tool.definitions"] = definitions.into();
    let beside = one(&[ask, end.under(1), agent(1, "a").lasting(0, 9_900)]);
    assert_eq!(found(&beside), ["tool_hallucination"]);
    // OpenInference.
    let call = "llm.output_messages.0.message.tool_calls.0.tool_call";
    let flat = json!({ "openinference.span.kind": "LLM",
        "llm.tools.0.tool.json_schema": r#"{"type":"function","function":{"name":"read_file"}}"#,
        "llm.output_messages.0.message.role": "assistant",
        format!("{call}.id"): "c", format!("{call}.function.name"): "launch_rocket",
        format!("{call}.function.arguments"): "{}", "llm.finish_reason": "tool_calls" });
    assert_eq!(
        found(&one(&[Span::new(2, "llm", flat)])),
        ["tool_hallucination"]
    );
    // Vercel.
    let vercel = json!({ "ai.operationId": "ai.generateText.doGenerate", "ai.response.text": "",
        "ai.prompt.tools": [r#"{"type":"function","name":"read_file","inputSchema":{}}"#],
        "ai.response.toolCalls": r#"[{"toolCallId":"c","toolName":"launch_rocket","input":"{}"}]"#,
        "ai.response.finishReason": "tool-calls" });
    assert_eq!(
        found(&one(&[Span::new(2, "ai", vercel)])),
        ["tool_hallucination"]
    );
}

#[test]
fn p7_calls_told_by_two_instrumentations_count_once() {
    // Two failing calls told twice are no four.
    let second = |id: u64, of: u64| {
        Span::new(
            id,
            "read_file",
            json!({ "openinference.span.kind": "TOOL", "tool.name": "read_file",
                "input.value": r#"{"path": "src/missing.py"}"#, "output.value": "" }),
        )
        .lasting(of * 1000 - 1, of * 1000 + 101)
        .failed("FileNotFoundError: src/missing.py")
    };
    let twice = |times: u64| {
        let first: Vec<Span> = (1..=times).map(miss).collect();
        let again: Vec<Span> = (1..=times).map(|of| second(of + 20, of)).collect();
        judge(&[body("one", &first), body("two", &again)])
    };
    assert_eq!(found(&twice(2)), [""; 0]);
    assert_eq!(found(&twice(3)), ["failure_loop"]);
    // Roots told twice, and agents inside of agents, make one run with one answer.
    let blank = json!({ "gen_ai.output.messages": r#"[{"role":"assistant","parts":[{"type":"text","content":""}]}]"# });
    let root = |id: u64| {
        let span = agent(id, "a");
        Span {
            attributes: with(span.attributes.clone(), &blank),
            ..span
        }
        .lasting(0, 9_000)
    };
    let out = one(&[says(3, "").under(2), root(2).under(1), root(1)]);
    assert_eq!(found(&out), ["empty_response"]);
}

#[test]
fn p8_a_crash_that_no_status_tells_of_is_seen_in_what_never_came() {
    let crash = capture("openai-agents-traceloop/unknown_tool.001.pb");
    let out = judge(&[crash]);
    assert_eq!(found(&out), ["tool_hallucination"]);
    // Every span says OK.
    let spans = [
        asks(2, "deploy", &json!({})).ok().under(1),
        agent(1, "a").ok().lasting(0, 3_000),
    ];
    let out = one(&spans);
    assert_eq!(found(&out), [""; 0]);
    assert_eq!(lacks(&out, "stuck"), ["no tool spans"]);
    assert_eq!(lacks(&out, "tool_hallucination"), ["no definitions"]);
}

/// What was found, with its members' spans.
fn members(out: &Output) -> String {
    let mut text = String::new();
    for report in &out.reports {
        let of: Vec<String> = report
            .finding
            .members
            .iter()
            .map(|m| m.span.to_string())
            .collect();
        let _ = writeln!(text, "{} {}", report.finding.anomaly.name(), of.join(","));
    }
    text
}

#[test]
fn p9_batches_and_roots_that_come_last_change_nothing() {
    let mut spans: Vec<Span> = (1..=4)
        .flat_map(|at| {
            let path = json!({ "path": "src/missing.py" });
            [
                asks(at * 10, "read_file", &path).under(1),
                miss(at * 10 + 1).under(1),
            ]
        })
        .collect();
    spans.push(says(60, FINAL).under(1));
    spans.push(agent(1, "coder").lasting(0, 61_000));
    let whole = members(&one(&spans));
    assert!(whole.starts_with("failure_loop "), "{whole}");
    for size in [1, 2, 4, 7] {
        let bodies: Vec<Bytes> = spans.chunks(size).map(|some| body("s", some)).collect();
        assert_eq!(members(&judge(&bodies)), whole, "requests of {size}");
    }
    // The root never comes.
    let orphans = spans.get(..spans.len() - 1).unwrap();
    assert_eq!(members(&one(orphans)), whole);
}

#[test]
fn p10_equal_times_keep_the_order_sent_and_parents_before_children() {
    // All in one millisecond: by the order of arrival the fix comes before the test that passes.
    let edit = tool(
        2,
        "edit_file",
        &json!({ "path": "/w/a.py", "old": "1", "new": "2" }),
        "edited",
    );
    let test = |id: u64| {
        tool(
            id,
            "bash",
            &json!({ "command": "pytest -q" }),
            "3 passed in 0.01s\n[exit code: 0]",
        )
    };
    let claim = says(8, "Done. All tests pass.");
    let ordered = [
        edit.clone().lasting(1_000, 1_001),
        test(3).lasting(1_001, 1_002),
        claim.clone().lasting(1_002, 1_002),
    ];
    assert_eq!(found(&one(&ordered)), [""; 0]);
    let stale = [
        test(3).lasting(1_000, 1_001),
        edit.lasting(1_001, 1_002),
        claim.lasting(1_002, 1_003),
    ];
    assert_eq!(found(&one(&stale)), ["premature_victory"]);
    // A child that ends after its parent, and starts with it, is counted like any other.
    let late: Vec<Span> = (1..=3)
        .map(|at| miss(at * 10).under(1).lasting(1_000 * at, 1_000 * at))
        .collect();
    let root = agent(1, "a").lasting(1_000, 2_900);
    let out = one(&[late, vec![root]].concat());
    assert_eq!(found(&out), ["failure_loop"]);
    let steps: Vec<u32> = out.reports[0]
        .finding
        .members
        .iter()
        .map(|m| m.step)
        .collect();
    assert_eq!(steps, [0, 1, 2]);
}

#[test]
fn p11_conversations_of_many_traces_with_strays_between() {
    let session = json!({ "gen_ai.conversation.id": "c-1" });
    let blank = |trace: u64| {
        let span = chat(
            trace * 100,
            &json!([{ "type": "text", "content": "" }]),
            "other",
        );
        Span {
            attributes: with(span.attributes.clone(), &session),
            ..span
        }
        .of_trace(trace)
    };
    let stray =
        |id: u64, name: &str, attributes: Value| Span::new(id, name, attributes).of_trace(id);
    let spans = [
        stray(
            50,
            "create_agent a",
            json!({ "gen_ai.operation.name": "create_agent" }),
        ),
        blank(1),
        stray(51, "tools/list", json!({ "mcp.method.name": "tools/list" })),
        blank(2),
        stray(
            52,
            "server/discover",
            json!({ "mcp.method.name": "server/discover" }),
        ),
        blank(3),
    ];
    let out = one(&spans);
    // Three in a row, over three traces; strays are no runs.
    assert_eq!(found(&out), ["empty_response"]);
    assert_eq!(out.reports[0].finding.count, 3);
    assert_eq!(out.closed.len(), 3);
    let sessions: Vec<&str> = out.closed.iter().map(|run| &*run.session).collect();
    assert_eq!(sessions, ["c-1"; 3]);
}

#[test]
fn p20_runs_that_a_framework_ends_after_three_failures_are_found() {
    let out = judge(&[capture("agent-framework/stuck.001.pb")]);
    assert_eq!(found(&out), ["failure_loop"]);
    assert_eq!(out.reports[0].finding.count, 3);
    let out = one(&[miss(1), miss(2), miss(3)]);
    assert_eq!(found(&out), ["failure_loop"]);
    assert_eq!(found(&one(&[miss(1), miss(2)])), [""; 0]);
}

#[test]
fn p21_nothing_written_holds_what_metadata_leak() {
    let leak = json!({ "langsmith.metadata.LANGSMITH_API_KEY": "lsv2_hush", "user.email": "hush@example.org",
        "user.account_uuid": "hush-7", "metadata": r#"{"LANGSMITH_API_KEY": "lsv2_hush"}"# });
    let spans: Vec<Span> = (1..=4)
        .map(|id| {
            let span = miss(id);
            Span {
                attributes: with(span.attributes.clone(), &leak),
                ..span
            }
        })
        .collect();
    let out = one(&spans);
    assert!(!out.reports.is_empty());
    for report in &out.reports {
        assert!(!format!("{report:?}").contains("hush"));
    }
    let written: Vec<&Bytes> = out
        .releases
        .iter()
        .flat_map(|release| &release.patches)
        .map(|patch| &patch.bytes)
        .collect();
    assert!(!written.is_empty());
    for bytes in written {
        assert!(!bytes.windows(4).any(|some| some == b"hush"));
    }
}

#[test]
fn p31_calls_that_a_framework_repaired_are_no_broken_ones() {
    let path = json!({ "path": "src/calc.py" });
    let mut call = tool(3, "read_file", &path, "def add(a, b): ...");
    call.attributes["gen_ai.tool.call.id"] = json!("call-2");
    let definitions = json!([{ "type": "function", "name": "read_file",
        "parameters": { "type": "object", "properties": { "path": { "type": "string" } } } }]);
    let mut ask = asks(2, "read_file", &json!("{\"path\": \"src/cal"));
    ask.attributes["gen_ai.tool.definitions"] = definitions.to_string().into();
    let out = one(&[ask.clone(), call.clone(), says(5, "It adds.")]);
    assert_eq!(found(&out), [""; 0]);
    let step = read("s", &[call]).steps.remove(0);
    assert!(matches!(step.action, Action::ToolCall(call) if call.outcome == Outcome::Succeeded));
    // Without the call it is one.
    assert_eq!(found(&one(&[ask, says(5, "It adds.")])), ["invalid_args"]);
}

#[test]
fn p33_claims_apart_from_their_steps_are_no_invented_proofs() {
    // The model's spans lie in traces of their own, without a conversation: nothing is known of the work.
    let claim = says(1, "Done! All tests pass.");
    let tests = tool(
        2,
        "bash",
        &json!({ "command": "pytest -q" }),
        "3 passed\n[exit code: 0]",
    )
    .of_trace(2);
    let out = one(&[tests, claim.clone()]);
    let loud: Vec<_> = out
        .reports
        .iter()
        .filter(|r| r.severity > Severity::Info)
        .collect();
    assert!(loud.is_empty(), "{loud:?}");
    assert_eq!(
        lacks(&out, "premature_victory").first(),
        Some(&"no tool spans")
    );
    // In a run that shows its steps it is one.
    let reads = tool(2, "read_file", &json!({ "path": "a.py" }), "x = 1");
    let late = Span { id: 9, ..claim }.lasting(9_000, 9_100);
    assert_eq!(found(&one(&[reads, late])), ["premature_victory"]);
    // Parents dangle, roots never come: steps are judged all the same.
    let dangling: Vec<Span> = (2..=4).map(|id| miss(id).under(99)).collect();
    assert_eq!(found(&one(&dangling)), ["failure_loop"]);
}

/// An agent of this id under this parent (0: the root) in the shape of a framework.
type Shape = fn(u64, u64) -> Vec<Span>;

/// Sub-agents of two kinds under one parent that read the same three missing files at the same time: each does so
/// once or twice, which is no loop; both together would be one.
fn siblings(make: Shape) -> Output {
    let root = make(1, 0);
    let left = make(2, 1);
    let right = make(3, 1);
    let spans = [left, right, root].concat();
    one(&spans)
}

/// A GenAI sub-agent without a name and its two failing calls.
fn genai(id: u64, parent: u64) -> Vec<Span> {
    let run = Span::new(
        id,
        "invoke_agent",
        json!({ "gen_ai.operation.name": "invoke_agent" }),
    )
    .under(parent)
    .lasting(1_000, 9_000);
    if parent == 0 {
        return vec![run];
    }
    let calls = (0..2).map(|at| {
        miss(id * 10 + at)
            .under(id)
            .lasting(2_000 + at * 1_000 + id, 2_500 + at * 1_000 + id)
    });
    calls.chain([run]).collect()
}

/// The same in OpenInference, where agents hang calls under chains of their own.
fn openinference(id: u64, parent: u64) -> Vec<Span> {
    let kind = |kind: &str| json!({ "openinference.span.kind": kind });
    let run = Span::new(id, "", kind("AGENT"))
        .under(parent)
        .lasting(1_000, 9_000);
    if parent == 0 {
        return vec![run];
    }
    let calls = (0..2).map(|at| {
        Span::new(
            id * 10 + at,
            "read_file",
            with(kind("TOOL"), &json!({ "tool.name": "read_file", "input.value": r#"{"path": "src/missing.py"}"# })),
        )
        .under(id)
        .lasting(2_000 + at * 1_000 + id, 2_500 + at * 1_000 + id)
        .failed("FileNotFoundError: src/missing.py")
    });
    calls.chain([run]).collect()
}

/// The same as the Vercel AI SDK sends it: nested `ai.generateText` without a function id.
fn vercel(id: u64, parent: u64) -> Vec<Span> {
    let run = Span::new(
        id,
        "ai.generateText",
        json!({ "ai.operationId": "ai.generateText" }),
    )
    .under(parent)
    .lasting(1_000, 9_000);
    if parent == 0 {
        return vec![run];
    }
    let calls = (0..2).map(|at| {
        Span::new(
            id * 10 + at,
            "ai.toolCall",
            json!({ "ai.operationId": "ai.toolCall", "ai.toolCall.name": "read_file",
                "ai.toolCall.args": r#"{"path": "src/missing.py"}"# }),
        )
        .under(id)
        .lasting(2_000 + at * 1_000 + id, 2_500 + at * 1_000 + id)
        .failed("FileNotFoundError: src/missing.py")
    });
    calls.chain([run]).collect()
}

#[test]
fn sub_agents_without_names_under_one_parent_stay_apart() {
    let shapes: [(&str, Shape); 3] = [
        ("GenAI", genai),
        ("OpenInference", openinference),
        ("Vercel", vercel),
    ];
    for (shape, make) in shapes {
        let out = siblings(make);
        assert_eq!(found(&out), [""; 0], "{shape}: {}", members(&out));
        // Each alone is judged: with a third failing call of its own one of them is in a loop, by its own calls only.
        let mut left = make(2, 1);
        let mut third = left[0].clone();
        (third.id, third.start, third.end) = (29, 4_002, 4_502);
        left.insert(0, third);
        let out = one(&[left, make(3, 1), make(1, 0)].concat());
        assert_eq!(found(&out), ["failure_loop"], "{shape}");
        let of: Vec<String> = out.reports[0]
            .finding
            .members
            .iter()
            .map(|m| m.span.to_string())
            .collect();
        let expected: Vec<String> = [20, 21, 29]
            .iter()
            .map(|id: &u64| format!("{id:016x}"))
            .collect();
        assert_eq!(of, expected, "{shape}");
    }
}

#[test]
fn redacted_content_is_not_empty_in_any_shape() {
    let answers = [
        json!({ "gen_ai.operation.name": "chat", "gen_ai.response.finish_reasons": ["stop"],
            "gen_ai.output.messages": r#"[{"role":"assistant","parts":[{"type":"text"}]}]"# }),
        json!({ "gen_ai.operation.name": "chat", "gen_ai.response.finish_reasons": ["stop"] }),
        json!({ "openinference.span.kind": "LLM", "llm.finish_reason": "stop",
            "llm.output_messages.0.message.content": "__REDACTED__" }),
        json!({ "ai.operationId": "ai.generateText.doGenerate", "ai.response.finishReason": "stop" }),
        json!({ "langfuse.observation.type": "generation" }),
        json!({ "mlflow.spanType": "\"CHAT_MODEL\"" }),
    ];
    for attributes in answers {
        let spans: Vec<Span> = (1..=3)
            .map(|id| Span::new(id, "chat m", attributes.clone()))
            .collect();
        let out = one(&spans);
        assert_eq!(found(&out), [""; 0], "{attributes}");
        assert_eq!(lacks(&out, "empty_response"), ["no text"], "{attributes}");
    }
}
