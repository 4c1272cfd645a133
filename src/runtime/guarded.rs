//! An engine whose panics cost marks, never spans.
//!
//! Invariant: every span that went in comes out once, whatever the engine does. After a panic the broken
//! engine is not touched again: what it held leaves unjudged, and a new one goes on.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::outstanding::Outstanding;
use crate::engine::{Answer, Counters, Engine, Output, Query, Status};
use crate::model::{AnomalyType, Release, Selection, Service, Timestamp};
use crate::steps::{Content, Reading};

/// What is asked of an engine; a seam for tests that need one which fails.
pub trait Machine {
    /// Takes in a request.
    fn ingest(&mut self, reading: Reading, now: Timestamp, out: &mut Output);
    /// Lets time pass.
    fn advance(&mut self, now: Timestamp, out: &mut Output);
    /// Ends every wait.
    fn drain(&mut self, now: Timestamp, out: &mut Output);
    /// A request was refused: its spans will come again, out of order.
    fn note_refusal(&mut self, now: Timestamp);
    /// When [`Machine::advance`] has something to do next.
    fn next_due(&self) -> Option<Timestamp>;
    /// What it has counted.
    fn counters(&self) -> &Counters;
    /// How much it has open.
    fn status(&self) -> Status;
    /// What it looks for.
    fn types(&self) -> Vec<AnomalyType>;
    /// Services and the content that they never sent.
    fn missing(&self) -> Vec<(Service, Content)> {
        Vec::new()
    }
}

impl Machine for Engine {
    fn ingest(&mut self, reading: Reading, now: Timestamp, out: &mut Output) {
        self.arrive(reading, now, out);
    }
    fn advance(&mut self, now: Timestamp, out: &mut Output) {
        Self::advance(self, now, out);
    }
    fn drain(&mut self, now: Timestamp, out: &mut Output) {
        Self::drain(self, now, out);
    }
    fn note_refusal(&mut self, now: Timestamp) {
        Self::note_refusal(self, now);
    }
    fn next_due(&self) -> Option<Timestamp> {
        Self::next_due(self)
    }
    fn counters(&self) -> &Counters {
        Self::counters(self)
    }
    fn status(&self) -> Status {
        match self.ask(&Query::Status) {
            Answer::Status(status) => status,
            _ => Status::default(),
        }
    }
    fn types(&self) -> Vec<AnomalyType> {
        Self::types(self).collect()
    }
    fn missing(&self) -> Vec<(Service, Content)> {
        Self::missing(self)
    }
}

/// A machine, the book of what it holds, and how to build another.
pub struct Guarded<M> {
    machine: M,
    build: Box<dyn FnMut() -> M + Send>,
    outstanding: Outstanding,
    scratch: Output,
    entered: u64,
    panics: u64,
    /// Counted by machines that failed.
    before: Counters,
}

impl<M: Machine> Guarded<M> {
    /// A guard around machines made by `build`.
    pub fn new(mut build: impl FnMut() -> M + Send + 'static) -> Self {
        Self {
            machine: build(),
            build: Box::new(build),
            outstanding: Outstanding::default(),
            scratch: Output::default(),
            entered: 0,
            panics: 0,
            before: Counters::default(),
        }
    }

    /// Takes in a request; all of it leaves into `out`, now or later.
    pub fn ingest(&mut self, reading: Reading, now: Timestamp, out: &mut Output) {
        let (body, spans) = (reading.body.clone(), reading.spans);
        self.entered += u64::from(spans);
        let survived = self.run(|machine, out| machine.ingest(reading, now, out));
        // Nearly every body leaves at once and whole: it need not enter the book.
        let leaves_whole = |release: &Release| {
            release.spans == Selection::All && release.body.as_ptr() == body.as_ptr()
        };
        if !self.scratch.releases.iter().any(leaves_whole) {
            self.outstanding.enter(&body, spans);
        }
        self.settle(survived, out);
    }

