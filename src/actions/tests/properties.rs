//! What holds for any text, hostile ones first.

use super::*;

const SHAPES: &[&str] = &[
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

/// Shapes on which parsers hang or run out of stack; what passes the guard must come back.
#[test]
fn hostile_shapes_come_back() {
    for shape in SHAPES {
        for times in [1, 2, 25, 40, 100, 300, 1000, 5000] {
            let text = shape.repeat(times);
            run(&Case {
                command: text,
                ..Case::default()
            });
        }
    }
    for left in SHAPES {
        for right in SHAPES {
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
            infer: true,
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
