//! Whether a text claims that work is complete or that checks passed (DESIGN 6, claims).
//!
//! Invariant: a claim is a statement of the text itself about what is: negation, conditions, questions,
//! plans, quotes and code are none, and an open "not run" takes a completion back.

use super::english;
use super::visible::without_thoughts;
use crate::model::{Claim, Excerpt};

/// What was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) claim: Claim,
    pub(super) honest_gap: bool,
}

/// One sentence as a language judges it: lower case, no code, no quotations.
pub(super) struct Sentence<'a> {
    pub(super) text: &'a str,
}

/// A language: reads one sentence.
pub(super) type Language = fn(&Sentence<'_>) -> Said;

/// All languages there are. A sentence is shown to each: their words do not overlap.
const LANGUAGES: &[Language] = &[english::judge];

/// Reads the claim of a text.
pub(super) fn read(text: Excerpt<'_>) -> Said {
    let mut all = Said::default();
    for piece in [text.front(), text.end()] {
        let prose = without_thoughts(piece).to_lowercase();
        for sentence in prose.split(['.', '!', '\n']) {
            let sentence = Sentence { text: sentence };
            for judge in LANGUAGES {
                let said = judge(&sentence);
                all.claim = all.claim.max(said.claim);
                all.honest_gap |= said.honest_gap;
            }
        }
    }
    if all.honest_gap && all.claim == Claim::Done {
        all.claim = Claim::None;
    }
    all
}

/// Whether a goal asks for tests to be run or to pass.
pub fn goal_asks_for_tests<'a>(text: impl Into<Excerpt<'a>>) -> bool {
    let text = text.into();
    let lower = text.front().to_lowercase();
    english::asks_for_tests(&lower)
}
