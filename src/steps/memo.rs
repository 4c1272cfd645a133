//! What was made of content seen before: agents say the same things again, and reading a text costs a hundred
//! times what hashing it does.
//!
//! Invariant: an entry depends on what its key was made of and on the settings alone; a hit means 128 equal bits
//! under a secret seed. Bounded in number: a full set gives up one of its entries. All readers of one collector
//! share a memory, in parts that are locked for as long as it takes to copy an entry.

use std::sync::{Mutex, MutexGuard, PoisonError};

use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128_with_seed};

use crate::model::{Goal, TextFacts, ToolCall};

/// Entries that share a place: their tags fill one cache line.
const WAYS: usize = 8;

/// Calls, texts, and goals remembered: a call takes about 550 bytes, the others less than 100.
const HEARD: usize = 8192;

/// What readers have made of content, for all of them.
#[derive(Debug)]
pub struct Memory {
    /// Calls by all that their steps are made of.
    pub(super) calls: Shared<ToolCall>,
    /// What models and runs gave out.
    pub(super) texts: Shared<TextFacts>,
    /// What users asked for: every span of a model tells it again. `None`: not captured.
    pub(super) goals: Shared<Option<Goal>>,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            calls: Shared::new(HEARD),
            texts: Shared::new(HEARD),
            goals: Shared::new(HEARD),
        }
    }
}

/// Parts of a shared memo: more than cores that read at a time, so that one seldom waits for another.
const PARTS: usize = 16;

/// A memo for several readers.
#[derive(Debug)]
pub(super) struct Shared<T>([Mutex<Memo<T>>; PARTS]);

impl<T: Clone> Shared<T> {
    fn new(entries: usize) -> Self {
        Self(std::array::from_fn(|_| {
            Mutex::new(Memo::new(entries / PARTS))
        }))
    }

    /// What is remembered under a key.
    pub(super) fn get(&self, key: u128) -> Option<T> {
        self.part(key)?.get(key).cloned()
    }

    /// Remembers a result.
    pub(super) fn put(&self, key: u128, result: T) {
        if let Some(mut part) = self.part(key) {
            part.put(key, result);
        }
    }

