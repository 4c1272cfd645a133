//! Languages that are read by patterns over a whole sentence: their word order lets a subject, what is said
//! of it, and what takes it back stand apart from each other.
//!
//! Invariant: what takes a claim back is looked for in all of the sentence; a condition in it makes it say
//! nothing at all, not even that something is open.

use regex::Regex;

use super::claims::Said;
use crate::model::Claim;

/// What a language says by, as pieces of regular expressions over a sentence in lower case with a blank at
/// each end and around each of its commas, colons and brackets. Names of `words` stand in capitals in them.
pub(super) struct Grammar {
    /// Names and what they stand for.
    pub(super) words: &'static [(&'static str, &'static str)],
    /// Say that checks passed.
    pub(super) passed: &'static [&'static str],
    /// Say that work is complete.
    pub(super) done: &'static [&'static str],
    /// Say that work is complete by a negation of their own ("no longer crashes"); taken out before `blocks`.
    pub(super) firm: &'static [&'static str],
    /// Conditions: with one of these a sentence says nothing.
    pub(super) conditions: &'static [&'static str],
    /// Any of these makes a sentence no claim: negation, plan, doubt, hearsay, a part only.
    pub(super) blocks: &'static [&'static str],
    /// Say that something was not run, not done, or withdrawn.
    pub(super) gaps: &'static [&'static str],
    /// Say that checks fail.
    pub(super) failing: &'static [&'static str],
    /// Negations and offers that take nothing back, taken out before all else.
    pub(super) benign: &'static [&'static str],
}

/// A grammar ready for use.
pub(super) struct Compiled {
    /// Anything that a sentence can say.
    speaks: Regex,
    passed: Regex,
    done: Regex,
    firm: Regex,
    silences: Regex,
    conditions: Regex,
    gaps: Regex,
    failing: Regex,
    benign: Regex,
}

impl Compiled {
    /// Compiles a grammar; `None` when a pattern of it is none, which a test rules out.
    pub(super) fn new(grammar: &Grammar) -> Option<Self> {
        let regex = |lists: &[&[&str]]| {
            let pieces: Vec<&str> = lists.iter().flat_map(|list| list.iter().copied()).collect();
            // An empty list matches nothing.
            let mut pattern = if pieces.is_empty() {
                "[^\\s\\S]".to_owned()
            } else {
                pieces.join("|")
            };
            for (name, words) in grammar.words {
                pattern = pattern.replace(name, &format!("(?:{words})"));
            }
            Regex::new(&plain_letters(&pattern)).ok()
        };
        Some(Self {
            speaks: regex(&[
                grammar.passed,
                grammar.done,
                grammar.firm,
                grammar.gaps,
                grammar.failing,
            ])?,
            passed: regex(&[grammar.passed])?,
            done: regex(&[grammar.done])?,
            firm: regex(&[grammar.firm])?,
            silences: regex(&[grammar.conditions, grammar.blocks])?,
            conditions: regex(&[grammar.conditions])?,
            gaps: regex(&[grammar.gaps])?,
            failing: regex(&[grammar.failing])?,
            benign: regex(&[grammar.benign])?,
        })
    }

    /// Judges a sentence; `None` when nothing in it speaks.
    pub(super) fn judge(&self, sentence: &str) -> Option<Said> {
        let text = spaced(sentence);
        if !self.speaks.is_match(&text) {
            return None;
        }
        let text = self.benign.replace_all(&text, " ");
        if self.conditions.is_match(&text) {
            return Some(Said::default());
        }
        let failing = self.failing.is_match(&text);
        let gap = self.gaps.is_match(&text);
        let firm = self.firm.is_match(&text);
        let text = self.firm.replace_all(&text, " ");
        let claim = if failing || gap || self.silences.is_match(&text) {
            Claim::None
        } else if self.passed.is_match(&text) {
            Claim::ChecksPassed
        } else if firm || self.done.is_match(&text) {
            Claim::Done
        } else {
            Claim::None
        };
        Some(Said {
            claim,
            gap,
            failing,
            ahead: false,
        })
    }

    /// Whether the sentence holds what takes back a claim made in it, in whatever language.
    pub(super) fn silences(&self, sentence: &str) -> bool {
        let text = spaced(sentence);
        self.silences.is_match(&self.benign.replace_all(&text, " "))
    }
}

/// Letters of Europe's west for all of Unicode's: a regular expression is ten times as large with these.
fn plain_letters(pattern: &str) -> String {
    pattern
        .replace(r"[\w", r"[a-z0-9_\u{df}-\u{ff}")
        .replace(r"[^\w", r"[^a-z0-9_\u{df}-\u{ff}")
        .replace(r"\w", r"[a-z0-9_\u{df}-\u{ff}]")
}

/// The sentence as patterns are looked for in it.
fn spaced(sentence: &str) -> String {
    let mut text = String::with_capacity(sentence.len() + 16);
    text.push(' ');
    for c in sentence.chars() {
        match c {
            ',' | ':' | '(' | ')' => {
                if !text.ends_with(' ') {
                    text.push(' ');
                }
                text.push(c);
                text.push(' ');
            }
            c if c.is_whitespace() && text.ends_with(' ') => {}
            c if c.is_whitespace() => text.push(' '),
            c => text.push(c),
        }
    }
    if !text.ends_with(' ') {
        text.push(' ');
    }
    text
}
