//! A word from the back of the house to the front: "no more for now".

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Which destinations have no room. While none of them has any, receivers refuse retryably instead of
/// taking in what would be lost behind them; as long as one has, it is not kept waiting for the others.
/// Clones are one gauge.
#[derive(Clone, Debug, Default)]
pub struct Pressure(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    destinations: AtomicUsize,
    full: AtomicUsize,
}

impl Pressure {
    /// There is one more destination.
    pub fn join(&self) {
        self.0.destinations.fetch_add(1, Ordering::AcqRel);
    }

    /// A destination is gone. Each call answers one [`Pressure::join`].
    pub fn leave(&self) {
        less(&self.0.destinations);
    }

    /// One more destination has no room.
    pub fn raise(&self) {
        self.0.full.fetch_add(1, Ordering::AcqRel);
    }

    /// One destination has room again. Each call answers one [`Pressure::raise`].
    pub fn release(&self) {
        less(&self.0.full);
    }

    /// Whether no destination has room.
    pub fn is_on(&self) -> bool {
        let full = self.0.full.load(Ordering::Acquire);
        full > 0 && full >= self.0.destinations.load(Ordering::Acquire)
    }
}

fn less(count: &AtomicUsize) {
    let _ = count.fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| n.checked_sub(1));
}
