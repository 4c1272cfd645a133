//! One connection, from its first byte to its last: TLS, then HTTP.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::counters::Counters;
use super::guard::{Guard, TlsGuard};
use super::reply::Reply;

/// What all connections of one listener share.
#[derive(Debug)]
pub(super) struct Terms<A> {
    pub(super) builder: Builder<TokioExecutor>,
    pub(super) guard: Guard,
    pub(super) counters: Arc<Counters>,
    /// How long a connection may stay silent at first.
    pub(super) first_byte: Duration,
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
}

impl<A, F> Newcomer<A>
where
    A: Fn(Request<Incoming>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<Reply>> + Send + 'static,
{
    pub(super) async fn serve(mut self) {
        // Small answers must not wait for more to come: without this half the throughput is gone.
        if let Err(error) = self.stream.set_nodelay(true) {
            tracing::debug!(%error, "no TCP_NODELAY");
        }
        if !self.speaks().await {
            return;
        }
        let (terms, closed, peer) = (self.terms, self.closed, self.peer);
        match &terms.guard.tls {
            None => converse(self.stream, &terms, closed).await,
            Some(tls) => {
                if let Some(stream) =
                    shake_hands(self.stream, peer, tls, &terms.counters, closed.clone()).await
                {
                    converse(stream, &terms, closed).await;
                }
            }
        }
    }

    /// Waits for a first byte: which protocol it is shows in it, and that wait has no end of its own.
    async fn speaks(&mut self) -> bool {
        let mut byte = [0];
        tokio::select! {
            first = timeout(self.terms.first_byte, self.stream.peek(&mut byte)) => {
                matches!(first, Ok(Ok(1..)))
            }
            _ = self.closed.changed() => false,
        }
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
    let failed = counters.failed_handshakes.fetch_add(1, Ordering::Relaxed) + 1;
    // The first, second, fourth, eighth, ... of them: one client cannot fill the log.
    if failed.is_power_of_two() {
        tracing::warn!(%peer, failed, why, "a TLS handshake failed; plain text and clients without a certificate that is asked for end so too");
    }
    None
}

async fn converse<A, F, S>(stream: S, terms: &Terms<A>, mut closed: watch::Receiver<()>)
where
    A: Fn(Request<Incoming>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<Reply>> + Send + 'static,
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let answer = terms.answer.clone();
    let service = service_fn(move |request| {
        let answering = answer(request);
        async move { Ok::<_, Infallible>(answering.await) }
    });
    let serving = terms
        .builder
        .serve_connection(TokioIo::new(stream), service);
    let mut serving = pin!(serving);
    let outcome = tokio::select! {
        outcome = &mut serving => outcome,
        _ = closed.changed() => {
            // What is under way is answered; the server's grace time ends it if nothing else does.
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = outcome {
        // Clients that go away in the middle are everyday life.
        tracing::debug!(%error, "a connection ended with an error");
    }
}
