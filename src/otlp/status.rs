//! Answers: ExportTraceServiceResponse and google.rpc.Status, in protobuf and JSON, both directions.
//!
//! Messages are cut at [`MESSAGE_MAX`] when written and when read: an answer must fit in 4 MiB, a
//! `grpc-status-details-bin` in far less, and a backend's words must not flood us.

use std::fmt::Write;
use std::time::Duration;

use serde_json::Value;

use super::fields::{
    bad_request, duration, packed, partial_success, response, retry_info, rpc_status, violation,
};
use super::json::put_string;
use super::wire::{Fields, Wire, WireError, close, open, put_bytes, put_number};
use crate::model::Signal;

/// Longest text of an answer, in bytes.
pub const MESSAGE_MAX: usize = 4096;
/// Most violations kept of one BadRequest.
const VIOLATIONS_MAX: usize = 64;

const RETRY_INFO: &str = "type.googleapis.com/google.rpc.RetryInfo";
const BAD_REQUEST: &str = "type.googleapis.com/google.rpc.BadRequest";

/// Bytes that are no such answer. Never a reason to send again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bytes are no such message")]
pub struct Unreadable;

impl From<WireError> for Unreadable {
    fn from(_: WireError) -> Self {
        Self
    }
}

impl From<serde_json::Error> for Unreadable {
    fn from(_: serde_json::Error) -> Self {
        Self
    }
}

/// What a successful answer says about spans that were not taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartialSuccess {
    /// Spans (log records, data points) not taken; 0 with a message is a warning. A negative count is read as 0.
    pub rejected_spans: u64,
    /// Why, in the server's words.
    pub message: String,
}

impl PartialSuccess {
    fn says_something(&self) -> bool {
        self.rejected_spans != 0 || !self.message.is_empty()
    }
}

/// An ExportTraceServiceResponse, or that of another signal: they are built alike. Full success leaves `partial_success` unset: no bytes at all.
pub fn encode_response(partial: Option<&PartialSuccess>) -> Vec<u8> {
    let mut out = Vec::new();
    if let Some(partial) = partial.filter(|partial| partial.says_something()) {
        let message = open(&mut out, response::PARTIAL_SUCCESS);
        if partial.rejected_spans != 0 {
            put_number(
                &mut out,
                partial_success::REJECTED_SPANS,
                partial.rejected_spans,
            );
        }
        put_text(&mut out, partial_success::ERROR_MESSAGE, &partial.message);
        close(&mut out, message);
    }
    out
}

/// The answer to a request with this signal in JSON: `{}` on full success, the count as a string.
pub fn encode_response_json(signal: Signal, partial: Option<&PartialSuccess>) -> String {
    let Some(partial) = partial.filter(|partial| partial.says_something()) else {
        return "{}".to_owned();
    };
    let mut out = "{\"partialSuccess\":{".to_owned();
    if partial.rejected_spans != 0 {
        let counted = match signal {
            Signal::Traces => "rejectedSpans",
            Signal::Logs => "rejectedLogRecords",
            Signal::Metrics => "rejectedDataPoints",
        };
        let _ = write!(out, "\"{counted}\":\"{}\"", partial.rejected_spans);
    }
    if !partial.message.is_empty() {
        if partial.rejected_spans != 0 {
            out.push(',');
        }
        out.push_str("\"errorMessage\":");
        put_string(&mut out, shortened(&partial.message));
    }
    out.push_str("}}");
    out
}

