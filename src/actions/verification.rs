//! What a check showed: exit status first, the runner's own summary where the status is hidden or missing.
//!
//! Invariant: a pass is never inferred from silence. What nobody states is [`Verdict::Unknown`], and what a
//! pipe hides is [`Verdict::Masked`] until the summary settles it.

use crate::model::{CheckKind, Verdict, Verification};

use super::runners::Check;
use super::summaries::{self, Summary};
use super::{CallFacts, Excerpt};

/// Where and how a check ran.
#[derive(Clone, Debug, Default)]
pub(super) struct Circumstances {
    /// Normalised directory; `None` when unknown.
    pub(super) cwd: Option<String>,
    /// The exit status is hidden.
    pub(super) masked: bool,
    /// It runs on in the background.
    pub(super) background: bool,
    /// It ran while the edits were put aside.
    pub(super) aside: bool,
}

/// Judges a check that a shell command ran.
pub(super) fn of_command(check: &Check, how: Circumstances, call: &CallFacts<'_>) -> Verification {
    let masked = how.masked || how.background;
    let summary = call
        .answer
        .as_ref()
        .map(summaries::read)
        .unwrap_or_default();
    let summary = match check.kind {
        CheckKind::Static => summary.of_checker(),
        CheckKind::Tests => summary,
    };
    let verdict = if check.runner == "ci" {
        ci_verdict(&summary, call)
    } else if masked {
        when_masked(&summary, check, how.background)
    } else {
        when_visible(&summary, check, call)
    };
    verification(
        check.runner.as_str(),
        check.kind,
        &summary,
        verdict,
        how,
        check.partial,
    )
}

/// Judges a call of a tool whose purpose is to check.
pub(super) fn of_tool(call: &CallFacts<'_>, cwd: Option<String>, partial: bool) -> Verification {
    let words = super::roles::words(call.tool);
    let is = |list: &[&str]| words.iter().any(|w| list.contains(&w.as_str()));
    let kind = if is(&[
        "lint",
        "typecheck",
        "type",
        "linter",
        "diagnostics",
        "errors",
        "format",
    ]) && !is(&["test", "tests", "pytest"])
    {
        CheckKind::Static
    } else {
        CheckKind::Tests
    };
    let summary = call
        .answer
        .as_ref()
        .map(summaries::read)
        .unwrap_or_default();
    let summary = match kind {
        CheckKind::Static => summary.of_checker(),
        CheckKind::Tests => summary,
    };
    let verdict = tool_verdict(&summary, call);
    let how = Circumstances {
        cwd,
        ..Circumstances::default()
    };
    verification(call.tool, kind, &summary, verdict, how, partial)
}

fn verification(
    runner: &str,
    kind: CheckKind,
    summary: &Summary,
    verdict: Verdict,
    how: Circumstances,
    partial: bool,
) -> Verification {
    Verification {
        runner: runner.into(),
        cwd: how.cwd.map(Into::into),
        kind,
        verdict,
        passed: summary.passed,
        failed: summary.failed,
        masked: how.masked || how.background,
        background: how.background,
        partial,
        aside: how.aside,
    }
}

/// Judges a call of a tool that reads the state of continuous integration; `None` where it does not say it.
pub(super) fn of_ci(call: &CallFacts<'_>, cwd: Option<String>) -> Option<Verification> {
    let verdict = ci_verdict(&Summary::default(), call);
    let how = Circumstances {
        cwd,
        ..Circumstances::default()
    };
    (verdict != Verdict::Unknown).then(|| {
        let nothing = Summary::default();
        verification("ci", CheckKind::Tests, &nothing, verdict, how, false)
    })
}

/// Judges what an agent that was asked answers: `None` unless it shows a runner's summary. Its own calls may not be
/// traced.
pub(super) fn of_delegate(call: &CallFacts<'_>, cwd: Option<String>) -> Option<Verification> {
    let answer = call.answer.as_ref()?;
    let summary = Summary {
        passed: counted(answer.front, &["passed", "passing"]),
        failed: counted(answer.front, &["failed", "failing", "failures"]),
        ..Summary::default()
    };
    let verdict = if summary.is_red() {
        Verdict::Failed
    } else if summary.is_green() {
        Verdict::PassedBySummary
    } else {
        return None;
    };
    let how = Circumstances {
        cwd,
        ..Circumstances::default()
    };
    Some(verification(
        call.tool,
        CheckKind::Tests,
        &summary,
        verdict,
        how,
        false,
    ))
}

/// The largest number that stands before one of these words in prose: `31 passed`, `31 tests passed`.
fn counted<N: std::str::FromStr + Ord>(text: &str, after: &[&str]) -> Option<N> {
    let bare = |word: &'_ str| -> String {
        word.trim_matches(|c: char| !c.is_alphanumeric())
            .to_lowercase()
    };
    let words: Vec<String> = text.split_whitespace().take(2000).map(bare).collect();
    let told = words.iter().enumerate().filter_map(|(at, word)| {
        let number = word.parse().ok()?;
        let mut next = words.get(at + 1)?;
        if matches!(next.as_str(), "test" | "tests") {
            next = words.get(at + 2)?;
        }
        after.contains(&next.as_str()).then_some(number)
    });
    told.max()
}

/// The texts in a line that are values of JSON members.
fn json_values(line: &str) -> impl Iterator<Item = &str> {
    let mut before = "";
    line.split('"').filter(move |piece| {
        let value = before.trim_end().ends_with(':');
        before = piece;
        value
    })
}

