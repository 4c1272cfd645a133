//! Why a request was not taken, and how each protocol says so (otlp_conformance, H-10).
//!
//! Invariant: what can never succeed is never called retryable, and overload always is.

use std::time::Duration;

use http::StatusCode;

use crate::model::Signal;
use crate::otlp::status::{Status, Violation};

use super::counters::Limited;
use super::routes::Routes;
use super::shares::Over;

/// Longest message to a client: far below the 4 MiB that a response may have.
const MESSAGE_AT_MOST: usize = 1024;

/// Codes of google.rpc.Code that we answer with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    /// The request is wrong and stays so.
    InvalidArgument = 3,
    /// It took too long; may be tried again.
    DeadlineExceeded = 4,
    /// Too large. Without RetryInfo it is not tried again.
    ResourceExhausted = 8,
    /// We do not offer this.
    Unimplemented = 12,
    /// No room; try again.
    Unavailable = 14,
    /// Who it is has not been shown.
    Unauthenticated = 16,
}

/// A request that was not taken.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    /// For gRPC, and in the Status of HTTP.
    pub(super) code: Code,
    /// For HTTP.
    pub(super) http: StatusCode,
    /// What is wrong, for people.
    pub(super) message: String,
    /// What to wait before the next attempt, where one makes sense.
    pub(super) retry_after: Option<Duration>,
    /// Field of the request that is wrong.
    pub(super) field: Option<String>,
    /// The rest of the body is not wanted: the connection cannot be used again.
    pub(super) close: bool,
    /// The limit that was met.
    pub(super) limit: Option<Limited>,
}

impl Refusal {
    fn new(code: Code, http: StatusCode, message: impl Into<String>) -> Self {
        Self {
            code,
            http,
            message: shorten(message.into()),
            retry_after: None,
            field: None,
            close: false,
            limit: None,
        }
    }

    /// The body cannot be read. `field` says where, if known.
    pub(super) fn malformed(field: &str, why: &dyn std::fmt::Display) -> Self {
        let mut refusal = Self::new(
            Code::InvalidArgument,
            StatusCode::BAD_REQUEST,
            why.to_string(),
        );
        refusal.field = Some(shorten(field.to_owned()));
        refusal
    }

    /// No token, or a wrong one. Which of the two is not said. The body is not read.
    pub(super) fn unauthenticated(scheme: &str) -> Self {
        let mut refusal = Self::new(
            Code::Unauthenticated,
            StatusCode::UNAUTHORIZED,
            format!("a valid token is needed ({scheme}); set it as a header of your exporter"),
        );
        refusal.close = true;
        refusal
    }

    /// More bytes than allowed, before or after inflating.
    pub(super) fn too_large(limit: usize) -> Self {
        let message = format!(
            "the request is larger than {limit} bytes; send smaller batches or raise the receiver's limit"
        );
        let mut refusal = Self::new(
            Code::ResourceExhausted,
            StatusCode::PAYLOAD_TOO_LARGE,
            message,
        );
        refusal.close = true;
        refusal.limit = Some(Limited::Size);
        refusal
    }

    /// More bytes of headers than allowed.
    pub(super) fn headers_too_large(limit: usize) -> Self {
        let mut refusal = Self::new(
            Code::ResourceExhausted,
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            format!(
                "the headers are larger than {limit} bytes; send fewer or raise the receiver's max_header_bytes"
            ),
        );
        refusal.close = true;
        refusal.limit = Some(Limited::Headers);
        refusal
    }

    /// Too many bytes of bodies are under way, of all clients or of this one.
    pub(super) fn too_many_arriving(over: Over, wait: Duration) -> Self {
        let (limit, why) = match over {
            Over::Full => (
                Limited::Arriving,
                "too many bytes of requests are arriving at this collector",
            ),
            Over::Share => (
                Limited::Share,
                "too many bytes of this client's requests are arriving while others send",
            ),
        };
        let mut refusal = Self::no_room(wait, why);
        refusal.close = true;
        refusal.limit = Some(limit);
        refusal
    }

