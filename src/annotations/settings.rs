//! Settings of what is written (DESIGN 8, `processors.anomaly.annotate` and `mode`).

use serde::Deserialize;

use crate::model::{SpanId, TraceId};

/// How findings are written on spans.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Whether the span's own status may be set.
    pub status: StatusPolicy,
    /// How a finding leaves whose span has left.
    pub late: LatePolicy,
    /// What evidence may hold.
    pub evidence: EvidenceDetail,
    /// Also write the `gen_ai.evaluation.result` event.
    pub emit_evaluation_event: bool,
    /// Template of a link, written with each finding: `{trace_id}` and `{span_id}` stand for the accused span's.
    /// Empty: none.
    pub trace_url: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            status: StatusPolicy::Leave,
            late: LatePolicy::Auto,
            evidence: EvidenceDetail::Names,
            emit_evaluation_event: false,
            trace_url: String::new(),
        }
    }
}

impl Settings {
    /// The link to a span, where one is wanted: `trace_url` with the ids filled in.
    pub fn link(&self, trace: TraceId, span: SpanId) -> Option<String> {
        (!self.trace_url.is_empty()).then(|| {
            let url = self.trace_url.replace("{trace_id}", &trace.to_string());
            url.replace("{span_id}", &span.to_string())
        })
    }
}

/// Whether the span's own status may be set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatusPolicy {
    /// Never.
    #[default]
    Leave,
    /// To Error where it is unset.
    ErrorIfUnset,
}

/// How a late finding leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LatePolicy {
    /// As a log record where a pipeline of logs takes findings, else as a synthetic span.
    #[default]
    Auto,
    /// As a log record.
    Log,
    /// As a synthetic span.
    Span,
}

/// What evidence may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceDetail {
    /// Tool, agent and file names.
    #[default]
    Names,
    /// Whole paths too.
    Paths,
    /// Numbers and ids only.
    None,
}
