//! What the engine counts and has open.

use crate::control::metrics::{Catalogue, Kind, Value};
use crate::engine::{CloseReason, Counters, Engine, Join};
use crate::model::{AnomalyType, Severity};

use super::super::engine_task::{Handle, Snapshot};

type Read = fn(&Snapshot) -> u64;

/// Single numbers: kind, name, meaning, where it stands.
const NUMBERS: &[(Kind, &str, &str, Read)] = &[
    (
        Kind::Gauge,
        "sentinel_sessions_open",
        "Runs that are open",
        |of| of.status.open_runs,
    ),
    (
        Kind::Counter,
        "sentinel_sessions_opened",
        "Runs ever opened",
        |of| of.counters.runs_opened,
    ),
    (
        Kind::Gauge,
        "sentinel_conversations",
        "Conversations that are remembered",
        |of| of.status.conversations,
    ),
    (
        Kind::Gauge,
        "sentinel_state_bytes",
        "Bytes of runs, conversations and what is remembered of closed ones",
        |of| of.status.state_bytes,
    ),
    (
        Kind::Counter,
        "sentinel_steps",
        "Steps of agents read from spans",
        |of| of.counters.steps,
    ),
    (
        Kind::Gauge,
        "sentinel_held_spans",
        "Spans that wait to be marked or cleared",
        |of| of.held,
    ),
    (
        Kind::Gauge,
        "sentinel_held_bytes",
        "Bytes of the bodies that held spans keep",
        |of| of.status.held_bytes,
    ),
    (
        Kind::Counter,
        "sentinel_held_over_limit_spans",
        "Spans judged before their time because max_held was reached",
        |of| of.counters.held_over_limit,
    ),
    (
        Kind::Counter,
        "sentinel_late_spans",
        "Steps that came too late to be put in order",
        |of| of.counters.late_steps,
    ),
    (
        Kind::Counter,
        "sentinel_late_findings",
        "Findings whose span had left already",
        |of| of.counters.late_reports,
    ),
    (
        Kind::Counter,
        "sentinel_synthetic_spans",
        "Spans of our own, made for findings whose span had left",
        |of| of.counters.synthetic_spans,
    ),
    (
        Kind::Counter,
        "sentinel_log_records",
        "Log records made of findings",
        |of| of.counters.log_records,
    ),
    (
        Kind::Counter,
        "sentinel_duplicate_spans",
        "Second copies of a span: passed on, not judged twice",
        |of| of.counters.duplicate_spans,
    ),
    (
        Kind::Counter,
        "sentinel_second_spans",
        "Second spans of one call: passed on, one step",
        |of| of.counters.second_spans,
    ),
    (
        Kind::Counter,
        "sentinel_unjudged_spans",
        "Steps beyond run.max_steps: passed on, not judged",
        |of| of.counters.over_limit,
    ),
    (
        Kind::Counter,
        "sentinel_already_marked_spans",
        "Spans that came with marks",
        |of| of.counters.already_marked,
    ),
    (
        Kind::Counter,
        "sentinel_engine_panics",
        "Engines that failed and were replaced; their spans left unjudged",
        |of| of.panics,
    ),
];

/// Adds everything that is known of the engine.
pub(super) fn add(catalogue: &mut Catalogue, engine: &Handle<Engine>) {
    items(catalogue, engine);
    for (kind, name, help, read) in NUMBERS {
        let engine = engine.clone();
        catalogue.add(*kind, name, help, move |observe| {
            observe(&[], Value::Count(read(&engine.snapshot())));
        });
    }
    anomalies(catalogue, engine);
    by_detector(catalogue, engine);
    content(catalogue, engine);
    coverage(catalogue, engine);
    closed(catalogue, engine);
    holds(catalogue, engine);
    joins(catalogue, engine);
}

fn joins(catalogue: &mut Catalogue, engine: &Handle<Engine>) {
    let of = engine.clone();
    catalogue.add(
        Kind::Counter,
        "sentinel_log_events",
        "What log records tell of agents' steps, by what became of it",
        move |observe| {
            let joins = of.snapshot().counters.joins;
            for (join, count) in Join::ALL.iter().zip(joins) {
                observe(&[("outcome", join.name())], Value::Count(count));
            }
        },
    );
}

fn items(catalogue: &mut Catalogue, engine: &Handle<Engine>) {
    const PROCESSOR: &[(&str, &str)] = &[("processor", "anomaly"), ("otel_signal", "traces")];
    let of = engine.clone();
    catalogue.add(
        Kind::Counter,
        "otelcol_processor_incoming_items",
        "Spans given to the engine",
        move |observe| observe(PROCESSOR, Value::Count(of.snapshot().entered)),
    );
    let of = engine.clone();
    catalogue.add(
        Kind::Counter,
        "otelcol_processor_outgoing_items",
        "Spans released by the engine, those of our own making included",
        move |observe| observe(PROCESSOR, Value::Count(of.snapshot().left)),
    );
}

