//! The table of commands (tests/fixtures/commands/*.txt) and the properties that hold for any text.

use std::fmt::Write as _;

use super::*;
use crate::model::{CheckKind, Targets};

/// A block: `$ command`, `< answer` lines, `? exit code`, `@ cwd`, then `= what it does`.
#[derive(Default)]
struct Case {
    command: String,
    answer: String,
    exit_code: Option<i32>,
    cwd: Option<String>,
    expected: String,
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut case = Case::default();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let Some((mark, rest)) = line.split_once(' ') else {
            continue;
        };
        match mark {
            "$" if case.command.is_empty() => case.command = rest.to_owned(),
            "$" => {
                case.command.push('\n');
                case.command.push_str(rest);
            }
            "<" => {
                case.answer.push_str(rest);
                case.answer.push('\n');
            }
            "?" => case.exit_code = rest.parse().ok(),
            "@" => case.cwd = Some(rest.to_owned()),
            "=" => {
                case.expected = rest.to_owned();
                cases.push(std::mem::take(&mut case));
            }
            _ => panic!("what is `{line}`?"),
        }
    }
    cases
}

fn run(case: &Case) -> Understood {
    let call = CallFacts {
        tool: "bash",
        role: Role::Shell,
        arguments: Some(&case.command),
        answer: (!case.answer.is_empty()).then_some(Excerpt {
            front: &case.answer,
            back: "",
        }),
        exit_code: case.exit_code,
        cwd: case.cwd.as_deref(),
        ..CallFacts::default()
    };
    let mut settings = Settings::default();
    settings.workspace.home = Some("/home/agent".to_owned());
    effects(&call, &settings, &mut Scripts::default())
}

fn targets(out: &mut String, name: &str, targets: &Targets) {
    let files = targets.files.iter().filter(|f| **f != 0).count();
    let mut parts = Vec::new();
    if targets.any_file {
        parts.push("any".to_owned());
    } else if files > 0 {
        parts.push(format!("{files}"));
    }
    for (set, word) in [
        (targets.workspace, "workspace"),
        (targets.repo, "repo"),
        (targets.service, "service"),
        (targets.unknown, "unknown"),
    ] {
        if set {
            parts.push(word.to_owned());
        }
    }
    if !parts.is_empty() {
        let _ = write!(out, "; {name} {}", parts.join("+"));
    }
}

fn describe(understood: &Understood) -> String {
    let effects = &understood.effects;
    let mut out = String::new();
    if let Some(check) = &effects.verification {
        let _ = write!(out, "; {} {:?}", check.runner, check.verdict);
        for (set, word) in [
            (check.kind == CheckKind::Static, "static"),
            (check.masked, "masked"),
            (check.background, "background"),
            (check.partial, "partial"),
        ] {
            if set {
                let _ = write!(out, " {word}");
            }
        }
        if let Some(cwd) = &check.cwd {
            let _ = write!(out, " in {cwd}");
        }
    }
    if effects.edits_source {
        let root = effects.edit_root.as_deref().unwrap_or("?");
        let _ = write!(out, "; edits {root}");
    }
    for write in &effects.writes {
        let word = if write.deletes { "deletes" } else { "writes" };
        let _ = write!(out, "; {word} {}", write.path);
        for (set, word) in [
            (write.temp, " (temp)"),
            (write.unresolved, " (unresolved)"),
            (write.whole_file, " (whole)"),
        ] {
            if set {
                out.push_str(word);
            }
        }
    }
    for host in &effects.hosts {
        let _ = write!(out, "; host {host}");
    }
    if let Some(ms) = effects.wait_ms {
        let _ = write!(out, "; waits {ms}");
    }
    for (set, word) in [
        (effects.poll, "poll"),
        (effects.void, "void"),
        (effects.weak_check, "weak"),
    ] {
        if set {
            let _ = write!(out, "; {word}");
        }
    }
    targets(&mut out, "reads", &effects.reads);
    targets(&mut out, "changes", &effects.changes);
    if understood.exit != ExitMeaning::Plain {
        let _ = write!(out, "; exit {:?}", understood.exit);
    }
    if understood.unparsed {
        out.push_str("; unparsed");
    }
    out.trim_start_matches("; ").to_owned()
}

