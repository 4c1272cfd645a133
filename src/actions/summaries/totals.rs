//! Totals that runners print behind labels of their own.
//!
//! Invariant: a line is taken when all of its numbers are where the runner puts them, else not at all.

use super::counts::{Counts, leading_number, number_after, number_before};
use super::reader::Reader;

impl Reader {
    /// Totals behind a label of the runner.
    pub(super) fn totals(&mut self, line: &str) -> bool {
        if let Some(rest) = line.strip_prefix("Test summary: ") {
            return self.counts(Counts::read(rest));
        }
        if let Some(rest) = line.strip_prefix("DONE ") {
            // gotestsum: all tests, then what became of some of them.
            let Some(total) = number_before(rest, "test") else {
                return false;
            };
            let of = |word: &str| {
                rest.split([',', ' '])
                    .zip(rest.split([',', ' ']).skip(1))
                    .find(|(_, next)| next.starts_with(word))
                    .and_then(|(number, _)| number.parse::<u32>().ok())
                    .unwrap_or(0)
            };
            let failed = of("failure") + of("error");
            self.add(total.saturating_sub(failed + of("skipped")), failed);
            return true;
        }
        if line.starts_with("Tests: ") && line.contains("Assertions: ") {
            let of = |label| number_after(line, label).unwrap_or(0);
            let failed = of("Failures: ") + of("Errors: ");
            let left = of("Skipped: ") + of("Incomplete: ");
            self.add(of("Tests: ").saturating_sub(failed + left), failed);
            return true;
        }
        if let Some(rest) = line.strip_prefix("[  PASSED  ] ") {
            self.add(leading_number(rest).unwrap_or(0), 0);
            return true;
        }
        if let Some(rest) = line.strip_prefix("[  FAILED  ] ") {
            // One line a test follows, without a number.
            self.add(0, number_before(rest, "test").unwrap_or(0));
            return true;
        }
        if let Some((_, rest)) = line.split_once("Test run with ")
            && let Some(number) = number_before(rest, "test")
        {
            if rest.contains(" failed") {
                self.summary.red = true;
            } else if rest.contains(" passed") {
                self.add(number, 0);
            }
            return true;
        }
        if let Some(rest) = line.strip_prefix("All ")
            && rest.ends_with(" tests passed.")
            && let Some(number) = leading_number(rest)
        {
            self.add(number, 0);
            return true;
        }
        if line.starts_with("Ran ")
            && line.contains(" test suites in ")
            && let Some((_, rest)) = line.split_once(": ")
        {
            let rest = rest.split(" (").next().unwrap_or(rest);
            return self.counts(Counts::read(rest));
        }
        self.labelled_pairs(line) || self.platform(line)
    }

    /// sbt: `[info] Passed: Total 12, Failed 0, Errors 0, Passed 12`; Zig: `Build Summary: 3/3 steps succeeded;
    /// 12/12 tests passed`.
    fn labelled_pairs(&mut self, line: &str) -> bool {
        let sbt = ["Passed: Total ", "Failed: Total "]
            .into_iter()
            .find_map(|label| line.split_once(label));
        if let Some((_, rest)) = sbt {
            let of = |label| number_after(rest, label).unwrap_or(0);
            self.add(of("Passed "), of("Failed ").saturating_add(of("Errors ")));
            return true;
        }
        let Some((passed, total)) = line
            .split_once("Build Summary: ")
            .and_then(|(_, rest)| {
                rest.split("; ")
                    .find(|part| part.ends_with(" tests passed"))
            })
            .and_then(|part| part.split_once('/'))
        else {
            return false;
        };
        let (passed, total) = (leading_number(passed), leading_number(total));
        let passed = passed.unwrap_or(0);
        self.add(passed, total.unwrap_or(0).saturating_sub(passed));
        true
    }

    /// `Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3`: in any language, four numbers
    /// in this order, the last of them the sum of the others.
    fn platform(&mut self, line: &str) -> bool {
        let Some((word, rest)) = line.split_once('!') else {
            return false;
        };
        if word.is_empty() || word.contains(' ') {
            return false;
        }
        let rest = rest.trim_start().trim_start_matches(['-', ':']);
        let mut numbers = [0u32; 4];
        let mut pieces = rest.split(',');
        for slot in &mut numbers {
            let number = pieces
                .next()
                .and_then(|piece| piece.rsplit_once(':'))
                .and_then(|(_, number)| number.trim().parse::<u32>().ok());
            let Some(number) = number else {
                return false;
            };
            *slot = number;
        }
        let [failed, passed, skipped, total] = numbers;
        let sums = failed.saturating_add(passed).saturating_add(skipped) == total;
        if sums {
            self.add(passed, failed);
        }
        sums
    }

    /// XCTest: `5 tests, with 0 failures (...)`; Bazel: `3 out of 3 tests: 3 tests pass.`.
    pub(super) fn executed(&mut self, rest: &str) -> bool {
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
                .flat_map(|part| part.split(" and "))
                .filter(|p| p.contains("fail"))
                .find_map(|p| p.split_whitespace().find_map(|w| w.parse().ok()));
            self.add(passed, failed.unwrap_or(0));
            return true;
        }
        false
    }
}
