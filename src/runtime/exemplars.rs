//! The latest finding of each type and severity: what a counter of findings points to.

use crate::model::{AnomalyType, Report, Severity, SpanId, TraceId};

type Row = [Option<(TraceId, SpanId)>; Severity::ALL.len()];

/// Where the latest findings are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exemplars {
    rows: [Row; AnomalyType::ALL.len()],
}

impl Exemplars {
    /// Notes a finding.
    pub fn note(&mut self, report: &Report) {
        let Some(judged) = report.finding.judged() else {
            return;
        };
        let row = self.rows.get_mut(usize::from(report.finding.anomaly as u8));
        let place = column(report.severity);
        if let Some(cell) = row.zip(place).and_then(|(row, place)| row.get_mut(place)) {
            *cell = Some((judged.trace, judged.span));
        }
    }

    /// The latest finding of a type and severity.
    pub fn of(&self, anomaly: AnomalyType, severity: Severity) -> Option<(TraceId, SpanId)> {
        let row = self.rows.get(usize::from(anomaly as u8))?;
        row.get(column(severity)?).copied().flatten()
    }
}

fn column(severity: Severity) -> Option<usize> {
    Severity::ALL.iter().position(|one| *one == severity)
}
