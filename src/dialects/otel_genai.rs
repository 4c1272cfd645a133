//! OpenTelemetry's GenAI conventions, generations B (messages as span events) and C (messages as
//! attributes), with the keys of emitters that follow them (pydantic-ai, Strands, ADK, agent-framework,
//! Vercel 7, AutoGen, fastmcp, OpenLIT, OpenLLMetry), and MCP.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::otlp::{EventView, Seen, SpanView, Value};

use super::Dialect;
use super::fault;
use super::fields::{Field, Fields, Table};
use super::flattened::Flat;
use super::messages;
use super::parts::{self, Whose};
use super::raw::{Input, Part, Raw, RawCall, Reply, Text};
use super::responses;
use super::results::tool_response;
use super::values;

/// GenAI spans name their operation.
pub(super) const GENAI: Dialect = Dialect {
    marker: "gen_ai.operation.name",
    read,
};

/// MCP spans without a GenAI operation.
pub(super) const MCP: Dialect = Dialect {
    marker: "mcp.method.name",
    read: read_mcp,
};

/// Keys by field, in order of precedence.
const KEYS: &[(Field, &[&str])] = &[
    (
        Field::Tool,
        &["gen_ai.tool.name", "mcp.tool.name", "traceloop.entity.name"],
    ),
    (Field::CallId, &["gen_ai.tool.call.id"]),
    (
        Field::Arguments,
        &[
            "gen_ai.tool.call.arguments",
            "tool_arguments",
            "gen_ai.tool.args",
            "gen_ai.tool.input",
            "gcp.vertex.agent.tool_call_args",
            "mcp.tool.arguments",
            "mcp.request.argument",
            "traceloop.entity.input",
        ],
    ),
    (
        Field::Result,
        &[
            "gen_ai.tool.call.result",
            "tool_response",
            "gen_ai.tool.output",
            "gen_ai.tool.result",
            "gcp.vertex.agent.tool_response",
            "mcp.tool.result",
            "mcp.response.value",
            "traceloop.entity.output",
        ],
    ),
    (Field::ErrorType, &["error.type"]),
    (
        Field::Success,
        &[
            "gen_ai.tool.status",
            "gen_ai.tool.execution.success",
            "success",
        ],
    ),
    (
        Field::ExitCode,
        &[
            "process.exit.code",
            "process.exit_code",
            "exit_code",
            "exit.code",
        ],
    ),
    (
        Field::Agent,
        &[
            "gen_ai.agent.name",
            "agent_name",
            "crewai.agent.role",
            "crewai.task.agent",
            "traceloop.association.properties.lc_agent_name",
        ],
    ),
    (
        Field::Conversation,
        &[
            "gen_ai.conversation.id",
            "session.id",
            "traceloop.association.properties.session_id",
            "traceloop.association.properties.thread_id",
            "traceloop.association.properties.conversation_id",
            "gen_ai.session.id",
            "gen_ai.agent.session_id",
            "gcp.vertex.agent.session_id",
        ],
    ),
    (
        Field::InputTokens,
        &["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"],
    ),
    (
        Field::OutputTokens,
        &[
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.completion_tokens",
        ],
    ),
    (Field::Cost, &["gen_ai.usage.cost", "operation.cost"]),
    (
        Field::Input,
        &[
            "gen_ai.input.messages",
            "pydantic_ai.all_messages",
            "crewai.task.description",
        ],
    ),
    (Field::Output, &["gen_ai.output.messages"]),
    (Field::Final, &["final_result", "crewai.crew.result"]),
    (
        Field::Finish,
        &[
            "gen_ai.response.finish_reasons",
            "gen_ai.response.finish_reason",
            "gen_ai.response.stop_reason",
        ],
    ),
    (
        Field::Definitions,
        &[
            "gen_ai.tool.definitions",
            "gen_ai.agent.tools",
            "crewai.agent.tools",
            "crewai.task.tools",
        ],
    ),
    (Field::Seam, &["fastmcp.span.seam"]),
];

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::new(KEYS));

/// The client library's own span of a call that fastmcp tells already.
const INNER_MCP_SCOPE: &str = "mcp-python-sdk";

