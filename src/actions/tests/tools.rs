//! Tools that are no shells, and shells in every wrapping.

use super::*;

/// A call of a tool that is no shell.
fn call(tool: &str, arguments: &str) -> String {
    answered(tool, arguments, "")
}

fn answered(tool: &str, arguments: &str, answer: &str) -> String {
    let settings = Settings::default();
    let facts = CallFacts {
        tool,
        role: role(tool, &settings),
        arguments: Some(arguments),
        answer: Some(Excerpt {
            front: answer,
            back: "",
        }),
        cwd: Some("/repo"),
        ..CallFacts::default()
    };
    let understood = effects(&facts, &settings, &mut Scripts::default());
    format!("{:?}: {}", understood.role, describe(&understood))
}

const TOOLS: &[(&str, &str, &str)] = &[
    (
        "edit_file",
        r#"{"path": "app/price.py", "old": "x", "new": "y"}"#,
        "Edit: edits /repo/app; writes /repo/app/price.py; changes 1",
    ),
    (
        "Write",
        r#"{"file_path": "/repo/README.md", "content": "hi"}"#,
        "Edit: writes /repo/README.md (whole); changes 1",
    ),
    (
        "write_file",
        r#"{"path": "a.txt", "content": ""}"#,
        "Edit: writes /repo/a.txt (whole); void; changes 1",
    ),
    (
        "write_file",
        r#"{"path": "/tmp/probe.py", "content": "1"}"#,
        "Edit: writes /tmp/probe.py (temp) (whole); changes 1",
    ),
    (
        "str_replace_editor",
        r#"{"command": "view", "path": "/repo/a.py"}"#,
        "Read: reads 1",
    ),
    (
        "str_replace_editor",
        r#"{"command": "create", "path": "/repo/a.py", "file_text": "x"}"#,
        "Edit: edits /repo; writes /repo/a.py (whole); changes 1",
    ),
    (
        "apply_patch",
        r#"{"input": "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+y\n*** End Patch"}"#,
        "Edit: edits /repo/src; writes /repo/src/a.rs; changes 1",
    ),
    (
        "edit_file",
        r#"{"path": "a.py", "old": "x = 1 # a", "new": "x = 1 # a"}"#,
        "Edit: writes /repo/a.py; changes 1",
    ),
    (
        "edit_file",
        r#"{"uri": "file:///repo/src/a%20b.ts", "old": "1", "new": "2"}"#,
        "Edit: edits /repo/src; writes /repo/src/a b.ts; changes 1",
    ),
    (
        "move_file",
        r#"{"source": "a.py", "destination": "b/a.py"}"#,
        "Edit: edits /repo; deletes /repo/a.py; writes /repo/b/a.py (whole); changes 2",
    ),
    (
        "put_object",
        r#"{"key": "/etc/a.csv"}"#,
        "Other: changes unknown",
    ),
    ("read_file", r#"{"path": "src/a.py"}"#, "Read: reads 1"),
    ("list_dir", r#"{"path": "."}"#, "Read: reads any"),
    (
        "fetch",
        r#"{"url": "http://203.0.113.9:8080/a"}"#,
        "Fetch: host 203.0.113.9; reads service",
    ),
    (
        "deploy",
        r#"{"target": "prod"}"#,
        "Other: reads workspace; changes service",
    ),
    ("get_version", r#"{"region": "north"}"#, "Read: "),
    ("wait", r#"{"seconds": 30}"#, "Wait: waits 30000"),
    ("job_log", r#"{"job": "x"}"#, "Poll: poll; reads service"),
    (
        "bash",
        r#"{"command": "rm x", "cwd": "/srv"}"#,
        "Shell: edits /srv; deletes /srv/x; changes 1",
    ),
    (
        "bash",
        r#"{"command": "pytest", "run_in_background": true}"#,
        "Shell: pytest Masked masked background in /repo; reads workspace",
    ),
    (
        "shell",
        r#"{"command": ["bash", "-lc", "cd a && pytest -q"]}"#,
        "Shell: pytest Unknown in /repo/a; reads workspace",
    ),
    (
        "powershell",
        r#"{"command": ".\\gradlew.bat test"}"#,
        "Shell: gradle test Unknown in /repo; reads workspace",
    ),
    (
        "execute_python",
        r#"{"code": "rm('x')"}"#,
        "Shell: weak; reads workspace; changes unknown",
    ),
    (
        "bash",
        r#"{"command": "cat > x"#,
        "Shell: changes unknown; unparsed",
    ),
    ("bash", "{}", "Shell: changes unknown; unparsed"),
];

#[test]
fn tools_of_other_kinds() {
    for (tool, arguments, expected) in TOOLS {
        assert_eq!(
            call(tool, arguments).trim_end(),
            expected.trim_end(),
            "{tool} {arguments}"
        );
    }
}

#[test]
fn tools_that_check() {
    for (tool, answer, expected) in [
        ("run_pytest", "3 passed in 0.1s", "Passed"),
        ("run_pytest", "1 failed, 2 passed in 0.1s", "Failed"),
        ("run_tests", "no tests ran in 0.01s", "ZeroTests"),
        ("smoke_test", "5/5", "Passed"),
        ("smoke_test", "4/5", "Failed"),
        ("npm_test", r#"{"success": false}"#, "Failed"),
        ("npm_test", r#"{"passed": true}"#, "Passed"),
        ("cargo_test", "it may have worked", "Unknown"),
        ("run_tests", "All tests passed", "Passed"),
        ("run_tests", "", "Unknown"),
        (
            "mcp__github__get_pull_request_status",
            r#"{"state":"success","statuses":[{"context":"unit","state":"success"}]}"#,
            "Passed",
        ),
        (
            "get_workflow_run",
            r#"{"status":"completed","conclusion":"failure"}"#,
            "Failed",
        ),
        (
            "Task",
            "I ran `pytest -q`: 31 passed in 4.02s, no failures.",
            "PassedBySummary",
        ),
        ("Task", "pytest: 2 failed, 29 passed in 4.02s", "Failed"),
    ] {
        let text = answered(tool, "{}", answer);
        assert!(
            text.contains(&format!(" {expected} ")),
            "{tool} {answer}: {text}"
        );
    }
}

#[test]
fn answers_that_are_no_check() {
    for (tool, answer) in [
        (
            "get_workflow_run",
            r#"{"status":"in_progress","conclusion":null}"#,
        ),
        ("get_pull_request", r#"{"state":"open","title":"success"}"#),
        ("get_order_status", r#"{"state":"success"}"#),
        ("Task", "All tests pass, I am sure."),
        ("Task", "Done."),
    ] {
        let text = answered(tool, "{}", answer);
        assert!(
            !text.contains("Passed") && !text.contains("Failed"),
            "{tool} {answer}: {text}"
        );
    }
}

/// No exit code was captured: the runner's own total comes before a flag that a word may have set.
#[test]
fn without_an_exit_code_the_summary_decides() {
    let settings = Settings::default();
    for (answer, flag, expected) in [
        (
            "test_failed_login PASSED\n2 passed in 0.3s",
            Some(true),
            "Passed",
        ),
        ("1 failed, 2 passed in 0.3s", Some(false), "Failed"),
        ("Traceback (most recent call last)", Some(true), "Failed"),
        ("14 deselected in 0.05s", Some(true), "ZeroTests"),
        ("bash: pytest: command not found", Some(true), "ZeroTests"),
        ("something", Some(false), "Unknown"),
        ("something", None, "Unknown"),
    ] {
        let facts = CallFacts {
            tool: "bash",
            role: Role::Shell,
            arguments: Some(r#"{"command": "pytest"}"#),
            answer: Some(Excerpt {
                front: answer,
                back: "",
            }),
            error_flag: flag,
            ..CallFacts::default()
        };
        let understood = effects(&facts, &settings, &mut Scripts::default());
        let check = understood.effects.verification.unwrap();
        assert_eq!(
            format!("{:?}", check.verdict),
            expected,
            "{answer} {flag:?}"
        );
    }
}
