//! All settings of the engine, composed. Checked by `config` before they come here.

use serde::Deserialize;

use crate::annotations;
use crate::detectors;
use crate::policies;
use crate::sessions;

/// Settings of one engine.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Grouping, order, bounds.
    pub sessions: sessions::Settings,
    /// Thresholds of the detectors.
    pub detectors: detectors::Settings,
    /// Other detectors for some steps; the first that means a step counts.
    pub overrides: Vec<detectors::Override>,
    /// Findings that are not told.
    pub ignore: Vec<policies::Ignore>,
    /// The world in which all rules live unless a detector says otherwise.
    pub rules: detectors::Rules,
    /// Cooldown.
    pub policy: policies::Settings,
    /// What is written.
    pub annotate: annotations::Settings,
    /// Whether spans are marked at all.
    pub mode: Mode,
    /// A pipeline of logs takes findings.
    pub logs: bool,
}

/// Whether spans are marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Marks go on the spans.
    #[default]
    Annotate,
    /// Spans pass untouched and are never held; findings are counted and logged, and go to the pipeline of
    /// logs where there is one.
    Observe,
}
