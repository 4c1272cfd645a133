//! Releases -> backends: one queue and one retry for every kind of exporter.
//!
//! Invariant: every span handed to an exporter ends as sent or as dropped for exactly one reason; until
//! then it is queued or in flight. Connections and files come opened from `runtime`.

mod check;
mod connector;
mod counters;
mod debug;
mod delivery;
mod endpoint;
mod local;
mod metrics;
mod outcome;
mod queue;
mod records;
mod retry;
mod settings;
mod squeeze;
mod transport;
mod voice;

use std::sync::Arc;
use std::time::Duration;

use crate::model::{Pressure, Release, Signal};

use delivery::Shared;
use endpoint::Destination;
use local::{Form, Local};
use queue::{Ours, Queue};
use transport::{Grpc, Http, Transport};
use voice::Voice;

pub use check::Target;
pub use connector::Connector;
pub use counters::{Balance, Counters, Reason};
pub use delivery::Work;
pub use endpoint::BuildError;
pub use local::Sink;
pub use settings::{
    Compression, DebugSettings, Encoding, FileSettings, OnFull, OtlpGrpcSettings, OtlpHttpSettings,
    QueueSettings, RetrySettings, Settings, Sizer, Verbosity,
};

/// What an exporter is handed.
#[derive(Clone, Copy, Debug)]
pub enum Feed<'a> {
    /// Spans that receivers have accepted. While the exporter's queue is full, the pressure on them is on.
    Spans(&'a Pressure),
    /// Log records or metrics that receivers pass on. While the exporter's queue is full, the pressure on them is
    /// on; findings among the log records are dropped then.
    Relayed(Signal, &'a Pressure),
    /// Log records of our own, which nobody could keep for us: what finds no room is dropped and counted, and
    /// receivers never stop for it.
    Records,
}

impl Feed<'_> {
    /// What the exporter sends.
    pub const fn signal(self) -> Signal {
        match self {
            Self::Spans(_) => Signal::Traces,
            Self::Relayed(signal, _) => signal,
            Self::Records => Signal::Logs,
        }
    }
}

/// Where releases are handed in. Its [`Work`] takes them to the backend.
#[derive(Debug)]
pub struct Exporter {
    name: String,
    signal: Signal,
    queue: Arc<Queue>,
    counters: Arc<Counters>,
    voice: Arc<Voice>,
    findings_only: bool,
}

impl Exporter {
    /// The name from the configuration, as `otlp_grpc/jaeger`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it sends.
    pub fn signal(&self) -> Signal {
        self.signal
    }

    /// Takes a release. Never blocks; what finds no room is counted as dropped.
    pub fn enqueue(&self, release: Arc<Release>) {
        if release.synthetic || !self.findings_only {
            self.queue.push(release);
        }
    }

    /// Whether spans of others end here.
    pub fn findings_only(&self) -> bool {
        self.findings_only
    }

    /// Nothing more will be handed in: the work ends when everything is settled.
    pub fn close(&self) {
        self.queue.close();
    }

    /// The books.
    pub fn balance(&self) -> Balance {
        self.counters.balance()
    }

    /// Bytes that wait or are being sent.
    pub fn queue_bytes(&self) -> usize {
        self.queue.bytes()
    }

    /// Bytes that may wait.
    pub fn queue_capacity(&self) -> usize {
        self.queue.capacity()
    }

    /// Why the backend takes nothing at present; `None` while it does.
    pub fn failing(&self) -> Option<String> {
        self.voice.failing()
    }
}

/// An exporter over gRPC.
pub fn otlp_grpc(
    name: &str,
    settings: &OtlpGrpcSettings,
    connector: Connector,
    feed: Feed<'_>,
) -> Result<(Exporter, Work), BuildError> {
    let to = Destination::grpc(settings, feed.signal())?;
    let plan = Plan {
        endpoint: Some(to.host()),
        queue: &settings.sending_queue,
        retry: &settings.retry_on_failure,
        max_request_size: settings.max_request_size,
        timeout: settings.timeout,
        findings_only: settings.findings_only,
    };
    let transport = Grpc::new(connector, to);
    build(name, plan, Box::new(transport), feed)
}

