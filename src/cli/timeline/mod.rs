//! Sessions as a person reads them: one line a step, the findings under the step that shows them.

mod run;
mod tally;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::control::Line;
use crate::engine::{ClosedRun, Quiet};
use crate::model::{EpisodeState, Name, Report, SpanId, Step, TraceId, Waste};

use super::screen;

use run::Shown;
pub(super) use tally::raised_words;
use tally::{Found, unjudged, verdict};

/// Lines kept of one run: as many as a run has steps by default.
const LINES_MAX: usize = 200_000;
/// Lines kept of runs in which nothing was found, in case a later run's finding names their steps.
const SPARE_MAX: usize = 500_000;
/// Findings whose muting lines are shown for one session.
const MUTES_MAX: usize = 8;

/// What is said of one step.
#[derive(Clone, Debug)]
pub(super) struct Remark {
    /// The step.
    pub(super) span: SpanId,
    /// Its colour.
    pub(super) style: Style,
    /// In colour: what it is.
    pub(super) head: String,
    /// After the head: the sentence. Without one the head stands beside the step, not under it.
    pub(super) text: String,
    /// Under the sentence, a line each.
    pub(super) notes: Vec<String>,
    /// The step is where the run broke.
    pub(super) breaks: bool,
}

/// What was read, by run.
#[derive(Debug)]
pub(super) struct Timeline {
    runs: BTreeMap<TraceId, Vec<Line>>,
    remarks: BTreeMap<TraceId, Vec<Remark>>,
    /// Numbers of the findings that a step belongs to.
    labels: HashMap<(TraceId, SpanId), Vec<u32>>,
    /// Runs with steps that belong to a finding.
    labelled: HashSet<TraceId>,
    /// Lines kept of runs in which nothing was found.
    spare: usize,
    brief: bool,
    columns: usize,
    sessions: Vec<(Name, Vec<ClosedRun>)>,
    at: BTreeMap<Name, usize>,
    found: HashMap<Name, Found>,
}

impl Timeline {
    /// One that shows tool calls, claims and steps with remarks only, in at most `columns`.
    pub(super) fn brief(columns: usize) -> Self {
        Self::new(columns, true)
    }

    /// One that shows all steps, folded where nothing was found, in at most `columns`.
    pub(super) fn full(columns: usize) -> Self {
        Self::new(columns, false)
    }

    fn new(columns: usize, brief: bool) -> Self {
        Self {
            runs: BTreeMap::new(),
            remarks: BTreeMap::new(),
            labels: HashMap::new(),
            labelled: HashSet::new(),
            spare: 0,
            brief,
            columns,
            sessions: Vec::new(),
            at: BTreeMap::new(),
            found: HashMap::new(),
        }
    }

    /// Notes a step.
    pub(super) fn see(&mut self, step: &Step) {
        let lines = self.runs.entry(step.trace).or_default();
        if lines.len() < LINES_MAX && !lines.iter().rev().take(64).any(|l| l.span == step.span) {
            lines.push(Line::of(step, lines.len()));
        }
    }

    /// Notes what was found.
    pub(super) fn report(&mut self, report: &Report) {
        let finding = &report.finding;
        let found = self.found.entry(report.session.clone()).or_default();
        let number = found.report(report);
        for member in &finding.members {
            self.labelled.insert(member.trace);
            let labels = self.labels.entry((member.trace, member.span)).or_default();
            if !labels.contains(&number) {
                labels.push(number);
            }
        }
        let Some(judged) = finding.judged() else {
            return;
        };
        let mut remark = self::found(
            judged.span,
            report.severity.name(),
            finding.anomaly.name(),
            finding.reason,
            &screen::safe(&finding.message),
        );
        let raised = match report.state {
            EpisodeState::Opened => "",
            EpisodeState::Raised => ", raised",
        };
        remark.head = format!("[{number}] {}{raised}", remark.head);
        let mut notes = vec![format!("since onset: {}", waste_words(&report.waste))];
        if !report.also.is_empty() {
            let also: Vec<&str> = report.also.iter().map(|anomaly| anomaly.name()).collect();
            notes.push(format!("also {}", also.join(", ")));
        }
        remark.notes = vec![notes.join("; ")];
        let link = report.trace_url.as_deref();
        remark
            .notes
            .extend(link.map(|url| screen::safe(url).into_owned()));
        self.remark(judged.trace, remark);
    }

