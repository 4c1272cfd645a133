//! The canonical form: byte for byte what Python's `json.dumps(json.loads(text), sort_keys=True,
//! separators=(",", ":"))` prints. It is what the signature and `rules: source` compare.

use std::io::Write as _;

use smallvec::SmallVec;

use super::json::{Kind, Node, code_points, decode, slice};

/// A member of an object: its key as WTF-8, the index of its value.
type Member = (SmallVec<[u8; 24]>, u32);

/// Appends the canonical form of the document in `nodes`.
pub(super) fn print(text: &str, nodes: &[Node], out: &mut Vec<u8>) {
    value(text, nodes, 0, out);
}

fn value(text: &str, nodes: &[Node], at: u32, out: &mut Vec<u8>) {
    let Some(node) = nodes.get(at as usize) else {
        return;
    };
    match node.kind {
        Kind::Null => out.extend_from_slice(b"null"),
        Kind::True => out.extend_from_slice(b"true"),
        Kind::False => out.extend_from_slice(b"false"),
        Kind::NaN => out.extend_from_slice(b"NaN"),
        Kind::Infinity => out.extend_from_slice(b"Infinity"),
        Kind::NegativeInfinity => out.extend_from_slice(b"-Infinity"),
        Kind::Int => match slice(text, node) {
            "-0" => out.push(b'0'),
            digits => out.extend_from_slice(digits.as_bytes()),
        },
        Kind::Float => float(slice(text, node).parse().unwrap_or(f64::NAN), out),
        Kind::Plain => plain_string(slice(text, node), out),
        Kind::Escaped => {
            out.push(b'"');
            code_points(slice(text, node), true, |point| ascii(point, out));
            out.push(b'"');
        }
        Kind::Array => {
            out.push(b'[');
            let mut child = at + 1;
            while child < node.next {
                if child > at + 1 {
                    out.push(b',');
                }
                value(text, nodes, child, out);
                child = nodes.get(child as usize).map_or(node.next, |n| n.next);
            }
            out.push(b']');
        }
        Kind::Object => {
            out.push(b'{');
            for (place, (key, child)) in members(text, nodes, at).iter().enumerate() {
                if place > 0 {
                    out.push(b',');
                }
                out.push(b'"');
                wtf8(key, |point| ascii(point, out));
                out.extend_from_slice(b"\":");
                value(text, nodes, *child, out);
            }
            out.push(b'}');
        }
    }
}

/// The members of the object at `at`, sorted by code point; of equal keys the last one wins.
pub(super) fn members(text: &str, nodes: &[Node], at: u32) -> SmallVec<[Member; 8]> {
    let mut members: SmallVec<[Member; 8]> = SmallVec::new();
    let end = nodes.get(at as usize).map_or(0, |node| node.next);
    let mut key_at = at + 1;
    while key_at < end {
        let Some(key) = nodes.get(key_at as usize) else {
            break;
        };
        let mut name = SmallVec::new();
        if key.kind == Kind::Escaped {
            let mut decoded = Vec::new();
            decode(slice(text, key), true, &mut decoded);
            name.extend_from_slice(&decoded);
        } else {
            name.extend_from_slice(slice(text, key).as_bytes());
        }
        members.push((name, key_at + 1));
        key_at = nodes
            .get(key_at as usize + 1)
            .map_or(end, |value| value.next);
    }
    if !members.is_sorted_by(|a, b| a.0 < b.0) {
        members.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
        members.dedup_by(|later, kept| later.0 == kept.0);
    }
    members
}

/// The code points of WTF-8.
fn wtf8(mut bytes: &[u8], mut visit: impl FnMut(u32)) {
    while !bytes.is_empty() {
        let whole = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => bytes
                .get(..error.valid_up_to())
                .and_then(|valid| std::str::from_utf8(valid).ok())
                .unwrap_or_default(),
        };
        whole.chars().for_each(|c| visit(u32::from(c)));
        bytes = bytes.get(whole.len()..).unwrap_or_default();
        if let [a, b, c, rest @ ..] = bytes {
            let part = |byte: &u8, mask: u8| u32::from(byte & mask);
            visit(part(a, 0x0f) << 12 | part(b, 0x3f) << 6 | part(c, 0x3f));
            bytes = rest;
        } else {
            break;
        }
    }
}

fn plain_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    // Between blank and tilde Python escapes only the quote and the backslash, and those are not in a
    // string without escapes.
    if text.bytes().all(|byte| byte < 0x7f) {
        out.extend_from_slice(text.as_bytes());
    } else {
        text.chars().for_each(|c| ascii(u32::from(c), out));
    }
    out.push(b'"');
}

/// One code point as `ensure_ascii` prints it.
fn ascii(point: u32, out: &mut Vec<u8>) {
    match point {
        0x22 => out.extend_from_slice(b"\\\""),
        0x5c => out.extend_from_slice(b"\\\\"),
        0x08 => out.extend_from_slice(b"\\b"),
        0x09 => out.extend_from_slice(b"\\t"),
        0x0a => out.extend_from_slice(b"\\n"),
        0x0c => out.extend_from_slice(b"\\f"),
        0x0d => out.extend_from_slice(b"\\r"),
        0x20..=0x7e => out.push(u8::try_from(point).unwrap_or(b'?')),
        0x1_0000.. => {
            let rest = point - 0x1_0000;
            unit(0xd800 + (rest >> 10), out);
            unit(0xdc00 + (rest & 0x3ff), out);
        }
        _ => unit(point, out),
    }
}

fn unit(unit: u32, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.extend_from_slice(b"\\u");
    for shift in [12, 8, 4, 0] {
        let digit = DIGITS.get(((unit >> shift) & 15) as usize);
        out.push(digit.copied().unwrap_or(b'0'));
    }
}

/// A double as Python's `repr`: shortest digits; an exponent below -4 or from 16 on.
pub(super) fn float(number: f64, out: &mut Vec<u8>) {
    if !number.is_finite() {
        out.extend_from_slice(match number {
            f64::INFINITY => b"Infinity".as_slice(),
            f64::NEG_INFINITY => b"-Infinity".as_slice(),
            _ => b"NaN".as_slice(),
        });
        return;
    }
    let size = number.abs();
    let written = if size == 0.0 || (1e-4..1e16).contains(&size) {
        let start = out.len();
        let written = write!(out, "{number}");
        if !out
            .get(start..)
            .is_some_and(|digits| digits.contains(&b'.'))
        {
            out.extend_from_slice(b".0");
        }
        written
    } else {
        let text = format!("{number:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) = match exponent.strip_prefix('-') {
            Some(exponent) => ('-', exponent),
            None => ('+', exponent),
        };
        write!(out, "{digits}e{sign}{exponent:0>2}")
    };
    debug_assert!(written.is_ok(), "a vector takes every write");
}
