//! Collects problems, so that all of them come out at once, and remembers what was left out because of
//! them, so that none comes out twice.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashSet;

use serde::de::DeserializeOwned;

use super::reader::Reader;
use super::report::{Grade, Problem};
use super::secrets::Secrecy;
use super::tree::{Entry, Node, Place};
use super::wrong::Wrong;

/// Most problems of one load; a file of another kind altogether would have thousands.
const PROBLEMS_MAX: usize = 100;

/// Problems found so far.
#[derive(Debug, Default)]
pub(super) struct Problems {
    found: Vec<Problem>,
    /// Places of keys, members and values that are wrong and must be passed over.
    dropped: RefCell<HashSet<Place>>,
}

impl Problems {
    /// Adds one, unless it was said before: an override inherits what is wrong with the processor.
    pub(super) fn push(&mut self, problem: Problem) {
        if self.found.contains(&problem) {
            return;
        }
        match self.found.len().cmp(&PROBLEMS_MAX) {
            Ordering::Less => self.found.push(problem),
            Ordering::Equal => self
                .found
                .push(Problem::missing("more problems than are shown")),
            Ordering::Greater => {}
        }
    }

    /// Says of a value that is of no use, where one was reported at `place`, what is allowed there.
    pub(super) fn expect(&mut self, place: Place, words: &str) {
        for problem in &mut self.found {
            if problem.place == Some(place) && problem.grade == Grade::Error {
                problem.expect(words);
            }
        }
    }

    /// Passes over whatever stands at `place` from now on.
    pub(super) fn drop(&self, place: Place) {
        self.dropped.borrow_mut().insert(place);
    }

    /// Whether something was left out at `place`.
    pub(super) fn is_dropped(&self, place: Place) -> bool {
        self.dropped.borrow().contains(&place)
    }

    /// How many of those found are errors.
    pub(super) fn errors(&self) -> usize {
        let errors = self.found.iter().filter(|p| p.grade == Grade::Error);
        errors.count()
    }

    /// All of them.
    pub(super) fn into_list(self) -> Vec<Problem> {
        self.found
    }

    /// Reads the value of an entry as `T`, reporting everything in it that does not fit. What does not
    /// fit is passed over, so that the rest is still read. `None` only when the value as a whole is
    /// of no use.
    pub(super) fn read<T: DeserializeOwned>(&mut self, entry: &Entry) -> Option<T> {
        if self.is_dropped(entry.key_place) || self.is_dropped(entry.value.place) {
            return None;
        }
        self.read_with(&entry.value, Secrecy::Open, |reader| T::deserialize(reader))
    }

    /// As [`Problems::read`], for a processor or a part of one: nothing in it is a secret.
    pub(super) fn read_node<T: DeserializeOwned>(&mut self, node: &Node) -> Option<T> {
        if self.is_dropped(node.place) {
            return None;
        }
        self.read_with(node, Secrecy::Never, |reader| T::deserialize(reader))
    }

    /// As [`Problems::read`], with a reading of one's own.
    pub(super) fn read_with<T>(
        &mut self,
        node: &Node,
        secrecy: Secrecy,
        read: impl Fn(Reader<'_>) -> Result<T, Wrong>,
    ) -> Option<T> {
        loop {
            let (problem, at) = {
                let reader = Reader::new(node, secrecy, &self.dropped);
                match read(reader) {
                    Ok(value) => return Some(value),
                    Err(wrong) => wrong.into_problem(reader),
                }
            };
            if let Some(problem) = problem {
                self.push(problem);
            }
            let new = self.dropped.borrow_mut().insert(at);
            if !new || at == node.place || self.found.len() >= PROBLEMS_MAX {
                return None;
            }
        }
    }

    /// Reports keys of a map that are none of `allowed`. `false` when there are any.
    pub(super) fn only_keys(&mut self, node: &Node, allowed: &[&str]) -> bool {
        let mut clean = true;
        for entry in node.entries() {
            if !allowed.contains(&entry.key.as_str()) && !self.is_dropped(entry.key_place) {
                let problem = super::suggest::unknown_key(entry.key_place, &entry.key, allowed);
                self.push(problem);
                self.drop(entry.key_place);
                clean = false;
            }
        }
        clean
    }
}