    /// Notes what was found but stands on no span.
    pub(super) fn quiet(&mut self, quiet: &Quiet) {
        let finding = &quiet.report.finding;
        let Some(judged) = finding.judged() else {
            return;
        };
        let session = quiet.report.session.clone();
        self.found.entry(session).or_default().quiet(quiet);
        self.labelled.insert(judged.trace);
        let why = quiet.why.words();
        let why = screen::safe(&why);
        let remark = Remark {
            span: judged.span,
            style: Style::new().dimmed(),
            head: format!("{} ({why})", finding.anomaly),
            text: screen::safe(&finding.message).into_owned(),
            notes: Vec::new(),
            breaks: false,
        };
        self.remark(judged.trace, remark);
    }

    /// Notes a remark on a step of a run.
    pub(super) fn remark(&mut self, trace: TraceId, remark: Remark) {
        self.remarks.entry(trace).or_default().push(remark);
    }

    /// Notes the end of a run, which tells its session. Lines that no finding can name any more are forgotten.
    pub(super) fn close(&mut self, closed: &ClosedRun) {
        if closed.findings == 0 && !self.labelled.contains(&closed.trace) {
            let lines = self.runs.get(&closed.trace).map_or(0, Vec::len);
            let alone = *closed.session == *closed.trace.to_string();
            if alone || self.spare + lines > SPARE_MAX {
                self.runs.remove(&closed.trace);
            } else {
                self.spare += lines;
            }
        }
        let at = *self.at.entry(closed.session.clone()).or_insert_with(|| {
            self.sessions.push((closed.session.clone(), Vec::new()));
            self.sessions.len() - 1
        });
        if let Some((_, runs)) = self.sessions.get_mut(at) {
            runs.push(closed.clone());
        }
        // What was found before its run joined a conversation was told of the run.
        let alone = Name::from(closed.trace.to_string());
        if alone != closed.session
            && let Some(found) = self.found.remove(&alone)
        {
            let session = self.found.entry(closed.session.clone()).or_default();
            session.join(found);
        }
    }

    /// Sessions seen, and those in which something was found.
    pub(super) fn totals(&self) -> (usize, usize) {
        let found = self.found.values().filter(|found| found.has_findings());
        (self.sessions.len(), found.count())
    }

