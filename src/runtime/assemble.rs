//! Settings -> running tasks.
//!
//! Invariant: every address is bound before anything is started, so a start that fails has taken no span;
//! and spans flow only when everything behind them runs.

use std::future::Future;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use opentelemetry_sdk::metrics::SdkMeterProvider;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::clock;
use super::doors::{Door, Outlets, open_receivers, refused, start_receivers};
use super::engine_task::{self, Handle, Surroundings};
use super::figures::{self, Sources};
use super::guarded::Guarded;
use super::net::{self, BindError};
use super::pages::PageDoors;
use super::security::{self, Authenticators, SecurityError};
use super::{files, push};
use crate::config;
use crate::control::health::{Health, Phase};
use crate::control::metrics::Catalogue;
use crate::engine::Engine;
use crate::exporters::{self, Exporter, Feed, FileSettings, Sink, Work};
use crate::model::{Pressure, Release, Signal};
use crate::receivers::{self, Desk};
use crate::security::Protection;
use crate::steps;

/// Longest time that requests under way get to be answered when we stop.
const GRACE: Duration = Duration::from_secs(5);

/// Why nothing was started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// An address could not be had.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// An exporter could not be built.
    #[error("exporter `{id}`: {why}")]
    Exporter {
        /// Its id in the configuration.
        id: String,
        /// What is wrong.
        why: String,
    },
    /// A certificate, a key or a token cannot be had.
    #[error(transparent)]
    Security(#[from] SecurityError),
    /// Own metrics cannot be pushed as asked.
    #[error("service.telemetry.metrics.readers: {0}")]
    Push(String),
    /// The system refused a thread, a signal handler or a runtime.
    #[error("the system refuses: {0}")]
    System(#[from] std::io::Error),
}

/// Everything that runs.
#[derive(Debug)]
pub struct Running {
    pub(super) settings: config::Settings,
    pub(super) health: Arc<Health>,
    pub(super) receivers: Vec<figures::Receiver>,
    pub(super) addresses: Vec<(&'static str, SocketAddr)>,
    pub(super) servers: JoinSet<()>,
    pub(super) stop_receiving: watch::Sender<bool>,
    pub(super) engine: Handle<Engine>,
    pub(super) thread: JoinHandle<()>,
    pub(super) exporters: Vec<Arc<Exporter>>,
    pub(super) works: JoinSet<()>,
    pub(super) give_up: watch::Sender<bool>,
    pub(super) pushes: Vec<SdkMeterProvider>,
    // Health and metrics are answered until the very end: dropped with this.
    pub(super) _pages: JoinSet<()>,
}

/// Starts everything that `settings` ask for. Must be called inside a tokio runtime.
pub async fn start(settings: config::Settings, started: Instant) -> Result<Running, StartError> {
    let health = Arc::new(Health::new(clock::now()));
    let authenticators = Authenticators::read(&settings)?;
    let doors = open_receivers(&settings, &authenticators).await?;
    let page_doors = PageDoors::open(&settings).await?;

    let pressure = Pressure::default();
    let (give_up, given_up) = watch::channel(false);
    let (of_logs, of_metrics) = (Pressure::default(), Pressure::default());
    let (exporters, works) = start_exporters(
        &settings,
        &authenticators,
        [&pressure, &of_logs, &of_metrics],
        &given_up,
    )?;
    let (intake, arrivals) = receivers::intake(&settings.intake, pressure);
    let receivers: Vec<figures::Receiver> = doors.iter().map(Door::figures).collect();
    let addresses: Vec<_> = doors.iter().filter_map(Door::address).collect();
    let (engine, thread) = engine_task::start(
        engine(&settings),
        Surroundings {
            arrivals,
            deliver: fan_out(&exporters, Signal::Traces, |_| true),
            record: fan_out(&exporters, Signal::Logs, |id| {
                let mut exporters = settings.log_exporters.iter();
                exporters.any(|exporter| exporter.id == id && exporter.findings)
            }),
            refused: refused(&receivers),
            health: health.clone(),
            notebook: page_doors.notebook(),
        },
    )?;

    let (stop_receiving, stopped) = watch::channel(false);
    let reading = steps::Settings {
        seed: fastrand::u64(..),
        ..settings.steps.clone()
    };
    let desk = Desk::new(Arc::new(reading), intake.clone());
    let grace = GRACE.min(settings.shutdown.timeout / 4);
    let outlets = Outlets {
        exporters: &exporters,
        logs: &of_logs,
        metrics: &of_metrics,
    };
    let servers = start_receivers(doors, &desk, &outlets, &stopped, grace);

    let catalogue = Arc::new(figures::catalogue(Sources {
        started,
        receivers: receivers.clone(),
        exporters: exporters.clone(),
        intake,
        engine: engine.clone(),
    }));
    let pushes = start_pushes(&settings, &catalogue)?;
    let pages = page_doors.serve(&settings, &health, &engine, &addresses, catalogue)?;
    health.enter(Phase::Running, clock::now());
    Ok(Running {
        settings,
        health,
        receivers,
        addresses,
        servers,
        stop_receiving,
        engine,
        thread,
        exporters,
        works,
        give_up,
        pushes,
        _pages: pages,
    })
}

/// An engine, and how to build another.
fn engine(settings: &config::Settings) -> Guarded<Engine> {
    let settings = settings.engine.clone();
    Guarded::new(move || Engine::new(settings.clone()))
}

/// An address to listen on, and what to say of it.
pub(super) struct Listening<'a> {
    /// What is served there.
    pub(super) what: &'static str,
    /// By whom.
    pub(super) id: &'a str,
    /// The key that says where.
    pub(super) key: &'a str,
    /// What it says.
    pub(super) endpoint: &'a str,
    /// What guards it.
    pub(super) protection: &'a Protection,
}

/// Binds an address, and says how to open or close it.
pub(super) async fn listen(listening: Listening<'_>) -> Result<TcpListener, StartError> {
    let Listening { what, id, key, .. } = listening;
    let listener = net::bind(key, listening.endpoint).await?;
    let address = listener.local_addr()?;
    let (tls, auth) = (
        listening.protection.transport(),
        listening.protection.auth(),
    );
    if net::is_local(address) {
        tracing::info!(what, id, %address, tls, auth, "listening on {address} (only this host; set {key} to accept others)");
    } else {
        let port = address.port();
        tracing::info!(what, id, %address, tls, auth, "listening on {address} (every host that reaches it; set {key} to localhost:{port} for this host only)");
    }
    Ok(listener)
}

type Exporters = (Vec<Arc<Exporter>>, JoinSet<()>);

fn start_exporters(
    settings: &config::Settings,
    authenticators: &Authenticators,
    [spans, logs, metrics]: [&Pressure; 3],
    given_up: &watch::Receiver<bool>,
) -> Result<Exporters, StartError> {
    let mut built = Vec::new();
    let mut works = JoinSet::new();
    let of_spans = settings.exporters.iter();
    let of_spans = of_spans.map(|exporter| (exporter, Feed::Spans(spans)));
    let of_logs = settings.log_exporters.iter().map(|exporter| {
        let relayed = Feed::Relayed(Signal::Logs, logs);
        let feed = if exporter.relays {
            relayed
        } else {
            Feed::Records
        };
        (exporter, feed)
    });
    let of_metrics = settings.metric_exporters.iter();
    let of_metrics = of_metrics.map(|one| (one, Feed::Relayed(Signal::Metrics, metrics)));
    for (exporter, feed) in of_spans.chain(of_logs).chain(of_metrics) {
        let (handle, work) = build_exporter(exporter, authenticators, feed)?;
        built.push(Arc::new(handle));
        works.spawn(work.run(switched(given_up)));
    }
    Ok((built, works))
}

fn build_exporter(
    exporter: &config::Exporter,
    authenticators: &Authenticators,
    feed: Feed<'_>,
) -> Result<(Exporter, Work), StartError> {
    let id = &exporter.id;
    let connector = || {
        let key = format!("exporters.{id}");
        security::connector(&exporter.settings, feed.signal(), authenticators, &key)
    };
    let built = match &exporter.settings {
        exporters::Settings::OtlpGrpc(settings) => {
            exporters::otlp_grpc(id, settings, connector()?, feed)
        }
        exporters::Settings::OtlpHttp(settings) => {
            exporters::otlp_http(id, settings, connector()?, feed)
        }
        exporters::Settings::Debug(settings) => {
            exporters::debug(id, settings, Box::new(anstream::stdout()), feed)
        }
        exporters::Settings::File(settings) => {
            exporters::file(id, settings, open_file(id, settings)?, feed)
        }
    };
    built.map_err(|error| StartError::Exporter {
        id: id.clone(),
        why: error.to_string(),
    })
}

fn open_file(id: &str, settings: &FileSettings) -> Result<Sink, StartError> {
    let path = Path::new(&settings.path);
    if settings.path == "-" {
        return Ok(Box::new(std::io::stdout()));
    }
    let opened = if settings.append {
        files::append(path)
    } else {
        files::create(path)
    };
    match opened {
        Ok(file) => Ok(Box::new(file)),
        Err(error) => Err(StartError::Exporter {
            id: id.to_owned(),
            why: error.to_string(),
        }),
    }
}

/// Hands every release to every exporter of its signal that `takes` names.
fn fan_out(
    exporters: &[Arc<Exporter>],
    signal: Signal,
    takes: impl Fn(&str) -> bool,
) -> engine_task::Deliver {
    let of_signal = exporters.iter().filter(|one| one.signal() == signal);
    let taking = of_signal.filter(|one| takes(one.name()));
    let exporters: Vec<Arc<Exporter>> = taking.cloned().collect();
    Box::new(move |release: Release| {
        let release = Arc::new(release);
        for exporter in &exporters {
            exporter.enqueue(release.clone());
        }
    })
}

fn start_pushes(
    settings: &config::Settings,
    catalogue: &Arc<Catalogue>,
) -> Result<Vec<SdkMeterProvider>, StartError> {
    let pushes = settings.telemetry.metrics.pushes().into_iter();
    pushes
        .map(|periodic| {
            push::start(periodic, catalogue).map_err(|error| StartError::Push(error.to_string()))
        })
        .collect()
}

/// Done when the switch is on, or when nobody holds it any more.
pub(super) fn switched(switch: &watch::Receiver<bool>) -> impl Future<Output = ()> + Send + use<> {
    let mut switch = switch.clone();
    async move {
        // An error says that the holder is gone: that ends things too.
        let _ = switch.wait_for(|on| *on).await;
    }
}
