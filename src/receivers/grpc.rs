//! OTLP over gRPC: framing, deadlines and status words. The message itself is not decoded here.

use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Method, Request, Response, StatusCode, Version};
use http_body::Body;

use crate::model::Signal;
use crate::otlp::status::{self, PartialSuccess};

use super::collect::collect;
use super::counters::{Counters, add};
use super::desk::{Desk, Parcel, Written};
use super::guard::Guard;
use super::http as plain;
use super::inflate::{ACCEPTED, Squeezed};
use super::limits::Limits;
use super::refusal::Refusal;
use super::reply::Reply;
use super::shares::Client;

/// The methods that take a signal.
const METHODS: [(Signal, &str); 3] = [
    (
        Signal::Traces,
        "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    ),
    (
        Signal::Logs,
        "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
    ),
    (
        Signal::Metrics,
        "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
    ),
];

/// Bytes before a message: a flag and its length.
const PREFIX: usize = 5;

/// What one server answers with.
#[derive(Debug)]
pub(super) struct Grpc {
    pub(super) desk: Arc<Desk>,
    pub(super) counters: Arc<Counters>,
    pub(super) limits: Limits,
    pub(super) guard: Guard,
}

impl Grpc {
    /// Answers one request.
    pub(super) async fn answer<B>(&self, request: Request<B>, peer: Client) -> Response<Reply>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
        if request.version() != Version::HTTP_2 || !is_grpc(request.headers()) {
            add(&self.counters.failed_requests, 1);
            return not_grpc(&request);
        }
        let admitted = self.limits.check_headers(request.headers());
        let admitted = admitted.and_then(|()| self.guard.admit(request.headers(), peer));
        let client = match admitted {
            Ok(client) => client,
            Err(refusal) => {
                self.counters.turn_away(&refusal, false);
                return refused(&refusal);
            }
        };
        if request.method() != Method::POST {
            add(&self.counters.failed_requests, 1);
            let refusal = Refusal::not_offered(StatusCode::OK, "gRPC requests are POST requests");
            return refused(&refusal);
        }
        let signal = match self.signal(request.uri().path()) {
            Ok(signal) => signal,
            Err(refusal) => {
                add(&self.counters.failed_requests, 1);
                return refused(&refusal);
            }
        };
        match self.export(request, signal, client).await {
            Ok(partial) => success(partial.as_ref()),
            Err(refusal) => refused(&refusal),
        }
    }

    /// The signal that the method at `path` takes, if it is taken here.
    fn signal(&self, path: &str) -> Result<Signal, Refusal> {
        let routes = self.desk.routes();
        let served = |(signal, method): &&(Signal, &str)| *method == path && routes.takes(*signal);
        if let Some((signal, _)) = METHODS.iter().find(served) {
            return Ok(*signal);
        }
        let path: String = path.chars().take(200).collect();
        let taken = METHODS.iter().filter(|(signal, _)| routes.takes(*signal));
        let taken: Vec<&str> = taken.map(|(_, method)| *method).collect();
        let taken = taken.join(", ");
        let message = format!("{path} is not served here; this collector takes {taken}");
        Err(Refusal::not_offered(StatusCode::OK, message))
    }

    async fn export<B>(
        &self,
        request: Request<B>,
        signal: Signal,
        client: Client,
    ) -> Result<Option<PartialSuccess>, Refusal>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
        let received = self.receive(request, signal, client).await;
        let parcel = received.inspect_err(|refusal| {
            self.counters.turn_away(refusal, signal == Signal::Traces);
        })?;
        self.desk.take(parcel, &self.counters).await
    }

    async fn receive<B>(
        &self,
        request: Request<B>,
        signal: Signal,
        client: Client,
    ) -> Result<Parcel, Refusal>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
        let limit = self.limits.request_bytes;
        let (head, body) = request.into_parts();
        let squeezed = Squeezed::read(head.headers.get("grpc-encoding"))
            .map_err(|word| Refusal::unknown_encoding(&word))?;
        let time = deadline(&head.headers).map_or(self.limits.body_time, |theirs| {
            theirs.min(self.limits.body_time)
        });
        let intake = self.desk.intake();
        let mut held = intake
            .arriving(client)
            .map_err(|over| Refusal::too_many_arriving(over, intake.retry_after()))?;
        let most = limit.saturating_add(PREFIX);
        let whole = collect(body, (&mut held, intake), most, time, |first| {
            expected(first, limit)
        })
        .await?;
        let (flag, body) = unframe(whole, limit)?;
        let squeezed = match (flag, squeezed) {
            (0, _) => Squeezed::No,
            (1, Squeezed::No) => {
                let why = "a compressed message without grpc-encoding";
                return Err(Refusal::malformed("", &why));
            }
            (1, how) => how,
            _ => {
                return Err(Refusal::malformed(
                    "",
                    &"an unknown flag before the message",
                ));
            }
        };
        Ok(Parcel {
            signal,
            body,
            squeezed,
            written: Written::Protobuf,
            limit,
            client,
            held: Some(held),
        })
    }
}

