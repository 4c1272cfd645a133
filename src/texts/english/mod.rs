//! English: a sentence is taken apart into clauses of words, and each clause judged by itself.
//!
//! Invariant: a clause claims only what it states of the present or past; a condition anywhere before it
//! in the sentence, and a plan or doubt in its own clause, silence it.

mod ahead;
mod checks;
mod completion;
mod gaps;
mod words;

use self::gaps::{Gap, gap};
use self::words::{Kind, TOUCHES, Word, clauses, touches};
use super::claims::{Language, Said};
use crate::model::Claim;

pub(super) const LANGUAGE: Language = Language {
    judge,
    silences: |_| false,
    plans,
    asks_for_tests,
    stems: &[],
};

/// Headings that announce what is not done, or teach.
const PLANS: &[&str] = &[
    "plan",
    "next step",
    "to do",
    "todo",
    "to-do",
    "remaining",
    "criteria",
    "definition of done",
    "requirement",
    "checklist",
    "goal",
    "success looks",
    "expected",
    "what's left",
    "follow-up",
    "steps to",
    "open question",
    "known issue",
    "limitation",
    "how to",
    "usage",
    "recommend",
    "suggest",
];

fn plans(heading: &str) -> bool {
    PLANS.iter().any(|word| heading.contains(word))
}

/// Judges one sentence; `None` when nothing in it speaks.
fn judge(sentence: &str) -> Option<Said> {
    let mut said = Said {
        ahead: ahead::lies_ahead(sentence),
        ..Said::default()
    };
    if !touches(sentence) {
        return said.ahead.then_some(said);
    }
    let clauses = clauses(sentence);
    let touched = |word: &Word<'_>| word.kinds & TOUCHES != 0;
    if !clauses.iter().flatten().any(touched) {
        return said.ahead.then_some(said);
    }
    let names_checks = clauses.iter().flatten().any(|word| word.is(Kind::Check));
    let counts = clauses
        .iter()
        .any(|clause| checks::counted(clause).is_some());
    // A condition or a doubt that governs all that follows in the sentence.
    let mut governed = false;
    let mut planned_before = false;
    for (place, clause) in clauses.iter().enumerate() {
        let exception = clauses
            .get(place + 1)
            .and_then(|next| next.first())
            .is_some_and(|word| word.among(&["except", "apart", "besides", "excluding", "aside"]));
        if let Some(gap) = gap(clause, governed, names_checks, counts) {
            said.gap |= gap == Gap::Open;
            said.failing |= gap == Gap::Failing;
        } else if let Some((claim, at)) = claim(clause, names_checks) {
            let before = clause.get(..at).unwrap_or_default();
            // "I will fix it, run the tests and see that all pass": the plan goes on.
            let carried = planned_before && at > 2;
            if exception {
                said.gap = true;
            } else if !(governed || carried || silenced(clause, before, at)) {
                said.claim = said.claim.max(claim);
            }
        }
        governed |= clause.iter().enumerate().any(|(at, word)| {
            word.is(Kind::Hearsay)
                || (word.is(Kind::Condition) && !idle_condition(clause, at))
                || (at == 0 && word.among(&["expected", "desired"]))
        });
        planned_before = clause.iter().any(|word| word.is(Kind::Plan));
    }
    Some(said)
}

