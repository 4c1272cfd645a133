//! What people load into other products (rules, dashboards, monitors) and the side branch that only looks: held against
//! the real binary. Syntax is checked by those products' own tools, in `tests/interop/alerts`.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "reads what is shipped")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message as _;
use serde_json::Value;

use support::backend::Backend;
use support::collector::{self, Collector};
use support::http;
use support::senders::{self, How};

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Files that name our metrics. Abbreviations (`_refused_`) are for docs/operations.md alone.
const NAMING_METRICS: &[&str] = &[
    "alerts/prometheus-rules.yaml",
    "alerts/prometheus-rules.test.yaml",
    "alerts/datadog-monitors.json",
    "dashboards/grafana.json",
    "docs/alerts.md",
    "docs/privacy.md",
    "docs/sizing.md",
    "docs/topologies.md",
    "docs/why-silent.md",
    "docs/upgrading.md",
    "collector-config/presets/coding.yaml",
    "collector-config/presets/infrastructure.yaml",
    "collector-config/shadow.yaml",
];

/// Files that name attributes and records of ours.
const NAMING_ATTRIBUTES: &[&str] = &[
    "alerts/datadog-monitors.json",
    "dashboards/grafana.json",
    "dashboards/jaeger-ui.json",
    "docs/alerts.md",
    "docs/privacy.md",
    "docs/topologies.md",
    "docs/why-silent.md",
    "collector-config/topologies/otelcol-in-front-of.yaml",
];

/// The words of a text that are made of these characters.
fn words(text: &str, more: char) -> impl Iterator<Item = &str> {
    text.split(move |c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == more))
}

/// Names on a page as they stand in samples, with the labels of each.
fn served(page: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in page.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            let endings: &[&str] = match kind {
                "counter" => &["_total"],
                "histogram" => &["_bucket", "_sum", "_count"],
                _ => &[""],
            };
            for ending in endings {
                all.entry(format!("{name}{ending}")).or_default();
            }
        } else if let Some((name, rest)) = line.split_once('{') {
            let labels = rest.split_once('}').unwrap().0;
            let keys = labels.split(',').filter_map(|label| label.split_once('='));
            let known = all.entry(name.to_owned()).or_default();
            known.extend(keys.map(|(key, _)| key.to_owned()));
        }
    }
    all
}

/// The page of a process that takes every signal, to which a run was sent.
async fn page() -> String {
    let backend = Backend::start().await;
    let endpoint = format!("{{endpoint: 'http://{}'}}", backend.address());
    let config = collector::config(&[("otlp_grpc", endpoint)]);
    let mut collector = Collector::spawn(
        &config,
        &[
            "--set",
            "service.pipelines.logs={receivers: [otlp, anomaly], exporters: [otlp_grpc]}",
            "--set",
            "service.pipelines.metrics={receivers: [otlp], exporters: [otlp_grpc]}",
        ],
    );
    collector.wait_for("ready");
    let spans = senders::stuck(4);
    let count = spans.len();
    senders::send(How::Grpc, collector.address("grpc"), spans)
        .await
        .unwrap();
    backend.until_spans(count).await;
    http::get(collector.address("metrics"), "/metrics").await.1
}

/// Dashboards and alerts ask for what is served, by names and labels that are there.
#[tokio::test(flavor = "multi_thread")]
async fn every_metric_that_is_named_is_served() {
    let page = page().await;
    let served = served(&page);
    let mut seen = BTreeSet::new();
    for file in NAMING_METRICS {
        let text = read(file);
        for word in words(&text, '_') {
            // An attribute as Loki spells it.
            let attribute = word.starts_with("sentinel_anomaly_");
            if attribute || !(word.starts_with("sentinel_") || word.starts_with("otelcol_")) {
                continue;
            }
            // Datadog's own reader of such pages says `.count` where Prometheus has `_total`.
            let counted = format!("{word}_total");
            // `sentinel_(this|that)` in a search: some name goes on like that.
            let begins = word.ends_with('_') && served.keys().any(|name| name.starts_with(word));
            let there = served.contains_key(word)
                || begins
                || (file.contains("datadog") && served.contains_key(&counted));
            assert!(there, "{file}: {word} is not served");
            seen.insert(word.to_owned());
        }
    }
    assert!(seen.len() > 30, "{seen:?}");
    // Labels: those of the series that the rules' tests play, beside what Prometheus adds.
    let mut played = 0;
    for line in read("alerts/prometheus-rules.test.yaml").lines() {
        let Some((_, series)) = line.split_once("{series: '") else {
            continue;
        };
        let series = series.split_once('\'').unwrap().0;
        let (name, labels) = series.split_once('{').unwrap();
        let Some(known) = served.get(name) else {
            assert_eq!(name, "up", "{series}");
            continue;
        };
        // What is missing, or counts by service, has no series while nothing is, or no run was closed.
        let absent = [
            "sentinel_content_missing",
            "sentinel_budgets_near_total",
            "sentinel_runs_closed_total",
            "sentinel_runs_not_assessed_total",
        ];
        for label in labels.trim_end_matches('}').split(',') {
            let key = label.split_once('=').unwrap().0;
            let there = known.contains(key) || key == "instance" || absent.contains(&name);
            assert!(there, "{series}: {name} has no label {key}, but {known:?}");
        }
        played += 1;
    }
    assert!(played > 30, "{played}");
}

