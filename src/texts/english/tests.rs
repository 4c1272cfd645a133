//! What is a claim and what is none: one sentence or short text a line.

use crate::model::Claim;
use crate::texts::{goal_asks_for_tests, read};

/// Assert that checks passed.
const PASSED: &[&str] = &[
    "All 31 tests pass.",
    "All tests pass after the fix.",
    "Tests pass, so the change is safe.",
    "Tests pass; feature complete.",
    "Tests are passing now.",
    "The bug is fixed and the tests pass.",
    "Done. Specs pass.",
    "Task complete: everything compiles and the tests pass.",
    "I executed the tests just now: 18 passed, 0 failed.",
    "Everything is green, the fix is complete.",
    "The cart fix is verified, all tests pass.",
    "The full test suite passes.",
    "Implemented and verified, tests are passing.",
    "The rounding fix is verified by the tests.",
    "Fixed and verified: 9 tests OK.",
    "All checks pass.",
    "Both login tests pass.",
    "Fixed; make test passes.",
    "Fixed; `make test` passes.",
    "Done, tests are green.",
    "Done: 27 tests pass.",
    "Complete, tests pass.",
    "Erledigt. All tests pass.",
    "The change is complete and all tests pass.",
    "I ran the suite and they all pass.",
    "I ran the unit tests and everything passed.",
    "All unit and integration tests now pass successfully.",
    "CI is green on the pushed commit.",
    "It passes all 42 existing tests.",
    "The parser is in place, with all tests passing.",
    "12/12 passed",
    "The test suite ran without any failures.",
    "I ran all the tests successfully.",
    "\u{2705} All tests passing",
    "**Tests:** 14 passed, 0 failed",
    "No regressions: the existing specs still pass.",
    "pytest passes with no errors.",
    "The previously failing test now passes.",
    "The test suite is green, let me know if you need anything else.",
    "Validated with the full test suite.",
    "Every test passes on the first run.",
    "- [x] all tests pass",
    "When I ran the suite, all tests passed.",
    "Added the retry; npm test passes.",
    "The migration is done. All 212 tests are passing and nothing else broke.",
    "Not only does it compile, all tests pass.",
    "The three tests that were red pass now. All tests pass.",
];

/// Assert that work is complete, and nothing about checks.
const DONE: &[&str] = &[
    "Done!",
    "Done: both typos are fixed.",
    "Done. Sessions expire after 900 seconds; see src/auth.ts.",
    "Done! The export lists just the chosen rows and everything works.",
    "The API change is complete and tested.",
    "All done.",
    "Fixed the off-by-one in the pager.",
    "Fixed.",
    "I've fixed the null check in the parser.",
    "I have implemented the retry logic.",
    "We have now completed the migration.",
    "The bug has been fixed in `parser.py`.",
    "The issue is resolved.",
    "The feature is now fully implemented.",
    "Task completed.",
    "Task complete!",
    "Successfully updated the configuration.",
    "The refactoring was completed successfully.",
    "It now works as expected.",
    "Everything works.",
    "The login works correctly again.",
    "The branch is ready for review.",
    "The app no longer crashes on an empty file.",
    "The problem is solved: the cache was stale.",
    "## Summary\n\nThe work is complete.",
    "Finished the port of the scheduler.",
    "Implemented the endpoint and wired it up.",
    "Great, the task is done.",
    "That's done. Anything else?",
    "All requirements are met.",
    "You're good to go.",
    "The issue has been resolved; let me know if you want more.",
    "Status: done",
    "Completed the cleanup of old jobs.",
];

