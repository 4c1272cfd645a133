//! `failure_loop`: the same failing call again and again.

use super::settings::config;

config! {
    /// Settings of `failure_loop`.
    pub struct Config (enabled: true) {
        /// Failures needed.
        threshold: u32 = 3,
    }
}
