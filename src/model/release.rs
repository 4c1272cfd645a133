//! What leaves the engine: bytes to send with bytes to append, and reports of what was found.

use std::ops::Range;

use bytes::Bytes;
use serde::Deserialize;
use smallvec::SmallVec;

use super::{AnomalyType, Finding, Member, Name, Service, Severity, SpanId, Timestamp};

/// What a pipeline carries. Requests of all are built alike, so what queues, cuts and counts spans serves log
/// records and metrics as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signal {
    /// Spans.
    Traces,
    /// Log records: findings, and what receivers pass on.
    Logs,
    /// Metrics, which are passed on and never read.
    Metrics,
}

impl Signal {
    /// Every signal.
    pub const ALL: [Self; 3] = [Self::Traces, Self::Logs, Self::Metrics];

    /// The word in the names of pipelines and the metric label `data_type`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Traces => "traces",
            Self::Logs => "logs",
            Self::Metrics => "metrics",
        }
    }

    /// What is counted.
    pub const fn items(self) -> &'static str {
        match self {
            Self::Traces => "spans",
            Self::Logs => "log records",
            Self::Metrics => "data points",
        }
    }

    /// One of them.
    pub const fn item(self) -> &'static str {
        match self {
            Self::Traces => "span",
            Self::Logs => "log record",
            Self::Metrics => "data point",
        }
    }

    /// What a request is cut along, one of them.
    pub const fn piece(self) -> &'static str {
        match self {
            Self::Metrics => "metric",
            _ => self.item(),
        }
    }
}

/// Spans of one body that may leave now. A body without patches and holds leaves as the very buffer it came in.
/// On a pipeline of logs its spans are log records, on one of metrics they are metrics.
#[derive(Clone, Debug)]
pub struct Release {
    /// A request in protobuf: ExportTraceServiceRequest, ExportLogsServiceRequest or ExportMetricsServiceRequest.
    pub body: Bytes,
    /// Which of its spans leave.
    pub spans: Selection,
    /// How many spans that are; of metrics, how many data points.
    pub count: u32,
    /// Bytes to append to single spans, sorted by span index, at most one a span.
    pub patches: Vec<Patch>,
    /// The body is ours (late findings): counted as synthetic, not as accepted.
    pub synthetic: bool,
}

/// A choice among the spans of a body, by position in wire order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Every span.
    All,
    /// These, ascending and not touching.
    Ranges(SmallVec<[Range<u32>; 2]>),
}

impl Selection {
    /// Whether the span at `index` is chosen.
    pub fn contains(&self, index: u32) -> bool {
        match self {
            Self::All => true,
            Self::Ranges(ranges) => ranges.iter().any(|range| range.contains(&index)),
        }
    }
}

/// Protobuf bytes (fields of a Span message) to append to one span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// Position of the span in its body.
    pub span: u32,
    /// Encoded fields.
    pub bytes: Bytes,
}

/// Where an episode stands with this report (DESIGN 6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EpisodeState {
    /// Its first finding.
    Opened,
    /// Its count reached 2, 4, 8 or 16 times the onset.
    Raised,
}

impl EpisodeState {
    /// The word used in attributes and records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Raised => "raised",
        }
    }
}

/// Name of the instrumentation scope of spans and log records of our own making.
pub const OUR_SCOPE: &str = "sentinel";
/// Attribute that is true on spans of our own making.
pub const SYNTHETIC: &str = "sentinel.synthetic";
/// Attribute that is true on spans whose status we have set: it was unset, and says nothing of the step.
pub const STATUS_SET: &str = "sentinel.anomaly.status_set";
/// The name of the event that tells of a finding: fixed, so that it can be queried.
pub const EVENT: &str = "sentinel.anomaly";
/// Events of ours on one span at most; the count attribute tells of the rest.
pub const EVENTS_MAX: usize = 8;

/// How far findings are told (`emit`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Emit {
    /// On the span.
    #[default]
    Span,
    /// In metrics and reports only: a rule on trial. Episodes and cooldown are as if it were told.
    Metric,
    /// Not judged at all.
    Off,
}

/// How a report leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// As a mark on this span.
    Span(SpanId),
    /// Its span had left: as a span of our own, this one.
    Synthetic(SpanId),
    /// Its span had left: as a log record about this span.
    Log(SpanId),
}

/// What an episode has cost since its onset. Unknown is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Waste {
    /// Calls since the onset.
    pub calls: u32,
    /// Milliseconds from the start of the onset step to the end of the judged one.
    pub ms: u64,
    /// Tokens spent meanwhile by the run.
    pub tokens: Option<u64>,
    /// Dollars spent meanwhile by the run.
    pub cost_usd: Option<f64>,
}

/// A finding that policy lets out, with all that people need around it.
#[derive(Clone, Debug)]
pub struct Report {
    /// The claim and its proof.
    pub finding: Finding,
    /// Severity after configuration and raising.
    pub severity: Severity,
    /// Opened or raised.
    pub state: EpisodeState,
    /// Id of the episode.
    pub episode: u64,
    /// Hash of the rule, service, tool and agent of the episode's onset: grouping key across runs
    /// ([`super::fingerprint`]).
    pub fingerprint: u64,
    /// Id of the session: the conversation's as sent, else the trace id in hex.
    pub session: Name,
    /// The service.
    pub service: Service,
    /// The agent of the lane, if known.
    pub agent: Option<Name>,
    /// Kin of the family that fired on the same step.
    pub also: Vec<AnomalyType>,
    /// Cost since onset.
    pub waste: Waste,
    /// The step with which the episode began.
    pub onset: Member,
    /// When it became true, in event time: the end of the judged step, or when a limit of time was passed.
    pub at: Timestamp,
    /// How it leaves.
    pub carrier: Carrier,
    /// A page of the accused span elsewhere, where one is configured.
    pub trace_url: Option<String>,
}
