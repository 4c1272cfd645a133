//! One connection, from its first byte to its last: TLS, then HTTP, then an end in good time.
//!
//! Invariant: a connection that shows no request in time, does nothing for long or is too old is asked to end, and
//! ended when it does not.

use std::convert::Infallible;
use std::future::{Future, pending};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::counters::{Closed, Counters};
use super::guard::{Guard, TlsGuard};
use super::limits::Limits;
use super::reply::Reply;
use super::shares::{Client, Held};

/// What a connection gets to end that has nothing under way.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What all connections of one listener share.
#[derive(Debug)]
pub(super) struct Terms<A> {
    pub(super) builder: Builder<TokioExecutor>,
    pub(super) guard: Guard,
    pub(super) counters: Arc<Counters>,
    pub(super) limits: Limits,
    /// Answers one request.
    pub(super) answer: A,
}

/// A connection of which nothing is known yet.
pub(super) struct Newcomer<A> {
    pub(super) stream: TcpStream,
    pub(super) peer: SocketAddr,
    /// Its other end is gone when the server closes.
    pub(super) closed: watch::Receiver<()>,
    pub(super) terms: Arc<Terms<A>>,
    /// Its part of the connections that may be.
    pub(super) held: Held,
}

impl<A, F> Newcomer<A>
where
    A: Fn(Request<Incoming>, Client) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<Reply>> + Send + 'static,
{
    pub(super) async fn serve(self) {
        let Self {
            stream,
            peer,
            closed,
            terms,
            held: _held,
        } = self;
        let _open = Open::new(&terms.counters);
        // Small answers must not wait for more to come: without this half the throughput is gone.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "no TCP_NODELAY");
        }
        match &terms.guard.tls {
            None => converse(stream, peer, &terms, closed).await,
            Some(tls) => {
                let shaken = shake_hands(stream, peer, tls, &terms.counters, closed.clone());
                if let Some(stream) = shaken.await {
                    converse(stream, peer, &terms, closed).await;
                }
            }
        }
    }
}

/// Counts a connection while it is open.
struct Open<'a>(&'a Counters);

impl<'a> Open<'a> {
    fn new(counters: &'a Counters) -> Self {
        counters.open_connections.fetch_add(1, Ordering::Relaxed);
        Self(counters)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.open_connections.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Makes a stream secret, in time or not at all.
async fn shake_hands(
    stream: TcpStream,
    peer: SocketAddr,
    tls: &TlsGuard,
    counters: &Counters,
    mut closed: watch::Receiver<()>,
) -> Option<TlsStream<TcpStream>> {
    let accepting = TlsAcceptor::from(Arc::clone(&tls.config)).accept(stream);
    let outcome = tokio::select! {
        outcome = timeout(tls.handshake, accepting) => outcome,
        _ = closed.changed() => return None,
    };
    let why = match outcome {
        Ok(Ok(stream)) => return Some(stream),
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("not done within {:?}", tls.handshake),
    };
    if counters.close(Closed::Handshake) {
        let failed = counters.closed(Closed::Handshake);
        tracing::warn!(%peer, failed, why, "a TLS handshake failed; plain text and clients without a certificate that is asked for end so too");
    }
    None
}

async fn converse<A, F, S>(
    stream: S,
    peer: SocketAddr,
    terms: &Terms<A>,
    mut closed: watch::Receiver<()>,
) where
    A: Fn(Request<Incoming>, Client) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<Reply>> + Send + 'static,
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (limits, counters) = (&terms.limits, &terms.counters);
    let activity = Arc::new(Activity::default());
    let (answer, client, theirs) = (
        terms.answer.clone(),
        Client::at(peer.ip()),
        Arc::clone(&activity),
    );
    let service = service_fn(move |request| {
        let busy = Busy::new(&theirs);
        let answering = answer(request, client);
        async move {
            let answered = answering.await;
            drop(busy);
            Ok::<_, Infallible>(answered)
        }
    });
    let serving = terms
        .builder
        .serve_connection(TokioIo::new(stream), service);
    let mut serving = pin!(serving);
    let why = tokio::select! {
        outcome = &mut serving => {
            if let Err(error) = outcome {
                ended_with(&*error, &activity, counters);
            }
            return;
        }
        _ = closed.changed() => None,
        why = over(&activity, limits) => Some(why),
    };
    // What is under way is answered.
    serving.as_mut().graceful_shutdown();
    let Some(why) = why else {
        // The server's grace time ends it if nothing else does.
        let _ = serving.await;
        return;
    };
    if counters.close(why) {
        let (reason, connections) = (why.name(), counters.closed(why));
        tracing::info!(reason, connections, %peer, "a connection was ended for its age or silence");
    }
    let grace = if why == Closed::Age {
        limits.age.1
    } else {
        LAST_WORDS
    };
    let _ = timeout(grace, serving).await;
}

/// Clients that go away in the middle are everyday life; heads that never end are not.
fn ended_with(
    error: &(dyn std::error::Error + Send + Sync + 'static),
    activity: &Activity,
    counters: &Counters,
) {
    let late = |error: &hyper::Error| error.is_timeout();
    if error.downcast_ref::<hyper::Error>().is_some_and(late) {
        // HTTP/1.1 has a clock of its own for heads, which runs between requests too.
        counters.close(match activity.begun() {
            0 => Closed::Silent,
            _ => Closed::Idle,
        });
    }
    tracing::debug!(%error, "a connection ended with an error");
}

/// Waits until a connection should end, and says why.
async fn over(activity: &Activity, limits: &Limits) -> Closed {
    let (age, _) = limits.age;
    let aged = async {
        if age.is_zero() {
            pending::<()>().await;
        }
        // Not all at once: they would come back all at once.
        sleep(age.mul_f64(0.9 + 0.2 * fastrand::f64())).await;
    };
    tokio::select! {
        why = quiet(activity, limits) => why,
        () = aged => Closed::Age,
    }
}

/// Waits until a connection has done nothing for too long.
async fn quiet(activity: &Activity, limits: &Limits) -> Closed {
    sleep(limits.header_time).await;
    if activity.begun() == 0 {
        return Closed::Silent;
    }
    if limits.idle_time.is_zero() {
        pending::<()>().await;
    }
    loop {
        let seen = activity.touched();
        sleep(limits.idle_time).await;
        if activity.under_way() == 0 && activity.touched() == seen {
            return Closed::Idle;
        }
    }
}

/// What a connection does.
#[derive(Debug, Default)]
struct Activity {
    begun: AtomicUsize,
    ended: AtomicUsize,
}

impl Activity {
    fn begun(&self) -> usize {
        self.begun.load(Ordering::Acquire)
    }

    fn under_way(&self) -> usize {
        let ended = self.ended.load(Ordering::Acquire);
        self.begun().wrapping_sub(ended)
    }

    fn touched(&self) -> usize {
        let ended = self.ended.load(Ordering::Acquire);
        self.begun().wrapping_add(ended)
    }
}

/// A request that is being answered.
struct Busy(Arc<Activity>);

impl Busy {
    fn new(activity: &Arc<Activity>) -> Self {
        activity.begun.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(activity))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::AcqRel);
    }
}
