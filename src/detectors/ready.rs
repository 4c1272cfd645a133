//! The common part of a detector's settings made ready: rules chosen, globs compiled.

use globset::{Glob, GlobMatcher};

use crate::lanes::{NameId, Names};
use crate::model::Severity;

use super::settings::Common;
use super::{KeyBy, Rules, ToolOverride};

/// The common part made ready: rules chosen, globs compiled.
#[derive(Clone, Debug)]
pub(super) struct Ready {
    pub(super) rules: Rules,
    pub(super) severity: Option<Severity>,
    /// Calls of some tool are the same whatever their arguments.
    pub(super) keys_by_tool: bool,
    /// Plain names first, then the longest glob.
    overrides: Vec<(GlobMatcher, ToolOverride)>,
}

impl Ready {
    pub(super) fn new(common: Common<'_>, rules: Rules) -> Self {
        let mut overrides: Vec<_> = common
            .tools
            .iter()
            .filter_map(|(glob, over)| Some((Glob::new(glob).ok()?, over.clone())))
            .collect();
        // Plain names before patterns, longer ones first.
        overrides.sort_by_key(|(glob, _)| {
            let pattern = glob.glob().contains(['*', '?', '[', '{']);
            (pattern, std::cmp::Reverse(glob.glob().len()))
        });
        Self {
            rules: common.rules.unwrap_or(rules),
            severity: common.severity,
            keys_by_tool: common
                .tools
                .values()
                .any(|over| over.key == Some(KeyBy::Tool)),
            overrides: overrides
                .into_iter()
                .map(|(glob, over)| (glob.compile_matcher(), over))
                .collect(),
        }
    }

    /// What is configured for one tool; free when nothing is configured for any.
    pub(super) fn of(&self, names: &Names, tool: NameId) -> Option<&ToolOverride> {
        if self.overrides.is_empty() {
            return None;
        }
        let name = names.text(tool);
        self.overrides
            .iter()
            .find(|(glob, _)| glob.is_match(&*name))
            .map(|(_, over)| over)
    }

    /// The severity to report: the configured one, else the rule's own.
    pub(super) fn severity(&self, own: Severity) -> Severity {
        self.severity.unwrap_or(own)
    }
}
