//! What an attempt came to: the retry table of OTLP (otlp_conformance section 7).
//!
//! Invariant: what may succeed later is tried again, what never will is not, and data that a backend says
//! it has taken is never sent twice on our own account.

use std::time::Duration;

use http::header::{CONTENT_TYPE, DATE, RETRY_AFTER};
use http::{HeaderMap, StatusCode};
use tonic::Code;

use crate::otlp::status::{PartialSuccess, Status, decode_response, decode_response_json};

/// What one attempt came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The backend has the request; of its spans it did not take some.
    Delivered(PartialSuccess),
    /// Not now.
    Retry {
        /// The backend's wish.
        after: Option<Duration>,
        /// Its words.
        why: String,
    },
    /// Never.
    Refused {
        /// The backend's words.
        why: String,
        /// It may be single spans that it does not like, or their number: smaller requests may pass.
        divide: bool,
    },
}

impl Outcome {
    /// No answer at all.
    pub(super) fn unreachable(why: impl Into<String>) -> Self {
        Self::Retry {
            after: None,
            why: why.into(),
        }
    }
}

/// Reads a gRPC answer: the status in its headers or trailers, and the message's bytes.
pub(super) fn of_grpc(http: StatusCode, headers: &HeaderMap, message: &[u8]) -> Outcome {
    let Some(status) = tonic::Status::from_header_map(headers) else {
        return without_status(http);
    };
    if status.code() == Code::Ok {
        // A success whose message we cannot read is a success.
        let partial = decode_response(message).ok().flatten();
        return Outcome::Delivered(partial.unwrap_or_default());
    }
    let details = Status::from_protobuf(status.details()).unwrap_or_default();
    let after = details.retry_delay;
    let mut why = format!("{:?}: {}", status.code(), status.message());
    if let Some(violation) = details.violations.first() {
        why.push_str(&format!(" ({})", violation.field));
    }
    match status.code() {
        Code::Cancelled
        | Code::DeadlineExceeded
        | Code::Aborted
        | Code::OutOfRange
        | Code::Unavailable
        | Code::DataLoss => Outcome::Retry { after, why },
        Code::ResourceExhausted if after.is_some() => Outcome::Retry { after, why },
        code => Outcome::Refused {
            why,
            divide: matches!(
                code,
                Code::InvalidArgument | Code::ResourceExhausted | Code::Internal | Code::Unknown
            ),
        },
    }
}

/// Something between us and the backend has answered that speaks no gRPC.
fn without_status(http: StatusCode) -> Outcome {
    let why = format!("HTTP {http} without a gRPC status");
    match http.as_u16() {
        429 | 502..=504 => Outcome::Retry { after: None, why },
        _ => Outcome::Refused { why, divide: false },
    }
}

/// Reads an HTTP answer.
pub(super) fn of_http(http: StatusCode, headers: &HeaderMap, body: &[u8]) -> Outcome {
    let json = is_json(headers);
    if http.is_success() {
        let partial = if json {
            decode_response_json(body)
        } else {
            decode_response(body)
        };
        return Outcome::Delivered(partial.ok().flatten().unwrap_or_default());
    }
    let status = if json {
        Status::from_json(body)
    } else {
        Status::from_protobuf(body)
    }
    .unwrap_or_default();
    let why = if status.message.is_empty() {
        format!("HTTP {http}")
    } else {
        format!("HTTP {http}: {}", status.message)
    };
    match http.as_u16() {
        429 | 502..=504 => Outcome::Retry {
            after: retry_after(headers).or(status.retry_delay),
            why,
        },
        code => Outcome::Refused {
            why,
            divide: matches!(code, 400 | 413 | 422 | 500),
        },
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).map(|value| value.as_bytes());
    let kind = kind.unwrap_or_default().to_ascii_lowercase();
    kind.starts_with(b"application/json")
}

