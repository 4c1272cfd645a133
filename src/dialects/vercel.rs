//! The AI SDK of Vercel, versions 4 to 6, and 7 with its legacy integration: `ai.operationId`. Version 7
//! speaks GenAI by default.

use std::sync::LazyLock;

use crate::otlp::{Seen, Value};

use super::Dialect;
use super::fault;
use super::fields::{Field, Fields, Table};
use super::messages;
use super::otel_genai::finish_reason;
use super::parts;
use super::raw::{Part, Raw, Reply};
use super::responses::unquoted;

/// Spans of the SDK name their operation.
pub(super) const VERCEL: Dialect = Dialect {
    marker: "ai.operationId",
    read,
};

/// Keys by field, in order of precedence.
const KEYS: &[(Field, &[&str])] = &[
    (Field::Tool, &["ai.toolCall.name"]),
    (Field::CallId, &["ai.toolCall.id"]),
    (Field::Arguments, &["ai.toolCall.args", "ai.toolCall.input"]),
    (Field::Result, &["ai.toolCall.result", "ai.toolCall.output"]),
    (Field::ErrorType, &["error.type"]),
    (
        Field::Agent,
        &[
            "gen_ai.agent.name",
            "ai.telemetry.functionId",
            "resource.name",
        ],
    ),
    (
        Field::Conversation,
        &[
            "gen_ai.conversation.id",
            "session.id",
            "ai.telemetry.metadata.sessionId",
            "ai.telemetry.metadata.session_id",
            "ai.telemetry.metadata.threadId",
            "ai.telemetry.metadata.thread_id",
            "ai.telemetry.metadata.conversationId",
            "ai.telemetry.metadata.conversation_id",
            "ai.telemetry.metadata.chatId",
            "ai.telemetry.metadata.chat_id",
        ],
    ),
    (
        Field::InputTokens,
        &[
            "ai.usage.inputTokens",
            "ai.usage.promptTokens",
            "gen_ai.usage.input_tokens",
        ],
    ),
    (
        Field::OutputTokens,
        &[
            "ai.usage.outputTokens",
            "ai.usage.completionTokens",
            "gen_ai.usage.output_tokens",
        ],
    ),
    (Field::Input, &["ai.prompt.messages", "ai.prompt"]),
    (
        Field::Output,
        &["ai.response.toolCalls", "ai.result.toolCalls"],
    ),
    (
        Field::Final,
        &[
            "ai.response.text",
            "ai.response.object",
            "ai.result.text",
            "ai.result.object",
        ],
    ),
    (Field::Reasoning, &["ai.response.reasoning"]),
    (
        Field::Finish,
        &[
            "ai.response.finishReason",
            "ai.finishReason",
            "gen_ai.response.finish_reasons",
        ],
    ),
    (Field::Definitions, &["ai.prompt.tools"]),
];

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::new(KEYS));

fn read<'a>(seen: &Seen<'a>, operation: Value<'a>) -> Option<Raw<'a>> {
    let span = seen.span;
    let part = match operation.as_str()? {
        "ai.toolCall" => Part::ToolCall,
        "ai.generateText" | "ai.streamText" | "ai.generateObject" | "ai.streamObject" => {
            Part::AgentRun
        }
        other if other.ends_with(".doGenerate") || other.ends_with(".doStream") => Part::ModelCall,
        _ => return None,
    };
    let fields = Fields::gather(span, &TABLE, |_, _| {});
    let mut raw = Raw {
        part,
        fault: fault::read(span, &fields),
        agent: fields.name(Field::Agent),
        conversation: fields.text(Field::Conversation),
        ..Raw::default()
    };
    match part {
        Part::ToolCall => {
            raw.tool = fields.name(Field::Tool);
            raw.call_id = fields.text(Field::CallId);
            raw.arguments = fields.text(Field::Arguments);
            // Strings come in quotes, though nothing says so of a text that has none.
            raw.result = fields.text(Field::Result).map(unquoted);
        }
        Part::ModelCall => {
            raw.usage = fields.usage();
            raw.reply = reply(&fields);
            raw.input = fields
                .text(Field::Input)
                .map_or_else(Default::default, messages::input);
            raw.definitions = fields.definitions();
        }
        _ => {
            raw.reply = reply(&fields);
            raw.input.goal = fields.text(Field::Input).and_then(messages::first_user);
        }
    }
    Some(raw)
}

fn reply<'a>(fields: &Fields<'a>) -> Reply<'a> {
    let calls = fields.text(Field::Output).map(parts::requested);
    Reply {
        text: fields.text(Field::Final),
        reasoning: fields
            .text(Field::Reasoning)
            .filter(|text| !text.is_empty())
            .into_iter()
            .collect(),
        calls: calls.unwrap_or_default(),
        finish: fields.value(Field::Finish).and_then(finish_reason),
    }
}
