//! The engine as a library: one request in, what was found out. No socket, no clock.
//!
//!     cargo run --example judge_a_body -- tests/fixtures/captures/vercel-ai-sdk-v7/stuck.001.pb
#![expect(clippy::print_stdout, reason = "its output is what an example is for")]
#![expect(
    clippy::disallowed_methods,
    reason = "the file to read is the caller's"
)]

use std::sync::Arc;

use agent_sentinel::engine::{Engine, Output, Settings};
use agent_sentinel::model::Timestamp;
use agent_sentinel::steps::Reader;

fn main() -> anyhow::Result<()> {
    let path = std::env::args()
        .nth(1)
        .ok_or_else(|| anyhow::anyhow!("give the path of a request"))?;
    let body = std::fs::read(path)?;

    // Bytes to steps: what the spans say, free of any dialect.
    let reading = Reader::new(Arc::default()).read(body.into())?;
    println!(
        "{} spans, {} of them steps of an agent",
        reading.spans,
        reading.steps.len()
    );

    // Time is an argument: the request arrives when its last step ended.
    let now = reading
        .steps
        .iter()
        .map(|step| step.end)
        .max()
        .unwrap_or(Timestamp::ZERO);
    let mut engine = Engine::new(Settings::default());
    let mut out = Output::default();
    engine.ingest(reading, now, &mut out);
    engine.drain(now, &mut out);

    for report in &out.reports {
        println!(
            "{} {}: {}",
            report.severity.name(),
            report.finding.anomaly,
            report.finding.message
        );
    }
    println!(
        "{} of them leave marked",
        out.releases.iter().map(|r| r.patches.len()).sum::<usize>()
    );
    Ok(())
}
