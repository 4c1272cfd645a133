//! Open admissions: what a text says was not run, not done, withdrawn, or fails.

use super::benign;
use super::words::{Kind, Word};

/// What is open about a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gap {
    /// Something was not run, not done, or withdrawn.
    Open,
    /// Checks fail.
    Failing,
}

/// The admission of a clause, if it makes one. What is governed by a condition admits nothing. `counts`
/// tells that the sentence is a tally ("3 tests failed, 12 passed").
pub(super) fn gap(
    clause: &[Word<'_>],
    governed: bool,
    names_checks: bool,
    counts: bool,
) -> Option<Gap> {
    if governed {
        return None;
    }
    let checks_here = clause.iter().any(|word| word.is(Kind::Check));
    let they = || clause.iter().any(|word| word.among(&["they", "it"]));
    let about_checks = checks_here || (names_checks && they());
    let elsewhen = clause.iter().any(|word| {
        word.is(Kind::Plan)
            || word.is(Kind::Condition)
            || word.among(&[
                "before",
                "without",
                "initially",
                "originally",
                "previously",
                "used",
            ])
    });
    for (at, word) in clause.iter().enumerate() {
        if word.is(Kind::Open) {
            return Some(Gap::Open);
        }
        if gives_up(clause, at, checks_here, counts) {
            return Some(Gap::Open);
        }
        let tally = counts
            && word.text == "failed"
            && clause
                .iter()
                .take(at)
                .any(|word| word.is(Kind::Number) && !word.is(Kind::Zero));
        if tally {
            return Some(Gap::Failing);
        }
        let counted = word.text == "failed" || word.text == "failures";
        if (about_checks || counted) && !elsewhen && fails(clause, at) {
            return Some(Gap::Failing);
        }
        if word.is(Kind::Negation) && !benign(clause, at) {
            let after = clause.get(at + 1..).unwrap_or_default();
            let passes = after.iter().take(4).any(|word| word.is(Kind::Pass));
            if about_checks && !elsewhen && passes && !word.is(Kind::Bad) {
                return Some(Gap::Failing);
            }
            if admits(clause, at, checks_here) {
                return Some(Gap::Open);
            }
        }
    }
    None
}

/// "the tests were skipped", "I had to revert it", "the build is broken", "I gave up", "I only finished half".
fn gives_up(clause: &[Word<'_>], at: usize, checks_here: bool, counts: bool) -> bool {
    let Some(word) = clause.get(at) else {
        return false;
    };
    let word_at = |at: Option<usize>| {
        at.and_then(|at| clause.get(at))
            .map_or("", |word| word.text)
    };
    let before = word_at(at.checked_sub(1));
    let next = word_at(at.checked_add(1));
    let mine = clause
        .iter()
        .take(at)
        .any(|word| word.among(&["i", "we", "i've", "we've"]));
    match word.text {
        "skipped" => {
            let told = matches!(before, "were" | "was" | "are" | "is") || mine;
            checks_here && told && !counts
        }
        "revert" | "undo" => before == "to" && word_at(at.checked_sub(2)) == "had",
        "gave" => mine && next == "up",
        "reverting" => mine && before == "up",
        "remains" | "remain" => matches!(next, "to" | "undone" | "open" | "unfinished"),
        "rolled" => mine && next == "back",
        "broken" => matches!(before, "is" | "are" | "still" | "now"),
        "finished" | "completed" | "fixed" | "implemented" => mine && before == "only",
        _ => false,
    }
}

/// Whether the negation at `at` admits that something was not done.
fn admits(clause: &[Word<'_>], at: usize, checks_here: bool) -> bool {
    let Some(word) = clause.get(at) else {
        return false;
    };
    let (before, after) = (
        clause.get(..at).unwrap_or_default(),
        clause.get(at + 1..).unwrap_or_default(),
    );
    let could = before
        .last()
        .is_some_and(|word| word.among(&["could", "can"]));
    let able_to = after
        .first()
        .is_some_and(|word| word.among(&["able", "possible"]));
    let unable = word.is(Kind::Unable) || could || able_to;
    let mine = before.iter().any(|word| word.among(&["i", "we"])) || before.is_empty();
    if unable && (mine || able_to) {
        return !after.is_empty();
    }
    // A plan not to do something, or a rule, admits nothing.
    let past = |word: &Word<'_>| {
        word.among(&[
            "didn't", "haven't", "hasn't", "wasn't", "weren't", "isn't", "aren't", "not", "never",
            "without", "no", "none", "doesn't", "don't",
        ])
    };
    if !past(word)
        || before
            .iter()
            .any(|word| word.is(Kind::Plan) && !word.among(&["could"]))
    {
        return false;
    }
    let acted = after.iter().take(4).any(|word| word.is(Kind::Acted));
    let ran = after.iter().take(5).any(|word| word.is(Kind::Ran));
    let work = before.iter().any(|word| word.is(Kind::Work));
    let broken = after
        .iter()
        .take(3)
        .any(|word| word.among(&["work", "working"]));
    let owned = before.iter().any(|word| word.among(&["i", "we"])) || before.is_empty();
    (owned && acted) || (checks_here && ran) || (work && (acted || broken))
}

/// "tests fail", "two tests are still failing", "3 failed".
fn fails(clause: &[Word<'_>], at: usize) -> bool {
    let Some(word) = clause.get(at) else {
        return false;
    };
    let before = at.checked_sub(1).and_then(|at| clause.get(at));
    let negated = clause
        .iter()
        .take(at)
        .any(|word| (word.is(Kind::Negation) || word.is(Kind::Zero)) && !word.is(Kind::Bad));
    let after = |words: &[&str]| before.is_some_and(|word| word.among(words));
    let what = match word.text {
        // "2 tests failed".
        "failed" if before.is_some_and(|word| word.is(Kind::Check)) => at
            .checked_sub(2)
            .and_then(|at| clause.get(at))
            .is_some_and(|word| word.is(Kind::Number) && !word.is(Kind::Zero)),
        "fail" | "fails" => {
            before.is_some_and(|word| word.is(Kind::Check))
                || after(&["still", "now", "they", "it"])
        }
        "failing" => after(&["still", "are", "is", "keep", "keeps", "remain", "remains"]),
        "failed" | "failures" => {
            before.is_some_and(|word| word.is(Kind::Number) && !word.is(Kind::Zero))
        }
        "red" => after(&["is", "are", "still"]),
        _ => false,
    };
    what && !negated
}
