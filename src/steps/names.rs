//! Short shared texts, each kept once as far as possible.
//!
//! Invariant: bounded in number and length; what it gives back depends on the text alone.

use std::sync::Arc;

use hashbrown::HashSet;
use xxhash_rust::xxh3::xxh3_64;

use crate::model::Name;

/// Most names kept in each of the two generations.
const NAMES: usize = 4096;
/// Longest name in bytes; of a longer one the front and a hash of the whole are kept.
const LONGEST: usize = 512;

/// Names by their text. When the younger generation is full it becomes the older one.
#[derive(Debug, Default)]
pub(super) struct Names {
    young: HashSet<Name, foldhash::fast::RandomState>,
    old: HashSet<Name, foldhash::fast::RandomState>,
}

impl Names {
    /// The shared form of a text.
    pub(super) fn name(&mut self, text: &str) -> Name {
        if let Some(name) = self.young.get(text) {
            return Arc::clone(name);
        }
        let name = match self.old.take(text) {
            Some(name) => name,
            None if text.len() > LONGEST => return shorten(text),
            None => Name::from(text),
        };
        if self.young.len() >= NAMES {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(Arc::clone(&name));
        name
    }
}

fn shorten(text: &str) -> Name {
    let end = text.floor_char_boundary(LONGEST - 17);
    let front = text.get(..end).unwrap_or_default();
    Name::from(format!("{front}#{:016x}", xxh3_64(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_is_the_same_name() {
        let mut names = Names::default();
        let first = names.name("read_file");
        assert!(Arc::ptr_eq(&first, &names.name("read_file")));
        for number in 0..NAMES * 3 {
            names.name(&number.to_string());
        }
        assert!(names.young.len() <= NAMES && names.old.len() <= NAMES);
        assert_eq!(names.name("read_file"), first);
    }

    #[test]
    fn long_names_stay_apart() {
        let mut names = Names::default();
        let long = "é".repeat(1000);
        let longer = format!("{long}x");
        assert_ne!(names.name(&long), names.name(&longer));
        assert!(names.name(&long).len() <= LONGEST);
    }
}