fn read<'a>(seen: &Seen<'a>, operation: Value<'a>) -> Option<Raw<'a>> {
    let part = match operation.as_str()? {
        "execute_tool" => Part::ToolCall,
        "chat" | "generate_content" | "text_completion" | "chat.completions"
        | "text.completions" => Part::ModelCall,
        "invoke_agent" | "invoke_workflow" => Part::AgentRun,
        "handoff" => Part::HandOff,
        // Cycles, steps, tasks and `unknown` tell again what their children tell, but for a call that never
        // became one.
        _ => return fault::refused_call(seen.span),
    };
    Some(of(seen, part))
}

fn read_mcp<'a>(seen: &Seen<'a>, method: Value<'a>) -> Option<Raw<'a>> {
    (method.as_str()? == "tools/call").then(|| of(seen, Part::ToolCall))
}

/// Reads a span whose part is known. OpenLLMetry's spans are read here too: they share most keys.
pub(super) fn of<'a>(seen: &Seen<'a>, part: Part) -> Raw<'a> {
    let span = seen.span;
    let mut flat = Flat::default();
    let fields = Fields::gather(span, &TABLE, |key, value| flat.take_indexed(key, value));
    let told_twice = seen.scope.name() == INNER_MCP_SCOPE
        || matches!(fields.value(Field::Seam), Some(Value::Bool(true)));
    if part == Part::ToolCall && told_twice {
        return Raw {
            part: Part::TransportDuplicate,
            ..Raw::default()
        };
    }
    let mut raw = Raw {
        part,
        fault: fault::read(span, &fields),
        agent: fields.name(Field::Agent),
        conversation: fields.text(Field::Conversation),
        ..Raw::default()
    };
    let events = Events::read(span);
    match part {
        Part::ModelCall => {
            raw.usage = fields.usage();
            model_call(&fields, events, flat, span, &mut raw);
        }
        Part::AgentRun | Part::HandOff => agent_run(&fields, events, span, &mut raw),
        Part::ToolCall | Part::TransportDuplicate => {
            raw.usage = fields.usage();
            tool_call(&fields, events, span, &mut raw);
        }
    }
    raw
}

fn tool_call<'a>(fields: &Fields<'a>, events: Events<'a>, span: &SpanView<'a>, raw: &mut Raw<'a>) {
    raw.tool = fields.name(Field::Tool).or_else(|| {
        let name = span.name();
        let name = name
            .strip_prefix("execute_tool ")
            .or_else(|| name.strip_prefix("tools/call "))
            .unwrap_or(name);
        (!name.is_empty()).then_some(Cow::Borrowed(name))
    });
    raw.call_id = fields.name(Field::CallId).or(events.call_id);
    raw.arguments = fields.text(Field::Arguments).or(events.arguments);
    raw.hints = fields.hints;
    raw.result = fields
        .text(Field::Result)
        .or_else(|| events.output.and_then(tool_response))
        .or(events.choice);
}

fn model_call<'a>(
    fields: &Fields<'a>,
    events: Events<'a>,
    mut flat: Flat<'a>,
    span: &SpanView<'a>,
    raw: &mut Raw<'a>,
) {
    let output = fields
        .text(Field::Output)
        .or(events.output)
        .or(events.choice);
    raw.reply = output.map_or_else(|| flat.reply(), |text| responses::reply(text, Whose::Model));
    let finish = fields.value(Field::Finish).and_then(finish_reason);
    if let Some(finish) = finish.or(events.finish) {
        raw.reply.finish = Some(finish);
    }
    raw.input = match fields.text(Field::Input).or(events.input) {
        Some(text) => messages::input(text),
        None if events.users.user_messages.is_none() => flat.input(span),
        None => events.users,
    };
    raw.definitions = fields.definitions().or_else(|| flat.definitions(span));
    if raw.reply.calls.is_empty() {
        raw.reply.calls.extend(asked_beside(fields));
    }
}