    /// The body did not arrive in time.
    pub(super) fn too_slow(time: Duration) -> Self {
        let mut refusal = Self::new(
            Code::DeadlineExceeded,
            StatusCode::SERVICE_UNAVAILABLE,
            format!("the request did not arrive within {time:?}"),
        );
        refusal.close = true;
        refusal.limit = Some(Limited::ReadTimeout);
        refusal
    }

    /// The body broke off. Rarely read by anyone: the connection is mostly gone.
    pub(super) fn cut_off(why: &dyn std::fmt::Display) -> Self {
        let mut refusal = Self::new(
            Code::InvalidArgument,
            StatusCode::BAD_REQUEST,
            format!("the body broke off: {why}"),
        );
        refusal.close = true;
        refusal
    }

    /// No room for now: the whole request is to be sent again after `wait`.
    pub(super) fn no_room(wait: Duration, why: &str) -> Self {
        let mut refusal = Self::new(Code::Unavailable, StatusCode::SERVICE_UNAVAILABLE, why);
        refusal.retry_after = Some(wait);
        refusal
    }

    /// Squeezed in a way that we do not know.
    pub(super) fn unknown_encoding(word: &str) -> Self {
        Self::new(
            Code::Unimplemented,
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            format!("compression `{word}` is not supported; use gzip, zstd or none"),
        )
    }

    /// Not offered here: a path, a method, a content type.
    pub(super) fn not_offered(http: StatusCode, message: impl Into<String>) -> Self {
        Self::new(Code::Unimplemented, http, message)
    }

    /// No pipeline of this receiver has this signal: the client should stop sending it.
    pub(super) fn no_pipeline(signal: Signal, routes: &Routes) -> Self {
        let taken: Vec<&str> = routes.taken().map(Signal::name).collect();
        let taken = match taken.as_slice() {
            [] => "nothing".to_owned(),
            [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
            one => one.join(""),
        };
        let name = signal.name();
        Self::not_offered(
            StatusCode::NOT_FOUND,
            format!("no pipeline of {name} here takes this receiver's {name}; it takes {taken}"),
        )
    }

    /// This refusal as google.rpc.Status with details.
    pub(super) fn status(&self) -> Status {
        Status {
            code: self.code as i32,
            message: self.message.clone(),
            retry_delay: self.retry_after,
            violations: self
                .field
                .iter()
                .map(|field| Violation {
                    field: field.clone(),
                    description: self.message.clone(),
                })
                .collect(),
        }
    }

    /// `Retry-After` in whole seconds, at least one.
    pub(super) fn retry_after_seconds(&self) -> Option<u64> {
        self.retry_after
            .map(|wait| wait.as_secs() + u64::from(wait.subsec_nanos() > 0))
            .map(|seconds| seconds.max(1))
    }
}

/// Cuts a message at a character, so that no answer outgrows what clients take.
pub(super) fn shorten(mut message: String) -> String {
    if message.len() > MESSAGE_AT_MOST {
        let end = (0..=MESSAGE_AT_MOST - 3)
            .rev()
            .find(|&at| message.is_char_boundary(at))
            .unwrap_or(0);
        message.truncate(end);
        message.push_str("...");
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_08_a_message_of_any_length_becomes_short() {
        let long = "\u{e4}".repeat(3 << 20);
        let short = Refusal::malformed("spans", &long).message;
        assert!(short.len() <= MESSAGE_AT_MOST && short.ends_with("..."));
    }

    #[test]
    fn h_09_waits_are_whole_seconds_and_never_zero() {
        let wait = |time| Refusal::no_room(time, "full").retry_after_seconds();
        assert_eq!(wait(Duration::ZERO), Some(1));
        assert_eq!(wait(Duration::from_millis(1)), Some(1));
        assert_eq!(wait(Duration::from_millis(2500)), Some(3));
        assert_eq!(Refusal::too_large(1).retry_after_seconds(), None);
    }
}