/// Reads an ExportTraceServiceResponse, or an ExportLogsServiceResponse, which is built alike; `None` is full success.
pub fn decode_response(bytes: &[u8]) -> Result<Option<PartialSuccess>, Unreadable> {
    let mut partial = PartialSuccess::default();
    for field in Fields::new(bytes) {
        let field = field?;
        match (field.number, field.wire) {
            (response::PARTIAL_SUCCESS, Wire::Bytes(bytes)) => {
                for field in Fields::new(bytes) {
                    let field = field?;
                    match (field.number, field.wire) {
                        (partial_success::REJECTED_SPANS, Wire::Varint(count)) => {
                            partial.rejected_spans = positive(count);
                        }
                        (partial_success::ERROR_MESSAGE, Wire::Bytes(text)) => {
                            partial.message = lossy(text);
                        }
                        _ => {}
                    }
                }
            }
            (response::PARTIAL_SUCCESS, _) => return Err(WireError::Mismatch.into()),
            _ => {}
        }
    }
    Ok(Some(partial).filter(PartialSuccess::says_something))
}

/// Reads an ExportTraceServiceResponse or ExportLogsServiceResponse in JSON; the count may be a string or a number.
pub fn decode_response_json(json: &[u8]) -> Result<Option<PartialSuccess>, Unreadable> {
    let answer: Value = serde_json::from_slice(json)?;
    if !answer.is_object() {
        return Err(Unreadable);
    }
    let partial = &answer["partialSuccess"];
    let partial = PartialSuccess {
        rejected_spans: integer(&partial["rejectedSpans"])
            .or_else(|| integer(&partial["rejectedLogRecords"]))
            .or_else(|| integer(&partial["rejectedDataPoints"]))
            .and_then(|count| u64::try_from(count).ok())
            .unwrap_or_default(),
        message: words(&partial["errorMessage"]),
    };
    Ok(Some(partial).filter(PartialSuccess::says_something))
}

/// A google.rpc.Status with the details that OTLP uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// A gRPC status code.
    pub code: i32,
    /// What is wrong, in English.
    pub message: String,
    /// RetryInfo: when to try again at the earliest.
    pub retry_delay: Option<Duration>,
    /// BadRequest: what is wrong with which field.
    pub violations: Vec<Violation>,
}

/// What is wrong with one field of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Violation {
    /// Path of the field.
    pub field: String,
    /// What is wrong with it.
    pub description: String,
}

impl Status {
    /// In protobuf, for HTTP bodies and `grpc-status-details-bin`.
    pub fn to_protobuf(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if self.code != 0 {
            let code = i64::from(self.code).cast_unsigned();
            put_number(&mut out, rpc_status::CODE, code);
        }
        put_text(&mut out, rpc_status::MESSAGE, &self.message);
        if !self.violations.is_empty() {
            put_detail(&mut out, BAD_REQUEST, |out| {
                for wrong in &self.violations {
                    let message = open(out, bad_request::FIELD_VIOLATIONS);
                    put_text(out, violation::FIELD, &wrong.field);
                    put_text(out, violation::DESCRIPTION, &wrong.description);
                    close(out, message);
                }
            });
        }
        if let Some(delay) = self.retry_delay {
            put_detail(&mut out, RETRY_INFO, |out| {
                let message = open(out, retry_info::RETRY_DELAY);
                if delay.as_secs() != 0 {
                    put_number(out, duration::SECONDS, delay.as_secs());
                }
                if delay.subsec_nanos() != 0 {
                    put_number(out, duration::NANOS, u64::from(delay.subsec_nanos()));
                }
                close(out, message);
            });
        }
        out
    }

    /// In proto3 JSON.
    pub fn to_json(&self) -> String {
        let mut out = format!("{{\"code\":{},\"message\":", self.code);
        put_string(&mut out, shortened(&self.message));
        let mut details = Vec::new();
        if !self.violations.is_empty() {
            let mut detail = format!("{{\"@type\":\"{BAD_REQUEST}\",\"fieldViolations\":[");
            for (place, wrong) in self.violations.iter().enumerate() {
                detail.push_str(if place == 0 {
                    "{\"field\":"
                } else {
                    ",{\"field\":"
                });
                put_string(&mut detail, shortened(&wrong.field));
                detail.push_str(",\"description\":");
                put_string(&mut detail, shortened(&wrong.description));
                detail.push('}');
            }
            detail.push_str("]}");
            details.push(detail);
        }
        if let Some(delay) = self.retry_delay {
            let (seconds, nanos) = (delay.as_secs(), delay.subsec_nanos());
            details.push(format!(
                "{{\"@type\":\"{RETRY_INFO}\",\"retryDelay\":\"{seconds}.{nanos:09}s\"}}"
            ));
        }
        if !details.is_empty() {
            let _ = write!(out, ",\"details\":[{}]", details.join(","));
        }
        out.push('}');
        out
    }

