//! The table of commands (tests/fixtures/commands/*.txt) and the properties that hold for any text.

mod outputs;
mod properties;
mod tools;

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
            (check.aside, "aside"),
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
    for link in &effects.links {
        let target = link.target.as_deref().unwrap_or("nothing");
        let _ = write!(out, "; links {} to {target}", link.path);
    }
    for host in &effects.hosts {
        let _ = write!(out, "; host {host}");
    }
    if let Some(stash) = effects.stash {
        let _ = write!(out, "; stash {stash:?}");
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
    let text = include_str!("../../../tests/fixtures/commands/table.txt");
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
