//! What is known of arguments already seen, so that a repeated text costs one hash.
//!
//! Invariant: a fixed number of entries, each overwritten by the next text that falls on its place; a hit
//! means 128 equal bits of tool and text. One cache belongs to one thread: no locks.

use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::{ArgumentFacts, Fingerprinter};

/// Default number of entries (about 100 bytes each).
pub const ENTRIES: usize = 1024;

/// A bounded cache of argument facts.
#[derive(Debug)]
pub struct Cache {
    seed: u64,
    maker: Fingerprinter,
    entries: Vec<Option<(u128, ArgumentFacts)>>,
}

impl Cache {
    /// A cache with `entries` places (rounded up to a power of two, 1 at least, 65,536 at most).
    /// `seed` is the one of [`super::key`].
    pub fn new(seed: u64, entries: usize) -> Self {
        let entries = entries.clamp(1, 65_536).next_power_of_two();
        Self {
            seed,
            maker: Fingerprinter::new(seed),
            entries: vec![None; entries],
        }
    }

    /// The facts about the arguments of a call, from the cache where the text was seen before.
    pub fn facts(&mut self, tool: &str, arguments: &str) -> ArgumentFacts {
        let name = xxhash_rust::xxh3::xxh3_64_with_seed(tool.as_bytes(), self.seed);
        let raw = xxh3_128_with_seed(arguments.as_bytes(), name);
        let place = usize::try_from(raw & (self.entries.len() as u128 - 1)).unwrap_or(0);
        if let Some(Some((known, facts))) = self.entries.get(place)
            && *known == raw
        {
            return *facts;
        }
        let facts = self.maker.facts(tool, arguments);
        if let Some(entry) = self.entries.get_mut(place) {
            *entry = Some((raw, facts));
        }
        facts
    }
}

impl Default for Cache {
    fn default() -> Self {
        Self::new(0, ENTRIES)
    }
}
