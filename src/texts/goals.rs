//! A glance at a goal: whether any language could find in it that tests are asked for.
//!
//! Invariant: says no only where taking the sentences apart would find nothing; in doubt it says that it
//! may. Goals are long, come with every model call, and most ask for no tests.

use std::sync::LazyLock;

use regex::Regex;

use super::prose::lower;

/// Parts of words without one of which no language asks for tests, in lower case. Held to the languages
/// by a test.
const NEEDLES: &[&str] = &[
    "test",
    "suite",
    "checks",
    "jest",
    "mocha",
    "rspec",
    "tox",
    "e2e",
    "assertions",
    "prueba",
    "\u{6d4b}\u{8bd5}",
    "\u{30c6}\u{30b9}\u{30c8}",
];

/// All of them at once: the regex engine looks for plain words many bytes at a time.
static ANY: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(&NEEDLES.join("|")).ok());

/// Whether the goal could ask for tests to be run or to pass.
pub(super) fn may_ask(text: &str) -> bool {
    // Where nothing is dropped or becomes ASCII by its case, folding ASCII folds all that is looked for.
    let folded = if memchr::memchr2(b'*', 0xe2, text.as_bytes()).is_none() {
        text.to_ascii_lowercase()
    } else {
        let mut folded = String::with_capacity(text.len());
        lower(text, &mut folded);
        folded
    };
    ANY.as_ref().is_none_or(|any| any.is_match(&folded)) || joined(&folded)
}

/// Whether a quotation mark stands inside a word: taking it out, or the quotation, may make a word that
/// does not stand in the text.
fn joined(folded: &str) -> bool {
    let bytes = folded.as_bytes();
    let wordy = |byte: &u8| byte.is_ascii_alphanumeric() || *byte >= 0x80;
    let inside = |(at, width): (usize, usize)| {
        let before = bytes.get(..at).unwrap_or_default();
        let after = bytes.get(at + width);
        // What is quoted becomes an `x` that the word before runs on into.
        before.last().is_some_and(wordy)
            && (before.ends_with(b"to")
                || after.is_some_and(|byte| wordy(byte) || matches!(byte, b'`' | b'"')))
    };
    if memchr::memchr2_iter(b'`', b'"', bytes).any(|at| inside((at, 1))) {
        return true;
    }
    let mark = |at: usize| {
        let c = folded.get(at..).and_then(|rest| rest.chars().next());
        c.is_some_and(|c| quotes(c) && inside((at, c.len_utf8())))
    };
    memchr::memchr3_iter(0xc2, 0xe2, 0xe3, bytes).any(mark)
}

fn quotes(c: char) -> bool {
    matches!(
        c,
        '\u{201c}' | '\u{201e}' | '\u{ab}' | '\u{300c}' | '\u{300e}' | '\u{2018}'
    )
}
