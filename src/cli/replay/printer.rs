//! Where results go: records for programs, or what people asked for.
//!
//! Invariant: with `--format json` standard output holds one object a line and nothing else.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use anstyle::Style;

use crate::cli::arguments::{Format, ReplayArguments};
use crate::cli::failure::Failure;
use crate::cli::screen;
use crate::cli::timeline::{Timeline, waste_words};
use crate::engine::{Notice, Output, Quiet, Why};
use crate::model::{Severity, Step};
use crate::otlp;
use crate::runtime::{files, terminal};

use super::baseline::Baseline;
use super::compare::Compare;
use super::complain;
use super::content;
use super::costs::Costs;
use super::explain::Explain;
use super::record;
use super::summary::Summary;

/// What was read of the inputs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Read {
    /// Records and inputs that could not be read.
    pub(super) unreadable: u64,
    /// Spans that are sound.
    pub(super) spans: u64,
    /// Spans that were cut out.
    pub(super) malformed: u64,
}

/// Where results go.
pub(super) struct Printer {
    format: Format,
    stdout: Box<dyn Write>,
    sessions: Option<record::Sessions>,
    annotated: Option<Box<dyn Write>>,
    columns: usize,
    timeline: Timeline,
    /// Nothing else was asked for.
    timelines: bool,
    summary: Option<Summary>,
    explain: Option<Explain>,
    compare: Option<(Compare, PathBuf)>,
    baseline: Option<Baseline>,
    totals: Totals,
    notices: Vec<Notice>,
    /// Lines of the earlier output that are no records.
    unreadable: u64,
}

/// What was found, in numbers.
#[derive(Debug, Default)]
struct Totals {
    /// Info, warning, error, critical.
    findings: [u64; 4],
    worst: Option<Severity>,
    costs: Costs,
    /// Findings of rules on trial, and such that somebody has accepted.
    on_trial: u64,
    ignored: u64,
}

impl Printer {
    /// Opens what the arguments name.
    ///
    /// # Errors
    /// A file that cannot be opened or read; arguments that do not go together.
    pub(super) fn new(arguments: &ReplayArguments) -> Result<Self, Failure> {
        let for_people = [
            (arguments.summary, "--summary"),
            (arguments.explain.is_some(), "--explain"),
            (arguments.baseline.is_some(), "--baseline"),
        ];
        if arguments.format == Format::Json
            && let Some((_, flag)) = for_people.iter().find(|(asked, _)| *asked)
        {
            return Err(Failure::Usage(format!(
                "{flag} is for people; leave out --format json"
            )));
        }
        let annotated: Option<Box<dyn Write>> = match &arguments.annotated {
            None => None,
            Some(path) if path == std::path::Path::new("-") => {
                Some(Box::new(BufWriter::new(io::stdout())))
            }
            Some(path) => {
                let file = files::create(path).map_err(|e| Failure::Runtime(e.to_string()))?;
                Some(Box::new(BufWriter::new(file)))
            }
        };
        let mut unreadable = 0;
        let compare = match &arguments.compare {
            None => None,
            Some(path) => {
                let (compare, broken) = Compare::read(path)?;
                for (line, what) in &broken {
                    unreadable += 1;
                    complain(&format!("{}:{line}: {what}; skipped", path.display()))?;
                }
                Some((compare, path.clone()))
            }
        };
        let columns = screen::columns(terminal::columns());
        Ok(Self {
            format: arguments.format,
            stdout: Box::new(BufWriter::new(anstream::stdout())),
            sessions: arguments.sessions.then(record::Sessions::default),
            annotated,
            columns,
            timeline: Timeline::full(columns),
            timelines: !for_people.iter().any(|(asked, _)| *asked) && compare.is_none(),
            summary: arguments.summary.then(Summary::default),
            explain: arguments
                .explain
                .as_ref()
                .map(|span| Explain::new(span.watch, &span.text)),
            compare,
            baseline: arguments.baseline.map(|_| Baseline::default()),
            totals: Totals::default(),
            notices: Vec::new(),
            unreadable,
        })
    }

