//! What was made of content seen before: agents say the same things again, and reading a text costs a hundred
//! times what hashing it does.
//!
//! Invariant: an entry depends on what its key was made of and on the settings alone; a hit means 128 equal bits
//! under a secret seed. Bounded in number: a full set gives up one of its entries. One memo belongs to one
//! reader: no locks.

use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128_with_seed};

/// Entries that share a place.
const WAYS: usize = 4;

/// A bounded, set-associative memory of results.
#[derive(Debug)]
pub(super) struct Memo<T> {
    sets: Vec<[Option<(u128, T)>; WAYS]>,
    most: usize,
}

impl<T> Memo<T> {
    /// A memory for up to `entries` results (a power of two, [`WAYS`] at least). Room is taken with the first one.
    pub(super) fn new(entries: usize) -> Self {
        Self {
            sets: Vec::new(),
            most: entries.next_power_of_two() / WAYS,
        }
    }

    /// What is remembered under a key.
    pub(super) fn get(&self, key: u128) -> Option<&T> {
        let set = self.sets.get(self.place(key))?;
        let found = set.iter().flatten().find(|(known, _)| *known == key);
        found.map(|(_, result)| result)
    }

    /// Remembers a result; of a full set the entry that the key itself picks is forgotten.
    pub(super) fn put(&mut self, key: u128, result: T) {
        if self.sets.is_empty() {
            self.sets.resize_with(self.most, Default::default);
        }
        let place = self.place(key);
        let Some(set) = self.sets.get_mut(place) else {
            return;
        };
        let free = set.iter().position(Option::is_none);
        let way = free.unwrap_or((key >> 64) as usize % WAYS);
        if let Some(entry) = set.get_mut(way) {
            *entry = Some((key, result));
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the lower bits choose the set"
    )]
    fn place(&self, key: u128) -> usize {
        key as usize & self.most.saturating_sub(1)
    }
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
        let lower = Self(self.0 ^ (first as u64).rotate_left(29));
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
        let mut memo = Memo::new(8);
        assert_eq!(memo.get(3), None);
        for number in 0..4u128 {
            memo.put(number << 1, number);
        }
        assert!((0..4u128).all(|number| memo.get(number << 1) == Some(&number)));
        memo.put(4 << 1, 4);
        assert_eq!(memo.get(4 << 1), Some(&4));
        let kept = (0..5u128).filter(|number| memo.get(number << 1).is_some());
        assert_eq!(kept.count(), 4, "one of the others went");
    }

    proptest! {
        #[test]
        fn never_wrong_and_never_larger(keys in prop::collection::vec(0u128..64, 0..200)) {
            let mut memo = Memo::new(16);
            for key in keys {
                memo.put(key, key * 7);
                prop_assert_eq!(memo.get(key), Some(&(key * 7)));
                let held: Vec<_> = memo.sets.iter().flatten().flatten().collect();
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
