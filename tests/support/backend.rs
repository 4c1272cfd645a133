//! A loopback OTLP backend that records every request as it came, over gRPC and HTTP on one port.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf, Bytes};
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body::Frame;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// One request as the backend got it.
#[derive(Clone, Debug)]
pub struct Got {
    /// Path of the URL.
    pub path: String,
    /// Its headers.
    pub headers: HeaderMap,
    /// The message: gRPC's frame and any compression taken off.
    pub body: Bytes,
    /// What was answered.
    pub reply: Reply,
}

impl Got {
    /// Whether it came by gRPC.
    pub fn is_grpc(&self) -> bool {
        self.headers
            .get("content-type")
            .is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"))
    }
}

/// What the backend answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Taken.
    Accept,
    /// Refused: the gRPC code and the HTTP status.
    Refuse(u32, u16),
    /// Taken, but these many spans were thrown away (partial success).
    Reject(u8),
    /// No answer for a long time.
    Hang,
}

type Script = Box<dyn FnMut(&Bytes) -> Reply + Send>;

struct Shared {
    got: Mutex<Vec<Got>>,
    script: Mutex<Script>,
    changed: watch::Sender<usize>,
}

/// The backend. Dropping it closes its connections and frees its port.
pub struct Backend {
    address: SocketAddr,
    shared: Arc<Shared>,
    // Dropped with the backend: the accept loop and all connections end.
    tasks: JoinSet<()>,
}

impl Backend {
    /// A backend that takes everything, on a free port.
    pub async fn start() -> Self {
        Self::listen("127.0.0.1:0".parse().unwrap(), Box::new(|_| Reply::Accept)).await
    }

    /// A backend that asks `script` what to answer to each message.
    pub async fn scripted(script: impl FnMut(&Bytes) -> Reply + Send + 'static) -> Self {
        Self::listen("127.0.0.1:0".parse().unwrap(), Box::new(script)).await
    }

    /// A backend that takes everything, on an address that an earlier one had.
    pub async fn start_at(address: SocketAddr) -> Self {
        Self::listen(address, Box::new(|_| Reply::Accept)).await
    }

    /// An address on which nobody listens: just freed by a backend that never served anybody.
    pub async fn nobody() -> SocketAddr {
        let backend = Self::start().await;
        backend.stop().await
    }

