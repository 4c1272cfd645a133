//! What servers answer: export responses with `partial_success`, and `google.rpc.Status` with the two
//! details that matter to OTLP, in protobuf and in proto3 JSON.
//!
//! Invariant: full success has no `partial_success` at all; reading takes any bytes and never panics.

use std::time::Duration;

use serde_json::{Value, json};

use super::wire::{Fields, Wire, close, open, put_bytes, put_number};

/// Prefix of the type URLs in `details`.
const TYPE_URL: &str = "type.googleapis.com/";
const RETRY_INFO: &str = "google.rpc.RetryInfo";
const BAD_REQUEST: &str = "google.rpc.BadRequest";

/// A request that was taken in part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartialSuccess {
    /// Spans that were not taken; a negative count is read as none.
    pub rejected_spans: u64,
    /// Why, in the server's words; with no span rejected it is a warning.
    pub message: String,
}

/// An ExportTraceServiceResponse in protobuf; full success is no bytes at all.
pub fn encode_response(partial: Option<&PartialSuccess>) -> Vec<u8> {
    let mut out = Vec::new();
    if let Some(partial) = partial {
        let message = open(&mut out, 1);
        if partial.rejected_spans > 0 {
            put_number(&mut out, 1, partial.rejected_spans);
        }
        if !partial.message.is_empty() {
            put_bytes(&mut out, 2, partial.message.as_bytes());
        }
        close(&mut out, message);
    }
    out
}

/// An ExportTraceServiceResponse in JSON; full success is `{}`.
pub fn encode_response_json(partial: Option<&PartialSuccess>) -> String {
    partial.map_or_else(
        || "{}".to_owned(),
        |partial| {
            json!({"partialSuccess": {
                "rejectedSpans": partial.rejected_spans.to_string(),
                "errorMessage": partial.message,
            }})
            .to_string()
        },
    )
}

/// Reads a response in protobuf: `Ok(None)` is full success, `Err` bytes that are no response.
pub fn decode_response(bytes: &[u8]) -> Result<Option<PartialSuccess>, Unreadable> {
    let mut partial = None;
    for field in Fields::new(bytes) {
        let field = field.map_err(|_| Unreadable)?;
        if let (1, Wire::Bytes(message)) = (field.number, field.wire) {
            let partial: &mut PartialSuccess = partial.get_or_insert_default();
            for field in Fields::new(message) {
                let field = field.map_err(|_| Unreadable)?;
                match (field.number, field.wire) {
                    (1, Wire::Varint(n)) => partial.rejected_spans = positive(n),
                    (2, Wire::Bytes(text)) => partial.message = text_of(text),
                    _ => {}
                }
            }
        }
    }
    Ok(partial.filter(|partial| *partial != PartialSuccess::default()))
}

/// Reads a response in JSON; the count may be a text (as the mapping says) or a number (as some write).
pub fn decode_response_json(bytes: &[u8]) -> Result<Option<PartialSuccess>, Unreadable> {
    let value: Value = serde_json::from_slice(bytes).map_err(|_| Unreadable)?;
    if !value.is_object() {
        return Err(Unreadable);
    }
    let partial = match value.get("partialSuccess") {
        None | Some(Value::Null) => return Ok(None),
        Some(partial) => partial,
    };
    let rejected_spans = match partial.get("rejectedSpans") {
        Some(Value::String(text)) => text.parse().unwrap_or(0),
        Some(number) => number.as_u64().unwrap_or(0),
        None => 0,
    };
    let message = partial.get("errorMessage").and_then(Value::as_str);
    let partial = PartialSuccess {
        rejected_spans,
        message: message.unwrap_or_default().to_owned(),
    };
    Ok(Some(partial).filter(|partial| *partial != PartialSuccess::default()))
}

/// Bytes that are not what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bytes are no such message")]
pub struct Unreadable;

/// A `google.rpc.Status`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// A `google.rpc.Code`.
    pub code: i32,
    /// For people.
    pub message: String,
    /// `google.rpc.RetryInfo`: what to wait before the next attempt.
    pub retry_delay: Option<Duration>,
    /// `google.rpc.BadRequest`: fields that are wrong.
    pub violations: Vec<Violation>,
}

