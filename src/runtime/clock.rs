//! The only place that asks what time it is.
//!
//! Invariant: time does not run backwards within one process. When somebody sets the clock back it
//! stands still here until the old time is reached again, so that no timer can be cheated.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::model::Timestamp;

static LATEST: AtomicU64 = AtomicU64::new(0);

/// The wall clock, in nanoseconds since the epoch; never less than an earlier answer.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = since.map_or(0, |since| {
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    });
    Timestamp::from_nanos(latest(&LATEST, nanos))
}

/// A moment of the steady clock, for measuring how long something took and for deadlines.
pub fn instant() -> Instant {
    Instant::now()
}

/// The greater of `nanos` and everything seen before.
fn latest(seen: &AtomicU64, nanos: u64) -> u64 {
    seen.fetch_max(nanos, Ordering::Relaxed).max(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_does_not_run_backwards() {
        let seen = AtomicU64::new(0);
        assert_eq!(latest(&seen, 5), 5);
        assert_eq!(latest(&seen, 3), 5);
        assert_eq!(latest(&seen, 6), 6);
        assert!(now() <= now());
    }
}
