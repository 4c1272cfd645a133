//! `loop`: a cycle of calls.

use super::settings::config;

config! {
    /// Settings of `loop`.
    pub struct Config (enabled: true) {
        /// Calls looked back over.
        window: u32 = 20,
        /// Rounds needed.
        min_repeats: u32 = 2,
    }
}
