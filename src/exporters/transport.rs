//! How a body reaches its backend. A transport makes one attempt and knows nothing of queues and retries.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, Method, Request};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use crate::model::Signal;
use crate::otlp::to_json_of;

use super::connector::{Connector, Dial};
use super::endpoint::Destination;
use super::outcome::{Outcome, of_grpc, of_http};
use super::settings::Encoding;
use super::squeeze::squeeze;

/// An attempt under way.
pub(super) type Attempting<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// Takes a body to its backend, once.
pub(super) trait Transport: Send + Sync + 'static {
    /// One attempt with one request.
    fn send(&self, body: Bytes) -> Attempting<'_>;
}

/// Largest answer that is read (otlp_conformance E-08).
const ANSWER_AT_MOST: usize = 4 << 20;

// As on the receiving side: large frames and windows save a quarter of the CPU.
const MAX_FRAME: u32 = 1 << 20;
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;
/// Headers and trailers of an answer, status details included.
const MAX_HEADERS: u32 = 64 << 10;
/// A backend that has silently gone is noticed after these two, while requests are open.
const PING_EVERY: std::time::Duration = std::time::Duration::from_secs(30);
const PING_WAIT: std::time::Duration = std::time::Duration::from_secs(10);

/// OTLP over gRPC, on one HTTP/2 connection that is opened when needed.
#[derive(Debug)]
pub(super) struct Grpc {
    client: Client<Dial, Framed>,
    to: Destination,
}

impl Grpc {
    pub(super) fn new(connector: Connector, mut to: Destination) -> Self {
        to.headers.extend(connector.credentials());
        let client = Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .http2_only(true)
            .http2_max_frame_size(MAX_FRAME)
            .http2_initial_stream_window_size(STREAM_WINDOW)
            .http2_initial_connection_window_size(CONNECTION_WINDOW)
            .http2_max_header_list_size(MAX_HEADERS)
            .http2_keep_alive_interval(PING_EVERY)
            .http2_keep_alive_timeout(PING_WAIT)
            .build(connector.http2());
        Self { client, to }
    }

