//! The real binary between the real SDK and a backend that keeps every byte.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![expect(
    clippy::disallowed_methods,
    reason = "a test opens sockets and starts processes itself"
)]

mod support;

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::ResourceSpans;
use prost::Message as _;

use support::backend::{Backend, Reply};
use support::collector::{self, Collector};
use support::http;
use support::senders::{self, How};
use support::wire;

fn grpc(backend: &Backend) -> (&'static str, String) {
    let endpoint = backend.address();
    (
        "otlp_grpc",
        format!(
            "{{endpoint: 'http://{endpoint}', retry_on_failure: {{initial_interval: 50ms, max_interval: 200ms}}}}"
        ),
    )
}

fn over_http(backend: &Backend) -> (&'static str, String) {
    let endpoint = backend.address();
    (
        "otlp_http",
        format!(
            "{{endpoint: 'http://{endpoint}', retry_on_failure: {{initial_interval: 50ms, max_interval: 200ms}}}}"
        ),
    )
}

fn port(how: How) -> &'static str {
    if how == How::Grpc { "grpc" } else { "http" }
}

/// What the SDK's exporter sends for `spans`, as a backend without us in between gets it.
async fn without_us(how: How, spans: Vec<opentelemetry_sdk::trace::SpanData>) -> Vec<bytes::Bytes> {
    let backend = Backend::start().await;
    senders::send(how, backend.address(), spans).await.unwrap();
    backend.bodies()
}

/// Sends clean and stuck runs by `how`, to a gRPC and an HTTP backend at once.
async fn passes_everything(how: How) {
    let (one, two) = (Backend::start().await, Backend::start().await);
    let collector = Collector::start(&collector::config(&[grpc(&one), over_http(&two)]));
    let runs = [senders::healthy(6), senders::stuck(5), senders::healthy(3)];
    // JSON becomes protobuf on its way: compared with what the SDK writes in protobuf.
    let reference = if how == How::HttpJson {
        How::HttpProtobuf
    } else {
        how
    };
    let mut sent = Vec::new();
    for run in runs {
        sent.extend(without_us(reference, run.clone()).await);
        let address = collector.address(port(how));
        senders::send(how, address, run).await.unwrap();
    }
    let spans = wire::all_spans(&sent);
    one.until_spans(spans.len()).await;
    two.until_spans(spans.len()).await;
    let ended = collector.stop();

    for backend in [&one, &two] {
        let out = wire::all_spans(&backend.bodies());
        let marked = if how == How::HttpJson {
            wire::assert_all_passed(&spans, &out, wire::difference_in_meaning)
        } else {
            // The clean run of the first request leaves as the very bytes it came in.
            let clean = backend.bodies().contains(&sent[0]);
            assert!(clean, "a clean body was changed");
            wire::assert_all_passed(&spans, &out, wire::difference)
        };
        assert!(marked > 0, "the stuck run was not marked");
    }
    assert_eq!(
        ended.status.code(),
        Some(0),
        "{}",
        collector::show(&ended.log)
    );
    for exporter in ["otlp_grpc", "otlp_http"] {
        let balance = ended.balance(exporter);
        assert!(balance.adds_up(), "{exporter}: {balance:?}");
        assert_eq!(
            balance.accepted,
            spans.len() as u64,
            "{exporter}: {balance:?}"
        );
        assert_eq!(balance.dropped, 0, "{exporter}: {balance:?}");
    }
    assert!(one.got().iter().all(support::backend::Got::is_grpc));
    assert!(two.got().iter().all(|got| got.path == "/v1/traces"));
}

