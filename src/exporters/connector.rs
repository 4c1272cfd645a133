//! Connections to backends, plain or by TLS. Opened by what `runtime` made.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::Uri;
use hyper_rustls::{
    FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream,
};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tower_service::Service;

/// What opens connections, and how they are kept from others; made in `runtime`.
#[derive(Clone)]
pub struct Connector {
    http: HttpConnector,
    tls: Option<Tls>,
    credentials: Option<(http::HeaderName, http::HeaderValue)>,
}

#[derive(Clone)]
struct Tls {
    config: ClientConfig,
    name: Option<ServerName<'static>>,
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector")
            .field("tls", &self.tls.is_some())
            .field("credentials", &self.credentials.is_some())
            .finish_non_exhaustive()
    }
}

impl Connector {
    /// Plain text only.
    pub fn new(http: HttpConnector) -> Self {
        Self {
            http,
            tls: None,
            credentials: None,
        }
    }

    /// TLS for endpoints that want it. `name` is what the backend's certificate must have in place of the host.
    #[must_use]
    pub fn with_tls(mut self, config: ClientConfig, name: Option<ServerName<'static>>) -> Self {
        self.tls = Some(Tls { config, name });
        self
    }

    /// A header that lets us in, sent with every request.
    #[must_use]
    pub fn with_credentials(mut self, header: (http::HeaderName, http::HeaderValue)) -> Self {
        self.credentials = Some(header);
        self
    }

    /// The header that lets us in.
    pub(super) fn credentials(&self) -> Option<(http::HeaderName, http::HeaderValue)> {
        self.credentials.clone()
    }

    /// For a client that speaks HTTP/2 alone.
    pub(super) fn http2(self) -> Dial {
        self.dial(true)
    }

    /// For a client that speaks HTTP/1.1 alone.
    pub(super) fn http1(self) -> Dial {
        self.dial(false)
    }

    fn dial(self, http2: bool) -> Dial {
        let Some(tls) = self.tls else {
            return Dial::Plain(self.http);
        };
        let mut http = self.http;
        http.enforce_http(false);
        let mut config = tls.config;
        // The builder below says what is offered.
        config.alpn_protocols.clear();
        let mut builder = HttpsConnectorBuilder::new()
            .with_tls_config(config)
            .https_or_http();
        if let Some(name) = tls.name {
            builder = builder.with_server_name_resolver(FixedServerNameResolver::new(name));
        }
        Dial::Tls(if http2 {
            builder.enable_http2().wrap_connector(http)
        } else {
            builder.enable_http1().wrap_connector(http)
        })
    }
}

/// Opens one connection after another.
#[derive(Clone, Debug)]
pub(super) enum Dial {
    /// Plain text.
    Plain(HttpConnector),
    /// TLS where the scheme says so.
    Tls(HttpsConnector<HttpConnector>),
}

type Failed = Box<dyn std::error::Error + Send + Sync>;
type Opened = MaybeHttpsStream<TokioIo<TcpStream>>;

impl Service<Uri> for Dial {
    type Response = Opened;
    type Error = Failed;
    type Future = Pin<Box<dyn Future<Output = Result<Opened, Failed>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        match self {
            Self::Plain(http) => http.poll_ready(context).map_err(Into::into),
            Self::Tls(https) => https.poll_ready(context),
        }
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        match self {
            Self::Plain(http) => {
                let opening = http.call(to);
                Box::pin(async move { Ok(MaybeHttpsStream::Http(opening.await?)) })
            }
            Self::Tls(https) => https.call(to),
        }
    }
}