    async fn attempt(&self, body: Bytes) -> Result<Outcome, String> {
        let body = squeeze(body, self.to.compression)
            .await
            .map_err(|error| error.to_string())?;
        let token = self.to.compression.token();
        let framed = Framed::new(u8::from(token.is_some()), body)?;
        let mut request = request(&self.to, framed)?;
        let headers = request.headers_mut();
        headers.insert("content-type", value("application/grpc"));
        headers.insert("te", value("trailers"));
        if let Some(token) = token {
            headers.insert("grpc-encoding", value(token));
        }
        let response = self.client.request(request).await.map_err(chain)?;
        let status = response.status();
        let mut headers = response.headers().clone();
        match answer(response.into_body()).await {
            Ok((body, trailers)) => {
                headers.extend(trailers);
                Ok(of_grpc(status, &headers, unframe(&body)))
            }
            // What it says is unknown for good: asking again would bring the same.
            Err(NoAnswer::TooLarge) => Ok(Outcome::Refused {
                why: NoAnswer::TooLarge.to_string(),
                divide: false,
            }),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl Transport for Grpc {
    fn send(&self, body: Bytes) -> Attempting<'_> {
        Box::pin(async move {
            self.attempt(body)
                .await
                .unwrap_or_else(Outcome::unreachable)
        })
    }
}

/// OTLP over HTTP/1.1 with kept connections.
#[derive(Debug)]
pub(super) struct Http {
    client: Client<Dial, Full<Bytes>>,
    to: Destination,
    encoding: Encoding,
    signal: Signal,
}

impl Http {
    pub(super) fn new(
        connector: Connector,
        mut to: Destination,
        encoding: Encoding,
        signal: Signal,
    ) -> Self {
        to.headers.extend(connector.credentials());
        let client = Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .build(connector.http1());
        Self {
            client,
            to,
            encoding,
            signal,
        }
    }

    async fn attempt(&self, body: Bytes) -> Result<Outcome, String> {
        let (body, kind) = match self.encoding {
            Encoding::Proto => (body, "application/x-protobuf"),
            Encoding::Json => match to_json_of(self.signal, &body) {
                Ok(json) => (Bytes::from(json), "application/json"),
                Err(error) => {
                    let why = format!("cannot be written as JSON: {error}");
                    return Ok(Outcome::Refused { why, divide: true });
                }
            },
        };
        let body = squeeze(body, self.to.compression)
            .await
            .map_err(|error| error.to_string())?;
        let mut request = request(&self.to, Full::new(body))?;
        let headers = request.headers_mut();
        headers.insert("content-type", value(kind));
        if let Some(token) = self.to.compression.token() {
            headers.insert("content-encoding", value(token));
        }
        let response = self.client.request(request).await.map_err(chain)?;
        let status = response.status();
        let headers = response.headers().clone();
        // The status is what counts: data that has arrived must not be sent again for the sake of words.
        let body = match answer(response.into_body()).await {
            Ok((body, _)) => body,
            Err(_) => Bytes::new(),
        };
        Ok(of_http(status, &headers, &body))
    }
}

impl Transport for Http {
    fn send(&self, body: Bytes) -> Attempting<'_> {
        Box::pin(async move {
            self.attempt(body)
                .await
                .unwrap_or_else(Outcome::unreachable)
        })
    }
}

fn request<B>(to: &Destination, body: B) -> Result<Request<B>, String> {
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(to.uri.clone())
        .body(body)
        .map_err(|error| error.to_string())?;
    request.headers_mut().extend(to.headers.clone());
    Ok(request)
}

/// Why an answer could not be read.
#[derive(Debug, thiserror::Error)]
enum NoAnswer {
    #[error("the answer is larger than {ANSWER_AT_MOST} bytes")]
    TooLarge,
    #[error("the answer broke off: {0}")]
    BrokeOff(String),
}

/// Reads an answer whole, within its limit: body and trailers.
async fn answer(body: Incoming) -> Result<(Bytes, HeaderMap), NoAnswer> {
    let collected = Limited::new(body, ANSWER_AT_MOST).collect().await;
    let collected = collected.map_err(|error| {
        if error.is::<LengthLimitError>() {
            NoAnswer::TooLarge
        } else {
            NoAnswer::BrokeOff(error.to_string())
        }
    })?;
    let trailers = collected.trailers().cloned().unwrap_or_default();
    Ok((collected.to_bytes(), trailers))
}

/// A gRPC frame around a message, in two pieces: large messages are not copied to be framed.
#[derive(Debug)]
struct Framed {
    prefix: Option<Bytes>,
    message: Option<Bytes>,
}

impl Framed {
    fn new(flag: u8, message: Bytes) -> Result<Self, String> {
        let length = u32::try_from(message.len()).map_err(|_| "larger than 4 GiB".to_owned())?;
        let mut prefix = Vec::with_capacity(5);
        prefix.push(flag);
        prefix.extend_from_slice(&length.to_be_bytes());
        Ok(Self {
            prefix: Some(Bytes::from(prefix)),
            message: (!message.is_empty()).then_some(message),
        })
    }
}

impl Body for Framed {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let piece = self.prefix.take().or_else(|| self.message.take());
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.prefix.is_none() && self.message.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        let left = [&self.prefix, &self.message];
        let bytes: usize = left.into_iter().flatten().map(Bytes::len).sum();
        SizeHint::with_exact(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

/// The message in a frame; we offer no compression, so anything odd is no message at all.
fn unframe(framed: &[u8]) -> &[u8] {
    match framed {
        [0, _, _, _, _, message @ ..] => message,
        _ => &[],
    }
}

const fn value(text: &'static str) -> http::HeaderValue {
    http::HeaderValue::from_static(text)
}

/// An error with its causes: the outermost alone says little more than "client error".
fn chain(error: hyper_util::client::legacy::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
