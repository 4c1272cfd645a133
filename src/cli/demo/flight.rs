//! The runs on their way: once through the collector, once past it.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;

use super::DemoError;
use super::cases::Case;
use super::spans::{self, Request};
use crate::config::{self, Source};
use crate::exporters::Balance;
use crate::runtime::loopback::{Endpoint, Sender, Transport};
use crate::runtime::shutdown::End;
use crate::runtime::{assemble, clock};

/// How long spans may be on their way; claims settle for half a second.
const PATIENCE: Duration = Duration::from_secs(20);

/// What was sent and what came of it.
#[derive(Debug)]
pub(super) struct Flight {
    pub(super) cases: Vec<Case>,
    /// Where the collector received, and where it sent to.
    pub(super) ports: Ports,
    /// Bodies that the SDK's exporter sends for each case, as a backend without us gets them.
    pub(super) sent: Vec<Vec<Bytes>>,
    /// Bodies that came out of the collector.
    pub(super) out: Vec<Bytes>,
    /// Spans that its receivers accepted.
    pub(super) accepted: u64,
    /// The books of its exporter.
    pub(super) books: Option<Balance>,
    /// What went wrong on the way.
    pub(super) wrong: Vec<String>,
}

/// Addresses of one flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ports {
    pub(super) grpc: SocketAddr,
    pub(super) http: SocketAddr,
    pub(super) backend: SocketAddr,
}

impl Ports {
    const fn of(&self, transport: Transport) -> SocketAddr {
        match transport {
            Transport::Grpc => self.grpc,
            Transport::Http => self.http,
        }
    }
}

/// Flies all cases through a collector of their own.
pub(super) async fn fly(cases: Vec<Case>) -> Result<Flight, DemoError> {
    let start = |error: &dyn std::fmt::Display| DemoError::Start(error.to_string());
    let backend = Endpoint::open().await.map_err(|error| start(&error))?;
    let settings = settings(backend.address(Transport::Grpc))?;
    let mut running = assemble::start(settings, clock::instant())
        .await
        .map_err(|error| start(&error))?;
    let listening = |transport: &str| {
        let mut addresses = running.addresses().iter();
        let found = addresses.find(|(of, _)| *of == transport);
        let missing = || DemoError::Start(format!("no {transport} receiver"));
        found.map(|(_, address)| *address).ok_or_else(missing)
    };
    let ports = Ports {
        grpc: listening("grpc")?,
        http: listening("http")?,
        backend: backend.address(Transport::Grpc),
    };

    let mut sent = Vec::new();
    for case in &cases {
        let requests = spans::requests(&case.bodies, clock::now())?;
        sent.push(without(case.transport, &requests).await?);
        send(case.transport, ports.of(case.transport), &requests).await?;
    }

    let mut wrong = Vec::new();
    let accepted = running.accepted();
    if !backend.until(accepted, PATIENCE).await {
        wrong.push(format!(
            "not all of {accepted} spans came out within {} s",
            PATIENCE.as_secs()
        ));
    }
    if running.stop().await == End::Unbalanced {
        wrong.push("the collector's books do not add up".to_owned());
    }
    let books = running.balances().into_iter().next();
    let books = books.map(|(_, balance)| balance);
    let out = backend.close().await.map_err(|error| start(&error))?;
    Ok(Flight {
        cases,
        ports,
        sent,
        out,
        accepted,
        books,
        wrong,
    })
}

/// What `run` would read from a file.
fn settings(backend: SocketAddr) -> Result<config::Settings, DemoError> {
    let text = format!(
        "receivers:
  otlp:
    protocols:
      grpc: {{endpoint: '127.0.0.1:0'}}
      http: {{endpoint: '127.0.0.1:0'}}
processors: {{anomaly: {{}}}}
exporters:
  otlp_grpc: {{endpoint: 'http://{backend}'}}
service:
  telemetry: {{metrics: {{address: '127.0.0.1:0'}}}}
  pipelines:
    traces: {{receivers: [otlp], processors: [anomaly], exporters: [otlp_grpc]}}
"
    );
    let loaded = config::load(&[Source::file("demo", text)], &[], &|_| None, clock::now());
    let (settings, _) = loaded.map_err(|report| DemoError::Start(report.to_string()))?;
    Ok(settings)
}

/// The bodies of `requests` as they arrive without a collector in between.
async fn without(transport: Transport, requests: &[Request]) -> Result<Vec<Bytes>, DemoError> {
    let start = |error: &dyn std::fmt::Display| DemoError::Start(error.to_string());
    let endpoint = Endpoint::open().await.map_err(|error| start(&error))?;
    send(transport, endpoint.address(transport), requests).await?;
    endpoint.close().await.map_err(|error| start(&error))
}

/// Sends each request with the SDK's own exporter.
async fn send(
    transport: Transport,
    address: SocketAddr,
    requests: &[Request],
) -> Result<(), DemoError> {
    for request in requests {
        let sender = Sender::new(transport, address, &request.resource)
            .map_err(|error| DemoError::Send(error.to_string()))?;
        let sending = sender.send(request.spans.clone());
        sending
            .await
            .map_err(|error| DemoError::Send(error.to_string()))?;
    }
    Ok(())
}
