//! Where every protocol hands in what it received: inflate, read whole, queue, count.

use std::num::NonZero;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;

use bytes::Bytes;
use tokio::sync::Semaphore;

use crate::model::{Signal, printable};
use crate::otlp::status::PartialSuccess;
use crate::otlp::{self, BodyError, Malformed, Records};
use crate::steps::{self, Reader, Reading};

use super::counters::{Counters, Limited, add};
use super::inflate::{InflateError, Squeezed, inflate};
use super::intake::{Intake, NoRoom};
use super::refusal::{Refusal, shorten};
use super::routes::{Relay, Routes};
use super::shares::{Client, Held};

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
    /// What it holds.
    pub(super) signal: Signal,
    /// The bytes.
    pub(super) body: Bytes,
    /// How they are squeezed.
    pub(super) squeezed: Squeezed,
    /// How they are written.
    pub(super) written: Written,
    /// Most bytes when inflated.
    pub(super) limit: usize,
    /// Who sends it.
    pub(super) client: Client,
    /// What it has of the bytes that may be under way, until it is read.
    pub(super) held: Option<Held>,
}

/// Where the servers of one receiver hand in what they got: readers with their caches, and the queue, both shared
/// with the other receivers, and its own routes.
#[derive(Debug)]
pub struct Desk {
    readers: Arc<Readers>,
    intake: Intake,
    routes: Routes,
}

#[derive(Debug)]
struct Readers {
    settings: Arc<steps::Settings>,
    memory: Arc<steps::Memory>,
    idle: Mutex<Vec<Reader>>,
    /// Large bodies that may be taken apart at a time, one a core: more would only hold memory, and what a small
    /// body inflates to may be a thousand times its size.
    benches: Arc<Semaphore>,
}

impl Desk {
    /// A desk that reads with `settings` and hands on to `intake`. It takes spans alone.
    pub fn new(settings: Arc<steps::Settings>, intake: Intake) -> Self {
        let readers = Readers {
            settings,
            memory: Arc::default(),
            idle: Mutex::new(Vec::new()),
            benches: Arc::new(Semaphore::new(
                available_parallelism().map_or(2, NonZero::get),
            )),
        };
        Self {
            readers: Arc::new(readers),
            intake,
            routes: Routes::traces(),
        }
    }

    /// The desk of another receiver, with the same readers and the same queue.
    pub fn with_routes(&self, routes: Routes) -> Self {
        Self {
            readers: Arc::clone(&self.readers),
            intake: self.intake.clone(),
            routes,
        }
    }

    /// The queue behind.
    pub(super) fn intake(&self) -> &Intake {
        &self.intake
    }

    /// What is taken here.
    pub(super) fn routes(&self) -> &Routes {
        &self.routes
    }

    /// Takes a body or says why not. `None`: everything was taken.
    pub(super) async fn take(
        self: &Arc<Self>,
        parcel: Parcel,
        counters: &Arc<Counters>,
    ) -> Result<Option<PartialSuccess>, Refusal> {
        self.intake.wait_for_room(parcel.client).await;
        if parcel.body.len() < OFF_THE_REACTOR {
            return self.work(parcel, counters);
        }
        // Never closed; and without a bench the work would still have to be done.
        let bench = Arc::clone(&self.readers.benches).acquire_owned().await;
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
        let signal = parcel.signal;
        let outcome = self.take_apart(parcel, counters);
        match &outcome {
            Ok(_) => add(&counters.accepted_requests, 1),
            Err(refusal) => counters.turn_away(refusal, signal == Signal::Traces),
        }
        outcome
    }

    fn take_apart(
        &self,
        mut parcel: Parcel,
        counters: &Counters,
    ) -> Result<Option<PartialSuccess>, Refusal> {
        // Under way until it is read and handed on.
        let _held = parcel.held.take();
        let (signal, client) = (parcel.signal, parcel.client);
        let (body, hint) = unpack(parcel)?;
        let partial = match (signal, &self.routes.logs, &self.routes.metrics) {
            (Signal::Traces, ..) if self.routes.traces => self.spans(body, client, counters),
            (Signal::Logs, Some(relay), _) => self.records(body, relay, client, counters),
            (Signal::Metrics, _, Some(relay)) => self.points(body, relay, client, counters),
            _ => Err(Refusal::no_pipeline(signal, &self.routes)),
        }?;
        Ok(match hint {
            Some(hint) => Some(hinted(signal, partial, hint, counters)),
            None => partial,
        })
    }

    fn spans(
        &self,
        body: Bytes,
        client: Client,
        counters: &Counters,
    ) -> Result<Option<PartialSuccess>, Refusal> {
        // Under pressure a body costs a walk over its frames and no more.
        if let Err(reason) = self.intake.has_room(client) {
            let spans = u64::from(otlp::count_spans(&body));
            return Err(self.refuse(Signal::Traces, reason, spans, counters));
        }
        let reading = self
            .with_reader(|reader| reader.read(body))
            .map_err(|error| Refusal::malformed(error.path(), &error))?;
        let partial = partial(Signal::Traces, &reading.malformed);
        let spans = u64::from(reading.spans);
        if spans > 0 {
            self.intake
                .try_offer(reading, client)
                .map_err(|reason| self.refuse(Signal::Traces, reason, spans, counters))?;
        }
        Ok(taken(Signal::Traces, spans, partial, counters))
    }

