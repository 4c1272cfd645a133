//! Reads what test runners say at their end. Lines are judged by their whole shape: a count beside a known
//! word, a fixed phrase. A test that is called `login_failed` or a `0 failed` is no failure.
//!
//! Invariant: a summary is only what the runner itself states as a total; no line is taken in part.

use super::Excerpt;

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
    /// The runner is not there: nothing ran.
    pub(super) missing: bool,
    /// Counts come once for each of several programs, so that a cut output may lack some.
    pub(super) per_program: bool,
}

impl Summary {
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

#[derive(Default)]
struct Reader {
    summary: Summary,
    /// `Ran N tests` of unittest, until its `OK`.
    ran: Option<u32>,
    /// Greatest of the totals that Maven prints again and again.
    maven: Option<(u32, u32)>,
    tap_pass: Option<u32>,
    tap_fail: Option<u32>,
    go_ok: u32,
    go_empty: u32,
}

impl Reader {
    fn line(&mut self, raw: &str) {
        let plain;
        let line = if raw.contains('\u{1b}') {
            plain = without_escapes(raw);
            plain.trim()
        } else {
            raw.trim()
        };
        if line.is_empty() {
            return;
        }
        let line = ["[INFO] ", "[ERROR] ", "[WARNING] "]
            .into_iter()
            .find_map(|p| line.strip_prefix(p))
            .unwrap_or(line)
            .trim();
        let _ = self.fixed(line) || self.labelled(line) || self.go(line) || self.plain_counts(line);
    }

    /// Phrases that mean one thing.
    fn fixed(&mut self, line: &str) -> bool {
        let summary = &mut self.summary;
        match line {
            "BUILD SUCCESS"
            | "PASS"
            | "** TEST SUCCEEDED **"
            | "All checks passed!"
            | "All checks were successful"
            | "congratulations :)" => {
                summary.green = true;
            }
            "BUILD FAILURE"
            | "BUILD FAILED"
            | "FAIL"
            | "** TEST FAILED **"
            | "Some checks were not successful"
            | "Test run failed." => {
                summary.red = true;
            }
            "Test Run Successful." => summary.green = true,
            "Test Run Failed." => summary.red = true,
            "OK" => match self.ran.take() {
                Some(ran) => self.add(ran, 0),
                None => self.summary.green = true,
            },
            "NO TESTS RAN"
            | "No tests executed!"
            | "No tests were found!!!"
            | "No test files found" => summary.none_ran = true,
            _ => return self.beginning(line),
        }
        true
    }

    fn beginning(&mut self, line: &str) -> bool {
        let starts = |text: &str| line.starts_with(text);
        let summary = &mut self.summary;
        if starts("BUILD SUCCESSFUL") || starts("Success: no issues found") {
            summary.green = true;
        } else if starts("BUILD FAILED")
            || starts("error: could not compile")
            || starts("error: test failed")
            || starts("evaluation failed")
        {
            summary.red = true;
        } else if starts("No tests found")
            || starts("No test files found")
            || starts("No test suite found")
            || starts("No tests ran")
        {
            summary.none_ran = true;
        } else if line.contains("No module named ")
            || line.contains("command not found")
            || line.contains("is not recognized as")
        {
            // A traceback inside a test names modules as well; only without any count does it mean the runner.
            summary.missing = true;
        } else if let Some(rest) = line.strip_prefix("OK (") {
            // unittest: `OK (skipped=1)`; PHPUnit: `OK (12 tests, 30 assertions)`.
            let ran = self.ran.take().or_else(|| number_before(rest, "test"));
            match ran {
                Some(ran) => self.add(
                    ran.saturating_sub(number_after(rest, "skipped=").unwrap_or(0)),
                    0,
                ),
                None => self.summary.green = true,
            }
        } else if let Some(rest) = line.strip_prefix("FAILED (") {
            let failed = number_after(rest, "failures=").unwrap_or(0)
                + number_after(rest, "errors=").unwrap_or(0);
            let ran = self.ran.take().unwrap_or(0);
            self.add(ran.saturating_sub(failed), failed.max(1));
        } else if let Some(rest) = line.strip_prefix("Ran ")
            && rest.contains(" test")
        {
            let ran = leading_number(rest);
            self.summary.none_ran |= ran == Some(0);
            self.ran = ran.filter(|n| *n > 0);
        } else {
            return false;
        }
        true
    }

