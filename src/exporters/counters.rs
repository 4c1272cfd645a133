//! The books of one exporter, in spans.
//!
//! Invariant: accepted + synthetic = sent + queued + in flight + dropped, at every moment but the instant
//! between two of these numbers being written (collector_ux section 5).

use std::sync::atomic::{AtomicU64, Ordering};

/// Why a span did not arrive. Every one that did not has exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// There was no room, and the queue drops by configuration.
    QueueFull,
    /// The backend refused the request for good.
    Refused,
    /// The backend took the request and said that it did not take this many of its spans.
    Rejected,
    /// Larger alone than any request may be.
    TooLarge,
    /// The backend could not be reached, or had no room, for too long.
    RetriesExhausted,
    /// Still undelivered at the end of the time for shutting down.
    Shutdown,
    /// Our own fault: it could not be written.
    Internal,
}

impl Reason {
    /// Every reason, in the order of their numbers.
    pub const ALL: [Self; 7] = [
        Self::QueueFull,
        Self::Refused,
        Self::Rejected,
        Self::TooLarge,
        Self::RetriesExhausted,
        Self::Shutdown,
        Self::Internal,
    ];

    /// The value of the metric's label.
    pub const fn name(self) -> &'static str {
        match self {
            Self::QueueFull => "queue_full",
            Self::Refused => "refused",
            Self::Rejected => "rejected",
            Self::TooLarge => "too_large",
            Self::RetriesExhausted => "retries_exhausted",
            Self::Shutdown => "shutdown",
            Self::Internal => "internal",
        }
    }
}

/// Counters and gauges of one exporter.
#[derive(Debug, Default)]
pub struct Counters {
    accepted: AtomicU64,
    synthetic: AtomicU64,
    sent: AtomicU64,
    queued: AtomicU64,
    in_flight: AtomicU64,
    requests_in_flight: AtomicU64,
    attempts_failed: AtomicU64,
    dropped: [AtomicU64; Reason::ALL.len()],
}

impl Counters {
    /// The books as they are now.
    pub fn balance(&self) -> Balance {
        let read = |counter: &AtomicU64| counter.load(Ordering::Acquire);
        Balance {
            accepted: read(&self.accepted),
            synthetic: read(&self.synthetic),
            sent: read(&self.sent),
            queued: read(&self.queued),
            in_flight: read(&self.in_flight),
            requests_in_flight: read(&self.requests_in_flight),
            attempts_failed: read(&self.attempts_failed),
            dropped: Reason::ALL.map(|reason| (reason, read(self.slot(reason)))),
        }
    }

    fn slot(&self, reason: Reason) -> &AtomicU64 {
        let [
            full,
            refused,
            rejected,
            large,
            exhausted,
            shutdown,
            internal,
        ] = &self.dropped;
        match reason {
            Reason::QueueFull => full,
            Reason::Refused => refused,
            Reason::Rejected => rejected,
            Reason::TooLarge => large,
            Reason::RetriesExhausted => exhausted,
            Reason::Shutdown => shutdown,
            Reason::Internal => internal,
        }
    }

    pub(super) fn entered(&self, spans: u64, synthetic: bool) {
        let counter = if synthetic {
            &self.synthetic
        } else {
            &self.accepted
        };
        counter.fetch_add(spans, Ordering::AcqRel);
        self.queued.fetch_add(spans, Ordering::AcqRel);
    }

    pub(super) fn took_off(&self, spans: u64) {
        self.in_flight.fetch_add(spans, Ordering::AcqRel);
        self.queued.fetch_sub(spans, Ordering::AcqRel);
    }

    pub(super) fn sent(&self, spans: u64) {
        self.sent.fetch_add(spans, Ordering::AcqRel);
        self.in_flight.fetch_sub(spans, Ordering::AcqRel);
    }

    pub(super) fn dropped(&self, reason: Reason, spans: u64) {
        self.slot(reason).fetch_add(spans, Ordering::AcqRel);
        self.in_flight.fetch_sub(spans, Ordering::AcqRel);
    }

    pub(super) fn never_queued(&self, reason: Reason, spans: u64) {
        self.slot(reason).fetch_add(spans, Ordering::AcqRel);
        self.queued.fetch_sub(spans, Ordering::AcqRel);
    }

    pub(super) fn attempt(&self) -> Attempt<'_> {
        self.requests_in_flight.fetch_add(1, Ordering::AcqRel);
        Attempt(&self.requests_in_flight)
    }

    pub(super) fn attempt_failed(&self) {
        self.attempts_failed.fetch_add(1, Ordering::AcqRel);
    }
}

/// One request on the wire, until it is dropped.
#[derive(Debug)]
pub(super) struct Attempt<'a>(&'a AtomicU64);

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The books of one exporter at one moment, in spans where nothing else is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Balance {
    /// Handed in, from receivers.
    pub accepted: u64,
    /// Handed in, of our own making.
    pub synthetic: u64,
    /// Taken by the backend.
    pub sent: u64,
    /// Waiting for their first attempt.
    pub queued: u64,
    /// Being sent, or waiting for another attempt.
    pub in_flight: u64,
    /// Requests on the wire.
    pub requests_in_flight: u64,
    /// Attempts that failed and may be repeated.
    pub attempts_failed: u64,
    /// Dropped, by reason, zeros included.
    pub dropped: [(Reason, u64); Reason::ALL.len()],
}

impl Balance {
    /// Dropped for `reason`.
    pub fn dropped_for(&self, reason: Reason) -> u64 {
        let found = self.dropped.iter().find(|(of, _)| *of == reason);
        found.map_or(0, |(_, spans)| *spans)
    }

    /// Dropped in all.
    pub fn dropped_total(&self) -> u64 {
        self.dropped.iter().map(|(_, spans)| spans).sum()
    }

    /// `otelcol_exporter_send_failed_spans`: dropped after they were queued.
    pub fn send_failed(&self) -> u64 {
        self.dropped_total() - self.dropped_for(Reason::QueueFull)
    }

    /// Whether the books add up.
    pub fn holds(&self) -> bool {
        self.accepted + self.synthetic
            == self.sent + self.queued + self.in_flight + self.dropped_total()
    }
}
