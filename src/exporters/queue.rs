//! What waits for one backend, in the order in which it came, bounded in bytes.
//!
//! Invariant: bytes are counted from `push` until they are settled, waiting for another attempt included:
//! that is the memory that a dead backend costs.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::model::{Patch, Pressure, Release};

use super::counters::{Counters, Reason};
use super::settings::{OnFull, QueueSettings};

/// What becomes of releases of our own making when the queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ours {
    /// They find room as what was accepted before: the engine's limits bound them.
    Kept,
    /// They are dropped: nobody can be made to wait for them, and nothing else bounds them.
    Bounded,
}

/// The queue of one exporter.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    ready: Notify,
    capacity: usize,
    on_full: OnFull,
    ours: Ours,
    pressure: Pressure,
    counters: Arc<Counters>,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Arc<Release>>,
    bytes: usize,
    pressing: bool,
    closed: bool,
}

/// A release on its way out. What nobody has settled when this is dropped counts as lost in shutting down.
#[derive(Debug)]
pub(super) struct Unsettled {
    pub(super) release: Arc<Release>,
    spans: u64,
    queue: Arc<Queue>,
}

impl Queue {
    pub(super) fn new(
        settings: &QueueSettings,
        pressure: Pressure,
        counters: Arc<Counters>,
        ours: Ours,
    ) -> Self {
        // Without a queue the receivers stop as soon as anything waits.
        let capacity = if settings.enabled {
            usize::try_from(settings.queue_size).unwrap_or(usize::MAX)
        } else {
            1
        };
        if settings.on_full == OnFull::Refuse {
            pressure.join();
        }
        Self {
            state: Mutex::default(),
            ready: Notify::new(),
            capacity,
            on_full: settings.on_full,
            ours,
            pressure,
            counters,
        }
    }

    pub(super) const fn capacity(&self) -> usize {
        self.capacity
    }

    pub(super) fn bytes(&self) -> usize {
        self.state().bytes
    }

    /// Puts a release at the end. With [`OnFull::Refuse`] the receivers stop when no exporter has room, and
    /// what they had taken before still finds some: it is bounded by the engine's own limits. While another
    /// exporter has room, what does not fit here is dropped: one dead backend never blocks the others.
    pub(super) fn push(&self, release: Arc<Release>) {
        let (size, spans) = (size(&release), u64::from(release.count));
        let mut state = self.state();
        self.counters.entered(spans, release.synthetic);
        let no_room = || state.bytes > 0 && state.bytes.saturating_add(size) > self.capacity;
        let full = match self.on_full {
            OnFull::Drop => no_room(),
            OnFull::Refuse if release.synthetic && self.ours == Ours::Bounded => no_room(),
            OnFull::Refuse => state.pressing && !self.pressure.is_on(),
        };
        if state.closed || full {
            let reason = if state.closed {
                Reason::Shutdown
            } else {
                Reason::QueueFull
            };
            self.counters.never_queued(reason, spans);
            return;
        }
        state.bytes = state.bytes.saturating_add(size);
        state.waiting.push_back(release);
        self.weigh(&mut state);
        drop(state);
        self.ready.notify_one();
    }

    /// The next release; `None` when the queue is closed and empty. Nothing is lost when this is dropped
    /// before it is done.
    pub(super) async fn pop(self: &Arc<Self>) -> Option<Unsettled> {
        loop {
            let ready = self.ready.notified();
            {
                let mut state = self.state();
                if let Some(release) = state.waiting.pop_front() {
                    return Some(self.unsettled(release));
                }
                if state.closed {
                    return None;
                }
            }
            ready.await;
        }
    }

    /// Nothing more will come.
    pub(super) fn close(&self) {
        self.state().closed = true;
        self.ready.notify_one();
    }

    /// Gives up on what waits.
    pub(super) fn abandon(self: &Arc<Self>) {
        let mut state = self.state();
        state.closed = true;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        for release in waiting {
            drop(self.unsettled(release));
        }
    }

    fn unsettled(self: &Arc<Self>, release: Arc<Release>) -> Unsettled {
        let spans = u64::from(release.count);
        self.counters.took_off(spans);
        Unsettled {
            release,
            spans,
            queue: Arc::clone(self),
        }
    }

    /// Tells the receivers when there is no room and when there is again, the latter with a margin.
    fn weigh(&self, state: &mut State) {
        if self.on_full == OnFull::Drop {
            return;
        }
        let enough = self.capacity - self.capacity / 10;
        if !state.pressing && state.bytes >= self.capacity {
            state.pressing = true;
            self.pressure.raise();
        } else if state.pressing && state.bytes < enough {
            state.pressing = false;
            self.pressure.release();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        if self.state().pressing {
            self.pressure.release();
        }
        if self.on_full == OnFull::Refuse {
            self.pressure.leave();
        }
    }
}

impl Unsettled {
    /// The backend has taken `spans`. More than there are is as many as there are.
    pub(super) fn sent(&mut self, spans: u64) {
        let spans = self.take(spans);
        self.queue.counters.sent(spans);
    }

    /// `spans` will not arrive.
    pub(super) fn dropped(&mut self, reason: Reason, spans: u64) {
        let spans = self.take(spans);
        self.queue.counters.dropped(reason, spans);
    }

    /// Nothing of the rest will arrive.
    pub(super) fn drop_rest(&mut self, reason: Reason) {
        self.dropped(reason, self.spans);
    }

    /// Spans not settled yet.
    pub(super) const fn rest(&self) -> u64 {
        self.spans
    }

