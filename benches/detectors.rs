//! What judging one step costs with every detector on and 32 calls in the lane.
#![expect(clippy::unwrap_used, reason = "a bench may stop at the first surprise")]

use std::hint::black_box;

use agent_sentinel::detectors::{Rules, Settings, Table};
use agent_sentinel::lanes::{
    At, Call, Lane, Ledger, More, Names, Order, RunFacts, RunOutcome, View,
};
use agent_sentinel::model::{
    Answer, Arguments, Failure, Name, Outcome, Role, SpanId, Targets, Timestamp, TraceId,
};
use criterion::{Criterion, criterion_group, criterion_main};

const CALLS: u32 = 32;
const SECOND: u64 = 1_000_000_000;

struct Bench {
    lane: Lane,
    run: RunFacts,
    ledger: Ledger,
    names: Names,
}

impl Bench {
    /// A lane of calls, each with the key and the outcome that `what` gives it.
    fn new(what: impl Fn(u32) -> (u64, bool)) -> Self {
        let mut bench = Self {
            lane: Lane::default(),
            run: RunFacts::default(),
            ledger: Ledger::default(),
            names: Names::default(),
        };
        let tool = bench.names.id(&Name::from("read_file"));
        for number in 0..CALLS {
            let (key, failed) = what(number);
            let start = Timestamp::from_nanos(u64::from(number + 1) * SECOND);
            let mut span = [1; 8];
            span[..4].copy_from_slice(&number.to_be_bytes());
            let order = Order {
                end: start,
                start,
                height: 0,
                arrival: number,
            };
            let outcome = match failed {
                true => Outcome::Failed(Failure {
                    class: 7,
                    ..Failure::default()
                }),
                false => Outcome::Succeeded,
            };
            bench.run.outcomes.push(RunOutcome {
                order,
                outcome,
                key,
            });
            let call = Call {
                order,
                trace: TraceId::from_slice(&[1; 16]).unwrap(),
                span: SpanId::from_slice(&span).unwrap(),
                parent: None,
                scope: 0,
                audience: 0,
                ignored: Default::default(),
                call_id: None,
                step: number,
                start,
                end: start,
                tool,
                key: Some(key),
                exact: Some(key),
                answer: Answer {
                    known: true,
                    raw: key,
                    digest: key,
                    canonical: key,
                    ..Answer::default()
                },
                outcome,
                role: Role::Read,
                reads: Targets::default(),
                changes: Targets::default(),
                arguments: Arguments::Valid,
                asked_by: number + 1,
                turn: 0,
                poll: false,
                void: false,
                waits: false,
                lane_unknown: false,
                sketch: [0; 32],
                more: More::default(),
                fired: 0,
            };
            bench.lane.insert_call(call, CALLS as usize);
        }
        bench
    }

    fn judge(&self, table: &Table) -> usize {
        let view = View {
            at: At::Call(CALLS as usize - 1),
            lane: &self.lane,
            run: &self.run,
            ledger: &self.ledger,
            names: &self.names,
            reach: table.window_max(),
        };
        table.judge(black_box(&view)).len()
    }
}

fn judging(c: &mut Criterion) {
    let lanes = [
        ("quiet", Bench::new(|n| (u64::from(n) + 1, false))),
        ("one_repeat", Bench::new(|n| (u64::from(n % 17) + 1, false))),
        ("failures", Bench::new(|n| (u64::from(n) + 1, true))),
        ("stuck", Bench::new(|_| (1, false))),
        (
            "cycle_of_five",
            Bench::new(|n| (u64::from(n % 5) + 1, false)),
        ),
    ];
    for (rules, word) in [(Rules::Aware, "aware"), (Rules::Source, "source")] {
        let table = Table::new(&Settings::default(), rules);
        let mut group = c.benchmark_group(format!("judge/{word}"));
        for (name, bench) in &lanes {
            group.bench_function(*name, |b| b.iter(|| bench.judge(&table)));
        }
        group.finish();
    }
}

criterion_group!(benches, judging);
criterion_main!(benches);
