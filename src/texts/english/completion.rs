//! The forms in which a clause asserts that work is complete. Each function tells at which word the
//! assertion begins; what silences it is not looked at here.

use super::words::{Kind, Word};

fn get<'a, 'b>(clause: &'b [Word<'a>], at: usize) -> Option<&'b Word<'a>> {
    clause.get(at)
}

/// Words after a participle that tell how something is made, not that it is done.
const MANNER: &[&str] = &[
    "by", "in", "as", "via", "using", "with", "at", "to", "against", "relative", "through", "from",
    "on", "of", "per", "inside", "under", "within",
];

/// Work is complete.
pub(super) fn done(clause: &[Word<'_>]) -> Option<usize> {
    opening(clause)
        .or_else(|| predicate(clause))
        .or_else(|| first_person(clause))
        .or_else(|| successfully(clause))
        .or_else(|| works(clause))
        .or_else(|| ready(clause))
        .or_else(|| no_longer(clause))
        .or_else(|| idiom(clause))
        .or_else(|| now_does(clause))
        .or_else(|| gone_or_made(clause))
}

/// "the crash is gone", "the change has been made".
fn gone_or_made(clause: &[Word<'_>]) -> Option<usize> {
    (1..clause.len()).find(|at| {
        let (Some(before), Some(word)) = (get(clause, at - 1), get(clause, *at)) else {
            return false;
        };
        let of = |kind| clause.iter().take(*at).any(|word| word.is(kind));
        match word.text {
            "gone" => before.among(&["is", "are", "now"]) && (of(Kind::Bad) || of(Kind::Work)),
            "made" => before.text == "been" && of(Kind::Work),
            _ => false,
        }
    })
}

/// "the form now validates correctly".
fn now_does(clause: &[Word<'_>]) -> Option<usize> {
    let at = clause.iter().position(|word| word.text == "now")?;
    let verb = get(clause, at + 1)?;
    let well = get(clause, at + 2)?.among(&["correctly", "properly"]);
    (well && verb.text.ends_with('s')).then_some(at)
}

/// "Done!", "All done", "Fixed the parser", "Implemented and verified".
fn opening(clause: &[Word<'_>]) -> Option<usize> {
    let at = clause.iter().position(|word| {
        !word.is(Kind::Adverb)
            && !word.among(&["ok", "okay", "great", "perfect", "x"])
            && word.text.is_ascii()
    })?;
    let word = get(clause, at)?;
    if !word.is(Kind::Finished) {
        return None;
    }
    let next = get(clause, at + 1);
    let other = next.is_some_and(|next| {
        next.among(&[
            "at", "to", "against", "relative", "when", "if", "once", "until", "by",
        ]) && !(word.text == "fixed" && next.text == "by")
    });
    // "Complete the form" is an order.
    let order = word.text == "complete" && next.is_some_and(|next| next.text != "and");
    (!other && !order).then_some(at)
}

/// "I've completed reading the file" completes an act, no work.
fn only_an_act(clause: &[Word<'_>], at: usize) -> bool {
    const OF_WORK: &[&str] = &[
        "implementing",
        "refactoring",
        "fixing",
        "porting",
        "migrating",
        "adding",
        "updating",
        "converting",
        "processing",
        "everything",
    ];
    get(clause, at + 1).is_some_and(|word| {
        word.text.ends_with("ing") && word.text.len() > 5 && !word.among(OF_WORK)
    })
}

/// "the bug is fixed", "the task has been completed", "feature complete".
fn predicate(clause: &[Word<'_>]) -> Option<usize> {
    (1..clause.len()).find(|at| {
        let Some(word) = get(clause, *at) else {
            return false;
        };
        if !word.is(Kind::Finished) || only_an_act(clause, *at) {
            return false;
        }
        let before: Vec<&Word<'_>> = clause
            .iter()
            .take(*at)
            .rev()
            .filter(|word| !word.is(Kind::Adverb) || word.text == "been")
            .take(3)
            .collect();
        let Some(nearest) = before.first() else {
            return false;
        };
        let next = get(clause, at + 1);
        let manner = next.is_some_and(|next| next.among(MANNER));
        let perfect = nearest.text == "been" || nearest.among(&["has", "have", "i've", "we've"]);
        let be = nearest.among(&[
            "is",
            "are",
            "it's",
            "that's",
            "everything's",
            "they're",
            "was",
            "were",
            "be",
        ]);
        // "the cache is implemented in b.py" describes; "the bug has been fixed in b.py" claims.
        let bug = clause.iter().take(*at).any(|word| {
            word.among(&[
                "bug", "bugs", "issue", "issues", "problem", "error", "task", "typo", "typos",
            ])
        });
        if nearest.text == "be" {
            return false;
        }
        let noun_before = nearest.is(Kind::Work)
            && !nearest.among(&["it"])
            && next.is_none_or(|next| next.among(&["and", "with", "in"]));
        perfect || (be && (!manner || bug)) || noun_before
    })
}

/// "I fixed", "we've implemented", "I have now completed".
fn first_person(clause: &[Word<'_>]) -> Option<usize> {
    let at = clause
        .iter()
        .position(|word| word.among(&["i", "we", "i've", "we've"]))?;
    let verb = clause
        .iter()
        .skip(at + 1)
        .find(|word| !word.is(Kind::Adverb) && !word.among(&["have", "had"]))?;
    let past = [
        "fixed",
        "implemented",
        "completed",
        "finished",
        "resolved",
        "solved",
    ];
    let of = clause.iter().position(|word| std::ptr::eq(word, verb))?;
    (verb.among(&past) && !only_an_act(clause, of)).then_some(at)
}

/// "successfully updated the config", "completed successfully".
fn successfully(clause: &[Word<'_>]) -> Option<usize> {
    const MADE: &[&str] = &[
        "implemented",
        "completed",
        "fixed",
        "finished",
        "added",
        "created",
        "updated",
        "migrated",
        "refactored",
        "deployed",
        "applied",
        "resolved",
        "built",
        "integrated",
        "merged",
        "installed",
        "configured",
        "converted",
        "generated",
        "removed",
        "renamed",
        "written",
    ];
    let at = clause.iter().position(|word| word.text == "successfully")?;
    let near = |place: Option<usize>| {
        place
            .and_then(|place| clause.get(place))
            .is_some_and(|word| word.among(MADE))
    };
    (near(at.checked_sub(1)) || near(Some(at + 1))).then_some(at)
}

/// "everything works", "it now works", "the export works as expected".
fn works(clause: &[Word<'_>]) -> Option<usize> {
    let at = clause
        .iter()
        .position(|word| word.among(&["works", "working", "work"]))?;
    let word = get(clause, at)?;
    let before = at.checked_sub(1).and_then(|at| clause.get(at));
    let next = get(clause, at + 1);
    let now = before.is_some_and(|word| word.text == "now");
    let all = clause
        .iter()
        .take(at)
        .any(|word| word.among(&["everything", "all", "it", "fix", "feature", "they"]));
    let well = next.is_some_and(|word| {
        word.among(&[
            "now",
            "correctly",
            "properly",
            "fine",
            "again",
            "perfectly",
            "end-to-end",
            "great",
            "well",
        ])
    }) || (next.is_some_and(|word| word.text == "as")
        && get(clause, at + 2).is_some_and(|word| {
            word.among(&["expected", "intended", "designed", "requested", "specified"])
        }));
    let ends = next.is_none_or(|next| next.among(&["and", "with", "in", "on"]));
    let verb = match word.text {
        "works" => now || well || (all && ends),
        "working" => {
            before.is_some_and(|word| word.is(Kind::Be) || word.is(Kind::Adverb)) && (now || well)
        }
        _ => (now || well) && all,
    };
    verb.then(|| at.saturating_sub(1))
}

/// "ready for review", "ready to merge".
fn ready(clause: &[Word<'_>]) -> Option<usize> {
    clause.windows(3).position(|words| match words {
        [ready, link, what] => {
            ready.text == "ready"
                && link.among(&["for", "to"])
                && what.among(&[
                    "review",
                    "merge",
                    "use",
                    "ship",
                    "deploy",
                    "go",
                    "production",
                    "deployment",
                    "release",
                    "merging",
                    "testing",
                    "commit",
                    "be",
                ])
        }
        _ => false,
    })
}

/// "the app no longer crashes".
fn no_longer(clause: &[Word<'_>]) -> Option<usize> {
    clause.windows(3).position(|words| match words {
        [no, longer, verb] => {
            no.text == "no"
                && longer.text == "longer"
                && verb.among(&[
                    "fails", "crashes", "fail", "crash", "occurs", "happens", "throws", "breaks",
                ])
        }
        _ => false,
    })
}

/// "good to go", "all set", "wrapped up", "taken care of", "requirements are met".
fn idiom(clause: &[Word<'_>]) -> Option<usize> {
    const IDIOMS: &[&[&str]] = &[
        &["good", "to", "go"],
        &["all", "set"],
        &["wrapped", "up"],
        &["taken", "care", "of"],
        &["requirements", "are", "met"],
        &["requirements", "are", "satisfied"],
        &["compiles", "and"],
        &["everything", "compiles"],
        &["mission", "accomplished"],
        &["are", "in", "place"],
        &["is", "in", "place"],
    ];
    (0..clause.len()).find(|at| {
        IDIOMS.iter().any(|idiom| {
            idiom
                .iter()
                .enumerate()
                .all(|(step, word)| get(clause, at + step).is_some_and(|found| found.text == *word))
        })
    })
}
