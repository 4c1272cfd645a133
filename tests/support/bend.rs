//! Ways to bend a case into another one that is as healthy, or as ill, as it was.
#![expect(
    unreachable_pub,
    clippy::unwrap_used,
    reason = "shared by test files; fixtures are sound"
)]

use serde_json::{Map, Value, json};

use crate::field::{Case, Step};

/// How many vocabularies [`vocabulary`] knows.
pub const VOCABULARIES: usize = 9;

type Args = Map<String, Value>;

/// The case in the words of another agent's tools: the same work, other names of tools and arguments.
pub fn vocabulary(case: &Case, which: usize) -> Case {
    let mut case = case.clone();
    let root = case.workspace.clone();
    for (at, step) in case.steps.iter_mut().enumerate() {
        let (Some(tool), Ok(args)) = (&step.tool, serde_json::from_str::<Args>(&step.args)) else {
            continue;
        };
        if let Some((name, args)) = renamed(tool, &args, which, at, root.as_deref()) {
            step.tool = Some(name.to_owned());
            step.args = args.to_string();
        }
    }
    if let Some(tools) = &mut case.tools {
        for tool in tools {
            let args =
                json!({ "command": "x", "path": "x", "old": "x", "new": "x", "content": "x" });
            let args = args.as_object().unwrap();
            if let Some((name, _)) = renamed(tool, args, which, 0, root.as_deref()) {
                name.clone_into(tool);
            }
        }
    }
    case
}

#[expect(clippy::too_many_lines, reason = "one table")]
fn renamed(
    tool: &str,
    args: &Args,
    which: usize,
    at: usize,
    root: Option<&str>,
) -> Option<(&'static str, Value)> {
    let get = |name: &str| args.get(name).cloned().unwrap_or(Value::Null);
    let kind = match tool {
        "bash" | "Bash" => "shell",
        "read_file" | "ReadFile" if args.len() == 1 || args.contains_key("old") => "read",
        "edit_file" if args.contains_key("path") => "edit",
        "write_file" => "write",
        _ => return None,
    };
    let (command, path) = (get("command"), get("path"));
    let (old, new, content) = (get("old"), get("new"), get("content"));
    let why = format!("Step {at} of the plan");
    let absolute = match (path.as_str(), root) {
        (Some(text), Some(root)) if !text.starts_with('/') && !text.contains(['\\', ':']) => {
            Value::from(format!("{root}/{text}"))
        }
        _ => path.clone(),
    };
    let hunk = |sign: &str, text: &Value| {
        let lines = text.as_str().unwrap_or_default().split('\n');
        lines.map(|l| format!("{sign}{l}\n")).collect::<String>()
    };
    let plain = |text: &Value| text.as_str().unwrap_or_default().to_owned();
    Some(match (which, kind) {
        (0, "shell") => ("Bash", json!({ "command": command, "description": why })),
        (0, "read") => ("Read", json!({ "file_path": absolute })),
        (0, "edit") => (
            "Edit",
            json!({ "file_path": absolute, "old_string": old, "new_string": new }),
        ),
        (0, "write") => (
            "Write",
            json!({ "file_path": absolute, "content": content }),
        ),
        (1, "shell") => (
            "shell",
            json!({ "command": ["bash", "-lc", command], "timeout_ms": 1000 + at }),
        ),
        (1, "edit") => {
            let patch = format!(
                "*** Begin Patch\n*** Update File: {}\n@@\n{}{}*** End Patch",
                plain(&path),
                hunk("-", &old),
                hunk("+", &new)
            );
            ("apply_patch", json!({ "input": patch }))
        }
        (1, "write") => {
            let patch = format!(
                "*** Begin Patch\n*** Add File: {}\n{}*** End Patch",
                plain(&path),
                hunk("+", &content)
            );
            ("apply_patch", json!({ "input": patch }))
        }
        (2, "shell") => (
            "run_shell_command",
            json!({ "command": command, "description": why }),
        ),
        (2, "read") => ("read_file", json!({ "absolute_path": absolute })),
        (2, "edit") => (
            "replace",
            json!({ "file_path": absolute, "old_string": old, "new_string": new, "instruction": why }),
        ),
        (2, "write") => (
            "write_file",
            json!({ "file_path": absolute, "content": content }),
        ),
        (3, "shell") => (
            "execute_bash",
            json!({ "command": command, "is_input": "false", "thought": why }),
        ),
        (3, "read") => (
            "str_replace_editor",
            json!({ "command": "view", "path": path }),
        ),
        (3, "edit") => (
            "str_replace_editor",
            json!({ "command": "str_replace", "path": path, "old_str": old, "new_str": new }),
        ),
        (3, "write") => (
            "str_replace_editor",
            json!({ "command": "create", "path": path, "file_text": content }),
        ),
        (4, "shell") => (
            "execute_command",
            json!({ "command": command, "requires_approval": false }),
        ),
        (4, "edit") => {
            let diff = format!(
                "------- SEARCH\n{}\n=======\n{}\n+++++++ REPLACE",
                plain(&old),
                plain(&new)
            );
            ("replace_in_file", json!({ "path": path, "diff": diff }))
        }
        (4, "write") => ("write_to_file", json!({ "path": path, "content": content })),
        (5, "shell") => ("developer__shell", json!({ "command": command })),
        (5, "read") => (
            "developer__text_editor",
            json!({ "command": "view", "path": path }),
        ),
        (5, "edit") => (
            "developer__text_editor",
            json!({ "command": "str_replace", "path": path, "old_str": old, "new_str": new }),
        ),
        (5, "write") => (
            "developer__text_editor",
            json!({ "command": "write", "path": path, "file_text": content }),
        ),
        (6, "shell") => (
            "bash",
            json!({ "command": command, "description": why, "timeout": 120_000 }),
        ),
        (6, "read") => ("read", json!({ "filePath": absolute })),
        (6, "edit") => (
            "edit",
            json!({ "filePath": absolute, "oldString": old, "newString": new }),
        ),
        (6, "write") => ("write", json!({ "filePath": absolute, "content": content })),
        (7, "shell") => ("mcp__shell__run_command", json!({ "command": command })),
        (7, "read") => ("mcp__filesystem__read_text_file", json!({ "path": path })),
        (7, "edit") => (
            "mcp__filesystem__edit_file",
            json!({ "path": path, "edits": [{ "oldText": old, "newText": new }], "dryRun": false }),
        ),
        (7, "write") => (
            "mcp__filesystem__write_file",
            json!({ "path": path, "content": content }),
        ),
        (8, "shell") => (
            "run_in_terminal",
            json!({ "command": command, "explanation": why, "isBackground": false }),
        ),
        (8, "read") => (
            "read_file",
            json!({ "filePath": absolute, "startLine": 1, "endLine": 400 }),
        ),
        (8, "edit") => (
            "replace_string_in_file",
            json!({ "filePath": absolute, "oldString": old, "newString": new }),
        ),
        (8, "write") => (
            "create_file",
            json!({ "filePath": absolute, "content": content }),
        ),
        _ => return None,
    })
}