/// An exporter over HTTP.
pub fn otlp_http(
    name: &str,
    settings: &OtlpHttpSettings,
    connector: Connector,
    feed: Feed<'_>,
) -> Result<(Exporter, Work), BuildError> {
    let to = Destination::http(settings, feed.signal())?;
    let plan = Plan {
        endpoint: Some(to.url()),
        queue: &settings.sending_queue,
        retry: &settings.retry_on_failure,
        max_request_size: settings.max_request_size,
        timeout: settings.timeout,
        findings_only: settings.findings_only,
    };
    let transport = Http::new(connector, to, settings.encoding, feed.signal());
    build(name, plan, Box::new(transport), feed)
}

/// An exporter for people: `sink` strips colour where nobody sees it.
pub fn debug(
    name: &str,
    settings: &DebugSettings,
    sink: Sink,
    feed: Feed<'_>,
) -> Result<(Exporter, Work), BuildError> {
    local(name, Form::Debug(settings.verbosity), sink, feed)
}

/// An exporter that writes OTLP/JSON, a request a line. `sink` is the opened file of `settings`.
pub fn file(
    name: &str,
    _settings: &FileSettings,
    sink: Sink,
    feed: Feed<'_>,
) -> Result<(Exporter, Work), BuildError> {
    local(name, Form::Json, sink, feed)
}

fn local(
    name: &str,
    form: Form,
    sink: Sink,
    feed: Feed<'_>,
) -> Result<(Exporter, Work), BuildError> {
    let plan = Plan {
        endpoint: None,
        // One at a time: lines keep the order in which releases came.
        queue: &QueueSettings {
            num_consumers: 1,
            ..QueueSettings::default()
        },
        retry: &RetrySettings::default(),
        max_request_size: u64::MAX,
        // A write that hangs cannot be taken back: a second one would double it.
        timeout: Duration::MAX,
        findings_only: false,
    };
    build(
        name,
        plan,
        Box::new(Local::new(form, feed.signal(), sink)),
        feed,
    )
}

/// What all kinds of exporters are told.
struct Plan<'a> {
    /// Where to, as the log says it.
    endpoint: Option<String>,
    queue: &'a QueueSettings,
    retry: &'a RetrySettings,
    max_request_size: u64,
    timeout: Duration,
    findings_only: bool,
}

fn build(
    name: &str,
    plan: Plan<'_>,
    transport: Box<dyn Transport>,
    feed: Feed<'_>,
) -> Result<(Exporter, Work), BuildError> {
    plan.retry.check().map_err(BuildError::Retry)?;
    let counters = Arc::new(Counters::default());
    let signal = feed.signal();
    let queue = Arc::new(queue(plan.queue, feed, Arc::clone(&counters)));
    let voice = Arc::new(Voice::new(
        name.to_owned(),
        plan.endpoint.clone(),
        signal.items(),
    ));
    let consumers = if plan.queue.enabled {
        plan.queue.num_consumers
    } else {
        1
    };
    let shared = Shared {
        queue: Arc::clone(&queue),
        counters: Arc::clone(&counters),
        voice: Arc::clone(&voice),
        transport,
        signal,
        retry: plan.retry.clone(),
        max_request: usize::try_from(plan.max_request_size).unwrap_or(usize::MAX),
        consumers,
        timeout: plan.timeout,
    };
    let exporter = Exporter {
        name: name.to_owned(),
        signal,
        queue,
        counters,
        voice,
        findings_only: plan.findings_only,
    };
    let shared = Arc::new(shared);
    Ok((exporter, Work { shared }))
}

fn queue(settings: &QueueSettings, feed: Feed<'_>, counters: Arc<Counters>) -> Queue {
    match feed {
        Feed::Spans(pressure) | Feed::Relayed(_, pressure) => {
            let ours = match feed.signal() {
                Signal::Traces => Ours::Kept,
                Signal::Logs | Signal::Metrics => Ours::Bounded,
            };
            Queue::new(settings, pressure.clone(), counters, ours)
        }
        Feed::Records => {
            let mut settings = settings.clone();
            settings.on_full = OnFull::Drop;
            if !settings.enabled {
                // Nobody can be made to wait instead.
                settings = QueueSettings {
                    on_full: OnFull::Drop,
                    ..QueueSettings::default()
                };
            }
            Queue::new(&settings, Pressure::default(), counters, Ours::Bounded)
        }
    }
}
