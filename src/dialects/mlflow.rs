//! MLflow's traces over OTLP: `mlflow.spanType`. Every value is JSON, strings too.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::otlp::{Seen, Value};

use super::Dialect;
use super::fault;
use super::fields::{Field, Fields, Table, is_placeholder};
use super::messages;
use super::parts::Whose;
use super::raw::{Part, Raw, Text};
use super::responses::{self, unquoted};

/// MLflow's spans name their type.
pub(super) const MLFLOW: Dialect = Dialect {
    marker: "mlflow.spanType",
    read,
};

/// Keys by field, in order of precedence.
const KEYS: &[(Field, &[&str])] = &[
    (Field::Tool, &["mlflow.spanFunctionName"]),
    (Field::CallId, &["tool_call_id", "gen_ai.tool.call.id"]),
    (Field::Arguments, &["mlflow.spanInputs"]),
    (Field::Result, &["mlflow.spanOutputs"]),
    (Field::ErrorType, &["error.type"]),
    (Field::Agent, &["gen_ai.agent.name"]),
    (
        Field::Conversation,
        &["mlflow.trace.session", "session.id", "session_id"],
    ),
    (Field::Definitions, &["mlflow.chat.tools"]),
    (Field::Usage, &["mlflow.chat.tokenUsage"]),
    (Field::Costs, &["mlflow.llm.cost"]),
];

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::new(KEYS));

fn read<'a>(seen: &Seen<'a>, kind: Value<'a>) -> Option<Raw<'a>> {
    let span = seen.span;
    let root = span.parent_span_id().is_none();
    let part = match kind.as_str()?.trim_matches('"') {
        "TOOL" => Part::ToolCall,
        "CHAT_MODEL" | "LLM" => Part::ModelCall,
        "AGENT" => Part::AgentRun,
        "CHAIN" | "WORKFLOW" | "UNKNOWN" if root => Part::AgentRun,
        _ => return None,
    };
    let fields = Fields::gather(span, &TABLE, |_, _| {});
    let plain = |field| fields.text(field).map(unquoted).filter(said);
    let name = Some(span.name()).filter(|name| !name.is_empty());
    let mut raw = Raw {
        part,
        fault: fault::read(span, &fields),
        agent: plain(Field::Agent),
        conversation: plain(Field::Conversation).filter(|id| !is_placeholder(id)),
        ..Raw::default()
    };
    let input = fields.text(Field::Arguments);
    let output = fields.text(Field::Result);
    match part {
        Part::ToolCall => {
            // Spans of one name in a trace get a number behind it, functions keep their name.
            raw.tool = plain(Field::Tool).or(name.map(Cow::Borrowed));
            raw.call_id = plain(Field::CallId);
            raw.arguments = input;
            raw.result = output;
        }
        Part::ModelCall => {
            raw.usage = fields.usage_in(
                [
                    "input_tokens",
                    "prompt_tokens",
                    "inputTokens",
                    "promptTokens",
                ],
                [
                    "output_tokens",
                    "completion_tokens",
                    "outputTokens",
                    "completionTokens",
                ],
                ["total_cost", "total"],
            );
            raw.reply = output.map_or_else(Default::default, |text| {
                responses::reply(text, Whose::Model)
            });
            raw.definitions = fields
                .definitions()
                .or_else(|| input.as_ref().and_then(super::langfuse::tools));
            raw.input = input.map_or_else(Default::default, messages::input);
        }
        _ => {
            if raw.agent.is_none() && kind.as_str() == Some("\"AGENT\"") {
                raw.agent = name.map(Cow::Borrowed);
            }
            raw.reply =
                output.map_or_else(Default::default, |text| responses::reply(text, Whose::Run));
            raw.input.goal = input.and_then(messages::first_user);
        }
    }
    Some(raw)
}

fn said(text: &Text<'_>) -> bool {
    !text.is_empty() && text != "null"
}
