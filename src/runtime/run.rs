//! One run: start, wait for a signal, stop.

use super::assemble::{self, Running, StartError};
use super::shutdown::End;
use super::signals::Signals;
use super::{clock, log};
use crate::config;
use crate::control::Logs;
use crate::steps;

/// Sends all events to the log from now on; for those who speak before [`run`].
pub fn install_log(logs: &Logs) {
    log::install(logs);
}

/// Runs until SIGTERM or SIGINT. `sources` are the names of the configuration's files, for the log.
pub fn run(settings: config::Settings, sources: &[String]) -> Result<End, StartError> {
    let started = clock::instant();
    tracing::info!(
        config = sources.join(", "),
        pid = std::process::id(),
        "agent-sentinel {}",
        env!("CARGO_PKG_VERSION")
    );
    // Before anyone can connect: no request waits for it.
    steps::prepare();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let end = runtime.block_on(async {
        let mut signals = Signals::install()?;
        let mut running = assemble::start(settings, started).await?;
        introduce(&running);
        let signal = signals.stop().await.name();
        tracing::info!(signal, "stopping; a second signal ends at once");
        tokio::select! {
            end = running.stop() => Ok(end),
            second = signals.stop() => {
                tracing::warn!(signal = second.name(), "ending at once");
                running.settle();
                Ok(End::Unbalanced)
            }
        }
    });
    // A task that hangs must not keep the process.
    runtime.shutdown_background();
    end
}

fn introduce(running: &Running) {
    for pipeline in &running.settings.pipelines {
        tracing::info!("pipeline {pipeline}");
    }
    let types = running.engine.snapshot().types;
    let names: Vec<&str> = types.iter().map(|anomaly| anomaly.name()).collect();
    tracing::info!("looking for {}", names.join(", "));
    tracing::info!("ready");
}
