//! `tool_hallucination`: a call to a tool that is not defined.

use super::settings::config;

config! {
    /// Settings of `tool_hallucination`.
    pub struct Config (enabled: true) {
    }
}
