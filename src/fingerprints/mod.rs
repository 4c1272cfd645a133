//! Equality that means something: when two calls are the same call, and two answers the same answer.
//!
//! Invariant: every function is total, bounded in what it reads, and depends on its arguments alone.
//! Texts are borrowed and nothing of them is kept.

mod agentbudget;
mod aware;
mod cache;
mod canonical;
pub mod digest;
mod json;
mod names;
mod sketching;
mod times;
pub mod topic;
mod volatile;

use std::fmt;

use sha2::{Digest, Sha256};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

pub use agentbudget::{canonical as agentbudget_canonical, digest as agentbudget_digest};
pub use cache::{Cache, ENTRIES};
pub use names::{FoldedName, fold_name, identity, name_hash, same_name, without_server};

use crate::model::{Excerpt, Sketch};

/// The first 48 bits of a call's SHA-256; printed as 12 hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Signature(pub [u8; 6]);

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// All that is known of one call's arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArgumentFacts {
    /// See [`key`].
    pub key: u64,
    /// See [`exact`].
    pub exact: u64,
    /// See [`sketch`].
    pub sketch: Sketch,
    /// Members that only decorate the call, left out of `key`.
    pub decoration: u8,
    /// The arguments are a JSON document, or nothing at all.
    pub json: bool,
    /// They are longer than what is read: they are compared as they stand.
    pub truncated: bool,
}

/// The signature of a call (vectors: sentinel_signature): SHA-256 of `tool`, a colon, and the arguments as
/// Python dumps them sorted, compact and ASCII-escaped; over the raw text when they are no JSON.
pub fn signature(tool: &str, arguments: &str) -> Signature {
    let mut nodes = Vec::new();
    let mut buffer = Vec::new();
    let json = json::parse(arguments, &mut nodes).is_some();
    exact_form(
        tool,
        arguments,
        json.then_some(nodes.as_slice()),
        &mut buffer,
    );
    let hash = Sha256::digest(&buffer);
    let mut first = [0; 6];
    for (place, byte) in first.iter_mut().zip(hash) {
        *place = byte;
    }
    Signature(first)
}

/// A hash of the same form as [`signature`], for `rules: source`: equal exactly when the forms are.
pub fn exact(tool: &str, arguments: &str) -> u64 {
    Fingerprinter::new(0).facts(tool, arguments).exact
}

/// The aware key (DESIGN 5): equal when two calls ask for the same thing. Arguments beyond what
/// [`Excerpt`] reads are compared as they stand.
pub fn key(seed: u64, tool: &str, arguments: &str) -> u64 {
    Fingerprinter::new(seed).facts(tool, arguments).key
}

/// The sketch of a call's arguments for near-equality (A6); compare with [`crate::model::Likeness`].
pub fn sketch(tool: &str, arguments: &str) -> Sketch {
    Fingerprinter::new(0).facts(tool, arguments).sketch
}

/// Makes [`ArgumentFacts`]; keeps its buffers between calls.
#[derive(Debug)]
pub struct Fingerprinter {
    seed: u64,
    nodes: Vec<json::Node>,
    buffer: Vec<u8>,
}

impl Fingerprinter {
    /// A maker whose keys are seeded with `seed`: keys of different seeds do not compare.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            nodes: Vec::new(),
            buffer: Vec::new(),
        }
    }

    /// The facts about the arguments of one call.
    pub fn facts(&mut self, tool: &str, arguments: &str) -> ArgumentFacts {
        if Excerpt::of(arguments).truncated() {
            return self.long(tool, arguments);
        }
        let json = json::parse(arguments, &mut self.nodes).is_some();
        let nodes = json.then_some(self.nodes.as_slice());
        exact_form(tool, arguments, nodes, &mut self.buffer);
        let exact = xxh3_64(&self.buffer);
        self.buffer.clear();
        self.buffer.extend_from_slice(tool.as_bytes());
        self.buffer.push(0xff);
        let decoration = match nodes {
            Some(nodes) => aware::fold(tool, arguments, nodes, &mut self.buffer),
            None => {
                aware::fold_text(arguments, &mut self.buffer);
                0
            }
        };
        let key = xxh3_64_with_seed(&self.buffer, self.seed);
        let sketch = match nodes {
            Some(nodes) => sketching::of_document(tool, arguments, nodes, &mut self.buffer),
            None => sketching::of_text(arguments),
        };
        ArgumentFacts {
            key,
            exact,
            sketch,
            decoration,
            json: json || arguments.trim().is_empty(),
            truncated: false,
        }
    }

    fn long(&mut self, tool: &str, arguments: &str) -> ArgumentFacts {
        let name = xxh3_64(tool.as_bytes());
        let exact = xxh3_64_with_seed(arguments.as_bytes(), name);
        let first = arguments.trim_start().as_bytes().first();
        ArgumentFacts {
            key: xxh3_64_with_seed(&exact.to_le_bytes(), self.seed),
            exact,
            sketch: [0; 32],
            decoration: 0,
            json: matches!(first, Some(b'{' | b'[')),
            truncated: true,
        }
    }
}

/// Fills `buffer` with what the signature is taken of.
fn exact_form(tool: &str, text: &str, nodes: Option<&[json::Node]>, buffer: &mut Vec<u8>) {
    buffer.clear();
    buffer.extend_from_slice(tool.as_bytes());
    buffer.push(b':');
    match nodes {
        Some(nodes) => canonical::print(text, nodes, buffer),
        None => buffer.extend_from_slice(text.as_bytes()),
    }
}

#[cfg(test)]
mod tests;
