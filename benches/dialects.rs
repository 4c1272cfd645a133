//! What it costs to read a span into a step, dialect by dialect: the captured requests of each library, all its
//! scenarios, counted by span. `cargo bench --bench dialects`.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench reads fixtures and may stop at the first surprise"
)]

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use agent_sentinel::steps::{Reader, Settings};
use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// The dialects, by the library that stands for each.
const DIALECTS: &[(&str, &str)] = &[
    ("genai_attributes", "pydantic-ai"),
    ("genai_events", "strands"),
    ("genai_openllmetry", "langchain-traceloop"),
    ("genai_printed_objects", "openai-agents-otel-v2"),
    ("openinference", "langchain-openinference"),
    ("vercel", "vercel-ai-sdk-v6"),
    ("langsmith", "langsmith-otel"),
    ("langfuse", "langfuse"),
    ("mlflow", "mlflow"),
    ("mcp", "fastmcp"),
    ("content_off", "google-adk"),
];

fn bodies(library: &str) -> Vec<Bytes> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/captures")
        .join(library);
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let requests = files
        .iter()
        .filter(|path| path.extension().is_some_and(|ext| ext == "pb"));
    requests
        .map(|path| fs::read(path).unwrap().into())
        .collect()
}

fn parse(c: &mut Criterion) {
    let mut group = c.benchmark_group("dialects");
    for (dialect, library) in DIALECTS {
        let bodies = bodies(library);
        let mut reader = Reader::new(Arc::new(Settings::default()));
        let spans: u64 = bodies
            .iter()
            .map(|body| u64::from(reader.read(body.clone()).map_or(0, |reading| reading.spans)))
            .sum();
        group.throughput(Throughput::Elements(spans));
        group.bench_function(*dialect, |b| {
            b.iter(|| {
                for body in &bodies {
                    let _ = black_box(reader.read(black_box(body.clone())));
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, parse);
criterion_main!(benches);
