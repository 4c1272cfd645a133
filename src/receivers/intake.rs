//! The queue between the receivers and the engine: bounded in requests and in bytes.
//!
//! Invariant: what was taken comes out, in the order in which it was taken; what finds no room is refused
//! whole, before the client was told anything.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::model::Pressure;
use crate::steps::Reading;

use super::IntakeSettings;
use super::shares::{Client, Held, Load, Over, Shares};

/// The receivers' end. Clones are one queue; when the last is gone, [`Arrivals`] ends.
#[derive(Clone, Debug)]
pub struct Intake {
    sender: mpsc::Sender<(Reading, Held)>,
    waiting: Arc<Shares>,
    arriving: Arc<Shares>,
    retry_after: Duration,
    pressure: Pressure,
}

/// The engine's end.
#[derive(Debug)]
pub struct Arrivals {
    receiver: mpsc::Receiver<(Reading, Held)>,
}

/// Why a request was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoRoom {
    /// The queue holds as many requests or bytes as it may.
    #[error("the queue to the engine is full")]
    Full,
    /// Others wait, and the client has its share of the queue.
    #[error("the queue to the engine is shared, and this client's part of it is full")]
    Share,
    /// A destination behind us has no room.
    #[error("a backend behind this collector takes nothing and its queue is full")]
    Backend,
    /// The engine has ended.
    #[error("this collector is shutting down")]
    Closed,
}

impl From<Over> for NoRoom {
    fn from(over: Over) -> Self {
        match over {
            Over::Full => Self::Full,
            Over::Share => Self::Share,
        }
    }
}

/// A queue. While `pressure` is on, nothing is taken.
pub fn intake(settings: &IntakeSettings, pressure: Pressure) -> (Intake, Arrivals) {
    let (sender, receiver) = mpsc::channel(settings.max_requests.max(1));
    let budget = |bytes: u64, number: usize| {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        Shares::new(Load { bytes, number }, settings.fair_share)
    };
    let intake = Intake {
        sender,
        waiting: budget(settings.max_bytes, settings.max_requests.max(1)),
        arriving: budget(settings.max_arriving_bytes, usize::MAX),
        retry_after: settings.retry_after,
        pressure,
    };
    (intake, Arrivals { receiver })
}

impl Intake {
    /// Whether a request of `client` would be refused now. Asked before a body is taken apart; [`Intake::try_offer`]
    /// has the last word.
    pub fn has_room(&self, client: Client) -> Result<(), NoRoom> {
        if self.sender.is_closed() {
            return Err(NoRoom::Closed);
        }
        if self.pressure.is_on() {
            return Err(NoRoom::Backend);
        }
        Ok(self.waiting.ask(client)?)
    }

    /// Puts a request into the queue, or refuses it. One that alone is larger than the queue is taken
    /// when the queue is empty: its size limit is the receiver's business.
    pub fn try_offer(&self, reading: Reading, client: Client) -> Result<(), NoRoom> {
        self.has_room(client)?;
        let load = Load {
            bytes: reading.body.len(),
            number: 1,
        };
        let held = self.waiting.take(client, load)?;
        let sent = self.sender.try_send((reading, held));
        sent.map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => NoRoom::Full,
            mpsc::error::TrySendError::Closed(_) => NoRoom::Closed,
        })
    }

    /// Begins to count a body of `client` that arrives.
    pub(super) fn arriving(&self, client: Client) -> Result<Held, Over> {
        let begun = Load {
            bytes: 0,
            number: 1,
        };
        self.arriving.take(client, begun)
    }

    /// Bytes of bodies that are not wholly here yet, or are being read.
    pub fn arriving_bytes(&self) -> usize {
        self.arriving.bytes()
    }

    /// What a refused client is told to wait.
    pub fn retry_after(&self) -> Duration {
        self.retry_after
    }

    /// Bytes of bodies that wait.
    pub fn bytes(&self) -> usize {
        self.waiting.bytes()
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
        // What it held of the queue is given back here.
        self.receiver.recv().await.map(|(reading, _)| reading)
    }

    /// The next request if there is one.
    pub fn try_next(&mut self) -> Option<Reading> {
        self.receiver.try_recv().ok().map(|(reading, _)| reading)
    }

    /// Takes nothing more; what waits still comes out.
    pub fn close(&mut self) {
        self.receiver.close();
    }
}
