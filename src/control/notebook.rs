//! What the pages for people show of the runs that passed: kept beside the engine, and only where a page is served.
//!
//! Invariant: bounded in runs, steps, findings and lengths of names, some 20 MB at the very most; it holds names,
//! numbers and the sentences of findings, and none of the texts that were judged.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::Line;
use crate::engine::{CloseReason, ClosedRun};
use crate::model::{
    Action, AnomalyType, Lack, Name, Report, Severity, Step, Timestamp, TraceId, printable_within,
};

/// Runs kept; of more, the ones heard of longest ago go.
pub const RUNS_MAX: usize = 256;
/// Steps kept of one run: its last ones.
pub const LINES_MAX: usize = 400;
/// Runs of one session that are shown on its page: its last ones.
pub const RUNS_SHOWN: usize = 20;
/// Findings kept, over all runs.
pub const FINDINGS_MAX: usize = 500;
/// Findings kept of one run.
pub const FINDINGS_OF_RUN_MAX: usize = 32;
/// Bytes kept of a name.
const NAME_MAX: usize = 120;

/// A finding, and when it was told.
#[derive(Clone, Debug)]
pub struct Told {
    /// By our clock.
    pub at: Timestamp,
    /// The finding.
    pub report: Arc<Report>,
}

/// What is kept of one run.
#[derive(Clone, Debug)]
pub struct RunNote {
    /// Its trace.
    pub trace: TraceId,
    /// Its session: the conversation's id as sent, else the trace id.
    pub session: Name,
    /// `service.name`.
    pub service: Name,
    /// The first agent that it named.
    pub agent: Option<Name>,
    /// Its last steps, in the order in which they came.
    pub lines: VecDeque<Kept>,
    /// Steps read, those no longer kept included.
    pub steps: u64,
    /// When its first step came, by our clock.
    pub first: Timestamp,
    /// When it was last heard of, by our clock.
    pub last: Timestamp,
    /// Its findings, oldest first.
    pub findings: Vec<Told>,
    /// How many there were, those no longer kept included.
    pub found: u64,
    /// What could not be judged; known when it is closed.
    pub not_assessed: Vec<(AnomalyType, Vec<Lack>)>,
    /// Why it was closed; `None` while it is open.
    pub closed: Option<CloseReason>,
}

/// What kind of step a line tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A call of a tool.
    Tool,
    /// A call of a model.
    Model,
    /// A run of an agent.
    Agent,
}

/// A step that is kept.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Its words.
    pub line: Line,
    /// Its kind.
    pub kind: Kind,
}

impl RunNote {
    /// The worst of its findings.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|told| told.report.severity).max()
    }
}

/// All that is kept.
#[derive(Debug, Default)]
pub struct Notebook {
    runs: HashMap<TraceId, RunNote>,
    findings: VecDeque<Told>,
}

impl Notebook {
    /// Notes steps that have just come.
    pub fn see(&mut self, steps: &[Step], now: Timestamp) {
        for step in steps {
            self.see_one(step, now);
        }
    }

    fn see_one(&mut self, step: &Step, now: Timestamp) {
        let run = self.run_of(step.trace, now, &step.service.name);
        run.last = now;
        if let Some(conversation) = &step.conversation {
            run.session = cut(conversation);
        }
        if run.agent.is_none() {
            run.agent = step.agent.as_ref().map(|agent| cut(agent));
        }
        // A span that comes twice is one step.
        let latest = run.lines.iter().rev().take(64);
        if latest.into_iter().any(|kept| kept.line.span == step.span) {
            return;
        }
        let number = usize::try_from(run.steps).unwrap_or(usize::MAX);
        let mut line = Line::of(step, number);
        line.what = printable_within(&line.what, NAME_MAX);
        line.who = line.who.as_ref().map(|who| cut(who));
        let kind = match step.action {
            Action::ToolCall(_) => Kind::Tool,
            Action::ModelCall(_) => Kind::Model,
            Action::AgentRun(_) => Kind::Agent,
        };
        run.steps += 1;
        if run.lines.len() == LINES_MAX {
            run.lines.pop_front();
        }
        run.lines.push_back(Kept { line, kind });
    }

    /// Notes a finding that has just been told.
    pub fn report(&mut self, report: Report, now: Timestamp) {
        let trace = report.finding.judged().map(|member| member.trace);
        let told = Told {
            at: now,
            report: Arc::new(report),
        };
        if let Some(trace) = trace {
            let service = told.report.service.name.clone();
            let run = self.run_of(trace, now, &service);
            run.session = cut(&told.report.session);
            run.found += 1;
            if run.findings.len() < FINDINGS_OF_RUN_MAX {
                run.findings.push(told.clone());
            }
        }
        if self.findings.len() == FINDINGS_MAX {
            self.findings.pop_front();
        }
        self.findings.push_back(told);
    }

