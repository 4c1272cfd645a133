//! A hash table in many small parts, so that no insertion ever pays for growing a large one.

use std::hash::{BuildHasher, Hash};

use foldhash::quality::RandomState;
use hashbrown::HashMap;

/// Parts of a table; at a million entries one part holds about four thousand.
const PARTS: usize = 256;

/// A hash table split into parts. Never iterated: its order is random by design.
#[derive(Debug)]
pub(super) struct Table<K, V> {
    hasher: RandomState,
    parts: Vec<HashMap<K, V, RandomState>>,
    len: usize,
}

impl<K: Hash + Eq, V> Default for Table<K, V> {
    fn default() -> Self {
        let hasher = RandomState::default();
        Self {
            parts: (0..PARTS)
                .map(|_| HashMap::with_hasher(hasher.clone()))
                .collect(),
            hasher,
            len: 0,
        }
    }
}

impl<K: Hash + Eq, V> Table<K, V> {
    fn part(&self, key: &K) -> usize {
        // The high bits: hashbrown uses the low ones inside a part.
        usize::try_from(self.hasher.hash_one(key) >> 56).unwrap_or(0) % PARTS
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.parts.get(self.part(key))?.get(key)
    }

    pub(super) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let part = self.part(key);
        self.parts.get_mut(part)?.get_mut(key)
    }

    pub(super) fn insert(&mut self, key: K, value: V) {
        let part = self.part(&key);
        if let Some(part) = self.parts.get_mut(part)
            && part.insert(key, value).is_none()
        {
            self.len += 1;
        }
    }

    pub(super) fn remove(&mut self, key: &K) -> Option<V> {
        let part = self.part(key);
        let removed = self.parts.get_mut(part)?.remove(key);
        self.len -= usize::from(removed.is_some());
        removed
    }
}