/// Each alert has a severity that the documentation names, a test in which it fires, and leads to pages that exist.
#[test]
fn every_alert_is_tested_and_documented() {
    let rules = read("alerts/prometheus-rules.yaml");
    let tests = read("alerts/prometheus-rules.test.yaml");
    let page = read("docs/alerts.md");
    let mut alerts = 0;
    for rule in rules.split("- alert: ").skip(1) {
        let name = rule.lines().next().unwrap();
        alerts += 1;
        let fires = tests.split("- alertname: ").skip(1).any(|test| {
            let fires = test
                .split("promql_expr_test")
                .next()
                .unwrap()
                .contains("exp_alerts");
            test.lines().next() == Some(name) && fires
        });
        assert!(fires, "{name}: no test in which it fires");
        let severity = ["page", "ticket"]
            .into_iter()
            .find(|severity| rule.contains(&format!("severity: {severity}}}")));
        let severity = severity.unwrap_or_else(|| panic!("{name}: no severity"));
        let row = format!("| `{name}` | {severity} |");
        assert!(page.contains(&row), "docs/alerts.md lacks {row}");
    }
    assert!(alerts > 15, "{alerts}");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for text in [rules, read("alerts/datadog-monitors.json")] {
        let paths = text.split("docs/").skip(1).map(|rest| {
            let end = rest.find(".md").unwrap();
            format!("docs/{}.md", rest.get(..end).unwrap())
        });
        for path in paths {
            let filled = path
                .replace("{{ $labels.detector }}", "stuck")
                .replace("<sentinel.anomaly.type>", "stuck");
            assert!(root.join(&filled).exists(), "{path}");
        }
    }
}

/// What is searched for is what is written.
#[test]
fn every_attribute_that_is_named_is_written() {
    let mut written = read("src/model/release.rs");
    for file in ["mark", "event", "summary", "synthetic"] {
        written.push_str(&read(&format!("src/annotations/{file}.rs")));
    }
    let types: BTreeSet<String> = agent_sentinel::model::AnomalyType::ALL
        .iter()
        .map(|anomaly| format!("sentinel.anomaly.{anomaly}"))
        .collect();
    let mut seen = 0;
    for file in NAMING_ATTRIBUTES {
        let text = read(file);
        for word in words(&text, '.') {
            let word = word.trim_end_matches('.');
            // `span.` and `event.` are TraceQL's.
            let word = word
                .trim_start_matches("span.")
                .trim_start_matches("event.");
            if !word.starts_with("sentinel.") || word.ends_with(".yaml") {
                continue;
            }
            seen += 1;
            // `sentinel.anomaly` is the event, `sentinel` the scope.
            let known = written.contains(&format!("\"{word}\"")) || types.contains(word);
            let namespace = ["sentinel.anomaly", "sentinel.note"].contains(&word);
            assert!(known || namespace, "{file}: {word} is not written");
        }
    }
    assert!(seen > 20, "{seen}");
}

/// The keys that Jaeger's interface reads (jaeger-ui, `types/config.ts`): others are ignored without a word.
#[test]
fn jaegers_configuration_has_keys_that_jaeger_reads() {
    let config: Value = serde_json::from_str(&read("dashboards/jaeger-ui.json")).unwrap();
    let config = config.as_object().unwrap();
    let keys: Vec<&str> = config.keys().map(String::as_str).collect();
    assert_eq!(keys, ["linkPatterns", "topTagPrefixes"]);
    for pattern in config["linkPatterns"].as_array().unwrap() {
        let pattern = pattern.as_object().unwrap();
        for key in pattern.keys() {
            assert!(["type", "key", "url", "text"].contains(&&**key), "{key}");
        }
        let kind = pattern["type"].as_str().unwrap();
        assert_eq!(kind == "tags", pattern.contains_key("key"), "{pattern:?}");
        assert!(["tags", "traces"].contains(&kind), "{kind}");
        // What is filled in is the trace's id or the tag that the link stands on.
        for filled in pattern["url"].as_str().unwrap().split("#{").skip(1) {
            let name = filled.split_once('}').unwrap().0;
            let own = pattern.get("key").and_then(Value::as_str);
            assert!(name == "traceID" || Some(name) == own, "{name}");
        }
    }
}

