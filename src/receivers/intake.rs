//! The queue between the receivers and the engine: bounded in requests and in bytes.
//!
//! Invariant: what was taken comes out, in the order in which it was taken; what finds no room is refused
//! whole, before the client was told anything.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;

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
    freed: Arc<Notify>,
    /// Bytes and requests in the queue up to which nobody waits.
    easy: Load,
    wait_for_room: Duration,
    retry_after: Duration,
    pressure: Pressure,
}

/// The engine's end.
#[derive(Debug)]
pub struct Arrivals {
    receiver: mpsc::Receiver<(Reading, Held)>,
    freed: Arc<Notify>,
}

/// One part in so many of the queue may be full before clients are made to wait: what waits here is memory, and time until
/// it is judged.
const EASY: usize = 4;

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
    let freed = Arc::<Notify>::default();
    let most = usize::try_from(settings.max_bytes).unwrap_or(usize::MAX);
    let intake = Intake {
        sender,
        freed: Arc::clone(&freed),
        easy: Load {
            bytes: most / EASY,
            number: settings.max_requests / EASY,
        },
        wait_for_room: settings.wait_for_room,
        waiting: budget(settings.max_bytes, settings.max_requests.max(1)),
        arriving: budget(settings.max_arriving_bytes, usize::MAX),
        retry_after: settings.retry_after,
        pressure,
    };
    (intake, Arrivals { receiver, freed })
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

    /// Waits until a request of `client` finds the queue easy, but not for long: a client that has to wait for its answer
    /// slows down, one that is refused sends all again, later and out of order. Whoever has waited in vain is refused
    /// only if there is no room at all. A backend without room is not waited for.
    pub(super) async fn wait_for_room(&self, client: Client) {
        let easy = async {
            loop {
                let mut freed = std::pin::pin!(self.freed.notified());
                // What is freed from now on is heard.
                freed.as_mut().enable();
                match self.has_room(client) {
                    Ok(()) if self.is_easy() => return,
                    Ok(()) | Err(NoRoom::Full | NoRoom::Share) => freed.await,
                    Err(NoRoom::Backend | NoRoom::Closed) => return,
                }
            }
        };
        // Late or not: the queue has the last word.
        let _ = timeout(self.wait_for_room, easy).await;
    }

    fn is_easy(&self) -> bool {
        self.bytes() <= self.easy.bytes && self.requests() <= self.easy.number
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
        let next = self.receiver.recv().await;
        next.map(|next| self.free(next))
    }

    /// The next request if there is one.
    pub fn try_next(&mut self) -> Option<Reading> {
        let next = self.receiver.try_recv().ok();
        next.map(|next| self.free(next))
    }

    /// Takes nothing more; what waits still comes out.
    pub fn close(&mut self) {
        self.receiver.close();
        self.freed.notify_waiters();
    }

    /// What a request held of the queue is given back here.
    fn free(&self, (reading, held): (Reading, Held)) -> Reading {
        drop(held);
        self.freed.notify_waiters();
        reading
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::steps::Reader;

    /// Who finds more than a quarter of the queue full waits until it is less, and then goes on.
    #[tokio::test]
    async fn a_short_jam_is_waited_for() {
        let settings = IntakeSettings {
            max_requests: 8,
            wait_for_room: Duration::from_millis(20),
            ..IntakeSettings::default()
        };
        let (intake, mut arrivals) = intake(&settings, Pressure::default());
        let client = Client::Token(1);
        let mut reader = Reader::new(Arc::default());
        let mut offer = || {
            let reading = reader.read(Bytes::new()).unwrap();
            intake.try_offer(reading, client).unwrap();
        };
        (0..3).for_each(|_| offer());
        {
            let mut waiting = std::pin::pin!(intake.wait_for_room(client));
            tokio::select! {
                biased;
                () = &mut waiting => panic!("three of eight are more than a quarter"),
                () = tokio::task::yield_now() => {}
            }
            arrivals.next().await.unwrap();
            waiting.await;
        }
        assert_eq!(intake.requests(), 2);
        // Nobody takes anything: when the time is over there is still room.
        offer();
        intake.wait_for_room(client).await;
        offer();
        // The engine has ended: nobody waits for it.
        arrivals.close();
        intake.wait_for_room(client).await;
        assert_eq!(intake.has_room(client), Err(NoRoom::Closed));
    }
}