/// One wrong field of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Violation {
    /// Path of the field, as `resourceSpans[0].scopeSpans[0].spans[3].traceId`.
    pub field: String,
    /// What is wrong with it.
    pub description: String,
}

impl Status {
    /// This status in protobuf.
    pub fn to_protobuf(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if self.code != 0 {
            // As protobuf has it for int32: negative ones are extended to 64 bits.
            put_number(&mut out, 1, i64::from(self.code).cast_unsigned());
        }
        if !self.message.is_empty() {
            put_bytes(&mut out, 2, self.message.as_bytes());
        }
        if let Some(delay) = self.retry_delay {
            detail(&mut out, RETRY_INFO, |out| {
                let duration = open(out, 1);
                if delay.as_secs() > 0 {
                    put_number(out, 1, delay.as_secs());
                }
                if delay.subsec_nanos() > 0 {
                    put_number(out, 2, u64::from(delay.subsec_nanos()));
                }
                close(out, duration);
            });
        }
        if !self.violations.is_empty() {
            detail(&mut out, BAD_REQUEST, |out| {
                for Violation { field, description } in &self.violations {
                    let violation = open(out, 1);
                    put_bytes(out, 1, field.as_bytes());
                    put_bytes(out, 2, description.as_bytes());
                    close(out, violation);
                }
            });
        }
        out
    }

    /// This status in JSON.
    pub fn to_json(&self) -> String {
        let mut details = Vec::new();
        if let Some(delay) = self.retry_delay {
            let seconds = match delay.subsec_nanos() {
                0 => format!("{}s", delay.as_secs()),
                nanos => format!("{}.{nanos:09}s", delay.as_secs()),
            };
            details
                .push(json!({"@type": format!("{TYPE_URL}{RETRY_INFO}"), "retryDelay": seconds}));
        }
        if !self.violations.is_empty() {
            let violations: Vec<Value> = self
                .violations
                .iter()
                .map(|v| json!({"field": v.field, "description": v.description}))
                .collect();
            details.push(
                json!({"@type": format!("{TYPE_URL}{BAD_REQUEST}"), "fieldViolations": violations}),
            );
        }
        let mut status = json!({"code": self.code, "message": self.message});
        if let (Some(status), false) = (status.as_object_mut(), details.is_empty()) {
            status.insert("details".to_owned(), Value::Array(details));
        }
        status.to_string()
    }

    /// Reads a status in protobuf; details of other kinds are passed over.
    pub fn from_protobuf(bytes: &[u8]) -> Result<Self, Unreadable> {
        let mut status = Self::default();
        for field in Fields::new(bytes) {
            let field = field.map_err(|_| Unreadable)?;
            match (field.number, field.wire) {
                (1, Wire::Varint(code)) => status.code = i32::try_from(code).unwrap_or(2),
                (2, Wire::Bytes(text)) => status.message = text_of(text),
                (3, Wire::Bytes(any)) => status.read_detail(any),
                _ => {}
            }
        }
        Ok(status)
    }

    /// Reads a status in JSON.
    pub fn from_json(bytes: &[u8]) -> Result<Self, Unreadable> {
        let value: Value = serde_json::from_slice(bytes).map_err(|_| Unreadable)?;
        let object = value.as_object().ok_or(Unreadable)?;
        let code = object.get("code").and_then(Value::as_i64).unwrap_or(0);
        let message = object.get("message").and_then(Value::as_str);
        let mut status = Self {
            code: i32::try_from(code).unwrap_or(2),
            message: message.unwrap_or_default().to_owned(),
            ..Self::default()
        };
        let details = object.get("details").and_then(Value::as_array);
        for detail in details.into_iter().flatten() {
            if let Some(delay) = detail.get("retryDelay").and_then(Value::as_str) {
                status.retry_delay = delay.strip_suffix('s').and_then(seconds);
            }
        }
        Ok(status)
    }

