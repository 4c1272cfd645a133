//! Events of Codex (`codex.*`), after its sources. It sends them without spans that tell as much: calls with
//! arguments and a preview of their output, and the tokens of answers, are steps told by records alone. What models
//! wrote is never told.

use std::borrow::Cow;
use std::time::Duration;

use crate::model::Usage;

use super::events::{Event, Told, name, session, shown, truth};
use super::raw::{Fault, Part, Raw};
use super::values;

/// The convention that its spans follow.
pub(super) const MARK: &str = "aborted";

/// Stands in a preview where the rest was left out.
const CUT: &str = "telemetry preview truncated";

/// Reads an event, given the name behind `codex.`.
pub(super) fn read<'a>(told: Told<'_, 'a>) -> Option<Event<'a>> {
    let conversation = session(told, &["conversation.id", "thread_id", "thread.id"]);
    let base = |part| Raw {
        part,
        conversation: conversation.clone(),
        ..Raw::default()
    };
    match told.kind {
        "user_prompt" => conversation.map(Event::Prompt),
        "tool_result" => {
            let raw = call(told, base(Part::ToolCall))?;
            Some(Event::Step {
                raw,
                took: told.millis("duration_ms"),
                id: name(told, "call_id"),
            })
        }
        // The answer is over: requests and the other events of its stream tell nothing more.
        "sse_event" | "websocket_event" => {
            let kind = told.get("event.kind")?.as_str()?;
            let usage = usage(told);
            let tells = kind == "response.completed" && usage != Usage::default();
            tells.then(|| Event::Step {
                raw: Raw {
                    usage,
                    ..base(Part::ModelCall)
                },
                took: Duration::ZERO,
                id: None,
            })
        }
        "api_request" => {
            let message = shown(told.text("error.message"))?;
            Some(Event::Step {
                raw: Raw {
                    fault: Fault {
                        failed: Some(true),
                        exception: Some(Cow::Borrowed("")),
                        exception_message: Some(message),
                        ..Fault::default()
                    },
                    ..base(Part::ModelCall)
                },
                took: told.millis("duration_ms"),
                id: None,
            })
        }
        _ => None,
    }
}

fn call<'a>(told: Told<'_, 'a>, base: Raw<'a>) -> Option<Raw<'a>> {
    let mut raw = base;
    let tool = name(told, "tool_name")?;
    raw.tool = match name(told, "mcp_server") {
        Some(server) => Some(Cow::Owned(format!("mcp__{server}__{tool}"))),
        None => Some(tool),
    };
    raw.agent = name(told, "agent_name");
    raw.call_id = name(told, "call_id");
    raw.arguments = shown(told.text("arguments"));
    raw.fault.failed = truth(told.get("success")).map(|success| !success);
    let output = told.text("output");
    let cut = truth(told.get("output_truncated")) == Some(true)
        || output.as_deref().is_some_and(|text| text.contains(CUT));
    if !cut {
        raw.result = output;
    } else if raw.fault.failed == Some(true) {
        // Two previews may be equal where the outputs are not; as words of a failure they will do.
        raw.fault.exception = Some(Cow::Borrowed(""));
        raw.fault.exception_message = output;
    }
    Some(raw)
}

fn usage(told: Told<'_, '_>) -> Usage {
    let tokens = |key: &str| {
        let number = told.get(key).and_then(values::integer);
        number.and_then(|number| u64::try_from(number).ok())
    };
    Usage {
        input_tokens: tokens("input_token_count"),
        output_tokens: tokens("output_token_count"),
        cost_usd: None,
    }
}
