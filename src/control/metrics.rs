//! The catalogue of our own metrics: what exists, what it means, where its values are read.
//!
//! Invariant: a value is read when somebody asks, from counters that the work keeps anyway; nothing
//! here is on the path of a span. One catalogue feeds the Prometheus page and the push by OTLP.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::exemplar::CounterWithExemplar;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

/// Content type of the page.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Whether a metric only grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only grows; `_total` is added to its name on the page.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts by size; `_bucket`, `_sum` and `_count` are added to its name.
    Histogram,
}

/// One value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A count of something.
    Count(u64),
    /// A count of something, with where the last of it is.
    CountWith {
        /// The count; at least 1.
        count: u64,
        /// The trace of the last one, in hex.
        trace: &'a str,
        /// Its span, in hex.
        span: &'a str,
    },
    /// A measure, mostly in seconds.
    Measure(f64),
    /// Counts by size.
    Buckets {
        /// Upper bounds with how many lie between the one before and this; the last bound is infinite.
        counts: &'a [(f64, u64)],
        /// Sum of everything measured.
        sum: f64,
    },
}

/// Labels of one series.
pub type Labels<'a> = &'a [(&'static str, &'a str)];

/// Takes the values of one metric, series by series.
pub type Observe<'a> = dyn FnMut(Labels<'_>, Value<'_>) + 'a;

/// A metric: its name without `_total`, its meaning, and how its values are read.
pub struct Metric {
    /// Name as it appears on the page, without `_total`.
    pub name: &'static str,
    /// What it counts, one line without a full stop.
    pub help: &'static str,
    /// Whether it only grows.
    pub kind: Kind,
    read: Box<dyn Fn(&mut Observe<'_>) + Send + Sync>,
}

impl Metric {
    /// Hands every series of this metric to `observe`.
    pub fn read(&self, observe: &mut Observe<'_>) {
        (self.read)(observe);
    }
}

impl fmt::Debug for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metric")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// All metrics of this process, in the order in which they are shown.
#[derive(Debug, Default)]
pub struct Catalogue {
    metrics: Vec<Metric>,
}

impl Catalogue {
    /// Adds a metric. Names are unique: the second of one name is not added.
    pub fn add(
        &mut self,
        kind: Kind,
        name: &'static str,
        help: &'static str,
        read: impl Fn(&mut Observe<'_>) + Send + Sync + 'static,
    ) {
        if self.metrics.iter().any(|metric| metric.name == name) {
            debug_assert!(false, "metric {name} is there already");
            return;
        }
        self.metrics.push(Metric {
            name,
            help,
            kind,
            read: Box::new(read),
        });
    }

    /// The metrics, in order.
    pub fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    /// The sum over all series of the metric called `name`; `None` when there is no such metric.
    pub fn sum(&self, name: &str) -> Option<u64> {
        let metric = self.metrics.iter().find(|metric| metric.name == name)?;
        let mut sum = 0u64;
        metric.read(&mut |_, value| {
            if let Value::Count(count) | Value::CountWith { count, .. } = value {
                sum = sum.saturating_add(count);
            }
        });
        Some(sum)
    }
}

impl Collector for Catalogue {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        for metric in &self.metrics {
            let kind = match metric.kind {
                Kind::Counter => MetricType::Counter,
                Kind::Gauge => MetricType::Gauge,
                Kind::Histogram => MetricType::Histogram,
            };
            let mut outcome = Ok(());
            let mut family = encoder.encode_descriptor(metric.name, metric.help, None, kind)?;
            metric.read(&mut |labels, value| {
                if outcome.is_ok() {
                    outcome = family
                        .encode_family(&labels)
                        .and_then(|encoder| encode_value(metric.kind, value, encoder));
                }
            });
            outcome?;
        }
        Ok(())
    }
}

fn encode_value(
    kind: Kind,
    value: Value<'_>,
    mut encoder: MetricEncoder<'_>,
) -> Result<(), fmt::Error> {
    match (kind, value) {
        (_, Value::Buckets { counts, sum }) => {
            let count = counts.iter().map(|(_, count)| count).sum();
            encoder.encode_histogram::<NoLabelSet>(sum, count, counts, None)
        }
        (Kind::Gauge, Value::Count(count) | Value::CountWith { count, .. }) => {
            ConstGauge::new(i64::try_from(count).unwrap_or(i64::MAX)).encode(encoder)
        }
        (Kind::Gauge, Value::Measure(measure)) => ConstGauge::new(measure).encode(encoder),
        (_, Value::Count(count)) => ConstCounter::new(count).encode(encoder),
        (_, Value::CountWith { count, trace, span }) => {
            let counter: CounterWithExemplar<Vec<(String, String)>> =
                CounterWithExemplar::default();
            counter.inc_by(count.saturating_sub(1), None, None);
            let labels = [("trace_id", trace), ("span_id", span)];
            let labels = labels.map(|(key, id)| (key.to_owned(), id.to_owned()));
            counter.inc_by(1, Some(labels.to_vec()), None);
            counter.encode(encoder)
        }
        (_, Value::Measure(measure)) => ConstCounter::new(measure).encode(encoder),
    }
}

/// The page that a Prometheus server scrapes.
#[derive(Debug)]
pub struct Page {
    registry: Registry,
}

impl Page {
    /// A page over `catalogue`.
    pub fn new(catalogue: std::sync::Arc<Catalogue>) -> Self {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(catalogue));
        Self { registry }
    }

