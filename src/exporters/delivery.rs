//! From the queue to the backend: one request a release, cut where too large, tried again where that may
//! help, halved where it was refused.
//!
//! Invariant: a release that waits for another attempt keeps its bytes in the queue's account but no
//! place among the senders, so a batch that never passes does not stop those behind it.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, Sleep, interval, sleep, timeout};

use crate::model::Signal;
use crate::otlp::{count_points, count_spans, halve, pack_within};

use super::counters::{Counters, Reason};
use super::outcome::Outcome;
use super::queue::{Queue, Unsettled};
use super::retry::Backoff;
use super::settings::RetrySettings;
use super::transport::Transport;
use super::voice::{AGAIN_AFTER, Voice};

/// Releases taken off the queue at a time, those that wait for another attempt included. Beyond it the
/// backend is down, not a batch bad.
const UNDERWAY_AT_MOST: usize = 1000;

/// A request larger than this is not sent; only a single span can be (otlp_conformance E-07).
const REQUEST_AT_MOST: usize = 64 << 20;

/// Refusals of one release without a success among them, after which the rest is not tried any more: a
/// backend that refuses everything costs this many requests, not two per span.
const REFUSALS_IN_A_ROW: u32 = 32;

/// What the tasks of one exporter share.
pub(super) struct Shared {
    pub(super) queue: Arc<Queue>,
    pub(super) counters: Arc<Counters>,
    pub(super) voice: Arc<Voice>,
    pub(super) transport: Box<dyn Transport>,
    /// What the bodies hold.
    pub(super) signal: Signal,
    pub(super) retry: RetrySettings,
    /// Requests are cut to this many bytes.
    pub(super) max_request: usize,
    /// Attempts at a time.
    pub(super) consumers: usize,
    /// How long one attempt may take.
    pub(super) timeout: Duration,
}

/// The work of one exporter: to be run on a task of its own.
pub struct Work {
    pub(super) shared: Arc<Shared>,
}

impl std::fmt::Debug for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Work").finish_non_exhaustive()
    }
}

impl Work {
    /// Delivers until the exporter is closed and everything is settled, or until `stop` is done: what is
    /// left then is counted as lost in shutting down.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let shared = self.shared;
        let senders = Arc::new(Semaphore::new(shared.consumers.max(1)));
        let underway = Arc::new(Semaphore::new(UNDERWAY_AT_MOST));
        let mut jobs = JoinSet::new();
        let mut minute = interval(AGAIN_AFTER);
        minute.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut stop = pin!(stop);
        let mut open = true;
        while open || !jobs.is_empty() {
            tokio::select! {
                () = &mut stop => break,
                _ = minute.tick() => shared.voice.tick(&shared.counters),
                _ = jobs.join_next(), if !jobs.is_empty() => {}
                next = next(&shared.queue, &senders, &underway), if open => match next {
                    Some((item, sender, place)) => {
                        let (shared, senders) = (Arc::clone(&shared), Arc::clone(&senders));
                        jobs.spawn(async move {
                            Job::new(&shared, senders, sender, item).run().await;
                            drop(place);
                        });
                    }
                    None => open = false,
                },
            }
        }
        jobs.shutdown().await;
        shared.queue.abandon();
    }
}

/// A release with the right to send it. Dropped before it is done, it has taken nothing.
async fn next(
    queue: &Arc<Queue>,
    senders: &Arc<Semaphore>,
    underway: &Arc<Semaphore>,
) -> Option<(Unsettled, OwnedSemaphorePermit, OwnedSemaphorePermit)> {
    let place = Arc::clone(underway).acquire_owned().await.ok()?;
    let sender = Arc::clone(senders).acquire_owned().await.ok()?;
    let item = queue.pop().await?;
    Some((item, sender, place))
}

/// One release on its way.
struct Job<'a> {
    shared: &'a Shared,
    item: Unsettled,
    senders: Arc<Semaphore>,
    /// The right to send; given back while waiting.
    sender: Option<OwnedSemaphorePermit>,
    /// When the release is given up.
    give_up: Option<Pin<Box<Sleep>>>,
    refusals: u32,
}

/// What became of one request.
enum Settled {
    Delivered { rejected: u64, why: String },
    Refused { why: String, divide: bool },
    GivenUp { why: String },
}

impl<'a> Job<'a> {
    fn new(
        shared: &'a Shared,
        senders: Arc<Semaphore>,
        sender: OwnedSemaphorePermit,
        item: Unsettled,
    ) -> Self {
        let most = shared.retry.max_elapsed_time;
        Self {
            shared,
            item,
            senders,
            sender: Some(sender),
            give_up: (!most.is_zero()).then(|| Box::pin(sleep(most))),
            refusals: 0,
        }
    }

