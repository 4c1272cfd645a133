//! Events of Claude Code (`claude_code.*`), after its documentation. It sends them without any span unless its
//! tracing, a beta, is switched on: calls and requests are steps told by records alone.
//!
//! A call's result is never told, its arguments only where `OTEL_LOG_TOOL_DETAILS` allows it; calls that a user
//! has refused have no result event and are no steps.

use std::borrow::Cow;

use crate::model::Usage;

use super::events::{Event, Told, name, session, shown, truth};
use super::json::pick;
use super::parts::value_text;
use super::raw::{Fault, Part, Raw, Reply};
use super::values;

/// What the names of its events and spans begin with.
pub(super) const MARK: &str = "claude_code.";

/// Reads an event, given the name behind the mark.
pub(super) fn read<'a>(told: Told<'_, 'a>) -> Option<Event<'a>> {
    let conversation = session(told, &["session.id", "gen_ai.conversation.id"]);
    let request = || name(told, "request_id");
    let base = |part| Raw {
        part,
        agent: name(told, "agent_id").or_else(|| name(told, "agent.name")),
        conversation: conversation.clone(),
        ..Raw::default()
    };
    match told.kind {
        "user_prompt" => conversation.map(Event::Prompt),
        "tool_result" => Some(Event::Step {
            raw: call(told, base(Part::ToolCall))?,
            took: told.millis("duration_ms"),
            id: name(told, "tool_use_id"),
        }),
        "api_request" => Some(Event::Step {
            raw: Raw {
                usage: usage(told),
                ..base(Part::ModelCall)
            },
            took: told.millis("duration_ms"),
            id: request(),
        }),
        "api_error" => Some(Event::Step {
            raw: Raw {
                fault: Fault {
                    failed: Some(true),
                    exception: Some(Cow::Borrowed("")),
                    exception_message: told.text("error"),
                    ..Fault::default()
                },
                ..base(Part::ModelCall)
            },
            took: told.millis("duration_ms"),
            id: request(),
        }),
        "assistant_response" => {
            let text = shown(told.text("response"))?;
            let raw = Raw {
                reply: Reply {
                    text: Some(text),
                    ..Reply::default()
                },
                ..base(Part::ModelCall)
            };
            // Told of a request that has an event of its own.
            Some(match request() {
                Some(id) => Event::Answer { raw, id },
                None => Event::Step {
                    raw,
                    took: Default::default(),
                    id: None,
                },
            })
        }
        _ => None,
    }
}

fn call<'a>(told: Told<'_, 'a>, base: Raw<'a>) -> Option<Raw<'a>> {
    let parameters = told.text("tool_parameters");
    let text = parameters.as_deref().unwrap_or_default();
    let [command, server, tool] = pick(text, ["full_command", "mcp_server_name", "mcp_tool_name"]);
    let mut raw = base;
    raw.tool = match (name(told, "tool_name")?, server, tool) {
        // All tools of servers go by one name unless details are on.
        (known, Some(server), Some(tool)) if known == "mcp_tool" => {
            let (server, tool) = (value_text(server), value_text(tool));
            Some(Cow::Owned(format!("mcp__{server}__{tool}")))
        }
        (known, ..) => Some(known),
    };
    raw.call_id = name(told, "tool_use_id");
    let failed = truth(told.get("success")).map(|success| !success);
    raw.fault.failed = failed;
    if failed == Some(true) {
        raw.fault.kind = name(told, "error_type");
        let words = shown(told.text("error"));
        raw.fault.exception = words.as_ref().map(|_| Cow::Borrowed(""));
        raw.fault.exception_message = words;
    }
    if let Some(input) = shown(told.text("tool_input")) {
        // Long values are cut, and the size told is that of the whole.
        let size = told.get("tool_input_size_bytes").and_then(values::integer);
        let whole = usize::try_from(size.unwrap_or(0)).unwrap_or(usize::MAX);
        raw.partial = input.len() < whole;
        raw.arguments = Some(input);
    } else if let Some(command) = command {
        // A command is all that a shell gets.
        raw.arguments = Some(Cow::Owned(format!(r#"{{"command":{command}}}"#)));
    } else if parameters.is_some() {
        raw.partial = true;
        raw.arguments = parameters;
    }
    Some(raw)
}

fn usage(told: Told<'_, '_>) -> Usage {
    let tokens = |key: &str| {
        let number = told.get(key).and_then(values::integer);
        number.and_then(|number| u64::try_from(number).ok())
    };
    Usage {
        input_tokens: tokens("input_tokens"),
        output_tokens: tokens("output_tokens"),
        cost_usd: told
            .get("cost_usd")
            .and_then(values::float)
            .filter(|cost| cost.is_finite() && *cost >= 0.0),
    }
}
