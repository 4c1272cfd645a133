//! The whole product as one pure state machine: steps in, releases and reports out.
//!
//! Invariants: no await, no clock, no I/O; every span taken in is released exactly once; a detector that
//! panics is caught, counted and, after three times, switched off, and the span still goes out.

mod budgets;
mod closing;
mod content;
mod counters;
mod due;
mod explain;
mod holds;
mod intake;
mod joins;
mod judge;
mod known;
mod late;
#[cfg(test)]
mod muting;
mod opinion;
#[cfg(test)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "counts of a test are small"
)]
mod properties;
mod report;
mod resources;
mod settings;
#[cfg(test)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "counts of a test are small"
)]
pub(crate) mod testing;
#[cfg(test)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "counts of a test are small"
)]
mod tests;
mod timers;
#[cfg(test)]
mod timing;
#[cfg(test)]
#[expect(clippy::float_cmp, reason = "a test may stop at the first surprise")]
mod twice;
mod watch;

use bytes::Bytes;

use crate::detectors::Tables;
use crate::model::{AnomalyType, Lack, Name, Release, Report, Service, Timestamp, TraceId};
use crate::policies::Desk;
use crate::sessions::Sessions;
use crate::steps::{Content, Reading};

pub use crate::policies::ignore_line;
pub use crate::sessions::CloseReason;
pub use content::Notice;
pub use counters::Counters;
pub use explain::{Account, Explanation, Verdict, Watch};
pub use joins::Join;
pub use settings::{Mode, Settings};

use content::Contents;
use holds::Holds;
use joins::{Joins, Threads};
use known::Known;
use opinion::Strikes;
use resources::Resources;
use timers::Timers;

/// What came out of one call; reuse it, it is only appended to.
#[derive(Debug, Default)]
pub struct Output {
    /// Spans that leave, in order.
    pub releases: Vec<Release>,
    /// Spans that stay behind in a body of their own; those of one body stand before any release of it.
    pub cuts: Vec<Cut>,
    /// Findings that go out as log records: an ExportLogsServiceRequest each. Joined they are one request.
    pub records: Vec<Bytes>,
    /// What was found, in order.
    pub reports: Vec<Report>,
    /// What was found but stands on no span, in order.
    pub quiet: Vec<Quiet>,
    /// Runs that were closed.
    pub closed: Vec<ClosedRun>,
    /// Detectors that panicked just now; three times, and the type is off.
    pub panics: Vec<(AnomalyType, bool)>,
    /// Services that send spans without what rules need.
    pub notices: Vec<Notice>,
    /// What was asked for by [`Engine::explain_spans`]; a step that is judged again is explained again.
    pub explanations: Vec<Explanation>,
}

/// Spans that wait, copied out of the body they came in: its others have left, and it need not be kept.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The body that came.
    pub from: Bytes,
    /// Where the spans stood in it, ascending.
    pub places: Vec<u32>,
    /// They alone, in the same order. What leaves of them later leaves as a part of this.
    pub apart: Bytes,
}

/// A finding that is counted and not told on its span.
#[derive(Clone, Debug)]
pub struct Quiet {
    /// The finding.
    pub report: Report,
    /// Why.
    pub why: Why,
}

/// Why a finding is not told on its span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// Its rule is on trial (`emit: metric`).
    Trial,
    /// Somebody has accepted it.
    Ignored {
        /// By which entry of `ignore`, counted from 1.
        entry: usize,
        /// The reason given there.
        reason: Option<Name>,
    },
}

impl Why {
    /// What is said beside the finding: `metric only`, `ignored by entry 2: known poller`.
    pub fn words(&self) -> String {
        match self {
            Self::Trial => "metric only".to_owned(),
            Self::Ignored { entry, reason } => {
                let reason = reason.as_ref().map(|reason| format!(": {reason}"));
                format!("ignored by entry {entry}{}", reason.unwrap_or_default())
            }
        }
    }
}

/// A run that was closed: one line for a person, one record for `replay --sessions`.
#[derive(Clone, Debug)]
pub struct ClosedRun {
    /// Its trace.
    pub trace: TraceId,
    /// Id of its session.
    pub session: Name,
    /// Its service.
    pub service: Service,
    /// Steps read.
    pub steps: u32,
    /// Findings reported.
    pub findings: u32,
    /// What could not be judged, and why.
    pub not_assessed: Vec<(AnomalyType, Vec<Lack>)>,
    /// Why it was closed.
    pub reason: CloseReason,
}

/// A question about the present state.
#[derive(Clone, Debug)]
pub enum Query {
    /// How much is open and held.
    Status,
    /// One run.
    Run(TraceId),
}

/// The answer to a [`Query`].
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// How much is open and held.
    Status(Status),
    /// One run; `None` when it is not open.
    Run(Option<RunStatus>),
}

/// How much is open and held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Open runs.
    pub open_runs: u64,
    /// Remembered conversations.
    pub conversations: u64,
    /// Bytes of runs, conversations and tombstones.
    pub state_bytes: u64,
    /// Spans held.
    pub held_spans: u64,
    /// Bytes of the bodies they pin.
    pub held_bytes: u64,
    /// Open episodes by type, at the place of the type's discriminant.
    pub episodes_open: [u64; AnomalyType::ALL.len()],
}

/// What is known of one open run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunStatus {
    /// Id of its session.
    pub session: Name,
    /// Steps read.
    pub steps: u32,
    /// Findings reported.
    pub findings: u32,
    /// Steps that wait for their last judgement.
    pub pending: u32,
}

