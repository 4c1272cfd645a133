//! What the span of an agent's run tells of the whole run, as it passes.

use crate::model::{AnomalyType, Severity};
use crate::otlp::{AttributeValue, PatchWriter};

/// Longest list of types written, in bytes.
const LIST_MAX: usize = 240;

/// What was found in a run, and what could not be judged.
#[derive(Clone, Debug, Default)]
pub struct RunSummary {
    /// Reports of severity warning and above.
    pub anomalies: u32,
    /// The worst severity.
    pub worst: Option<Severity>,
    /// Types found.
    pub types: Vec<AnomalyType>,
    /// Milliseconds wasted.
    pub waste_ms: u64,
    /// Tokens wasted, where known.
    pub waste_tokens: Option<u64>,
    /// Types that could not be judged, or not all the time.
    pub not_assessed: Vec<AnomalyType>,
    /// The verdict was made on a part of the session.
    pub incomplete: bool,
}

impl RunSummary {
    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.anomalies == 0 && self.not_assessed.is_empty() && !self.incomplete
    }

    pub(super) fn write(&self, mut writer: PatchWriter) -> PatchWriter {
        if let Some(worst) = self.worst.filter(|_| self.anomalies > 0) {
            writer = writer
                .attribute(
                    "sentinel.run.anomaly_count",
                    AttributeValue::Int(self.anomalies.into()),
                )
                .attribute(
                    "sentinel.run.worst_severity",
                    AttributeValue::Str(worst.name()),
                )
                .attribute(
                    "sentinel.run.worst_severity_number",
                    AttributeValue::Int(worst.number()),
                )
                .attribute(
                    "sentinel.run.types",
                    AttributeValue::Str(&list(&self.types)),
                )
                .attribute(
                    "sentinel.run.waste_ms",
                    AttributeValue::Int(int(self.waste_ms)),
                );
            if let Some(tokens) = self.waste_tokens {
                writer = writer.attribute(
                    "sentinel.run.waste_tokens",
                    AttributeValue::Int(int(tokens)),
                );
            }
        }
        if !self.not_assessed.is_empty() {
            let types = list(&self.not_assessed);
            writer = writer.attribute("sentinel.not_assessed", AttributeValue::Str(&types));
        }
        if self.incomplete {
            writer = writer.attribute("sentinel.session.complete", AttributeValue::Bool(false));
        }
        writer
    }
}

/// Names joined by commas, as many as fit.
fn list(types: &[AnomalyType]) -> String {
    let mut out = String::new();
    for anomaly in types {
        if out.len() + anomaly.name().len() + 1 > LIST_MAX {
            break;
        }
        if !out.is_empty() {
            out.push(',');
        }
        out.push_str(anomaly.name());
    }
    out
}

fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
