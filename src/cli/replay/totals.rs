//! The last lines for people: what was read, and what was found in it, in numbers.
//!
//! Invariant: a finding is an episode that was opened; one that is raised counts once, by its last severity.

use std::collections::HashMap;
use std::io::{self, Write};

use anstyle::Style;

use crate::cli::screen;
use crate::cli::timeline::{raised_words, waste_words};
use crate::engine::{Quiet, Why};
use crate::model::{EpisodeState, Report, Severity};

use super::costs::Costs;

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

/// Sessions seen.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// All of them.
    pub(super) all: usize,
    /// Those in which something was found.
    pub(super) found: usize,
    /// Those in which something could not be assessed.
    pub(super) blind: usize,
}

/// What was found, in numbers.
#[derive(Debug, Default)]
pub(super) struct Totals {
    /// Info, warning, error, critical.
    findings: [u64; 4],
    /// The severity of each episode by now.
    episodes: HashMap<u64, Severity>,
    raised: u64,
    worst: Option<Severity>,
    costs: Costs,
    /// Findings of rules on trial, and such that somebody has accepted.
    on_trial: u64,
    ignored: u64,
}

const SEVERITIES: [Severity; 4] = [
    Severity::Info,
    Severity::Warning,
    Severity::Error,
    Severity::Critical,
];

impl Totals {
    /// The worst severity that was told.
    pub(super) const fn worst(&self) -> Option<Severity> {
        self.worst
    }

    /// Notes what was found.
    pub(super) fn note(&mut self, report: &Report) {
        self.worst = self.worst.max(Some(report.severity));
        let before = self.episodes.insert(report.episode, report.severity);
        if report.state == EpisodeState::Raised {
            self.raised += 1;
            if let Some(before) = before {
                let cell = self.of(before);
                *cell = cell.saturating_sub(1);
            }
        }
        *self.of(report.severity) += 1;
        if let Some(judged) = report.finding.judged() {
            self.costs.add(judged.trace, &report.waste);
        }
    }

    /// Notes what was found but stands on no span.
    pub(super) fn quiet(&mut self, quiet: &Quiet) {
        let opened = u64::from(quiet.report.state == EpisodeState::Opened);
        match quiet.why {
            Why::Trial => self.on_trial += opened,
            Why::Ignored { .. } => self.ignored += opened,
        }
    }

    fn of(&mut self, severity: Severity) -> &mut u64 {
        let [info, warning, error, critical] = &mut self.findings;
        match severity {
            Severity::Info => info,
            Severity::Warning => warning,
            Severity::Error => error,
            Severity::Critical => critical,
        }
    }

    /// Whether there was nothing to judge.
    pub(super) fn is_nothing(&self, sessions: Seen) -> bool {
        sessions.all == 0 && self.findings.iter().sum::<u64>() == 0
    }

    /// Writes them, and what all findings have cost.
    pub(super) fn write(
        &self,
        out: &mut dyn Write,
        read: Read,
        sessions: Seen,
        columns: usize,
    ) -> io::Result<()> {
        let bold = Style::new().bold();
        if self.is_nothing(sessions) {
            let text = nothing(read);
            let (first, rest) = text.split_once(' ').unwrap_or((&text, ""));
            write!(out, "{bold}{first}")?;
            screen::wrap(out, rest, first.len(), 2, columns)?;
            return write!(out, "{bold:#}");
        }
        let text = self.words(read, sessions);
        let (first, rest) = text.split_once(' ').unwrap_or((&text, ""));
        write!(out, "{bold}{first}")?;
        screen::wrap(out, rest, first.len(), 2, columns)?;
        write!(out, "{bold:#}")?;
        let waste = self.costs.sum();
        if waste.calls > 0 {
            writeln!(out, "since onset: {}", waste_words(&waste))?;
        }
        Ok(())
    }

    fn words(&self, read: Read, sessions: Seen) -> String {
        let mut words = vec![screen::count(read.spans, "span")];
        if read.malformed > 0 {
            words.push(format!("{} malformed", screen::grouped(read.malformed)));
        }
        words.push(match (sessions.all, sessions.blind) {
            (all, 0) => screen::count(all as u64, "session"),
            (all, blind) => format!(
                "{} ({} not wholly assessed)",
                screen::count(all as u64, "session"),
                screen::grouped(blind as u64)
            ),
        });
        let by: Vec<String> = SEVERITIES
            .iter()
            .zip(self.findings)
            .rev()
            .filter(|(_, findings)| *findings > 0)
            .map(|(severity, findings)| format!("{findings} {}", severity.name()))
            .collect();
        let findings = screen::count(self.findings.iter().sum(), "finding");
        words.push(if by.is_empty() {
            findings
        } else {
            let found = screen::grouped(sessions.found as u64);
            format!("{findings} in {found} of them ({})", by.join(", "))
        });
        words.extend(raised_words(self.raised));
        for (count, what) in [
            (self.on_trial, "for metrics only"),
            (self.ignored, "ignored"),
        ] {
            if count > 0 {
                words.push(format!("{} {what}", screen::grouped(count)));
            }
        }
        words.join(", ")
    }
}

fn nothing(read: Read) -> String {
    match (read.spans, read.malformed) {
        (0, 0) => "no spans were read: nothing to judge".to_owned(),
        (spans, malformed) => {
            let malformed = match malformed {
                0 => String::new(),
                some => format!(", {} malformed", screen::grouped(some)),
            };
            format!(
                "{}{malformed}, none of them a step of an agent (a tool call, a model call, the run of an agent): \
                 nothing to judge",
                screen::count(spans, "span"),
            )
        }
    }
}