#[tokio::test(flavor = "multi_thread")]
async fn grpc_passes_byte_for_byte() {
    passes_everything(How::Grpc).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn http_protobuf_passes_byte_for_byte() {
    passes_everything(How::HttpProtobuf).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn http_json_passes_byte_for_byte() {
    passes_everything(How::HttpJson).await;
}

/// A backend that refuses for a while loses nothing, and the log speaks of it once per change.
#[tokio::test(flavor = "multi_thread")]
async fn an_unwell_backend_loses_nothing() {
    let backend = Backend::scripted(|_| Reply::Refuse(14, 503)).await;
    let mut collector = Collector::start(&collector::config(&[grpc(&backend)]));
    let run = senders::healthy(4);
    let spans = run.len();
    senders::send(How::Grpc, collector.address("grpc"), run)
        .await
        .unwrap();
    backend.until("three tries", |got| got.len() >= 3).await;
    backend.answer(|_| Reply::Accept);
    backend.until_spans(spans).await;
    let ended = {
        collector.wait_for("ready");
        collector.stop()
    };
    assert_eq!(ended.balance("otlp_grpc").sent, spans as u64);
    let complaints: Vec<_> = ended
        .log
        .iter()
        .filter(|line| line["level"] == "WARN" && line["exporter"] == "otlp_grpc")
        .collect();
    assert_eq!(complaints.len(), 1, "{}", collector::show(&ended.log));
    let endpoint = complaints[0]["endpoint"].as_str().unwrap();
    assert!(endpoint.starts_with("http://127.0.0.1:"), "{endpoint}");
}

/// A backend that is not there at all, and then is.
#[tokio::test(flavor = "multi_thread")]
async fn a_dead_backend_loses_nothing() {
    let backend = Backend::start().await;
    let exporter = grpc(&backend);
    let address = backend.stop().await;
    let collector = Collector::start(&collector::config(&[exporter]));
    let run = senders::healthy(4);
    let spans = run.len();
    senders::send(How::Grpc, collector.address("grpc"), run)
        .await
        .unwrap();
    let backend = Backend::start_at(address).await;
    backend.until_spans(spans).await;
    let ended = collector.stop();
    let balance = ended.balance("otlp_grpc");
    assert!(
        balance.adds_up() && balance.sent == spans as u64,
        "{balance:?}"
    );
}

/// One dead exporter keeps nothing from the other.
#[tokio::test(flavor = "multi_thread")]
async fn a_dead_exporter_does_not_block_another() {
    let dead = Backend::scripted(|_| Reply::Hang).await;
    let alive = Backend::start().await;
    let config = collector::config(&[grpc(&dead), over_http(&alive)])
        .replace("service:\n", "service:\n  shutdown: {timeout: 2s}\n");
    let collector = Collector::start(&config);
    let run = senders::healthy(4);
    let spans = run.len();
    senders::send(How::HttpProtobuf, collector.address("http"), run)
        .await
        .unwrap();
    alive.until_spans(spans).await;
    let ended = collector.stop();
    let (dead, alive) = (ended.balance("otlp_grpc"), ended.balance("otlp_http"));
    assert!(alive.adds_up() && alive.sent == spans as u64, "{alive:?}");
    assert!(dead.adds_up() && dead.dropped == spans as u64, "{dead:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn health_and_metrics_tell_what_happens() {
    let backend = Backend::start().await;
    let collector = Collector::start(&collector::config(&[grpc(&backend)]));
    let (status, body) = http::get(collector.address("health_check"), "/").await;
    assert_eq!(status, 200, "{body}");
    assert!(body.contains("Server available"), "{body}");
    let run = senders::stuck(5);
    let spans = run.len();
    senders::send(How::Grpc, collector.address("grpc"), run)
        .await
        .unwrap();
    backend.until_spans(spans).await;
    let (status, page) = http::get(collector.address("metrics"), "/metrics").await;
    assert_eq!(status, 200);
    let accepted = r#"otelcol_receiver_accepted_spans_total{receiver="otlp",transport="grpc"}"#;
    assert!(page.contains(&format!("{accepted} {spans}\n")), "{page}");
    assert!(page.contains(r#"detector="stuck""#), "{page}");
    assert!(page.ends_with("# EOF\n"), "{page}");
}

/// Bad input is answered with what is wrong with it, and nothing of it goes on.
#[tokio::test(flavor = "multi_thread")]
async fn bad_bodies_are_refused_with_a_reason() {
    let backend = Backend::start().await;
    let collector = Collector::start(&collector::config(&[grpc(&backend)]));
    let address = collector.address("http");
    let (status, body) =
        http::post(address, "/v1/traces", "application/x-protobuf", b"\xff\xff").await;
    assert_eq!(status, 400, "{body}");
    let json = br#"{"resourceSpans": [{"scopeSpans": 7}]}"#;
    let (status, body) = http::post(address, "/v1/traces", "application/json", json).await;
    assert_eq!(status, 400, "{body}");
    assert!(body.contains("scopeSpans"), "{body}");
    let ended = collector.stop();
    assert_eq!(ended.balance("otlp_grpc").accepted, 0);
    assert!(backend.got().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_in_use_is_named() {
    let backend = Backend::start().await;
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = taken.local_addr().unwrap().port();
    let config = collector::config(&[grpc(&backend)]).replace(
        "grpc: {endpoint: '127.0.0.1:0'}",
        &format!("grpc: {{endpoint: '127.0.0.1:{port}'}}"),
    );
    let ended = Collector::spawn(&config, &[]).wait();
    assert_eq!(
        ended.status.code(),
        Some(75),
        "{}",
        collector::show(&ended.log)
    );
    let log = collector::show(&ended.log);
    assert!(log.contains(&port.to_string()), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_lines_tell_all() {
    let backend = Backend::start().await;
    let mut collector = Collector::start(&collector::config(&[grpc(&backend)]));
    collector.wait_for("ready");
    let ended = collector.stop();
    let ready = ended.log.iter().position(|line| {
        line["message"]
            .as_str()
            .is_some_and(|text| text.starts_with("ready"))
    });
    assert!(
        ready.is_some_and(|ready| ready < 10),
        "{}",
        collector::show(&ended.log)
    );
    let log = collector::show(&ended.log);
    for part in [
        "agent-sentinel",
        "config.yaml",
        "otlp -> anomaly -> otlp_grpc",
        "only this host",
        "ready, looking for ",
    ] {
        assert!(log.contains(part), "{part}:\n{log}");
    }
}

/// Told twice, the process does not wait for a backend that hangs.
#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_ends_at_once() {
    let backend = Backend::scripted(|_| Reply::Hang).await;
    let mut collector = Collector::start(&collector::config(&[grpc(&backend)]));
    let run = senders::healthy(2);
    let spans = run.len() as u64;
    senders::send(How::Grpc, collector.address("grpc"), run)
        .await
        .unwrap();
    backend.until("the request", |got| !got.is_empty()).await;
    collector.terminate();
    collector.wait_for("the engine has released");
    let ended = collector.stop();
    assert_eq!(ended.status.code(), Some(1));
    let balance = ended.balance("otlp_grpc");
    assert_eq!((balance.accepted, balance.sent), (spans, 0));
}

/// What turns out guilty after its span has left reaches the backend as a span of our own, under the same
/// resource and in the same trace; the books know it as synthetic. Sent to us again it passes as it is.
#[tokio::test(flavor = "multi_thread")]
async fn a_late_finding_arrives_as_a_span_of_our_own() {
    let backend = Backend::start().await;
    let collector = Collector::start(&collector::config(&[grpc(&backend)]));
    let mut run = senders::stuck(4);
    run.truncate(4);
    let late = [run.remove(1), run.remove(1)];
    let address = collector.address("grpc");
    senders::send(How::Grpc, address, run).await.unwrap();
    backend.until_spans(2).await;
    senders::send(How::Grpc, address, late.to_vec())
        .await
        .unwrap();
    backend.until_spans(5).await;
    let bodies = backend.bodies();
    let made = bodies.iter().find(|body| {
        let spans = wire::spans(body);
        let keys = spans.iter().flat_map(|span| wire::attribute_keys(span));
        keys.into_iter().any(|key| key == "sentinel.synthetic")
    });
    let made = made.expect("a synthetic span").clone();
    let request = ExportTraceServiceRequest::decode(made.clone()).unwrap();
    let sent = ExportTraceServiceRequest::decode(bodies[0].clone()).unwrap();
    let (made_in, sent_in) = (&request.resource_spans[0], &sent.resource_spans[0]);
    assert_eq!(made_in.resource, sent_in.resource);
    let span = &made_in.scope_spans[0].spans[0];
    let accused = &sent_in.scope_spans[0].spans[1];
    assert_eq!(span.name, "anomaly stuck");
    assert_eq!(span.trace_id, accused.trace_id);
    assert_eq!(span.parent_span_id, accused.span_id);
    assert!(
        span.status.is_none(),
        "an error of ours would count in theirs"
    );

    let kind = "application/x-protobuf";
    let http = collector.address("http");
    let (status, _) = http::post(http, "/v1/traces", kind, &made).await;
    assert_eq!(status, 200);
    backend.until_spans(6).await;
    assert_eq!(backend.bodies().last(), Some(&made));
    let ended = collector.stop();
    let balance = ended.balance("otlp_grpc");
    assert!(balance.adds_up(), "{balance:?}");
    let books = (balance.accepted, balance.synthetic, balance.sent);
    assert_eq!(books, (5, 1, 6), "{balance:?}");
    // The log has it in one line, with what finds it again.
    let log = ended.log.iter();
    let told: Vec<_> = log.filter(|line| line["type"] == "stuck").collect();
    let log = collector::show(&ended.log);
    assert_eq!(told.len(), 1, "{log}");
    assert_eq!(told[0]["level"], "WARN", "{log}");
    let trace: String = accused
        .trace_id
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    assert_eq!(told[0]["trace_id"], *trace, "{log}");
    let message = told[0]["message"].as_str().unwrap();
    assert!(message.starts_with("finding: `"), "{log}");
}

/// All that `backend` got came to `path` and is a record about the second span of `sent`.
fn assert_records_about(backend: &Backend, path: &str, sent: &ResourceSpans) {
    let accused = &sent.scope_spans[0].spans[1];
    for got in backend.got() {
        assert_eq!(got.path, path);
        let request = ExportLogsServiceRequest::decode(got.body.clone()).unwrap();
        let logs = &request.resource_logs[0];
        assert_eq!(logs.resource, sent.resource);
        let record = &logs.scope_logs[0].log_records[0];
        assert_eq!(record.event_name, "sentinel.anomaly");
        assert_eq!(record.trace_id, accused.trace_id);
        assert_eq!(record.span_id, accused.span_id);
    }
}

/// With a pipeline of logs a late finding is a log record, to a gRPC and an HTTP backend; neither an unwell
/// backend nor one that rejects unsettles the books.
#[tokio::test(flavor = "multi_thread")]
async fn a_late_finding_arrives_as_a_log_record() {
    let spans_to = Backend::start().await;
    let (one, two) = (Backend::start().await, Backend::start().await);
    let mut tries = 0;
    one.answer(move |_| {
        tries += 1;
        if tries == 1 {
            Reply::Refuse(14, 503)
        } else {
            Reply::Accept
        }
    });
    two.answer(|_| Reply::Reject(1));
    let exporters = [grpc(&spans_to), over_http(&two)];
    let third = format!("exporters:\n  otlp_grpc/logs: {}\n", grpc(&one).1);
    let config = collector::config(&exporters)
        .replacen("exporters:\n", &third, 1)
        .replace(
            "exporters: [otlp_grpc, otlp_http]}",
            "exporters: [otlp_grpc]}\n    logs: {receivers: [anomaly], exporters: [otlp_grpc/logs, otlp_http]}",
        );
    let collector = Collector::start(&config);
    let (_, page) = http::get(collector.address("metrics"), "/metrics").await;
    for series in [
        r#"otelcol_exporter_sent_log_records_total{exporter="otlp_grpc/logs",data_type="logs"} 0"#,
        r#"otelcol_exporter_queue_size{exporter="otlp_http",data_type="logs"} 0"#,
        r#"sentinel_log_records_dropped_total{exporter="otlp_http",reason="rejected"} 0"#,
        "sentinel_log_records_total 0",
    ] {
        assert!(page.contains(series), "{series}\n{page}");
    }
    let mut run = senders::stuck(4);
    // The fourth call arrives with the first alone: nothing speaks against it then.
    run.truncate(4);
    let late = [run.remove(1), run.remove(1)];
    let address = collector.address("grpc");
    senders::send(How::Grpc, address, run).await.unwrap();
    spans_to.until_spans(2).await;
    senders::send(How::Grpc, address, late.to_vec())
        .await
        .unwrap();
    spans_to.until_spans(4).await;
    one.until("the record twice", |got| got.len() >= 2).await;
    two.until("the record", |got| !got.is_empty()).await;

    let sent = ExportTraceServiceRequest::decode(spans_to.bodies()[0].clone()).unwrap();
    let sent = &sent.resource_spans[0];
    let grpc_path = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";
    assert_records_about(&one, grpc_path, sent);
    assert_records_about(&two, "/v1/logs", sent);
    let ended = collector.stop();
    assert_eq!(
        ended.status.code(),
        Some(0),
        "{}",
        collector::show(&ended.log)
    );
    let books = |exporter| {
        let balance = ended.balance(exporter);
        assert!(balance.adds_up(), "{exporter}: {balance:?}");
        (
            balance.accepted,
            balance.synthetic,
            balance.sent,
            balance.dropped,
        )
    };
    assert_eq!(books("otlp_grpc"), (4, 0, 4, 0));
    assert_eq!(books("otlp_grpc/logs"), (0, 1, 1, 0));
    assert_eq!(books("otlp_http"), (0, 1, 0, 1));
}

/// Own metrics go where they are asked to go, by gRPC and by HTTP.
#[tokio::test(flavor = "multi_thread")]
async fn own_metrics_are_pushed() {
    let backend = Backend::start().await;
    let (address, exporter) = (backend.address(), grpc(&backend));
    let readers = format!(
        "metrics: {{readers: [
          {{periodic: {{interval: 100ms, exporter: {{otlp: {{endpoint: 'http://{address}'}}}}}}}},
          {{periodic: {{interval: 100ms, exporter: {{otlp: {{protocol: http/protobuf, endpoint: 'http://{address}/v1/metrics'}}}}}}}}]}}"
    );
    let config =
        collector::config(&[exporter]).replace("metrics: {address: '127.0.0.1:0'}", &readers);
    let collector = Collector::start(&config);
    let service = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";
    for path in [service, "/v1/metrics"] {
        let name = b"otelcol_receiver_accepted_spans";
        backend
            .until(path, |got| {
                got.iter().any(|got| {
                    got.path == path && got.body.windows(name.len()).any(|part| part == name)
                })
            })
            .await;
    }
    assert_eq!(collector.stop().status.code(), Some(0));
}
