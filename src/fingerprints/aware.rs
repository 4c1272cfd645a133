//! The folded form behind the aware key: equal when two calls ask for the same thing (DESIGN 5).
//!
//! Invariant: the order of members, how a number is written, members that are null, decoration, and
//! blanks that mean nothing never change it; everything else does. Text and JSON never share a form.

use smallvec::SmallVec;

use super::canonical::members;
use super::json::{Kind, Node, decode, slice};
use super::names::{fold_into, words};

/// Ends a string: no byte of UTF-8.
const END: u8 = 0xff;

/// Members that only decorate a call, folded (lower case, no `_`, `-`). They sit at the top level.
const DECORATION: &[&str] = &[
    "description",
    "explanation",
    "justification",
    "meta",
    "rationale",
    "reason",
    "reasoning",
    "requiresapproval",
    "securityrisk",
    "taskprogress",
    "thinking",
    "thought",
    "thoughts",
    "timeout",
    "timeoutms",
    "timeoutseconds",
    "timeoutsecs",
    "toolsummary",
    "waitforprevioustools",
];

/// Words in a tool's name that say it makes or changes a record: there a description is content.
const RECORD_VERBS: &[&str] = &[
    "add", "create", "edit", "insert", "post", "put", "save", "set", "submit", "update", "upsert",
    "write",
];

/// Members that name a file or directory, folded: `./a/` and `a` are one.
const PATHS: &[&str] = &[
    "absolutepath",
    "cwd",
    "dir",
    "directory",
    "file",
    "filename",
    "filepath",
    "folder",
    "notebookpath",
    "path",
    "root",
    "targetfile",
    "workdir",
    "workingdirectory",
];

/// Appends the folded form of a document; gives back how many members only decorate it.
pub(super) fn fold(tool: &str, text: &str, nodes: &[Node], out: &mut Vec<u8>) -> u8 {
    let Some(root) = nodes.first() else {
        return 0;
    };
    let mut dropped = 0;
    out.push(b'j');
    match root.kind {
        Kind::Object => {
            let (kept, decoration) = members_that_select(tool, text, nodes);
            dropped = u8::try_from(decoration).unwrap_or(u8::MAX);
            object(text, nodes, &kept, out);
        }
        // No arguments at all.
        Kind::Null => object(text, nodes, &[], out),
        _ => value(text, nodes, 0, false, out),
    }
    dropped
}

/// Appends the folded form of arguments that are no JSON.
pub(super) fn fold_text(text: &str, out: &mut Vec<u8>) {
    let start = out.len();
    out.push(b't');
    blanks(text.as_bytes(), out);
    if out.len() == start + 1 {
        // Nothing is no arguments, as `{}` and `null` are.
        out.truncate(start);
        out.extend_from_slice(b"j{}");
    }
}

/// Names of members, and where their values stand.
type Members = SmallVec<[(SmallVec<[u8; 24]>, u32); 8]>;

/// The members of the root that select what the call does, sorted, without null ones.
pub(super) fn top_members(tool: &str, text: &str, nodes: &[Node]) -> Members {
    members_that_select(tool, text, nodes).0
}

/// As [`top_members`], and how many others only decorate the call.
fn members_that_select(tool: &str, text: &str, nodes: &[Node]) -> (Members, usize) {
    let mut all = members(text, nodes, 0);
    all.retain(|(_, at)| !is_null(nodes, *at));
    let records = || {
        words(tool).any(|word| {
            let is = |verb: &&str| word.eq_ignore_ascii_case(verb);
            RECORD_VERBS.iter().any(is)
        })
    };
    let decorates = |name: &[u8]| {
        let mut folded = SmallVec::<[u8; 24]>::new();
        fold_into(name, &mut folded);
        let named = |word: &str| word.as_bytes() == folded.as_slice();
        DECORATION.iter().any(|word| named(word))
            && !(folded.as_slice() == b"description" && records())
    };
    let decoration: SmallVec<[bool; 16]> = all.iter().map(|(name, _)| decorates(name)).collect();
    let before = all.len();
    // A tool all of whose members would be decoration (`think`, `wait`) means them.
    if decoration.contains(&false) && decoration.contains(&true) {
        let mut place = decoration.iter();
        all.retain(|_| !place.next().copied().unwrap_or(false));
    }
    let dropped = before - all.len();
    (all, dropped)
}

fn is_null(nodes: &[Node], at: u32) -> bool {
    nodes
        .get(at as usize)
        .is_none_or(|node| node.kind == Kind::Null)
}