    async fn run(mut self) {
        let packed = pack_within(&self.item.release, self.shared.max_request);
        // Taken from the end, so that spans leave in their order.
        let signal = self.shared.signal;
        let whole = packed.len() == 1;
        let mut requests: Vec<(Bytes, u64)> = packed
            .into_iter()
            .rev()
            .map(|request| match signal {
                Signal::Metrics if !whole => {
                    let points = count_points(&request.body);
                    (request.body, points)
                }
                _ => (request.body, u64::from(request.spans)),
            })
            .collect();
        while let Some((body, spans)) = requests.pop() {
            if body.len() > REQUEST_AT_MOST.max(self.shared.max_request) {
                let why = format!("a single {} is too large to send", signal.piece());
                self.lose(Reason::TooLarge, spans, &why);
                continue;
            }
            match self.settle(&body).await {
                Settled::Delivered { rejected, why } => {
                    self.refusals = 0;
                    let rejected = rejected.min(spans);
                    self.item.sent(spans - rejected);
                    self.lose(Reason::Rejected, rejected, &why);
                    if rejected == 0 && !why.is_empty() {
                        tracing::debug!(%why, "the backend took everything and warns");
                    }
                }
                Settled::Refused { why, divide } => {
                    self.refusals += 1;
                    let again = divide && spans > 1 && self.refusals < REFUSALS_IN_A_ROW;
                    if !(again && split(signal, &body, &mut requests)) {
                        self.lose(Reason::Refused, spans, &why);
                    }
                    if self.refusals >= REFUSALS_IN_A_ROW {
                        self.lose(Reason::Refused, self.item.rest(), &why);
                        return;
                    }
                }
                Settled::GivenUp { why } => {
                    self.lose(Reason::RetriesExhausted, self.item.rest(), &why);
                    return;
                }
            }
        }
        // A body whose number of spans is not what its release says: the rest went along or never was.
        self.item.sent(self.item.rest());
    }

    /// Tries until something is settled.
    async fn settle(&mut self, body: &Bytes) -> Settled {
        let shared = self.shared;
        let mut backoff = Backoff::new(&shared.retry);
        loop {
            let begun = shared.voice.settled();
            let outcome = {
                let _attempt = shared.counters.attempt();
                let sending = shared.transport.send(body.clone());
                timeout(shared.timeout, sending).await.unwrap_or_else(|_| {
                    Outcome::unreachable(format!("no answer within {:?}", shared.timeout))
                })
            };
            let (after, why) = match outcome {
                Outcome::Delivered(partial) => {
                    shared.voice.works();
                    return Settled::Delivered {
                        rejected: partial.rejected_spans,
                        why: partial.message,
                    };
                }
                Outcome::Refused { why, divide } => {
                    shared.voice.works();
                    return Settled::Refused { why, divide };
                }
                Outcome::Retry { after, why } => (after, why),
            };
            shared.counters.attempt_failed();
            shared.voice.failed(&why, begun);
            if !shared.retry.enabled || !self.wait(backoff.next(after)).await {
                return Settled::GivenUp { why };
            }
        }
    }

    /// Waits without the right to send, then gets it back; `false` when time is over.
    async fn wait(&mut self, time: Duration) -> bool {
        self.sender = None;
        let give_up = self.give_up.as_mut();
        let over = async {
            match give_up {
                Some(give_up) => give_up.await,
                None => std::future::pending().await,
            }
        };
        let senders = Arc::clone(&self.senders);
        tokio::select! {
            biased;
            () = over => false,
            sender = async { sleep(time).await; senders.acquire_owned().await.ok() } => {
                self.sender = sender;
                self.sender.is_some()
            }
        }
    }

    fn lose(&mut self, reason: Reason, spans: u64, why: &str) {
        let spans = spans.min(self.item.rest());
        self.item.dropped(reason, spans);
        self.shared.voice.lost(spans, reason.name(), why);
    }
}

/// Puts the two halves of a request in its place; `false` when it cannot be cut.
fn split(signal: Signal, body: &Bytes, requests: &mut Vec<(Bytes, u64)>) -> bool {
    let Some((first, second)) = halve(body) else {
        return false;
    };
    for half in [second, first] {
        let spans = match signal {
            Signal::Metrics => count_points(&half),
            Signal::Traces | Signal::Logs => u64::from(count_spans(&half)),
        };
        requests.push((half, spans));
    }
    true
}
