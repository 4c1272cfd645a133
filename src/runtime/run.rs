//! One run: start, wait for a signal, stop.

use super::assemble::{self, Running, StartError};
use super::shutdown::End;
use super::signals::Signals;
use super::{clock, log};
use crate::config;
use crate::control::Logs;
use crate::model::AnomalyType;
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
    let on = running.engine.snapshot().types;
    tracing::info!("ready, {}", looking_for(&on));
}

/// How many types are looked for, and the shorter of the two lists: those that are, or those that are not.
fn looking_for(on: &[AnomalyType]) -> String {
    let all = AnomalyType::ALL;
    let off: Vec<AnomalyType> = all.into_iter().filter(|one| !on.contains(one)).collect();
    let list = |types: &[AnomalyType]| -> String {
        let names: Vec<&str> = types.iter().map(|anomaly| anomaly.name()).collect();
        names.join(", ")
    };
    match (on.len(), off.len()) {
        (0, _) => "looking for no anomaly: all are off".to_owned(),
        (_, 0) => format!("looking for all {} types of anomaly", all.len()),
        (few, more) if few < more => format!("looking for {} only", list(on)),
        (many, _) => format!(
            "looking for {many} of {} types of anomaly; off: {}",
            all.len(),
            list(&off)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shorter_list_is_named() {
        let all = AnomalyType::ALL;
        assert_eq!(looking_for(&all), "looking for all 18 types of anomaly");
        assert_eq!(looking_for(&[]), "looking for no anomaly: all are off");
        assert_eq!(
            looking_for(&[AnomalyType::Stuck, AnomalyType::Loop]),
            "looking for stuck, loop only"
        );
        let most: Vec<AnomalyType> = all
            .into_iter()
            .filter(|one| *one != AnomalyType::GoalDrift)
            .collect();
        assert_eq!(
            looking_for(&most),
            "looking for 17 of 18 types of anomaly; off: goal_drift"
        );
    }
}