    /// Writes all sessions; those in which nothing was found take one line.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for (name, runs) in &self.sessions {
            self.write_session(out, name, runs)?;
        }
        Ok(())
    }

    fn write_session(
        &self,
        out: &mut dyn Write,
        name: &Name,
        runs: &[ClosedRun],
    ) -> io::Result<()> {
        let dim = Style::new().dimmed();
        let steps: u64 = runs.iter().map(|run| u64::from(run.steps)).sum();
        let nothing = Found::default();
        let found = self.found.get(name).unwrap_or(&nothing);
        let service = runs.first().map_or("", |run| &*run.service.name);
        let verdict = verdict(found, runs);
        self.write_head(out, name, service, &screen::count(steps, "step"), &verdict)?;
        let unjudged = unjudged(runs);
        if !unjudged.is_empty() {
            let head = AnsiColor::Yellow.on_default();
            write!(out, "  {head}not assessed:{head:#}{dim}")?;
            screen::wrap(out, &unjudged, 15, 4, self.columns)?;
            write!(out, "{dim:#}")?;
        }
        if !found.shows() {
            return Ok(());
        }
        for run in runs {
            if !self.labelled.contains(&run.trace) {
                let steps = screen::count(run.steps.into(), "step");
                write!(out, "  {dim}run")?;
                let text = format!("{}: {steps}, nothing found", run.trace);
                screen::wrap(out, &text, 5, 4, self.columns)?;
                write!(out, "{dim:#}")?;
            } else {
                self.write_run(out, run.trace)?;
            }
        }
        self.write_mutes(out, name)?;
        writeln!(out)
    }

    /// The first line of a session. The service gives way to the name, and the name to the rest.
    fn write_head(
        &self,
        out: &mut dyn Write,
        name: &str,
        service: &str,
        count: &str,
        verdict: &(AnsiColor, String),
    ) -> io::Result<()> {
        let bold = Style::new().bold();
        let dim = Style::new().dimmed();
        let (colour, verdict) = (verdict.0.on_default(), &verdict.1);
        let rest = count.len() + verdict.len() + 4;
        let service = screen::safe(service);
        let service = screen::cut(&service, self.columns / 5);
        let beside = rest
            + if service.is_empty() {
                0
            } else {
                screen::width(&service) + 2
            };
        let shown = screen::safe(name);
        let fits = screen::width(&shown) + beside <= self.columns;
        let service = match (fits, service.is_empty()) {
            (true, false) => format!("  {dim}{service}{dim:#}"),
            _ => String::new(),
        };
        let shown = screen::cut(
            &shown,
            self.columns.saturating_sub(if fits { 0 } else { rest }),
        );
        writeln!(
            out,
            "{bold}{shown}{bold:#}{service}  {dim}{count}{dim:#}  {colour}{verdict}{colour:#}"
        )
    }

    /// The lines that mute what was found in a session: never wrapped, they are to be pasted.
    fn write_mutes(&self, out: &mut dyn Write, name: &Name) -> io::Result<()> {
        let Some(found) = self.found.get(name).filter(|found| !found.mutes.is_empty()) else {
            return Ok(());
        };
        let dim = Style::new().dimmed();
        writeln!(
            out,
            "  {dim}to mute, under processors.anomaly.ignore:{dim:#}"
        )?;
        for (line, number) in found.mutes.iter().take(MUTES_MAX) {
            writeln!(out, "    {dim}{line}  # [{number}]{dim:#}")?;
        }
        Ok(())
    }

    /// Writes the steps of one run.
    pub(super) fn write_run(&self, out: &mut dyn Write, trace: TraceId) -> io::Result<()> {
        let Some(lines) = self.runs.get(&trace) else {
            return Ok(());
        };
        let shown = Shown {
            lines,
            remarks: self.remarks.get(&trace).map_or(&[][..], Vec::as_slice),
            labels: &|span| self.labels.get(&(trace, span)).cloned().unwrap_or_default(),
            columns: self.columns,
            brief: self.brief,
        };
        shown.write(out)
    }
}

/// What an episode has cost, as far as it is known.
pub(super) fn waste_words(waste: &Waste) -> String {
    let mut words = vec![
        screen::count(waste.calls.into(), "call"),
        screen::time(waste.ms),
    ];
    words.extend(
        waste
            .tokens
            .filter(|tokens| *tokens > 0)
            .map(|tokens| screen::count(tokens, "token")),
    );
    words.extend(waste.cost_usd.map(|cost| format!("${cost:.4}")));
    words.join(", ")
}

/// What is said of the step at which something was found.
pub(super) fn found(
    span: SpanId,
    severity: &str,
    anomaly: &str,
    reason: Option<&str>,
    message: &str,
) -> Remark {
    let colour = match severity {
        "info" => AnsiColor::Cyan,
        "warning" => AnsiColor::Yellow,
        _ => AnsiColor::Red,
    };
    let reason = reason.map_or_else(String::new, |reason| format!(" ({reason})"));
    Remark {
        span,
        style: colour.on_default().bold(),
        head: format!("{severity} {anomaly}{reason}"),
        text: message.to_owned(),
        notes: Vec::new(),
        breaks: true,
    }
}