    fn read_detail(&mut self, any: &[u8]) {
        let url = Fields::new(any).next_bytes(1).unwrap_or_default();
        let value = Fields::new(any).next_bytes(2).unwrap_or_default();
        if url.ends_with(RETRY_INFO.as_bytes()) {
            let duration = Fields::new(value).next_bytes(1).unwrap_or_default();
            let (mut whole, mut nanos) = (0, 0);
            for field in Fields::new(duration).flatten() {
                match (field.number, field.wire) {
                    (1, Wire::Varint(n)) => whole = positive(n),
                    (2, Wire::Varint(n)) => nanos = positive(n),
                    _ => {}
                }
            }
            let nanos = u32::try_from(nanos).unwrap_or(0).min(999_999_999);
            self.retry_delay = Some(Duration::new(whole, nanos));
        } else if url.ends_with(BAD_REQUEST.as_bytes()) {
            let mut violations = Fields::new(value);
            while let Some(violation) = violations.next_bytes(1) {
                let text = |n| text_of(Fields::new(violation).next_bytes(n).unwrap_or_default());
                self.violations.push(Violation {
                    field: text(1),
                    description: text(2),
                });
            }
        }
    }
}

fn detail(out: &mut Vec<u8>, name: &str, content: impl FnOnce(&mut Vec<u8>)) {
    let any = open(out, 3);
    put_bytes(out, 1, format!("{TYPE_URL}{name}").as_bytes());
    let value = open(out, 2);
    content(out);
    close(out, value);
    close(out, any);
}

/// A varint that stands for a signed number, with negative ones as zero.
fn positive(n: u64) -> u64 {
    u64::try_from(n.cast_signed()).unwrap_or(0)
}

/// Strangers' text for people: what is no UTF-8 is replaced.
fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use opentelemetry_proto::tonic::collector::trace::v1 as oracle;
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
        assert_eq!(encode_response(None), Vec::<u8>::new());
        assert_eq!(encode_response_json(None), "{}");
        assert_eq!(decode_response(&[]), Ok(None));
        assert_eq!(decode_response(&[0x0a, 0]), Ok(None));
        for json in [
            &b"{}"[..],
            br#"{"partialSuccess":null}"#,
            br#"{"partialSuccess":{}}"#,
        ] {
            assert_eq!(decode_response_json(json), Ok(None));
        }
    }

    #[test]
    fn j_13_counts_are_written_as_text_and_read_as_both() {
        let two = partial(2, "why");
        assert_eq!(
            encode_response_json(Some(&two)),
            r#"{"partialSuccess":{"errorMessage":"why","rejectedSpans":"2"}}"#
        );
        let number = br#"{"partialSuccess":{"rejectedSpans":2,"errorMessage":"why"}}"#;
        assert_eq!(decode_response_json(number), Ok(Some(two)));
    }

    #[test]
    fn the_oracle_reads_what_we_write_and_we_what_it_writes() {
        let ours = partial(3, "three are bad");
        let theirs = oracle::ExportTraceServiceResponse {
            partial_success: Some(oracle::ExportTracePartialSuccess {
                rejected_spans: 3,
                error_message: "three are bad".to_owned(),
            }),
        };
        assert_eq!(encode_response(Some(&ours)), theirs.encode_to_vec());
        assert_eq!(decode_response(&theirs.encode_to_vec()), Ok(Some(ours)));
    }

    #[test]
    fn a_status_survives_in_both_writings() {
        let status = Status {
            code: 14,
            message: "no room".to_owned(),
            retry_delay: Some(Duration::from_millis(1500)),
            violations: vec![Violation {
                field: "resourceSpans[0]".to_owned(),
                description: "x".repeat(300),
            }],
        };
        assert_eq!(
            Status::from_protobuf(&status.to_protobuf()),
            Ok(status.clone())
        );
        let read = Status::from_json(status.to_json().as_bytes()).unwrap();
        assert_eq!((read.code, read.retry_delay), (14, status.retry_delay));
        assert!(status.to_json().contains(r#""retryDelay":"1.500000000s""#));
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
}
