//! Spans of Codex, after its sources: the span that dispatches a tool call carries its name and id, and the
//! event of its result may carry arguments and output where the settings let them through.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::otlp::{Seen, SpanView, Value};

use super::Dialect;
use super::fault;
use super::fields::{ATTRIBUTES, Field, Fields, Table};
use super::raw::{Part, Raw, Text};
use super::values;

/// The span that dispatches a call says whether it was aborted.
pub(super) const CODEX: Dialect = Dialect {
    marker: "aborted",
    read,
};

/// Keys by field, in order of precedence.
const KEYS: &[(Field, &[&str])] = &[
    (Field::Tool, &["tool_name"]),
    (Field::CallId, &["call_id"]),
    (
        Field::Conversation,
        &["conversation.id", "thread_id", "thread.id"],
    ),
    (Field::ErrorType, &["error.type"]),
];

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::new(KEYS));

fn read<'a>(seen: &Seen<'a>, aborted: Value<'a>) -> Option<Raw<'a>> {
    let span = seen.span;
    let fields = Fields::gather(span, &TABLE, |_, _| {});
    let mut raw = Raw {
        part: Part::ToolCall,
        tool: Some(fields.name(Field::Tool)?),
        call_id: Some(fields.text(Field::CallId)?),
        fault: fault::read(span, &fields),
        conversation: fields.text(Field::Conversation),
        ..Raw::default()
    };
    if matches!(aborted, Value::Bool(true) | Value::Str("true")) {
        raw.fault.failed = Some(true);
        raw.fault.kind = Some(Cow::Borrowed("aborted"));
    }
    if let Some(result) = Told::of(span) {
        raw.arguments = result.arguments;
        raw.result = result.output;
        raw.fault.failed = result.success.map(|success| !success).or(raw.fault.failed);
        raw.conversation = raw.conversation.or(result.conversation);
    }
    Some(raw)
}

/// What the event of a result tells.
#[derive(Default)]
struct Told<'a> {
    arguments: Option<Text<'a>>,
    output: Option<Text<'a>>,
    success: Option<bool>,
    conversation: Option<Text<'a>>,
}

impl<'a> Told<'a> {
    fn of(span: &SpanView<'a>) -> Option<Self> {
        let mut found = None;
        for event in span.events().take(super::EVENTS) {
            let mut told = Self::default();
            let mut is_result = event.name() == "codex.tool_result";
            for (key, value) in event.attributes().take(ATTRIBUTES) {
                match key {
                    "event.name" => is_result |= value.as_str() == Some("codex.tool_result"),
                    "arguments" => told.arguments = values::text(value),
                    "output" => told.output = values::text(value),
                    "conversation.id" => told.conversation = values::text(value),
                    "success" => {
                        told.success = match value {
                            Value::Bool(success) => Some(success),
                            Value::Str("true") => Some(true),
                            Value::Str("false") => Some(false),
                            _ => None,
                        };
                    }
                    _ => {}
                }
            }
            if is_result {
                found = Some(told);
            }
        }
        found
    }
}
