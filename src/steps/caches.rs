//! What is costly to read and comes again and again: tool definitions and goals.
//!
//! Invariant: an entry depends on its text alone; bounded in number.

use hashbrown::HashMap;
use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};

use crate::dialects::{Definitions, Input, Text, goal_text, tool_names};
use crate::fingerprints::{fold_name, identity, topic};
use crate::model::{Excerpt, Goal, Name, ToolSet, Words};
use crate::texts;

use super::names::Names;

/// Most entries of each kind; when full, all of that kind go.
const ENTRIES: usize = 256;

/// Tool definitions and goals by the hash of their text.
#[derive(Debug, Default)]
pub(super) struct Caches {
    tools: HashMap<u64, Option<ToolSet>, foldhash::fast::FixedState>,
    goals: HashMap<u64, Option<Goal>, foldhash::fast::FixedState>,
    wishes: HashMap<u64, Option<Words>, foldhash::fast::FixedState>,
    seed: u64,
}

impl Caches {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            seed,
            ..Self::default()
        }
    }

    /// The tools that definitions name; `None` when no name can be read.
    pub(super) fn tools(
        &mut self,
        definitions: &Definitions<'_>,
        names: &mut Names,
    ) -> Option<ToolSet> {
        let mut hasher = Xxh3::with_seed(self.seed);
        for part in &definitions.parts {
            hasher.update(part.as_bytes());
            hasher.update(&[0xff]);
        }
        let id = hasher.digest();
        if let Some(known) = self.tools.get(&id) {
            return known.clone();
        }
        if self.tools.len() >= ENTRIES {
            self.tools.clear();
        }
        let sent = tool_names(definitions);
        let mut hashes: Vec<u64> = sent
            .iter()
            .map(|name| identity(name))
            .flat_map(|one| [one.exact, one.folded, one.bare])
            .collect();
        hashes.sort_unstable();
        hashes.dedup();
        let mut folded: Vec<Name> = sent
            .iter()
            .map(|name| names.name(&String::from_utf8_lossy(&fold_name(name))))
            .collect();
        folded.sort();
        folded.dedup();
        let set = (!folded.is_empty()).then(|| ToolSet {
            id,
            names: folded.into(),
            hashes: hashes.into(),
        });
        self.tools.insert(id, set.clone());
        set
    }

    /// What a goal asks for; `None` when its text is not captured.
    pub(super) fn goal(&mut self, encoded: &Text<'_>) -> Option<Goal> {
        let id = xxh3_64_with_seed(encoded.as_bytes(), self.seed);
        if let Some(known) = self.goals.get(&id) {
            return *known;
        }
        if self.goals.len() >= ENTRIES {
            self.goals.clear();
        }
        let goal = goal_text(encoded).map(|text| {
            let text = Excerpt::of(&text);
            Goal {
                hash: texts::hash(text),
                asks_for_tests: texts::goal_asks_for_tests(text),
            }
        });
        self.goals.insert(id, goal);
        goal
    }

    /// The words of what users say first and last; `None` when neither is captured.
    pub(super) fn wishes(&mut self, input: &Input<'_>) -> Option<Words> {
        let mut hasher = Xxh3::with_seed(self.seed);
        for text in [&input.goal, &input.latest] {
            hasher.update(text.as_ref().map_or(&[][..], |text| text.as_bytes()));
            hasher.update(&[0xff]);
        }
        let id = hasher.digest();
        if let Some(known) = self.wishes.get(&id) {
            return known.clone();
        }
        if self.wishes.len() >= ENTRIES {
            self.wishes.clear();
        }
        let texts = [&input.goal, &input.latest].into_iter().flatten();
        let texts: Vec<_> = texts.filter_map(goal_text).collect();
        let words = (!texts.is_empty()).then(|| topic::of(texts.iter(), topic::GOAL).words);
        self.wishes.insert(id, words.clone());
        words
    }
}