    /// Notes a step that was read.
    pub(super) fn see(&mut self, step: &Step) {
        if self.timelines && self.format == Format::Text {
            self.timeline.see(step);
        }
        if let Some(summary) = &mut self.summary {
            summary.see(step);
        }
        if let Some(baseline) = &mut self.baseline {
            baseline.see(step);
        }
        if let Some(explain) = &mut self.explain {
            explain.see(step);
        }
    }

    /// Takes what the engine has said: prints records, keeps the rest for the end.
    ///
    /// # Errors
    /// Output that cannot be written.
    pub(super) fn print(&mut self, out: &mut Output) -> Result<(), Failure> {
        for report in out.reports.drain(..) {
            self.totals.note(&report);
            if self.format == Format::Json {
                let line = record::finding(&report)
                    .map_err(|error| Failure::Software(error.to_string()))?;
                writeln!(self.stdout, "{line}")?;
            } else {
                self.timeline.report(&report);
            }
            if let Some(summary) = &mut self.summary {
                summary.report(&report);
            }
            if let Some((compare, _)) = &mut self.compare {
                compare.report(&report);
            }
            if let Some(baseline) = &mut self.baseline {
                baseline.report(&report);
            }
        }
        for quiet in out.quiet.drain(..) {
            self.quiet(&quiet)?;
        }
        for explanation in out.explanations.drain(..) {
            if let Some(explain) = &mut self.explain {
                explain.answer(explanation);
            }
        }
        for closed in out.closed.drain(..) {
            if let Some(sessions) = &mut self.sessions {
                sessions.add(&closed);
            }
            if self.format == Format::Text {
                self.timeline.close(&closed);
            }
            if let Some(summary) = &mut self.summary {
                summary.close(&closed);
            }
            if let Some(baseline) = &mut self.baseline {
                baseline.close(&closed);
            }
        }
        self.notices.append(&mut out.notices);
        // Reports say what is in them.
        out.records.clear();
        for release in out.releases.drain(..) {
            if let Some(annotated) = &mut self.annotated {
                let line = otlp::to_json(&otlp::pack(&release))
                    .map_err(|error| Failure::Software(error.to_string()))?;
                writeln!(annotated, "{line}")?;
            }
        }
        Ok(())
    }

    /// What stands on no span: a rule on trial is told as such, what was accepted to people only.
    fn quiet(&mut self, quiet: &Quiet) -> Result<(), Failure> {
        match quiet.why {
            Why::Trial => self.totals.on_trial += 1,
            Why::Ignored(_) => self.totals.ignored += 1,
        }
        match (self.format, &quiet.why) {
            (Format::Text, _) => self.timeline.quiet(quiet),
            (Format::Json, Why::Ignored(_)) => {}
            (Format::Json, Why::Trial) => {
                let line = record::on_trial(&quiet.report)
                    .map_err(|error| Failure::Software(error.to_string()))?;
                writeln!(self.stdout, "{line}")?;
            }
        }
        Ok(())
    }

