//! The forms in which a clause asserts that checks passed. Each function tells at which word the assertion
//! begins; what silences it is not looked at here.

use super::words::{Kind, Word};

/// Words between the checks and their verb that make another sentence of it.
const BREAKS: &[&str] = &[
    "to", "that", "which", "should", "must", "will", "would", "can", "could", "may", "might", "a",
    "into", "for", "who",
];

/// Checks passed.
pub(super) fn passed(clause: &[Word<'_>], names_checks: bool) -> Option<usize> {
    subject_verb(clause)
        .or_else(|| verb_object(clause))
        .or_else(|| counted(clause))
        .or_else(|| pronoun(clause, names_checks))
        .or_else(|| green(clause))
        .or_else(|| ran_well(clause))
        .or_else(|| verified_by(clause))
        .or_else(|| labelled(clause, names_checks))
}

/// "Tests: passed": a clause of one word after a label that names checks.
fn labelled(clause: &[Word<'_>], names_checks: bool) -> Option<usize> {
    let mut words = clause.iter().filter(|word| !word.is(Kind::Adverb));
    let alone = words
        .next()
        .is_some_and(|word| word.among(&["passed", "passing", "pass", "green", "successful"]))
        && words.next().is_none();
    (names_checks && alone).then_some(0)
}

/// "10/12 tests pass", "3 of 12 tests", "only 3 tests": not all of them.
pub(super) fn fraction(clause: &[Word<'_>]) -> bool {
    let number = |word: Option<&Word<'_>>| word.and_then(|word| word.text.parse::<u32>().ok());
    (0..clause.len()).any(|at| {
        let Some(part) = number(clause.get(at)) else {
            return false;
        };
        let mut next = at + 1;
        while clause
            .get(next)
            .is_some_and(|word| word.among(&["of", "out", "the"]))
        {
            next += 1;
        }
        let only = at > 0 && clause.get(at - 1).is_some_and(|word| word.text == "only");
        only || number(clause.get(next)).is_some_and(|whole| part < whole)
    })
}

fn get<'a, 'b>(clause: &'b [Word<'a>], at: usize) -> Option<&'b Word<'a>> {
    clause.get(at)
}

/// "all 31 tests pass", "the suite is green", "make test passes", "specs ok".
fn subject_verb(clause: &[Word<'_>]) -> Option<usize> {
    (0..clause.len()).find(|at| {
        let check = |word: &Word<'_>| word.is(Kind::Check);
        let make_check = get(clause, *at).is_some_and(|word| word.text == "check")
            && get(clause, at + 1).is_some_and(|word| word.is(Kind::Pass));
        if !(get(clause, *at).is_some_and(check) || make_check) {
            return false;
        }
        for step in 1..=6 {
            let Some(word) = get(clause, at + step) else {
                return false;
            };
            if word.is(Kind::Pass) {
                let plain = word.among(&["ok", "successful"]);
                let clean = word.text == "clean";
                let object = get(clause, at + step + 1).is_some_and(|next| {
                    next.among(&["a", "an", "the", "to", "into", "its", "this"])
                });
                let be = || {
                    clause
                        .get(*at..at + step)
                        .unwrap_or_default()
                        .iter()
                        .any(|w| w.is(Kind::Be))
                };
                return !object && (!plain || step <= 2 || be()) && (!clean || be());
            }
            if word.among(BREAKS) || word.is(Kind::Plan) {
                return false;
            }
        }
        false
    })
}

/// "passes all tests", "with all tests passing", "12 passing tests".
fn verb_object(clause: &[Word<'_>]) -> Option<usize> {
    const BETWEEN: &[&str] = &[
        "all",
        "the",
        "every",
        "its",
        "our",
        "of",
        "existing",
        "unit",
        "integration",
        "full",
        "whole",
        "entire",
        "new",
        "our",
        "regression",
        "acceptance",
        "these",
        "those",
    ];
    (0..clause.len()).find(|at| {
        if !get(clause, *at).is_some_and(|word| word.among(&["passes", "passed", "passing"])) {
            return false;
        }
        for step in 1..=4 {
            let Some(word) = get(clause, at + step) else {
                return false;
            };
            if word.among(&[
                "tests",
                "checks",
                "specs",
                "suite",
                "suites",
                "ci",
                "pytest",
                "unittests",
            ]) {
                return true;
            }
            if !(word.among(BETWEEN) || word.is(Kind::Number)) {
                return false;
            }
        }
        false
    })
}

/// "18 passed", "12/12 pass", "100% passing".
pub(super) fn counted(clause: &[Word<'_>]) -> Option<usize> {
    clause.windows(2).position(|pair| match pair {
        [count, verb] => {
            count.is(Kind::Number)
                && !count.is(Kind::Zero)
                && verb.among(&["passed", "passing", "pass"])
        }
        _ => false,
    })
}

/// "they all pass", where the sentence has named the checks.
fn pronoun(clause: &[Word<'_>], names_checks: bool) -> Option<usize> {
    let at = clause.iter().position(|word| {
        word.among(&[
            "they",
            "these",
            "those",
            "all",
            "it",
            "everything",
            "which",
            "everything's",
            "they're",
            "it's",
        ])
    })?;
    let near = clause.get(at + 1..)?.iter().take(3);
    let verb = near
        .clone()
        .position(|word| word.is(Kind::Pass) && !word.among(&["ok", "clean"]))?;
    let broken = near.take(verb).any(|word| word.among(BREAKS));
    let all_passing = clause
        .get(at)
        .is_some_and(|word| word.among(&["all", "everything", "everything's"]))
        && clause.len() <= at + verb + 3;
    (!broken && (names_checks || all_passing)).then_some(at)
}

/// "everything is green", "all green".
fn green(clause: &[Word<'_>]) -> Option<usize> {
    let at = clause.iter().position(|word| word.text == "green")?;
    let of = clause.iter().take(at).position(|word| {
        word.is(Kind::Check) || word.among(&["everything", "all", "build", "builds"])
    })?;
    let broken = clause
        .iter()
        .take(at)
        .skip(of)
        .any(|word| word.among(BREAKS) || word.is(Kind::Plan));
    (at - of <= 5 && !broken).then_some(of)
}

/// "the suite ran without failures", "ran all tests successfully".
fn ran_well(clause: &[Word<'_>]) -> Option<usize> {
    let check = clause.iter().position(|word| word.is(Kind::Check))?;
    let ran = clause.iter().position(|word| {
        word.among(&[
            "ran",
            "run",
            "runs",
            "executed",
            "completed",
            "finished",
            "completes",
            "exits",
        ])
    })?;
    let well = clause.iter().enumerate().any(|(at, word)| {
        let no_failures = word.among(&["no", "without", "zero", "0"])
            && clause
                .iter()
                .skip(at + 1)
                .take(3)
                .any(|word| word.is(Kind::Bad));
        word.among(&["successfully", "cleanly"]) || no_failures
    });
    well.then_some(check.min(ran))
}

/// "verified by the tests", "validated with the full suite".
fn verified_by(clause: &[Word<'_>]) -> Option<usize> {
    let at = clause.iter().position(|word| {
        word.among(&["verified", "validated", "confirmed", "covered", "tested"])
    })?;
    if clause.get(at)?.text == "covered" {
        return None;
    }
    let by = get(clause, at + 1)?.among(&["by", "with", "via", "using", "through"]);
    let checks = clause
        .iter()
        .skip(at + 2)
        .take(5)
        .any(|word| word.among(&["tests", "suite", "specs", "pytest", "checks", "jest", "ci"]));
    (by && checks).then_some(at)
}
