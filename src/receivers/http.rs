//! OTLP over HTTP, protobuf and JSON: paths, media types and status words.
//!
//! Invariant: the answer is written as the request was, success and error alike.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, ALLOW, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, EXPECT,
    HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE,
};
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body::Body;

use crate::model::Signal;
use crate::otlp::status::{self, PartialSuccess};

use super::collect::{collect, drain};
use super::cors::CorsSettings;
use super::counters::Counters;
use super::desk::{Desk, Parcel, Written};
use super::guard::Guard;
use super::inflate::{ACCEPTED, Squeezed};
use super::limits::Limits;
use super::refusal::Refusal;
use super::reply::Reply;
use super::shares::Client;

/// What one server answers with.
#[derive(Debug)]
pub(super) struct Http {
    pub(super) desk: Arc<Desk>,
    pub(super) counters: Arc<Counters>,
    pub(super) limits: Limits,
    pub(super) guard: Guard,
    pub(super) cors: CorsSettings,
    /// Path of each signal, without a slash at its end.
    pub(super) paths: [(Signal, String); 3],
}

impl Http {
    /// Answers one request.
    pub(super) async fn answer<B>(&self, request: Request<B>, peer: Client) -> Response<Reply>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
        if let Some(answer) = self.cors.preflight(&request) {
            return answer;
        }
        let origin = self.cors.admits(request.headers());
        let mut response = self.decide(request, peer).await;
        self.cors.mark(origin.as_ref(), &mut response);
        response
    }

    async fn decide<B>(&self, request: Request<B>, peer: Client) -> Response<Reply>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
        let (head, mut body) = request.into_parts();
        let mut response = self.judge(&head, &mut body, peer).await;
        // What was refused before it was read has to be read all the same, or the connection ends while its client
        // writes: some SDKs do not survive that.
        let closing = response.headers().contains_key(CONNECTION);
        // Who asks first sends nothing after a no; to read would be to ask for it.
        let asks = head.headers.contains_key(EXPECT) && !body.is_end_stream();
        if !closing && (asks || !drain(&mut body, self.limits.body_time).await) {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(CONNECTION, close);
        }
        response
    }

    async fn judge<B>(&self, head: &Parts, body: &mut B, peer: Client) -> Response<Reply>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
        let written = written(&head.headers);
        let admitted = self.limits.check_headers(&head.headers);
        let admitted = admitted.and_then(|()| self.guard.admit(&head.headers, peer));
        let client = match admitted {
            Ok(client) => client,
            Err(refusal) => {
                self.counters.turn_away(&refusal, false);
                let mut response = refused(&refusal, written);
                if refusal.http == StatusCode::UNAUTHORIZED
                    && let Some(challenge) = self.guard.challenge()
                {
                    let headers = response.headers_mut();
                    headers.insert(WWW_AUTHENTICATE, challenge);
                }
                return response;
            }
        };
        let signal = self.signal(head);
        match self.export(head, body, signal, client).await {
            Ok(partial) => success(signal.unwrap_or(Signal::Traces), partial.as_ref(), written),
            Err(refusal) => {
                let mut response = refused(&refusal, written);
                if refusal.http == StatusCode::METHOD_NOT_ALLOWED {
                    let post = HeaderValue::from_static("POST");
                    response.headers_mut().insert(ALLOW, post);
                }
                response
            }
        }
    }

    async fn export<B>(
        &self,
        head: &Parts,
        body: &mut B,
        signal: Option<Signal>,
        client: Client,
    ) -> Result<Option<PartialSuccess>, Refusal>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
        let received = self.receive(head, body, signal, client).await;
        let parcel = received.inspect_err(|refusal| {
            self.counters
                .turn_away(refusal, signal == Some(Signal::Traces));
        })?;
        self.desk.take(parcel, &self.counters).await
    }

    async fn receive<B>(
        &self,
        head: &Parts,
        body: &mut B,
        signal: Option<Signal>,
        client: Client,
    ) -> Result<Parcel, Refusal>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: std::fmt::Display,
    {
        let signal = self.check_path(head, signal)?;
        let limit = self.limits.request_bytes;
        let Some(written) = written(&head.headers) else {
            let kind: String = media_type(&head.headers).chars().take(100).collect();
            return Err(Refusal::not_offered(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                format!(
                    "content type `{kind}` is not taken; use application/x-protobuf or application/json"
                ),
            ));
        };
        let squeezed = Squeezed::read(head.headers.get(CONTENT_ENCODING))
            .map_err(|word| Refusal::unknown_encoding(&word))?;
        let length = content_length(&head.headers);
        if length > limit {
            return Err(Refusal::too_large(limit));
        }
        let intake = self.desk.intake();
        let mut held = intake
            .arriving(client)
            .map_err(|over| Refusal::too_many_arriving(over, intake.retry_after()))?;
        let time = self.limits.body_time;
        let body = collect(body, (&mut held, intake), limit, time, |_| Ok(length)).await?;
        Ok(Parcel {
            signal,
            body,
            squeezed,
            written,
            limit,
            client,
            held: Some(held),
        })
    }

    /// The signal whose path a request names.
    fn signal(&self, head: &Parts) -> Option<Signal> {
        let path = head.uri.path();
        let path = path.strip_suffix('/').unwrap_or(path);
        let mut paths = self.paths.iter();
        paths
            .find(|(_, own)| own == path)
            .map(|(signal, _)| *signal)
    }

    fn check_path(&self, head: &Parts, signal: Option<Signal>) -> Result<Signal, Refusal> {
        let routes = self.desk.routes();
        let Some(signal) = signal.filter(|signal| routes.takes(*signal)) else {
            let taken: Vec<&str> = routes.taken().map(|signal| self.path_of(signal)).collect();
            let taken = taken.join(", ");
            let path: String = head.uri.path().chars().take(200).collect();
            let known = signal.is_some() || path == "/v1development/profiles";
            let message = if known {
                format!("no pipeline here takes {path}; this collector takes {taken}")
            } else {
                format!("no such path; this collector takes {taken}")
            };
            if media_type(&head.headers).starts_with("application/grpc") {
                return Err(grpc_here());
            }
            return Err(Refusal::not_offered(StatusCode::NOT_FOUND, message));
        };
        if head.method == Method::POST {
            return Ok(signal);
        }
        Err(Refusal::not_offered(
            StatusCode::METHOD_NOT_ALLOWED,
            format!("{} takes POST only", self.path_of(signal)),
        ))
    }

    fn path_of(&self, signal: Signal) -> &str {
        let mut paths = self.paths.iter();
        let found = paths.find(|(own, _)| *own == signal);
        found.map_or("", |(_, path)| path.as_str())
    }
}

