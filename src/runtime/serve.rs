//! Serves the sites of `control`: a loop that accepts, a task for each connection.
//!
//! Invariant: neither a slow nor a greedy client takes anything from the work: few connections, short
//! times, no bodies read.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::clock;
use crate::control::pages::Site;

/// Connections served at a time; more wait in the system's queue.
const CONNECTIONS: usize = 32;
/// How long a client may take to say what it wants.
const HEAD: Duration = Duration::from_secs(10);
/// How long a connection may last.
const LIFE: Duration = Duration::from_secs(300);
/// Pause after the system refused to accept (too many open files).
const PAUSE: Duration = Duration::from_millis(200);

/// Serves `site` until dropped; connections end with it.
pub async fn site(listener: TcpListener, site: Site) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let Ok(permit) = room.clone().acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                let site = site.clone();
                connections.spawn(async move {
                    // What a client does to its own connection is not worth a line.
                    let _ = tokio::time::timeout(LIFE, connection(stream, site)).await;
                    drop(permit);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection for health or metrics");
                tokio::time::sleep(PAUSE).await;
            }
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn connection(stream: TcpStream, site: Site) -> Result<(), hyper::Error> {
    let service = service_fn(move |request| {
        let answer = site.answer(&request, clock::now());
        async move { Ok::<_, Infallible>(answer) }
    });
    hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .serve_connection(TokioIo::new(stream), service)
        .await
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::control::health::{Health, Phase};

    #[tokio::test]
    async fn answers_over_a_socket() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let health = Arc::new(Health::new(clock::now()));
        health.enter(Phase::Running, clock::now());
        let path = "/".to_owned();
        let server = tokio::spawn(site(listener, Site::Health { health, path }));
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream
            .write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            .await
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.contains("Server available"), "{answer}");
        server.abort();
    }
}
