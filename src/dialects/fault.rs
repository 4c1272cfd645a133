//! Signs of failure beside the result: status, error type, recorded exceptions, exit code, flags.

use std::borrow::Cow;

use crate::otlp::{SpanView, StatusCode};

use super::fields::{ATTRIBUTES, Field, Fields};
use super::raw::Fault;

/// Reads them all; which one counts is for others to say.
pub(super) fn read<'a>(span: &SpanView<'a>, fields: &Fields<'a>) -> Fault<'a> {
    let status = span.status();
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
