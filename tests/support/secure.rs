//! A client that speaks TLS, or plain text, HTTP/1.1 or HTTP/2, and says what went wrong.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client as Hyper;
use hyper_util::rt::TokioExecutor;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use prost::Message;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};

use super::certificates::{Authority, Identity};

const TRACES: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

/// How a client speaks.
#[derive(Clone)]
pub struct Client {
    tls: Option<ClientConfig>,
    headers: Vec<(&'static str, String)>,
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    /// Of HTTP.
    pub status: StatusCode,
    /// Headers and trailers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Answer {
    /// A header, empty when it is not there.
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }
}

impl Client {
    /// Plain text.
    pub fn plain() -> Self {
        Self {
            tls: None,
            headers: Vec::new(),
        }
    }

    /// TLS, for servers that `authority` has signed.
    pub fn trusting(authority: &Authority) -> Self {
        Self::with(authority, None, rustls::ALL_VERSIONS)
    }

    /// TLS of certain versions, with a certificate of its own.
    pub fn with(
        authority: &Authority,
        identity: Option<&Identity>,
        versions: &[&'static SupportedProtocolVersion],
    ) -> Self {
        let mut roots = RootCertStore::empty();
        let root = CertificateDer::from_pem_slice(authority.pem().as_bytes()).unwrap();
        roots.add(root).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(roots);
        let config = match identity {
            None => builder.with_no_client_auth(),
            Some(identity) => {
                let chain = CertificateDer::from_pem_slice(identity.certificate.as_bytes());
                let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).unwrap();
                builder
                    .with_client_auth_cert(vec![chain.unwrap()], key)
                    .unwrap()
            }
        };
        Self {
            tls: Some(config),
            headers: Vec::new(),
        }
    }

    /// With one more header on every request.
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// One gRPC export.
    pub async fn grpc(&self, address: SocketAddr, message: &[u8]) -> Result<Answer, String> {
        let mut framed = vec![0];
        framed.extend_from_slice(&u32::try_from(message.len()).unwrap().to_be_bytes());
        framed.extend_from_slice(message);
        let request = Request::post(self.url(address, TRACES))
            .header("content-type", "application/grpc")
            .header("te", "trailers");
        self.send(request, framed, true).await
    }

    /// One POST to the path of traces over HTTP/1.1.
    pub async fn post(&self, address: SocketAddr, body: &[u8]) -> Result<Answer, String> {
        self.post_over(address, body, false).await
    }

    /// The same over the HTTP of one's choice.
    pub async fn post_over(
        &self,
        address: SocketAddr,
        body: &[u8],
        http2: bool,
    ) -> Result<Answer, String> {
        let request = Request::post(self.url(address, "/v1/traces"))
            .header("content-type", "application/x-protobuf");
        self.send(request, body.to_vec(), http2).await
    }

    /// Any request without a body over HTTP/1.1.
    pub async fn bare(
        &self,
        method: &str,
        address: SocketAddr,
        path: &str,
    ) -> Result<Answer, String> {
        let request = Request::builder()
            .method(method)
            .uri(self.url(address, path));
        self.send(request, Vec::new(), false).await
    }

    fn url(&self, address: SocketAddr, path: &str) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{address}{path}")
    }

    async fn send(
        &self,
        mut request: http::request::Builder,
        body: Vec<u8>,
        http2: bool,
    ) -> Result<Answer, String> {
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let request = request.body(Full::new(Bytes::from(body))).unwrap();
        let mut client = Hyper::builder(TokioExecutor::new());
        client.http2_only(http2);
        let answered = match &self.tls {
            None => client.build_http().request(request).await,
            Some(tls) => {
                let builder = HttpsConnectorBuilder::new()
                    .with_tls_config(tls.clone())
                    .https_only();
                let connector = if http2 {
                    builder.enable_http2().build()
                } else {
                    builder.enable_http1().build()
                };
                client.build(connector).request(request).await
            }
        };
        let answer = answered.map_err(|error| format!("{error:?}"))?;
        let (head, body) = answer.into_parts();
        let body = body.collect().await.map_err(|error| error.to_string())?;
        let mut headers = head.headers;
        headers.extend(body.trailers().cloned().unwrap_or_default());
        Ok(Answer {
            status: head.status,
            headers,
            body: body.to_bytes(),
        })
    }
}

/// A request with `count` spans.
pub fn spans(count: u8) -> Vec<u8> {
    padded(count, 0)
}

/// A request with `count` spans, each with a name of `bytes` letters.
pub fn padded(count: u8, bytes: usize) -> Vec<u8> {
    let span = |n: u8| Span {
        trace_id: vec![n; 16],
        span_id: vec![n; 8],
        name: "s".repeat(bytes),
        ..Span::default()
    };
    let scope = ScopeSpans {
        spans: (1..=count).map(span).collect(),
        ..ScopeSpans::default()
    };
    let resource = ResourceSpans {
        scope_spans: vec![scope],
        ..ResourceSpans::default()
    };
    ExportTraceServiceRequest {
        resource_spans: vec![resource],
    }
    .encode_to_vec()
}
