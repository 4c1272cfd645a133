//! tmp
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods
)]
use agent_sentinel::config::{self, Purpose, Settings, Source};
use agent_sentinel::engine::{Engine, Output};
use agent_sentinel::model::Timestamp;
use agent_sentinel::steps::Reader;
use bytes::Bytes;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;
const CONFIG: &str = "
receivers: {otlp: {}}
exporters: {debug: {}}
processors: {anomaly: {}}
service: {pipelines: {traces: {receivers: [otlp], processors: [anomaly], exporters: [debug]}}}
";
fn settings() -> Settings {
    let source = Source::file("bench", CONFIG);
    let loaded = config::load_for(Purpose::Run, &[source], &[], &|_| None, Timestamp::ZERO);
    loaded
        .unwrap_or_else(|report| panic!("{}", report.render(false)))
        .0
}
fn main() {
    let args: Vec<String> = std::env::args().filter(|a| a != "--bench").collect();
    let all = Bytes::from(std::fs::read(&args[1]).unwrap());
    let rounds: usize = args.get(2).map_or(3, |r| r.parse().unwrap());
    let part = args.get(3).map_or("all", |s| s.as_str());
    let limit: usize = args.get(4).map_or(usize::MAX, |r| r.parse().unwrap());
    let mut bodies = Vec::new();
    let mut at = 0;
    while at < all.len() && bodies.len() < limit {
        let n = u32::from_be_bytes(all[at..at + 4].try_into().unwrap()) as usize;
        bodies.push(all.slice(at + 4..at + 4 + n));
        at += 4 + n;
    }
    let settings = settings();
    for _ in 0..rounds {
        let mut reader = Reader::new(Arc::new(settings.steps.clone()));
        let mut engine = Engine::new(settings.engine.clone());
        let mut out = Output::default();
        let mut spans = 0u64;
        let mut read = Duration::ZERO;
        let mut judge = Duration::ZERO;
        let mut pack = Duration::ZERO;
        let mut reports = 0;
        let mut bytes = 0;
        let mut now = Timestamp::from_nanos(1_790_000_000_000_000_000);
        for body in &bodies {
            now = now.plus(Duration::from_millis(4));
            let t = Instant::now();
            let reading = reader.read(body.clone()).unwrap();
            read += t.elapsed();
            spans += u64::from(reading.spans);
            if part == "read" {
                black_box(&reading);
                continue;
            }
            let t = Instant::now();
            engine.arrive(reading, now, &mut out);
            if engine.next_due().is_some_and(|d| d <= now) {
                engine.advance(now, &mut out);
            }
            judge += t.elapsed();
            let t = Instant::now();
            for r in out.releases.drain(..) {
                let b = black_box(agent_sentinel::otlp::pack(&r));
                bytes += b.len();
            }
            reports += out.reports.len();
            out.reports.clear();
            out.cuts.clear();
            out.records.clear();
            out.quiet.clear();
            out.closed.clear();
            out.notices.clear();
            pack += t.elapsed();
        }
        println!("{:?}", engine.ask(&agent_sentinel::engine::Query::Status));
        let n = |d: Duration| d.as_nanos() as u64 / spans;
        println!(
            "spans {spans} read {} judge {} pack {} ns/span, reports {reports} bytes {bytes}",
            n(read),
            n(judge),
            n(pack)
        );
    }
}
