//! A word from the back of the house to the front: "no more for now".

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many destinations have no room. While it is not zero, receivers refuse retryably instead of taking
/// in what would be lost behind them. Clones are one gauge.
#[derive(Clone, Debug, Default)]
pub struct Pressure(Arc<AtomicUsize>);

impl Pressure {
    /// One more destination has no room.
    pub fn raise(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }

    /// One destination has room again. Each call answers one [`Pressure::raise`].
    pub fn release(&self) {
        let _ = self
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| n.checked_sub(1));
    }

    /// Whether any destination has no room.
    pub fn is_on(&self) -> bool {
        self.0.load(Ordering::Acquire) > 0
    }
}
