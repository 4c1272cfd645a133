//! The receivers' doors: opened before anything runs, then served.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::assemble::{Listening, StartError, listen, switched};
use super::engine_task;
use super::figures;
use super::security::{self, Authenticators};
use crate::config::{self, Takes};
use crate::exporters::Exporter;
use crate::model::{Pressure, Release, Signal};
use crate::receivers::{self, Desk, GrpcSettings, Guard, HttpSettings, Relay, Routes};
use crate::security::Protection;

/// Where what is not judged goes.
pub(super) struct Outlets<'a> {
    /// All exporters.
    pub(super) exporters: &'a [Arc<Exporter>],
    /// The pressure of those of logs on receivers.
    pub(super) logs: &'a Pressure,
    /// The same of metrics.
    pub(super) metrics: &'a Pressure,
}

impl Outlets<'_> {
    /// The way of everything that one receiver takes.
    fn routes(&self, takes: &Takes) -> Routes {
        Routes {
            traces: takes.traces,
            logs: self.relay(Signal::Logs, &takes.logs, self.logs),
            reads_logs: takes.reads_logs,
            metrics: self.relay(Signal::Metrics, &takes.metrics, self.metrics),
        }
    }

    /// To the exporters of `signal` with these ids; `None` when there are none.
    fn relay(&self, signal: Signal, ids: &[String], pressure: &Pressure) -> Option<Relay> {
        let named =
            |one: &&Arc<Exporter>| one.signal() == signal && ids.iter().any(|id| id == one.name());
        let exporters: Vec<Arc<Exporter>> = self.exporters.iter().filter(named).cloned().collect();
        let pass = move |release: Release| {
            let release = Arc::new(release);
            for exporter in &exporters {
                exporter.enqueue(release.clone());
            }
        };
        (!ids.is_empty()).then(|| Relay::new(pass, pressure.clone()))
    }
}

/// Requests with spans that all receivers have refused retryably.
pub(super) fn refused(receivers: &[figures::Receiver]) -> engine_task::Refused {
    let counters: Vec<Arc<receivers::Counters>> = receivers
        .iter()
        .map(|receiver| receiver.counters.clone())
        .collect();
    Box::new(move || {
        let counters = counters.iter();
        counters
            .map(|counters| receivers::Counters::read(&counters.refused_traces))
            .sum()
    })
}

/// A receiver's protocol with its open door.
pub(super) struct Door {
    id: String,
    takes: Takes,
    protocol: Protocol,
    listener: TcpListener,
    guard: Guard,
    counters: Arc<receivers::Counters>,
}

impl Door {
    pub(super) fn figures(&self) -> figures::Receiver {
        figures::Receiver {
            id: self.id.clone(),
            transport: self.transport(),
            counters: self.counters.clone(),
        }
    }

    fn transport(&self) -> &'static str {
        match self.protocol {
            Protocol::Grpc(_) => "grpc",
            Protocol::Http(_) => "http",
        }
    }

    pub(super) fn address(&self) -> Option<(&'static str, SocketAddr)> {
        let address = self.listener.local_addr().ok()?;
        Some((self.transport(), address))
    }
}

enum Protocol {
    Grpc(GrpcSettings),
    Http(HttpSettings),
}

pub(super) async fn open_receivers(
    settings: &config::Settings,
    authenticators: &Authenticators,
) -> Result<Vec<Door>, StartError> {
    let mut doors = Vec::new();
    for receiver in &settings.receivers {
        let protocols = &receiver.settings.protocols;
        if let Some(grpc) = &protocols.grpc {
            let protocol = Protocol::Grpc(grpc.clone());
            doors.push(open(receiver, protocol, authenticators).await?);
        }
        if let Some(http) = &protocols.http {
            let protocol = Protocol::Http(http.clone());
            doors.push(open(receiver, protocol, authenticators).await?);
        }
    }
    Ok(doors)
}

async fn open(
    receiver: &config::Receiver,
    protocol: Protocol,
    authenticators: &Authenticators,
) -> Result<Door, StartError> {
    let id = &receiver.id;
    let (what, endpoint, tls, auth) = match &protocol {
        Protocol::Grpc(grpc) => ("grpc", &grpc.endpoint, &grpc.tls, &grpc.auth),
        Protocol::Http(http) => ("http", &http.endpoint, &http.tls, &http.auth),
    };
    let (tls, auth) = (tls.as_ref(), auth.as_ref());
    let key = format!("receivers.{id}.protocols.{what}");
    let guard = security::guard(tls, auth, authenticators, &key)?;
    let listening = Listening {
        what,
        id,
        key: &format!("{key}.endpoint"),
        endpoint,
        protection: &Protection::of(tls, auth),
    };
    Ok(Door {
        id: id.clone(),
        takes: receiver.takes.clone(),
        listener: listen(listening).await?,
        protocol,
        guard,
        counters: Arc::default(),
    })
}

pub(super) fn start_receivers(
    doors: Vec<Door>,
    desk: &Desk,
    outlets: &Outlets<'_>,
    stopped: &watch::Receiver<bool>,
    grace: Duration,
) -> JoinSet<()> {
    let mut servers = JoinSet::new();
    for door in doors {
        let (listener, guard, counters) = (door.listener, door.guard, door.counters);
        let stop = switched(stopped);
        let desk = Arc::new(desk.with_routes(outlets.routes(&door.takes)));
        match door.protocol {
            Protocol::Grpc(settings) => servers.spawn(async move {
                receivers::serve_grpc(listener, &settings, guard, desk, counters, stop, grace)
                    .await;
            }),
            Protocol::Http(settings) => servers.spawn(async move {
                receivers::serve_http(listener, &settings, guard, desk, counters, stop, grace)
                    .await;
            }),
        };
    }
    servers
}