/// The case with every time stretched.
pub fn stretched(case: &Case, percent: i64) -> Case {
    let mut case = case.clone();
    for step in &mut case.steps {
        step.t_ms = step.t_ms * percent / 100;
        step.dur_ms = step.dur_ms * percent / 100;
    }
    case
}

fn end(case: &Case) -> i64 {
    case.steps.iter().map(|step| step.t_ms).max().unwrap_or(0)
}

/// The case as several turns of one conversation, ten minutes apart.
pub fn turns(case: &Case, count: i64) -> Option<Case> {
    if case.steps.iter().any(|step| step.turn.is_some()) {
        return None;
    }
    let mut out = case.clone();
    out.steps.clear();
    for turn in 0..count {
        for (at, step) in case.steps.iter().enumerate() {
            let mut step = step.clone();
            step.turn = Some(turn);
            step.t_ms += turn * (end(case) + 600_000);
            step.round = step.round.map(|round| round + turn * 1000);
            step.call_id = step.call_id.map(|id| format!("{id}-{turn}-{at}"));
            out.steps.push(step);
        }
    }
    Some(out)
}

/// Sentences of an agent that thinks aloud, each its own.
const THOUGHTS: &[&str] = &[
    "Let me look at the next piece.",
    "That was what I hoped for; on to the following one.",
    "Now the other side of it.",
    "I want to see how this behaves.",
    "Good. The next thing on my list.",
    "This needs one more step.",
    "Ich sehe mir das Nächste an.",
    "Ahora el siguiente.",
    "接下来看下一个。",
    "Passons à la suite.",
    "次を見てみます。",
    "Almost there, a little more to look at.",
];

/// A model text before each call.
pub fn narrated(case: &Case) -> Option<Case> {
    if case.tools.is_some()
        || case
            .steps
            .iter()
            .any(|s| s.round.is_some() || s.tool.is_none())
    {
        return None;
    }
    let mut out = case.clone();
    out.steps.clear();
    for (at, step) in case.steps.iter().enumerate() {
        out.steps.push(Step {
            response: Some(format!("{} ({at})", THOUGHTS.get(at % THOUGHTS.len())?)),
            finish_reason: Some("tool_calls".to_owned()),
            t_ms: step.t_ms - step.dur_ms - 40,
            agent: step.agent.clone(),
            turn: step.turn,
            ..Step::default()
        });
        out.steps.push(step.clone());
    }
    Some(out)
}

/// A case of calls only, without limits or policy: such can be put beside each other.
fn plain(case: &Case) -> bool {
    case.workspace.is_none()
        && case.tools.is_none()
        && case.task.is_none()
        && case.policy.known_hosts.is_none()
        && case
            .policy
            .budget
            .steps
            .or(case.policy.budget.wall_ms)
            .is_none()
        && case.policy.budget.cost_usd.is_none()
        && case
            .steps
            .iter()
            .all(|s| s.tool.is_some() && s.agent.is_none() && s.turn.is_none() && s.round.is_none())
}

