//! Claude Code and Codex: read after their public documentation and sources, not from captures. The spans here are
//! written from the monitoring page of Claude Code (its traces are a beta) and from the telemetry crate of Codex.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "support/spans.rs"]
mod spans;

use agent_sentinel::model::{Action, Arguments, Finish, Outcome, Role, Step, ToolCall};
use serde_json::{Value, json};
use spans::{Span, read};

fn one(span: Span) -> Step {
    let mut steps = read("", &[span]).steps;
    assert_eq!(steps.len(), 1);
    steps.remove(0)
}

fn tool(name: &str, attributes: Value, events: &[(&str, Value)]) -> (Step, ToolCall) {
    let mut span = Span::new(1, name, attributes);
    for (event, attributes) in events {
        span = span.event(event, attributes.clone());
    }
    let step = one(span);
    match step.action.clone() {
        Action::ToolCall(call) => (step, *call),
        other => panic!("{other:?}"),
    }
}

fn claude(attributes: Value, events: &[(&str, Value)]) -> (Step, ToolCall) {
    let mut all = json!({ "span.type": "tool", "session.id": "s-1", "tool_use_id": "toolu_1",
        "gen_ai.tool.call.id": "toolu_1", "duration_ms": 12 });
    for (key, value) in attributes.as_object().unwrap() {
        all[key] = value.clone();
    }
    tool("claude_code.tool", all, events)
}

#[test]
fn claude_code_tools_without_details_keep_name_and_id() {
    let (step, call) = claude(json!({ "tool_name": "Bash" }), &[]);
    assert_eq!((&*call.tool, call.role), ("Bash", Role::Shell));
    assert_eq!((call.key, call.arguments), (None, Arguments::Unknown));
    assert_eq!(call.outcome, Outcome::Unknown);
    assert!(call.call_id.is_some() && !call.answer.known);
    assert_eq!(step.conversation.as_deref(), Some("s-1"));
}

#[test]
fn claude_code_commands_are_arguments_and_paths_are_some_of_them() {
    let command = json!({ "tool_name": "Bash", "full_command": "pytest -q" });
    let output = [(
        "tool.output",
        json!({ "output": "1 failed, 2 passed in 0.1s\n[exit code: 1]" }),
    )];
    let (_, call) = claude(command, &output);
    assert!(call.key.is_some() && call.outcome.failed());
    assert!(call.effects.verification.is_some());
    // Two edits of one file are not the same edit.
    let (_, call) = claude(json!({ "tool_name": "Edit", "file_path": "/w/a.py" }), &[]);
    assert_eq!(call.key, None);
    assert!(
        call.effects
            .writes
            .iter()
            .any(|write| write.path.ends_with("a.py"))
    );
    let input = json!({ "tool_name": "Read", "tool_input": r#"{"file_path": "/w/a.py"}"# });
    assert!(claude(input, &[]).1.key.is_some());
}

#[test]
fn claude_code_sub_agents_have_ids_and_the_main_one_has_none() {
    let (step, _) = claude(
        json!({ "tool_name": "Read", "agent_id": "a7", "parent_agent_id": "a1" }),
        &[],
    );
    assert_eq!(step.agent.as_deref(), Some("a7"));
    assert_eq!(claude(json!({ "tool_name": "Read" }), &[]).0.agent, None);
}

#[test]
fn claude_code_requests_and_interactions() {
    let request = json!({ "session.id": "s-1", "model": "m", "input_tokens": 12, "output_tokens": 3,
        "cache_read_tokens": 900, "stop_reason": "tool_use", "success": true,
        "gen_ai.response.finish_reasons": ["tool_use"] });
    let step = one(Span::new(1, "claude_code.llm_request", request));
    assert_eq!(
        (step.usage.input_tokens, step.usage.output_tokens),
        (Some(12), Some(3))
    );
    let Action::ModelCall(call) = step.action else {
        panic!()
    };
    assert_eq!(
        (call.finish, call.text, call.failed),
        (Finish::ToolCalls, None, false)
    );
    let failed = json!({ "success": false, "error": "overloaded" });
    let Action::ModelCall(call) = one(Span::new(1, "claude_code.llm_request", failed)).action
    else {
        panic!()
    };
    assert!(call.failed);
    let turn = |prompt: &str| {
        let attributes =
            json!({ "user_prompt": prompt, "user_prompt_length": 33, "interaction.sequence": 1 });
        match one(Span::new(1, "claude_code.interaction", attributes)).action {
            Action::AgentRun(run) => *run,
            other => panic!("{other:?}"),
        }
    };
    assert!(
        turn("Fix it and run the tests.")
            .goal
            .unwrap()
            .asks_for_tests
    );
    // Hidden unless the prompt is let through.
    assert_eq!(turn("<REDACTED>").goal, None);
    assert_eq!(turn("<REDACTED>").output, None);
}

#[test]
fn claude_code_spans_beside_the_call_are_no_steps() {
    let others = [
        "claude_code.tool.execution",
        "claude_code.tool.blocked_on_user",
        "claude_code.hook",
    ];
    for name in others {
        let span = Span::new(
            1,
            name,
            json!({ "success": true, "tool_use_id": "toolu_1" }),
        );
        assert_eq!(read("", &[span]).steps.len(), 0, "{name}");
    }
}

fn codex(attributes: Value, events: &[(&str, Value)]) -> ToolCall {
    let mut all = json!({ "tool_name": "shell", "call_id": "call_1", "aborted": false });
    for (key, value) in attributes.as_object().unwrap() {
        all[key] = value.clone();
    }
    tool("dispatch_tool_call", all, events).1
}

#[test]
fn codex_dispatches_are_calls() {
    let call = codex(json!({}), &[]);
    assert_eq!(
        (&*call.tool, call.key, call.outcome),
        ("shell", None, Outcome::Unknown)
    );
    assert!(codex(json!({ "aborted": true }), &[]).outcome.failed());
    // No id, no name: nothing that could be told apart.
    let other = Span::new(1, "x", json!({ "aborted": false, "tool_name": "shell" }));
    assert_eq!(read("", &[other]).steps.len(), 0);
}

#[test]
fn codex_results_come_as_events_with_or_without_content() {
    let told = json!({ "event.name": "codex.tool_result", "conversation.id": "c-1",
        "arguments": r#"{"command": ["bash", "-lc", "pytest -q"]}"#, "success": "false",
        "output": "2 failed in 0.1s" });
    let call = codex(json!({}), &[("event", told.clone())]);
    assert!(call.key.is_some() && call.answer.known && call.outcome.failed());
    assert!(call.effects.verification.is_some());
    let mut good = told.clone();
    (good["success"], good["output"]) = (json!("true"), json!("2 passed in 0.1s"));
    assert_eq!(
        codex(json!({}), &[("codex.tool_result", good)]).outcome,
        Outcome::Succeeded
    );
    let bare =
        json!({ "event.name": "codex.tool_result", "success": "true", "arguments_length": 20 });
    let call = codex(json!({}), &[("event", bare)]);
    assert_eq!((call.key, call.answer.known), (None, false));
    assert_eq!(call.outcome, Outcome::Succeeded);
    let (step, _) = tool(
        "dispatch_tool_call",
        json!({ "tool_name": "shell", "call_id": "call_1", "aborted": false }),
        &[("event", told)],
    );
    assert_eq!(step.conversation.as_deref(), Some("c-1"));
}
