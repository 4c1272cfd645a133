//! Where results go: records for programs, or what people asked for.
//!
//! Invariant: with `--format json` standard output holds one object a line and nothing else.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use crate::cli::arguments::{Format, ReplayArguments};
use crate::cli::failure::Failure;
use crate::cli::screen;
use crate::cli::timeline::Timeline;
use crate::engine::{Notice, Output, Quiet, Why};
use crate::model::{Severity, Step};
use crate::otlp;
use crate::runtime::{files, terminal};

use super::baseline::Baseline;
use super::blind::{Blind, Demand};
use super::compare::Compare;
use super::complain;
use super::content;
use super::explain::Explain;
use super::record;
use super::summary::Summary;
use super::totals::{Read, Seen, Totals};

/// Where results go.
pub(super) struct Printer {
    format: Format,
    /// Standard output, unless spans go there.
    results: Box<dyn Write>,
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
    blind: Blind,
    totals: Totals,
    notices: Vec<Notice>,
    /// Lines of the earlier output that are no records.
    unreadable: u64,
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
        let stdout = std::path::Path::new("-");
        let spans_to_stdout = arguments.annotated.as_deref() == Some(stdout);
        let annotated: Option<Box<dyn Write>> = match &arguments.annotated {
            None => None,
            Some(_) if spans_to_stdout => Some(Box::new(BufWriter::new(io::stdout()))),
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
            results: if spans_to_stdout {
                Box::new(BufWriter::new(anstream::stderr()))
            } else {
                Box::new(BufWriter::new(anstream::stdout()))
            },
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
            blind: Blind::default(),
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
                writeln!(self.results, "{line}")?;
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
            self.blind.close(&closed);
            if self.format == Format::Text {
                self.timeline.close(&closed);
            }
            if let Some((compare, _)) = &mut self.compare {
                compare.close(&closed);
            }
            if let Some(summary) = &mut self.summary {
                summary.close(&closed);
            }
            if let Some(baseline) = &mut self.baseline {
                baseline.close(&closed);
            }
        }
        self.notices.append(&mut out.notices);
        out.cuts.clear();
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
        self.totals.quiet(quiet);
        match (self.format, &quiet.why) {
            (Format::Text, _) => self.timeline.quiet(quiet),
            (Format::Json, Why::Ignored { .. }) => {}
            (Format::Json, Why::Trial) => {
                let line = record::on_trial(&quiet.report)
                    .map_err(|error| Failure::Software(error.to_string()))?;
                writeln!(self.results, "{line}")?;
            }
        }
        Ok(())
    }

    /// Why a demand for what must be assessed is not met; `None` when it is.
    pub(super) fn blind(&self, demand: &Demand) -> Option<String> {
        self.blind.failure(demand)
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
        let mut worst = self.totals.worst();
        let changes = self
            .compare
            .take()
            .map(|(compare, path)| (compare.changes(), path));
        if let Some((changes, _)) = &changes {
            worst = changes.worst_new();
        }
        let out = &mut self.results;
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
        let (all, found) = self.timeline.totals();
        let sessions = Seen {
            all,
            found,
            blind: self.blind.count(),
        };
        if self.totals.is_nothing(sessions) {
            // That comes first: all else is why.
            self.totals.write(out, read, sessions, self.columns)?;
        }
        if self.timelines {
            self.timeline.write(out)?;
        }
        if let Some(summary) = &self.summary {
            summary.write(out, self.columns)?;
        }
        if self.timelines || self.summary.is_some() {
            self.blind.write(out, self.columns)?;
        }
        content::write(&self.notices, out, self.columns)?;
        if let Some((changes, path)) = &changes {
            changes.write(out, path, self.columns)?;
        }
        if let Some(baseline) = &self.baseline {
            baseline.write(out, self.columns)?;
        }
        if !self.totals.is_nothing(sessions) {
            self.totals.write(out, read, sessions, self.columns)?;
        }
        out.flush()?;
        Ok((worst, self.unreadable))
    }
}
