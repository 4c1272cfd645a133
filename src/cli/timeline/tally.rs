//! What was found in one session, counted, and what is said of it at a glance.

use std::collections::BTreeMap;

use anstyle::AnsiColor;

use crate::cli::screen;
use crate::engine::{ClosedRun, Quiet, Why, ignore_line};
use crate::model::{EpisodeState, Report};

/// What was found in one session.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Its episodes; a finding's number is its episode's place here plus one.
    episodes: Vec<u64>,
    /// Findings told: each episode that was opened.
    opened: u64,
    /// How often one of them was raised.
    raised: u64,
    /// Findings that somebody has accepted, and such of rules on trial.
    ignored: u64,
    on_trial: u64,
    /// The lines that mute them, each once, with the number of the first that it mutes.
    pub(super) mutes: Vec<(String, u32)>,
}

impl Found {
    /// Counts what was found; returns the number of its episode.
    pub(super) fn report(&mut self, report: &Report) -> u32 {
        let number = self.number(report.episode);
        match report.state {
            EpisodeState::Opened => self.opened += 1,
            EpisodeState::Raised => self.raised += 1,
        }
        self.mute(ignore_line(report), number);
        number
    }

    /// Counts what was found but stands on no span.
    pub(super) fn quiet(&mut self, quiet: &Quiet) {
        let opened = u64::from(quiet.report.state == EpisodeState::Opened);
        match quiet.why {
            Why::Trial => self.on_trial += opened,
            Why::Ignored { .. } => self.ignored += opened,
        }
    }

    fn number(&mut self, episode: u64) -> u32 {
        let known = self.episodes.iter().position(|known| *known == episode);
        let at = known.unwrap_or_else(|| {
            self.episodes.push(episode);
            self.episodes.len() - 1
        });
        u32::try_from(at + 1).unwrap_or(u32::MAX)
    }

    /// Whether anything was told.
    pub(super) const fn has_findings(&self) -> bool {
        self.opened > 0
    }

    /// Whether any step of its has something to show.
    pub(super) fn shows(&self) -> bool {
        self.opened + self.raised + self.ignored + self.on_trial > 0
    }

    /// Takes in what was found before.
    pub(super) fn join(&mut self, other: Self) {
        self.opened += other.opened;
        self.raised += other.raised;
        self.ignored += other.ignored;
        self.on_trial += other.on_trial;
        for (line, number) in other.mutes {
            self.mute(line, number);
        }
    }

    fn mute(&mut self, line: String, number: u32) {
        if !self.mutes.iter().any(|(known, _)| *known == line) {
            self.mutes.push((line, number));
        }
    }
}

/// What there is to say of a session at a glance. One that is silent for want of content is not called healthy.
pub(super) fn verdict(found: &Found, runs: &[ClosedRun]) -> (AnsiColor, String) {
    let mut words = Vec::new();
    if found.opened > 0 {
        words.push(screen::count(found.opened, "finding"));
    }
    words.extend(raised_words(found.raised));
    for (count, what) in [
        (found.ignored, "ignored"),
        (found.on_trial, "for metrics only"),
    ] {
        if count > 0 {
            words.push(format!("{} {what}", screen::grouped(count)));
        }
    }
    if found.opened > 0 {
        return (AnsiColor::Yellow, words.join(", "));
    }
    words.insert(0, "nothing found".to_owned());
    let lacks = runs.iter().flat_map(|run| &run.not_assessed);
    let blind = lacks
        .flat_map(|(_, lacks)| lacks)
        .any(|lack| lack.is_of_content());
    if blind {
        words.push("but content is missing".to_owned());
        return (AnsiColor::Yellow, words.join(", "));
    }
    (AnsiColor::Green, words.join(", "))
}

/// How often findings were raised: `raised 3 times`; nothing for never.
pub(in crate::cli) fn raised_words(raised: u64) -> Option<String> {
    match raised {
        0 => None,
        1 => Some("raised once".to_owned()),
        more => Some(format!("raised {}", screen::count(more, "time"))),
    }
}

/// What could not be judged in these runs, and why; empty where all could.
pub(super) fn unjudged(runs: &[ClosedRun]) -> String {
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
