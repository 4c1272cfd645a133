//! Sessions as a person reads them: one line a step, the findings under the step that shows them.

mod line;
mod run;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::engine::{ClosedRun, Quiet, Why, ignore_line};
use crate::model::{EpisodeState, Name, Report, SpanId, Step, TraceId, Waste};

use super::screen;
use line::Line;
use run::Shown;

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

/// What was found in one session.
#[derive(Debug, Default)]
struct Found {
    /// Its episodes; a finding's number is its episode's place here plus one.
    episodes: Vec<u64>,
    /// The lines that mute them, each once, with the number of the first that it mutes.
    mutes: Vec<(String, u32)>,
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
        let number = found.number(report.episode);
        found.mute(ignore_line(report), number);
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
        self.remark(judged.trace, remark);
    }

    /// Notes what was found but stands on no span.
    pub(super) fn quiet(&mut self, quiet: &Quiet) {
        let finding = &quiet.report.finding;
        let Some(judged) = finding.judged() else {
            return;
        };
        let why = match &quiet.why {
            Why::Trial => "metric only".to_owned(),
            Why::Ignored(Some(reason)) => format!("ignored: {}", screen::safe(reason)),
            Why::Ignored(None) => "ignored".to_owned(),
        };
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
    }

    /// Sessions seen, and those in which something was found.
    pub(super) fn totals(&self) -> (usize, usize) {
        let found = |runs: &Vec<ClosedRun>| runs.iter().any(|run| run.findings > 0);
        (
            self.sessions.len(),
            self.sessions.iter().filter(|(_, runs)| found(runs)).count(),
        )
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
        let findings: u64 = runs.iter().map(|run| u64::from(run.findings)).sum();
        let service = runs.first().map_or("", |run| &*run.service.name);
        let verdict = match findings {
            0 => (AnsiColor::Green, "nothing found".to_owned()),
            n => (AnsiColor::Yellow, screen::count(n, "finding")),
        };
        self.write_head(out, name, service, &screen::count(steps, "step"), &verdict)?;
        let unjudged = unjudged(runs);
        if !unjudged.is_empty() {
            write!(out, "  {dim}not assessed:")?;
            screen::wrap(out, &unjudged, 15, 4, self.columns)?;
            write!(out, "{dim:#}")?;
        }
        if findings == 0 {
            return Ok(());
        }
        for run in runs {
            if run.findings == 0 && !self.labelled.contains(&run.trace) {
                let steps = screen::count(run.steps.into(), "step");
                writeln!(
                    out,
                    "  {dim}run {}: {steps}, nothing found{dim:#}",
                    run.trace
                )?;
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
        let Some(found) = self.found.get(name) else {
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

impl Found {
    fn number(&mut self, episode: u64) -> u32 {
        let known = self.episodes.iter().position(|known| *known == episode);
        let at = known.unwrap_or_else(|| {
            self.episodes.push(episode);
            self.episodes.len() - 1
        });
        u32::try_from(at + 1).unwrap_or(u32::MAX)
    }

    fn mute(&mut self, line: String, number: u32) {
        if !self.mutes.iter().any(|(known, _)| *known == line) {
            self.mutes.push((line, number));
        }
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

fn unjudged(runs: &[ClosedRun]) -> String {
    let mut by_lack: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (anomaly, lacks) in runs.iter().flat_map(|run| &run.not_assessed) {
        for lack in lacks {
            let types = by_lack.entry(lack.words()).or_default();
            if !types.contains(&anomaly.name()) {
                types.push(anomaly.name());
            }
        }
    }
    let parts: Vec<String> = by_lack
        .iter()
        .map(|(lack, types)| format!("{} ({lack})", types.join(", ")))
        .collect();
    parts.join("; ")
}
