//! Spans of Claude Code (`claude_code.*`), after its documentation: content comes only where its settings
//! allow it. The outcome of a tool, which stands on a span of its own under the tool's, is not read.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::otlp::{Seen, SpanView};

use super::Named;
use super::fault;
use super::fields::{ATTRIBUTES, Field, Fields, Table};
use super::json::write_text;
use super::otel_genai::finish_reason;
use super::raw::{Part, Raw, Text};
use super::values;

/// Claude Code's spans are known by their names.
pub(super) const CLAUDE_CODE: Named = Named {
    prefix: "claude_code.",
    read,
};

/// Keys by field, in order of precedence.
const KEYS: &[(Field, &[&str])] = &[
    (Field::Tool, &["tool_name", "gen_ai.tool.name"]),
    (Field::CallId, &["tool_use_id", "gen_ai.tool.call.id"]),
    (
        Field::Arguments,
        &[
            "tool_input",
            "tool_parameters",
            "gen_ai.tool.call.arguments",
        ],
    ),
    (Field::ErrorType, &["error_type", "error.type"]),
    (Field::Message, &["error"]),
    (Field::Success, &["success"]),
    // The main agent has no id.
    (Field::Agent, &["agent_id", "gen_ai.agent.name"]),
    (
        Field::Conversation,
        &["session.id", "gen_ai.conversation.id"],
    ),
    (
        Field::InputTokens,
        &["input_tokens", "gen_ai.usage.input_tokens"],
    ),
    (
        Field::OutputTokens,
        &["output_tokens", "gen_ai.usage.output_tokens"],
    ),
    (Field::Cost, &["cost_usd"]),
    (Field::Input, &["user_prompt"]),
    (Field::Final, &["response.model_output"]),
    (
        Field::Finish,
        &["stop_reason", "gen_ai.response.finish_reasons"],
    ),
];

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::new(KEYS));

fn read<'a>(seen: &Seen<'a>, kind: &'a str) -> Option<Raw<'a>> {
    let span = seen.span;
    let part = match kind {
        "interaction" => Part::AgentRun,
        "llm_request" => Part::ModelCall,
        "tool" => Part::ToolCall,
        _ => return None,
    };
    let mut detail = Detail::default();
    let fields = Fields::gather(span, &TABLE, |key, value| match key {
        "full_command" => detail.command = values::text(value),
        "file_path" => detail.path = values::text(value),
        _ => {}
    });
    let mut raw = Raw {
        part,
        fault: fault::read(span, &fields),
        agent: fields.name(Field::Agent),
        conversation: fields.text(Field::Conversation),
        ..Raw::default()
    };
    match part {
        Part::ModelCall => {
            raw.usage = fields.usage();
            raw.reply.text = fields.text(Field::Final);
            raw.reply.finish = fields.value(Field::Finish).and_then(finish_reason);
        }
        Part::AgentRun => raw.input.goal = fields.text(Field::Input),
        _ => {
            raw.tool = fields.name(Field::Tool);
            raw.call_id = fields.text(Field::CallId);
            raw.arguments = fields.text(Field::Arguments);
            if raw.arguments.is_none() {
                // A command is all that a shell gets; a path says where, but not what is done there.
                raw.partial = detail.command.is_none();
                raw.arguments = detail.told();
            }
            raw.result = output(span);
        }
    }
    Some(raw)
}

/// What is told of a call's arguments where they are not.
#[derive(Default)]
struct Detail<'a> {
    command: Option<Text<'a>>,
    path: Option<Text<'a>>,
}

impl<'a> Detail<'a> {
    fn told(self) -> Option<Text<'a>> {
        let (name, text) = match (self.command, self.path) {
            (Some(command), _) => ("command", command),
            (None, Some(path)) => ("file_path", path),
            (None, None) => return None,
        };
        let mut out = String::from("{\"");
        out.push_str(name);
        out.push_str("\":");
        write_text(&text, &mut out);
        out.push('}');
        Some(Cow::Owned(out))
    }
}

/// The content of the event that holds a tool's output.
fn output<'a>(span: &SpanView<'a>) -> Option<Text<'a>> {
    let event = span
        .events()
        .take(super::EVENTS)
        .filter(|event| event.name() == "tool.output")
        .last()?;
    let mut best = (usize::MAX, None);
    for (key, value) in event.attributes().take(ATTRIBUTES) {
        let rank = ["output", "content", "result"]
            .iter()
            .position(|name| *name == key);
        if let Some(rank) = rank.filter(|rank| *rank < best.0) {
            best = (rank, values::text(value));
        }
    }
    best.1
}
