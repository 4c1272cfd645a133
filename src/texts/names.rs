//! The names that an error is about.
//!
//! Invariant: what varies while nothing changes is no name (numbers, ids, temporary files, addresses, pieces
//! of code), so that two errors of one class about other names tell of two different things.

use xxhash_rust::xxh3::xxh3_64;

use super::errors::{closing, file_name, named_before, telling_line};
use super::visible::strip;
use crate::model::Excerpt;

/// Longest beginning of a line that is looked at, in bytes.
const LINE_MAX: usize = 500;
/// Longest name in bytes.
const NAME_MAX: usize = 80;

const QUOTES: [char; 5] = ['\'', '"', '`', '\u{2018}', '\u{201c}'];

/// The names that an error is about, which its class leaves out: a hash of the quoted names in its telling
/// line and of the files and dotted names in it, in their order. 0 when it names nothing. Numbers, ids,
/// temporary files, addresses and quoted pieces of code are no names: they vary while nothing changes.
pub fn error_names<'a>(text: impl Into<Excerpt<'a>>) -> u32 {
    let text = text.into();
    let line = telling_line(strip(text.front()), strip(text.last()));
    let line = line
        .get(..line.floor_char_boundary(LINE_MAX))
        .unwrap_or_default();
    let mut names = String::new();
    let mut note = |name: &str| {
        names.push_str(name);
        names.push('\0');
    };
    let mut rest = line;
    while let Some(at) = rest.find(QUOTES) {
        let (before, quoted) = rest.split_at(at);
        let mut inside = quoted.chars();
        let close = inside.next().map_or(' ', closing);
        let inside = inside.as_str();
        // An apostrophe follows a letter.
        let end = if before.ends_with(char::is_alphanumeric) {
            None
        } else {
            inside.find(close)
        };
        bare_names(before, line, &mut note);
        rest = inside;
        if let Some(end) = end {
            let (name, after) = inside.split_at(end);
            if quoted_name(name) {
                note(name);
            }
            rest = after.get(close.len_utf8()..).unwrap_or_default();
        }
    }
    bare_names(rest, line, &mut note);
    if names.is_empty() {
        return 0;
    }
    let [a, b, c, d, ..] = xxh3_64(names.as_bytes()).to_le_bytes();
    u32::from_le_bytes([a, b, c, d]).max(1)
}

/// A quoted name: one word of letters and few digits. What holds blanks or signs is code or a sentence.
fn quoted_name(name: &str) -> bool {
    let digits = name.chars().filter(char::is_ascii_digit).count();
    let letters = name.chars().filter(|c| c.is_alphabetic()).count();
    name.len() <= NAME_MAX
        && letters > digits
        && !name.contains("tmp")
        && !name.contains("://")
        && name.chars().all(|c| {
            c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '-' | '/' | ':' | '\\' | '[' | ']')
        })
}

/// Files, dotted names, and the command not found among words outside of quotes.
fn bare_names(words: &str, line: &str, note: &mut impl FnMut(&str)) {
    for token in words.split_whitespace() {
        let bare = token.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '_'));
        let named = named_before(line, token)
            || ((bare.contains('/') || file_name(bare)) && !bare.contains(['@', '=']));
        if named && quoted_name(bare) && !bare.bytes().any(|b| b.is_ascii_digit()) {
            note(bare);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_names_are_told_apart() {
        for (a, b) in [
            (
                "Unknown column 'treatment' in 'where clause'",
                "Unknown column 'dog_id' in 'field list'",
            ),
            (
                "Unknown column 'dogs.id' in 'on clause'",
                "Unknown column 'dogs.name' in 'on clause'",
            ),
            (
                "ERROR: column \"a\" does not exist",
                "ERROR: column \"b\" does not exist",
            ),
            ("no such table: db.cats", "no such table: db.dogs"),
            (
                "NameError: name 'foo' is not defined",
                "NameError: name 'bar' is not defined",
            ),
            ("KeyError: 'a'", "KeyError: 'b'"),
            (
                "cat: src/a.rs: No such file or directory",
                "cat: src/b.rs: No such file or directory",
            ),
            (
                "bash: foo: command not found",
                "bash: bar: command not found",
            ),
            (
                "{\"error\": \"unknown field `a`\"}",
                "{\"error\": \"unknown field `b`\"}",
            ),
            (
                "cannot find value \u{2018}a\u{2019}",
                "cannot find value \u{2018}b\u{2019}",
            ),
        ] {
            assert_ne!(error_names(a), 0, "{a}");
            assert_ne!(error_names(a), error_names(b), "{a} | {b}");
        }
    }

    #[test]
    fn what_varies_by_itself_is_no_name() {
        for (a, b) in [
            ("Error: timeout after 31 s", "Error: timeout after 29 s"),
            ("Error: 404 /users/17", "Error: 404 /users/18"),
            (
                "syntax error near 'FROM x WHERE' at line 3",
                "syntax error near 'x, y FROM' at line 4",
            ),
            ("cannot open '/tmp/tmpx1/a'", "cannot open '/tmp/tmpq7/a'"),
            (
                "request '6f9619ff-8b86-d011' failed",
                "request '7a9619ff-8b86-d012' failed",
            ),
            ("don't do that", "can't do that"),
            ("", "it failed"),
        ] {
            assert_eq!(error_names(a), error_names(b), "{a} | {b}");
        }
        assert_eq!(error_names("don't do that"), 0);
        assert_eq!(
            error_names("Unknown column 'x' in 'where clause'"),
            error_names("Unknown column 'x' in 'field list'")
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text(text in ".{0,200}", quoted in "['\"`\u{2018}a ./]{0,40}") {
            error_names(&*text);
            error_names(&*quoted);
        }
    }
}
