//! Texts by example, and for any text.

use proptest::prelude::*;

use super::*;
use crate::model::Claim;

#[track_caller]
fn all(what: fn(&str) -> bool, yes: &[&str], no: &[&str]) {
    let missed: Vec<_> = yes.iter().filter(|text| !what(text)).collect();
    assert_eq!(missed, [&""; 0], "missed");
    let invented: Vec<_> = no.iter().filter(|text| what(text)).collect();
    assert_eq!(invented, [&""; 0], "invented");
}

#[test]
fn visible_texts() {
    all(
        |text| read(text).visible,
        &[
            "42",
            "OK",
            "B",
            "[]",
            "\u{306f}\u{3044}",
            "\u{2705}",
            "-1",
            "None of them.",
            "part 3",
            "none",
            "*",
            "?",
            "<think>x</think>42",
            "reasoning ends</think> 42",
        ],
        &[
            "",
            " \n\u{200b}\n ",
            "...",
            "\u{2026}",
            "<think>The result is 42.</think>",
            "(no content)",
            "[no response]",
            "null",
            "\u{feff}",
            "<think>cut off",
            "No content",
            "\u{1c}\u{1f}",
            "<empty>",
        ],
    );
    all(
        |text| read(text).meaningful,
        &[
            "42",
            "Yes.",
            "OK",
            "\u{306f}\u{3044}",
            "\u{2705}",
            "-1",
            "B",
            "[]",
            "{}",
            "part 3",
        ],
        &["", "...", "?", "*", "---", "(no content)", "!!"],
    );
    assert_eq!(read(" \u{1c}a\u{e9}\u{3000} ").chars, 2);
    assert_eq!(read("one two \u{6211}\u{4eec} three").words, 5);
}

#[test]
fn acknowledgements() {
    all(
        |text| acknowledges(text),
        &[
            "",
            "ok",
            "OK.",
            "true",
            "[]",
            "{}",
            "Done!",
            "no match",
            "No matches found.",
            "3 rows",
            "ok: 1 replacement",
            "Updated 12 records",
            "0 rows affected",
            r#"{"status":"ok"}"#,
            r#"{"success": true, "id": "a1"}"#,
            r#"{"ok":true,"data":null}"#,
            "(no new output)",
            "\n",
            "accepted",
            "Query OK, 1 row affected",
            "null",
            "Clicked",
            "scrolled down by 800 pixels",
            "\u{1f5b1}\u{fe0f} Clicked button with index 3: Next",
        ],
        &[
            "Clicked the button.\nNew page: Orders of today",
            "42",
            "a.py",
            "1 failed, 8 passed",
            r#"{"status":"failed"}"#,
            r#"{"ok":true,"name":"x"}"#,
            "state: DONE, loss 0.21",
            "20 items, next=b3Qx8fJ2aa",
            "error",
            r#"{"status":"ok","text":"3 nodes"}"#,
            "2 entries: a, b",
        ],
    );
    all(
        |text| informs(text),
        &[
            " M src/app.ts\n",
            "const rate = 19",
            "1) Tide tables: high 06:12",
        ],
        &[
            "",
            "ok",
            "a b c",
            "12 records updated",
            r#"{"success": true, "id": "abcdefghijk"}"#,
        ],
    );
}

#[test]
fn pictures_that_were_not_recorded() {
    all(
        |text| stands_for_a_picture(text),
        &["[image omitted]", "<screenshot>", " [Image: 1280x720]\n"],
        &[
            "",
            "image",
            "[see image.png] is the new logo",
            "[1, 2]",
            "<html>",
            "[]",
        ],
    );
}

#[test]
fn states_that_are_not_final() {
    all(
        |text| pending_state(text),
        &[
            "running",
            "Pending",
            "state: TRAINING",
            "status: in progress",
            r#"{"status":"in_progress"}"#,
            "QUEUED...",
            r#"{"job":"7","state":"RUNNING","progress":12}"#,
            "job 5521: waiting for approval",
            "Job 17 is still running.",
            "<status>running</status>",
            r#"{"done": false, "id": 1}"#,
            "The build is currently queued",
            "phase=Pending",
            "starting",
            "build status: BUILDING (12%)",
            "NAME    READY   STATUS    RESTARTS\nshop-1  0/1     Pending   0",
            "NAME STATUS AGE\nnode-2 NotReady 3m",
        ],
        &[
            "0 pending",
            "state: DONE, loss 0.21",
            "status: ok",
            r#"{"status":"done"}"#,
            "",
            "running tests is easy",
            "3 running, 2 stopped",
            "I am running the tests.",
            "[ 12%] core",
            "The pending orders were shipped.",
            r#"{"text":"running"}"#,
            "error: process not running",
            "NAME    READY   STATUS    RESTARTS\nshop-1  1/1     Running   0",
            "NAME    READY   STATUS    RESTARTS\nshop-1  0/1     Error   0",
            "Status of the plan\nthe orders are pending",
        ],
    );
}

