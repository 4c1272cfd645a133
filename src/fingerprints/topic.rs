//! What a text is about: its content words, names, parts of paths and numbers that select, as hashes.
//!
//! Invariant: members of JSON objects are not counted, only their values; words that every text holds are
//! left out; inflections and spellings of one word mostly fall together, since taking two words for one
//! only makes goal_drift quieter. One pass; bounded in bytes and words.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use hashbrown::HashSet;
use xxhash_rust::xxh3::xxh3_64;

use super::names::words;
use crate::model::Words;

/// How much of a text is taken.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Bytes read from the front.
    bytes: usize,
    /// Different words kept.
    words: usize,
}

/// Of goals.
pub const GOAL: Limit = Limit {
    bytes: 32 * 1024,
    words: 768,
};
/// Of arguments.
pub const ASKED: Limit = Limit {
    bytes: 16 * 1024,
    words: 256,
};
/// Of answers.
pub const ANSWERED: Limit = Limit {
    bytes: 32 * 1024,
    words: 1024,
};

/// Letters of a word that count: `migrate` and `migration` are one.
const STEM: usize = 5;
/// Digits of a number that could be somebody's id.
const DIGITS: usize = 4;

/// The words found.
#[derive(Clone, Debug, Default)]
pub struct Topic {
    /// Their hashes.
    pub words: Words,
    /// There are more than were taken.
    pub more: bool,
}

/// The words of some texts together.
pub fn of<T: AsRef<str>>(texts: impl IntoIterator<Item = T>, limit: Limit) -> Topic {
    let mut taker = Taker {
        limit,
        words: BTreeSet::new(),
        more: false,
        run: String::new(),
        stem: String::new(),
    };
    for text in texts {
        taker.read(text.as_ref());
    }
    Topic {
        words: taker.words.into_iter().collect(),
        more: taker.more,
    }
}

struct Taker {
    limit: Limit,
    words: BTreeSet<u32>,
    more: bool,
    /// Letters and digits read without a gap.
    run: String,
    stem: String,
}

impl Taker {
    fn read(&mut self, text: &str) {
        let cut = text.floor_char_boundary(self.limit.bytes);
        self.more |= cut < text.len();
        let text = text.get(..cut).unwrap_or_default();
        if text.trim_start().starts_with(['{', '[']) {
            self.json(text);
        } else {
            self.plain(text);
        }
    }

    fn plain(&mut self, text: &str) {
        for c in text.chars() {
            self.character(c);
        }
        self.flush();
    }

    /// The strings of a document that are no names of members, and what stands between strings.
    fn json(&mut self, text: &str) {
        let mut rest = text;
        while let Some(quote) = rest.find('"') {
            let (between, from) = rest.split_at(quote);
            self.plain(between);
            let inside = from.get(1..).unwrap_or_default();
            let end = string_end(inside);
            let string = inside.get(..end).unwrap_or_default();
            rest = inside.get(end + 1..).unwrap_or_default();
            if !rest.trim_start().starts_with(':') {
                self.string(string);
            }
        }
        self.plain(rest);
    }

    fn string(&mut self, text: &str) {
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            if c != '\\' {
                self.character(c);
                continue;
            }
            let coded = match chars.next() {
                Some('u') => {
                    let digits: String = chars.by_ref().take(4).collect();
                    u32::from_str_radix(&digits, 16)
                        .ok()
                        .and_then(char::from_u32)
                }
                _ => None,
            };
            self.character(coded.unwrap_or(' '));
        }
        self.flush();
    }

    fn character(&mut self, c: char) {
        if c.is_alphanumeric() && !is_hiragana(c) {
            self.run.push(c);
        } else {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if self.run.is_empty() {
            return;
        }
        let run = std::mem::take(&mut self.run);
        let digits = run.chars().filter(char::is_ascii_digit).count();
        if digits > 0 && digits < run.len() && run.len() > STEM {
            // An id as a whole; its parts say less.
            self.put(&run.to_lowercase());
        }
        for word in words(&run) {
            self.word(word);
        }
        self.run = run;
        self.run.clear();
    }

    fn word(&mut self, word: &str) {
        if word.bytes().all(|byte| byte.is_ascii_digit()) {
            if word.len() >= DIGITS {
                self.put(word);
            }
            return;
        }
        if word.chars().any(is_ideographic) {
            self.pairs(word);
            return;
        }
        let mut stem = std::mem::take(&mut self.stem);
        stem.clear();
        stem.extend(word.chars().flat_map(char::to_lowercase));
        if stem.len() > 3 && stem.ends_with('s') && !stem.ends_with("ss") {
            stem.pop();
        }
        if stem.chars().count() >= 3 && !STOP.contains(stem.as_str()) {
            let end = stem
                .char_indices()
                .nth(STEM)
                .map_or(stem.len(), |(at, _)| at);
            self.put(stem.get(..end).unwrap_or_default());
        }
        self.stem = stem;
    }

    /// Writing without gaps: two signs at a time.
    fn pairs(&mut self, word: &str) {
        let mut before = None;
        for c in word.chars() {
            if let Some(first) = before {
                let mut pair = [0; 8];
                let length = char::encode_utf8(first, &mut pair).len();
                let length = length
                    + c.encode_utf8(pair.get_mut(length..).unwrap_or_default())
                        .len();
                self.hash(pair.get(..length).unwrap_or_default());
            }
            before = Some(c);
        }
    }

    fn put(&mut self, word: &str) {
        self.hash(word.as_bytes());
    }

    fn hash(&mut self, word: &[u8]) {
        if self.words.len() >= self.limit.words {
            self.more = true;
            return;
        }
        let [a, b, c, d, ..] = xxh3_64(word).to_le_bytes();
        self.words.insert(u32::from_le_bytes([a, b, c, d]));
    }
}

