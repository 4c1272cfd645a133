//! Signs of failure beside the result: status, error type, recorded exceptions, exit code, flags.

use std::borrow::Cow;

use crate::model::STATUS_SET;
use crate::otlp::{SpanView, StatusCode, StatusView};

use super::fields::{ATTRIBUTES, Field, Fields};
use super::json::pick;
use super::parts::value_text;
use super::python;
use super::raw::{Fault, Part, Raw, Text};

/// The status that the span's emitter gave it: what a sentinel set in place of none is no failure of the step.
fn own_status<'a>(span: &SpanView<'a>) -> StatusView<'a> {
    let status = span.status();
    if status.code == StatusCode::Error && span.attribute(STATUS_SET).is_some() {
        return StatusView::default();
    }
    status
}

/// Reads them all; which one counts is for others to say.
pub(super) fn read<'a>(span: &SpanView<'a>, fields: &Fields<'a>) -> Fault<'a> {
    let status = own_status(span);
    let mut fault = Fault {
        status_error: status.code == StatusCode::Error,
        status_ok: status.code == StatusCode::Ok,
        message: Some(status.message)
            .filter(|message| !message.is_empty())
            .or_else(|| fields.value(Field::Message)?.as_str()),
        kind: fields.name(Field::ErrorType),
        exit_code: fields.integer(Field::ExitCode),
        failed: fields.failed(),
        ..Fault::default()
    };
    for event in span.events().take(super::EVENTS) {
        if event.name() != "exception" {
            continue;
        }
        fault.exception = Some(Cow::Borrowed(""));
        for (key, value) in event.attributes().take(ATTRIBUTES) {
            match (key, value.as_str()) {
                ("exception.type", Some(text)) => fault.exception = Some(Cow::Borrowed(text)),
                ("exception.message", Some(text)) => {
                    fault.exception_message = Some(Cow::Borrowed(text));
                }
                _ => {}
            }
        }
    }
    fault
}

/// The call that a step of a run was refused for want of the tool: nothing but the status of the step tells of
/// it [OpenAI Agents: `Tool not found: {'tool_name': 'x'}`, `Tool x not found in agent y`].
pub(super) fn refused_call<'a>(span: &SpanView<'a>) -> Option<Raw<'a>> {
    let status = own_status(span);
    if status.code != StatusCode::Error {
        return None;
    }
    let tool = missing_tool(status.message)?;
    Some(Raw {
        part: Part::ToolCall,
        tool: Some(tool),
        fault: Fault {
            status_error: true,
            message: Some(status.message),
            ..Fault::default()
        },
        ..Raw::default()
    })
}

fn missing_tool(message: &str) -> Option<Text<'_>> {
    if let Some(data) = message.strip_prefix("Tool not found:") {
        let data = data.trim();
        let json = python::to_json(data).map_or(Cow::Borrowed(data), Cow::Owned);
        let [name] = pick(&json, ["tool_name"]);
        let name = value_text(name?).into_owned();
        return (!name.is_empty()).then_some(Cow::Owned(name));
    }
    let (name, _) = message
        .strip_prefix("Tool ")?
        .split_once(" not found in agent ")?;
    (!name.is_empty() && !name.contains(' ')).then_some(Cow::Borrowed(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tools_that_were_missing() {
        for (message, name) in [
            ("Tool not found: {'tool_name': 'launch'}", Some("launch")),
            (r#"Tool not found: {"tool_name": "launch"}"#, Some("launch")),
            ("Tool launch not found in agent coder", Some("launch")),
            ("Tool not found: {'tool_name'", None),
            ("Tool not found", None),
            ("The tool was not found in agent x", None),
            ("Tool and more not found in agent x", None),
        ] {
            assert_eq!(missing_tool(message).as_deref(), name, "{message}");
        }
    }
}