    /// Lets time pass.
    pub fn advance(&mut self, now: Timestamp, out: &mut Output) {
        let survived = self.run(|machine, out| machine.advance(now, out));
        self.settle(survived, out);
    }

    /// A request was refused: its spans will come again, out of order.
    pub fn note_refusal(&mut self, now: Timestamp) {
        let survived = self.run(|machine, _| machine.note_refusal(now));
        if !survived {
            tracing::error!("the engine panicked over a refusal; it goes on");
        }
    }

    /// Ends every wait: afterwards nothing is held.
    pub fn drain(&mut self, now: Timestamp, out: &mut Output) {
        let survived = self.run(|machine, out| machine.drain(now, out));
        self.settle(survived, out);
        let left = self.outstanding.abandon();
        if !left.is_empty() {
            tracing::error!(
                bodies = left.len(),
                "the engine kept spans at the end; they leave unjudged"
            );
            out.releases.extend(left);
        }
    }

    /// Shows the machine to `question`; a panic of the question is the question's own.
    pub fn inspect(&self, question: impl FnOnce(&M)) {
        let machine = &self.machine;
        if catch_unwind(AssertUnwindSafe(|| question(machine))).is_err() {
            tracing::error!("a question to the engine panicked");
        }
    }

    /// When [`Guarded::advance`] has something to do next.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.machine.next_due()
    }

    /// What this machine and those before it have counted.
    pub fn counters(&self) -> Counters {
        let mut counters = self.machine.counters().clone();
        counters.absorb(&self.before);
        counters
    }

    /// How much the present machine has open.
    pub fn status(&self) -> Status {
        self.machine.status()
    }

    /// What is looked for.
    pub fn types(&self) -> Vec<AnomalyType> {
        self.machine.types()
    }

    /// Services and the content that they never sent.
    pub fn missing(&self) -> Vec<(Service, Content)> {
        self.machine.missing()
    }

    /// Spans that went in.
    pub fn entered(&self) -> u64 {
        self.entered
    }

    /// Spans that went in and have not come out.
    pub fn held(&self) -> u64 {
        self.outstanding.spans()
    }

    /// How many machines have failed.
    pub fn panics(&self) -> u64 {
        self.panics
    }

    fn settle(&mut self, survived: bool, out: &mut Output) {
        self.pass(out);
        if !survived {
            self.recover(out);
        }
    }

    /// Runs one action of the machine into the scratch output. `false` when it panicked.
    fn run(&mut self, action: impl FnOnce(&mut M, &mut Output)) -> bool {
        let (machine, scratch) = (&mut self.machine, &mut self.scratch);
        // Unwind safety: after a panic the machine is thrown away, and releases are plain data.
        catch_unwind(AssertUnwindSafe(|| action(machine, scratch))).is_ok()
    }

    /// Strikes what has left off the book and hands it on.
    fn pass(&mut self, out: &mut Output) {
        if !self.outstanding.is_empty() {
            for cut in self.scratch.cuts.drain(..) {
                self.outstanding.exchange(&cut);
            }
            for release in &self.scratch.releases {
                self.outstanding.leave(release);
            }
        }
        self.scratch.cuts.clear();
        out.releases.append(&mut self.scratch.releases);
        out.records.append(&mut self.scratch.records);
        out.reports.append(&mut self.scratch.reports);
        out.quiet.append(&mut self.scratch.quiet);
        out.closed.append(&mut self.scratch.closed);
        out.panics.append(&mut self.scratch.panics);
        out.notices.append(&mut self.scratch.notices);
    }

    fn recover(&mut self, out: &mut Output) {
        self.panics += 1;
        let left = self.outstanding.abandon();
        let spans: u64 = left.iter().map(|release| u64::from(release.count)).sum();
        tracing::error!(
            spans,
            panics = self.panics,
            "the engine panicked: a failure of ours; these spans leave unjudged and a new engine goes on"
        );
        out.releases.extend(left);
        self.before.absorb(self.machine.counters());
        self.machine = (self.build)();
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::*;

    use super::*;

    /// Holds the second half of each body until time passes; panics on order.
    struct Clumsy {
        held: Vec<(Bytes, u32)>,
        counters: Counters,
        panic_on: u8,
    }

    fn part(body: &Bytes, spans: std::ops::Range<u32>) -> Release {
        Release {
            body: body.clone(),
            count: spans.len().try_into().unwrap(),
            spans: Selection::Ranges(smallvec::smallvec![spans]),
            patches: Vec::new(),
            synthetic: false,
        }
    }

    impl Machine for Clumsy {
        fn ingest(&mut self, reading: Reading, _: Timestamp, out: &mut Output) {
            let (order, spans) = (reading.body[0], reading.spans);
            self.counters.spans += u64::from(spans);
            let half = spans / 2;
            if half > 0 {
                out.releases.push(part(&reading.body, 0..half));
            }
            if order == self.panic_on {
                panic!("on order");
            }
            self.held.push((reading.body, spans));
        }
        fn advance(&mut self, _: Timestamp, out: &mut Output) {
            let (body, spans) = self.held.pop().expect("something is held");
            out.releases.push(part(&body, spans / 2..spans));
        }
        fn drain(&mut self, _: Timestamp, out: &mut Output) {
            while !self.held.is_empty() {
                self.advance(Timestamp::ZERO, out);
            }
        }
        fn next_due(&self) -> Option<Timestamp> {
            None
        }
        fn note_refusal(&mut self, _: Timestamp) {}
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

    fn guarded(panic_on: u8) -> Guarded<Clumsy> {
        Guarded::new(move || Clumsy {
            held: Vec::new(),
            counters: Counters::default(),
            panic_on,
        })
    }

    fn reading(order: u8, spans: u32) -> Reading {
        Reading {
            body: Bytes::from(vec![order; 4]),
            spans,
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

    fn count(out: &Output) -> u64 {
        out.releases
            .iter()
            .map(|release| u64::from(release.count))
            .sum()
    }

    #[test]
    fn a_panic_forwards_what_was_held_and_what_came() {
        let mut guarded = guarded(9);
        let mut out = Output::default();
        guarded.ingest(reading(1, 4), Timestamp::ZERO, &mut out);
        assert_eq!((count(&out), guarded.held()), (2, 2));
        guarded.ingest(reading(9, 6), Timestamp::ZERO, &mut out);
        assert_eq!((count(&out), guarded.held(), guarded.panics()), (10, 0, 1));
        guarded.ingest(reading(2, 2), Timestamp::ZERO, &mut out);
        guarded.drain(Timestamp::ZERO, &mut out);
        assert_eq!((count(&out), guarded.held(), guarded.panics()), (12, 0, 1));
        assert_eq!(guarded.counters().spans, 12, "counts outlive the engine");
    }

    proptest! {
        /// Whatever fails when: every span leaves exactly once.
        #[test]
        fn nothing_is_lost_or_doubled(
            actions in proptest::collection::vec((0u8..6, 1u32..9), 0..40),
        ) {
            let mut guarded = guarded(5);
            let mut out = Output::default();
            let mut sent = 0;
            let mut bodies = Vec::new();
            for (order, spans) in actions {
                if order == 0 {
                    guarded.advance(Timestamp::ZERO, &mut out);
                } else {
                    let reading = reading(order, spans);
                    bodies.push((reading.body.clone(), spans));
                    sent += u64::from(spans);
                    guarded.ingest(reading, Timestamp::ZERO, &mut out);
                }
                prop_assert_eq!(count(&out) + guarded.held(), sent);
            }
            guarded.drain(Timestamp::ZERO, &mut out);
            prop_assert_eq!(count(&out), sent);
            for (body, spans) in bodies {
                for span in 0..spans {
                    let times = out.releases.iter().filter(|release| {
                        release.body.as_ptr() == body.as_ptr() && release.spans.contains(span)
                    });
                    prop_assert_eq!(times.count(), 1);
                }
            }
        }
    }
}