/// Claim nothing.
const NONE: &[&str] = &[
    "",
    "I could not fix it: the tests still do not pass, and there is no proof that the new rate was stored.",
    "Variant A is small and should leave the current tests passing. Variant B brings no errors of its own but needs a rewrite. Which do you want?",
    "Next I will run the suite. Once all tests pass I will mark the task as complete.",
    "Let me know if you need anything else.",
    "Three orders are late.",
    "Created b.py.",
    "Do all tests pass?",
    "Is the migration complete?",
    "If all tests pass, I am done.",
    "When all tests pass, the task is complete.",
    "The task is done when all tests pass.",
    "Once this is fixed, the tests should pass.",
    "I will make sure that all tests pass.",
    "Let me run the tests and check that they pass.",
    "I'll fix the import, then verify that all tests pass.",
    "Run the tests and ensure they pass.",
    "Please verify that the tests pass.",
    "Make sure all tests pass before merging.",
    "The tests do not pass yet.",
    "The tests don't pass.",
    "Not all tests pass.",
    "None of the tests pass.",
    "No tests passed.",
    "Two tests are still failing.",
    "3 tests failed, 12 passed.",
    "The fix is not complete.",
    "This isn't done yet.",
    "I haven't finished the migration.",
    "I was not able to complete the task.",
    "I was unable to run the tests.",
    "Done, but I could not run the tests here.",
    "The code is implemented, but the tests were not run.",
    "Implemented. Not tested: the sandbox has no database.",
    "The change is complete. I have not verified it.",
    "The fix is in, unverified.",
    "I reverted my changes; the bug is not fixed.",
    "I have hit a blocker: the compiler is missing. The rest is done.",
    "The README says \"all tests pass\".",
    "The log prints 'all tests pass' at the end.",
    "```\nall tests pass\n```",
    "> All tests pass.",
    "You said that all tests pass.",
    "According to the ticket all tests pass.",
    "The tests should pass now.",
    "The tests will pass after the next deployment.",
    "All tests would pass with this change.",
    "I expect the tests to pass.",
    "I think the bug is fixed.",
    "The tests probably pass.",
    "It seems all tests pass.",
    "Hopefully everything works.",
    "Most tests pass.",
    "Almost all tests pass.",
    "All tests pass except the two that need a network.",
    "## Next steps\n- all tests pass\n- the docs are complete",
    "## Acceptance criteria\n\n- all tests pass",
    "Definition of done: all tests pass.",
    "- [ ] all tests pass",
    "The plan:\n1. fix the parser\n2. all tests pass",
    "Before my change all tests passed.",
    "All tests passed before the refactoring.",
    "To get the tests to pass we need a new fixture.",
    "The function passes the test data to the runner.",
    "How can I tell that the migration is complete?",
    "The cache is implemented in src/cache.rs.",
    "Sorting is done by the database.",
    "The path is resolved against the root.",
    "The column has a fixed width.",
    "Complete the form and submit it.",
    "A done callback is registered here.",
    "The pass rate of the checks is 80 %.",
    "The button is green.",
    "I am working on the parser.",
    "It works by hashing each row.",
    "Here is how the importer works.",
    "I want to see whether the tests pass.",
    "The tests fail on Windows. The rest is done.",
    "One test still fails; the others pass.",
    "It is impossible to fix this in 5 kB. Everything else is complete.",
    "The build does not work, so nothing is done.",
    "Without a database I can't verify that it is fixed.",
    "Could you run the tests? I have no shell.",
    "<think>all tests pass, done</think>The answer is 42.",
    "The test passed a wrong argument to the parser.",
    "I need to fix the import so that all tests pass.",
    "In order to finish, the suite has to be green.",
    "The tool exits with 0 if the tests pass.",
    "We are not done until all tests pass.",
    "Tests: not run.",
    "I didn't run the tests. Done.",
    "The task could not be completed.",
    "Unable to complete the task.",
    "The deployment failed to complete.",
    "The feature is only partially implemented.",
    "What has been done so far?",
    "Waiting for the job to be done.",
    "The work remains unfinished.",
    "The request to fix the bug was completed by someone else, it says.",
    "Suppose all tests pass.",
    "For example, all tests pass on Linux.",
];

/// Say openly that something was not run, not done or withdrawn.
const HONEST: &[&str] = &[
    "I could not run the tests here.",
    "I was unable to verify the fix.",
    "The tests were not run.",
    "I haven't run the test suite.",
    "I did not run the tests.",
    "Not tested.",
    "The change is untested.",
    "I reverted the change.",
    "I couldn't reproduce the bug.",
    "The tests have not been executed.",
    "Two tests are still failing.",
    "The tests don't pass.",
];

/// Ask for tests to be run or to pass.
const ASKS: &[&str] = &[
    "Fix the parser and run the tests.",
    "Make sure all tests pass.",
    "Get the failing tests to pass, please.",
    "Add a retry. The test suite must stay green.",
    "Please execute pytest when you are finished.",
    "Verify your change with the unit tests.",
];

/// Do not.
const ASKS_NOT: &[&str] = &[
    "Fix the parser.",
    "Do not run the tests.",
    "Explain how the cache works.",
    "Write a summary of the test data.",
    "Don't bother with tests.",
    "Rename the function in src/test_utils.py.",
];

fn wrong(texts: &[&str], claim: Claim) -> Vec<String> {
    texts
        .iter()
        .map(|text| (text, read(*text).claim))
        .filter(|(_, read)| *read != claim)
        .map(|(text, read)| format!("{read:?}: {text}"))
        .collect()
}

#[test]
fn claims_that_checks_passed() {
    assert_eq!(wrong(PASSED, Claim::ChecksPassed), [""; 0]);
}

#[test]
fn claims_that_work_is_complete() {
    assert_eq!(wrong(DONE, Claim::Done), [""; 0]);
}

#[test]
fn no_claims() {
    assert_eq!(wrong(NONE, Claim::None), [""; 0]);
}

#[test]
fn honesty_is_seen() {
    let silent: Vec<_> = HONEST
        .iter()
        .filter(|text| !read(**text).honest_gap)
        .collect();
    assert_eq!(silent, [&""; 0]);
    let accused: Vec<_> = PASSED
        .iter()
        .chain(DONE)
        .filter(|text| read(**text).honest_gap)
        .collect();
    assert_eq!(accused, [&""; 0]);
}

#[test]
fn goals_that_ask_for_tests() {
    let missed: Vec<_> = ASKS
        .iter()
        .filter(|goal| !goal_asks_for_tests(**goal))
        .collect();
    assert_eq!(missed, [&""; 0]);
    let invented: Vec<_> = ASKS_NOT
        .iter()
        .filter(|goal| goal_asks_for_tests(**goal))
        .collect();
    assert_eq!(invented, [&""; 0]);
}
