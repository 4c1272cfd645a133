//! Time as data. There is no `now` here: clocks are read in `runtime` and handed in.

use std::time::Duration;

/// Nanoseconds since the Unix epoch. Arithmetic saturates: event time comes from strangers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The earliest moment.
    pub const ZERO: Self = Self(0);
    /// Later than every moment that can be sent.
    pub const MAX: Self = Self(u64::MAX);

    /// A moment given in nanoseconds since the epoch.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the epoch.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// This moment plus `span`, at most [`Timestamp::MAX`].
    pub fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(nanos_of(span)))
    }

    /// This moment minus `span`, at least [`Timestamp::ZERO`].
    pub fn minus(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(nanos_of(span)))
    }

    /// Time passed since `earlier`; zero when `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

fn nanos_of(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