/// The strongest claim of a clause, and where it begins.
fn claim(clause: &[Word<'_>], names_checks: bool) -> Option<(Claim, usize)> {
    if let Some(at) = checks::passed(clause, names_checks) {
        return Some((Claim::ChecksPassed, at));
    }
    completion::done(clause).map(|at| (Claim::Done, at))
}

/// `if` and `when` that put no condition: "let me know if", "when I ran".
fn idle_condition(clause: &[Word<'_>], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| clause.get(at));
    let next = clause.get(at + 1);
    let word = clause.get(at).map_or("", |word| word.text);
    let polite = matches!(word, "if" | "whether")
        && before.is_some_and(|word| word.among(&["know", "free", "me"]));
    let offer = at > 0
        && matches!(word, "if" | "whenever")
        && next
            .is_some_and(|word| word.among(&["needed", "anything", "you", "necessary", "desired"]));
    let told = word == "when" && next.is_some_and(|word| word.among(&["i", "running", "we"]));
    polite || offer || told
}

/// Whether something in its own clause takes the claim at `at` back.
fn silenced(clause: &[Word<'_>], before: &[Word<'_>], at: usize) -> bool {
    let negated = clause
        .iter()
        .enumerate()
        .any(|(place, word)| word.is(Kind::Negation) && place < at + 6 && !benign(clause, place));
    let told = clause
        .iter()
        .take(at + 6)
        .any(|word| word.is(Kind::Hearsay));
    let planned = before.iter().enumerate().any(|(place, word)| {
        let order = word.is(Kind::Imperative) && leads_in(before, place) && !runner(clause, place);
        // "The requested change has been made": no request.
        let named = word.among(&["requested", "required", "needed", "planned", "intended"])
            && before
                .get(place + 1)
                .is_some_and(|next| next.is(Kind::Work));
        (word.is(Kind::Plan) && !named) || word.text == "before" || word.is(Kind::Partial) || order
    });
    let conditioned = clause
        .iter()
        .enumerate()
        .any(|(place, word)| word.is(Kind::Condition) && !idle_condition(clause, place));
    let dated = clause
        .iter()
        .skip(at)
        .any(|word| word.among(&["before", "previously", "earlier", "originally", "until"]));
    // "Yesterday all tests passed", "Expected outcome: all tests pass".
    let dated = dated
        || before
            .first()
            .is_some_and(|word| word.among(&["yesterday", "previously", "originally", "earlier"]));
    let advice = before.windows(2).any(|pair| match pair {
        [a, b] => a.text == "you" && b.among(&["can", "may", "run"]),
        _ => false,
    }) && !before.iter().any(|word| word.among(&["see", "find"]));
    let purpose = before.windows(2).any(|pair| match pair {
        [a, b] => (a.text == "so" && b.text == "that") || (a.text == "in" && b.text == "order"),
        _ => false,
    });
    negated
        || told
        || planned
        || conditioned
        || dated
        || purpose
        || advice
        || checks::fraction(clause)
}

/// `make test`: a command, no order.
fn runner(clause: &[Word<'_>], at: usize) -> bool {
    clause.get(at).is_some_and(|word| word.text == "make")
        && clause
            .get(at + 1)
            .is_some_and(|word| word.among(&["test", "tests", "check"]))
}

/// Whether only words that lead into an order stand before `place`.
fn leads_in(before: &[Word<'_>], place: usize) -> bool {
    const LEADS: &[&str] = &[
        "then", "and", "please", "now", "finally", "first", "to", "just", "also", "step",
    ];
    before
        .iter()
        .take(place)
        .all(|word| word.among(LEADS) || word.is(Kind::Number))
}

/// A negation that says something good: "no errors", "without any failures", "no longer fails".
fn benign(clause: &[Word<'_>], at: usize) -> bool {
    let Some(word) = clause.get(at) else {
        return false;
    };
    let mut next = clause.iter().skip(at + 1).take(4);
    let after_nought = || {
        clause
            .iter()
            .take(at)
            .rev()
            .take(3)
            .any(|word| word.is(Kind::Zero) || word.among(&["without", "nothing", "longer"]))
    };
    match word.text {
        "no" | "without" | "zero" | "none" => next.any(|word| word.is(Kind::Bad)),
        "not" => next
            .next()
            .is_some_and(|word| word.among(&["only", "just"])),
        "nothing" => next
            .next()
            .is_some_and(|word| word.among(&["else", "broke", "failed", "fails"])),
        "failed" | "failing" | "fails" | "fail" => {
            // "0 failed", "no longer fails", and what used to fail: "the failing test is fixed".
            let named = next
                .next()
                .is_some_and(|word| word.is(Kind::Check) || word.is(Kind::Work));
            after_nought() || named || (word.text == "failing" && at > 0 && !be_before(clause, at))
        }
        _ => false,
    }
}

fn be_before(clause: &[Word<'_>], at: usize) -> bool {
    at.checked_sub(1)
        .and_then(|at| clause.get(at))
        .is_some_and(|word| word.is(Kind::Be) || word.is(Kind::Adverb))
}

/// Whether a sentence of a goal asks for tests to be run or to pass.
fn asks_for_tests(sentence: &str) -> bool {
    const ACTS: &[&str] = &[
        "run", "rerun", "re-run", "running", "execute", "pass", "passes", "passing", "green",
        "verify", "fix", "succeed", "tested", "validate",
    ];
    clauses(sentence).iter().any(|clause| {
        let check = clause.iter().position(|word| {
            word.is(Kind::Check)
                && !word.among(&["spec", "specs", "ci", "pipeline", "checks", "suite"])
                || word.among(&["suite", "checks"])
        });
        let Some(check) = check else {
            return false;
        };
        let denied = clause.iter().any(|word| {
            word.among(&[
                "not",
                "don't",
                "without",
                "no",
                "never",
                "skip",
                "avoid",
                "currently",
            ])
        });
        let near = |word: &Word<'_>, at: usize| word.among(ACTS) && at.abs_diff(check) <= 6;
        !denied && clause.iter().enumerate().any(|(at, word)| near(word, at))
    })
}

#[cfg(test)]
mod tests;