#[test]
fn refusals_are_no_errors_of_the_system() {
    all(
        |text| refused(text),
        &[
            "The user doesn't want to proceed with this tool use. The tool use was rejected.",
            "denied by user",
            "Tool 'deploy' denied by policy: needs approval",
            "User rejected the command",
            "[Request interrupted by user]",
            "Claude requested permissions to use Bash, but you haven't granted it yet.",
            "not executed: page changed",
            "refused: add is not known here and cannot be approved",
            "Permission denied by user",
            "[Operation Cancelled] Reason: User did not allow tool call",
            "The user has declined to run this tool.",
            "exec command rejected by user",
            "The user rejected permission to use this specific tool call.",
            "Access denied - path outside allowed directories: /etc not in /srv",
            "The user chose to skip this tool call.",
            "domain evil.test is not on the allowlist",
            "Access to a.env is blocked by the .rooignore file settings.",
        ],
        &[
            "",
            "bash: /etc/shadow: Permission denied",
            "EACCES: permission denied, open '/x'",
            "403 Forbidden",
            "connection refused",
            "The users table is empty",
            "Access denied for user 'root'@'localhost'",
        ],
    );
}

#[test]
fn errors_by_their_form() {
    all(
        |text| looks_like_error(text),
        &[
            "Error: 404 not found",
            "error",
            "Traceback (most recent call last):\n  File",
            "[Errno 2] No such file",
            r#"{"error":"stale version"}"#,
            r#"{"success": false, "error": "x"}"#,
            r#"{"isError": true, "content": []}"#,
            r#"{"status":"error"}"#,
            r#"{"statusCode": 503}"#,
            "ValueError: bad",
            "requests.exceptions.HTTPError: 500",
            "bash: jq: command not found",
            "fatal: not a git repository",
            "npm ERR! network timeout",
            "<tool_use_error>String to replace not found</tool_use_error>",
            "Failed to connect",
            "EADDRINUSE :::3000",
            "InputValidationError: command is required",
            "invalid patch: first line",
            "/bin/bash: -c: line 1: syntax error near unexpected token",
            "error[E0308]: mismatched types",
            "curl: (6) Could not resolve host: x.test",
            "ssh: connect to host x.test port 22: Connection refused",
            "docker: Error response from daemon: pull access denied",
            "'gradlew' is not recognized as an internal or external command",
            "The term 'npm' is not recognized as the name of a cmdlet",
            "cp: cannot create regular file '/x': Permission denied",
            "touch: cannot touch 'a': No space left on device",
        ],
        &[
            "",
            "ok",
            "0 errors",
            "No errors found",
            r#"{"error":null,"data":[1]}"#,
            r#"{"errors":[],"ok":true}"#,
            "The error was fixed in 2.1",
            "errors.py",
            "src/error.rs:12: fn error()",
            r#"{"success": true}"#,
            "def handle_error(e):",
            "Terrors of the deep",
            "1) Error handling in Go",
            "12 passed, 0 failed",
            "ErrorBoundary.tsx\nApp.tsx",
        ],
    );
}

