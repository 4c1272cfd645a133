//! Both ends of a collector on this host, for `demo`: the SDK's own exporter that sends, and an endpoint
//! that receives.
//!
//! Invariant: the endpoint keeps every body byte for byte, in order of arrival, and gives them back only
//! when nothing can arrive any more.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use opentelemetry_otlp::{ExporterBuildError, Protocol, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkError;
use opentelemetry_sdk::trace::{SpanData, SpanExporter as _};
use tokio::sync::watch;
use tokio::task::{JoinError, JoinHandle, JoinSet};
use tokio::time::timeout;

use super::net::{self, BindError};
use crate::model::Pressure;
use crate::receivers::{
    self, Arrivals, Counters, Desk, GrpcSettings, Guard, HttpSettings, IntakeSettings,
};

/// How long one export may take, and how long open connections get at the end.
const TIME: Duration = Duration::from_secs(10);

/// How spans travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// OTLP over gRPC.
    Grpc,
    /// OTLP over HTTP, protobuf.
    Http,
}

/// Runs `work` to its end on threads of its own.
pub fn complete<F: Future>(work: F) -> std::io::Result<F::Output> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let output = runtime.block_on(work);
    runtime.shutdown_background();
    Ok(output)
}

/// The OpenTelemetry SDK's exporter.
#[derive(Debug)]
pub struct Sender(opentelemetry_otlp::SpanExporter);

impl Sender {
    /// One that sends spans of `resource` to `address`. Must be called inside a tokio runtime.
    pub fn new(
        transport: Transport,
        address: SocketAddr,
        resource: &Resource,
    ) -> Result<Self, ExporterBuildError> {
        let builder = opentelemetry_otlp::SpanExporter::builder();
        let mut exporter = match transport {
            Transport::Grpc => builder
                .with_tonic()
                .with_endpoint(format!("http://{address}"))
                .with_timeout(TIME)
                .build()?,
            Transport::Http => builder
                .with_http()
                .with_protocol(Protocol::HttpBinary)
                .with_endpoint(format!("http://{address}/v1/traces"))
                .with_timeout(TIME)
                .build()?,
        };
        exporter.set_resource(resource);
        Ok(Self(exporter))
    }

    /// Sends `spans` in one request.
    pub async fn send(&self, spans: Vec<SpanData>) -> Result<(), OTelSdkError> {
        self.0.export(spans).await
    }
}

/// An OTLP endpoint on free ports of this host.
#[derive(Debug)]
pub struct Endpoint {
    grpc: SocketAddr,
    http: SocketAddr,
    servers: JoinSet<()>,
    stop: watch::Sender<bool>,
    spans: watch::Receiver<u64>,
    keeper: JoinHandle<Vec<Bytes>>,
}

impl Endpoint {
    /// Opens one.
    pub async fn open() -> Result<Self, BindError> {
        let (grpc, http) = (listen().await?, listen().await?);
        let (grpc_address, http_address) = (address(&grpc)?, address(&http)?);
        let (intake, arrivals) = receivers::intake(&IntakeSettings::default(), Pressure::default());
        let (count, spans) = watch::channel(0);
        let keeper = tokio::spawn(keep(arrivals, count));
        let desk = Arc::new(Desk::new(Arc::default(), intake));
        let (stop, stopped) = watch::channel(false);
        let counters = Arc::<Counters>::default();
        let mut servers = JoinSet::new();
        let (own_desk, own_counters) = (desk.clone(), counters.clone());
        let until = switched(stopped.clone());
        servers.spawn(async move {
            let settings = GrpcSettings::default();
            receivers::serve_grpc(
                grpc,
                &settings,
                Guard::default(),
                own_desk,
                own_counters,
                until,
                TIME,
            )
            .await;
        });
        servers.spawn(async move {
            let settings = HttpSettings::default();
            let until = switched(stopped);
            receivers::serve_http(
                http,
                &settings,
                Guard::default(),
                desk,
                counters,
                until,
                TIME,
            )
            .await;
        });
        Ok(Self {
            grpc: grpc_address,
            http: http_address,
            servers,
            stop,
            spans,
            keeper,
        })
    }

    /// Where it listens for `transport`.
    pub const fn address(&self, transport: Transport) -> SocketAddr {
        match transport {
            Transport::Grpc => self.grpc,
            Transport::Http => self.http,
        }
    }

    /// Waits until `spans` have arrived; `false` when `patience` ended first.
    pub async fn until(&self, spans: u64, patience: Duration) -> bool {
        let mut count = self.spans.clone();
        let arrived = count.wait_for(|count| *count >= spans);
        matches!(timeout(patience, arrived).await, Ok(Ok(_)))
    }

    /// Closes it: every body that came, in order of arrival.
    pub async fn close(mut self) -> Result<Vec<Bytes>, JoinError> {
        // A send fails only when all servers have ended already.
        let _ = self.stop.send(true);
        while self.servers.join_next().await.is_some() {}
        self.keeper.await
    }
}

async fn keep(mut arrivals: Arrivals, count: watch::Sender<u64>) -> Vec<Bytes> {
    let mut bodies = Vec::new();
    while let Some(reading) = arrivals.next().await {
        bodies.push(reading.body);
        count.send_modify(|count| *count += u64::from(reading.spans));
    }
    bodies
}

async fn listen() -> Result<tokio::net::TcpListener, BindError> {
    net::bind("demo", "127.0.0.1:0").await
}

fn address(listener: &tokio::net::TcpListener) -> Result<SocketAddr, BindError> {
    listener.local_addr().map_err(|source| BindError::Other {
        what: "demo".to_owned(),
        endpoint: "127.0.0.1:0".to_owned(),
        source,
    })
}

async fn switched(mut switch: watch::Receiver<bool>) {
    // An error says that the holder is gone: that ends things too.
    let _ = switch.wait_for(|on| *on).await;
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use opentelemetry::trace::{Span as _, Tracer as _, TracerProvider as _};
    use opentelemetry_sdk::error::OTelSdkResult;
    use opentelemetry_sdk::trace::{SdkTracerProvider, SpanExporter};

    use super::*;

    #[derive(Clone, Debug, Default)]
    struct Keep(Arc<Mutex<Vec<SpanData>>>);

    impl SpanExporter for Keep {
        async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
            self.0.lock().unwrap().extend(batch);
            Ok(())
        }
    }

    fn spans(count: usize) -> Vec<SpanData> {
        let keep = Keep::default();
        let provider = SdkTracerProvider::builder()
            .with_simple_exporter(keep.clone())
            .build();
        let tracer = provider.tracer("test");
        for _ in 0..count {
            tracer.start("span").end();
        }
        let spans = keep.0.lock().unwrap();
        spans.clone()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn keeps_what_the_sdk_sends() {
        let endpoint = Endpoint::open().await.unwrap();
        let resource = Resource::builder_empty().build();
        for transport in [Transport::Grpc, Transport::Http] {
            let sender = Sender::new(transport, endpoint.address(transport), &resource).unwrap();
            sender.send(spans(3)).await.unwrap();
        }
        assert!(endpoint.until(6, TIME).await);
        let bodies = endpoint.close().await.unwrap();
        let counts: Vec<u32> = bodies
            .iter()
            .map(|body| crate::otlp::count_spans(body))
            .collect();
        assert_eq!(counts, [3, 3]);
    }

    #[tokio::test]
    async fn patience_ends() {
        let endpoint = Endpoint::open().await.unwrap();
        assert!(!endpoint.until(1, Duration::from_millis(10)).await);
    }
}