    fn take(&mut self, spans: u64) -> u64 {
        let spans = spans.min(self.spans);
        self.spans -= spans;
        spans
    }
}

impl Drop for Unsettled {
    fn drop(&mut self) {
        self.drop_rest(Reason::Shutdown);
        let size = size(&self.release);
        let mut state = self.queue.state();
        state.bytes = state.bytes.saturating_sub(size);
        self.queue.weigh(&mut state);
    }
}

/// What a release costs beside its bytes: itself, its place in the queue, and the heads of both. Without it a queue of
/// very small requests would hold many times what it may.
const OVERHEAD: usize = size_of::<Release>() + 4 * size_of::<usize>();

/// Memory that a release keeps alive.
fn size(release: &Release) -> usize {
    let patches = release.patches.iter();
    let patches: usize = patches
        .map(|patch| patch.bytes.len() + size_of::<Patch>())
        .sum();
    release.body.len() + patches + OVERHEAD
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::model::Selection;

    /// Costs are counted in these here: more than any overhead.
    const UNIT: usize = 1000;

    /// A release that costs so much.
    fn release(units: usize) -> Arc<Release> {
        Arc::new(Release {
            body: Bytes::from(vec![0; units * UNIT - OVERHEAD]),
            spans: Selection::All,
            count: 2,
            patches: Vec::new(),
            synthetic: false,
        })
    }

    fn queue(capacity: u64, on_full: OnFull) -> (Arc<Queue>, Pressure) {
        let settings = QueueSettings {
            queue_size: capacity * UNIT as u64,
            on_full,
            ..QueueSettings::default()
        };
        let pressure = Pressure::default();
        let queue = Queue::new(&settings, pressure.clone(), Arc::default(), Ours::Kept);
        (Arc::new(queue), pressure)
    }

    #[tokio::test]
    async fn q_05_a_full_queue_presses_and_loses_nothing() {
        let (queue, pressure) = queue(100, OnFull::Refuse);
        queue.push(release(60));
        assert!(!pressure.is_on());
        queue.push(release(60));
        queue.push(release(60));
        assert!(pressure.is_on());
        for left in [2, 1, 0] {
            let mut item = queue.pop().await.unwrap();
            item.sent(2);
            drop(item);
            assert_eq!(pressure.is_on(), left == 2, "{left} left");
        }
        let balance = queue.counters.balance();
        assert_eq!((balance.sent, balance.dropped_total()), (6, 0));
        assert!(balance.holds());
    }

    #[test]
    fn q_05_many_small_requests_cost_what_they_cost() {
        let (queue, pressure) = queue(10, OnFull::Refuse);
        let mut count = 0;
        while !pressure.is_on() {
            let mut small = Release::clone(&release(1));
            small.body = Bytes::from_static(b"x");
            queue.push(Arc::new(small));
            count += 1;
        }
        // By their bytes alone there would be ten thousand.
        assert!(count < 100, "{count}");
        assert!(queue.bytes() >= 10 * UNIT);
    }

    #[tokio::test]
    async fn q_05_a_queue_that_drops_counts_and_does_not_press() {
        let (queue, pressure) = queue(100, OnFull::Drop);
        queue.push(release(60));
        queue.push(release(60));
        assert!(!pressure.is_on());
        let balance = queue.counters.balance();
        assert_eq!(balance.dropped_for(Reason::QueueFull), 2);
        assert_eq!(balance.queued, 2);
        assert!(balance.holds());
    }

    #[tokio::test]
    async fn one_dead_exporter_never_blocks_another() {
        let pressure = Pressure::default();
        let settings = QueueSettings {
            queue_size: 100 * UNIT as u64,
            ..QueueSettings::default()
        };
        let new = || {
            Arc::new(Queue::new(
                &settings,
                pressure.clone(),
                Arc::default(),
                Ours::Kept,
            ))
        };
        let (dead, alive) = (new(), new());
        for _ in 0..3 {
            dead.push(release(60));
            alive.push(release(60));
            alive.pop().await.unwrap().sent(2);
        }
        assert!(
            !pressure.is_on(),
            "the receivers go on for the one that is alive"
        );
        let balance = dead.counters.balance();
        assert_eq!(
            (balance.queued, balance.dropped_for(Reason::QueueFull)),
            (4, 2)
        );
        assert_eq!(alive.counters.balance().sent, 6);
        // When the other one fills up as well, the receivers stop and nothing more is dropped.
        alive.push(release(60));
        alive.push(release(60));
        assert!(pressure.is_on());
        dead.push(release(60));
        alive.push(release(60));
        assert_eq!(dead.counters.balance().dropped_for(Reason::QueueFull), 2);
        assert_eq!(alive.counters.balance().dropped_total(), 0);
    }

    #[tokio::test]
    async fn what_nobody_settles_is_lost_in_shutting_down() {
        let (queue, _) = queue(100, OnFull::Refuse);
        queue.push(release(10));
        queue.push(release(10));
        let mut half = queue.pop().await.unwrap();
        half.sent(1);
        drop(half);
        queue.abandon();
        assert!(queue.pop().await.is_none());
        queue.push(release(10));
        let balance = queue.counters.balance();
        assert_eq!(balance.sent, 1);
        assert_eq!(balance.dropped_for(Reason::Shutdown), 5);
        assert!(balance.holds());
        assert_eq!(queue.bytes(), 0);
    }

    #[test]
    fn a_queue_that_goes_away_presses_no_more() {
        let (queue, pressure) = queue(10, OnFull::Refuse);
        queue.push(release(60));
        assert!(pressure.is_on());
        queue.abandon();
        drop(queue);
        assert!(!pressure.is_on());
    }
}
