//! `empty_response`: model answers without content.

use super::settings::config;

config! {
    /// Settings of `empty_response`.
    pub struct Config (enabled: true) {
        /// Empty answers in a row needed.
        threshold: u32 = 3,
        /// Code points up to which an answer counts as empty, white space at both ends taken off.
        max_chars: u32 = 10,
    }
}
