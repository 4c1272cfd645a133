//! The common part of a detector's settings made ready: rules chosen, globs compiled.

use std::sync::{PoisonError, RwLock};

use globset::{Glob, GlobMatcher};

use crate::lanes::{NameId, Names};
use crate::model::{Name, Severity};

use super::settings::Common;
use super::{KeyBy, Rules, ToolOverride};

/// The common part made ready: rules chosen, globs compiled.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) rules: Rules,
    pub(super) severity: Option<Severity>,
    /// Calls of some tool are the same whatever their arguments.
    pub(super) keys_by_tool: bool,
    /// The greatest threshold of a tool, 0 without any: a lane has to keep as many calls.
    pub(super) threshold_max: u32,
    /// Plain names first, then the longest glob.
    overrides: Vec<(GlobMatcher, ToolOverride)>,
    /// Which of them each name has matched, by the number of the name: no glob is matched for a step.
    matched: RwLock<Vec<Option<Matched>>>,
}

/// What a name has matched. Numbers mean something within one table of names only: so the name is kept.
#[derive(Debug)]
struct Matched {
    name: Name,
    at: Option<usize>,
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
            threshold_max: common
                .tools
                .values()
                .filter_map(|over| over.threshold)
                .max()
                .unwrap_or(0),
            matched: RwLock::default(),
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
        let name = names.get(tool)?;
        let at = self.known(tool, name).unwrap_or_else(|| {
            let at = self
                .overrides
                .iter()
                .position(|(glob, _)| glob.is_match(&**name));
            self.remember(tool, name, at);
            at
        });
        at.and_then(|at| self.overrides.get(at))
            .map(|(_, over)| over)
    }

    fn known(&self, tool: NameId, name: &Name) -> Option<Option<usize>> {
        let matched = self.matched.read().unwrap_or_else(PoisonError::into_inner);
        let known = matched.get(tool.index())?.as_ref()?;
        (known.name == *name).then_some(known.at)
    }

    fn remember(&self, tool: NameId, name: &Name, at: Option<usize>) {
        let mut matched = self.matched.write().unwrap_or_else(PoisonError::into_inner);
        if matched.len() <= tool.index() {
            matched.resize_with(tool.index() + 1, || None);
        }
        if let Some(cell) = matched.get_mut(tool.index()) {
            *cell = Some(Matched {
                name: name.clone(),
                at,
            });
        }
    }

    /// So many calls for each repeat that some tool needs, or the detector itself.
    pub(super) fn window(&self, own: u32, calls: usize) -> usize {
        usize::try_from(own.max(self.threshold_max))
            .unwrap_or(usize::MAX)
            .saturating_mul(calls)
    }

    /// The severity to report: the configured one, else the rule's own.
    pub(super) fn severity(&self, own: Severity) -> Severity {
        self.severity.unwrap_or(own)
    }
}
