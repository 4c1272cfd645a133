//! Phrases by which runners, builders and checkers state how they ended.
//!
//! Invariant: a phrase is one that the program itself prints about the whole of its run; a line that merely
//! holds a word of it means nothing.

use super::counts::leading_number;

/// What a phrase states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// The tests passed.
    Green,
    /// Something failed.
    Red,
    /// No test ran.
    NoneRan,
    /// Built, or checked without findings; says nothing of tests.
    Clean,
    /// A checker found something; says nothing of tests.
    Dirty,
    /// The runner, or its target, is not there.
    Missing,
}

use Sign::{Clean, Dirty, Green, Missing, NoneRan, Red};

/// Lines that are the phrase.
const WHOLE: &[(Sign, &[&str])] = &[
    (
        Green,
        &[
            "BUILD SUCCESS",
            "PASS",
            "** TEST SUCCEEDED **",
            "All checks were successful",
            "congratulations :)",
            "Test Run Successful.",
            "All tests successful.",
            "Result: PASS",
            "All tests passed.",
            "All tests passed!",
        ],
    ),
    (
        Red,
        &[
            "BUILD FAILURE",
            "BUILD FAILED",
            "FAIL",
            "** TEST FAILED **",
            "Some checks were not successful",
            "Test run failed.",
            "Test Run Failed.",
            "Result: FAIL",
            "FAILURES!",
            "ERRORS!",
            "Build FAILED.",
            "Some tests failed.",
        ],
    ),
    (
        NoneRan,
        &[
            "NO TESTS RAN",
            "No tests executed!",
            "No tests were found!!!",
            "No test files found",
            "no tests to run",
            "error: no tests to run",
        ],
    ),
    (Clean, &["All checks passed!", "0 issues.", "0 problems"]),
];

/// Lines that begin with the phrase.
const BEGINNINGS: &[(Sign, &[&str])] = &[
    (
        Green,
        &["BUILD SUCCESSFUL", "congratulations :)", "OK, but "],
    ),
    (
        Red,
        &[
            "BUILD FAILED",
            "error: could not compile",
            "error: test failed",
            "error: test run failed",
            "evaluation failed",
            "npm ERR! Test failed",
            "npm error Lifecycle script `test` failed",
            "error Command failed with exit code",
            "ELIFECYCLE",
            "Build failed with ",
            "[error] (Test / ",
            "Errors while running CTest",
        ],
    ),
    (
        NoneRan,
        &[
            "No tests found",
            "No test files found",
            "No test suite found",
            "No tests ran",
            "No test is available in",
            "No test matches the given",
            "ERROR: No test targets were found",
        ],
    ),
    (
        Clean,
        &[
            "Success: no issues found",
            "Finished `",
            "Finished dev [",
            "Finished release [",
            "Build succeeded",
            "All matched files use Prettier",
            "no issues found",
        ],
    ),
    (Dirty, &["[warn] Code style issues", "would reformat "]),
];

/// What a line states, colours and white space at its ends gone; `None` when it is no such phrase.
pub(super) fn sign(line: &str) -> Option<Sign> {
    let whole = WHOLE.iter().find(|(_, lines)| lines.contains(&line));
    let begun = || {
        BEGINNINGS
            .iter()
            .find(|(_, lines)| lines.iter().any(|start| line.starts_with(start)))
    };
    whole
        .or_else(begun)
        .map(|(sign, _)| *sign)
        .or_else(|| maker(line))
        .or_else(|| checker(line))
        .or_else(|| runner(line))
}

/// `make: *** [test] Error 1`, `error: Recipe test failed`, `nox > Session tests was successful.`
fn maker(line: &str) -> Option<Sign> {
    if let Some((program, rest)) = line.split_once(": *** ")
        && program.trim_start_matches('g').starts_with("make")
        && program.len() < 12
    {
        return Some(if rest.starts_with("No rule to make target") {
            Missing
        } else {
            Red
        });
    }
    if let Some(rest) = line.strip_prefix("nox > Session ") {
        return if rest.ends_with("was successful.") {
            Some(Green)
        } else if rest.contains(" failed") {
            Some(Red)
        } else {
            None
        };
    }
    let recipe = (line.starts_with("error: Recipe ") || line.starts_with("error: recipe "))
        && line.contains(" failed");
    recipe.then_some(Red)
}

/// Linters, type checkers and hooks.
fn checker(line: &str) -> Option<Sign> {
    // `ruff.......................Failed` of pre-commit.
    if line.contains("....") {
        return match line.rsplit(['.', ')']).next() {
            Some("Passed") => Some(Clean),
            Some("Failed") => Some(Red),
            _ => None,
        };
    }
    if let Some(rest) = line.strip_prefix("Found ") {
        let number = leading_number(rest)?;
        let errors = rest.contains(" error");
        let settled = number == 0 || rest.contains(" 0 remaining");
        return errors.then_some(if settled { Clean } else { Dirty });
    }
    if line.contains(": error TS") {
        return Some(Dirty);
    }
    if let Some((_, rest)) = line.split_once(" files inspected, ") {
        return Some(if rest.starts_with("no offenses") {
            Clean
        } else {
            Dirty
        });
    }
    let problems = line
        .strip_prefix(['\u{2716}', '\u{2717}', 'x'])
        .map_or(line, str::trim_start);
    if let Some((number, rest)) = problems.split_once(" problem") {
        let number = number.parse::<u32>().ok()?;
        let no_errors = number == 0 || rest.contains("(0 errors");
        return Some(if no_errors { Clean } else { Dirty });
    }
    // pyright: `0 errors, 0 warnings, 0 informations`.
    if line.contains(" warning") && line.contains(" information") {
        return Some(if leading_number(line)? == 0 {
            Clean
        } else {
            Dirty
        });
    }
    let issues = line.split_once(" issues:").map(|(number, _)| number);
    issues
        .filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
        .map(|_| Dirty)
}

/// Runners whose total is a sentence.
fn runner(line: &str) -> Option<Sign> {
    if line.contains("No module named ")
        || line.contains("command not found")
        || line.contains("is not recognized as")
    {
        // A traceback inside a test names modules as well; only without any count does it mean the runner.
        return Some(Missing);
    }
    if line.contains("All specs passed!") || line.ends_with(": All tests passed!") {
        return Some(Green);
    }
    if line.ends_with(": Some tests failed.")
        || (line.contains(" of ") && line.contains(" failed (") && line.contains("%)"))
    {
        return Some(Red);
    }
    None
}
