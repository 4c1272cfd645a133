//! Allocations on the way of a span from bytes to bytes: a figure that does not depend on the machine (docs/performance.md).
//!
//! A guard, not a goal: who lowers the figure lowers the bound.

#[path = "support/agents.rs"]
#[expect(unreachable_pub, reason = "shared with benches")]
mod agents;

use std::sync::Arc;
use std::time::Duration;

use agent_sentinel::config::{self, Purpose, Source};
use agent_sentinel::engine::{Engine, Output};
use agent_sentinel::model::Timestamp;
use agent_sentinel::otlp;
use agent_sentinel::steps::Reader;
use bytes::Bytes;
use prost::Message;

const CONFIG: &str = "
receivers: {otlp: {}}
exporters: {debug: {}}
processors: {anomaly: {}}
service: {pipelines: {traces: {receivers: [otlp], processors: [anomaly], exporters: [debug]}}}
";

/// Requests of each life.
const REQUESTS: usize = 10;

/// Most allocations a span, texts seen before, runs opened and closed on the way included: by the reader, and by all else.
const READING: u64 = 3;
const JUDGING: u64 = 6;

#[test]
fn a_span_allocates_little() {
    let source = Source::file("test", CONFIG);
    let loaded = config::load_for(Purpose::Run, &[source], &[], &|_| None, Timestamp::ZERO);
    let settings = loaded
        .unwrap_or_else(|report| panic!("{}", report.render(false)))
        .0;
    let mut reader = Reader::new(Arc::new(settings.steps.clone()));
    let mut engine = Engine::new(settings.engine.clone());
    let mut out = Output::default();
    let (mut reading, mut judging) = (0, 0);
    for life in 0..2 {
        (reading, judging) = (0, 0);
        for (request, end) in agents::requests(REQUESTS, 1, life) {
            let body = Bytes::from(request.encode_to_vec());
            let now = Timestamp::from_nanos(end).plus(Duration::from_millis(1));
            let mut read = None;
            let counted = allocation_counter::measure(|| read = Some(reader.read(body).unwrap()));
            reading += counted.count_total;
            let counted = allocation_counter::measure(|| {
                engine.arrive(read.take().unwrap(), now, &mut out);
                for release in out.releases.drain(..) {
                    drop(otlp::pack(&release));
                }
                out.reports.clear();
                out.closed.clear();
            });
            judging += counted.count_total;
            out = Output::default();
        }
    }
    let spans = (REQUESTS * agents::REQUEST) as u64;
    let (reading, judging) = (reading.div_ceil(spans), judging.div_ceil(spans));
    assert!(
        reading <= READING && judging <= JUDGING,
        "{reading} allocations a span in reading, {judging} in judging; allowed are {READING} and {JUDGING}"
    );
}
