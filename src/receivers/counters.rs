//! What a receiver has taken and turned away, per transport.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::model::Signal;

use super::refusal::{Code, Refusal};

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
    /// Connections that are open.
    pub open_connections: AtomicU64,
    closed: [AtomicU64; Closed::ALL.len()],
    limited: [AtomicU64; Limited::ALL.len()],
}

/// Why a connection was ended by us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// There were as many as may be.
    TooMany,
    /// Its client had its share of them, and others were there.
    Share,
    /// Its TLS handshake failed, or took too long.
    Handshake,
    /// It did not say in time what it wants.
    Silent,
    /// It did nothing for long.
    Idle,
    /// It was as old as may be.
    Age,
}

impl Closed {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::TooMany,
        Self::Share,
        Self::Handshake,
        Self::Silent,
        Self::Idle,
        Self::Age,
    ];

    /// Its name as a label.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TooMany => "too_many",
            Self::Share => "share",
            Self::Handshake => "handshake",
            Self::Silent => "silent",
            Self::Idle => "idle",
            Self::Age => "age",
        }
    }
}

/// The limit that turned a request away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limited {
    /// Its headers were too large.
    Headers,
    /// It was too large.
    Size,
    /// It took too long.
    ReadTimeout,
    /// Too many bytes of all clients were under way.
    Arriving,
    /// Its client had its share, and others were there.
    Share,
}

impl Limited {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Headers,
        Self::Size,
        Self::ReadTimeout,
        Self::Arriving,
        Self::Share,
    ];

    /// Its name as a label.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Headers => "headers",
            Self::Size => "size",
            Self::ReadTimeout => "read_timeout",
            Self::Arriving => "arriving",
            Self::Share => "share",
        }
    }
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

    /// Connections that were ended by us for a reason.
    pub fn closed(&self, why: Closed) -> u64 {
        self.closed.get(why as usize).map_or(0, Self::read)
    }

    /// Requests that a limit turned away.
    pub fn limited(&self, by: Limited) -> u64 {
        self.limited.get(by as usize).map_or(0, Self::read)
    }

    /// Counts a connection that is ended by us; `true` for the first, second, fourth, eighth, ...: worth a line in the
    /// log, which one client cannot fill so.
    pub(super) fn close(&self, why: Closed) -> bool {
        self.closed.get(why as usize).is_some_and(tell)
    }

    /// Counts a request that is turned away. `spans`: it was to hold some.
    pub(super) fn turn_away(&self, refusal: &Refusal, spans: bool) {
        let again = refusal.retry_after.is_some();
        add(
            if again {
                &self.refused_requests
            } else {
                &self.failed_requests
            },
            1,
        );
        if again && spans {
            add(&self.refused_traces, 1);
        }
        if refusal.code == Code::Unauthenticated && tell(&self.unauthenticated) {
            let refused = Self::read(&self.unauthenticated);
            tracing::warn!(refused, "a request without a valid token was refused");
        }
        if let Some(limit) = refusal.limit
            && self.limited.get(limit as usize).is_some_and(tell)
        {
            let (limit, requests) = (limit.name(), self.limited(limit));
            let why = refusal.message.as_str();
            tracing::warn!(limit, requests, why, "a request met a limit");
        }
    }

    /// A counter's present value.
    pub fn read(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }
}

/// Adds one; whether the log is to have a line of it.
fn tell(counter: &AtomicU64) -> bool {
    (counter.fetch_add(1, Ordering::Relaxed) + 1).is_power_of_two()
}

/// Adds to a counter.
pub(super) fn add(counter: &AtomicU64, n: u64) {
    counter.fetch_add(n, Ordering::Relaxed);
}