/// The engine.
#[derive(Debug)]
pub struct Engine {
    settings: Settings,
    sessions: Sessions,
    tables: Tables,
    desk: Desk,
    holds: Holds,
    timers: Timers,
    strikes: Strikes,
    counters: Counters,
    resources: Resources,
    known: Known,
    contents: Contents,
    joins: Joins,
    threads: Threads,
    watch: Option<Watch>,
    bodies: u64,
}

impl Engine {
    /// An engine without any history.
    pub fn new(mut settings: Settings) -> Self {
        let source = settings.rules == crate::detectors::Rules::Source;
        settings.sessions.source = source;
        settings.policy.source = source;
        let tables = Tables::new(&settings.detectors, &settings.overrides, settings.rules);
        settings.sessions.meters = tables.has_budgets();
        settings.sessions.timers = tables.has_timers();
        Self {
            sessions: Sessions::new(settings.sessions.clone(), tables.window_max()),
            desk: Desk::new(settings.policy.clone()),
            tables,
            holds: Holds::default(),
            timers: Timers::default(),
            strikes: Strikes::default(),
            counters: Counters::default(),
            resources: Resources::default(),
            known: Known::default(),
            contents: Contents::new(settings.sessions.records),
            joins: Joins::default(),
            threads: Threads::new(settings.sessions.records),
            watch: None,
            bodies: 0,
            settings,
        }
    }

    /// Notes what a body that is still to come tells of findings: in a recording, spans of our own stand behind
    /// what they tell of.
    pub fn foresee(&mut self, reading: &Reading) {
        self.known.note(&reading.told);
    }

    /// Takes in one request that arrived at `now`: all its steps first, then what is due by `now` in their
    /// runs. Cost: a fraction of a microsecond a step.
    pub fn ingest(&mut self, reading: Reading, now: Timestamp, out: &mut Output) {
        self.take_in(reading, now, out);
        self.respect_limits(now, out);
    }

    /// Takes in a request whose arrival a clock beside it has stamped: what was due before comes first, then
    /// its steps, then what its arrival makes due. However often time was let pass in between, the verdicts
    /// are the same: so a recording with its stamps replays to what was said live.
    pub fn arrive(&mut self, reading: Reading, now: Timestamp, out: &mut Output) {
        if self.next_due().is_some_and(|due| due < now) {
            self.advance(now.minus(std::time::Duration::from_nanos(1)), out);
        }
        self.ingest(reading, now, out);
        if self.next_due().is_some_and(|due| due <= now) {
            self.advance(now, out);
        }
    }

    /// Time has passed: judges what is due, closes what is over.
    pub fn advance(&mut self, now: Timestamp, out: &mut Output) {
        // What comes due first is done first, as of its own time: a clock that is looked at rarely changes
        // nothing but when a thing is said.
        while let Some(due) = self.next_due().filter(|due| *due <= now) {
            while let Some(trace) = self.timers.pop(due) {
                self.settle_run(trace, due, None, out);
                self.watch(trace, due, out);
                self.close_if_over(trace, due, out);
            }
            self.close_idle(due, out);
            self.expire_content(due);
        }
        self.close_idle(now, out);
    }

    /// The end of everything: every wait is over, every run is closed. Nothing stays held.
    pub fn drain(&mut self, now: Timestamp, out: &mut Output) {
        // Settling a run sets its timer for closing again: only those set before are waited for.
        let mut waiting = Vec::new();
        while let Some(trace) = self.timers.pop(Timestamp::MAX) {
            waiting.push(trace);
        }
        for trace in waiting {
            self.settle_all(trace, now, out);
        }
        while let Some(trace) = self.sessions.next_at_shutdown() {
            self.close(trace, CloseReason::Shutdown, now, out);
        }
        self.give_up_content();
        self.contents.finish(&mut out.notices);
    }

    /// The next moment at which [`Engine::advance`] has something to do.
    pub fn next_due(&self) -> Option<Timestamp> {
        let due = [
            self.timers.next(),
            self.sessions.earliest_idle(),
            self.joins.next_due(),
        ];
        due.into_iter().flatten().min()
    }

    /// A request was refused just now: its sender will send it again, out of order, so findings wait longer
    /// for a minute. Whose it was is not known, since it was not read: all runs wait.
    pub fn note_refusal(&mut self, now: Timestamp) {
        self.sessions.note_refusal(now);
    }

    /// What has been counted.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Services and the content that they never sent, as far as that can be said by now.
    pub fn missing(&self) -> Vec<(Service, Content)> {
        self.contents.missing()
    }

    /// The types that are judged.
    pub fn types(&self) -> impl Iterator<Item = AnomalyType> + '_ {
        self.tables.types()
    }

    /// Answers a question; changes nothing.
    pub fn ask(&self, query: &Query) -> Answer {
        match query {
            Query::Status => Answer::Status(self.status()),
            Query::Run(trace) => Answer::Run(self.sessions.run(*trace).map(|run| RunStatus {
                session: run.session.clone(),
                steps: run.steps,
                findings: run.tally.findings,
                pending: u32::try_from(run.pending.len()).unwrap_or(u32::MAX),
            })),
        }
    }

    fn status(&self) -> Status {
        let mut episodes_open = [0; AnomalyType::ALL.len()];
        for anomaly in AnomalyType::ALL {
            if let Some(cell) = episodes_open.get_mut(usize::from(anomaly as u8)) {
                *cell = self.desk.open(anomaly);
            }
        }
        Status {
            open_runs: self.sessions.open_runs() as u64,
            conversations: self.sessions.conversations() as u64,
            state_bytes: self.sessions.bytes() + self.joins.bytes() as u64,
            held_spans: self.holds.len() as u64,
            held_bytes: self.holds.bytes(),
            episodes_open,
        }
    }
}
