//! Own metrics by OTLP, where somebody asked for it: the SDK reads the same catalogue as the page.
//!
//! Invariant: a collector that cannot be reached costs a log line, never a span.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{AsyncInstrument, Meter, MeterProvider};
use opentelemetry_otlp::{ExporterBuildError, MetricExporter, Protocol, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::metrics::exporter::PushMetricExporter;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider, Temporality};

use crate::control::metrics::{Catalogue, Kind, Labels, Metric, Value};
use crate::control::{Otlp, OtlpProtocol, Periodic};

/// Starts pushing `catalogue` as `push` says. Dropping the answer ends it; `shutdown` sends a last time.
/// Must be called inside a tokio runtime.
pub fn start(
    push: &Periodic,
    catalogue: &Arc<Catalogue>,
) -> Result<SdkMeterProvider, ExporterBuildError> {
    let exporter = Inside {
        runtime: tokio::runtime::Handle::current(),
        exporter: exporter(&push.exporter.otlp)?,
        failing: AtomicBool::new(false),
    };
    let reader = PeriodicReader::builder(exporter)
        .with_interval(push.interval)
        .build();
    let resource = Resource::builder()
        .with_service_name("agent-sentinel")
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .build();
    let provider = SdkMeterProvider::builder()
        .with_reader(reader)
        .with_resource(resource)
        .build();
    observe(&provider.meter("agent-sentinel"), catalogue);
    Ok(provider)
}

fn exporter(otlp: &Otlp) -> Result<MetricExporter, ExporterBuildError> {
    let builder = MetricExporter::builder();
    let http = |protocol| {
        MetricExporter::builder()
            .with_http()
            .with_protocol(protocol)
            .with_endpoint(otlp.endpoint.as_str())
            .with_timeout(otlp.timeout)
            .build()
    };
    match otlp.protocol {
        OtlpProtocol::Grpc => builder
            .with_tonic()
            .with_endpoint(otlp.endpoint.as_str())
            .with_timeout(otlp.timeout)
            .build(),
        OtlpProtocol::HttpProtobuf => http(Protocol::HttpBinary),
        OtlpProtocol::HttpJson => http(Protocol::HttpJson),
    }
}

/// The SDK pushes from a thread of its own, its transports need the runtime: they are polled inside it.
struct Inside {
    runtime: tokio::runtime::Handle,
    exporter: MetricExporter,
    failing: AtomicBool,
}

impl Inside {
    /// One line when pushing begins to fail, one when it works again.
    fn changed(&self, error: Option<&OTelSdkError>) {
        match (error, self.failing.swap(error.is_some(), Ordering::Relaxed)) {
            (Some(error), false) => tracing::warn!(%error, "own metrics cannot be pushed"),
            (None, true) => tracing::info!("own metrics are pushed again"),
            _ => {}
        }
    }
}

impl PushMetricExporter for Inside {
    async fn export(&self, metrics: &ResourceMetrics) -> OTelSdkResult {
        let mut export = std::pin::pin!(self.exporter.export(metrics));
        std::future::poll_fn(|context| {
            let _inside = self.runtime.enter();
            export.as_mut().poll(context)
        })
        .await
        .inspect_err(|error| self.changed(Some(error)))
        .inspect(|()| self.changed(None))
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn temporality(&self) -> Temporality {
        self.exporter.temporality()
    }
}

/// One observable instrument for each metric; two for a histogram, which the SDK cannot observe.
fn observe(meter: &Meter, catalogue: &Arc<Catalogue>) {
    for (index, metric) in catalogue.metrics().iter().enumerate() {
        let read = |part: fn(Value<'_>) -> f64| {
            let catalogue = catalogue.clone();
            move |instrument: &dyn AsyncInstrument<f64>| {
                if let Some(metric) = catalogue.metrics().get(index) {
                    metric.read(&mut |labels, value| {
                        instrument.observe(part(value), &key_values(labels));
                    });
                }
            }
        };
        match metric.kind {
            Kind::Histogram => {
                counter(meter, metric, "_count", read(count));
                counter(meter, metric, "_sum", read(amount));
            }
            Kind::Counter => counter(meter, metric, "", read(amount)),
            Kind::Gauge => drop(
                meter
                    .f64_observable_gauge(metric.name)
                    .with_description(metric.help)
                    .with_callback(read(amount))
                    .build(),
            ),
        }
    }
}

fn counter(
    meter: &Meter,
    metric: &Metric,
    suffix: &str,
    read: impl Fn(&dyn AsyncInstrument<f64>) + Send + Sync + 'static,
) {
    meter
        .f64_observable_counter(format!("{}{suffix}", metric.name))
        .with_description(metric.help)
        .with_callback(read)
        .build();
}

fn key_values(labels: Labels<'_>) -> Vec<KeyValue> {
    let labels = labels.iter();
    labels
        .map(|(key, value)| KeyValue::new(*key, (*value).to_owned()))
        .collect()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "OTLP has no unsigned numbers; counts stay exact up to 2^53"
)]
fn amount(value: Value<'_>) -> f64 {
    match value {
        Value::Count(count) | Value::CountWith { count, .. } => count as f64,
        Value::Measure(measure) => measure,
        Value::Buckets { sum, .. } => sum,
    }
}

fn count(value: Value<'_>) -> f64 {
    match value {
        Value::Buckets { counts, .. } => {
            amount(Value::Count(counts.iter().map(|(_, count)| count).sum()))
        }
        other => amount(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn pushes_what_the_catalogue_holds() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (got, mut received) = tokio::sync::mpsc::unbounded_channel();
        let server = tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let service =
                hyper::service::service_fn(move |request: http::Request<hyper::body::Incoming>| {
                    let got = got.clone();
                    async move {
                        let body = http_body_util::BodyExt::collect(request.into_body())
                            .await
                            .unwrap();
                        got.send(body.to_bytes()).unwrap();
                        Ok::<_, std::convert::Infallible>(http::Response::new(
                            http_body_util::Full::new(bytes::Bytes::new()),
                        ))
                    }
                });
            let io = hyper_util::rt::TokioIo::new(stream);
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(io, service)
                .await;
        });
        let mut catalogue = Catalogue::default();
        catalogue.add(
            Kind::Counter,
            "sentinel_spans_dropped",
            "Spans given up",
            |observe| {
                observe(&[("reason", "queue_full")], Value::Count(3));
            },
        );
        let push = Periodic {
            interval: std::time::Duration::from_millis(50),
            exporter: crate::control::PeriodicExporter {
                otlp: Otlp {
                    endpoint: format!("http://{address}/v1/metrics"),
                    protocol: OtlpProtocol::HttpProtobuf,
                    ..Otlp::default()
                },
            },
        };
        let provider = start(&push, &Arc::new(catalogue)).unwrap();
        let body = tokio::time::timeout(std::time::Duration::from_secs(20), received.recv()).await;
        let body = body.unwrap().unwrap();
        let body = String::from_utf8_lossy(&body);
        for part in [
            "agent-sentinel",
            "sentinel_spans_dropped",
            "Spans given up",
            "queue_full",
        ] {
            assert!(body.contains(part), "{part} is missing");
        }
        drop(provider);
        server.abort();
    }
}
