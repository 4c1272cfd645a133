//! `novel_host`: contact with a host that is not known.

use super::settings::config;

config! {
    /// Settings of `novel_host`.
    pub struct Config (enabled: false) {
        /// Hosts that are known.
        known_hosts: Vec<String> = Vec::new(),
        /// Address ranges that are known.
        allow_cidrs: Vec<String> = Vec::new(),
    }
}
