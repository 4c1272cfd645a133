//! `ping_pong`: two calls in turn.

use super::settings::config;

config! {
    /// Settings of `ping_pong`.
    pub struct Config (enabled: true) {
        /// Calls that must alternate: two rounds by default.
        window: u32 = 4,
    }
}
