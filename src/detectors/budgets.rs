//! `budget_steps`, `budget_cost`, `budget_time`: more than was allowed.

use std::time::Duration;

use serde::Deserialize;

use super::settings::config;

/// What a budget is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// A conversation, or a run that belongs to none.
    #[default]
    Session,
    /// One agent of a run.
    Agent,
    /// One turn.
    Turn,
}

config! {
    /// Settings of `budget_steps`. Off without `max`.
    pub struct StepsConfig (enabled: true) {
        /// Executed tool calls allowed.
        max: Option<u64> = None,
        /// What the budget is for.
        scope: Scope = Scope::Session,
    }
}

config! {
    /// Settings of `budget_cost`. Off without `max_usd`.
    pub struct CostConfig (enabled: true) {
        /// US dollars allowed.
        max_usd: Option<f64> = None,
        /// What the budget is for.
        scope: Scope = Scope::Session,
    }
}

config! {
    /// Settings of `budget_time`. Off without `max` and `idle`.
    pub struct TimeConfig (enabled: true) {
        /// Time allowed.
        #[serde(with = "crate::model::units::optional_duration")]
        max: Option<Duration> = None,
        /// Longest silence allowed of an open run.
        #[serde(with = "crate::model::units::optional_duration")]
        idle: Option<Duration> = None,
        /// What the budget is for.
        scope: Scope = Scope::Session,
    }
}