fn object(text: &str, nodes: &[Node], members: &[(SmallVec<[u8; 24]>, u32)], out: &mut Vec<u8>) {
    out.push(b'{');
    for (name, at) in members {
        out.extend_from_slice(name);
        out.push(END);
        let mut folded = SmallVec::<[u8; 24]>::new();
        fold_into(name, &mut folded);
        let is_path = PATHS
            .iter()
            .any(|word| word.as_bytes() == folded.as_slice());
        value(text, nodes, *at, is_path, out);
    }
    out.push(b'}');
}

fn value(text: &str, nodes: &[Node], at: u32, is_path: bool, out: &mut Vec<u8>) {
    let Some(node) = nodes.get(at as usize) else {
        return;
    };
    match node.kind {
        Kind::Null => out.push(b'0'),
        Kind::True => out.push(b'T'),
        Kind::False => out.push(b'F'),
        Kind::NaN => out.push(b'?'),
        Kind::Infinity => out.push(b'>'),
        Kind::NegativeInfinity => out.push(b'<'),
        Kind::Int | Kind::Float => number(slice(text, node), out),
        Kind::Plain | Kind::Escaped => {
            out.push(b'"');
            string(slice(text, node), node.kind == Kind::Escaped, is_path, out);
            out.push(END);
        }
        Kind::Array => {
            out.push(b'[');
            let mut child = at + 1;
            while child < node.next {
                value(text, nodes, child, is_path, out);
                child = nodes.get(child as usize).map_or(node.next, |n| n.next);
            }
            out.push(b']');
        }
        Kind::Object => {
            let mut inner = members(text, nodes, at);
            inner.retain(|(_, at)| !is_null(nodes, *at));
            object(text, nodes, &inner, out);
        }
    }
}

fn string(text: &str, escaped: bool, is_path: bool, out: &mut Vec<u8>) {
    let start = out.len();
    if escaped {
        let mut decoded = Vec::with_capacity(text.len());
        decode(text, true, &mut decoded);
        blanks(&decoded, out);
    } else {
        blanks(text.as_bytes(), out);
    }
    if is_path {
        path(start, out);
    }
}

/// Drops `./` in front and `/` behind from the path that starts at `start`.
fn path(start: usize, out: &mut Vec<u8>) {
    while out.len() > start + 1 && out.ends_with(b"/") {
        out.pop();
    }
    while out
        .get(start..)
        .is_some_and(|path| path.starts_with(b"./") && path.len() > 2)
    {
        out.drain(start..start + 2);
    }
}

/// Appends `text` with blanks folded: runs inside a line become one, ends of lines, blank lines and both
/// ends of the text go. Indentation of later lines stays: in programs it means something.
fn blanks(text: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    for line in text.split(|byte| *byte == b'\n') {
        let filled = line.trim_ascii();
        if filled.is_empty() {
            continue;
        }
        if out.len() > start {
            out.push(b'\n');
            let indent = line.len() - line.trim_ascii_start().len();
            out.extend_from_slice(line.get(..indent).unwrap_or_default());
        }
        let mut blank = false;
        for byte in filled {
            if byte.is_ascii_whitespace() {
                blank = true;
                continue;
            }
            if blank {
                out.push(b' ');
                blank = false;
            }
            out.push(*byte);
        }
    }
}

/// Appends the value of a JSON number: `1`, `1.0`, `1e0` and `10e-1` are one. Exact for any length.
pub(super) fn number(text: &str, out: &mut Vec<u8>) {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (b'-', rest),
        None => (b'+', text),
    };
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let negative = exponent.starts_with('-');
    let mut power = exponent
        .trim_start_matches(['-', '+'])
        .parse::<i64>()
        .unwrap_or(i64::MAX / 4);
    if negative {
        power = -power;
    }
    power = power.saturating_sub(i64::try_from(fraction.len()).unwrap_or(i64::MAX / 4));
    let start = out.len() + 1;
    out.push(b'#');
    out.push(sign);
    let digits = whole.bytes().chain(fraction.bytes());
    out.extend(digits.skip_while(|digit| *digit == b'0'));
    while out.last() == Some(&b'0') {
        out.pop();
        power = power.saturating_add(1);
    }
    if out.len() == start + 1 {
        // Zero has no sign and no power.
        out.truncate(start);
        out.push(b'0');
        return;
    }
    out.push(b'e');
    out.extend_from_slice(&power.to_le_bytes());
}