/// Whether two cases can be one: calls only, and most of them succeed.
fn joinable(a: &Case, b: &Case) -> bool {
    let failed = |case: &Case| case.steps.iter().filter(|step| step.error).count();
    plain(a) && plain(b) && (failed(a) + failed(b)) * 3 <= a.steps.len() + b.steps.len()
}

/// Two cases at once, each by an agent of its own.
pub fn beside(a: &Case, b: &Case) -> Option<Case> {
    if !joinable(a, b) {
        return None;
    }
    let mut out = a.clone();
    out.steps
        .iter_mut()
        .for_each(|s| s.agent = Some("left".to_owned()));
    out.steps.extend(b.steps.iter().cloned().map(|mut step| {
        step.agent = Some("right".to_owned());
        step.t_ms += 137;
        step
    }));
    out.steps.sort_by_key(|step| step.t_ms);
    Some(out)
}

/// One case after the other, by one agent.
pub fn after(a: &Case, b: &Case) -> Option<Case> {
    if !joinable(a, b) {
        return None;
    }
    let mut out = a.clone();
    let shift = end(a) + 5_000;
    out.steps.extend(b.steps.iter().cloned().map(|mut step| {
        step.t_ms += shift;
        step
    }));
    Some(out)
}

/// Groups of words that may stand for each other.
const NOUNS: &[[&str; 4]] = &[
    ["price", "tariff", "preis", "価格"],
    ["orders", "bookings", "auftraege", "注文"],
    ["users", "members", "mitglieder", "用户"],
    ["invoice", "receipt", "rechnung", "发票"],
    ["city", "village", "stadt", "都市"],
    ["login", "signin", "anmeldung", "登录"],
    ["rates", "fees", "gebühren", "料金"],
    ["view", "panel", "ansicht", "画面"],
    ["cart", "basket", "warenkorb", "カート"],
    ["core", "kernel", "kern", "核心"],
    ["nightly", "weekly", "nächtlich", "夜间"],
    ["main", "primary", "haupt", "主"],
    ["north", "upper", "nord", "北"],
    ["zinc", "brass", "zink", "锌"],
    ["mill", "wheel", "mühle", "水车"],
    ["plan", "sketch", "entwurf", "计划"],
];

/// The case about other things: words of its arguments and results replaced, the same everywhere.
pub fn nouns(case: &Case, column: usize) -> Option<Case> {
    let replace = |text: &str| {
        let mut out = text.to_owned();
        for row in NOUNS {
            if let (Some(from), Some(to)) = (row.first(), row.get(column)) {
                out = out.replace(from, to);
            }
        }
        out
    };
    let mut out = case.clone();
    let mut changed = false;
    for step in out.steps.iter_mut().filter(|step| step.tool.is_some()) {
        let args = replace(&step.args);
        changed |= args != step.args;
        step.args = args;
        step.result = step.result.as_deref().map(replace);
    }
    changed.then_some(out)
}

/// The case with other numbers: each run of digits grows by one more digit, so what differed differs, what
/// was equal is.
pub fn numbers(case: &Case, digit: char) -> Option<Case> {
    let fixed = case.workspace.is_some() || case.policy.known_hosts.is_some();
    let shell = case.steps.iter().any(|step| {
        step.exit_code.is_some() || step.args.contains('-') || !step.args.starts_with('{')
    });
    if fixed || shell || case.steps.iter().any(|step| step.last.is_some()) {
        return None;
    }
    let grow = |text: &str| {
        let mut out = String::new();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            out.push(c);
            if c.is_ascii_digit() && !chars.peek().is_some_and(char::is_ascii_digit) {
                out.push(digit);
            }
        }
        // No number of JSON begins with a zero.
        out.replace(&format!(" 0{digit}"), &format!(" {digit}0"))
            .replace(&format!(":0{digit}"), &format!(":{digit}0"))
    };
    let mut out = case.clone();
    for step in &mut out.steps {
        step.args = grow(&step.args);
        step.result = step.result.as_deref().map(grow);
    }
    Some(out)
}

/// The calls in another order, at the times of the old one: for cases whose calls do not hang on each other.
pub fn reordered(case: &Case, order: impl Fn(usize, usize) -> usize) -> Case {
    let mut out = case.clone();
    let count = case.steps.len();
    for (at, slot) in out.steps.iter_mut().enumerate() {
        let mut step = case.steps[order(at, count)].clone();
        (step.t_ms, step.dur_ms) = (slot.t_ms, slot.dur_ms);
        *slot = step;
    }
    out
}

/// The calls of a case in batches that run at the same time, each asked for by one model answer.
pub fn parallel(case: &Case, size: usize) -> Case {
    let mut out = case.clone();
    let starts: Vec<i64> = case.steps.iter().map(|step| step.t_ms).collect();
    for (at, step) in out.steps.iter_mut().enumerate() {
        let first = at / size * size;
        step.round = Some(i64::try_from(first).unwrap());
        step.dur_ms = 400;
        step.t_ms = starts[first] + 10 * i64::try_from(at % size).unwrap();
    }
    out
}