fn anomalies(catalogue: &mut Catalogue, engine: &Handle<Engine>) {
    type Count = fn(&Counters, AnomalyType, Severity) -> u64;
    let tables: [(&'static str, &'static str, Count, bool); 2] = [
        (
            "sentinel_anomalies",
            "Findings reported",
            Counters::reports_of,
            true,
        ),
        (
            "sentinel_shadow_findings",
            "Findings of rules on trial (emit: metric): on no span",
            Counters::trials_of,
            false,
        ),
    ];
    for (name, help, count_of, from_start) in tables {
        let of = engine.clone();
        catalogue.add(Kind::Counter, name, help, move |observe| {
            let snapshot = of.snapshot();
            for anomaly in AnomalyType::ALL {
                for severity in Severity::ALL {
                    let count = count_of(&snapshot.counters, anomaly, severity);
                    // What can be found is there from the start; critical only where somebody set it.
                    let expected = from_start
                        && severity != Severity::Critical
                        && snapshot.types.contains(&anomaly);
                    if count > 0 || expected {
                        let labels = [("detector", anomaly.name()), ("severity", severity.name())];
                        let latest = snapshot.exemplars.of(anomaly, severity);
                        match latest.filter(|_| from_start && count > 0) {
                            Some((trace, span)) => observe(
                                &labels,
                                Value::CountWith {
                                    count,
                                    trace: &trace.to_string(),
                                    span: &span.to_string(),
                                },
                            ),
                            None => observe(&labels, Value::Count(count)),
                        }
                    }
                }
            }
        });
    }
}

fn by_detector(catalogue: &mut Catalogue, engine: &Handle<Engine>) {
    type Row = fn(&Snapshot) -> &[u64];
    let rows: [(Kind, &'static str, &'static str, Row); 5] = [
        (
            Kind::Gauge,
            "sentinel_episodes_open",
            "Episodes that go on",
            |of| &of.status.episodes_open,
        ),
        (
            Kind::Counter,
            "sentinel_not_assessed",
            "What could not be judged for want of data, once a run and lack",
            |of| &of.counters.not_assessed,
        ),
        (
            Kind::Counter,
            "sentinel_budgets_near",
            "Sessions, agents or turns that reached four fifths of a budget",
            |of| &of.counters.budgets_near,
        ),
        (
            Kind::Counter,
            "sentinel_ignored_findings",
            "Findings that an ignore entry accepts: not told",
            |of| &of.counters.ignored,
        ),
        (
            Kind::Counter,
            "sentinel_detector_errors",
            "Failures of a detector; three switch it off",
            |of| &of.counters.detector_errors,
        ),
    ];
    for (kind, name, help, row) in rows {
        let of = engine.clone();
        catalogue.add(kind, name, help, move |observe| {
            let snapshot = of.snapshot();
            let budgets = name == "sentinel_budgets_near";
            let types = snapshot.types.iter();
            for anomaly in types.filter(|anomaly| !budgets || is_budget(**anomaly)) {
                let cell = row(&snapshot).get(usize::from(*anomaly as u8));
                let count = cell.copied().unwrap_or(0);
                observe(&[("detector", anomaly.name())], Value::Count(count));
            }
        });
    }
}

fn is_budget(anomaly: AnomalyType) -> bool {
    matches!(
        anomaly,
        AnomalyType::BudgetSteps | AnomalyType::BudgetCost | AnomalyType::BudgetTime
    )
}

/// Which services send spans without what rules need.
fn content(catalogue: &mut Catalogue, engine: &Handle<Engine>) {
    let of = engine.clone();
    catalogue.add(
        Kind::Gauge,
        "sentinel_content_missing",
        "1 for each kind of content that a service never sent",
        move |observe| {
            for (service, content) in of.snapshot().missing {
                let labels = [("service", &*service.name), ("content", content.name())];
                observe(&labels, Value::Count(1));
            }
        },
    );
}

/// Of which services how much could be judged.
fn coverage(catalogue: &mut Catalogue, engine: &Handle<Engine>) {
    let of = engine.clone();
    catalogue.add(
        Kind::Counter,
        "sentinel_runs_closed",
        "Runs closed, by service; beyond 100 services as (others)",
        move |observe| {
            for (service, runs) in of.snapshot().coverage.services() {
                observe(&[("service", service)], Value::Count(runs.closed));
            }
        },
    );
    let of = engine.clone();
    catalogue.add(
        Kind::Counter,
        "sentinel_runs_not_assessed",
        "Closed runs in which a detector lacked something, by service",
        move |observe| {
            let snapshot = of.snapshot();
            for (service, runs) in snapshot.coverage.services() {
                for anomaly in &snapshot.types {
                    let cell = runs.lacking.get(usize::from(*anomaly as u8));
                    let labels = [("service", service), ("detector", anomaly.name())];
                    observe(&labels, Value::Count(cell.copied().unwrap_or(0)));
                }
            }
        },
    );
}

fn closed(catalogue: &mut Catalogue, engine: &Handle<Engine>) {
    let of = engine.clone();
    catalogue.add(
        Kind::Counter,
        "sentinel_sessions_closed",
        "Runs closed, by reason",
        move |observe| {
            let closed = of.snapshot().counters.runs_closed;
            for (reason, count) in CloseReason::ALL.iter().zip(closed) {
                observe(&[("reason", reason.name())], Value::Count(count));
            }
        },
    );
}

fn holds(catalogue: &mut Catalogue, engine: &Handle<Engine>) {
    let of = engine.clone();
    catalogue.add(
        Kind::Histogram,
        "sentinel_hold_seconds",
        "How long spans were held",
        move |observe| {
            let counters = of.snapshot().counters;
            let bounds = Counters::HOLD_BOUNDS.into_iter().chain([f64::INFINITY]);
            let counts: Vec<(f64, u64)> = bounds.zip(counters.hold_seconds).collect();
            let sum = std::time::Duration::from_nanos(counters.hold_nanos).as_secs_f64();
            observe(
                &[],
                Value::Buckets {
                    counts: &counts,
                    sum,
                },
            );
        },
    );
}