/// Where the string ends that begins at the front: at the first quote that is not escaped.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    text.bytes()
        .position(|byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        })
        .unwrap_or(text.len())
}

/// Endings and particles of Japanese.
fn is_hiragana(c: char) -> bool {
    ('\u{3040}'..='\u{309f}').contains(&c)
}

/// Han, Katakana, Hangul.
fn is_ideographic(c: char) -> bool {
    matches!(c, '\u{30a0}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// Words that every goal or every call holds, in lower case and without the `s` of a plural: English, German,
/// French, Spanish, and those of programs and paths.
static STOP: LazyLock<HashSet<&str, foldhash::fast::FixedState>> = LazyLock::new(|| {
    include_str!("stopwords.txt")
        .split_ascii_whitespace()
        .collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    fn share(a: &str, b: &str) -> bool {
        let (a, b) = (of([a], GOAL).words, of([b], ASKED).words);
        b.iter().any(|word| a.binary_search(word).is_ok())
    }

    #[test]
    fn stop_words_are_as_they_are_looked_up() {
        for word in STOP.iter() {
            let plural = word.len() > 3 && word.ends_with('s') && !word.ends_with("ss");
            assert!(!plural && word.chars().count() >= 3, "{word}");
        }
    }

    #[test]
    fn what_is_about_the_same_shares_a_word() {
        for (goal, call) in [
            ("Rename getPrice to fetchPrice", r#"{"old": "getPrice()"}"#),
            ("Fix web/button.css", r#"{"path": "/srv/web/a.js"}"#),
            ("migrate the orders", r#"{"command": "run-migration"}"#),
            ("refund W1234567", r##"{"order_id": "#W1234567"}"##),
            (
                "\u{4fee}\u{590d}\u{767b}\u{5f55}",
                r#"{"q": "\u767b\u5f55 x"}"#,
            ),
            (
                "\u{dc}bersetzung pr\u{fc}fen",
                r#"{"text": "\u00fcbersetzungen"}"#,
            ),
        ] {
            assert!(share(goal, call), "{goal}: {call}");
        }
    }

    #[test]
    fn what_is_not_does_not() {
        for (goal, call) in [
            (
                "Fix the colour of the button in the file",
                r#"{"file": "the db/users.sql"}"#,
            ),
            ("path of the query", r#"{"path": "/a", "query": "rivers"}"#),
            ("answers 500", r#"{"limit": 500}"#),
            (
                "Bitte behebe den Fehler in der Anzeige",
                r#"{"q": "der Preis in den Daten"}"#,
            ),
            ("", "{}"),
        ] {
            assert!(!share(goal, call), "{goal}: {call}");
        }
    }

    #[test]
    fn it_is_bounded_and_total() {
        let long: String = (0..100_000).map(|n| format!("w{n}x ")).collect();
        let topic = of([&long], ASKED);
        assert!(topic.more && topic.words.len() <= 256 && topic.words.is_sorted());
        for odd in [
            "{\"",
            "{\"a\\",
            "[\"\\u12\"",
            "\"",
            "{\"\\ud800\": 1}",
            "\u{0}",
        ] {
            let _ = of([odd], GOAL);
        }
    }
}
