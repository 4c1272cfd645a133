//! What is costly to read and comes again and again: tool definitions, the schemas in them, goals.
//!
//! Invariant: an entry depends on its text alone; bounded in number, and definitions and schemas in bytes as
//! well. A schema is compiled once per text, one that does not compile included.

use std::sync::Arc;

use hashbrown::HashMap;
use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};

use crate::dialects::{Definitions, Input, Text, goal_text, tools};
use crate::fingerprints::{fold_name, identity, topic};
use crate::model::{Definition, Excerpt, Goal, Name, Shape, ToolSet, Words};
use crate::schemas;
use crate::texts;

use super::memo::{KeyMaker, Memory};
use super::names::Names;

/// Most entries of each kind; when full, all of that kind go.
const ENTRIES: usize = 256;
/// Most bytes of definitions whose schemas one set keeps; those of further tools are not compiled.
const SET_BYTES: usize = 256 * 1024;
/// Most bytes of definitions behind all sets kept, and behind all schemas kept.
const ALL_BYTES: usize = 8 * 1024 * 1024;

/// Schemas by the hash of their text.
#[derive(Debug, Default)]
struct Schemas {
    known: HashMap<u64, Option<Arc<dyn Shape>>, foldhash::fast::FixedState>,
    bytes: usize,
}

impl Schemas {
    /// The compiled form of a schema; `None` when it has none.
    fn get(&mut self, text: &str, seed: u64) -> Option<Arc<dyn Shape>> {
        let id = xxh3_64_with_seed(text.as_bytes(), seed);
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        if self.known.len() >= ENTRIES || self.bytes >= ALL_BYTES {
            self.known.clear();
            self.bytes = 0;
        }
        let schema = schemas::compile(text).map(|schema| Arc::new(schema) as Arc<dyn Shape>);
        self.bytes += text.len();
        self.known.insert(id, schema.clone());
        schema
    }
}

/// Tool definitions and goals by the hash of their text.
#[derive(Debug)]
pub(super) struct Caches {
    tools: HashMap<u64, Option<ToolSet>, foldhash::fast::FixedState>,
    tools_bytes: usize,
    schemas: Schemas,
    memory: Arc<Memory>,
    wishes: HashMap<u64, Option<Words>, foldhash::fast::FixedState>,
    seed: u64,
}

impl Caches {
    pub(super) fn new(seed: u64, memory: Arc<Memory>) -> Self {
        Self {
            tools: HashMap::default(),
            tools_bytes: 0,
            schemas: Schemas::default(),
            memory,
            wishes: HashMap::default(),
            seed,
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
        let length: usize = definitions.parts.iter().map(|part| part.len()).sum();
        if self.tools.len() >= ENTRIES || self.tools_bytes >= ALL_BYTES {
            self.tools.clear();
            self.tools_bytes = 0;
        }
        self.tools_bytes += length;
        let set = self.tool_set(id, definitions, names);
        self.tools.insert(id, set.clone());
        set
    }

    fn tool_set(
        &mut self,
        id: u64,
        definitions: &Definitions<'_>,
        names: &mut Names,
    ) -> Option<ToolSet> {
        let sent = tools(definitions);
        let mut folded: Vec<Name> = sent
            .list
            .iter()
            .map(|tool| names.name(&String::from_utf8_lossy(&fold_name(&tool.name))))
            .collect();
        folded.sort();
        folded.dedup();
        let mut left = SET_BYTES;
        let seed = self.seed;
        let list = sent.list.iter().map(|tool| Definition {
            identity: identity(&tool.name),
            shape: tool.schema.as_deref().and_then(|text| {
                left = left.checked_sub(text.len())?;
                self.schemas.get(text, seed)
            }),
            hints: tool.hints,
        });
        let list: Vec<Definition> = list.collect();
        (!folded.is_empty()).then(|| ToolSet::new(id, folded.into(), list, sent.open))
    }

    /// What a goal asks for; `None` when its text is not captured.
    pub(super) fn goal(&mut self, encoded: &Text<'_>) -> Option<Goal> {
        let key = KeyMaker::new(self.seed).text(Some(encoded));
        if let Some(known) = self.memory.goals.get(key) {
            return known;
        }
        let goal = goal_text(encoded).map(|text| {
            let text = Excerpt::of(&text);
            Goal {
                hash: texts::hash(text),
                asks_for_tests: texts::goal_asks_for_tests(text),
            }
        });
        self.memory.goals.put(key, goal);
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
