//! `goal_drift`: work that has left the goal. No rule in the source; this build has no detector.

use super::settings::config;

config! {
    /// Settings of `goal_drift`.
    pub struct Config (enabled: false) {
    }
}