/// OTLP over gRPC sent to the port of HTTP: said once in the log too, since its client may not show the answer.
fn grpc_here() -> Refusal {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        tracing::warn!(
            "OTLP over gRPC arrived on the port of OTLP/HTTP; gRPC has a port of its own, 4317 by default"
        );
    });
    let message =
        "this port speaks OTLP over HTTP; OTLP over gRPC has a port of its own, 4317 by default";
    Refusal::not_offered(StatusCode::NOT_FOUND, message.to_owned())
}

/// The media type in small letters, without parameters.
pub(super) fn media_type(headers: &HeaderMap) -> String {
    let value = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    let text = String::from_utf8_lossy(value.unwrap_or_default());
    let kind = text.split(';').next().unwrap_or_default();
    kind.trim().to_ascii_lowercase()
}

/// How the request's body is written; `None` when we do not read that.
pub(super) fn written(headers: &HeaderMap) -> Option<Written> {
    match media_type(headers).as_str() {
        "application/x-protobuf" => Some(Written::Protobuf),
        "application/json" => Some(Written::Json),
        _ => None,
    }
}

/// 0 when it is not said.
fn content_length(headers: &HeaderMap) -> usize {
    let text = headers.get(CONTENT_LENGTH).and_then(|v| v.to_str().ok());
    text.and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

fn success(
    signal: Signal,
    partial: Option<&PartialSuccess>,
    written: Option<Written>,
) -> Response<Reply> {
    let body = match written {
        Some(Written::Protobuf) => status::encode_response(partial),
        _ => status::encode_response_json(signal, partial).into_bytes(),
    };
    respond(StatusCode::OK, body, written)
}

/// A refusal as google.rpc.Status, in JSON where we do not know the client's own writing.
pub(super) fn refused(refusal: &Refusal, written: Option<Written>) -> Response<Reply> {
    let status = refusal.status();
    let body = match written {
        Some(Written::Protobuf) => status.to_protobuf(),
        _ => status.to_json().into_bytes(),
    };
    let mut response = respond(refusal.http, body, written);
    let headers = response.headers_mut();
    if let Some(seconds) = refusal.retry_after_seconds() {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    if refusal.close {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    if refusal.http == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(ACCEPTED));
    }
    response
}

fn respond(code: StatusCode, body: Vec<u8>, written: Option<Written>) -> Response<Reply> {
    let mut response = Response::new(Reply::whole(body));
    *response.status_mut() = code;
    let kind = match written {
        Some(Written::Protobuf) => "application/x-protobuf",
        _ => "application/json",
    };
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