    /// Reads protobuf. Details that are unknown or broken are passed over: the code is what counts.
    pub fn from_protobuf(bytes: &[u8]) -> Result<Self, Unreadable> {
        let mut status = Self::default();
        for field in Fields::new(bytes) {
            let field = field?;
            match (field.number, field.wire) {
                (rpc_status::CODE, Wire::Varint(code)) => {
                    status.code = super::views::enumeration(code);
                }
                (rpc_status::MESSAGE, Wire::Bytes(text)) => status.message = lossy(text),
                (rpc_status::DETAILS, Wire::Bytes(detail)) => status.take_detail(detail),
                (rpc_status::CODE..=rpc_status::DETAILS, _) => {
                    return Err(WireError::Mismatch.into());
                }
                _ => {}
            }
        }
        Ok(status)
    }

    fn take_detail(&mut self, detail: &[u8]) {
        let kind = Fields::new(detail).next_bytes(packed::TYPE_URL);
        let value = Fields::new(detail)
            .next_bytes(packed::VALUE)
            .unwrap_or_default();
        match kind.and_then(|kind| kind.split(|byte| *byte == b'/').next_back()) {
            Some(b"google.rpc.RetryInfo") => {
                let delay = Fields::new(value).next_bytes(retry_info::RETRY_DELAY);
                self.retry_delay = delay_of(delay.unwrap_or_default()).or(self.retry_delay);
            }
            Some(b"google.rpc.BadRequest") => {
                let mut all = Fields::new(value);
                while let Some(one) = all.next_bytes(bad_request::FIELD_VIOLATIONS)
                    && self.violations.len() < VIOLATIONS_MAX
                {
                    let part = |number| Fields::new(one).next_bytes(number).map(lossy);
                    self.violations.push(Violation {
                        field: part(violation::FIELD).unwrap_or_default(),
                        description: part(violation::DESCRIPTION).unwrap_or_default(),
                    });
                }
            }
            _ => {}
        }
    }

    /// Reads proto3 JSON.
    pub fn from_json(json: &[u8]) -> Result<Self, Unreadable> {
        let answer: Value = serde_json::from_slice(json)?;
        if !answer.is_object() {
            return Err(Unreadable);
        }
        let mut status = Self {
            code: integer(&answer["code"])
                .and_then(|code| i32::try_from(code).ok())
                .unwrap_or_default(),
            message: words(&answer["message"]),
            ..Self::default()
        };
        for detail in answer["details"].as_array().into_iter().flatten() {
            let kind = detail["@type"].as_str().unwrap_or_default();
            match kind.rsplit('/').next() {
                Some("google.rpc.RetryInfo") => {
                    let delay = detail["retryDelay"].as_str().and_then(parse_delay);
                    status.retry_delay = delay.or(status.retry_delay);
                }
                Some("google.rpc.BadRequest") => {
                    let all = detail["fieldViolations"].as_array().into_iter().flatten();
                    status
                        .violations
                        .extend(all.take(VIOLATIONS_MAX).map(|one| Violation {
                            field: words(&one["field"]),
                            description: words(&one["description"]),
                        }));
                }
                _ => {}
            }
        }
        Ok(status)
    }
}

fn put_detail(out: &mut Vec<u8>, kind: &str, fill: impl FnOnce(&mut Vec<u8>)) {
    let detail = open(out, rpc_status::DETAILS);
    put_bytes(out, packed::TYPE_URL, kind.as_bytes());
    let value = open(out, packed::VALUE);
    fill(out);
    close(out, value);
    close(out, detail);
}

