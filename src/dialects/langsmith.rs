//! LangSmith's OpenTelemetry export: `langsmith.span.kind`, with the inputs and outputs of a run as JSON in
//! `gen_ai.prompt` and `gen_ai.completion`. It goes before the GenAI conventions, whose operation its spans
//! name too, with content that is LangChain's own.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::otlp::{Seen, Value};

use super::Dialect;
use super::fault;
use super::fields::{Field, Fields, Table};
use super::messages;
use super::otel_genai::finish_reason;
use super::parts::Whose;
use super::raw::{Part, Raw};
use super::responses;

/// LangSmith's spans name their kind.
pub(super) const LANGSMITH: Dialect = Dialect {
    marker: "langsmith.span.kind",
    read,
};

/// Keys by field, in order of precedence. Not `langsmith.trace.session_name`: that is the project.
const KEYS: &[(Field, &[&str])] = &[
    (Field::Tool, &["gen_ai.tool.name"]),
    (Field::CallId, &["gen_ai.tool.call.id"]),
    (
        Field::Arguments,
        &["gen_ai.tool.call.arguments", "gen_ai.prompt"],
    ),
    (
        Field::Result,
        &["gen_ai.tool.call.result", "gen_ai.completion"],
    ),
    (Field::ErrorType, &["error.type"]),
    (Field::Agent, &["langsmith.metadata.lc_agent_name"]),
    (
        Field::Conversation,
        &[
            "langsmith.metadata.session_id",
            "langsmith.metadata.thread_id",
            "langsmith.metadata.conversation_id",
            "gen_ai.conversation.id",
        ],
    ),
    (Field::InputTokens, &["gen_ai.usage.input_tokens"]),
    (Field::OutputTokens, &["gen_ai.usage.output_tokens"]),
    (Field::Finish, &["gen_ai.response.finish_reasons"]),
    (Field::Definitions, &["gen_ai.tool.definitions"]),
];

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::new(KEYS));

fn read<'a>(seen: &Seen<'a>, kind: Value<'a>) -> Option<Raw<'a>> {
    let span = seen.span;
    let chain = match kind.as_str()? {
        "tool" => Part::ToolCall,
        "llm" => Part::ModelCall,
        "chain" => Part::AgentRun,
        _ => return None,
    };
    let fields = Fields::gather(span, &TABLE, |_, _| {});
    let agent = fields.name(Field::Agent);
    // Of the chains only the agents' own: the nodes of a graph tell again what their children tell.
    let own = span.parent_span_id().is_none() || agent.as_deref() == Some(span.name());
    if chain == Part::AgentRun && !own {
        return None;
    }
    let mut raw = Raw {
        part: chain,
        fault: fault::read(span, &fields),
        agent,
        conversation: fields.text(Field::Conversation),
        ..Raw::default()
    };
    // A run that failed has an empty object for its outputs.
    let void = |text: &Cow<'_, str>| text == "{}" && raw.fault.flagged();
    let output = fields.text(Field::Result).filter(|text| !void(text));
    match raw.part {
        Part::ToolCall => {
            raw.tool = fields.name(Field::Tool).or_else(|| {
                let name = span.name();
                (!name.is_empty()).then_some(Cow::Borrowed(name))
            });
            raw.call_id = fields.text(Field::CallId);
            raw.arguments = fields.text(Field::Arguments);
            raw.result = output;
        }
        Part::ModelCall => {
            raw.usage = fields.usage();
            raw.reply = output.map_or_else(Default::default, |text| {
                responses::reply(text, Whose::Model)
            });
            if let Some(finish) = fields.value(Field::Finish).and_then(finish_reason) {
                raw.reply.finish = Some(finish);
            }
            raw.input = fields
                .text(Field::Arguments)
                .map_or_else(Default::default, messages::input);
            raw.definitions = fields.definitions();
        }
        _ => {
            raw.reply =
                output.map_or_else(Default::default, |text| responses::reply(text, Whose::Run));
            raw.input.goal = fields.text(Field::Arguments).and_then(messages::first_user);
        }
    }
    Some(raw)
}