    fn records(
        &self,
        body: Bytes,
        relay: &Relay,
        client: Client,
        counters: &Counters,
    ) -> Result<Option<PartialSuccess>, Refusal> {
        if let Err(reason) = self.room_of(relay, client) {
            let records = u64::from(otlp::count_spans(&body));
            return Err(self.refuse(Signal::Logs, reason, records, counters));
        }
        let (read, told) = self
            .read_records(body)
            .map_err(|error| Refusal::malformed(error.path(), &error))?;
        let partial = partial(Signal::Logs, &read.malformed);
        let records = u64::from(read.records);
        // What they tell is taken first: a request that the engine has no room for is refused whole.
        if let Some(told) = told {
            self.intake
                .try_offer(told, client)
                .map_err(|reason| self.refuse(Signal::Logs, reason, records, counters))?;
        }
        if records > 0 {
            relay.pass(read.body, records);
        }
        Ok(taken(Signal::Logs, records, partial, counters))
    }

    /// Reads log records; where that is asked for, also what they tell of agents, if anything.
    fn read_records(&self, body: Bytes) -> Result<(Records, Option<Reading>), BodyError> {
        if !self.routes.reads_logs {
            return Ok((otlp::read_records(body, |_| {})?, None));
        }
        let (records, told) = self.with_reader(|reader| reader.read_records(body))?;
        Ok((records, Some(told).filter(|told| !told.is_empty())))
    }

    fn points(
        &self,
        body: Bytes,
        relay: &Relay,
        client: Client,
        counters: &Counters,
    ) -> Result<Option<PartialSuccess>, Refusal> {
        let points =
            otlp::check_metrics(&body).map_err(|error| Refusal::malformed(error.path(), &error))?;
        if let Err(reason) = self.room_of(relay, client) {
            return Err(self.refuse(Signal::Metrics, reason, points, counters));
        }
        // A metric without points is passed on too: it may hold what we do not know.
        if !body.is_empty() {
            relay.pass(body, points);
        }
        Ok(taken(Signal::Metrics, points, None, counters))
    }

    /// Whether what is passed on would find room behind us.
    fn room_of(&self, relay: &Relay, client: Client) -> Result<(), NoRoom> {
        match self.intake.has_room(client) {
            Err(NoRoom::Closed) => Err(NoRoom::Closed),
            _ if relay.has_room() => Ok(()),
            _ => Err(NoRoom::Backend),
        }
    }

    /// Readers own caches: each is used by one request at a time and then put back.
    fn with_reader<T>(&self, read: impl FnOnce(&mut Reader) -> T) -> T {
        let readers = &self.readers;
        let idle = || readers.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = idle().pop();
        let mut reader = taken.unwrap_or_else(|| {
            let (settings, memory) = (&readers.settings, &readers.memory);
            Reader::sharing(Arc::clone(settings), Arc::clone(memory))
        });
        let done = read(&mut reader);
        idle().push(reader);
        done
    }

    fn refuse(&self, signal: Signal, reason: NoRoom, items: u64, counters: &Counters) -> Refusal {
        add(&counters.of(signal).refused, items);
        let mut refusal = Refusal::no_room(self.intake.retry_after(), &reason.to_string());
        refusal.limit = (reason == NoRoom::Share).then_some(Limited::Share);
        refusal
    }
}

/// The body in protobuf, and what to tell the client of names that were ignored.
fn unpack(parcel: Parcel) -> Result<(Bytes, Option<String>), Refusal> {
    let body =
        inflate(parcel.body, parcel.squeezed, parcel.limit).map_err(|error| match error {
            InflateError::TooLarge(limit) => Refusal::too_large(limit),
            InflateError::Broken(why) => Refusal::malformed("", &why),
        })?;
    if parcel.written == Written::Protobuf || body.is_empty() {
        return Ok((body, None));
    }
    otlp::transcode_with_hint(parcel.signal, &body)
        .map_err(|error| Refusal::malformed(error.path(), &error))
}

/// The answer with a hint: a warning, when all was taken. The log has the first, second, fourth, eighth, ...
/// of them, so that one sender cannot fill it.
fn hinted(
    signal: Signal,
    partial: Option<PartialSuccess>,
    hint: String,
    counters: &Counters,
) -> PartialSuccess {
    let requests = counters.misspelt_requests.fetch_add(1, Ordering::Relaxed) + 1;
    if requests.is_power_of_two() {
        let (signal, hint) = (signal.name(), printable(&hint));
        tracing::warn!(signal, requests, %hint, "names in OTLP/JSON were ignored");
    }
    match partial {
        Some(partial) => PartialSuccess {
            message: shorten(format!("{}; {hint}", partial.message)),
            ..partial
        },
        None => PartialSuccess {
            rejected_spans: 0,
            message: shorten(hint),
        },
    }
}

/// Counts what was taken and what was not.
fn taken(
    signal: Signal,
    items: u64,
    partial: Option<PartialSuccess>,
    counters: &Counters,
) -> Option<PartialSuccess> {
    let failed = partial.as_ref().map_or(0, |partial| partial.rejected_spans);
    add(&counters.of(signal).accepted, items);
    add(&counters.of(signal).failed, failed);
    partial
}

/// The words for spans or log records that were cut out.
fn partial(signal: Signal, malformed: &Malformed) -> Option<PartialSuccess> {
    let rejected = malformed.total();
    if rejected == 0 {
        return None;
    }
    let noun = if rejected == 1 {
        signal.item()
    } else {
        signal.items()
    };
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
            signal: Signal::Traces,
            body: Bytes::from(vec![b' '; OFF_THE_REACTOR]),
            squeezed: Squeezed::No,
            written: Written::Json,
            limit: 1 << 20,
            client: Client::Token(0),
            held: None,
        };
        let (intake, _arrivals) = intake(&IntakeSettings::default(), Pressure::default());
        let desk = Arc::new(Desk::new(Arc::default(), intake));
        let counters = Arc::new(Counters::default());
        let all = u32::try_from(desk.readers.benches.available_permits()).unwrap();
        let taken = desk.readers.benches.acquire_many(all).await.unwrap();
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
