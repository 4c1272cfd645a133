//! `error_rate`: too large a share of failed calls.

use serde::Deserialize;

use super::settings::config;

config! {
    /// Settings of `error_rate`.
    pub struct Config (enabled: true) {
        /// Share of failures from which it fires, above 0 and at most 1.
        threshold: f64 = 0.5,
        /// Outcomes looked back over.
        window: u32 = 10,
        /// What is counted.
        unit: Unit = Unit::Call,
    }
}

/// What `error_rate` counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Tool calls.
    #[default]
    Call,
    /// Runs of agents.
    Run,
}
