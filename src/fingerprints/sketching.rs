//! Sketches of arguments for near-equality (A6); their layout and comparison: [`crate::model::Likeness`].

use xxhash_rust::xxh3::xxh3_64;

use super::aware::{number, top_members};
use super::json::{Kind, Node, decode, slice};
use crate::model::{SET, SHAPE, Sketch};

const BITS: usize = SET * 8;

/// The sketch of a document: its shape are the names of the members that select.
pub(super) fn of_document(tool: &str, text: &str, nodes: &[Node], scratch: &mut Vec<u8>) -> Sketch {
    let mut sketch = [0; 32];
    scratch.clear();
    scratch.push(b'j');
    if nodes.first().is_some_and(|root| root.kind == Kind::Object) {
        for (name, at) in top_members(tool, text, nodes) {
            scratch.extend_from_slice(&name);
            scratch.push(0xff);
            let last = nodes.get(at as usize).map_or(at, |node| node.next);
            values(text, nodes, at, last, &mut sketch);
        }
    } else {
        let last = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
        values(text, nodes, 0, last, &mut sketch);
    }
    shape(scratch, &mut sketch);
    sketch
}

/// The sketch of arguments that are no JSON.
pub(super) fn of_text(text: &str) -> Sketch {
    let mut sketch = [0; 32];
    add(text.as_bytes(), &mut sketch);
    shape(b"t", &mut sketch);
    sketch
}

fn shape(of: &[u8], sketch: &mut Sketch) {
    let hash = xxh3_64(of).to_le_bytes();
    for (place, byte) in sketch.iter_mut().zip(hash).take(SHAPE) {
        *place = byte;
    }
    if let Some(first) = sketch.first_mut() {
        *first |= 1;
    }
}

/// Adds the values among the nodes `from..to`; keys inside count as words as well.
fn values(text: &str, nodes: &[Node], from: u32, to: u32, sketch: &mut Sketch) {
    let mut buffer = Vec::new();
    for node in nodes.get(from as usize..to as usize).unwrap_or_default() {
        match node.kind {
            Kind::Plain => add(slice(text, node).as_bytes(), sketch),
            Kind::Escaped => {
                buffer.clear();
                decode(slice(text, node), true, &mut buffer);
                add(&buffer, sketch);
            }
            Kind::Int | Kind::Float => {
                buffer.clear();
                match slice(text, node).parse::<i64>() {
                    Ok(whole) => buffer.extend_from_slice(whole.to_string().as_bytes()),
                    Err(_) => number(slice(text, node), &mut buffer),
                }
                add(&buffer, sketch);
            }
            Kind::True => add(b"true", sketch),
            Kind::False => add(b"false", sketch),
            _ => {}
        }
    }
}

/// Adds the words of one value, and its pairs of neighbouring characters; letters in lower case.
fn add(bytes: &[u8], sketch: &mut Sketch) {
    let wordy = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80;
    for word in bytes
        .split(|byte| !wordy(*byte))
        .filter(|word| !word.is_empty())
    {
        let mut lower = [0u8; 32];
        let hash = if word.len() <= lower.len() {
            for (place, byte) in lower.iter_mut().zip(word) {
                *place = byte.to_ascii_lowercase();
            }
            xxh3_64(lower.get(..word.len()).unwrap_or_default())
        } else {
            xxh3_64(word)
        };
        set(hash, SHAPE, sketch);
    }
    for pair in bytes.windows(2) {
        if let [a, b] = pair
            && (wordy(*a) || wordy(*b))
        {
            let pair = u64::from(a.to_ascii_lowercase()) << 8 | u64::from(b.to_ascii_lowercase());
            // A multiplication spreads the pair over the upper bits.
            let spread = (pair + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            set(spread ^ spread >> 29, SHAPE + SET, sketch);
        }
    }
}

fn set(hash: u64, from: usize, sketch: &mut Sketch) {
    // The upper half times the range, divided by 2^32: an even choice without a division.
    let bit = usize::try_from(((hash >> 32) * BITS as u64) >> 32).unwrap_or(0);
    if let Some(byte) = sketch.get_mut(from + bit / 8) {
        *byte |= 1 << (bit % 8);
    }
}
