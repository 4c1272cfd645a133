//! A bounded store of command texts taken apart. Agents run the same commands again and again, and parsing
//! is the dearest thing this module does.

use std::sync::Arc;

use hashbrown::HashMap;
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::script::Script;
use super::walk;

/// Most texts kept in each of the two generations.
const MAX_SCRIPTS: usize = 512;
/// Most bytes kept in each of the two generations.
const MAX_BYTES: usize = 1 << 20;

/// Scripts by the hash of their text, held by the caller: one for each reading thread. Two generations:
/// when the younger is full it becomes the older, and what was not asked for since is gone.
#[derive(Clone, Debug, Default)]
pub struct Scripts {
    young: HashMap<u128, Arc<Script>>,
    old: HashMap<u128, Arc<Script>>,
    bytes: usize,
    seed: u64,
}

impl Scripts {
    /// An empty store whose hashes cannot be foreseen by who sends texts, if `seed` cannot.
    pub fn with_seed(seed: u64) -> Self {
        Self {
            seed,
            ..Self::default()
        }
    }

    /// The script of a text, parsed if need be.
    pub(super) fn get(&mut self, text: &str) -> Arc<Script> {
        let key = xxh3_128_with_seed(text.as_bytes(), self.seed);
        if let Some(script) = self.young.get(&key) {
            return Arc::clone(script);
        }
        let script = match self.old.remove(&key) {
            Some(script) => script,
            None => Arc::new(walk::script(text)),
        };
        self.bytes += script.heap_bytes();
        if self.young.len() >= MAX_SCRIPTS || self.bytes > MAX_BYTES {
            self.old = std::mem::take(&mut self.young);
            self.bytes = script.heap_bytes();
        }
        self.young.insert(key, Arc::clone(&script));
        script
    }

    /// How many scripts are held.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.young.len() + self.old.len()
    }
}
