//! Logs and metrics through the real binary: what is passed on leaves as the very bytes it came in, and a signal
//! without a pipeline is refused for good.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![expect(
    clippy::disallowed_methods,
    reason = "a test opens sockets and starts processes itself"
)]

mod support;

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value::Value};
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
use opentelemetry_proto::tonic::metrics::v1::{
    Exemplar, ExponentialHistogram, ExponentialHistogramDataPoint, Gauge, Histogram,
    HistogramDataPoint, Metric, NumberDataPoint, ResourceMetrics, ScopeMetrics, Sum, Summary,
    SummaryDataPoint, exemplar, exponential_histogram_data_point::Buckets, metric::Data,
    number_data_point, summary_data_point::ValueAtQuantile,
};
use prost::Message as _;

use support::backend::{Backend, Reply};
use support::collector::{self, Collector};
use support::{grpc, http};

const PROTOBUF: &str = "application/x-protobuf";
const JSON: &str = "application/json";
const LOGS: &str = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";
const METRICS: &str = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";

/// A collector whose logs and metrics go to backends of their own, the logs by both protocols.
struct House {
    spans: Backend,
    logs: Backend,
    metrics: Backend,
    collector: Collector,
}

impl House {
    async fn open(queue: &str) -> Self {
        let (spans, logs, metrics) = (
            Backend::start().await,
            Backend::start().await,
            Backend::start().await,
        );
        let to = |backend: &Backend| {
            let at = backend.address();
            format!(
                "{{endpoint: 'http://{at}', sending_queue: {{queue_size: {queue}}}, \
                 retry_on_failure: {{initial_interval: 50ms, max_interval: 200ms}}}}"
            )
        };
        let more = format!(
            "exporters:\n  otlp_grpc/logs: {}\n  otlp_http/logs: {}\n  otlp_http/metrics: {}\n",
            to(&logs),
            to(&logs),
            to(&metrics)
        );
        let config = collector::config(&[("otlp_grpc", to(&spans))])
            .replacen("exporters:\n", &more, 1)
            .replace(
                "exporters: [otlp_grpc]}",
                "exporters: [otlp_grpc]}\n    \
                 logs: {receivers: [otlp], exporters: [otlp_grpc/logs, otlp_http/logs]}\n    \
                 metrics: {receivers: [otlp], exporters: [otlp_http/metrics]}",
            );
        let collector = Collector::start(&config);
        Self {
            spans,
            logs,
            metrics,
            collector,
        }
    }

    async fn post(&self, path: &str, kind: &str, body: &[u8]) -> (u16, String) {
        http::post(self.collector.address("http"), path, kind, body).await
    }

    async fn page(&self) -> String {
        http::get(self.collector.address("metrics"), "/metrics")
            .await
            .1
    }
}

fn text(key: &str, value: &str) -> KeyValue {
    KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue {
            value: Some(Value::StringValue(value.to_owned())),
        }),
        ..KeyValue::default()
    }
}

fn record(number: u8) -> LogRecord {
    LogRecord {
        time_unix_nano: 17,
        observed_time_unix_nano: 18,
        severity_number: 9,
        severity_text: "INFO".to_owned(),
        body: text("", "said").value,
        attributes: vec![text("k", "v")],
        trace_id: vec![number; 16],
        span_id: vec![number; 8],
        event_name: "an.event".to_owned(),
        ..LogRecord::default()
    }
}

fn logs(records: Vec<LogRecord>) -> Vec<u8> {
    let request = ExportLogsServiceRequest {
        resource_logs: vec![ResourceLogs {
            scope_logs: vec![ScopeLogs {
                log_records: records,
                ..ScopeLogs::default()
            }],
            ..ResourceLogs::default()
        }],
    };
    request.encode_to_vec()
}

/// A field that nobody knows, at the end of a request.
fn with_the_unknown(mut body: Vec<u8>) -> Vec<u8> {
    body.extend([0xba, 0x3e, 3, b'n', b'e', b'w']);
    body
}

fn point(value: number_data_point::Value) -> NumberDataPoint {
    NumberDataPoint {
        attributes: vec![text("k", "v")],
        time_unix_nano: 5,
        value: Some(value),
        exemplars: vec![Exemplar {
            span_id: vec![1; 8],
            trace_id: vec![2; 16],
            value: Some(exemplar::Value::AsInt(-3)),
            ..Exemplar::default()
        }],
        ..NumberDataPoint::default()
    }
}

