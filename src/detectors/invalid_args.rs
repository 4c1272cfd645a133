//! `invalid_args`: arguments that are no JSON or are refused.

use super::settings::config;

config! {
    /// Settings of `invalid_args`.
    pub struct Config (enabled: true) {
    }
}
