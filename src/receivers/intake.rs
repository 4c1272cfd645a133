//! The queue between the receivers and the engine: bounded in requests and in bytes.
//!
//! Invariant: what was taken comes out, in the order in which it was taken; what finds no room is refused
//! whole, before the client was told anything.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;

use crate::model::Pressure;
use crate::steps::Reading;

use super::IntakeSettings;

/// The receivers' end. Clones are one queue; when the last is gone, [`Arrivals`] ends.
#[derive(Clone, Debug)]
pub struct Intake {
    sender: mpsc::Sender<Reading>,
    bytes: Arc<AtomicUsize>,
    max_bytes: usize,
    retry_after: Duration,
    pressure: Pressure,
}

/// The engine's end.
#[derive(Debug)]
pub struct Arrivals {
    receiver: mpsc::Receiver<Reading>,
    bytes: Arc<AtomicUsize>,
}

/// Why a request was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoRoom {
    /// The queue holds as many requests or bytes as it may.
    #[error("the queue to the engine is full")]
    Full,
    /// A destination behind us has no room.
    #[error("a backend behind this collector takes nothing and its queue is full")]
    Backend,
    /// The engine has ended.
    #[error("this collector is shutting down")]
    Closed,
}

/// A queue. While `pressure` is on, nothing is taken.
pub fn intake(settings: &IntakeSettings, pressure: Pressure) -> (Intake, Arrivals) {
    let (sender, receiver) = mpsc::channel(settings.max_requests.max(1));
    let bytes = Arc::new(AtomicUsize::new(0));
    let intake = Intake {
        sender,
        bytes: Arc::clone(&bytes),
        max_bytes: usize::try_from(settings.max_bytes).unwrap_or(usize::MAX),
        retry_after: settings.retry_after,
        pressure,
    };
    (intake, Arrivals { receiver, bytes })
}

impl Intake {
    /// Whether a request would be refused now. Asked before a body is taken apart; [`Intake::try_offer`]
    /// has the last word.
    pub fn has_room(&self) -> Result<(), NoRoom> {
        if self.sender.is_closed() {
            return Err(NoRoom::Closed);
        }
        if self.pressure.is_on() {
            return Err(NoRoom::Backend);
        }
        if self.sender.capacity() == 0 || self.bytes() >= self.max_bytes {
            return Err(NoRoom::Full);
        }
        Ok(())
    }

    /// Puts a request into the queue, or refuses it. One that alone is larger than the queue is taken
    /// when the queue is empty: its size limit is the receiver's business.
    pub fn try_offer(&self, reading: Reading) -> Result<(), NoRoom> {
        self.has_room()?;
        let size = reading.body.len();
        let before = self.bytes.fetch_add(size, Ordering::AcqRel);
        if before > 0 && before.saturating_add(size) > self.max_bytes {
            self.bytes.fetch_sub(size, Ordering::AcqRel);
            return Err(NoRoom::Full);
        }
        self.sender.try_send(reading).map_err(|error| {
            self.bytes.fetch_sub(size, Ordering::AcqRel);
            match error {
                mpsc::error::TrySendError::Full(_) => NoRoom::Full,
                mpsc::error::TrySendError::Closed(_) => NoRoom::Closed,
            }
        })
    }

    /// What a refused client is told to wait.
    pub fn retry_after(&self) -> Duration {
        self.retry_after
    }

    /// Bytes of bodies that wait.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Acquire)
    }

    /// Requests that wait.
    pub fn requests(&self) -> usize {
        self.sender
            .max_capacity()
            .saturating_sub(self.sender.capacity())
    }
}

impl Arrivals {
    /// The next request; `None` when the queue is empty and every [`Intake`] is gone.
    pub async fn next(&mut self) -> Option<Reading> {
        let reading = self.receiver.recv().await?;
        Some(self.took(reading))
    }

    /// The next request if there is one.
    pub fn try_next(&mut self) -> Option<Reading> {
        let reading = self.receiver.try_recv().ok()?;
        Some(self.took(reading))
    }

    /// Takes nothing more; what waits still comes out.
    pub fn close(&mut self) {
        self.receiver.close();
    }

    fn took(&self, reading: Reading) -> Reading {
        self.bytes.fetch_sub(reading.body.len(), Ordering::AcqRel);
        reading
    }
}
