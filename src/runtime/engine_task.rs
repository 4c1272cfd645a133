//! The one thread that owns the engine: requests in, time, questions; releases out.
//!
//! Invariant: nothing here waits for a destination. The loop turns at least once a second and says so,
//! and what was taken from the queue has been handed on before the thread ends.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use super::clock;
use super::coverage::Coverage;
use super::exemplars::Exemplars;
use super::guarded::{Guarded, Machine};
use super::telling::Telling;
use crate::control::health::Health;
use crate::control::notebook::Notebook;
use crate::engine::{Counters, Notice, Output, Status};
use crate::model::{AnomalyType, Release, Selection, Service, Timestamp, printable};
use crate::receivers::Arrivals;
use crate::steps::{Content, Reading};

/// Requests taken in before timers, questions and books are looked at again.
const AT_ONCE: usize = 64;
/// The loop turns at least this often, whether anything happens or not.
const TURN: Duration = Duration::from_secs(1);
/// How often the counters are copied out for those who read metrics.
const COPY: Duration = Duration::from_millis(200);
/// Questions that wait; more are refused.
const MESSAGES: usize = 16;

enum Message<M> {
    /// Look at this between two requests.
    Ask(Box<dyn FnOnce(&M) + Send>),
    /// Take nothing more, work off what waits, and end.
    Stop,
}

/// What the engine has counted, as of the last turn or so.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// The engine's own counters.
    pub counters: Counters,
    /// How much it has open.
    pub status: Status,
    /// What it looks for.
    pub types: Vec<AnomalyType>,
    /// Spans that went in.
    pub entered: u64,
    /// Spans that came out, those of our own making included.
    pub left: u64,
    /// Spans that went in and have not come out.
    pub held: u64,
    /// Engines that failed.
    pub panics: u64,
    /// Closed runs by service, and what could not be judged in them.
    pub coverage: Arc<Coverage>,
    /// Where the latest findings are.
    pub exemplars: Exemplars,
    /// Services and the content that they never sent.
    pub missing: Vec<(Service, Content)>,
}

/// Where releases go. Must not wait.
pub type Deliver = Box<dyn FnMut(Release) + Send>;

/// Requests that the receivers have refused retryably so far.
pub type Refused = Box<dyn Fn() -> u64 + Send>;

/// What the engine's thread works with.
pub struct Surroundings {
    /// The queue from the receivers.
    pub arrivals: Arrivals,
    /// Where releases go.
    pub deliver: Deliver,
    /// Where log records of findings go.
    pub record: Deliver,
    /// How many requests were refused.
    pub refused: Refused,
    /// Where the loop says that it turns.
    pub health: Arc<Health>,
    /// What pages show, where any are served.
    pub notebook: Option<Arc<Mutex<Notebook>>>,
}

/// What others keep of the running engine.
#[derive(Debug)]
pub struct Handle<M> {
    messages: mpsc::Sender<Message<M>>,
    snapshot: Arc<Mutex<Snapshot>>,
}

impl<M> Clone for Handle<M> {
    fn clone(&self) -> Self {
        Self {
            messages: self.messages.clone(),
            snapshot: self.snapshot.clone(),
        }
    }
}

impl<M: 'static> Handle<M> {
    /// The engine's books, at most a second old.
    pub fn snapshot(&self) -> Snapshot {
        lock(&self.snapshot).clone()
    }

    /// Asks the engine between two requests; `None` when it has ended or too many ask.
    pub async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&M) -> T + Send + 'static,
    ) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        let ask = Box::new(move |machine: &M| {
            // Whoever asked may have gone.
            let _ = answer.send(question(machine));
        });
        self.messages.try_send(Message::Ask(ask)).ok()?;
        answered.await.ok()
    }

    /// Tells the engine to work off what waits, to release what it holds, and to end.
    pub async fn stop(&self) {
        // An engine that has ended needs no telling.
        let _ = self.messages.send(Message::Stop).await;
    }
}

