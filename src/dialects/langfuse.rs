//! Langfuse's SDKs: `langfuse.observation.type`, inputs and outputs as JSON or bare text.

use std::borrow::Cow;
use std::sync::LazyLock;

use smallvec::smallvec;

use crate::otlp::{Seen, Value};

use super::Dialect;
use super::fault;
use super::fields::{Field, Fields, Table};
use super::json::pick;
use super::messages;
use super::parts::Whose;
use super::raw::{Definitions, Part, Raw, Text};
use super::responses;

/// Langfuse's observations name their type.
pub(super) const LANGFUSE: Dialect = Dialect {
    marker: "langfuse.observation.type",
    read,
};

/// Keys by field, in order of precedence.
const KEYS: &[(Field, &[&str])] = &[
    (Field::Tool, &["gen_ai.tool.name"]),
    (
        Field::CallId,
        &[
            "gen_ai.tool.call.id",
            "langfuse.observation.metadata.tool_call_id",
        ],
    ),
    (Field::Arguments, &["langfuse.observation.input"]),
    (Field::Result, &["langfuse.observation.output"]),
    (Field::ErrorType, &["error.type"]),
    (Field::Success, &["langfuse.observation.level"]),
    (Field::Message, &["langfuse.observation.status_message"]),
    (
        Field::Agent,
        &[
            "gen_ai.agent.name",
            "langfuse.observation.metadata.agent_name",
        ],
    ),
    (
        Field::Conversation,
        &[
            "session.id",
            "langfuse.session.id",
            "langfuse.trace.metadata.session_id",
            "gen_ai.conversation.id",
        ],
    ),
    (Field::Usage, &["langfuse.observation.usage_details"]),
    (Field::Costs, &["langfuse.observation.cost_details"]),
];

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::new(KEYS));

fn read<'a>(seen: &Seen<'a>, kind: Value<'a>) -> Option<Raw<'a>> {
    let span = seen.span;
    let root = span.parent_span_id().is_none();
    let part = match kind.as_str()? {
        "tool" => Part::ToolCall,
        "generation" => Part::ModelCall,
        "agent" => Part::AgentRun,
        "span" | "chain" if root => Part::AgentRun,
        _ => return None,
    };
    let fields = Fields::gather(span, &TABLE, |_, _| {});
    let name = Some(span.name()).filter(|name| !name.is_empty());
    let mut raw = Raw {
        part,
        fault: fault::read(span, &fields),
        agent: fields.name(Field::Agent),
        conversation: fields.text(Field::Conversation),
        ..Raw::default()
    };
    let input = fields.text(Field::Arguments);
    let output = fields.text(Field::Result);
    match part {
        Part::ToolCall => {
            raw.tool = fields.name(Field::Tool).or(name.map(Cow::Borrowed));
            raw.call_id = fields.text(Field::CallId);
            raw.arguments = input;
            raw.result = output;
        }
        Part::ModelCall => {
            raw.usage = fields.usage_in(
                ["input", "prompt_tokens", "input_tokens", "promptTokens"],
                [
                    "output",
                    "completion_tokens",
                    "output_tokens",
                    "completionTokens",
                ],
                ["total", "total_cost"],
            );
            raw.reply = output.map_or_else(Default::default, |text| {
                responses::reply(text, Whose::Model)
            });
            raw.definitions = input.as_ref().and_then(tools);
            raw.input = input.map_or_else(Default::default, messages::input);
        }
        _ => {
            if kind.as_str() == Some("agent") && raw.agent.is_none() {
                raw.agent = name.map(Cow::Borrowed);
            }
            raw.reply =
                output.map_or_else(Default::default, |text| responses::reply(text, Whose::Run));
            raw.input.goal = input.and_then(messages::first_user);
        }
    }
    Some(raw)
}

/// The tools in a request to a model.
pub(super) fn tools<'a>(request: &Text<'a>) -> Option<Definitions<'a>> {
    let tools = match request {
        Cow::Borrowed(text) => pick(text, ["tools"])[0].map(Cow::Borrowed),
        Cow::Owned(text) => pick(text, ["tools"])[0].map(|tools| Cow::Owned(tools.to_owned())),
    };
    Some(Definitions {
        parts: smallvec![tools?],
    })
}