fn put_text(out: &mut Vec<u8>, number: u32, text: &str) {
    if !text.is_empty() {
        put_bytes(out, number, shortened(text).as_bytes());
    }
}

/// At most [`MESSAGE_MAX`] bytes of a text, whole characters.
fn shortened(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MESSAGE_MAX))
        .unwrap_or(text)
}

/// A varint that stands for a signed number, with negative ones as zero.
fn positive(number: u64) -> u64 {
    u64::try_from(number.cast_signed()).unwrap_or(0)
}

fn lossy(bytes: &[u8]) -> String {
    let bytes = bytes.get(..MESSAGE_MAX).unwrap_or(bytes);
    String::from_utf8_lossy(bytes).into_owned()
}

fn words(value: &Value) -> String {
    shortened(value.as_str().unwrap_or_default()).to_owned()
}

/// A 64-bit integer, as string or number.
fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => text.parse().ok(),
        _ => value.as_i64(),
    }
}

/// A google.protobuf.Duration; `None` when negative or out of range.
fn delay_of(bytes: &[u8]) -> Option<Duration> {
    let mut seconds = 0;
    let mut nanos = 0;
    for field in Fields::new(bytes) {
        match field.ok()? {
            super::wire::Field {
                number: duration::SECONDS,
                wire: Wire::Varint(value),
            } => seconds = value.cast_signed(),
            super::wire::Field {
                number: duration::NANOS,
                wire: Wire::Varint(value),
            } => nanos = value.cast_signed(),
            _ => {}
        }
    }
    let nanos = u32::try_from(nanos)
        .ok()
        .filter(|nanos| *nanos < 1_000_000_000)?;
    Some(Duration::new(u64::try_from(seconds).ok()?, nanos))
}

