//! Reads what test runners say at their end. Lines are judged by their whole shape: a count beside a known
//! word, a fixed phrase. A test that is called `login_failed` or a `0 failed` is no failure.
//!
//! Invariant: a summary is only what the runner itself states as a total; no line is taken in part.

mod counts;
mod phrases;
mod reader;
mod totals;

use super::Excerpt;
use reader::Reader;

/// Longest line that is looked at, in bytes.
const MAX_LINE: usize = 400;

/// Most lines that are looked at from each end.
const MAX_LINES: usize = 4000;

/// What the output of a check states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Summary {
    /// Tests passed.
    pub(super) passed: Option<u32>,
    /// Tests failed, errors included.
    pub(super) failed: Option<u32>,
    /// It states that no test ran.
    pub(super) none_ran: bool,
    /// It states success without a count.
    pub(super) green: bool,
    /// It states failure without a count.
    pub(super) red: bool,
    /// It states that it built or checked without findings: says nothing of tests.
    pub(super) clean: bool,
    /// It states findings of a checker: says nothing of tests.
    pub(super) dirty: bool,
    /// The runner is not there: nothing ran.
    pub(super) missing: bool,
    /// Counts come once for each of several programs, so that a cut output may lack some.
    pub(super) per_program: bool,
}

impl Summary {
    /// What it states of a check that is no test: findings count.
    pub(super) fn of_checker(mut self) -> Self {
        self.green |= self.clean;
        self.red |= self.dirty;
        self
    }

    /// Whether it states a failure.
    pub(super) fn is_red(&self) -> bool {
        self.red || self.failed.is_some_and(|n| n > 0)
    }

    /// Whether it states success of at least one test, or success as such.
    pub(super) fn is_green(&self) -> bool {
        !self.is_red() && (self.green || self.passed.is_some_and(|n| n > 0))
    }

    /// Whether it states that nothing ran.
    pub(super) fn is_empty_run(&self) -> bool {
        let zero = self.passed == Some(0) && self.failed.unwrap_or(0) == 0;
        !self.is_red() && !self.is_green() && (self.none_ran || zero)
    }
}

/// Reads the summary of an answer.
pub(super) fn read(answer: &Excerpt<'_>) -> Summary {
    let mut reader = Reader::default();
    for line in answer
        .front
        .lines()
        .take(MAX_LINES)
        .chain(answer.back.lines().take(MAX_LINES))
    {
        if line.len() <= MAX_LINE {
            reader.line(line);
        }
    }
    reader.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Summary {
        read(&Excerpt {
            front: text,
            back: "",
        })
    }

    const COUNTS: &[(&str, u32, u32)] = &[
        ("...\n31 passed in 2.10s", 31, 0),
        ("== 2 failed, 10 passed, 1 skipped in 1.4s ==", 10, 2),
        (
            "test_login_failed_shows_error PASSED\n2 passed in 0.3s",
            2,
            0,
        ),
        ("1 error in 0.12s", 0, 1),
        (
            "test result: ok. 84 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.1s",
            84,
            0,
        ),
        (
            "test result: ok. 3 passed; 0 failed\ntest result: FAILED. 1 passed; 2 failed",
            4,
            2,
        ),
        (
            "Summary [   0.31s] 12 tests run: 11 passed, 1 failed, 0 skipped",
            11,
            1,
        ),
        (
            "Test Suites: 1 failed, 3 total\nTests:       3 failed, 12 passed, 15 total",
            12,
            3,
        ),
        (
            " Test Files  4 passed (4)\n      Tests  21 passed (21)",
            21,
            0,
        ),
        ("Tests  2 failed | 10 passed (12)", 10, 2),
        ("  12 passing (30ms)\n  2 failing", 12, 2),
        ("Ran 9 tests in 0.004s\n\nOK", 9, 0),
        (
            "Ran 9 tests in 0.004s\n\nFAILED (failures=1, errors=1)",
            7,
            2,
        ),
        ("14 examples, 0 failures", 14, 0),
        ("14 examples, 2 failures, 1 pending", 11, 2),
        (
            "10 runs, 20 assertions, 1 failures, 0 errors, 0 skips",
            9,
            1,
        ),
        (
            "[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 1\n[INFO] Tests run: 9, Failures: 0, Errors: 0, Skipped: 1\n[INFO] BUILD SUCCESS",
            8,
            0,
        ),
        (
            "Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3, Duration: 12 ms - a.dll (net8.0)",
            3,
            0,
        ),
        ("OK (12 tests, 30 assertions)", 12, 0),
        ("100% tests passed, 0 tests failed out of 12", 12, 0),
        ("67% tests passed, 1 tests failed out of 3", 2, 1),
        ("# tests 3\n# pass 3\n# fail 0", 3, 0),
        ("PASS: 31\nFAIL: 0", 31, 0),
        (" 5 pass\n 1 fail", 5, 1),
        ("ok | 5 passed | 0 failed (12ms)", 5, 0),
        (
            "Executed 5 tests, with 1 failure (0 unexpected) in 0.01 seconds",
            4,
            1,
        ),
        ("Executed 3 out of 3 tests: 3 tests pass.", 3, 0),
        ("7 tests completed, 2 failed", 5, 2),
        (
            "[info] Passed: Total 12, Failed 0, Errors 0, Passed 12\n[success] Total time: 3 s",
            12,
            0,
        ),
        (
            "[error] Failed: Total 12, Failed 2, Errors 0, Passed 10",
            10,
            2,
        ),
        (
            "Build Summary: 3/3 steps succeeded; 12/12 tests passed",
            12,
            0,
        ),
        (
            "\u{1b}[32m\u{1b}[1m3 passed\u{1b}[0m\u{1b}[32m in 0.01s\u{1b}[0m",
            3,
            0,
        ),
    ];

    #[test]
    fn counts_of_many_runners() {
        for &(text, passed, failed) in COUNTS {
            let summary = of(text);
            assert_eq!(
                (summary.passed, summary.failed),
                (Some(passed), Some(failed)),
                "{text}"
            );
        }
    }

    #[test]
    fn empty_runs() {
        for text in [
            "14 deselected in 0.05s",
            "no tests ran in 0.01s",
            "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 84 filtered out",
            "No tests found, exiting with code 0",
            "Ran 0 tests in 0.000s\n\nNO TESTS RAN",
            "?   \tshop/cart\t[no test files]",
            "ok  \tshop\t0.01s [no tests to run]",
            "testing: warning: no tests to run\nPASS\nok  \tshop\t0.01s [no tests to run]",
            "3 skipped in 0.02s",
            "0 examples, 0 failures",
            "No tests executed!",
        ] {
            assert!(of(text).is_empty_run(), "{text}: {:?}", of(text));
        }
    }

    #[test]
    fn words_are_not_summaries() {
        for text in [
            "3 failed attempts are counted",
            "0 failed",
            "login failed",
            "the tests passed",
            "port 8080 in use",
            "12 files changed",
            "error: 3",
        ] {
            assert!(
                !of(text).is_red() && !of(text).is_green(),
                "{text}: {:?}",
                of(text)
            );
        }
    }
}
