//! What a receiver has taken and turned away, per transport.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::model::Signal;

/// Counters of one receiver and transport. A span, log record or data point is accepted, refused or failed once,
/// when its request is answered.
#[derive(Debug, Default)]
pub struct Counters {
    /// Spans, taken by the queue to the engine.
    pub spans: Items,
    /// Log records, taken by the queues of exporters.
    pub log_records: Items,
    /// Data points of metrics, taken by the queues of exporters.
    pub data_points: Items,
    /// Requests answered with success.
    pub accepted_requests: AtomicU64,
    /// Requests turned away retryably.
    pub refused_requests: AtomicU64,
    /// Those of them that held spans: they will come again, out of order.
    pub refused_traces: AtomicU64,
    /// Requests that can never succeed: malformed, too large, of an unknown kind.
    pub failed_requests: AtomicU64,
    /// Requests in JSON that were taken, of which names were ignored that look like mistakes.
    pub misspelt_requests: AtomicU64,
    /// Requests without a valid token; they are among those that failed.
    pub unauthenticated: AtomicU64,
    /// Connections that ended in their TLS handshake.
    pub failed_handshakes: AtomicU64,
}

/// What became of the items of one signal.
#[derive(Debug, Default)]
pub struct Items {
    /// Taken.
    pub accepted: AtomicU64,
    /// Good ones turned away retryably: no room.
    pub refused: AtomicU64,
    /// Malformed ones, cut out and reported in `partial_success`.
    pub failed: AtomicU64,
}

impl Counters {
    /// What became of the items of a signal.
    pub fn of(&self, signal: Signal) -> &Items {
        match signal {
            Signal::Traces => &self.spans,
            Signal::Logs => &self.log_records,
            Signal::Metrics => &self.data_points,
        }
    }

    /// A counter's present value.
    pub fn read(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }
}

/// Adds to a counter.
pub(super) fn add(counter: &AtomicU64, n: u64) {
    counter.fetch_add(n, Ordering::Relaxed);
}
