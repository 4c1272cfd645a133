//! What waits for one backend, in the order in which it came, bounded in bytes.
//!
//! Invariant: bytes are counted from `push` until they are settled, waiting for another attempt included:
//! that is the memory that a dead backend costs.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smallvec::SmallVec;
use tokio::sync::Notify;

use crate::model::{Patch, Pressure, Release, Selection};
use crate::otlp::pack;

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
    /// What it counts for in the queue.
    size: usize,
    queue: Arc<Queue>,
}

/// Parts of requests up to this size go out together with those right behind them: spans that were held leave one by
/// one, and a request for each would cost more than all else. What came as one request leaves as one.
const SMALL: usize = 16 << 10;
/// Most bytes that are joined.
const JOINED_AT_MOST: usize = 256 << 10;

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
                let together = state.next();
                if !together.is_empty() {
                    drop(state);
                    return Some(self.unsettled(&together));
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
            drop(self.unsettled(&[release]));
        }
    }

    /// What goes out next, as one.
    fn unsettled(self: &Arc<Self>, together: &[Arc<Release>]) -> Unsettled {
        let spans = together.iter().map(|one| u64::from(one.count)).sum();
        self.counters.took_off(spans);
        Unsettled {
            release: joined(together),
            spans,
            size: together.iter().map(|one| size(one)).sum(),
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

impl State {
    /// The first that waits, with the small parts right behind it if it is one too. Nothing waits for others to come.
    fn next(&mut self) -> SmallVec<[Arc<Release>; 1]> {
        let mut together: SmallVec<[Arc<Release>; 1]> = SmallVec::new();
        let mut left = JOINED_AT_MOST;
        while let Some(first) = self.waiting.front() {
            let size = size(first);
            let part = matches!(first.spans, Selection::Ranges(_)) && size <= SMALL;
            let fits = together.is_empty() || (part && size <= left);
            if !fits {
                break;
            }
            together.extend(self.waiting.pop_front());
            if !part {
                break;
            }
            left = left.saturating_sub(size);
        }
        together
    }
}

/// Releases as one: requests in protobuf that stand one behind the other are one request.
fn joined(together: &[Arc<Release>]) -> Arc<Release> {
    if let [one] = together {
        return Arc::clone(one);
    }
    let mut body = Vec::new();
    for one in together {
        body.extend_from_slice(&pack(one));
    }
    Arc::new(Release {
        body: body.into(),
        spans: Selection::All,
        count: together.iter().map(|one| one.count).sum(),
        patches: Vec::new(),
        synthetic: together.iter().all(|one| one.synthetic),
    })
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
        let mut state = self.queue.state();
        state.bytes = state.bytes.saturating_sub(self.size);
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

    #[tokio::test]
    async fn small_parts_leave_together_and_in_order() {
        use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
        use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
        use prost::Message;
        let spans = ["a", "b", "c"].map(|name| Span {
            name: name.to_owned(),
            ..Span::default()
        });
        let scope = ScopeSpans {
            spans: spans.into(),
            ..ScopeSpans::default()
        };
        let request = ExportTraceServiceRequest {
            resource_spans: vec![ResourceSpans {
                scope_spans: vec![scope],
                ..ResourceSpans::default()
            }],
        };
        let body = Bytes::from(request.encode_to_vec());
        let part = |at: u32| {
            Arc::new(Release {
                body: body.clone(),
                spans: Selection::Ranges(smallvec::smallvec![at..at + 1]),
                count: 1,
                patches: Vec::new(),
                synthetic: false,
            })
        };
        let (queue, _) = queue(1000, OnFull::Refuse);
        for release in [part(2), part(0), release(60), part(1)] {
            queue.push(release);
        }
        let mut names = Vec::new();
        for count in [2, 2, 1] {
            let mut item = queue.pop().await.unwrap();
            assert_eq!(item.rest(), count);
            let sent = ExportTraceServiceRequest::decode(pack(&item.release));
            let sent = sent.unwrap_or_default().resource_spans;
            let spans = sent.iter().flat_map(|of| &of.scope_spans);
            let spans = spans.flat_map(|of| &of.spans).map(|span| &span.name);
            names.push(spans.cloned().collect::<String>());
            item.sent(count);
        }
        assert_eq!(names, ["ca", "", "b"]);
        assert_eq!((queue.bytes(), queue.counters.balance().sent), (0, 5));
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
