//! The catalogue of everything this process counts, over the counters that the parts keep.
//!
//! Invariant: names are a promise to dashboards (the collector's where it has the thing, `sentinel_`
//! else). A series that can exist is there from the start, at zero.

mod engine;
mod limits;

use std::sync::Arc;
use std::time::Instant;

use super::engine_task::Handle;
use super::process;
use crate::control::metrics::{Catalogue, Kind, Value};
use crate::engine::Engine;
use crate::exporters::{Exporter, Reason};
use crate::model::Signal;
use crate::receivers::{self, Intake};

/// Everything that is read.
#[derive(Clone, Debug)]
pub struct Sources {
    /// When the process started.
    pub started: Instant,
    /// The receivers.
    pub receivers: Vec<Receiver>,
    /// The exporters.
    pub exporters: Vec<Arc<Exporter>>,
    /// The queue between them and the engine.
    pub intake: Intake,
    /// The engine.
    pub engine: Handle<Engine>,
}

/// One receiver and transport.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Id in the configuration.
    pub id: String,
    /// `grpc` or `http`.
    pub transport: &'static str,
    /// Its counters.
    pub counters: Arc<receivers::Counters>,
}

/// The catalogue over `sources`.
pub fn catalogue(sources: Sources) -> Catalogue {
    let mut catalogue = Catalogue::default();
    let sources = Arc::new(sources);
    receivers(&mut catalogue, &sources);
    limits::add(&mut catalogue, &sources);
    exporters(&mut catalogue, &sources);
    intake(&mut catalogue, &sources);
    engine::add(&mut catalogue, &sources.engine);
    own(&mut catalogue, &sources);
    catalogue
}

fn receivers(catalogue: &mut Catalogue, sources: &Arc<Sources>) {
    type Count = fn(&receivers::Counters) -> u64;
    items(catalogue, sources);
    let metrics: [(&'static str, &'static str, Count); 5] = [
        (
            "sentinel_receiver_accepted_requests",
            "Requests answered with success",
            |counters| receivers::Counters::read(&counters.accepted_requests),
        ),
        (
            "sentinel_receiver_refused_requests",
            "Requests turned away retryably",
            |counters| receivers::Counters::read(&counters.refused_requests),
        ),
        (
            "sentinel_receiver_failed_requests",
            "Requests that can never succeed: malformed, too large, of an unknown kind",
            |counters| receivers::Counters::read(&counters.failed_requests),
        ),
        (
            "sentinel_receiver_misspelt_requests",
            "Requests in JSON that were taken, of which names were ignored that look like mistakes",
            |counters| receivers::Counters::read(&counters.misspelt_requests),
        ),
        (
            "sentinel_receiver_unauthenticated_requests",
            "Requests without a valid token; they are among those that failed",
            |counters| receivers::Counters::read(&counters.unauthenticated),
        ),
    ];
    for (name, help, count) in metrics {
        let sources = sources.clone();
        catalogue.add(Kind::Counter, name, help, move |observe| {
            for receiver in &sources.receivers {
                let labels = [
                    ("receiver", receiver.id.as_str()),
                    ("transport", receiver.transport),
                ];
                observe(&labels, Value::Count(count(&receiver.counters)));
            }
        });
    }
}

/// What became of spans, log records and data points.
fn items(catalogue: &mut Catalogue, sources: &Arc<Sources>) {
    type Count = fn(&receivers::Items) -> u64;
    let read: [Count; 3] = [
        |items| receivers::Counters::read(&items.accepted),
        |items| receivers::Counters::read(&items.refused),
        |items| receivers::Counters::read(&items.failed),
    ];
    let [accepted, refused, failed] = read;
    for (signal, name, help, count) in [
        (
            Signal::Traces,
            "otelcol_receiver_accepted_spans",
            "Spans answered with success",
            accepted,
        ),
        (
            Signal::Traces,
            "otelcol_receiver_refused_spans",
            "Spans turned away retryably for want of room",
            refused,
        ),
        (
            Signal::Traces,
            "otelcol_receiver_failed_spans",
            "Malformed spans, reported in partial success",
            failed,
        ),
        (
            Signal::Logs,
            "otelcol_receiver_accepted_log_records",
            "Log records answered with success",
            accepted,
        ),
        (
            Signal::Logs,
            "otelcol_receiver_refused_log_records",
            "Log records turned away retryably for want of room",
            refused,
        ),
        (
            Signal::Logs,
            "otelcol_receiver_failed_log_records",
            "Malformed log records, reported in partial success",
            failed,
        ),
        (
            Signal::Metrics,
            "otelcol_receiver_accepted_metric_points",
            "Data points of metrics answered with success",
            accepted,
        ),
        (
            Signal::Metrics,
            "otelcol_receiver_refused_metric_points",
            "Data points of metrics turned away retryably for want of room",
            refused,
        ),
    ] {
        let sources = sources.clone();
        catalogue.add(Kind::Counter, name, help, move |observe| {
            for receiver in &sources.receivers {
                let labels = [
                    ("receiver", receiver.id.as_str()),
                    ("transport", receiver.transport),
                ];
                let items = receiver.counters.of(signal);
                observe(&labels, Value::Count(count(items)));
            }
        });
    }
}

