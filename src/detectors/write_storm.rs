//! `write_storm`: too many writes in a window.

use std::time::Duration;

use super::settings::config;

config! {
    /// Settings of `write_storm`.
    pub struct Config (enabled: true) {
        /// Writes allowed within the window.
        limit: i64 = 20,
        /// The sliding window.
        #[serde(with = "crate::model::units::duration")]
        window: Duration = Duration::from_secs(60),
    }
}
