//! Runs as people would write them down: a line a step (`tests/fixtures/field/healthy/runs.txt` says how).
#![expect(
    unreachable_pub,
    clippy::unwrap_used,
    reason = "shared by test files; fixtures are sound"
)]

use serde_json::json;

use crate::field::{Case, Policy, Step};

/// `\n`, `\t`, `\|` and `\\` for what cannot stand in a line.
pub fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some(other @ ('\\' | '|')) => out.push(other),
                Some(other) => out.extend(['\\', other]),
                None => out.push('\\'),
            },
            _ => out.push(c),
        }
    }
    out
}

/// A case of which nothing may be said.
pub fn silent(id: &str, steps: Vec<Step>) -> Case {
    Case {
        id: id.to_owned(),
        kind: Vec::new(),
        confidence: "high".to_owned(),
        task: None,
        tools: None,
        workspace: None,
        policy: Policy::default(),
        steps,
        expect: Vec::new(),
        also_ok: Vec::new(),
        must_not: vec!["*".to_owned()],
        max_alerts: None,
        why: "healthy".to_owned(),
    }
}

/// The cases of a text.
pub fn parse(text: &str) -> Vec<Case> {
    text.split("\n== ").skip(1).map(one).collect()
}

fn one(text: &str) -> Case {
    let (head, body) = text.split_once('\n').unwrap();
    let mut words = head.split(' ');
    let mut case = silent(words.next().unwrap(), script(body));
    for word in words {
        let (name, value) = word.split_once('=').unwrap();
        let list = || Some(value.split(',').map(str::to_owned).collect());
        match name {
            "ws" => case.workspace = Some(unescape(value)),
            "hosts" => case.policy.known_hosts = list(),
            "tools" => case.tools = list(),
            _ => panic!("{head}"),
        }
    }
    case
}

/// The steps of the lines of a script.
pub fn script(lines: &str) -> Vec<Step> {
    let (mut at, mut turn, mut turns) = (3_000, 0, false);
    let mut steps: Vec<Step> = Vec::new();
    for line in lines.lines().filter(|line| !line.is_empty()) {
        if let Some(seconds) = line.strip_prefix('+') {
            at += seconds.parse::<i64>().unwrap() * 1000;
        } else if line == "turn" {
            (turn, turns, at) = (turn + 1, true, at + 60_000);
        } else {
            let mut step = step(line);
            (step.t_ms, step.turn) = (at, Some(turn));
            steps.push(step);
            at += 3_000;
        }
    }
    if !turns {
        steps.iter_mut().for_each(|step| step.turn = None);
    }
    steps
}

fn step(line: &str) -> Step {
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    let rest = if verb.starts_with('{') { line } else { rest };
    let parts: Vec<&str> = rest.split(" | ").map(str::trim).collect();
    let (call, result) = rest.split_once(" =>").unwrap_or((rest, ""));
    let result = result.strip_prefix(' ').unwrap_or(result);
    let part = |at: usize| unescape(parts.get(at).unwrap_or(&"").trim_end_matches('|').trim());
    match verb {
        "$" => {
            let (exit, output) = result.split_once(' ').unwrap_or((result, ""));
            shell(&unescape(call), exit.parse().unwrap(), &unescape(output))
        }
        "edit" => tool(
            "edit_file",
            &json!({ "path": part(0), "old": part(1), "new": part(2) }).to_string(),
            "ok: 1 replacement",
        ),
        "write" => tool(
            "write_file",
            &json!({ "path": part(0), "content": part(1) }).to_string(),
            "ok",
        ),
        "read" => tool(
            "read_file",
            &json!({ "path": unescape(call) }).to_string(),
            &unescape(result),
        ),
        "think" => text(rest, "tool_calls"),
        "say" => text(rest, "stop"),
        "final" => Step {
            last: Some(unescape(rest)),
            ..Step::default()
        },
        _ => {
            let mut step = tool(verb, call.trim(), &unescape(result));
            step.error = result.starts_with("ERR ");
            step
        }
    }
}

/// A shell command that took a second.
pub fn shell(command: &str, exit: i64, output: &str) -> Step {
    Step {
        exit_code: Some(exit),
        error: exit != 0,
        ..tool("bash", &json!({ "command": command }).to_string(), output)
    }
}

/// A call that took a second and succeeded.
pub fn tool(name: &str, args: &str, result: &str) -> Step {
    Step {
        tool: Some(name.to_owned()),
        args: args.to_owned(),
        result: Some(result.to_owned()),
        dur_ms: 1_000,
        ..Step::default()
    }
}

fn text(text: &str, finish: &str) -> Step {
    Step {
        response: Some(unescape(text)),
        finish_reason: Some(finish.to_owned()),
        ..Step::default()
    }
}
