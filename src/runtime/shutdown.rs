//! The way out: ports, engine, exporters, books.
//!
//! Invariant: it ends by the deadline, and says of every span that was accepted where it is.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::timeout_at;

use super::assemble::Running;
use super::clock;
use crate::control::health::Phase;
use crate::exporters::{Balance, Exporter};
use crate::model::Signal;
use crate::receivers::Counters;

/// What is kept back of the time for the exporters' last words and our own.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// What a last push of own metrics may take.
const LAST_PUSH: Duration = Duration::from_secs(2);

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Every span accepted is sent or dropped for a counted reason.
    Balanced,
    /// A book does not add up, something would not end, or we were told twice.
    Unbalanced,
}

impl Running {
    /// Stops in good order within `service.shutdown.timeout`, and settles the books.
    pub async fn stop(&mut self) -> End {
        let timeout = self.settings.shutdown.timeout;
        let deadline = clock::instant() + timeout;
        let for_exporters = deadline - LAST_WORDS.min(timeout / 4);
        self.health.enter(Phase::Stopping, clock::now());

        // A send fails only when all servers have ended already.
        let _ = self.stop_receiving.send(true);
        all(&mut self.servers, for_exporters).await;
        tracing::info!(accepted = self.accepted(), "stopped receiving");

        self.engine.stop().await;
        let ended = self.engine_ended(for_exporters).await;
        if ended {
            tracing::info!("the engine has released everything");
        } else {
            tracing::error!("the engine has not ended in time; what it holds is lost");
        }

        for exporter in &self.exporters {
            exporter.close();
        }
        self.tell_of_waiting(for_exporters);
        if !all(&mut self.works, for_exporters).await {
            tracing::warn!("not everything could be sent in time");
        }
        let _ = self.give_up.send(true);
        all(&mut self.works, deadline).await;
        self.last_push(deadline).await;
        match self.settle() {
            End::Balanced if ended => End::Balanced,
            _ => End::Unbalanced,
        }
    }

    /// Says what is still to be sent, and how long that may take: a backend that is down makes people wait here.
    fn tell_of_waiting(&self, until: Instant) {
        let seconds = until
            .saturating_duration_since(clock::instant())
            .as_secs_f64();
        for exporter in &self.exporters {
            let balance = exporter.balance();
            let waiting = balance.queued + balance.in_flight;
            if waiting > 0 {
                let (exporter, signal) = (exporter.name(), exporter.signal().name());
                tracing::info!(
                    exporter,
                    signal,
                    waiting,
                    "sending what waits, for {seconds:.0} s at most"
                );
            }
        }
    }

    /// Says what became of every span, exporter by exporter.
    pub fn settle(&self) -> End {
        let accepted = self.accepted();
        let balances = self.exporters.iter();
        // No short cut: every exporter has its line.
        let even: Vec<bool> = balances.map(|exporter| tell(exporter, accepted)).collect();
        if even.into_iter().all(|even| even) {
            End::Balanced
        } else {
            End::Unbalanced
        }
    }

    /// Where receivers listen, by transport: `grpc` or `http`.
    pub fn addresses(&self) -> &[(&'static str, SocketAddr)] {
        &self.addresses
    }

    /// The books of every exporter, by its name.
    pub fn balances(&self) -> Vec<(&str, Balance)> {
        let exporters = self.exporters.iter();
        exporters
            .map(|exporter| (exporter.name(), exporter.balance()))
            .collect()
    }

    /// Spans that receivers have accepted.
    pub fn accepted(&self) -> u64 {
        let counters = self.receivers.iter().map(|receiver| &receiver.counters);
        counters
            .map(|counters| Counters::read(&counters.spans.accepted))
            .sum()
    }

    async fn engine_ended(&self, deadline: Instant) -> bool {
        let ended = async {
            while !self.thread.is_finished() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout_at(deadline.into(), ended).await.is_ok()
    }

    /// Ends the pushes; each sends a last time. Blocks inside, so it is done aside.
    async fn last_push(&mut self, deadline: Instant) {
        let left = deadline.saturating_duration_since(clock::instant());
        let time = LAST_PUSH.min(left.max(Duration::from_millis(100)));
        for push in self.pushes.drain(..) {
            let last = tokio::task::spawn_blocking(move || push.shutdown_with_timeout(time));
            match timeout_at((clock::instant() + time).into(), last).await {
                Ok(Ok(Ok(()))) => {}
                other => tracing::debug!(?other, "the last push of own metrics failed"),
            }
        }
    }
}

/// Waits for all tasks; `false` when the deadline came first.
async fn all(tasks: &mut JoinSet<()>, deadline: Instant) -> bool {
    let ended = async { while tasks.join_next().await.is_some() {} };
    timeout_at(deadline.into(), ended).await.is_ok()
}

/// The balance line of one exporter: whether it is even, and nothing is left on the way.
fn tell(exporter: &Exporter, accepted: u64) -> bool {
    let balance = exporter.balance();
    let signal = exporter.signal();
    let accepted = match signal {
        Signal::Traces if !exporter.findings_only() => accepted,
        // What it passes over is not on its way anywhere.
        // Which receivers feed it differs from exporter to exporter; nothing stands between them.
        Signal::Traces | Signal::Logs | Signal::Metrics => balance.accepted,
    };
    let signal = signal.name();
    // What receivers accepted and the engine has not handed on.
    let held = accepted.saturating_sub(balance.accepted);
    let left = held + balance.queued + balance.in_flight;
    let dropped = balance.dropped_total();
    let even = left == 0 && accepted + balance.synthetic == balance.sent + dropped;
    let reasons = reasons(&balance);
    let name = exporter.name();
    if even {
        tracing::info!(
            exporter = name,
            signal,
            accepted,
            synthetic = balance.synthetic,
            sent = balance.sent,
            dropped,
            reasons,
            "balance"
        );
    } else {
        tracing::error!(
            exporter = name,
            signal,
            accepted,
            synthetic = balance.synthetic,
            sent = balance.sent,
            dropped,
            reasons,
            held,
            queued = balance.queued,
            in_flight = balance.in_flight,
            "balance does not add up, or not everything was settled"
        );
    }
    even
}

/// `queue_full=3 shutdown=10`, without the zeros.
fn reasons(balance: &Balance) -> String {
    let counted = balance.dropped.iter().filter(|(_, spans)| *spans > 0);
    let counted = counted.map(|(reason, spans)| format!("{}={spans}", reason.name()));
    counted.collect::<Vec<_>>().join(" ")
}