    /// `label: counts`.
    fn labelled(&mut self, line: &str) -> bool {
        if let Some(rest) = line.strip_prefix("test result:") {
            let rest = rest.trim_start();
            let red = rest.starts_with("FAILED");
            let counts = rest
                .split_once('.')
                .and_then(|(_, tail)| Counts::read(tail));
            self.summary.per_program = true;
            self.summary.red |= red;
            if let Some(counts) = counts {
                self.add(counts.passed, counts.failed);
            }
            return true;
        }
        if let Some(rest) = line.strip_prefix("Tests run:") {
            // Maven and JUnit print one for each class and one for all.
            let total = leading_number(rest.trim_start()).unwrap_or(0);
            let failed = number_after(rest, "Failures: ").unwrap_or(0)
                + number_after(rest, "Errors: ").unwrap_or(0);
            let skipped = number_after(rest, "Skipped: ").unwrap_or(0);
            let passed = total.saturating_sub(failed).saturating_sub(skipped);
            let (most, worst) = self.maven.unwrap_or_default();
            self.maven = Some((most.max(passed), worst.max(failed)));
            return true;
        }
        if let Some(rest) = line
            .strip_prefix("Summary [")
            .and_then(|r| r.split_once(']'))
            .map(|(_, r)| r)
        {
            let counts = rest
                .split_once(':')
                .and_then(|(_, tail)| Counts::read(tail));
            return self.counts(counts);
        }
        if line.starts_with("Test Suites:")
            || line.starts_with("Test Files")
            || line.starts_with("Snapshots:")
        {
            return true;
        }
        if let Some((passed, rest)) = line.split_once("% tests passed,") {
            // CTest: `100% tests passed, 0 tests failed out of 12`.
            let failed = leading_number(rest.trim_start()).unwrap_or(0);
            let total = number_after(rest, "out of ").unwrap_or(0);
            if leading_number(passed).is_some() {
                self.add(total.saturating_sub(failed), failed);
            }
            return true;
        }
        if line.starts_with("Passed!") || line.starts_with("Failed!") {
            let failed = number_after(line, "Failed:").unwrap_or(0);
            self.add(number_after(line, "Passed:").unwrap_or(0), failed);
            return true;
        }
        if let Some(rest) = line.strip_prefix("Executed ") {
            return self.executed(rest);
        }
        self.tap(line)
    }

    /// XCTest: `5 tests, with 0 failures (...)`; Bazel: `3 out of 3 tests: 3 tests pass.`.
    fn executed(&mut self, rest: &str) -> bool {
        if let Some((total, tail)) = rest.split_once(", with ") {
            let failed = leading_number(tail).unwrap_or(0);
            let total = leading_number(total).unwrap_or(0);
            self.add(total.saturating_sub(failed), failed);
            return true;
        }
        if let Some((_, tail)) = rest.split_once(": ") {
            let passed = number_before(tail, "test")
                .filter(|_| tail.contains("pass"))
                .unwrap_or(0);
            let failed = tail
                .split([',', '.', ';'])
                .filter(|p| p.contains("fail"))
                .find_map(|p| p.split_whitespace().find_map(|w| w.parse().ok()));
            self.add(passed, failed.unwrap_or(0));
            return true;
        }
        false
    }

    /// `# pass 3`, `ℹ fail 0`, `# PASS:  31`.
    fn tap(&mut self, line: &str) -> bool {
        let line = line.trim_start_matches(['#', '\u{2139}', ' ']);
        let mut words = line.split_whitespace();
        let (Some(word), Some(number), None) = (words.next(), words.next(), words.next()) else {
            return false;
        };
        let Ok(number) = number.parse::<u32>() else {
            return false;
        };
        match word.trim_end_matches(':') {
            "pass" | "PASS" | "passed" | "Passed" => {
                self.tap_pass = Some(self.tap_pass.unwrap_or(0).max(number))
            }
            "fail" | "FAIL" | "failed" | "Failed" | "ERROR" => {
                self.tap_fail = Some(self.tap_fail.unwrap_or(0).max(number));
            }
            "tests" | "TOTAL" if number == 0 => self.summary.none_ran = true,
            _ => return false,
        }
        true
    }

    fn go(&mut self, line: &str) -> bool {
        if line.starts_with("--- FAIL:")
            || line.starts_with("FAIL\t")
            || line.starts_with("FAIL ") && line.ends_with(']')
        {
            self.summary.red = true;
        } else if line.contains("[no test files]") {
            self.go_empty += 1;
        } else if let Some(rest) = line
            .strip_prefix("ok ")
            .filter(|rest| rest.starts_with([' ', '\t']))
        {
            if rest.contains("[no tests to run]") {
                self.go_empty += 1;
            } else {
                self.go_ok += 1;
            }
            self.summary.per_program = true;
        } else {
            return false;
        }
        true
    }

