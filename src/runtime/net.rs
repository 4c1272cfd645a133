//! The only place that opens sockets.
//!
//! Invariant: an address that cannot be had is named, with what to do about it.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use hyper_util::client::legacy::connect::HttpConnector;
use tokio::net::TcpListener;

use crate::exporters::Connector;

/// How long opening one connection may take; attempts have a time of their own around it.
const CONNECT_TIME: Duration = Duration::from_secs(5);

/// An address that cannot be listened on.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Somebody else has it.
    #[error(
        "{what}: port {port} of `{endpoint}` is in use by another process; stop that one or set another `endpoint`"
    )]
    InUse {
        /// Who wants it, as `receivers: otlp: grpc`.
        what: String,
        /// As it was written.
        endpoint: String,
        /// Its port.
        port: String,
    },
    /// The system refuses for another reason.
    #[error("{what}: cannot listen on `{endpoint}`: {source}")]
    Other {
        /// Who wants it.
        what: String,
        /// As it was written.
        endpoint: String,
        /// What the system says.
        source: io::Error,
    },
}

/// Listens on `endpoint` (`host:port`, port 0 for any free one) for `what`.
pub async fn bind(what: &str, endpoint: &str) -> Result<TcpListener, BindError> {
    let listening = TcpListener::bind(endpoint).await;
    listening.map_err(|source| {
        let (what, endpoint) = (what.to_owned(), endpoint.to_owned());
        if source.kind() == io::ErrorKind::AddrInUse {
            let port = endpoint.rsplit(':').next().unwrap_or_default().to_owned();
            return BindError::InUse {
                what,
                endpoint,
                port,
            };
        }
        BindError::Other {
            what,
            endpoint,
            source,
        }
    })
}

/// Whether only this host can reach what listens there.
pub fn is_local(address: SocketAddr) -> bool {
    address.ip().is_loopback()
}

/// Opens connections for exporters; plain ones, as long as nobody gives it more.
pub fn connector() -> Connector {
    let mut connector = HttpConnector::new();
    // Without it throughput halves: small frames wait for acknowledgements.
    connector.set_nodelay(true);
    connector.set_connect_timeout(Some(CONNECT_TIME));
    connector.set_keepalive(Some(Duration::from_secs(60)));
    Connector::new(connector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_port_in_use_is_named() {
        let first = bind("receivers: otlp: grpc", "127.0.0.1:0").await.unwrap();
        let address = first.local_addr().unwrap();
        assert!(is_local(address));
        let error = bind("receivers: otlp: grpc", &address.to_string())
            .await
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(&format!("port {}", address.port())),
            "{error}"
        );
        assert!(error.contains("receivers: otlp: grpc"), "{error}");
        assert!(error.contains("endpoint"), "{error}");
    }

    #[tokio::test]
    async fn an_address_that_is_none_is_named() {
        let error = bind("receivers: otlp: http", "nowhere").await.unwrap_err();
        assert!(error.to_string().contains("`nowhere`"), "{error}");
    }
}
