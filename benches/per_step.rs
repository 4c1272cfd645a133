//! What one step costs from its bytes to its verdict, all detectors on: read, taken in, judged, released.
//!
//! `cargo bench --bench per_step -- --quick`; the figure is the time of 512 steps, or its elements a second. The
//! source systems take, in Python, CPU time a call: Promptise 17 us, agentbudget 3.7 us (58 us canonical with
//! results of 35 characters, 1.7 ms with 2 kB), the sentinel 31 us, gptme 5 us (15 a fetch, 80 a write).
#![expect(clippy::unwrap_used, reason = "a bench may stop at the first surprise")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use agent_sentinel::config::{self, Purpose, Settings, Source};
use agent_sentinel::engine::{Engine, Output};
use agent_sentinel::model::Timestamp;
use agent_sentinel::otlp;
use agent_sentinel::steps::Reader;
use bytes::Bytes;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use serde_json::{Value, json};

/// Calls of the run, and calls in one request.
const CALLS: usize = 512;
const REQUEST: usize = 64;
const SECOND: usize = 1_000_000_000;

const CONFIG: &str = "
receivers: {otlp: {}}
exporters: {debug: {}}
processors:
  anomaly:
    workspace: {root: /srv/agent}
    detectors:
      goal_drift: {enabled: true}
      novel_host: {enabled: true, known_hosts: [example.com]}
      budget_steps: {max: 100000}
      budget_cost: {max_usd: 1000}
      budget_time: {max: 10h}
service: {pipelines: {traces: {receivers: [otlp], processors: [anomaly], exporters: [debug]}}}
";

fn settings() -> Settings {
    let source = Source::file("bench", CONFIG);
    let loaded = config::load_for(Purpose::Replay, &[source], &[], &|_| None, Timestamp::ZERO);
    loaded
        .unwrap_or_else(|report| panic!("{}", report.render(false)))
        .0
}

fn attribute(key: &str, value: String) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

/// A run of calls, so many in a request: `call` gives arguments and result of each.
fn run(request: usize, call: impl Fn(usize) -> (Value, String)) -> Vec<Bytes> {
    let span = |at: usize| {
        let (arguments, result) = call(at);
        let end = 1_790_000_000 * SECOND + (at + 1) * SECOND;
        json!({
            "traceId": "0102030405060708090a0b0c0d0e0f10",
            "spanId": format!("{:016x}", at + 1),
            "parentSpanId": "ff02030405060709",
            "name": "execute_tool bash",
            "startTimeUnixNano": (end - SECOND / 2).to_string(),
            "endTimeUnixNano": end.to_string(),
            "attributes": [
                attribute("gen_ai.operation.name", "execute_tool".to_owned()),
                attribute("gen_ai.agent.name", "coder".to_owned()),
                attribute("gen_ai.tool.name", "bash".to_owned()),
                attribute("gen_ai.tool.call.id", format!("call_{at}")),
                attribute("gen_ai.tool.call.arguments", arguments.to_string()),
                attribute("gen_ai.tool.call.result", result.clone()),
            ],
            // Status 2 is an error.
            "status": { "code": if result.starts_with("Traceback") { 2 } else { 0 } },
        })
    };
    (0..CALLS)
        .step_by(request)
        .map(|from| {
            let spans: Vec<Value> = (from..from + request).map(span).collect();
            let request = json!({ "resourceSpans": [{
                "resource": { "attributes": [attribute("service.name", "bench".to_owned())] },
                "scopeSpans": [{ "scope": { "name": "bench" }, "spans": spans }],
            }]});
            otlp::transcode(request.to_string().as_bytes()).unwrap()
        })
        .collect()
}

fn judge(settings: &Settings, reader: &mut Reader, bodies: &[Bytes]) -> usize {
    let mut engine = Engine::new(settings.engine.clone());
    let mut out = Output::default();
    let mut now = Timestamp::ZERO;
    for body in bodies {
        let reading = reader.read(body.clone()).unwrap();
        let end = reading.steps.iter().map(|step| step.end).max();
        now = end.unwrap_or(now).plus(Duration::from_millis(1));
        engine.arrive(reading, now, &mut out);
        out.releases.clear();
    }
    engine.drain(now, &mut out);
    out.reports.len()
}

fn steps(criterion: &mut Criterion) {
    let settings = settings();
    let line = "src/module/file.py:120: def compute(self, value): return value + 1\n";
    let command = |at: usize| json!({ "command": format!("grep -rn compute_{at} src/module") });
    let none = |_: usize| "no matches in any of these 40 files".to_owned();
    let some = |at: usize| format!("{at:>5} matches in 12 files of 40");
    let many = |at: usize| format!("{at}\n{}", line.repeat(30));
    let red = |_: usize| "Traceback (most recent call last): ValueError: no such column".to_owned();
    // From the third call on an episode is open: what repeats costs the whole run through.
    let runs = [
        (
            "new_calls_35_chars",
            run(REQUEST, |at| (command(at), some(at))),
        ),
        ("new_calls_2kb", run(REQUEST, |at| (command(at), many(at)))),
        (
            "new_calls_in_one_request",
            run(CALLS, |at| (command(at), some(at))),
        ),
        (
            "one_call_35_chars",
            run(REQUEST, |at| (command(0), none(at))),
        ),
        (
            "one_call_2kb",
            run(REQUEST, |_| (command(0), line.repeat(30))),
        ),
        (
            "one_call_in_one_request",
            run(CALLS, |at| (command(0), none(at))),
        ),
        (
            "two_calls_in_turn",
            run(REQUEST, |at| (command(at % 2), none(at))),
        ),
        (
            "cycle_of_five",
            run(REQUEST, |at| (command(at % 5), none(at))),
        ),
        (
            "near_equal_calls",
            run(REQUEST, |at| (command(at), none(at))),
        ),
        ("one_failing_call", run(REQUEST, |at| (command(0), red(at)))),
        (
            "near_equal_failing_calls",
            run(REQUEST, |at| (command(at), red(at))),
        ),
    ];
    let mut group = criterion.benchmark_group("per_step");
    group.throughput(Throughput::Elements(CALLS as u64));
    for (name, bodies) in &runs {
        group.bench_function(*name, |bencher| {
            bencher.iter_batched_ref(
                || Reader::new(Arc::new(settings.steps.clone())),
                |reader| judge(&settings, reader, black_box(bodies)),
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, steps);
criterion_main!(benches);