#[test]
fn the_table_of_commands() {
    let text = include_str!("../../tests/fixtures/commands/table.txt");
    let cases = cases(text);
    assert!(cases.len() >= 150, "{} commands", cases.len());
    let mut wrong = String::new();
    for case in &cases {
        let found = describe(&run(case));
        let found = if found.is_empty() { "nothing" } else { &found };
        if found != case.expected {
            let _ = writeln!(
                wrong,
                "$ {}\n= {found}\ninstead of\n= {}",
                case.command, case.expected
            );
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

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

#[test]
fn tools_of_other_kinds() {
    for (tool, arguments, expected) in [
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
        ("deploy", r#"{"target": "prod"}"#, "Other: changes service"),
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
    ] {
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
    ] {
        let text = answered(tool, "{}", answer);
        assert!(
            text.contains(&format!(" {expected} ")),
            "{tool} {answer}: {text}"
        );
    }
}

/// Shapes on which parsers hang or run out of stack; what passes the guard must come back.
#[test]
fn hostile_shapes_come_back() {
    let shapes = [
        "(",
        "{ ",
        "$(",
        "${a:-",
        "\"${a:-",
        "\"$(",
        "`",
        "\"`",
        "time ",
        "coproc ",
        "! ",
        "if ",
        "while ",
        "until ",
        "[[ ( ",
        "[[ ! ",
        "$((",
        "$[",
        "<(",
        ">(",
        "a=(",
        "((",
        "case x in x) ",
        "case x in (",
        "f() { ",
        "function f ",
        "else ",
        "if true; then ",
        "<<E ",
        "<<'E'\n",
        "${a[",
        "${#",
        "${!",
        "a[",
        "'",
        "\"",
        "$'",
        "\\",
        "&& ",
        "| ",
        "|| ",
        "; ",
        "& ",
        "{a,",
        "{1..",
        "@(",
        "!(",
        "<<<",
        "for i in ",
        "select x in ",
        "echo $(time ",
        "\"${a:-'",
        "$(case x in x) ",
        "\u{0}",
        "\u{1f600}",
        "\r\n",
        "<< \r",
        "echo${",
        ">&",
        "{fd}>",
    ];
    for shape in shapes {
        for times in [1, 2, 25, 40, 100, 300, 1000, 5000] {
            let text = shape.repeat(times);
            run(&Case {
                command: text,
                ..Case::default()
            });
        }
    }
    for left in shapes {
        for right in shapes {
            let text = format!("{}{}", left.repeat(20), right.repeat(20)).repeat(3);
            run(&Case {
                command: text,
                ..Case::default()
            });
        }
    }
}

#[test]
fn equal_texts_are_parsed_once_and_the_store_is_bounded() {
    let mut scripts = Scripts::with_seed(7);
    let first = scripts.get("cd a && pytest");
    for n in 0..5000 {
        scripts.get(&format!("echo {n}"));
        assert!(std::sync::Arc::ptr_eq(
            &first,
            &scripts.get("cd a && pytest")
        ));
    }
    assert!(scripts.held() <= 1024);
}

proptest::proptest! {
    /// No text makes it panic; what comes out stays within its bounds.
    #[test]
    fn any_text_is_bounded(
        tool in "[a-zA-Z_.:-]{0,20}",
        arguments in "\\PC{0,200}",
        answer in "\\PC{0,200}",
        code in proptest::option::of(-300i32..300),
        cwd in proptest::option::of("[/a-zA-Z:\\\\.~$]{0,20}"),
        which in 0usize..12,
    ) {
        let roles = [
            Role::Edit, Role::Verify, Role::Read, Role::Shell, Role::Fetch, Role::Search,
            Role::Delegate, Role::Poll, Role::Wait, Role::Ask, Role::Finish, Role::Other,
        ];
        let facts = CallFacts {
            tool: &tool,
            role: roles[which],
            arguments: Some(&arguments),
            answer: Some(Excerpt { front: &answer, back: &answer }),
            exit_code: code,
            error_flag: None,
            cwd: cwd.as_deref(),
        };
        let settings = Settings::default();
        role(&tool, &settings);
        let understood = effects(&facts, &settings, &mut Scripts::default());
        proptest::prop_assert!(understood.effects.writes.len() <= 16);
        proptest::prop_assert!(understood.effects.hosts.len() <= 8);
    }

    /// Shell-like texts, JSON-wrapped members included.
    #[test]
    fn shell_like_texts(
        words in proptest::collection::vec(
            proptest::sample::select(vec![
                "pytest", "|", "&&", "||", ";", "&", "(", ")", "{", "}", "$(", "`", "\"", "'", "<<EOF", "EOF", "\n", ">", ">>", "rm", "-rf",
                "cd", "..", "/tmp/x", "$HOME", "${X:-", "if", "then", "fi", "while", "do", "done", "case", "in", "esac", "x)", ";;", "time", "!",
                "sudo", "env", "A=1", "timeout", "5", "bash", "-lc", "git", "-C", "stash", "docker", "exec", "--", "xargs", "find", "-exec", "curl",
                "-o", "https://a.test", "npm", "run", "test", "python", "-m", "coverage", "uv", "npx", "[[", "]]", "((", "))", "<(", "2>&1",
            ]),
            0..60,
        ),
    ) {
        let text = words.join(" ");
        run(&Case { command: text.clone(), ..Case::default() });
        let wrapped = serde_json::json!({"command": text, "path": text, "patch": text}).to_string();
        let settings = Settings::default();
        for tool in ["bash", "edit_file", "apply_patch", "read_file", "fetch", "run_tests", "wait"] {
            let facts = CallFacts {
                tool,
                role: role(tool, &settings),
                arguments: Some(&wrapped),
                ..CallFacts::default()
            };
            effects(&facts, &settings, &mut Scripts::default());
        }
    }
}