/// A status read from continuous integration: green only if all of it is.
fn ci_verdict(summary: &Summary, call: &CallFacts<'_>) -> Verdict {
    let (mut passed, mut open) = (false, false);
    if let Some(answer) = &call.answer {
        for line in answer.front.lines().chain(answer.back.lines()).take(2000) {
            let cells = line.split('\t').map(str::trim).chain(json_values(line));
            for cell in cells {
                match cell {
                    "fail" | "failure" | "failed" | "cancelled" | "timed_out" => {
                        return Verdict::Failed;
                    }
                    "pass" | "success" | "passed" | "neutral" => passed = true,
                    "pending" | "queued" | "in_progress" | "waiting" | "running" => open = true,
                    _ => {}
                }
            }
            let line = line.trim_start();
            if line.starts_with(['\u{2717}', '\u{2718}']) || line.starts_with("X ") {
                return Verdict::Failed;
            }
            passed |= line.starts_with('\u{2713}');
        }
    }
    if summary.is_red() {
        Verdict::Failed
    } else if open || call.error_flag == Some(true) || call.exit_code.is_some_and(|code| code != 0)
    {
        Verdict::Unknown
    } else if passed || summary.green {
        Verdict::Passed
    } else {
        Verdict::Unknown
    }
}

fn when_masked(summary: &Summary, check: &Check, background: bool) -> Verdict {
    if background {
        // Whatever was printed so far is no end.
        return Verdict::Masked;
    }
    if summary.is_red() {
        return Verdict::Failed;
    }
    if summary.is_green() {
        return Verdict::PassedBySummary;
    }
    if !summary.is_empty_run() {
        return Verdict::Masked;
    }
    // One of several programs had no tests, and no other failed before it: whoever stops at the first
    // failure would not have come here. With a filter it may be that nothing ran at all.
    match summary.per_program {
        true if !check.partial && check.runner == "cargo test" => Verdict::PassedBySummary,
        _ => Verdict::ZeroTests,
    }
}

fn when_visible(summary: &Summary, check: &Check, call: &CallFacts<'_>) -> Verdict {
    match call.exit_code {
        Some(0) if summary.is_empty_run() => Verdict::ZeroTests,
        Some(0) => Verdict::Passed,
        // pytest: no tests collected.
        Some(5) if check.runner == "pytest" => Verdict::ZeroTests,
        Some(4) if check.runner == "cargo nextest" => Verdict::ZeroTests,
        // Not found, not executable: nothing ran.
        Some(126 | 127) => Verdict::ZeroTests,
        // A runner that watches prints its summary and is stopped then.
        Some(124 | 130 | 137 | 143) if summary.is_green() => Verdict::PassedBySummary,
        Some(124 | 130 | 137 | 143) if !summary.is_red() => Verdict::Stopped,
        Some(_) if summary.missing => Verdict::ZeroTests,
        Some(_) if summary.none_ran && !summary.is_red() => Verdict::ZeroTests,
        Some(_) => Verdict::Failed,
        None => stated(summary, call.error_flag),
    }
}

/// No exit code was captured.
fn stated(summary: &Summary, error_flag: Option<bool>) -> Verdict {
    if summary.is_red() {
        Verdict::Failed
    } else if summary.is_empty_run() {
        Verdict::ZeroTests
    } else if summary.is_green() {
        // Before the flag: `login_failed PASSED` is enough to make an answer look like an error.
        Verdict::Passed
    } else if summary.missing {
        Verdict::ZeroTests
    } else if error_flag == Some(true) {
        Verdict::Failed
    } else {
        Verdict::Unknown
    }
}

fn tool_verdict(summary: &Summary, call: &CallFacts<'_>) -> Verdict {
    match call.exit_code {
        Some(0) if summary.is_empty_run() => return Verdict::ZeroTests,
        Some(0) => return Verdict::Passed,
        Some(_) => return Verdict::Failed,
        None => {}
    }
    let verdict = stated(summary, call.error_flag);
    if verdict != Verdict::Unknown {
        return verdict;
    }
    match call.answer.as_ref().map(short_answer) {
        Some(Some(true)) => Verdict::Passed,
        Some(Some(false)) => Verdict::Failed,
        _ => Verdict::Unknown,
    }
}

/// Answers of checking tools that are no runner's summary: `ok`, `5/5`, `{"success": true}`, `FAILED: ...`.
fn short_answer(answer: &Excerpt<'_>) -> Option<bool> {
    let text = answer.front.trim();
    if text.len() > 4096 {
        return None;
    }
    if let Some((part, whole)) = text.split_once('/')
        && let (Ok(part), Ok(whole)) = (part.trim().parse::<u32>(), whole.trim().parse::<u32>())
    {
        return (whole > 0).then_some(part == whole);
    }
    let lower = text.to_lowercase();
    let compact: String = lower.chars().filter(|c| !c.is_whitespace()).collect();
    for (name, verdict) in [("success", true), ("passed", true), ("ok", true)] {
        if compact.contains(&format!("\"{name}\":true")) {
            return Some(verdict);
        }
        if compact.contains(&format!("\"{name}\":false")) {
            return Some(!verdict);
        }
    }
    let first = lower
        .split(|c: char| !c.is_alphanumeric())
        .find(|w| !w.is_empty())?;
    match first {
        "ok" | "passed" | "pass" | "success" | "green" => Some(true),
        "failed" | "fail" | "failure" | "red" => Some(false),
        _ if lower.starts_with("all tests pass")
            || lower.starts_with("all checks pass")
            || lower.starts_with("no errors") =>
        {
            Some(true)
        }
        _ => None,
    }
}
