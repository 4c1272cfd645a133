//! What can be configured of the reading of steps.

use serde::Deserialize;

use crate::actions;
use crate::dialects;

use super::Audiences;

/// Settings of a [`super::Reader`].
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Roles of the user's own tools (`processors.anomaly.tools`).
    pub tools: actions::Roles,
    /// Where agents work (`processors.anomaly.workspace`).
    pub workspace: actions::Workspace,
    /// Whether each tool call gets its SHA-256 signature, to be shown on its span.
    pub show_signature: bool,
    /// Whether answers are also rewritten as agentbudget does it: dear, and only its source rule wants it.
    /// Set from the rules in force, not by a key of its own.
    #[serde(skip)]
    pub source_answers: bool,
    /// Whether the words of goals, arguments and answers are taken: only goal_drift wants them. Set from the
    /// detectors in force, not by a key of its own.
    #[serde(skip)]
    pub topics: bool,
    /// Where writes may go, and by whose rules they are read. Set from the detectors' keys.
    #[serde(skip)]
    pub watch: actions::Watch,
    /// Which resources the overrides mean. Set from the overrides, not by a key of its own.
    #[serde(skip)]
    pub audiences: Audiences,
    /// Conventions of the user's own (`processors.anomaly.dialects`).
    #[serde(skip)]
    pub dialects: dialects::Configured,
    /// Seeds keys and caches, so that who sends spans cannot foresee them. Never configured: the same for
    /// all readers of a process, else equal calls would have unequal keys.
    #[serde(skip)]
    pub seed: u64,
}