    /// Prints what was kept for the end. Returns the worst severity that counts for `--fail-on`, and how much
    /// of an earlier output could not be read.
    ///
    /// # Errors
    /// Output that cannot be written; a span to be explained that nobody knows.
    pub(super) fn finish(mut self, read: Read) -> Result<(Option<Severity>, u64), Failure> {
        if let Some(annotated) = &mut self.annotated {
            annotated.flush()?;
        }
        let mut worst = self.totals.worst;
        let changes = self
            .compare
            .take()
            .map(|(compare, path)| (compare.changes(), path));
        if let Some((changes, _)) = &changes {
            worst = changes.worst_new();
        }
        let out = &mut self.stdout;
        if self.format == Format::Json {
            for line in self.sessions.iter().flat_map(record::Sessions::lines) {
                let line = line.map_err(|error| Failure::Software(error.to_string()))?;
                writeln!(out, "{line}")?;
            }
            if let Some((changes, _)) = &changes {
                changes
                    .lines()
                    .try_for_each(|line| writeln!(out, "{line}"))?;
            }
            out.flush()?;
            return Ok((worst, self.unreadable));
        }
        if let Some(explain) = &self.explain {
            explain.write(out, self.columns)?;
            out.flush()?;
            return Ok((worst, self.unreadable));
        }
        if self.timelines {
            self.timeline.write(out)?;
        }
        if let Some(summary) = &self.summary {
            summary.write(out, self.columns)?;
        }
        content::write(&self.notices, out, self.columns)?;
        if let Some((changes, path)) = &changes {
            changes.write(out, path, self.columns)?;
        }
        if let Some(baseline) = &self.baseline {
            baseline.write(out, self.columns)?;
        }
        self.totals
            .write(out, read, self.timeline.totals(), self.columns)?;
        out.flush()?;
        Ok((worst, self.unreadable))
    }
}

impl Totals {
    fn note(&mut self, report: &crate::model::Report) {
        let at = match report.severity {
            Severity::Info => 0,
            Severity::Warning => 1,
            Severity::Error => 2,
            Severity::Critical => 3,
        };
        if let Some(cell) = self.findings.get_mut(at) {
            *cell += 1;
        }
        self.worst = self.worst.max(Some(report.severity));
        if let Some(judged) = report.finding.judged() {
            self.costs.add(judged.trace, &report.waste);
        }
    }

    fn write(
        &self,
        out: &mut dyn Write,
        read: Read,
        sessions: (usize, usize),
        columns: usize,
    ) -> io::Result<()> {
        let (sessions, found) = sessions;
        let bold = Style::new().bold();
        if sessions == 0 && self.findings.iter().sum::<u64>() == 0 {
            let text = match (read.spans, read.malformed) {
                (0, 0) => "no spans were read: nothing to judge".to_owned(),
                (spans, malformed) => format!(
                    "{}, {} malformed, none of them a step of an agent (a tool call, a model call, the run of an \
                     agent): nothing to judge",
                    screen::count(spans, "span"),
                    screen::grouped(malformed),
                ),
            };
            let text = text.replace(", 0 malformed", "");
            let (first, rest) = text.split_once(' ').unwrap_or((&text, ""));
            write!(out, "{bold}{first}")?;
            screen::wrap(out, rest, first.len(), 2, columns)?;
            return write!(out, "{bold:#}");
        }
        let cut = match read.malformed {
            0 => String::new(),
            malformed => format!(", {} malformed", screen::grouped(malformed)),
        };
        let names = ["info", "warning", "error", "critical"];
        let by: Vec<String> = names
            .iter()
            .zip(self.findings)
            .rev()
            .filter(|(_, findings)| *findings > 0)
            .map(|(name, findings)| format!("{findings} {name}"))
            .collect();
        let by = if by.is_empty() {
            String::new()
        } else {
            format!(" ({})", by.join(", "))
        };
        let spans = screen::count(read.spans, "span");
        let mut quiet = String::new();
        for (count, what) in [
            (self.on_trial, "for metrics only"),
            (self.ignored, "ignored"),
        ] {
            if count > 0 {
                quiet.push_str(&format!(", {count} {what}"));
            }
        }
        let text = format!(
            "{cut}, {}, {} in {found} of them{by}{quiet}",
            screen::count(sessions as u64, "session"),
            screen::count(self.findings.iter().sum(), "finding"),
        );
        let (first, rest) = text.split_once(' ').unwrap_or((&text, ""));
        write!(out, "{bold}{spans}{first}")?;
        screen::wrap(out, rest, spans.len() + first.len(), 2, columns)?;
        write!(out, "{bold:#}")?;
        let waste = self.costs.sum();
        if waste.calls > 0 {
            writeln!(out, "since onset: {}", waste_words(&waste))?;
        }
        Ok(())
    }
}
