//! English.

use super::claims::{Said, Sentence};
use crate::model::Claim;

/// Judges one sentence.
pub(super) fn judge(sentence: &Sentence<'_>) -> Said {
    let text = sentence.text;
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if says(&[" not ", "n't ", "if ", "once ", "should ", "will "]) {
        return Said::default();
    }
    let claim = if says(&["tests pass", "tests are passing", "all checks pass"]) {
        Claim::ChecksPassed
    } else if says(&["done", "complete", "fixed", "implemented"]) {
        Claim::Done
    } else {
        Claim::None
    };
    Said {
        claim,
        honest_gap: false,
    }
}

/// Whether a goal, in lower case, asks for tests.
pub(super) fn asks_for_tests(goal: &str) -> bool {
    ["run the tests", "tests pass", "make sure the tests"]
        .iter()
        .any(|phrase| goal.contains(phrase))
}
