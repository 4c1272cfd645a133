//! Work that the writer still has before him: "I need to remove the debug print", "Now I'll run the tests".
//!
//! Invariant: only a statement in the first person about what the writer does next; offers, remarks and wishes
//! are none.

/// What may stand before it.
const FILLERS: &[&str] = &[
    "now",
    "next",
    "so",
    "then",
    "wait",
    "but",
    "and",
    "also",
    "however",
    "first",
    "finally",
    "ok",
    "okay",
    "still",
    "oh",
    "hmm",
    "actually",
    "before submitting",
    "before that",
];

/// How it begins; what follows is what is still to do.
const OPENINGS: &[&str] = &[
    "i need to ",
    "i still need to ",
    "i still have to ",
    "i have to ",
    "i must ",
    "i should ",
    "we need to ",
    "we still need to ",
    "i'll now ",
    "i will now ",
    "i am going to ",
    "i'm going to ",
    "let me ",
    "i'll ",
    "i will ",
];

/// Openings that offer and remark as often as they announce: only these words make them work ahead.
const LOOSE: &[&str] = &[
    "i'll ",
    "i will ",
    "let me ",
    "i should ",
    "i must ",
    "i have to ",
];

/// Work that an agent announces.
const WORK: &[&str] = &[
    "run",
    "rerun",
    "re-run",
    "remove",
    "delete",
    "clean",
    "verify",
    "check",
    "test",
    "double-check",
    "fix",
    "update",
    "continue",
    "proceed",
    "implement",
    "write",
    "create",
    "edit",
    "revert",
    "undo",
    "try",
    "restore",
    "look",
    "inspect",
    "make",
    "apply",
    "finish",
    "rebuild",
    "install",
    "confirm",
    "validate",
    "refactor",
    "add",
];

/// Whether a sentence in lower case announces work of the writer's own.
pub(super) fn lies_ahead(sentence: &str) -> bool {
    let mut rest = sentence.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    while let Some(after) = FILLERS.iter().find_map(|filler| {
        let after = rest.strip_prefix(filler)?;
        after
            .starts_with([' ', ','])
            .then(|| after.trim_start_matches([' ', ',']))
    }) {
        rest = after;
    }
    let Some(opening) = OPENINGS.iter().find(|opening| rest.starts_with(**opening)) else {
        return false;
    };
    let todo = rest.get(opening.len()..).unwrap_or_default();
    let todo = todo.strip_prefix("also ").unwrap_or(todo);
    let todo = todo.strip_prefix("now ").unwrap_or(todo);
    let verb = todo.split([' ', ',', '.', '`']).next().unwrap_or_default();
    if LOOSE.contains(opening) {
        return WORK.contains(&verb);
    }
    // "I need to know which one you want", "we need to be careful".
    !matches!(
        verb,
        "know" | "be" | "have" | "note" | "mention" | "say" | "ask" | "stress" | "hear"
    )
}