/// A metric of every kind, one point each.
fn metrics() -> ExportMetricsServiceRequest {
    let buckets = Buckets {
        offset: -2,
        bucket_counts: vec![1, 0, 300],
    };
    let metric = |data| Metric {
        name: "m".to_owned(),
        unit: "1".to_owned(),
        data: Some(data),
        metadata: vec![text("a", "b")],
        ..Metric::default()
    };
    let all = vec![
        metric(Data::Gauge(Gauge {
            data_points: vec![point(number_data_point::Value::AsInt(0))],
        })),
        metric(Data::Sum(Sum {
            data_points: vec![point(number_data_point::Value::AsDouble(0.0))],
            aggregation_temporality: 2,
            is_monotonic: true,
        })),
        metric(Data::Histogram(Histogram {
            data_points: vec![HistogramDataPoint {
                count: 3,
                sum: Some(0.0),
                bucket_counts: vec![1, 2],
                explicit_bounds: vec![0.5],
                min: Some(-1.0),
                ..HistogramDataPoint::default()
            }],
            aggregation_temporality: 1,
        })),
        metric(Data::ExponentialHistogram(ExponentialHistogram {
            data_points: vec![ExponentialHistogramDataPoint {
                scale: -7,
                zero_count: 4,
                positive: Some(buckets),
                zero_threshold: 0.25,
                ..ExponentialHistogramDataPoint::default()
            }],
            aggregation_temporality: 2,
        })),
        metric(Data::Summary(Summary {
            data_points: vec![SummaryDataPoint {
                count: 2,
                sum: 1.5,
                quantile_values: vec![ValueAtQuantile {
                    quantile: 0.5,
                    value: 2.0,
                }],
                ..SummaryDataPoint::default()
            }],
        })),
    ];
    ExportMetricsServiceRequest {
        resource_metrics: vec![ResourceMetrics {
            scope_metrics: vec![ScopeMetrics {
                metrics: all,
                ..ScopeMetrics::default()
            }],
            ..ResourceMetrics::default()
        }],
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn logs_and_metrics_pass_as_the_very_bytes() {
    let house = House::open("256MiB").await;
    let gate = house.collector.address("grpc");
    let sent = with_the_unknown(logs(vec![record(1), record(2)]));
    let points = with_the_unknown(metrics().encode_to_vec());

    assert_eq!(house.post("/v1/logs", PROTOBUF, &sent).await.0, 200);
    house
        .logs
        .until("one request twice", |got| got.len() == 2)
        .await;
    let (code, answer) = grpc::call(gate, LOGS, &sent, true).await;
    assert_eq!((code, answer.len()), (0, 0));
    assert_eq!(house.post("/v1/metrics", PROTOBUF, &points).await.0, 200);
    assert_eq!(grpc::call(gate, METRICS, &points, false).await.0, 0);
    // Without records there is nothing to pass on.
    assert_eq!(house.post("/v1/logs", PROTOBUF, &[]).await.0, 200);
    house.logs.until("both twice", |got| got.len() == 4).await;
    house.metrics.until("both", |got| got.len() == 2).await;
    for got in house.logs.got() {
        let path = if got.is_grpc() { LOGS } else { "/v1/logs" };
        assert_eq!((got.path.as_str(), &got.body[..]), (path, &sent[..]));
    }
    for got in house.metrics.got() {
        assert_eq!(got.path, "/v1/metrics");
        assert_eq!(got.body, points);
    }
    assert!(house.spans.got().is_empty());

    let page = house.page().await;
    for series in [
        r#"otelcol_receiver_accepted_log_records_total{receiver="otlp",transport="http"} 2"#,
        r#"otelcol_receiver_accepted_log_records_total{receiver="otlp",transport="grpc"} 2"#,
        r#"otelcol_receiver_accepted_metric_points_total{receiver="otlp",transport="grpc"} 5"#,
        r#"otelcol_receiver_accepted_spans_total{receiver="otlp",transport="http"} 0"#,
    ] {
        assert!(page.contains(series), "{series}\n{page}");
    }
    let ended = house.collector.stop();
    let said = collector::show(&ended.log);
    assert_eq!(ended.status.code(), Some(0), "{said}");
    for (exporter, count) in [
        ("otlp_grpc", 0),
        ("otlp_grpc/logs", 4),
        ("otlp_http/logs", 4),
        ("otlp_http/metrics", 10),
    ] {
        let books = ended.balance(exporter);
        assert_eq!((books.accepted, books.sent), (count, count), "{exporter}");
        assert!(books.adds_up(), "{exporter}: {books:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn json_means_the_same_and_what_is_malformed_is_said() {
    let house = House::open("256MiB").await;
    let json = serde_json::to_vec(&metrics()).unwrap();
    assert_eq!(
        house.post("/v1/metrics", JSON, &json).await,
        (200, "{}".to_owned())
    );
    let json = br#"{"resourceLogs":[{"scopeLogs":[{"logRecords":[
        {"timeUnixNano":"17","observedTimeUnixNano":"18","severityNumber":9,"severityText":"INFO",
         "body":{"stringValue":"said"},"attributes":[{"key":"k","value":{"stringValue":"v"}}],
         "traceId":"01010101010101010101010101010101","spanId":"0101010101010101","eventName":"an.event"},
        {"traceId":"abc"}]}]}]}"#;
    let (status, answer) = house.post("/v1/logs", JSON, json).await;
    assert_eq!(status, 200);
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["partialSuccess"]["rejectedLogRecords"], "1");
    let words = answer["partialSuccess"]["errorMessage"].as_str().unwrap();
    assert!(words.contains("logRecords[1].traceId"), "{words}");

    house.logs.until("the good one", |got| got.len() == 2).await;
    house
        .metrics
        .until("the points", |got| got.len() == 1)
        .await;
    for body in house.logs.bodies() {
        let passed = ExportLogsServiceRequest::decode(body).unwrap();
        let sent = ExportLogsServiceRequest::decode(&logs(vec![record(1)])[..]);
        assert_eq!(passed, sent.unwrap());
    }
    let passed = ExportMetricsServiceRequest::decode(house.metrics.bodies()[0].clone());
    assert_eq!(passed.unwrap(), metrics());

    // What cannot be taken apart at all is refused for good, with its place.
    let (status, answer) = house
        .post("/v1/logs", PROTOBUF, &[10, 3, 18, 1, 0xff])
        .await;
    assert_eq!(status, 400);
    assert!(answer.contains("resourceLogs[0].scopeLogs[0]"), "{answer}");
    assert_eq!(house.post("/v1/metrics", PROTOBUF, &[10, 3]).await.0, 400);
    assert_eq!(house.post("/v1/logs", JSON, b"[]").await.0, 400);
    let page = house.page().await;
    let failed = r#"otelcol_receiver_failed_log_records_total{receiver="otlp",transport="http"} 1"#;
    assert!(page.contains(failed), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_without_a_pipeline_is_refused_for_good() {
    let backend = Backend::start().await;
    let to = format!("{{endpoint: 'http://{}'}}", backend.address());
    let collector = Collector::start(&collector::config(&[("otlp_grpc", to)]));
    let (front, gate) = (collector.address("http"), collector.address("grpc"));
    for path in ["/v1/logs", "/v1/metrics", "/v1development/profiles"] {
        let (status, answer) = http::post(front, path, JSON, b"{}").await;
        assert_eq!(status, 404, "{path}");
        assert!(answer.contains("no pipeline here takes"), "{answer}");
        assert!(answer.contains("/v1/traces"), "{answer}");
    }
    for method in [LOGS, METRICS] {
        assert_eq!(grpc::call(gate, method, b"", false).await.0, 12, "{method}");
    }
}

/// Backends of logs that take nothing: logs are refused retryably, spans and metrics pass.
#[tokio::test(flavor = "multi_thread")]
async fn dead_backends_of_logs_stop_logs_alone() {
    let house = House::open("2KiB").await;
    house.logs.answer(|_| Reply::Refuse(14, 503));
    let body = logs((1..20).map(record).collect());
    let mut refused = false;
    for _ in 0..50 {
        let (status, _) = house.post("/v1/logs", PROTOBUF, &body).await;
        if status == 503 {
            refused = true;
            break;
        }
        assert_eq!(status, 200);
    }
    assert!(refused, "the queues hold two KiB each");
    let gate = house.collector.address("grpc");
    assert_eq!(grpc::call(gate, LOGS, &body, false).await.0, 14);
    let points = metrics().encode_to_vec();
    assert_eq!(house.post("/v1/metrics", PROTOBUF, &points).await.0, 200);
    assert_eq!(house.post("/v1/traces", PROTOBUF, &[]).await.0, 200);
    let page = house.page().await;
    let series =
        r#"otelcol_receiver_refused_log_records_total{receiver="otlp",transport="grpc"} 19"#;
    assert!(page.contains(series), "{page}");
    // Nothing that was accepted is lost once the backends are back.
    house.logs.answer(|_| Reply::Accept);
    let ended = house.collector.stop();
    for exporter in ["otlp_grpc/logs", "otlp_http/logs"] {
        let books = ended.balance(exporter);
        assert!(
            books.accepted > 0 && books.accepted == books.sent,
            "{books:?}"
        );
    }
}