/// Starts the engine's thread. It ends when it is told to, or when every receiver's end of the queue is
/// gone; the queue is emptied and everything held is released before.
pub fn start<M: Machine + Send + 'static>(
    guarded: Guarded<M>,
    surroundings: Surroundings,
) -> std::io::Result<(Handle<M>, JoinHandle<()>)> {
    let (messages, told) = mpsc::channel(MESSAGES);
    let snapshot = Arc::new(Mutex::new(Snapshot::default()));
    let handle = Handle {
        messages,
        snapshot: snapshot.clone(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    let Surroundings {
        arrivals,
        deliver,
        record,
        refused,
        health,
        notebook,
    } = surroundings;
    let mut task = Task {
        guarded,
        deliver,
        record,
        refused,
        refusals: 0,
        health,
        notebook,
        snapshot,
        copied: clock::instant(),
        left: 0,
        out: Output::default(),
        telling: Telling::default(),
        coverage: Arc::default(),
        exemplars: Exemplars::default(),
    };
    task.copy(true);
    let thread = std::thread::Builder::new()
        .name("engine".to_owned())
        .spawn(move || runtime.block_on(task.run(arrivals, told)))?;
    Ok((handle, thread))
}

struct Task<M> {
    guarded: Guarded<M>,
    deliver: Deliver,
    record: Deliver,
    refused: Refused,
    refusals: u64,
    health: Arc<Health>,
    notebook: Option<Arc<Mutex<Notebook>>>,
    snapshot: Arc<Mutex<Snapshot>>,
    copied: Instant,
    left: u64,
    out: Output,
    telling: Telling,
    coverage: Arc<Coverage>,
    exemplars: Exemplars,
}

impl<M: Machine> Task<M> {
    async fn run(mut self, mut arrivals: Arrivals, mut told: mpsc::Receiver<Message<M>>) {
        loop {
            let wait = self.until_due(clock::now());
            tokio::select! {
                reading = arrivals.next() => {
                    let Some(reading) = reading else { break };
                    let mut next = Some(reading);
                    for _ in 0..AT_ONCE {
                        let Some(reading) = next else { break };
                        self.take(reading);
                        next = arrivals.try_next();
                    }
                    // The last one taken but not judged would be lost.
                    if let Some(reading) = next {
                        self.take(reading);
                    }
                }
                Some(message) = told.recv() => match message {
                    Message::Ask(question) => self.guarded.inspect(question),
                    Message::Stop => arrivals.close(),
                },
                () = tokio::time::sleep(wait) => {}
            }
            self.turn();
        }
        let now = clock::now();
        self.guarded.drain(now, &mut self.out);
        self.hand_on(now);
        self.telling.sum_up(now, true);
        self.copy(true);
        self.health.beat(now);
    }

    /// Takes in a request.
    fn take(&mut self, reading: Reading) {
        let now = clock::now();
        self.note(|notebook| notebook.see(&reading.steps, now));
        self.guarded.ingest(reading, now, &mut self.out);
    }

    /// Writes something down for the pages, where any are served.
    fn note(&self, write: impl FnOnce(&mut Notebook)) {
        if let Some(notebook) = &self.notebook {
            write(&mut lock(notebook));
        }
    }

    /// What is done each time round.
    fn turn(&mut self) {
        let now = clock::now();
        let refusals = (self.refused)();
        if refusals != self.refusals {
            self.refusals = refusals;
            self.guarded.note_refusal(now);
        }
        if self.guarded.next_due().is_some_and(|due| due <= now) {
            self.guarded.advance(now, &mut self.out);
        }
        self.hand_on(now);
        self.telling.sum_up(now, false);
        self.health.beat(now);
        self.copy(false);
    }

    fn until_due(&self, now: Timestamp) -> Duration {
        let due = self.guarded.next_due();
        due.map_or(TURN, |due| due.since(now)).min(TURN)
    }

    fn hand_on(&mut self, now: Timestamp) {
        for release in self.out.releases.drain(..) {
            self.left += u64::from(release.count);
            (self.deliver)(release);
        }
        if let Some(release) = joined(&mut self.out.records) {
            (self.record)(release);
        }
        for report in self.out.reports.drain(..) {
            self.telling.tell(&report, now);
            self.exemplars.note(&report);
            if let Some(notebook) = &self.notebook {
                lock(notebook).report(report, now);
            }
        }
        // Counted: whoever wants to read them replays.
        for quiet in self.out.quiet.drain(..) {
            tracing::debug!(
                r#type = quiet.report.finding.anomaly.name(),
                session = %printable(&quiet.report.session),
                why = ?quiet.why,
                "finding not told: {}", printable(&quiet.report.finding.message)
            );
        }
        for notice in self.out.notices.drain(..) {
            advise(&notice);
        }
        for closed in self.out.closed.drain(..) {
            Arc::make_mut(&mut self.coverage).note(&closed);
            if let Some(notebook) = &self.notebook {
                lock(notebook).close(closed);
            }
        }
        for (anomaly, off) in self.out.panics.drain(..) {
            let detector = anomaly.name();
            if off {
                tracing::error!(
                    detector,
                    "this detector has failed three times and is off until the next start"
                );
            } else {
                tracing::error!(
                    detector,
                    "this detector failed on a step: a failure of ours"
                );
            }
        }
    }

    fn copy(&mut self, at_any_rate: bool) {
        if !at_any_rate && self.copied.elapsed() < COPY {
            return;
        }
        self.copied = clock::instant();
        *lock(&self.snapshot) = Snapshot {
            counters: self.guarded.counters(),
            status: self.guarded.status(),
            types: self.guarded.types(),
            entered: self.guarded.entered(),
            left: self.left,
            held: self.guarded.held(),
            panics: self.guarded.panics(),
            coverage: self.coverage.clone(),
            exemplars: self.exemplars,
            missing: self.guarded.missing(),
        };
    }
}

/// The records of one turn as one request.
fn joined(records: &mut Vec<Bytes>) -> Option<Release> {
    if records.is_empty() {
        return None;
    }
    let count = u32::try_from(records.len()).unwrap_or(u32::MAX);
    let body = Bytes::from(records.concat());
    records.clear();
    Some(Release {
        body,
        spans: Selection::All,
        count,
        patches: Vec::new(),
        synthetic: true,
    })
}

/// What a service never sends is said once: nobody would miss a finding that cannot be made.
fn advise(notice: &Notice) {
    let service = printable(&notice.service.name);
    let advice = notice.advice();
    let advice = printable(&advice);
    if notice.steps == 0 {
        tracing::info!(
            service = %service,
            spans = notice.others,
            "no span of this service is a step of an agent: {}",
            advice
        );
    } else {
        tracing::warn!(
            service = %service,
            missing = notice.missing_words(),
            steps = notice.steps,
            "content is off: what needs it is not assessed; to switch it on, {}",
            advice
        );
    }
}

fn lock<T>(snapshot: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    snapshot.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::control::health::{Phase, SILENCE};
    use crate::model::Pressure;
    use crate::receivers::{Client, Intake, IntakeSettings, intake};
    use crate::steps::Reading;

    /// Passes everything on, and panics at bodies that begin with `!`.
    #[derive(Default)]
    struct Touchy {
        counters: Counters,
        seen: u32,
        refusals: u32,
    }

    impl Machine for Touchy {
        fn ingest(&mut self, reading: Reading, _: Timestamp, out: &mut Output) {
            assert!(reading.body[0] != b'!', "as told");
            self.seen += 1;
            out.releases.push(Release {
                body: reading.body,
                spans: Selection::All,
                count: reading.spans,
                patches: Vec::new(),
                synthetic: false,
            });
        }
        fn advance(&mut self, _: Timestamp, _: &mut Output) {}
        fn drain(&mut self, _: Timestamp, _: &mut Output) {}
        fn note_refusal(&mut self, _: Timestamp) {
            self.refusals += 1;
        }
        fn next_due(&self) -> Option<Timestamp> {
            None
        }
        fn counters(&self) -> &Counters {
            &self.counters
        }
        fn status(&self) -> Status {
            Status::default()
        }
        fn types(&self) -> Vec<AnomalyType> {
            Vec::new()
        }
    }

    struct Started {
        intake: Intake,
        handle: Handle<Touchy>,
        thread: JoinHandle<()>,
        health: Arc<Health>,
        delivered: Arc<Mutex<Vec<Bytes>>>,
        refused: Arc<AtomicU64>,
    }

    fn started() -> Started {
        let (intake, arrivals) = intake(&IntakeSettings::default(), Pressure::default());
        let health = Arc::new(Health::new(clock::now()));
        health.enter(Phase::Running, clock::now());
        let delivered: Arc<Mutex<Vec<Bytes>>> = Arc::default();
        let keep = delivered.clone();
        let deliver = Box::new(move |release: Release| keep.lock().unwrap().push(release.body));
        let guarded = Guarded::new(Touchy::default);
        let refused = Arc::new(AtomicU64::new(0));
        let counter = refused.clone();
        let surroundings = Surroundings {
            arrivals,
            deliver,
            record: Box::new(|_| {}),
            refused: Box::new(move || counter.load(Ordering::Relaxed)),
            health: health.clone(),
            notebook: None,
        };
        let (handle, thread) = start(guarded, surroundings).unwrap();
        Started {
            intake,
            handle,
            thread,
            health,
            delivered,
            refused,
        }
    }

    fn reading(body: String) -> Reading {
        Reading {
            body: Bytes::from(body),
            spans: 1,
            steps: Vec::new(),
            links: Vec::new(),
            malformed: Default::default(),
            already_marked: 0,
            told: Vec::new(),
            resources: Vec::new(),
            coverage: Vec::new(),
            contents: Vec::new(),
            prompts: Vec::new(),
            sessions: Vec::new(),
        }
    }

    #[tokio::test]
    async fn what_was_taken_is_handed_on_in_order_before_the_end() {
        let engine = started();
        for number in 0..200 {
            // The word of the one that panics comes on as well, unjudged.
            let word = if number == 70 { "!" } else { "" };
            engine
                .intake
                .try_offer(reading(format!("{word}{number}")), Client::Token(0))
                .unwrap();
        }
        drop(engine.intake);
        engine.thread.join().unwrap();
        let delivered = engine.delivered.lock().unwrap();
        assert_eq!(delivered.len(), 200);
        assert_eq!(delivered[70], "!70");
        assert_eq!(delivered[199], "199");
        assert_eq!(engine.handle.snapshot().panics, 1);
    }

    #[tokio::test]
    async fn questions_are_answered_until_the_end() {
        let engine = started();
        let offered = engine
            .intake
            .try_offer(reading("one".to_owned()), Client::Token(0));
        offered.unwrap();
        while engine.handle.ask(|touchy| touchy.seen).await != Some(1) {}
        drop(engine.intake);
        engine.thread.join().unwrap();
        assert_eq!(engine.handle.ask(|touchy| touchy.seen).await, None);
    }

    #[tokio::test]
    async fn refusals_reach_the_engine_once() {
        let engine = started();
        engine.refused.store(3, Ordering::Relaxed);
        for _ in 0..3 {
            engine.handle.ask(|touchy| touchy.refusals).await.unwrap();
        }
        assert_eq!(engine.handle.ask(|touchy| touchy.refusals).await, Some(1));
        engine.handle.stop().await;
        engine.thread.join().unwrap();
    }

    #[tokio::test]
    async fn an_engine_that_has_ended_is_unhealthy() {
        let engine = started();
        assert!(engine.health.is_well(clock::now()));
        engine.handle.stop().await;
        engine.thread.join().unwrap();
        assert!(!engine.health.is_well(clock::now().plus(SILENCE + TURN)));
    }
}
