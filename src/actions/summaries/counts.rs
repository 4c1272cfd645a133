//! Counts in one line, and the small readers of numbers.

/// Counts of one line: `2 failed | 10 passed (12)`, `14 examples, 0 failures`, `31 passed in 2.10s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) passed: u32,
    pub(super) failed: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Passed,
    Failed,
    Total,
    Skipped,
    Neutral,
}

fn class(word: &str) -> Option<Word> {
    Some(
        match word
            .trim_end_matches([':', '.'])
            .to_ascii_lowercase()
            .as_str()
        {
            "passed" | "pass" | "passing" | "succeeded" | "successful" => Word::Passed,
            "failed" | "fail" | "failing" | "failures" | "failure" | "error" | "errors" => {
                Word::Failed
            }
            "total" | "tests" | "test" | "examples" | "example" | "runs" | "scenarios"
            | "specs" | "spec" | "doctests" | "doctest" | "properties" | "property" => Word::Total,
            "skipped" | "skip" | "skips" | "ignored" | "deselected" | "todo" | "pending"
            | "disabled" | "excluded" | "canceled" | "cancelled" => Word::Skipped,
            "xfailed" | "xpassed" | "warnings" | "warning" | "measured" | "filtered" | "flaky"
            | "rerun" | "reruns" | "assertions" | "snapshots" | "incomplete" | "risky"
            | "subtests" | "expectations" | "steps" | "omissions" | "notifications"
            | "expect()" | "slow" | "leaky" | "timed" | "selected" | "completed" => Word::Neutral,
            _ => return None,
        },
    )
}

impl Counts {
    /// Reads a line that consists of counts only.
    pub(super) fn read(line: &str) -> Option<Self> {
        let mut counts = Self::default();
        let mut total = None;
        let mut decided = false;
        let mut skipped = false;
        let mut left = 0u32;
        let mut timed = false;
        let mut says_passed = false;
        let alone = !line.contains([',', '|', ';']);
        for piece in line.split([',', '|', ';']) {
            let piece = piece.trim().trim_end_matches('.');
            let duration = piece.starts_with("finished in")
                || piece.starts_with("Duration")
                || piece.starts_with("duration");
            if piece.is_empty() || duration {
                continue;
            }
            if alone && !piece.starts_with(|c: char| c.is_ascii_digit()) {
                return None;
            }
            let (number, word, tail) = piece_of(piece)?;
            timed |= tail;
            match word {
                Word::Passed => {
                    counts.passed = counts.passed.saturating_add(number);
                    decided = true;
                    says_passed = true;
                }
                Word::Failed => {
                    counts.failed = counts.failed.saturating_add(number);
                    decided = true;
                }
                Word::Total => total = Some(number.saturating_add(total.unwrap_or(0))),
                Word::Skipped => {
                    skipped = true;
                    left = left.saturating_add(number);
                }
                Word::Neutral => {}
            }
        }
        if !decided {
            // `14 deselected in 0.05s`: a summary, and nothing ran.
            return (skipped && timed).then_some(counts);
        }
        if counts == Self::default() && total.is_none() && !says_passed && !skipped {
            // `0 failed` by itself is no total.
            return None;
        }
        if counts.passed == 0
            && let Some(total) = total
        {
            // `14 examples, 0 failures`.
            counts.passed = total.saturating_sub(counts.failed).saturating_sub(left);
        }
        Some(counts)
    }
}

/// One count: its number, its word, and whether a duration follows.
fn piece_of(piece: &str) -> Option<(u32, Word, bool)> {
    let mut words = piece.split_whitespace();
    let first = words.next()?;
    let second = words.next()?;
    if let Ok(number) = first.parse::<u32>() {
        let mut word = class(second)?;
        let mut timed = false;
        for tail in words {
            let bare = tail.trim_matches(['(', ')', '[', ']']);
            let duration = bare.starts_with(|c: char| c.is_ascii_digit())
                || matches!(bare, "in" | "s" | "ms" | "seconds" | "second");
            if !duration
                && class(bare).is_none()
                && !matches!(
                    bare,
                    "out" | "of" | "total" | "passed" | "run" | "took" | "occurred" | "outside"
                )
            {
                return None;
            }
            timed |= bare == "in";
            // `9 tests passed`.
            match class(bare) {
                Some(more @ (Word::Passed | Word::Failed | Word::Skipped))
                    if word == Word::Total =>
                {
                    word = more;
                }
                _ => {}
            }
        }
        return Some((number, word, timed));
    }
    // `Failures: 1`.
    let number = second.parse::<u32>().ok()?;
    // `Failures: 1`, `succeeded 12`.
    words
        .next()
        .is_none()
        .then_some((number, class(first)?, false))
}

pub(super) fn leading_number(text: &str) -> Option<u32> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    text.get(..end)?.parse().ok()
}

pub(super) fn number_after(text: &str, label: &str) -> Option<u32> {
    let (_, rest) = text.split_once(label)?;
    leading_number(rest.trim_start())
}

/// The number that stands before a word, at the beginning.
pub(super) fn number_before(text: &str, word: &str) -> Option<u32> {
    let (number, rest) = text.split_once(' ')?;
    rest.starts_with(word)
        .then(|| number.parse().ok())
        .flatten()
}

/// Drops terminal escape sequences.
pub(super) fn without_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            out.push(c);
            continue;
        }
        if chars.next() == Some('[') {
            for c in chars.by_ref() {
                if c.is_ascii_alphabetic() {
                    break;
                }
            }
        }
    }
    out
}
