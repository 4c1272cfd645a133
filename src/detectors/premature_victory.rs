//! `premature_victory`: a claim of completion without fresh proof.

use std::time::Duration;

use super::settings::config;

config! {
    /// Settings of `premature_victory`.
    pub struct Config (enabled: true) {
        /// How far clocks of two processes may lie apart, in the agent's favour.
        #[serde(with = "crate::model::units::duration")]
        clock_tolerance: Duration = Duration::from_secs(1),
    }
}