    fn part(&self, key: u128) -> Option<MutexGuard<'_, Memo<T>>> {
        // Other bits than those that choose the set.
        let part = self.0.get(place(low(key >> 32), PARTS))?;
        Some(part.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A bounded, set-associative memory of results.
#[derive(Debug)]
struct Memo<T> {
    /// The upper half of each entry's key, so that a look-up touches the one entry that it finds.
    tags: Vec<[u64; WAYS]>,
    entries: Vec<Option<(u128, T)>>,
    most: usize,
}

impl<T> Memo<T> {
    /// A memory for up to `entries` results (a power of two, [`WAYS`] at least). Room is taken with the first one.
    fn new(entries: usize) -> Self {
        Self {
            tags: Vec::new(),
            entries: Vec::new(),
            most: (entries.next_power_of_two() / WAYS).max(1),
        }
    }

    /// What is remembered under a key.
    fn get(&self, key: u128) -> Option<&T> {
        let set = self.set(key);
        let tags = self.tags.get(set)?.iter().enumerate();
        let mut found = tags
            .filter(|(_, known)| **known == tag(key))
            .filter_map(|(way, _)| self.entries.get(set * WAYS + way)?.as_ref());
        let (_, result) = found.find(|(known, _)| *known == key)?;
        Some(result)
    }

    /// Remembers a result; of a full set the entry that the key itself picks is forgotten.
    fn put(&mut self, key: u128, result: T) {
        if self.tags.is_empty() {
            self.tags.resize(self.most, [0; WAYS]);
            self.entries.resize_with(self.most * WAYS, || None);
        }
        let set = self.set(key);
        let first = set * WAYS;
        let Some(entries) = self.entries.get_mut(first..first + WAYS) else {
            return;
        };
        let free = entries.iter().position(Option::is_none);
        let way = free.unwrap_or(place(tag(key), WAYS));
        if let Some(entry) = entries.get_mut(way) {
            *entry = Some((key, result));
        }
        if let Some(known) = self.tags.get_mut(set).and_then(|set| set.get_mut(way)) {
            *known = tag(key);
        }
    }

    fn set(&self, key: u128) -> usize {
        place(low(key), self.most)
    }
}

/// The upper half of a key.
fn tag(key: u128) -> u64 {
    low(key >> 64)
}

/// The lower half of a key.
#[expect(clippy::cast_possible_truncation, reason = "half of it is wanted")]
fn low(key: u128) -> u64 {
    key as u64
}

/// One of so many places, a power of two.
fn place(bits: u64, places: usize) -> usize {
    usize::try_from(bits % (places as u64)).unwrap_or(0)
}

/// Makes keys of several parts, each kept apart from the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyMaker(u64);

impl KeyMaker {
    /// Keys under this seed.
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A part that is small: 64 bits of it count.
    pub(super) fn small(self, part: &[u8]) -> Self {
        // The length sets neighbours apart: "ab" and "c" are not "a" and "bc".
        let seed = self.0.rotate_left(23) ^ part.len() as u64;
        Self(xxh3_64_with_seed(part, seed))
    }

    /// A part that may be missing.
    pub(super) fn maybe(self, part: Option<&str>) -> Self {
        match part {
            Some(part) => self.small(part.as_bytes()),
            None => self.number(u64::MAX),
        }
    }

    /// A part that is a number.
    pub(super) fn number(self, part: u64) -> Self {
        let mixed = (self.0 ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self(mixed ^ mixed >> 32 ^ self.0.rotate_left(17))
    }

    /// The key of all parts so far and of these two texts.
    pub(super) fn texts(self, first: Option<&str>, second: Option<&str>) -> u128 {
        let first = self.text(first);
        let lower = Self(self.0 ^ low(first).rotate_left(29));
        lower.text(second) ^ (first & !u128::from(u64::MAX))
    }

    /// The key of all parts so far and of this text.
    pub(super) fn text(self, text: Option<&str>) -> u128 {
        match text {
            Some(text) => xxh3_128_with_seed(text.as_bytes(), self.0),
            None => u128::from(self.number(u64::MAX - 1).0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_was_put_is_found_until_its_set_is_full() {
        let mut memo = Memo::new(16);
        assert_eq!(memo.get(3), None);
        let key = |number: u128| number << 64 | 2;
        for number in 0..8 {
            memo.put(key(number), number);
        }
        assert!((0..8).all(|number| memo.get(key(number)) == Some(&number)));
        memo.put(key(8), 8);
        assert_eq!(memo.get(key(8)), Some(&8));
        let kept = (0..9).filter(|number| memo.get(key(*number)).is_some());
        assert_eq!(kept.count(), 8, "one of the others went");
    }

    proptest! {
        #[test]
        fn never_wrong_and_never_larger(keys in prop::collection::vec(0u128..64, 0..200)) {
            let mut memo = Memo::new(16);
            for key in keys {
                memo.put(key, key * 7);
                prop_assert_eq!(memo.get(key), Some(&(key * 7)));
                let held: Vec<_> = memo.entries.iter().flatten().collect();
                prop_assert!(held.len() <= 16);
                prop_assert!(held.iter().all(|(key, result)| *result == key * 7));
            }
        }

        #[test]
        fn parts_do_not_run_into_each_other(a in ".{0,8}", b in ".{0,8}", at in 0usize..9) {
            let whole = format!("{a}{b}");
            let cut = whole.floor_char_boundary(at.min(whole.len()));
            let (c, d) = whole.split_at(cut);
            let key = |x: &str, y: &str| {
                let maker = KeyMaker::new(7).small(x.as_bytes()).small(y.as_bytes());
                (maker.0, KeyMaker::new(7).texts(Some(x), Some(y)))
            };
            if (a.as_str(), b.as_str()) != (c, d) {
                prop_assert_ne!(key(&a, &b).0, key(c, d).0);
                prop_assert_ne!(key(&a, &b).1, key(c, d).1);
            }
            prop_assert_ne!(KeyMaker::new(7).texts(None, Some(&a)), KeyMaker::new(7).texts(Some(&a), None));
            prop_assert_ne!(KeyMaker::new(7).text(None), KeyMaker::new(7).text(Some("")));
        }
    }
}
