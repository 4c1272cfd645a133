//! Goes through the lines of an output.

use super::Summary;
use super::counts::{Counts, leading_number, number_after, number_before, without_escapes};
use super::phrases::{Sign, sign};

#[derive(Default)]
pub(super) struct Reader {
    pub(super) summary: Summary,
    /// `Ran N tests` of unittest, until its `OK`.
    ran: Option<u32>,
    /// Greatest of the totals that Maven prints again and again.
    maven: Option<(u32, u32)>,
    tap_pass: Option<u32>,
    tap_fail: Option<u32>,
    /// Modules without tests, and with tests, of builders that print no counts.
    unsourced: u32,
    sourced: u32,
    go_ok: u32,
    go_empty: u32,
}

impl Reader {
    pub(super) fn line(&mut self, raw: &str) {
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
        let line = ["[INFO] ", "[ERROR] ", "[WARNING] ", "[info] "]
            .into_iter()
            .find_map(|p| line.strip_prefix(p))
            .unwrap_or(line)
            .trim();
        let _ = self.fixed(line) || self.labelled(line) || self.go(line) || self.plain_counts(line);
    }

    /// Phrases that mean one thing.
    fn fixed(&mut self, line: &str) -> bool {
        let Some(sign) = sign(line) else {
            return self.unittest(line) || self.gradle(line);
        };
        let summary = &mut self.summary;
        match sign {
            Sign::Green => summary.green = true,
            Sign::Red => summary.red = true,
            Sign::NoneRan => summary.none_ran = true,
            Sign::Clean => summary.clean = true,
            Sign::Dirty => summary.dirty = true,
            Sign::Missing => summary.missing = true,
        }
        true
    }

    /// `Ran 9 tests in 0.004s`, then `OK (skipped=1)` or `FAILED (failures=1, errors=1)`; PHPUnit's
    /// `OK (12 tests, 30 assertions)`.
    fn unittest(&mut self, line: &str) -> bool {
        if line == "OK" {
            match self.ran.take() {
                Some(ran) => self.add(ran, 0),
                None => self.summary.green = true,
            }
        } else if let Some(rest) = line.strip_prefix("OK (") {
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
            && !rest.contains(": ")
            && !rest.contains(" across ")
        {
            let ran = leading_number(rest);
            self.summary.none_ran |= ran == Some(0);
            self.ran = ran.filter(|n| *n > 0);
        } else {
            return false;
        }
        true
    }

    /// `> Task :test NO-SOURCE`: a module without tests. Maven says `No tests to run.`
    fn gradle(&mut self, line: &str) -> bool {
        if line == "No tests to run." {
            self.unsourced += 1;
            return true;
        }
        let Some(task) = line.strip_prefix("> Task ") else {
            return false;
        };
        let mut words = task.split_whitespace();
        let name = words.next().and_then(|path| path.rsplit(':').next());
        if name.is_some_and(|name| name == "test" || name.ends_with("Test")) {
            match words.next() {
                Some("NO-SOURCE") => self.unsourced += 1,
                _ => self.sourced += 1,
            }
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
        if line.starts_with("Test Suites:") || line.starts_with("Test Files") {
            // A suite that could not be run has no tests to count.
            let failed = line
                .split_once(" failed")
                .and_then(|(before, _)| before.rsplit(' ').next()?.parse::<u32>().ok());
            self.summary.red |= failed.is_some_and(|number| number > 0);
            return true;
        }
        if line.starts_with("Snapshots:") {
            return true;
        }
        if self.totals(line) {
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
        if let Some(rest) = line.strip_prefix("Executed ") {
            return self.executed(rest);
        }
        self.tap(line)
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

    pub(super) fn counts(&mut self, counts: Option<Counts>) -> bool {
        let Some(counts) = counts else {
            return false;
        };
        self.add(counts.passed, counts.failed);
        true
    }

    pub(super) fn add(&mut self, passed: u32, failed: u32) {
        let summary = &mut self.summary;
        summary.passed = Some(summary.passed.unwrap_or(0).saturating_add(passed));
        summary.failed = Some(summary.failed.unwrap_or(0).saturating_add(failed));
    }

    pub(super) fn finish(mut self) -> Summary {
        if let Some((passed, failed)) = self.maven {
            self.add(passed, failed);
        }
        if self.tap_pass.is_some() || self.tap_fail.is_some() {
            self.add(self.tap_pass.unwrap_or(0), self.tap_fail.unwrap_or(0));
        }
        if self.unsourced > 0 && self.sourced == 0 && self.summary.passed.is_none() {
            self.summary.none_ran = true;
            // The builder is content; no test said so.
            self.summary.green = false;
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
