//! `scope_escape`: a write outside the workspace.

use super::settings::config;

config! {
    /// Settings of `scope_escape`.
    pub struct Config (enabled: true) {
        /// Directories outside the workspace that may be written to.
        allowed_dirs: Vec<String> = Vec::new(),
    }
}