/// topologies/observe.yaml as it is, on other ports: spans end here, findings go to the collector as log records that
/// stand in the trace of what was accused.
#[tokio::test(flavor = "multi_thread")]
async fn an_observer_gives_findings_back_and_keeps_the_spans() {
    let backend = Backend::start().await;
    let findings = format!(
        "exporters.otlp_grpc/findings.endpoint=http://{}",
        backend.address()
    );
    let text = read("collector-config/topologies/observe.yaml");
    let mut collector = Collector::spawn(
        &text,
        &[
            "--set",
            "receivers.otlp.protocols.grpc.endpoint=127.0.0.1:0",
            "--set",
            "receivers.otlp.protocols.http.endpoint=127.0.0.1:0",
            "--set",
            "extensions.health_check.endpoint=127.0.0.1:0",
            "--set",
            "service.telemetry.metrics.address=127.0.0.1:0",
            "--set",
            "service.telemetry.logs.encoding=json",
            "--set",
            &findings,
        ],
    );
    collector.wait_for("ready");
    let spans = senders::stuck(4);
    let (count, trace) = (spans.len(), spans[0].span_context.trace_id());
    senders::send(How::Grpc, collector.address("grpc"), spans)
        .await
        .unwrap();
    backend.until("a finding", |got| !got.is_empty()).await;
    let ended = collector.stop();
    assert!(ended.status.success());
    let kept = ended.balance("debug");
    assert_eq!((kept.synthetic, kept.sent), (0, count as u64));
    for got in backend.got() {
        assert_eq!(
            got.path,
            "/opentelemetry.proto.collector.logs.v1.LogsService/Export"
        );
        let request = ExportLogsServiceRequest::decode(got.body).unwrap();
        let record = &request.resource_logs[0].scope_logs[0].log_records[0];
        assert_eq!(record.event_name, "sentinel.anomaly");
        assert_eq!(record.trace_id, trace.to_bytes());
    }
}

/// topologies/observe-spans.yaml as it is, on other ports: the copies end here, findings go to the backend as spans of our own
/// in the trace of what was accused.
#[tokio::test(flavor = "multi_thread")]
async fn an_observer_sends_spans_of_its_own_alone() {
    let backend = Backend::start().await;
    let to = format!("exporters.otlp_grpc.endpoint=http://{}", backend.address());
    let text = read("collector-config/topologies/observe-spans.yaml");
    let mut arguments = Vec::new();
    for set in [
        "receivers.otlp.protocols.grpc.endpoint=127.0.0.1:0",
        "receivers.otlp.protocols.http.endpoint=127.0.0.1:0",
        "extensions.health_check.endpoint=127.0.0.1:0",
        "service.telemetry.metrics.address=127.0.0.1:0",
        "service.telemetry.logs.encoding=json",
        &to,
    ] {
        arguments.extend(["--set", set]);
    }
    let mut collector = Collector::spawn(&text, &arguments);
    collector.wait_for("ready");
    let spans = senders::stuck(4);
    let trace = spans[0].span_context.trace_id();
    senders::send(How::Grpc, collector.address("grpc"), spans)
        .await
        .unwrap();
    backend.until("a finding", |got| !got.is_empty()).await;
    let ended = collector.stop();
    assert!(ended.status.success(), "the balance adds up");
    let balance = ended.balance("otlp_grpc");
    assert_eq!((balance.synthetic, balance.sent), (1, 1));
    for got in backend.got() {
        let request = ExportTraceServiceRequest::decode(got.body).unwrap();
        let scope = &request.resource_spans[0].scope_spans[0];
        assert_eq!(scope.scope.as_ref().unwrap().name, "sentinel");
        assert_eq!(scope.spans.len(), 1);
        assert_eq!(scope.spans[0].trace_id, trace.to_bytes());
        assert!(
            scope.spans[0].name.starts_with("anomaly "),
            "{}",
            scope.spans[0].name
        );
    }
}

/// What docs/sizing.md counts on: an open run of 20 calls and an answer keeps some 21 kB.
#[tokio::test(flavor = "multi_thread")]
async fn an_open_run_keeps_what_the_page_on_sizing_says() {
    const RUNS: usize = 50;
    let page = read("docs/sizing.md");
    assert!(
        page.contains("| 20, and an answer | 21.2 |"),
        "docs/sizing.md"
    );
    let collector = Collector::start(&collector::config(&[(
        "debug",
        "{verbosity: basic}".to_owned(),
    )]));
    let mut steps = 0;
    for _ in 0..RUNS {
        let mut spans = senders::healthy(20);
        // Without its root a run goes on.
        spans.pop();
        steps += spans.len();
        senders::send(How::Grpc, collector.address("grpc"), spans)
            .await
            .unwrap();
    }
    let number = |page: &str, name: &str| -> Option<usize> {
        let mut lines = page.lines().filter_map(|line| line.strip_prefix(name));
        lines.next()?.trim().parse().ok()
    };
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    let page = loop {
        let page = http::get(collector.address("metrics"), "/metrics").await.1;
        if number(&page, "sentinel_steps_total ") == Some(steps) {
            break page;
        }
        assert!(std::time::Instant::now() < deadline, "{page}");
    };
    assert_eq!(number(&page, "sentinel_sessions_open "), Some(RUNS));
    let kept = number(&page, "sentinel_state_bytes ").unwrap() / RUNS;
    assert!((15_000..25_000).contains(&kept), "{kept} bytes a run");
}
