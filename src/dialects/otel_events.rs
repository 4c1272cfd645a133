//! OpenTelemetry's GenAI events as log records: the content of one model call as one event (generation C), or
//! message by message (generation B). They belong to the span that they stand in.

use std::borrow::Cow;

use crate::otlp::Value;

use super::events::{Event, Told, name, session};
use super::fields::definitions_in;
use super::json::{pick, write_text};
use super::messages;
use super::otel_genai::finish_reason;
use super::parts::{self, Whose, value_text};
use super::raw::{Definitions, Input, Part, Raw, Reply, Text};
use super::responses;
use super::values;

/// The convention that spans of these events follow.
pub(super) const MARK: &str = "gen_ai.operation.name";

/// Members of the event that tells all at once, as they stand in a body that is JSON text (P29).
const MEMBERS: [&str; 5] = [
    "gen_ai.output.messages",
    "gen_ai.input.messages",
    "gen_ai.tool.definitions",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
];

/// Reads an event, given the name behind `gen_ai.`; `None` when it holds nothing that is judged.
pub(super) fn read<'a>(told: Told<'_, 'a>) -> Option<Event<'a>> {
    match told.kind {
        "client.inference.operation.details" | "client.operation.details" | "tool.call.details" => {
            let raw = details(told)?;
            Some(Event::Content { raw, part: false })
        }
        "choice" => {
            let raw = Raw {
                part: Part::ModelCall,
                reply: choice(told)?,
                ..Raw::default()
            };
            Some(Event::Content { raw, part: true })
        }
        "user.message" => {
            let raw = Raw {
                part: Part::ModelCall,
                input: Input {
                    user_messages: Some(1),
                    goal: content(told),
                    ..Input::default()
                },
                ..Raw::default()
            };
            Some(Event::Content { raw, part: true })
        }
        // What systems, assistants and tools said before is history: the steps before have told it.
        _ => None,
    }
}

fn details<'a>(told: Told<'_, 'a>) -> Option<Raw<'a>> {
    let mut raw = Raw {
        part: Part::ModelCall,
        agent: name(told, "gen_ai.agent.name"),
        conversation: session(told, &["gen_ai.conversation.id"]),
        ..Raw::default()
    };
    let said = [0, 1, 2, 3, 4].map(|at| MEMBERS.get(at).and_then(|key| told.text(key)));
    let tools = told.get("gen_ai.tool.definitions").and_then(definitions_in);
    let [output, input, definitions, arguments, result] = match told.body() {
        Value::Str(body) if said.iter().all(Option::is_none) => {
            pick(body, MEMBERS).map(|found| found.map(value_text))
        }
        _ => said,
    };
    if let Some(output) = output {
        raw.reply = responses::reply(output, Whose::Model);
    }
    if let Some(input) = input {
        raw.input = messages::input(input);
    }
    raw.definitions = tools.or_else(|| {
        definitions.map(|text| Definitions {
            parts: smallvec::smallvec![text],
        })
    });
    let finish = told.get("gen_ai.response.finish_reasons");
    if let Some(finish) = finish.and_then(finish_reason) {
        raw.reply.finish = Some(finish);
    }
    if arguments.is_some() || result.is_some() {
        raw.part = Part::ToolCall;
        raw.tool = name(told, "gen_ai.tool.name");
        raw.call_id = name(told, "gen_ai.tool.call.id").filter(|id| *id != "<not specified>");
        raw.arguments = arguments;
        raw.result = result;
    }
    let holds = raw.reply != Reply::default()
        || raw.input != Input::default()
        || raw.definitions.is_some()
        || raw.part == Part::ToolCall;
    holds.then_some(raw)
}

/// The answer, as `gen_ai.choice` has it: `{finish_reason, message: {content, tool_calls}}`, in older releases with
/// the calls beside the message.
fn choice<'a>(told: Told<'_, 'a>) -> Option<Reply<'a>> {
    let finish = told.text("finish_reason");
    let message = told.text("message").or_else(|| told.text("content"));
    let calls = told.text("tool_calls");
    let (message, calls, finish) = match told.body() {
        Value::Str(body) if message.is_none() && calls.is_none() => {
            let [message, content, calls, reason] =
                pick(body, ["message", "content", "tool_calls", "finish_reason"]);
            let text = |found: Option<&'a str>| found.map(Cow::Borrowed);
            (
                text(message.or(content)),
                text(calls),
                reason.map(value_text).or(finish),
            )
        }
        _ => (message, calls, finish),
    };
    if message.is_none() && calls.is_none() && finish.is_none() {
        return None;
    }
    let mut reply = message.map_or_else(Reply::default, |text| said(&text));
    if reply.calls.is_empty()
        && let Some(calls) = calls
    {
        reply.calls = parts::requested(calls);
    }
    reply.finish = finish.or(reply.finish);
    Some(reply)
}

/// A message without a role is the assistant's.
fn said<'b>(message: &str) -> Reply<'b> {
    let [role, parts] = pick(message, ["role", "parts"]);
    if message.trim_start().starts_with('{') && role.is_none() && parts.is_none() {
        let [content, calls] = pick(message, ["content", "tool_calls"]);
        let content = content.unwrap_or("null");
        let calls = calls.unwrap_or("[]");
        // Content that was left out is unknown, not empty (P1).
        let json = if content == "null" {
            format!(r#"{{"role":"assistant","tool_calls":{calls}}}"#)
        } else {
            format!(r#"{{"role":"assistant","content":{content},"tool_calls":{calls}}}"#)
        };
        return responses::reply(Cow::Owned(json), Whose::Model);
    }
    responses::reply(Cow::Borrowed(message), Whose::Model).into_owned()
}

/// What a message says, still encoded.
fn content<'a>(told: Told<'_, 'a>) -> Option<Text<'a>> {
    if let Some(content) = told.get("content") {
        return encoded(content);
    }
    let body = told.body().as_str()?;
    let [content] = pick(body, ["content"]);
    match content {
        Some(content) => Some(Cow::Borrowed(content)),
        None if body.trim_start().starts_with('{') => None,
        None => encoded(Value::Str(body)),
    }
}

/// A plain text as a JSON string, so that one that looks like JSON is not taken for it.
fn encoded(value: Value<'_>) -> Option<Text<'_>> {
    let Value::Str(text) = value else {
        return values::text(value);
    };
    if text.starts_with(['[', '{', '"']) {
        return Some(Cow::Borrowed(text));
    }
    let mut json = String::new();
    write_text(text, &mut json);
    Some(Cow::Owned(json))
}
