//! `stuck`: the same call again and again.

use super::settings::config;

config! {
    /// Settings of `stuck`.
    pub struct Config (enabled: true) {
        /// Equal calls needed.
        threshold: u32 = 3,
    }
}
