//! Budgets between judgements: which limits have been reported, and which have been announced.

use crate::detectors::{Choice, Rules, Scope};
use crate::lanes::Limit;
use crate::model::{AnomalyType, Report, Timestamp, TraceId};
use crate::sessions::LaneId;

use super::Engine;
use super::counters::bump;

impl Engine {
    /// Notes that a budget has been reported as passed: it is not reported again in its unit.
    pub(super) fn note_passed(
        &mut self,
        trace: TraceId,
        lane: LaneId,
        choice: Choice,
        report: &Report,
    ) {
        let finding = &report.finding;
        let Some(table) = self.tables.get(choice) else {
            return;
        };
        let (Some(limit), Some(scope)) = (
            Limit::of(finding.anomaly, finding.reason),
            table.budget_of(finding.anomaly),
        ) else {
            return;
        };
        let Some(judged) = finding.judged() else {
            return;
        };
        if table.rules_of(finding.anomaly) == Some(Rules::Source) {
            return;
        }
        if let Some(meter) = self.sessions.meter_mut(trace, lane, scope, judged.start) {
            meter.note_passed(limit);
        }
    }

    /// Counts limits that come near, each once a unit.
    pub(super) fn announce(
        &mut self,
        trace: TraceId,
        lane: LaneId,
        start: Timestamp,
        near: &[(AnomalyType, Scope, Limit)],
    ) {
        for (anomaly, scope, limit) in near {
            let meter = self.sessions.meter_mut(trace, lane, *scope, start);
            if meter.is_some_and(|meter| meter.note_near(*limit)) {
                bump(&mut self.counters.budgets_near, *anomaly);
            }
        }
    }
}
