//! What a receiver has taken and turned away, per transport.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of one receiver and transport. A span is accepted, refused or failed once, when its request
/// is answered.
#[derive(Debug, Default)]
pub struct Counters {
    /// Spans taken by the queue.
    pub accepted_spans: AtomicU64,
    /// Good spans turned away retryably: no room.
    pub refused_spans: AtomicU64,
    /// Malformed spans, cut out and reported in `partial_success`.
    pub failed_spans: AtomicU64,
    /// Requests answered with success.
    pub accepted_requests: AtomicU64,
    /// Requests turned away retryably.
    pub refused_requests: AtomicU64,
    /// Requests that can never succeed: malformed, too large, of an unknown kind.
    pub failed_requests: AtomicU64,
}

impl Counters {
    /// A counter's present value.
    pub fn read(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }
}

/// Adds to a counter.
pub(super) fn add(counter: &AtomicU64, n: u64) {
    counter.fetch_add(n, Ordering::Relaxed);
}