    async fn listen(address: SocketAddr, script: Script) -> Self {
        let listener = TcpListener::bind(address).await.expect("the port is free");
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            got: Mutex::default(),
            script: Mutex::new(script),
            changed: watch::Sender::new(0),
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, shared.clone()));
        Self {
            address,
            shared,
            tasks,
        }
    }

    /// `host:port`.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Replaces what is answered from now on.
    pub fn answer(&self, script: impl FnMut(&Bytes) -> Reply + Send + 'static) {
        *lock(&self.shared.script) = Box::new(script);
    }

    /// All requests so far.
    pub fn got(&self) -> Vec<Got> {
        lock(&self.shared.got).clone()
    }

    /// Messages that were taken so far, in order.
    pub fn bodies(&self) -> Vec<Bytes> {
        let got = lock(&self.shared.got);
        let taken = got.iter().filter(|got| got.reply == Reply::Accept);
        taken.map(|got| got.body.clone()).collect()
    }

    /// Waits until `enough` holds of the requests so far; panics after 20 s.
    pub async fn until(&self, what: &str, enough: impl Fn(&[Got]) -> bool) {
        let mut changed = self.shared.changed.subscribe();
        let waiting = async {
            while !enough(&lock(&self.shared.got)) {
                changed.changed().await.unwrap();
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(20), waiting).await;
        assert!(waited.is_ok(), "the backend never saw {what}");
    }

    /// Waits until `count` spans were taken; panics after 20 s.
    pub async fn until_spans(&self, count: usize) {
        let what = format!("{count} spans");
        self.until(&what, |got| {
            let taken = got.iter().filter(|got| got.reply == Reply::Accept);
            taken
                .map(|got| super::wire::spans(&got.body).len())
                .sum::<usize>()
                >= count
        })
        .await;
    }

    /// Closes port and connections; returns the address for a successor.
    pub async fn stop(mut self) -> SocketAddr {
        self.tasks.shutdown().await;
        self.address
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        let shared = shared.clone();
        connections.spawn(async move {
            let service = service_fn(move |request| serve(request, shared.clone()));
            let builder = auto::Builder::new(TokioExecutor::new());
            // A client that goes away is no failure of the backend.
            let _ = builder
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn serve(
    request: Request<Incoming>,
    shared: Arc<Shared>,
) -> Result<Response<Frames>, Infallible> {
    let (head, body) = request.into_parts();
    let Ok(body) = body.collect().await else {
        return Ok(Response::new(Frames::default()));
    };
    let body = body.to_bytes();
    let mut got = Got {
        path: head.uri.path().to_owned(),
        headers: head.headers,
        body: Bytes::new(),
        reply: Reply::Accept,
    };
    got.body = message(&got, body);
    got.reply = (lock(&shared.script))(&got.body);
    let (reply, grpc) = (got.reply.clone(), got.is_grpc());
    {
        let mut all = lock(&shared.got);
        all.push(got);
        shared.changed.send_replace(all.len());
    }
    if reply == Reply::Hang {
        std::future::pending::<()>().await;
    }
    Ok(if grpc {
        grpc_answer(&reply)
    } else {
        http_answer(&reply)
    })
}

/// The message without frame and compression.
fn message(got: &Got, mut body: Bytes) -> Bytes {
    let mut squeezed = header(&got.headers, "content-encoding") == Some("gzip");
    if got.is_grpc() {
        squeezed = body.get_u8() == 1;
        let length = body.get_u32();
        assert_eq!(length as usize, body.len(), "one message a call");
    }
    if !squeezed {
        return body;
    }
    let mut plain = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&body[..]), &mut plain).unwrap();
    plain.into()
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// ExportTraceServiceResponse with `rejected` spans: partial_success { rejected_spans, error_message }.
fn response(reply: &Reply) -> Bytes {
    match reply {
        Reply::Reject(count) => {
            let mut bytes = vec![0x0a, 8, 0x08, *count, 0x12, 4];
            bytes.extend_from_slice(b"full");
            bytes.into()
        }
        _ => Bytes::new(),
    }
}

fn grpc_answer(reply: &Reply) -> Response<Frames> {
    let code = match reply {
        Reply::Refuse(code, _) => *code,
        _ => 0,
    };
    let mut frames = Frames::default();
    if code == 0 {
        let message = response(reply);
        let mut frame = vec![0];
        frame.extend_from_slice(&u32::try_from(message.len()).unwrap().to_be_bytes());
        frame.extend_from_slice(&message);
        frames.0.push_back(Frame::data(frame.into()));
    }
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from(code));
    trailers.insert("grpc-message", HeaderValue::from_static("as told"));
    frames.0.push_back(Frame::trailers(trailers));
    let mut answer = Response::new(frames);
    answer
        .headers_mut()
        .insert("content-type", HeaderValue::from_static("application/grpc"));
    answer
}

fn http_answer(reply: &Reply) -> Response<Frames> {
    let mut frames = Frames::default();
    let status = match reply {
        Reply::Refuse(_, status) => *status,
        _ => {
            frames.0.push_back(Frame::data(response(reply)));
            200
        }
    };
    let mut answer = Response::new(frames);
    *answer.status_mut() = http::StatusCode::from_u16(status).unwrap();
    answer.headers_mut().insert(
        "content-type",
        HeaderValue::from_static("application/x-protobuf"),
    );
    answer
}

/// A body of frames made beforehand.
#[derive(Default)]
struct Frames(VecDeque<Frame<Bytes>>);

impl http_body::Body for Frames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(Ok))
    }
}