fn exporters(catalogue: &mut Catalogue, sources: &Arc<Sources>) {
    settled(
        catalogue,
        sources,
        Signal::Traces,
        [
            ("otelcol_exporter_sent_spans", "Spans taken by the backend"),
            (
                "otelcol_exporter_send_failed_spans",
                "Spans given up after they were queued",
            ),
            (
                "otelcol_exporter_enqueue_failed_spans",
                "Spans that found no room in the queue",
            ),
            (
                "sentinel_spans_dropped",
                "Spans that will not arrive, each under one reason",
            ),
        ],
    );
    settled(
        catalogue,
        sources,
        Signal::Logs,
        [
            (
                "otelcol_exporter_sent_log_records",
                "Log records taken by the backend",
            ),
            (
                "otelcol_exporter_send_failed_log_records",
                "Log records given up after they were queued",
            ),
            (
                "otelcol_exporter_enqueue_failed_log_records",
                "Log records that found no room in the queue",
            ),
            (
                "sentinel_log_records_dropped",
                "Log records that will not arrive, each under one reason",
            ),
        ],
    );
    settled(
        catalogue,
        sources,
        Signal::Metrics,
        [
            (
                "otelcol_exporter_sent_metric_points",
                "Data points of metrics taken by the backend",
            ),
            (
                "otelcol_exporter_send_failed_metric_points",
                "Data points of metrics given up after they were queued",
            ),
            (
                "otelcol_exporter_enqueue_failed_metric_points",
                "Data points of metrics that found no room in the queue",
            ),
            (
                "sentinel_metric_points_dropped",
                "Data points of metrics that will not arrive, each under one reason",
            ),
        ],
    );
    under_way(catalogue, sources);
}

/// What became of the items of one signal: name and meaning of those sent, given up, without room, dropped.
fn settled(
    catalogue: &mut Catalogue,
    sources: &Arc<Sources>,
    signal: Signal,
    [sent, failed, no_room, dropped]: [(&'static str, &'static str); 4],
) {
    type Count = fn(&Exporter) -> u64;
    let metrics: [((&'static str, &'static str), Count); 3] = [
        (sent, |exporter| exporter.balance().sent),
        (failed, |exporter| exporter.balance().send_failed()),
        (no_room, |exporter| {
            exporter.balance().dropped_for(Reason::QueueFull)
        }),
    ];
    for ((name, help), count) in metrics {
        let sources = sources.clone();
        catalogue.add(Kind::Counter, name, help, move |observe| {
            for exporter in of_signal(&sources, signal) {
                let labels = [("exporter", exporter.name()), ("data_type", signal.name())];
                observe(&labels, Value::Count(count(exporter)));
            }
        });
    }
    let sources = sources.clone();
    catalogue.add(Kind::Counter, dropped.0, dropped.1, move |observe| {
        for exporter in of_signal(&sources, signal) {
            for (reason, items) in exporter.balance().dropped {
                let labels = [("exporter", exporter.name()), ("reason", reason.name())];
                observe(&labels, Value::Count(items));
            }
        }
    });
}

fn of_signal(sources: &Sources, signal: Signal) -> impl Iterator<Item = &Arc<Exporter>> {
    let exporters = sources.exporters.iter();
    exporters.filter(move |exporter| exporter.signal() == signal)
}

/// What waits and what is being sent, for either signal.
fn under_way(catalogue: &mut Catalogue, sources: &Arc<Sources>) {
    type Count = fn(&Exporter) -> u64;
    use Kind::{Counter, Gauge};
    let metrics: [(Kind, &'static str, &'static str, Count); 4] = [
        (
            Gauge,
            "otelcol_exporter_queue_size",
            "Bytes waiting in the queue or being sent",
            |exporter| exporter.queue_bytes() as u64,
        ),
        (
            Gauge,
            "otelcol_exporter_queue_capacity",
            "Bytes that may wait in the queue",
            |exporter| exporter.queue_capacity() as u64,
        ),
        (
            Gauge,
            "otelcol_exporter_in_flight_requests",
            "Requests on the wire",
            |exporter| exporter.balance().requests_in_flight,
        ),
        (
            Counter,
            "sentinel_exporter_failed_attempts",
            "Attempts that failed and may be repeated",
            |exporter| exporter.balance().attempts_failed,
        ),
    ];
    for (kind, name, help, count) in metrics {
        let sources = sources.clone();
        catalogue.add(kind, name, help, move |observe| {
            for exporter in &sources.exporters {
                let labels = [
                    ("exporter", exporter.name()),
                    ("data_type", exporter.signal().name()),
                ];
                observe(&labels, Value::Count(count(exporter)));
            }
        });
    }
}