/// `Retry-After` in seconds, or as a date: then measured against the server's own `Date`, so that neither
/// clock has to be right.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let at = httpdate::parse_http_date(text).ok()?;
    let now = httpdate::parse_http_date(headers.get(DATE)?.to_str().ok()?).ok()?;
    Some(at.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn grpc(code: i32, retry: Option<u64>) -> Outcome {
        let status = Status {
            code,
            retry_delay: retry.map(Duration::from_secs),
            ..Status::default()
        };
        let details = status.to_protobuf().into();
        let mut headers = HeaderMap::new();
        tonic::Status::with_details(Code::from_i32(code), "their words", details)
            .add_header(&mut headers)
            .unwrap();
        of_grpc(StatusCode::OK, &headers, &[])
    }

    #[test]
    fn the_retry_table_of_grpc() {
        for code in [1, 4, 10, 11, 14, 15] {
            assert!(matches!(grpc(code, None), Outcome::Retry { .. }), "{code}");
        }
        for code in [2, 3, 5, 6, 7, 8, 9, 12, 13, 16] {
            assert!(
                matches!(grpc(code, None), Outcome::Refused { .. }),
                "{code}"
            );
        }
        let wish = Some(Duration::from_secs(7));
        for code in [8, 14] {
            let outcome = grpc(code, Some(7));
            assert!(matches!(outcome, Outcome::Retry { after, .. } if after == wish));
        }
        assert_eq!(grpc(0, None), Outcome::Delivered(PartialSuccess::default()));
    }

    #[test]
    fn only_what_may_pass_in_pieces_is_divided() {
        for (code, expected) in [(3, true), (8, true), (13, true), (7, false), (12, false)] {
            let Outcome::Refused { divide, why } = grpc(code, None) else {
                panic!("{code}");
            };
            assert_eq!(divide, expected, "{code}");
            assert!(why.contains("their words"));
        }
    }

    #[test]
    fn the_retry_table_of_http() {
        let outcome =
            |code: u16| of_http(StatusCode::from_u16(code).unwrap(), &HeaderMap::new(), &[]);
        for code in [429, 502, 503, 504] {
            assert!(matches!(outcome(code), Outcome::Retry { .. }), "{code}");
        }
        for code in [301, 400, 401, 403, 404, 408, 413, 415, 500, 501, 505] {
            assert!(matches!(outcome(code), Outcome::Refused { .. }), "{code}");
        }
    }

    #[test]
    fn e_12_a_success_that_cannot_be_read_is_a_success() {
        for kind in ["application/json", "application/x-protobuf", "text/html"] {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
            let outcome = of_http(StatusCode::OK, &headers, b"<html>");
            assert_eq!(outcome, Outcome::Delivered(PartialSuccess::default()));
        }
    }

    #[test]
    fn e_13_errors_are_read_by_their_content_type() {
        let mut headers = HeaderMap::new();
        headers.insert(
            CONTENT_TYPE,
            HeaderValue::from_static("application/json; charset=utf-8"),
        );
        let outcome = of_http(
            StatusCode::BAD_REQUEST,
            &headers,
            br#"{"message":"bad span"}"#,
        );
        assert!(matches!(outcome, Outcome::Refused { why, .. } if why.ends_with("bad span")));
        let body = Status {
            message: "bad span".to_owned(),
            ..Status::default()
        };
        let outcome = of_http(
            StatusCode::BAD_REQUEST,
            &HeaderMap::new(),
            &body.to_protobuf(),
        );
        assert!(matches!(outcome, Outcome::Refused { why, .. } if why.ends_with("bad span")));
    }

    #[test]
    fn retry_after_is_read_as_seconds_and_as_a_date() {
        let wish = |retry: &'static str, date: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, HeaderValue::from_static(retry));
            if let Some(date) = date {
                headers.insert(DATE, HeaderValue::from_static(date));
            }
            retry_after(&headers).map(|wish| wish.as_secs())
        };
        let (now, later) = (
            Some("Sun, 06 Nov 1994 08:49:37 GMT"),
            "Sun, 06 Nov 1994 08:50:37 GMT",
        );
        assert_eq!(wish("17", None), Some(17));
        assert_eq!(wish(later, now), Some(60));
        assert_eq!(wish("Sun, 06 Nov 1994 08:00:00 GMT", now), Some(0));
        assert_eq!(wish(later, None), None);
        assert_eq!(wish("soon", now), None);
    }
}
