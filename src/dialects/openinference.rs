//! OpenInference (Arize): `openinference.span.kind`, flattened messages, `input.value` and `output.value`.
//! Emitters seen: LangChain and LangGraph, OpenAI Agents, smolagents, CrewAI, agno.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::otlp::{Seen, SpanView, Value};

use super::Dialect;
use super::fault;
use super::fields::{Field, Fields, Table, is_placeholder};
use super::flattened::Flat;
use super::json::{Cursor, Kind};
use super::langfuse;
use super::messages;
use super::parts::Whose;
use super::raw::{Part, Raw, Text, own};
use super::responses;

/// OpenInference spans name their kind.
pub(super) const OPENINFERENCE: Dialect = Dialect {
    marker: "openinference.span.kind",
    read,
};

/// Keys by field, in order of precedence.
const KEYS: &[(Field, &[&str])] = &[
    (Field::Tool, &["tool.name", "tool_call.function.name"]),
    (Field::CallId, &["tool_call.id", "tool.id"]),
    // Not `tool.parameters`: the schema for some emitters, the arguments for others (P14).
    (
        Field::Arguments,
        &["input.value", "tool_call.function.arguments"],
    ),
    (Field::Result, &["output.value"]),
    (Field::ErrorType, &["error.type"]),
    (Field::ExitCode, &["process.exit.code", "exit_code"]),
    (Field::Agent, &["agent.name", "gen_ai.agent.name"]),
    (
        Field::Conversation,
        &["session.id", "gen_ai.conversation.id"],
    ),
    (Field::InputTokens, &["llm.token_count.prompt"]),
    (Field::OutputTokens, &["llm.token_count.completion"]),
    (Field::Cost, &["llm.cost.total"]),
    (Field::Finish, &["llm.finish_reason"]),
    (
        Field::Definitions,
        &["smolagents.tools_names", "agno.tools"],
    ),
    (Field::Metadata, &["metadata"]),
];

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::new(KEYS));

/// Names of agents in the metadata, in order of precedence.
const AGENTS: &[&str] = &["lc_agent_name"];
/// Names of sessions in the metadata, in order of precedence.
const SESSIONS: &[&str] = &["session_id", "thread_id", "conversation_id"];

fn read<'a>(seen: &Seen<'a>, kind: Value<'a>) -> Option<Raw<'a>> {
    let span = seen.span;
    let part = match kind.as_str()? {
        "TOOL" => Part::ToolCall,
        "LLM" => Part::ModelCall,
        "AGENT" => Part::AgentRun,
        // A root chain is the run as a whole; inner ones tell again what their children tell.
        "CHAIN" if span.parent_span_id().is_none() => Part::AgentRun,
        "CHAIN" => return fault::refused_call(span),
        _ => return None,
    };
    let mut flat = Flat::default();
    let fields = Fields::gather(span, &TABLE, |key, value| flat.take(key, value));
    let metadata = Metadata::read(fields.text(Field::Metadata));
    let mut raw = Raw {
        part,
        fault: fault::read(span, &fields),
        agent: fields.name(Field::Agent).or(metadata.agent),
        conversation: fields.text(Field::Conversation).or(metadata.session),
        ..Raw::default()
    };
    match part {
        Part::ModelCall => model_call(&fields, flat, span, &mut raw),
        Part::ToolCall => tool_call(&fields, span, &mut raw),
        _ => {
            let named = kind.as_str() == Some("AGENT");
            agent_run(&fields, &flat, span, named, &mut raw);
        }
    }
    Some(raw)
}

/// Messages stand flattened; an emitter that flattens none may give request and response as they are.
fn model_call<'a>(fields: &Fields<'a>, mut flat: Flat<'a>, span: &SpanView<'a>, raw: &mut Raw<'a>) {
    raw.usage = fields.usage();
    let request = fields.text(Field::Arguments);
    raw.definitions = flat
        .definitions(span)
        .or_else(|| request.as_ref().and_then(langfuse::tools));
    raw.reply = match fields.text(Field::Result) {
        Some(response) if !flat.has_outputs() => responses::reply(response, Whose::Model),
        _ => flat.reply(),
    };
    raw.input = match request {
        Some(request) if !flat.has_inputs() => messages::input(request),
        _ => flat.input(span),
    };
    if let Some(finish) = fields.text(Field::Finish) {
        raw.reply.finish = Some(finish);
    }
}

fn tool_call<'a>(fields: &Fields<'a>, span: &SpanView<'a>, raw: &mut Raw<'a>) {
    let name = span.name();
    let name = name.strip_suffix(".run").unwrap_or(name);
    raw.tool = fields
        .name(Field::Tool)
        .or((!name.is_empty()).then_some(Cow::Borrowed(name)));
    raw.call_id = fields.text(Field::CallId);
    raw.arguments = fields.text(Field::Arguments);
    raw.hints = fields.hints;
    raw.result = fields.text(Field::Result);
}

/// `named`: the span is an agent's, so that its name is one.
fn agent_run<'a>(
    fields: &Fields<'a>,
    flat: &Flat<'a>,
    span: &SpanView<'a>,
    named: bool,
    raw: &mut Raw<'a>,
) {
    if named && raw.agent.is_none() {
        let name = span.name();
        let name = name
            .strip_suffix(".run")
            .or_else(|| name.strip_suffix("._execute_core"));
        raw.agent = flat.node.or(name).map(Cow::Borrowed);
    }
    let output = fields.text(Field::Result);
    raw.reply = output.map_or_else(Default::default, |text| responses::reply(text, Whose::Run));
    raw.input.goal = fields.text(Field::Arguments).and_then(messages::first_user);
    raw.definitions = fields.definitions();
}

/// What the metadata name.
#[derive(Default)]
struct Metadata<'a> {
    agent: Option<Text<'a>>,
    session: Option<Text<'a>>,
}

impl<'a> Metadata<'a> {
    fn read(text: Option<Text<'a>>) -> Self {
        match text {
            Some(Cow::Borrowed(text)) => Self::of(text),
            Some(Cow::Owned(text)) => {
                let found = Metadata::of(&text);
                Self {
                    agent: found.agent.map(own),
                    session: found.session.map(own),
                }
            }
            None => Self::default(),
        }
    }

    fn of(text: &'a str) -> Self {
        let (mut agent, mut session) = ((usize::MAX, None), (usize::MAX, None));
        let mut cursor = Cursor::new(text);
        let _ = cursor.object(|key, cursor| {
            let rank = |names: &[&str]| names.iter().position(|name| *name == key.0);
            let (slot, rank) = match (rank(AGENTS), rank(SESSIONS)) {
                (Some(rank), _) => (&mut agent, rank),
                (None, Some(rank)) => (&mut session, rank),
                (None, None) => return Ok(()),
            };
            if cursor.kind() == Kind::Text {
                let text = cursor.quoted()?.decode();
                if rank < slot.0 && !is_placeholder(&text) {
                    *slot = (rank, Some(text));
                }
            }
            Ok(())
        });
        Self {
            agent: agent.1,
            session: session.1,
        }
    }
}