/// How long the whole body will be, from its first piece; too much is refused before it arrives.
fn expected(first: &[u8], limit: usize) -> Result<usize, Refusal> {
    let Some([_, length @ ..]) = first.first_chunk::<PREFIX>() else {
        return Ok(0);
    };
    let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
    if length > limit {
        return Err(Refusal::too_large(limit));
    }
    Ok(length + PREFIX)
}

/// Takes the one message out of its frame.
fn unframe(mut whole: Bytes, limit: usize) -> Result<(u8, Bytes), Refusal> {
    let Some([flag, ..]) = whole.first_chunk::<PREFIX>().copied() else {
        return Err(Refusal::malformed("", &"the request holds no gRPC message"));
    };
    let expected = expected(&whole, limit)?;
    if whole.len() != expected {
        let why = format!(
            "the message should have {} bytes and has {}",
            expected - PREFIX,
            whole.len() - PREFIX
        );
        return Err(Refusal::malformed("", &why));
    }
    Ok((flag, whole.split_off(PREFIX)))
}

/// Reads `grpc-timeout`: up to eight digits and a unit.
fn deadline(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get("grpc-timeout")?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.is_empty() || digits.len() > 8 {
        return None;
    }
    let n: u64 = digits.parse().ok()?;
    Some(match unit {
        "H" => Duration::from_secs(n * 3600),
        "M" => Duration::from_secs(n * 60),
        "S" => Duration::from_secs(n),
        "m" => Duration::from_millis(n),
        "u" => Duration::from_micros(n),
        "n" => Duration::from_nanos(n),
        _ => return None,
    })
}

fn is_grpc(headers: &HeaderMap) -> bool {
    let kind = plain::media_type(headers);
    kind == "application/grpc" || kind == "application/grpc+proto"
}

fn success(partial: Option<&PartialSuccess>) -> Response<Reply> {
    let message = status::encode_response(partial);
    let mut framed = BytesMut::with_capacity(PREFIX + message.len());
    framed.put_u8(0);
    // Bounded by the length of our own messages.
    framed.put_u32(u32::try_from(message.len()).unwrap_or_default());
    framed.put_slice(&message);
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    let mut response = Response::new(Reply::with_trailers(framed.freeze(), trailers));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    accept_encodings(&mut response);
    response
}

fn refused(refusal: &Refusal) -> Response<Reply> {
    let details = if refusal.retry_after.is_some() || refusal.field.is_some() {
        Bytes::from(refusal.status().to_protobuf())
    } else {
        Bytes::new()
    };
    let code = tonic::Code::from_i32(refusal.code as i32);
    let status = tonic::Status::with_details(code, refusal.message.clone(), details);
    let mut response = Response::new(Reply::default());
    // Only texts that cannot be a header fail here, and those are percent-encoded.
    if status.add_header(response.headers_mut()).is_err() {
        let code = HeaderValue::from(refusal.code as i32);
        response.headers_mut().insert("grpc-status", code);
    }
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    accept_encodings(&mut response);
    response
}

fn accept_encodings(response: &mut Response<Reply>) {
    let value = HeaderValue::from_static(ACCEPTED);
    response.headers_mut().insert("grpc-accept-encoding", value);
}

/// The commonest mistake of users: OTLP/HTTP sent to the port of gRPC.
fn not_grpc<B>(request: &Request<B>) -> Response<Reply> {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        tracing::warn!(
            "plain HTTP arrived on the port of OTLP/gRPC; OTLP/HTTP has a port of its own, 4318 by default"
        );
    });
    let message =
        "this port speaks OTLP over gRPC; OTLP over HTTP has a port of its own, 4318 by default";
    let mut refusal = Refusal::not_offered(StatusCode::BAD_REQUEST, message);
    refusal.close = request.version() != Version::HTTP_2;
    plain::refused(&refusal, plain::written(request.headers()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeout(text: &'static str) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert("grpc-timeout", HeaderValue::from_static(text));
        deadline(&headers)
    }

    #[test]
    fn g_07_deadlines_are_read_in_every_unit() {
        assert_eq!(timeout("10S"), Some(Duration::from_secs(10)));
        assert_eq!(timeout("250m"), Some(Duration::from_millis(250)));
        assert_eq!(
            timeout("99999999H"),
            Some(Duration::from_secs(359_999_996_400))
        );
        for wrong in ["", "S", "10", "10x", "123456789S", "-1S"] {
            assert_eq!(timeout(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_frame_holds_exactly_one_message() {
        let message = |bytes: &[u8]| unframe(Bytes::copy_from_slice(bytes), 100);
        assert_eq!(
            message(&[0, 0, 0, 0, 2, 7, 8]).unwrap(),
            (0, Bytes::from_static(&[7, 8]))
        );
        for wrong in [
            &[][..],
            &[0, 0, 0],
            &[0, 0, 0, 0, 2, 7],
            &[0, 0, 0, 0, 1, 7, 8],
        ] {
            assert!(message(wrong).is_err(), "{wrong:?}");
        }
        let large = message(&[0, 0, 0, 1, 0]).unwrap_err();
        assert_eq!(large.code, super::super::refusal::Code::ResourceExhausted);
    }
}