#[test]
fn exit_codes() {
    for (text, code) in [
        ("out\n[exit code: 2]", Some(2)),
        ("make: *** [all] Error 2\nexit status 1", Some(1)),
        (r#"{"output":"x","exit_code":3}"#, Some(3)),
        (r#"{"output":"x","metadata":{"exit_code":1}}"#, Some(1)),
        (r#"{"returncode": -9, "stdout": ""}"#, Some(-9)),
        (r#"{"status":"ok","exitCode":0}"#, Some(0)),
        ("<returncode>1</returncode>\n<output>\n</output>", Some(1)),
        ("Exit code 127\nbash: foo: command not found", Some(127)),
        ("Command failed with exit code 4", Some(4)),
        ("Process exited with code 0", Some(0)),
        (
            "The docs say that exit code 3 means a timeout, see the table",
            None,
        ),
        ("line\nan exit code: 5 in the middle\na\nb\nc\nd", None),
        ("", None),
        ("exit code", None),
        ("[exit code: 99999999999]", None),
    ] {
        assert_eq!(exit_code_in(text), code, "{text}");
    }
}

#[test]
fn error_classes() {
    let same = |texts: &[&str]| {
        for pair in texts.windows(2) {
            assert_eq!(
                error_class(pair[0]),
                error_class(pair[1]),
                "{} | {}",
                pair[0],
                pair[1]
            );
        }
        assert_ne!(error_class(texts[0]), 0);
    };
    same(&["Error: 404 not found", "Error: 404 not found"]);
    same(&[
        "ls: cannot access 'a/b': No such file or directory",
        "ls: cannot access '2': No such file or directory",
    ]);
    same(&[
        "cat: a.txt: No such file or directory",
        "cat: b.txt: No such file or directory",
    ]);
    same(&[
        "Table 'x.y' doesn't exist",
        "Table 'singer.singers' doesn't exist",
    ]);
    same(&[
        "2031-05-01 08:10:22.100 [pid 3100] attempt 1: lock held by another run",
        "2031-05-02 08:11:22.137 [pid 3113] attempt 2: lock held by another run",
    ]);
    same(&[
        "error: cannot stat '/tmp/tmp.Qw81aZ/a.js'",
        "error: cannot stat '/tmp/tmp.mN03pL/a.js'",
    ]);
    same(&["bash: jq: command not found", "bash: yq: command not found"]);
    same(&[
        r#"{"error":{"message":"no row 7"}}"#,
        r#"{"error":{"message":"no row 9"},"id":1}"#,
    ]);
    let traceback = |name: &str| {
        format!(
            "Traceback (most recent call last):\n  File \"{name}.py\", line 3\nKeyError: '{name}'"
        )
    };
    same(&[&traceback("a"), &traceback("b")]);
    for (a, b) in [
        ("Error: 404 not found", "Error: 500 internal"),
        ("EADDRINUSE :::3000", "ECONNREFUSED :::3000"),
        (
            r#"{"success": false, "error": "stale version"}"#,
            r#"{"success": false, "error": "missing column"}"#,
        ),
        ("npm ERR! network timeout", "npm ERR! missing script"),
    ] {
        assert_ne!(error_class(a), error_class(b), "{a} | {b}");
    }
    assert_eq!(error_class(""), 0);
    assert_eq!(error_class(" \n "), 0);
}

#[test]
fn long_texts_are_bounded_and_exact_in_length() {
    let text = format!("{}\nAll tests pass.", "word ".repeat(100_000));
    let facts = read(&text);
    assert!(facts.truncated && facts.visible && facts.meaningful);
    assert_eq!(facts.claim, Claim::ChecksPassed);
    assert_eq!(facts.chars as usize, text.len());
    assert!(facts.repetition.tokens <= 8192);
}

proptest! {
    #[test]
    fn any_text_is_taken(text in any::<String>()) {
        let facts = read(&text);
        prop_assert_eq!(facts, read(&text));
        prop_assert!((0.0..=1.0).contains(&facts.repetition.distinct_ratio));
        prop_assert!(facts.repetition.entropy_bits >= 0.0);
        goal_asks_for_tests(&text);
        error_class(&text);
        looks_like_error(&text);
        exit_code_in(&text);
        acknowledges(&text);
        informs(&text);
        pending_state(&text);
        refused(&text);
    }

    #[test]
    fn any_markup_is_taken(text in "[`*#>|\\[\\]{}<>\"'\u{201c}\u{300c}a-z:. \n\u{e9}-]{0,80}") {
        read(&text);
        looks_like_error(&text);
        exit_code_in(&text);
        pending_state(&text);
        error_class(&text);
    }

    #[test]
    fn claims_do_not_depend_on_blanks(before in "[ \n]{0,4}", after in "[ \n]{0,4}") {
        let text = format!("{before}All 3 tests pass.{after}");
        prop_assert_eq!(read(&text).claim, Claim::ChecksPassed);
        prop_assert_eq!(read(&text).hash, read("All 3 tests pass.").hash);
    }
}
