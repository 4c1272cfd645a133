//! What the engine counts. Plain numbers: the runtime reads them between requests.

use crate::model::{AnomalyType, Severity};
use crate::sessions::CloseReason;

use super::Join;

const TYPES: usize = AnomalyType::ALL.len();

/// Everything counted since the start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counters {
    /// Spans taken in, agent's or not.
    pub spans: u64,
    /// Steps read from them.
    pub steps: u64,
    /// Runs opened.
    pub runs_opened: u64,
    /// Runs closed, by reason.
    pub runs_closed: [u64; CloseReason::ALL.len()],
    /// Reports by type and severity (info, warning, error, critical).
    pub reports: [[u64; 4]; TYPES],
    /// Findings of rules on trial by type and severity (`emit: metric`).
    pub trials: [[u64; 4]; TYPES],
    /// Findings that somebody has accepted, by type.
    pub ignored: [u64; TYPES],
    /// Reports whose span had left.
    pub late_reports: u64,
    /// Spans made for them.
    pub synthetic_spans: u64,
    /// Log records made of findings.
    pub log_records: u64,
    /// Steps that came too late to be ordered.
    pub late_steps: u64,
    /// Second copies of a span.
    pub duplicate_spans: u64,
    /// Second spans of one call.
    pub second_spans: u64,
    /// Steps beyond `run.max_steps`.
    pub over_limit: u64,
    /// Spans that came with marks.
    pub already_marked: u64,
    /// Judgements, by type, that found that something was lacking: once per run and lack.
    pub not_assessed: [u64; TYPES],
    /// Units (sessions, agents, turns) that reached four fifths of a budget, by type.
    pub budgets_near: [u64; TYPES],
    /// Panics of detectors, by type.
    pub detector_errors: [u64; TYPES],
    /// Spans ever held.
    pub held_spans: u64,
    /// Holds by length: up to 0.1, 0.5, 1, 6, 10 seconds, and longer.
    pub hold_seconds: [u64; 6],
    /// Sum of all holds in nanoseconds.
    pub hold_nanos: u64,
    /// Spans judged before their time because `max_held` was reached.
    pub held_over_limit: u64,
    /// What became of what log records told of steps, by [`Join`].
    pub joins: [u64; Join::ALL.len()],
}

impl Counters {
    /// Upper bounds of the buckets of [`Counters::hold_seconds`], in seconds; the last one is open.
    pub const HOLD_BOUNDS: [f64; 5] = [0.1, 0.5, 1.0, 6.0, 10.0];

    /// Reports of one type and severity.
    pub fn reports_of(&self, anomaly: AnomalyType, severity: Severity) -> u64 {
        cell_of(&self.reports, anomaly, severity)
    }

    /// Findings of a rule on trial, of one type and severity.
    pub fn trials_of(&self, anomaly: AnomalyType, severity: Severity) -> u64 {
        cell_of(&self.trials, anomaly, severity)
    }

    /// Adds what an engine before this one had counted.
    pub fn absorb(&mut self, earlier: &Self) {
        let Self {
            spans,
            steps,
            runs_opened,
            runs_closed,
            reports,
            trials,
            ignored,
            late_reports,
            synthetic_spans,
            log_records,
            late_steps,
            duplicate_spans,
            second_spans,
            over_limit,
            already_marked,
            not_assessed,
            budgets_near,
            detector_errors,
            held_spans,
            hold_seconds,
            hold_nanos,
            held_over_limit,
            joins,
        } = earlier;
        self.spans += spans;
        self.steps += steps;
        self.runs_opened += runs_opened;
        add(&mut self.runs_closed, runs_closed);
        for (row, earlier) in self.reports.iter_mut().zip(reports) {
            add(row, earlier);
        }
        for (row, earlier) in self.trials.iter_mut().zip(trials) {
            add(row, earlier);
        }
        add(&mut self.ignored, ignored);
        self.late_reports += late_reports;
        self.synthetic_spans += synthetic_spans;
        self.log_records += log_records;
        self.late_steps += late_steps;
        self.duplicate_spans += duplicate_spans;
        self.second_spans += second_spans;
        self.over_limit += over_limit;
        self.already_marked += already_marked;
        add(&mut self.not_assessed, not_assessed);
        add(&mut self.budgets_near, budgets_near);
        add(&mut self.detector_errors, detector_errors);
        self.held_spans += held_spans;
        add(&mut self.hold_seconds, hold_seconds);
        self.hold_nanos = self.hold_nanos.saturating_add(*hold_nanos);
        self.held_over_limit += held_over_limit;
        add(&mut self.joins, joins);
    }

    pub(super) fn note_report(&mut self, anomaly: AnomalyType, severity: Severity) {
        note(&mut self.reports, anomaly, severity);
    }

    pub(super) fn note_trial(&mut self, anomaly: AnomalyType, severity: Severity) {
        note(&mut self.trials, anomaly, severity);
    }

    pub(super) fn note_hold(&mut self, nanos: u64) {
        self.hold_nanos = self.hold_nanos.saturating_add(nanos);
        let bucket = [100u64, 500, 1000, 6000, 10_000]
            .iter()
            .position(|bound| nanos <= bound * 1_000_000)
            .unwrap_or(5);
        if let Some(cell) = self.hold_seconds.get_mut(bucket) {
            *cell += 1;
        }
    }
}

fn cell_of(table: &[[u64; 4]; TYPES], anomaly: AnomalyType, severity: Severity) -> u64 {
    table
        .get(usize::from(anomaly as u8))
        .and_then(|row| row.get(column(severity)))
        .copied()
        .unwrap_or(0)
}

fn note(table: &mut [[u64; 4]; TYPES], anomaly: AnomalyType, severity: Severity) {
    if let Some(cell) = table
        .get_mut(usize::from(anomaly as u8))
        .and_then(|row| row.get_mut(column(severity)))
    {
        *cell += 1;
    }
}

fn add(row: &mut [u64], earlier: &[u64]) {
    for (cell, earlier) in row.iter_mut().zip(earlier) {
        *cell += earlier;
    }
}

/// Adds one to the cell of a type.
pub(super) fn bump(row: &mut [u64; TYPES], anomaly: AnomalyType) {
    if let Some(cell) = row.get_mut(usize::from(anomaly as u8)) {
        *cell += 1;
    }
}

fn column(severity: Severity) -> usize {
    match severity {
        Severity::Info => 0,
        Severity::Warning => 1,
        Severity::Error => 2,
        Severity::Critical => 3,
    }
}
