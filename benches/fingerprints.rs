//! Costs of one text: canonical form and key of arguments, digest of an answer, facts of a model's text.
//! `cargo bench --bench fingerprints`

use std::hint::black_box;

use agent_sentinel::fingerprints::{Cache, Fingerprinter, agentbudget_digest, digest, signature};
use agent_sentinel::texts;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const ARGUMENTS: &str = r#"{"command":"cd /srv/agent/project && python -m pytest -q tests/test_orders.py -k 'not slow' 2>&1 | tail -n 40","description":"Run the order tests once more after the fix in the pager","timeout":120000,"cwd":"/srv/agent/project","env":{"PYTHONPATH":"src","CI":"1","TZ":"UTC"},"retries":2,"verbose":false,"label":"orders"}"#;
const ANSWER: &str = "2031-03-01 11:00:00 collected 42 items\ntests/test_orders.py ....F..... [pid 4211]\n\
    FAILED tests/test_orders.py::test_pager - assert 20 == 25\n1 failed, 41 passed in 3.21s (worker \
    3f2b9c1e-77a0-4d2c-9a51-0b1c2d3e4f50, 0x7f3a1c2b4d50)\n";
const TEXT: &str = "I looked at the pager first. The page size was read from the wrong table, so the last page \
    came back short. I changed `Pager.size` to read the setting, and added a case for an empty page.\n\n\
    - `src/pager.py`: reads the setting\n- `tests/test_pager.py`: covers the empty page\n\nAll 42 tests pass \
    and the change is complete. Let me know if you want the other tables moved as well.";

fn arguments(c: &mut Criterion) {
    let mut group = c.benchmark_group("arguments");
    group.throughput(Throughput::Bytes(ARGUMENTS.len() as u64));
    let mut maker = Fingerprinter::new(7);
    group.bench_function("key, exact and sketch of a new text", |b| {
        b.iter(|| maker.facts(black_box("bash"), black_box(ARGUMENTS)));
    });
    let mut cache = Cache::new(7, 1024);
    group.bench_function("the same from the cache", |b| {
        b.iter(|| cache.facts(black_box("bash"), black_box(ARGUMENTS)));
    });
    group.bench_function("signature", |b| {
        b.iter(|| signature(black_box("bash"), black_box(ARGUMENTS)));
    });
    group.finish();
}

fn answers(c: &mut Criterion) {
    let mut group = c.benchmark_group("answers");
    group.throughput(Throughput::Bytes(ANSWER.len() as u64));
    group.bench_function("raw", |b| b.iter(|| digest::raw(black_box(ANSWER))));
    group.bench_function("neutral", |b| b.iter(|| digest::neutral(black_box(ANSWER))));
    group.bench_function("agentbudget", |b| {
        b.iter(|| agentbudget_digest(black_box(ANSWER)))
    });
    group.bench_function("error class", |b| {
        b.iter(|| texts::error_class(black_box(ANSWER)))
    });
    group.bench_function("state flags", |b| {
        b.iter(|| {
            let text = black_box(ANSWER);
            (
                texts::acknowledges(text),
                texts::informs(text),
                texts::pending_state(text),
                texts::refused(text),
                texts::looks_like_error(text),
                texts::exit_code_in(text),
            )
        });
    });
    group.finish();
}

fn models(c: &mut Criterion) {
    let mut group = c.benchmark_group("model texts");
    group.throughput(Throughput::Bytes(TEXT.len() as u64));
    group.bench_function("read", |b| b.iter(|| texts::read(black_box(TEXT))));
    let long = TEXT.repeat(120);
    group.throughput(Throughput::Bytes(long.len() as u64));
    group.bench_function("read 60 KiB", |b| b.iter(|| texts::read(black_box(&long))));
    group.finish();
}

criterion_group!(benches, arguments, answers, models);
criterion_main!(benches);
