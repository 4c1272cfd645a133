//! `stutter`: text that repeats itself.

use super::settings::config;

config! {
    /// Settings of `stutter`.
    pub struct Config (enabled: true) {
        /// Tokens of an n-gram.
        ngram: u32 = 4,
        /// Entropy in bits up to which it fires (`rules: source`).
        max_entropy: f64 = 2.1,
        /// Shortest text judged, in tokens; `rules: source` has none unless it is set.
        min_tokens: u32 = 60,
    }
}
