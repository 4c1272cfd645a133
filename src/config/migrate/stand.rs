//! Stands something in for references to the environment, so that everything around them can be checked.
//!
//! What a variable holds is not known here, and what it has to hold depends on where it stands: one value after the
//! other is tried until our own reading takes one. A reference that takes none has no place here.

use std::collections::BTreeMap;

use super::super::build::build;
use super::super::problems::Problems;
use super::super::report::{Grade, Problem};
use super::super::tree::{Node, Place, Scalar, Value};
use crate::config::Purpose;
use crate::model::Timestamp;

/// Most readings of one tree.
const ROUNDS_MAX: usize = 200;
/// The port of the first stand-in that is an address; each has one of its own.
const PORT_FIRST: u32 = 20_001;
/// What is tried after addresses and ports: a time, a number, a size, a switch, words of our enumerations.
const WORDS: [&str; 9] = [
    "1s", "1", "1MiB", "true", "gzip", "basic", "info", "json", "none",
];
/// What is tried before [`WORDS`]: an address, a URL, a port.
const ADDRESSES: usize = 3;

/// What stands in for which reference, by its place.
#[derive(Debug, Default)]
pub(super) struct StandIns {
    tried: BTreeMap<Place, usize>,
}

impl StandIns {
    /// What is wrong with a tree whatever the environment holds.
    pub(super) fn faults(&mut self, ours: &Node, now: Timestamp) -> Vec<Problem> {
        let mut errors = Vec::new();
        for _ in 0..ROUNDS_MAX {
            let mut tree = ours.clone();
            let mut references = Vec::new();
            self.put(&mut tree, &mut references);
            errors = read(&tree, now);
            let mut next = false;
            for error in &mut errors {
                let Some(place) = error.place.filter(|place| references.contains(place)) else {
                    continue;
                };
                let tried = self.tried.entry(place).or_default();
                if *tried + 1 < ADDRESSES + WORDS.len() {
                    *tried += 1;
                    next = true;
                } else {
                    // Its own words are about the last stand-in, which nobody wrote.
                    "no variable can hold what belongs here".clone_into(&mut error.message);
                }
            }
            if !next {
                break;
            }
        }
        errors
    }

    fn put(&self, node: &mut Node, references: &mut Vec<Place>) {
        match &mut node.value {
            Value::Map(entries) => {
                for entry in entries {
                    self.put(&mut entry.value, references);
                }
            }
            Value::List(members) => {
                for member in members {
                    self.put(member, references);
                }
            }
            Value::Scalar(scalar) if scalar.text.contains('$') => {
                let tried = self.tried.get(&node.place).copied().unwrap_or(0);
                let port = PORT_FIRST + u32::try_from(references.len()).unwrap_or(0);
                let text = stand_in(&scalar.text, tried, port);
                scalar.typed = Some(std::mem::replace(&mut scalar.text, text));
                references.push(node.place);
            }
            Value::Scalar(Scalar { .. }) => {}
        }
    }
}

/// The stand-in for a text after so many others; a scheme that is written out is kept.
fn stand_in(text: &str, tried: usize, port: u32) -> String {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    let scheme = scheme.filter(|scheme| !scheme.contains('$'));
    match (tried, scheme) {
        (0, Some(scheme)) => format!("{scheme}://elsewhere.example:{port}"),
        (0, None) => format!("elsewhere.example:{port}"),
        (1, _) => format!("http://elsewhere.example:{port}"),
        (2, _) => port.to_string(),
        (more, _) => {
            let word = WORDS.get(more.saturating_sub(ADDRESSES));
            word.copied().unwrap_or_default().to_owned()
        }
    }
}

fn read(tree: &Node, now: Timestamp) -> Vec<Problem> {
    let mut problems = Problems::default();
    let _ = build(tree, Purpose::Run, now, &mut problems);
    let list = problems.into_list().into_iter();
    list.filter(|one| one.grade == Grade::Error).collect()
}
