//! The whole way without transport: bytes in, read, judged, marked, bytes out, with all that is on by default.
//!
//! `cargo bench --bench pipeline` times 40 requests of 200 spans (2 kB a span, half of them calls of tools; one run in ten
//! repeats a call): `new` has texts that nobody has seen before, `seen` the same texts in other runs; `read` is the part
//! before the engine. `prost` decodes the same requests into objects and encodes them again, as collectors do. A span's
//! cost is the reciprocal of the throughput.
#![expect(clippy::unwrap_used, reason = "a bench may stop at the first surprise")]

#[path = "../tests/support/agents.rs"]
#[expect(unreachable_pub, reason = "shared with tests")]
mod agents;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use agent_sentinel::config::{self, Purpose, Settings, Source};
use agent_sentinel::engine::{Engine, Output};
use agent_sentinel::model::Timestamp;
use agent_sentinel::otlp;
use agent_sentinel::steps::Reader;
use agents::{REQUEST, requests};
use bytes::Bytes;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message;

#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;

const REQUESTS: usize = 40;

const CONFIG: &str = "
receivers: {otlp: {}}
exporters: {debug: {}}
processors: {anomaly: {}}
service: {pipelines: {traces: {receivers: [otlp], processors: [anomaly], exporters: [debug]}}}
";

type Bodies = Vec<(Bytes, Timestamp)>;

fn settings() -> Settings {
    let source = Source::file("bench", CONFIG);
    let loaded = config::load_for(Purpose::Run, &[source], &[], &|_| None, Timestamp::ZERO);
    loaded
        .unwrap_or_else(|report| panic!("{}", report.render(false)))
        .0
}

fn bodies(seed: u64, life: u64) -> Bodies {
    let requests = requests(REQUESTS, seed, life).into_iter();
    requests
        .map(|(request, end)| {
            let now = Timestamp::from_nanos(end).plus(Duration::from_millis(1));
            (Bytes::from(request.encode_to_vec()), now)
        })
        .collect()
}

/// A collector without sockets.
struct House {
    reader: Reader,
    engine: Engine,
    out: Output,
}

impl House {
    fn new(settings: &Settings) -> Self {
        Self {
            reader: Reader::new(Arc::new(settings.steps.clone())),
            engine: Engine::new(settings.engine.clone()),
            out: Output::default(),
        }
    }

    /// Everything that arrives leaves; how many bytes that were.
    fn pass(&mut self, bodies: &Bodies) -> usize {
        let mut left = 0;
        for (body, now) in bodies {
            let reading = self.reader.read(body.clone()).unwrap();
            self.engine.arrive(reading, *now, &mut self.out);
            for release in &self.out.releases {
                left += black_box(otlp::pack(release)).len();
            }
            self.out = Output::default();
        }
        left
    }

    fn read(&mut self, bodies: &Bodies) -> usize {
        let steps = bodies.iter().map(|(body, _)| {
            let reading = self.reader.read(body.clone()).unwrap();
            black_box(&reading).steps.len()
        });
        steps.sum()
    }
}

fn pipeline(criterion: &mut Criterion) {
    let settings = settings();
    let (first, again) = (bodies(1, 0), bodies(1, 1));
    let mut group = criterion.benchmark_group("pipeline");
    group.throughput(Throughput::Elements((REQUESTS * REQUEST) as u64));
    group.sample_size(10);
    let new = || House::new(&settings);
    let seen = || {
        let mut house = House::new(&settings);
        house.pass(&first);
        house
    };
    group.bench_function("new", |bencher| {
        bencher.iter_batched_ref(new, |house| house.pass(&first), BatchSize::PerIteration);
    });
    group.bench_function("seen", |bencher| {
        bencher.iter_batched_ref(seen, |house| house.pass(&again), BatchSize::PerIteration);
    });
    group.bench_function("read_new", |bencher| {
        bencher.iter_batched_ref(new, |house| house.read(&first), BatchSize::PerIteration);
    });
    group.bench_function("read_seen", |bencher| {
        bencher.iter_batched_ref(seen, |house| house.read(&again), BatchSize::PerIteration);
    });
    group.bench_function("prost", |bencher| {
        bencher.iter(|| {
            let encoded = first.iter().map(|(body, _)| {
                let request = ExportTraceServiceRequest::decode(body.clone()).unwrap();
                black_box(request.encode_to_vec()).len()
            });
            encoded.sum::<usize>()
        });
    });
    group.finish();
}

criterion_group!(benches, pipeline);
criterion_main!(benches);
