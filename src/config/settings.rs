//! The checked configuration, as the parts of the program take it.
//!
//! Invariant: whatever holds a `Settings` may rely on every check having passed: names resolve, endpoints
//! parse, ranges hold.

use std::collections::BTreeMap;
use std::fmt;

use crate::control;
use crate::engine;
use crate::exporters;
use crate::receivers;
use crate::security::BearerTokenAuth;
use crate::steps;

/// Everything a run needs to know.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Receivers that a pipeline uses, in the order of the configuration.
    pub receivers: Vec<Receiver>,
    /// The queue between receivers and engine.
    pub intake: receivers::IntakeSettings,
    /// How steps are read: `processors.anomaly`, its `tools` and `workspace`.
    pub steps: steps::Settings,
    /// The engine: the rest of `processors.anomaly`.
    pub engine: engine::Settings,
    /// Exporters that a pipeline uses, in the order of the configuration.
    pub exporters: Vec<Exporter>,
    /// Exporters that a pipeline of logs uses: for findings, for what receivers pass on, or for both.
    pub log_exporters: Vec<Exporter>,
    /// Exporters that a pipeline of metrics uses.
    pub metric_exporters: Vec<Exporter>,
    /// The health page, when `service.extensions` names it.
    pub health_check: Option<control::HealthCheck>,
    /// The pages for people, when `service.extensions` names them.
    pub zpages: Option<control::ZpagesSettings>,
    /// How each detector is set, for those pages.
    pub rules: Vec<control::zpages::Rule>,
    /// Extensions that know tokens, when `service.extensions` names them, by id.
    pub authenticators: BTreeMap<String, BearerTokenAuth>,
    /// Own logs and metrics.
    pub telemetry: control::Telemetry,
    /// How long stopping may take.
    pub shutdown: control::Shutdown,
    /// The pipelines as they are written, for the start-up log.
    pub pipelines: Vec<Pipeline>,
}

/// A receiver with its name.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Its id, as `otlp` or `otlp/edge`; a metric label.
    pub id: String,
    /// What it is told.
    pub settings: receivers::Settings,
    /// The signals that pipelines have it take.
    pub takes: Takes,
}

/// What a receiver takes. A signal that is not taken is refused for good.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Takes {
    /// Spans: they go to every exporter of the traces, by way of the one engine.
    pub traces: bool,
    /// Ids of the exporters to which its log records go; none: they are not taken.
    pub logs: Vec<String>,
    /// Its log records are read for what they tell of agents, by the one engine.
    pub reads_logs: bool,
    /// Ids of the exporters to which its metrics go; none: they are not taken.
    pub metrics: Vec<String>,
}

/// An exporter with its name.
#[derive(Clone, Debug)]
pub struct Exporter {
    /// Its id, as `debug` or `otlp_grpc/jaeger`; a metric label.
    pub id: String,
    /// What it is told.
    pub settings: exporters::Settings,
    /// It gets log records or metrics that receivers pass on.
    pub relays: bool,
    /// It gets findings as log records.
    pub findings: bool,
}

/// One pipeline: ids only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// `traces` or `traces/x`; `logs` and `metrics` alike.
    pub name: String,
    /// Where things come from; on a pipeline of logs also whose findings it takes.
    pub receivers: Vec<String>,
    /// What they go through: the one `anomaly`, or nothing.
    pub processors: Vec<String>,
    /// Where they go.
    pub exporters: Vec<String>,
}

impl fmt::Display for Pipeline {
    /// `traces: otlp -> anomaly -> debug, otlp_grpc/jaeger`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.receivers.join(", "))?;
        for part in [&self.processors, &self.exporters] {
            if !part.is_empty() {
                write!(f, " -> {}", part.join(", "))?;
            }
        }
        Ok(())
    }
}