/// A duration in proto3 JSON, as `1.5s`.
fn parse_delay(text: &str) -> Option<Duration> {
    let number = text.strip_suffix('s')?;
    let (seconds, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if seconds.is_empty() || fraction.len() > 9 || !digits(seconds) || !digits(fraction) {
        return None;
    }
    let nanos = format!("{fraction:0<9}").parse().ok()?;
    Some(Duration::new(seconds.parse().ok()?, nanos))
}

#[cfg(test)]
mod tests {
    use opentelemetry_proto::tonic::collector::trace::v1::{
        ExportTracePartialSuccess, ExportTraceServiceResponse,
    };
    use proptest::prelude::*;
    use prost::Message;

    use super::*;

    fn partial(rejected_spans: u64, message: &str) -> PartialSuccess {
        PartialSuccess {
            rejected_spans,
            message: message.to_owned(),
        }
    }

    #[test]
    fn r_05_full_success_leaves_partial_success_unset() {
        for success in [None, Some(&PartialSuccess::default())] {
            assert!(encode_response(success).is_empty());
            assert_eq!(encode_response_json(Signal::Traces, success), "{}");
        }
        assert_eq!(decode_response(b"").unwrap(), None);
        for json in [
            "{}",
            r#"{"partialSuccess":null}"#,
            r#"{"partialSuccess":{}}"#,
        ] {
            assert_eq!(decode_response_json(json.as_bytes()).unwrap(), None);
        }
    }

    #[test]
    fn r_06_and_r_07_counts_and_warnings_travel() {
        for said in [
            partial(2, "two \"bad\"\n"),
            partial(0, "warning"),
            partial(7, ""),
        ] {
            let bytes = encode_response(Some(&said));
            let oracle = ExportTraceServiceResponse::decode(bytes.as_slice()).unwrap();
            let expected = ExportTracePartialSuccess {
                rejected_spans: said.rejected_spans.cast_signed(),
                error_message: said.message.clone(),
            };
            assert_eq!(oracle.partial_success, Some(expected));
            assert_eq!(decode_response(&bytes).unwrap(), Some(said.clone()));
            let json = encode_response_json(Signal::Traces, Some(&said));
            assert_eq!(decode_response_json(json.as_bytes()).unwrap(), Some(said));
        }
    }

    #[test]
    fn r_08_long_messages_are_shortened_at_a_character() {
        let long = "ü".repeat(MESSAGE_MAX);
        let answer = encode_response(Some(&partial(1, &format!("x{long}"))));
        let read = decode_response(&answer).unwrap().unwrap();
        assert_eq!(read.message.len(), MESSAGE_MAX - 1);
        assert!(!read.message.contains('\u{fffd}'));
    }

    #[test]
    fn j_13_rejected_spans_as_string_or_number() {
        for json in [
            r#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"e"},"new":[1]}"#,
            r#"{"partialSuccess":{"rejectedSpans":3,"errorMessage":"e"}}"#,
        ] {
            let read = decode_response_json(json.as_bytes()).unwrap();
            assert_eq!(read, Some(partial(3, "e")));
        }
        assert_eq!(
            encode_response_json(Signal::Traces, Some(&partial(3, "e"))),
            r#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"e"}}"#
        );
        for wrong in ["", "[]", "{", "null"] {
            assert!(decode_response_json(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    fn status() -> Status {
        Status {
            code: 3,
            message: "bad".to_owned(),
            retry_delay: Some(Duration::from_millis(1500)),
            violations: vec![Violation {
                field: "resourceSpans[0]".to_owned(),
                description: "broken".to_owned(),
            }],
        }
    }

    #[test]
    fn g_06_status_with_details_reads_as_tonic_writes_it() {
        use tonic_types::{ErrorDetails, StatusExt};
        let mut details = ErrorDetails::new();
        details
            .add_bad_request_violation("resourceSpans[0]", "broken")
            .set_retry_info(Some(Duration::from_millis(1500)));
        let theirs =
            tonic::Status::with_error_details(tonic::Code::InvalidArgument, "bad", details);
        assert_eq!(Status::from_protobuf(theirs.details()).unwrap(), status());
        let ours = tonic::Status::with_details(
            tonic::Code::InvalidArgument,
            "bad",
            status().to_protobuf().into(),
        );
        let read = ours.get_error_details();
        assert_eq!(
            read.retry_info().unwrap().retry_delay,
            Some(Duration::from_millis(1500))
        );
        let violation = &read.bad_request().unwrap().field_violations[0];
        assert_eq!(
            (violation.field.as_str(), violation.description.as_str()),
            ("resourceSpans[0]", "broken")
        );
    }

    #[test]
    fn h_05_status_in_json() {
        let json = status().to_json();
        insta::assert_snapshot!(json, @r#"{"code":3,"message":"bad","details":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"resourceSpans[0]","description":"broken"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1.500000000s"}]}"#);
        assert_eq!(Status::from_json(json.as_bytes()).unwrap(), status());
        let plain = Status {
            code: 13,
            message: "m".to_owned(),
            ..Status::default()
        };
        assert_eq!(plain.to_json(), r#"{"code":13,"message":"m"}"#);
        assert_eq!(Status::from_protobuf(&plain.to_protobuf()).unwrap(), plain);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode_response(&bytes);
            let _ = decode_response_json(&bytes);
            let _ = Status::from_protobuf(&bytes);
            let _ = Status::from_json(&bytes);
        }
    }

    #[test]
    fn absurd_delays_are_none() {
        for text in [
            "-1s",
            "1",
            "s",
            ".5s",
            "1.0000000000s",
            "1e3s",
            "99999999999999999999s",
        ] {
            assert_eq!(parse_delay(text), None, "{text}");
        }
        assert_eq!(parse_delay("3s"), Some(Duration::from_secs(3)));
        assert_eq!(parse_delay("0.25s"), Some(Duration::from_millis(250)));
        assert_eq!(
            delay_of(&[8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1]),
            None
        );
    }
}