    /// The page as text in OpenMetrics form.
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(16 << 10);
        // Writing to a String does not fail; a page cut short is still better than none.
        let _ = prometheus_client::encoding::text::encode(&mut text, &self.registry);
        text
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn example() -> Arc<Catalogue> {
        let mut catalogue = Catalogue::default();
        catalogue.add(
            Kind::Counter,
            "otelcol_receiver_accepted_spans",
            "Spans accepted",
            |observe| {
                observe(
                    &[("receiver", "otlp"), ("transport", "grpc")],
                    Value::Count(7),
                );
                observe(
                    &[("receiver", "otlp"), ("transport", "http")],
                    Value::CountWith {
                        count: 3,
                        trace: "0a",
                        span: "0b",
                    },
                );
            },
        );
        catalogue.add(
            Kind::Gauge,
            "otelcol_process_uptime",
            "Seconds since start",
            |observe| {
                observe(&[], Value::Measure(1.5));
            },
        );
        catalogue.add(
            Kind::Histogram,
            "sentinel_hold_seconds",
            "How long spans were held",
            |observe| {
                let counts = &[(0.5, 3), (1.0, 0), (f64::INFINITY, 1)];
                observe(&[], Value::Buckets { counts, sum: 7.5 });
            },
        );
        Arc::new(catalogue)
    }

    #[test]
    fn page() {
        insta::assert_snapshot!(Page::new(example()).text(), @r#"
        # HELP otelcol_receiver_accepted_spans Spans accepted
        # TYPE otelcol_receiver_accepted_spans counter
        otelcol_receiver_accepted_spans_total{receiver="otlp",transport="grpc"} 7
        otelcol_receiver_accepted_spans_total{receiver="otlp",transport="http"} 3 # {trace_id="0a",span_id="0b"} 1.0
        # HELP otelcol_process_uptime Seconds since start
        # TYPE otelcol_process_uptime gauge
        otelcol_process_uptime 1.5
        # HELP sentinel_hold_seconds How long spans were held
        # TYPE sentinel_hold_seconds histogram
        sentinel_hold_seconds_sum 7.5
        sentinel_hold_seconds_count 4
        sentinel_hold_seconds_bucket{le="0.5"} 3
        sentinel_hold_seconds_bucket{le="1.0"} 3
        sentinel_hold_seconds_bucket{le="+Inf"} 4
        # EOF
        "#);
    }

    #[test]
    fn sums_over_series() {
        assert_eq!(example().sum("otelcol_receiver_accepted_spans"), Some(10));
        assert_eq!(example().sum("nothing"), None);
    }
}