    fn plain_counts(&mut self, line: &str) -> bool {
        let line = line.trim_matches(['=', '-', '_', ' ', '\u{2500}', '!']);
        let line = ["Tests:", "Tests ", "Results:", "Result:", "Total:"]
            .into_iter()
            .find_map(|label| line.strip_prefix(label))
            .unwrap_or(line);
        let line = line
            .strip_prefix("ok | ")
            .or_else(|| line.strip_prefix("FAILED | "))
            .unwrap_or(line);
        if line.starts_with("no tests ran") {
            self.summary.none_ran = true;
            return true;
        }
        self.counts(Counts::read(line))
    }

    fn counts(&mut self, counts: Option<Counts>) -> bool {
        let Some(counts) = counts else {
            return false;
        };
        self.add(counts.passed, counts.failed);
        true
    }

    fn add(&mut self, passed: u32, failed: u32) {
        let summary = &mut self.summary;
        summary.passed = Some(summary.passed.unwrap_or(0).saturating_add(passed));
        summary.failed = Some(summary.failed.unwrap_or(0).saturating_add(failed));
    }

    fn finish(mut self) -> Summary {
        if let Some((passed, failed)) = self.maven {
            self.add(passed, failed);
        }
        if self.tap_pass.is_some() || self.tap_fail.is_some() {
            self.add(self.tap_pass.unwrap_or(0), self.tap_fail.unwrap_or(0));
        }
        if self.go_ok > 0 {
            self.summary.green = true;
        } else if self.go_empty > 0 {
            self.summary.none_ran = true;
            // `PASS` of a package without tests says nothing.
            self.summary.green = false;
        }
        if self.summary.passed.is_some() || self.summary.green {
            self.summary.missing = false;
        }
        self.summary
    }
}

/// Counts of one line: `2 failed | 10 passed (12)`, `14 examples, 0 failures`, `31 passed in 2.10s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: u32,
    failed: u32,
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
            | "specs" | "spec" => Word::Total,
            "skipped" | "skip" | "skips" | "ignored" | "deselected" | "todo" | "pending"
            | "disabled" => Word::Skipped,
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
    fn read(line: &str) -> Option<Self> {
        let mut counts = Self::default();
        let mut total = None;
        let mut decided = false;
        let mut skipped = false;
        let mut timed = false;
        let mut says_passed = false;
        let alone = !line.contains([',', '|', ';']);
        for piece in line.split([',', '|', ';']) {
            let piece = piece.trim().trim_end_matches('.');
            let duration = piece.starts_with("finished in") || piece.starts_with("Duration");
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
                Word::Total => total = Some(number),
                Word::Skipped => skipped = true,
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
            counts.passed = total.saturating_sub(counts.failed);
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
        let word = class(second)?;
        let mut timed = false;
        for word in words {
            let bare = word.trim_matches(['(', ')', '[', ']']);
            let duration = bare.starts_with(|c: char| c.is_ascii_digit())
                || matches!(bare, "in" | "s" | "ms" | "seconds" | "second");
            if !duration
                && class(bare).is_none()
                && !matches!(bare, "out" | "of" | "total" | "passed" | "run" | "took")
            {
                return None;
            }
            timed |= bare == "in";
        }
        return Some((number, word, timed));
    }
    // `Failures: 1`.
    let number = second.parse::<u32>().ok()?;
    (first.ends_with(':') && words.next().is_none()).then_some((number, class(first)?, false))
}

fn leading_number(text: &str) -> Option<u32> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    text.get(..end)?.parse().ok()
}

fn number_after(text: &str, label: &str) -> Option<u32> {
    let (_, rest) = text.split_once(label)?;
    leading_number(rest.trim_start())
}

/// The number that stands before a word, at the beginning.
fn number_before(text: &str, word: &str) -> Option<u32> {
    let (number, rest) = text.split_once(' ')?;
    rest.starts_with(word)
        .then(|| number.parse().ok())
        .flatten()
}

/// Drops terminal escape sequences.
fn without_escapes(text: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Summary {
        read(&Excerpt {
            front: text,
            back: "",
        })
    }

    #[test]
    fn counts_of_many_runners() {
        for (text, passed, failed) in [
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
            ("14 examples, 2 failures, 1 pending", 12, 2),
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
                "\u{1b}[32m\u{1b}[1m3 passed\u{1b}[0m\u{1b}[32m in 0.01s\u{1b}[0m",
                3,
                0,
            ),
        ] {
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
