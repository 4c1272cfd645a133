//! The catalogue of everything this process counts, over the counters that the parts keep.
//!
//! Invariant: names are a promise to dashboards (the collector's where it has the thing, `sentinel_`
//! else). A series that can exist is there from the start, at zero.

mod engine;

use std::sync::Arc;
use std::time::Instant;

use super::engine_task::Handle;
use super::process;
use crate::control::metrics::{Catalogue, Kind, Value};
use crate::engine::Engine;
use crate::exporters::{Exporter, Reason};
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
    exporters(&mut catalogue, &sources);
    intake(&mut catalogue, &sources);
    engine::add(&mut catalogue, &sources.engine);
    own(&mut catalogue, &sources);
    catalogue
}

fn receivers(catalogue: &mut Catalogue, sources: &Arc<Sources>) {
    type Count = fn(&receivers::Counters) -> u64;
    let metrics: [(&'static str, &'static str, Count); 6] = [
        (
            "otelcol_receiver_accepted_spans",
            "Spans answered with success",
            |counters| receivers::Counters::read(&counters.accepted_spans),
        ),
        (
            "otelcol_receiver_refused_spans",
            "Spans turned away retryably for want of room",
            |counters| receivers::Counters::read(&counters.refused_spans),
        ),
        (
            "otelcol_receiver_failed_spans",
            "Malformed spans, reported in partial success",
            |counters| receivers::Counters::read(&counters.failed_spans),
        ),
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

fn exporters(catalogue: &mut Catalogue, sources: &Arc<Sources>) {
    type Count = fn(&Exporter) -> u64;
    use Kind::{Counter, Gauge};
    let metrics: [(Kind, &'static str, &'static str, Count); 7] = [
        (
            Counter,
            "otelcol_exporter_sent_spans",
            "Spans taken by the backend",
            |exporter| exporter.balance().sent,
        ),
        (
            Counter,
            "otelcol_exporter_send_failed_spans",
            "Spans given up after they were queued",
            |exporter| exporter.balance().send_failed(),
        ),
        (
            Counter,
            "otelcol_exporter_enqueue_failed_spans",
            "Spans that found no room in the queue",
            |exporter| exporter.balance().dropped_for(Reason::QueueFull),
        ),
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
                let labels = [("exporter", exporter.name()), ("data_type", "traces")];
                observe(&labels, Value::Count(count(exporter)));
            }
        });
    }
    let sources = sources.clone();
    catalogue.add(
        Counter,
        "sentinel_spans_dropped",
        "Spans that will not arrive, each under one reason",
        move |observe| {
            for exporter in &sources.exporters {
                for (reason, spans) in exporter.balance().dropped {
                    let labels = [("exporter", exporter.name()), ("reason", reason.name())];
                    observe(&labels, Value::Count(spans));
                }
            }
        },
    );
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