    /// Notes that a run was closed.
    pub fn close(&mut self, closed: ClosedRun) {
        if let Some(run) = self.runs.get_mut(&closed.trace) {
            run.session = cut(&closed.session);
            run.not_assessed = closed.not_assessed;
            run.closed = Some(closed.reason);
        }
    }

    /// Its page; a new one takes the place of the run heard of longest ago. Linear in [`RUNS_MAX`], once a new run.
    fn run_of(&mut self, trace: TraceId, now: Timestamp, service: &str) -> &mut RunNote {
        if !self.runs.contains_key(&trace) && self.runs.len() >= RUNS_MAX {
            let oldest = self.runs.values().min_by_key(|run| (run.last, run.trace));
            if let Some(oldest) = oldest.map(|run| run.trace) {
                self.runs.remove(&oldest);
            }
        }
        self.runs.entry(trace).or_insert_with(|| RunNote {
            trace,
            session: Name::from(trace.to_string()),
            service: cut(service),
            agent: None,
            lines: VecDeque::new(),
            steps: 0,
            first: now,
            last: now,
            findings: Vec::new(),
            found: 0,
            not_assessed: Vec::new(),
            closed: None,
        })
    }

    /// All runs without their steps, the one heard of last first.
    pub fn runs(&self) -> Vec<RunNote> {
        let mut runs: Vec<RunNote> = self.runs.values().map(RunNote::without_lines).collect();
        runs.sort_by_key(|run| (std::cmp::Reverse(run.last), run.trace));
        runs
    }

    /// The last [`RUNS_SHOWN`] runs of one session, or the run of one trace, oldest first, with their steps; those of one
    /// service alone where one is given. Few enough that copying them does not keep the engine waiting.
    pub fn session(&self, id: &str, service: Option<&str>) -> Vec<RunNote> {
        let of = |run: &&RunNote| {
            service.is_none_or(|service| *run.service == *service)
                && (*run.session == *id || run.trace.to_string() == id)
        };
        let mut runs: Vec<&RunNote> = self.runs.values().filter(of).collect();
        runs.sort_by_key(|run| (run.first, run.trace));
        let from = runs.len().saturating_sub(RUNS_SHOWN);
        runs.into_iter().skip(from).cloned().collect()
    }

    /// The latest findings, newest first.
    pub fn findings(&self) -> Vec<Told> {
        self.findings.iter().rev().cloned().collect()
    }
}

impl RunNote {
    fn without_lines(&self) -> Self {
        Self {
            lines: VecDeque::new(),
            session: self.session.clone(),
            service: self.service.clone(),
            agent: self.agent.clone(),
            findings: self.findings.clone(),
            not_assessed: self.not_assessed.clone(),
            ..*self
        }
    }
}

fn cut(name: &str) -> Name {
    Name::from(printable_within(name, NAME_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::CloseReason;
    use crate::model::Service;

    const NOW: Timestamp = Timestamp::from_nanos(1_000);

    fn trace(number: u16) -> TraceId {
        let mut id = [1; 16];
        id[..2].copy_from_slice(&number.to_be_bytes());
        TraceId::from_slice(&id).unwrap()
    }

    #[test]
    fn the_run_heard_of_longest_ago_gives_way() {
        let mut book = Notebook::default();
        for number in 0..300 {
            let at = Timestamp::from_nanos(1_000 + u64::from(number));
            book.run_of(trace(number), at, "s").last = at;
        }
        let runs = book.runs();
        assert_eq!(runs.len(), RUNS_MAX);
        assert_eq!(runs[0].trace, trace(299), "the latest stands first");
        assert!(book.session(&trace(0).to_string(), None).is_empty());
    }

    #[test]
    fn a_page_holds_the_last_runs_of_a_session_and_of_its_service() {
        let mut book = Notebook::default();
        for number in 0..60 {
            let at = Timestamp::from_nanos(u64::from(number));
            let service = if number % 2 == 0 { "a" } else { "b" };
            book.run_of(trace(number), at, service).session = Name::from("talk");
        }
        let shown = book.session("talk", Some("a"));
        assert_eq!(shown.len(), RUNS_SHOWN);
        assert_eq!(shown.last().map(|run| run.trace), Some(trace(58)));
        assert!(shown.iter().all(|run| *run.service == *"a"));
    }

    #[test]
    fn long_names_are_cut_and_closing_an_unknown_run_is_nothing() {
        let mut book = Notebook::default();
        book.run_of(trace(1), NOW, &"x".repeat(1 << 20));
        assert!(book.runs()[0].service.len() <= NAME_MAX);
        book.close(ClosedRun {
            trace: trace(2),
            session: Name::from("s"),
            service: Service {
                namespace: Name::from(""),
                name: Name::from("s"),
            },
            steps: 0,
            findings: 0,
            not_assessed: Vec::new(),
            reason: CloseReason::Idle,
        });
        assert_eq!(book.runs().len(), 1);
    }
}
