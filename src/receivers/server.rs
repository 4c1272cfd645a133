//! Serves connections of an opened listener until told to stop, then lets what runs come to its end.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::connection::{Newcomer, Terms};
use super::counters::{Closed, Counters};
use super::desk::Desk;
use super::grpc::Grpc;
use super::guard::Guard;
use super::http::Http;
use super::limits::Limits;
use super::reply::Reply;
use super::settings::{GrpcSettings, HttpSettings};
use super::shares::{Client, Held, Load, Over, Shares};

// Measured: large frames and windows save a quarter of the CPU at 400 KB a request.
const MAX_FRAME: u32 = 1 << 20;
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;
/// What one connection over HTTP/1.1 buffers of what it reads: most bodies come in one piece, and heads that never end
/// on all connections together cost little.
const READ_BUFFER: usize = 128 << 10;
/// Resets a client may leave pending (the defence against rapid reset).
const MAX_PENDING_RESETS: usize = 20;
/// Pause after the system could not accept, mostly for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves OTLP over gRPC on `listener` until `shutdown` is done, then ends within `grace`.
pub async fn serve_grpc(
    listener: TcpListener,
    settings: &GrpcSettings,
    guard: Guard,
    desk: Arc<Desk>,
    counters: Arc<Counters>,
    shutdown: impl Future<Output = ()>,
    grace: Duration,
) {
    let limits = settings.limits();
    let server = Arc::new(Grpc {
        desk,
        counters: Arc::clone(&counters),
        limits,
        guard: guard.clone(),
    });
    let answer = move |request: Request<Incoming>, client: Client| {
        let server = Arc::clone(&server);
        async move { server.answer(request, client).await }
    };
    let terms = Terms {
        builder: builder(limits),
        guard,
        counters,
        limits,
        answer,
    };
    serve(listener, terms, shutdown, grace).await;
}

/// Serves OTLP over HTTP/1.1 and HTTP/2 on `listener` until `shutdown` is done, then ends within `grace`.
pub async fn serve_http(
    listener: TcpListener,
    settings: &HttpSettings,
    guard: Guard,
    desk: Arc<Desk>,
    counters: Arc<Counters>,
    shutdown: impl Future<Output = ()>,
    grace: Duration,
) {
    let limits = settings.limits();
    let server = Arc::new(Http {
        desk,
        counters: Arc::clone(&counters),
        limits,
        guard: guard.clone(),
        cors: settings.cors.clone(),
        paths: settings.paths(),
    });
    let answer = move |request: Request<Incoming>, client: Client| {
        let server = Arc::clone(&server);
        async move { server.answer(request, client).await }
    };
    let terms = Terms {
        builder: builder(limits),
        guard,
        counters,
        limits,
        answer,
    };
    serve(listener, terms, shutdown, grace).await;
}

async fn serve<A, F>(
    listener: TcpListener,
    terms: Terms<A>,
    shutdown: impl Future<Output = ()>,
    grace: Duration,
) where
    A: Fn(Request<Incoming>, Client) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<Reply>> + Send + 'static,
{
    let most = Load {
        bytes: usize::MAX,
        number: terms.limits.connections,
    };
    let room = Shares::new(most, true);
    let terms = Arc::new(terms);
    let (closing, closed) = watch::channel(());
    let mut connections = JoinSet::new();
    let mut failed = 0u64;
    let mut shutdown = pin!(shutdown);
    loop {
        tokio::select! {
            () = &mut shutdown => break,
            _ = connections.join_next(), if !connections.is_empty() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => {
                    let Some(held) = place(&room, peer, &terms.counters) else {
                        continue;
                    };
                    let newcomer = Newcomer {
                        stream,
                        peer,
                        closed: closed.clone(),
                        terms: Arc::clone(&terms),
                        held,
                    };
                    connections.spawn(newcomer.serve());
                }
                Err(error) => {
                    failed += 1;
                    if failed.is_power_of_two() {
                        tracing::warn!(%error, failed, "cannot accept a connection; a process needs a file for each (ulimit -n)");
                    }
                    sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
    drop((listener, closing));
    let ended = async { while connections.join_next().await.is_some() {} };
    if timeout(grace, ended).await.is_err() {
        tracing::warn!("connections were still busy at the end of the grace time and are closed");
    }
}

/// Room for one more connection; without it the connection is closed at once, so that whoever comes next is not kept
/// waiting behind it, and the client tries again.
fn place(room: &Arc<Shares>, peer: SocketAddr, counters: &Counters) -> Option<Held> {
    let one = Load {
        bytes: 0,
        number: 1,
    };
    let over = match room.take(Client::at(peer.ip()), one) {
        Ok(held) => return Some(held),
        Err(over) => over,
    };
    let why = match over {
        Over::Full => Closed::TooMany,
        Over::Share => Closed::Share,
    };
    if counters.close(why) {
        let (reason, connections) = (why.name(), counters.closed(why));
        tracing::warn!(reason, connections, %peer, "a connection was refused; max_connections says how many may be open");
    }
    None
}

fn builder(limits: Limits) -> Builder<TokioExecutor> {
    // What is somewhat too large comes as far as to us, and is told and counted; what is far too large does not.
    let header_list = u32::try_from(limits.header_bytes.saturating_mul(2)).unwrap_or(u32::MAX);
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .max_buf_size(READ_BUFFER.max(limits.header_bytes.saturating_mul(2)))
        .header_read_timeout(limits.header_time);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_frame_size(MAX_FRAME)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .adaptive_window(false)
        .max_concurrent_streams(limits.concurrent_streams)
        .max_header_list_size(header_list)
        .max_pending_accept_reset_streams(MAX_PENDING_RESETS)
        .keep_alive_interval((!limits.ping.0.is_zero()).then_some(limits.ping.0))
        .keep_alive_timeout(limits.ping.1);
    builder
}
