//! Where every protocol hands in what it received: inflate, read whole, queue, count.

use std::num::NonZero;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;

use bytes::Bytes;
use tokio::sync::Semaphore;

use crate::otlp::status::PartialSuccess;
use crate::otlp::{self, Malformed};
use crate::steps::{self, Reader, Reading};

use super::counters::{Counters, add};
use super::inflate::{InflateError, Squeezed, inflate};
use super::intake::{Intake, NoRoom};
use super::refusal::{Refusal, shorten};

/// Bodies from this size on are taken apart away from the tasks that serve connections. Below it the hop
/// costs more than the work.
const OFF_THE_REACTOR: usize = 256 << 10;

/// How a request's body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// application/x-protobuf, and gRPC.
    Protobuf,
    /// application/json.
    Json,
}

/// A body as it came.
#[derive(Debug)]
pub(super) struct Parcel {
    /// The bytes.
    pub(super) body: Bytes,
    /// How they are squeezed.
    pub(super) squeezed: Squeezed,
    /// How they are written.
    pub(super) written: Written,
    /// Most bytes when inflated.
    pub(super) limit: usize,
}

/// Shared by all servers: readers with their caches, and the queue.
#[derive(Debug)]
pub struct Desk {
    settings: Arc<steps::Settings>,
    idle: Mutex<Vec<Reader>>,
    intake: Intake,
    /// Large bodies that may be taken apart at a time, one a core: more would only hold memory, and what a small
    /// body inflates to may be a thousand times its size.
    benches: Arc<Semaphore>,
}

impl Desk {
    /// A desk that reads with `settings` and hands on to `intake`.
    pub fn new(settings: Arc<steps::Settings>, intake: Intake) -> Self {
        Self {
            settings,
            idle: Mutex::new(Vec::new()),
            intake,
            benches: Arc::new(Semaphore::new(
                available_parallelism().map_or(2, NonZero::get),
            )),
        }
    }

    /// Takes a body or says why not. `None`: everything was taken.
    pub(super) async fn take(
        self: &Arc<Self>,
        parcel: Parcel,
        counters: &Arc<Counters>,
    ) -> Result<Option<PartialSuccess>, Refusal> {
        if parcel.body.len() < OFF_THE_REACTOR {
            return self.work(parcel, counters);
        }
        // Never closed; and without a bench the work would still have to be done.
        let bench = Arc::clone(&self.benches).acquire_owned().await;
        let (desk, theirs) = (Arc::clone(self), Arc::clone(counters));
        let work = tokio::task::spawn_blocking(move || {
            // Held by the work, which goes on when the client does not wait for it.
            let _bench = bench;
            desk.work(parcel, &theirs)
        });
        work.await.unwrap_or_else(|panic| {
            tracing::error!(%panic, "reading a request failed in a way it never should");
            add(&counters.failed_requests, 1);
            Err(Refusal::malformed("", &"the request could not be read"))
        })
    }

    fn work(&self, parcel: Parcel, counters: &Counters) -> Result<Option<PartialSuccess>, Refusal> {
        let outcome = self.take_apart(parcel, counters);
        let counter = match &outcome {
            Ok(_) => &counters.accepted_requests,
            Err(refusal) if refusal.retry_after.is_some() => &counters.refused_requests,
            Err(_) => &counters.failed_requests,
        };
        add(counter, 1);
        outcome
    }

    fn take_apart(
        &self,
        parcel: Parcel,
        counters: &Counters,
    ) -> Result<Option<PartialSuccess>, Refusal> {
        let Parcel {
            body,
            squeezed,
            written,
            limit,
        } = parcel;
        let body = inflate(body, squeezed, limit).map_err(|error| match error {
            InflateError::TooLarge(limit) => Refusal::too_large(limit),
            InflateError::Broken(why) => Refusal::malformed("", &why),
        })?;
        let body = match written {
            Written::Protobuf => body,
            Written::Json if body.is_empty() => body,
            Written::Json => {
                otlp::transcode(&body).map_err(|error| Refusal::malformed(error.path(), &error))?
            }
        };
        // Under pressure a body costs a walk over its frames and no more.
        if let Err(reason) = self.intake.has_room() {
            let spans = u64::from(otlp::count_spans(&body));
            return Err(self.refuse(reason, spans, counters));
        }
        let reading = self
            .read(body)
            .map_err(|error| Refusal::malformed(error.path(), &error))?;
        let (spans, partial) = (u64::from(reading.spans), partial(&reading.malformed));
        if spans > 0 {
            self.intake
                .try_offer(reading)
                .map_err(|reason| self.refuse(reason, spans, counters))?;
        }
        add(&counters.accepted_spans, spans);
        add(
            &counters.failed_spans,
            partial.as_ref().map_or(0, |partial| partial.rejected_spans),
        );
        Ok(partial)
    }

    /// Readers own caches: each is used by one request at a time and then put back.
    fn read(&self, body: Bytes) -> Result<Reading, otlp::BodyError> {
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        let mut reader = idle.unwrap_or_else(|| Reader::new(Arc::clone(&self.settings)));
        let reading = reader.read(body);
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(reader);
        reading
    }

    fn refuse(&self, reason: NoRoom, spans: u64, counters: &Counters) -> Refusal {
        add(&counters.refused_spans, spans);
        Refusal::no_room(self.intake.retry_after(), &reason.to_string())
    }
}

/// The words for spans that were cut out.
fn partial(malformed: &Malformed) -> Option<PartialSuccess> {
    let rejected = malformed.total();
    if rejected == 0 {
        return None;
    }
    let noun = if rejected == 1 { "span" } else { "spans" };
    let first = malformed.first.as_deref().unwrap_or("malformed");
    Some(PartialSuccess {
        rejected_spans: rejected,
        message: shorten(format!(
            "{rejected} malformed {noun} not taken; the first: {first}"
        )),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Pressure;
    use crate::receivers::IntakeSettings;
    use crate::receivers::intake::intake;

    #[tokio::test]
    async fn large_bodies_wait_for_a_bench() {
        let parcel = || Parcel {
            body: Bytes::from(vec![b' '; OFF_THE_REACTOR]),
            squeezed: Squeezed::No,
            written: Written::Json,
            limit: 1 << 20,
        };
        let (intake, _arrivals) = intake(&IntakeSettings::default(), Pressure::default());
        let desk = Arc::new(Desk::new(Arc::default(), intake));
        let counters = Arc::new(Counters::default());
        let all = u32::try_from(desk.benches.available_permits()).unwrap();
        let taken = desk.benches.acquire_many(all).await.unwrap();
        let mut waiting = std::pin::pin!(desk.take(parcel(), &counters));
        tokio::select! {
            biased;
            _ = &mut waiting => panic!("all benches were taken"),
            () = tokio::task::yield_now() => {}
        }
        drop(taken);
        assert!(waiting.await.is_err(), "blanks are no request");
        assert_eq!(Counters::read(&counters.failed_requests), 1);
    }
}
