//! What a call leaves for those after it: links, edits put aside, directories that show where the work is.
//!
//! Invariant: only what a command names outright is noted; a link from or to what nobody knows is none.

use crate::model::{FileLink, RootHint, Stash, is_absolute, is_temp};

use super::CallFacts;
use super::paths;
use super::script::{Script, Word};
use super::world::World;

/// Most links noted of one call.
const MAX_LINKS: usize = 16;

/// Edits put aside within a call, and what stood before.
#[derive(Clone, Debug)]
pub(super) struct Aside {
    at: usize,
    edits: bool,
    last_edit: Option<usize>,
    root: Option<Option<String>>,
}

impl World<'_> {
    /// A link is made at `path` that holds `target`, as `ln` is told. A hard link is as good as one that
    /// names the file from the top.
    pub(super) fn makes_link(&mut self, path: &Word, target: &Word, symbolic: bool) {
        let at = self.resolve(path);
        let held = if symbolic && !target.dynamic {
            target.text.clone()
        } else {
            let resolved = self.resolve(target);
            if resolved.unresolved || !is_absolute(&resolved.path) {
                return;
            }
            resolved.path
        };
        if at.unresolved || !at.path.starts_with('/') || self.effects.links.len() >= MAX_LINKS {
            return;
        }
        self.effects.links.push(FileLink {
            path: at.path.into(),
            target: Some(held.into()),
        });
    }

    /// The edits of the working tree are put aside, or taken back. What ran between saw another tree, and
    /// afterwards the tree is what it was before.
    pub(super) fn stashes(&mut self, what: Stash) {
        match (what, self.aside.take()) {
            (Stash::Put, _) => {
                self.aside = Some(Aside {
                    at: self.at,
                    edits: self.effects.edits_source,
                    last_edit: self.last_edit,
                    root: self.edit_root.clone(),
                });
                self.effects.stash = Some(Stash::Put);
            }
            (Stash::Taken, Some(before)) => {
                for (_, how, at) in &mut self.checks {
                    how.aside |= *at > before.at;
                }
                self.effects.edits_source = before.edits;
                self.last_edit = before.last_edit;
                self.edit_root = before.root;
                self.effects.stash = None;
            }
            (Stash::Taken, None) => self.effects.stash = Some(Stash::Taken),
        }
    }

    /// A directory is gone to: the first one with a name of its own shows where the work is.
    pub(super) fn goes(&mut self, dir: &str) {
        let tells = self.call.infer && is_absolute(dir) && dir.len() > 1 && !is_temp(dir);
        if tells && self.effects.root_hint.is_none() {
            self.effects.root_hint = Some(RootHint {
                top_level: false,
                path: dir.into(),
            });
        }
    }

    /// `git rev-parse --show-toplevel`, and its answer.
    pub(super) fn asks_for_top(&mut self, script: &Script, call: &CallFacts<'_>) {
        if !call.infer {
            return;
        }
        let asks = script.runs().any(|run| {
            run.name() == "git" && run.words.iter().any(|word| word.text == "--show-toplevel")
        });
        let line = call.answer.and_then(|answer| answer.front.lines().next());
        let Some(line) = line.map(str::trim).filter(|line| asks && is_absolute(line)) else {
            return;
        };
        if !line.contains(char::is_whitespace) {
            self.effects.root_hint = Some(RootHint {
                top_level: true,
                path: paths::normalise(line).into(),
            });
        }
    }
}