/// The call that OpenLIT writes beside an answer whose content it may not capture. Its arguments have to be
/// there: a tool's name alone comes from anywhere (P13, P35).
fn asked_beside<'a>(fields: &Fields<'a>) -> Option<RawCall<'a>> {
    Some(RawCall {
        id: fields.name(Field::CallId),
        name: fields.name(Field::Tool)?,
        arguments: Some(fields.text(Field::Arguments)?),
    })
}

fn agent_run<'a>(fields: &Fields<'a>, events: Events<'a>, span: &SpanView<'a>, raw: &mut Raw<'a>) {
    raw.reply = match fields.text(Field::Final) {
        Some(text) => Reply {
            text: Some(text),
            ..Reply::default()
        },
        None => fields
            .text(Field::Output)
            .or(events.output)
            .or(events.choice)
            .or_else(|| fields.text(Field::Result))
            .map_or_else(Reply::default, |text| responses::reply(text, Whose::Run)),
    };
    raw.input.goal = fields
        .text(Field::Input)
        .or(events.input)
        .or_else(|| fields.text(Field::Arguments))
        .map_or(events.users.goal, messages::first_user);
    raw.definitions = fields.definitions();
    if raw.agent.is_none() {
        let name = span.name().strip_prefix("invoke_agent ");
        raw.agent = name.filter(|name| !name.is_empty()).map(Cow::Borrowed);
    }
}

/// The last reason of a list; lists come as arrays, as JSON in a string, or as one bare word (P16).
pub(super) fn finish_reason(value: Value<'_>) -> Option<Text<'_>> {
    match value {
        Value::Array(list) => list
            .iter()
            .filter_map(|v| v.as_str())
            .last()
            .map(Cow::Borrowed),
        Value::Str(text) => Some(parts::last_word(text)),
        _ => None,
    }
}

/// What the events of a span tell where attributes do not.
#[derive(Default)]
struct Events<'a> {
    call_id: Option<Text<'a>>,
    arguments: Option<Text<'a>>,
    /// `gen_ai.output.messages` on an event.
    output: Option<Text<'a>>,
    /// `gen_ai.input.messages` on an event.
    input: Option<Text<'a>>,
    /// Message of the last `gen_ai.choice`.
    choice: Option<Text<'a>>,
    finish: Option<Text<'a>>,
    /// From `gen_ai.user.message` events.
    users: Input<'a>,
}

impl<'a> Events<'a> {
    fn read(span: &SpanView<'a>) -> Self {
        let mut events = Self::default();
        for event in span.events().take(super::EVENTS) {
            match event.name() {
                "gen_ai.client.inference.operation.details" => events.details(&event),
                "gen_ai.choice" => events.choice(&event),
                "gen_ai.tool.message" => {
                    events.call_id = get(&event, "id").or(events.call_id.take());
                    events.arguments = get(&event, "content").or(events.arguments.take());
                }
                "gen_ai.user.message" => {
                    let users = events.users.user_messages.unwrap_or(0);
                    events.users.user_messages = Some(users.saturating_add(1));
                    let content = get(&event, "content");
                    if events.users.goal.is_none() {
                        events.users.goal = content;
                    } else {
                        events.users.latest = content;
                    }
                }
                _ => {}
            }
        }
        events
    }

    fn details(&mut self, event: &EventView<'a>) {
        for (key, value) in event.attributes().take(super::fields::ATTRIBUTES) {
            match key {
                "gen_ai.output.messages" => self.output = values::text(value),
                // The history of the cycle comes first, results follow in an event of their own.
                "gen_ai.input.messages" if self.input.is_none() => self.input = values::text(value),
                "gen_ai.response.finish_reasons" => self.finish = finish_reason(value),
                _ => {}
            }
        }
    }

    fn choice(&mut self, event: &EventView<'a>) {
        for (key, value) in event.attributes().take(super::fields::ATTRIBUTES) {
            match key {
                "message" | "content" => self.choice = values::text(value),
                "finish_reason" => self.finish = value.as_str().map(Cow::Borrowed),
                _ => {}
            }
        }
    }
}

fn get<'a>(event: &EventView<'a>, name: &str) -> Option<Text<'a>> {
    event
        .attributes()
        .take(super::fields::ATTRIBUTES)
        .find(|(key, _)| *key == name)
        .and_then(|(_, value)| values::text(value))
}
