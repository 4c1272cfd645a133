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
use super::raw::{Part, Raw, Text, own};

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
        Part::ModelCall => {
            raw.usage = fields.usage();
            raw.input = flat.input(span);
            raw.definitions = flat.definitions(span);
            raw.reply = flat.reply();
            if let Some(finish) = fields.text(Field::Finish) {
                raw.reply.finish = Some(finish);
            }
        }
        Part::ToolCall => tool_call(&fields, span, &mut raw),
        _ if kind.as_str() == Some("AGENT") => agent_run(&fields, &flat, span, &mut raw),
        _ => {}
    }
    Some(raw)
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

fn agent_run<'a>(fields: &Fields<'a>, flat: &Flat<'a>, span: &SpanView<'a>, raw: &mut Raw<'a>) {
    if raw.agent.is_none() {
        let name = span.name();
        let name = name
            .strip_suffix(".run")
            .or_else(|| name.strip_suffix("._execute_core"));
        raw.agent = flat.node.or(name).map(Cow::Borrowed);
    }
    raw.reply.text = fields.text(Field::Result).and_then(final_text);
    raw.input.goal = fields.text(Field::Arguments).and_then(task);
    raw.definitions = fields.definitions();
}

/// The text in an agent's output: plain, or the member that holds it.
fn final_text(output: Text<'_>) -> Option<Text<'_>> {
    member(output, &["raw", "output", "answer", "content", "result"])
}

/// The goal in an agent's input: plain, or the member that holds it.
fn task(input: Text<'_>) -> Option<Text<'_>> {
    member(input, &["task", "input", "query", "question", "prompt"])
}

/// A plain text, or the first of these members of an object that is a string. `None` for other objects:
/// what in them is meant is not known.
fn member<'a>(text: Text<'a>, names: &[&str]) -> Option<Text<'a>> {
    let find = |text: &str| -> Option<Option<String>> {
        let mut cursor = Cursor::new(text);
        match cursor.kind() {
            Kind::Object => {}
            Kind::Array => return Some(None),
            _ => return None,
        }
        let mut best: Option<(usize, String)> = None;
        cursor
            .object(|key, cursor| {
                if let Some(rank) = names.iter().position(|name| *name == key.0) {
                    let better = best.as_ref().is_none_or(|(at, _)| rank < *at);
                    if cursor.kind() == Kind::Text && better {
                        best = Some((rank, cursor.quoted()?.decode().into_owned()));
                    }
                }
                Ok(())
            })
            .ok()?;
        Some(best.map(|(_, text)| text))
    };
    match find(&text) {
        Some(found) => found.map(Cow::Owned),
        None => Some(text),
    }
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
