//! Serves connections of an opened listener until told to stop, then lets what runs come to its end.

use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::counters::Counters;
use super::desk::Desk;
use super::grpc::Grpc;
use super::http::Http;
use super::reply::Reply;
use super::settings::{GrpcSettings, HttpSettings, Limits};

// Measured: large frames and windows save a quarter of the CPU at 400 KB a request.
const MAX_FRAME: u32 = 1 << 20;
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;
const MAX_HEADERS: u32 = 16 << 10;
/// Resets a client may leave pending (the defence against rapid reset).
const MAX_PENDING_RESETS: usize = 20;
/// A peer that has silently gone is noticed after these two.
const PING_EVERY: Duration = Duration::from_secs(60);
const PING_WAIT: Duration = Duration::from_secs(20);
/// Pause after the system could not accept, mostly for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves OTLP over gRPC on `listener` until `shutdown` is done, then ends within `grace`.
pub async fn serve_grpc(
    listener: TcpListener,
    settings: &GrpcSettings,
    desk: Arc<Desk>,
    counters: Arc<Counters>,
    shutdown: impl Future<Output = ()>,
    grace: Duration,
) {
    let limits = settings.limits();
    let server = Arc::new(Grpc {
        desk,
        counters,
        limits,
    });
    let answer = move |request: Request<Incoming>| {
        let server = Arc::clone(&server);
        async move { server.answer(request).await }
    };
    serve(listener, limits, answer, shutdown, grace).await;
}

/// Serves OTLP over HTTP/1.1 and HTTP/2 on `listener` until `shutdown` is done, then ends within `grace`.
pub async fn serve_http(
    listener: TcpListener,
    settings: &HttpSettings,
    desk: Arc<Desk>,
    counters: Arc<Counters>,
    shutdown: impl Future<Output = ()>,
    grace: Duration,
) {
    let limits = settings.limits();
    let server = Arc::new(Http {
        desk,
        counters,
        limits,
        paths: settings.paths(),
    });
    let answer = move |request: Request<Incoming>| {
        let server = Arc::clone(&server);
        async move { server.answer(request).await }
    };
    serve(listener, limits, answer, shutdown, grace).await;
}

async fn serve<A, F>(
    listener: TcpListener,
    limits: Limits,
    answer: A,
    shutdown: impl Future<Output = ()>,
    grace: Duration,
) where
    A: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Response<Reply>> + Send + 'static,
{
    let builder = Arc::new(builder(limits));
    let graceful = GracefulShutdown::new();
    let (closing, closed) = watch::channel(());
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        tokio::select! {
            () = &mut shutdown => break,
            _ = connections.join_next(), if !connections.is_empty() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let newcomer = Newcomer {
                        stream,
                        watcher: graceful.watcher(),
                        closed: closed.clone(),
                        first_byte: limits.header_time,
                    };
                    connections.spawn(newcomer.serve(Arc::clone(&builder), answer.clone()));
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
    drop((listener, closing));
    if timeout(grace, graceful.shutdown()).await.is_err() {
        tracing::warn!("connections were still busy at the end of the grace time and are closed");
    }
}

/// A connection of which nothing is known yet.
struct Newcomer {
    stream: TcpStream,
    watcher: Watcher,
    /// Its other end is gone when the server closes.
    closed: watch::Receiver<()>,
    /// How long it may stay silent.
    first_byte: Duration,
}

impl Newcomer {
    async fn serve<A, F>(mut self, builder: Arc<Builder<TokioExecutor>>, answer: A)
    where
        A: Fn(Request<Incoming>) -> F + Send + 'static,
        F: Future<Output = Response<Reply>> + Send + 'static,
    {
        // Small answers must not wait for more to come: without this half the throughput is gone.
        if let Err(error) = self.stream.set_nodelay(true) {
            tracing::debug!(%error, "no TCP_NODELAY");
        }
        if !self.speaks().await {
            return;
        }
        let service = service_fn(move |request| {
            let answering = answer(request);
            async move { Ok::<_, Infallible>(answering.await) }
        });
        let serving = builder.serve_connection(TokioIo::new(self.stream), service);
        if let Err(error) = self.watcher.watch(serving).await {
            // Clients that go away in the middle are everyday life.
            tracing::debug!(%error, "a connection ended with an error");
        }
    }

    /// Waits for a first byte: which protocol it is shows in it, and that wait has no end of its own.
    async fn speaks(&mut self) -> bool {
        let mut byte = [0];
        tokio::select! {
            first = timeout(self.first_byte, self.stream.peek(&mut byte)) => {
                matches!(first, Ok(Ok(1..)))
            }
            _ = self.closed.changed() => false,
        }
    }
}

fn builder(limits: Limits) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_time);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_frame_size(MAX_FRAME)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .adaptive_window(false)
        .max_concurrent_streams(limits.concurrent_streams)
        .max_header_list_size(MAX_HEADERS)
        .max_pending_accept_reset_streams(MAX_PENDING_RESETS)
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_WAIT);
    builder
}
