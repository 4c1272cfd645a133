//! `transition_repeat`: one call-and-answer pair recurring in a window.

use super::settings::config;

config! {
    /// Settings of `transition_repeat`.
    pub struct Config (enabled: true) {
        /// Calls looked back over, the judged one included; 0 = all that are kept.
        window: u32 = 9,
        /// Occurrences needed.
        repeats: u32 = 3,
        /// Compare answers after taking out durations, times and ids.
        neutralize_volatile: bool = true,
    }
}