fn intake(catalogue: &mut Catalogue, sources: &Arc<Sources>) {
    let of = sources.clone();
    catalogue.add(
        Kind::Gauge,
        "sentinel_intake_requests",
        "Requests that wait for the engine",
        move |observe| observe(&[], Value::Count(of.intake.requests() as u64)),
    );
    let of = sources.clone();
    catalogue.add(
        Kind::Gauge,
        "sentinel_intake_bytes",
        "Bytes of bodies that wait for the engine",
        move |observe| observe(&[], Value::Count(of.intake.bytes() as u64)),
    );
}

fn own(catalogue: &mut Catalogue, sources: &Arc<Sources>) {
    let started = sources.started;
    catalogue.add(
        Kind::Gauge,
        "otelcol_process_uptime",
        "Seconds since this process started",
        move |observe| observe(&[], Value::Measure(started.elapsed().as_secs_f64())),
    );
    catalogue.add(
        Kind::Gauge,
        "otelcol_process_memory_rss",
        "Resident memory in bytes",
        |observe| {
            if let Some(bytes) = process::resident_bytes() {
                observe(&[], Value::Count(bytes));
            }
        },
    );
    catalogue.add(
        Kind::Counter,
        "otelcol_process_cpu_seconds",
        "CPU time spent in user and kernel mode, in seconds",
        |observe| {
            if let Some(seconds) = process::cpu_seconds() {
                observe(&[], Value::Measure(seconds));
            }
        },
    );
    catalogue.add(
        Kind::Gauge,
        "sentinel_build_info",
        "1, with the version of this program",
        |observe| observe(&[("version", env!("CARGO_PKG_VERSION"))], Value::Count(1)),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::health::Health;
    use crate::control::metrics::Page;
    use crate::model::Pressure;
    use crate::runtime::clock;
    use crate::runtime::engine_task::{self, Surroundings};
    use crate::runtime::guarded::Guarded;

    /// The page of a process that has done nothing yet.
    fn page() -> String {
        let pressure = Pressure::default();
        let (exporter, _work) = crate::exporters::debug(
            "debug",
            &crate::exporters::DebugSettings::default(),
            Box::new(std::io::sink()),
            crate::exporters::Feed::Spans(&pressure),
        )
        .unwrap();
        let (intake, arrivals) = receivers::intake(&<_>::default(), pressure);
        let surroundings = Surroundings {
            arrivals,
            deliver: Box::new(|_| {}),
            record: Box::new(|_| {}),
            refused: Box::new(|| 0),
            health: Arc::new(Health::new(clock::now())),
            notebook: None,
        };
        let guarded = Guarded::new(|| Engine::new(<_>::default()));
        let (engine, _thread) = engine_task::start(guarded, surroundings).unwrap();
        let receiver = Receiver {
            id: "otlp".to_owned(),
            transport: "grpc",
            counters: Arc::default(),
        };
        let catalogue = catalogue(Sources {
            started: clock::instant(),
            receivers: vec![receiver],
            exporters: vec![Arc::new(exporter)],
            intake,
            engine,
        });
        Page::new(Arc::new(catalogue)).text()
    }

    /// Dashboards and alerts are made of these names: a change here breaks somebody.
    #[test]
    fn names_are_a_promise() {
        let page = page();
        let types = page.lines().filter_map(|line| line.strip_prefix("# TYPE "));
        let mut names: Vec<&str> = types.collect();
        names.sort_unstable();
        insta::assert_snapshot!(names.join("\n"));
    }

    #[test]
    fn series_are_there_from_the_start() {
        let page = page();
        for series in [
            r#"otelcol_receiver_accepted_spans_total{receiver="otlp",transport="grpc"} 0"#,
            r#"otelcol_exporter_sent_spans_total{exporter="debug",data_type="traces"} 0"#,
            r#"otelcol_processor_incoming_items_total{processor="anomaly",otel_signal="traces"} 0"#,
            r#"sentinel_spans_dropped_total{exporter="debug",reason="queue_full"} 0"#,
            r#"sentinel_spans_dropped_total{exporter="debug",reason="shutdown"} 0"#,
            r#"sentinel_anomalies_total{detector="stuck",severity="error"} 0"#,
            r#"sentinel_sessions_closed_total{reason="idle"} 0"#,
            r#"sentinel_hold_seconds_bucket{le="+Inf"} 0"#,
        ] {
            assert!(page.lines().any(|line| line == series), "{series}\n{page}");
        }
        let off = r#"detector="novel_host""#;
        assert!(!page.contains(off), "a detector that is off has no series");
        let critical = r#"severity="critical""#;
        assert!(!page.contains(critical), "critical is only ever configured");
    }
}
