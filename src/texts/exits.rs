//! The exit code that an answer tells.
//!
//! Invariant: a code is read only where a harness writes it: a member of a JSON object, the first line, or
//! one of the last three. Output that talks of exit codes is left alone.

use super::members::{Value, member, members};
use super::visible::strip;
use crate::model::Excerpt;

/// Members that hold an exit code.
const EXIT_MEMBERS: &[&str] = &[
    "exit_code",
    "exitcode",
    "returncode",
    "return_code",
    "exit_status",
    "exitstatus",
    "rc",
    "process_exit_code",
];

/// What stands before an exit code in a text, in lower case.
const EXIT_PHRASES: &[&str] = &[
    "exit code",
    "exit status",
    "exited with code",
    "exited with status",
    "exit_code",
    "return code",
    "returned exit code",
    "returned code",
    "returncode",
    "status code of process",
    "exitcode",
    "exited with",
];

/// The exit code that an answer tells: `[exit code: 2]`, `exit status 1`, JSON members. A code in the
/// middle of prose or output is not read: it must stand in the first or one of the last lines.
pub fn exit_code_in<'a>(text: impl Into<Excerpt<'a>>) -> Option<i32> {
    let text = text.into();
    let front = strip(text.front());
    if front.starts_with('{') {
        return json_exit_code(front);
    }
    let first = front.lines().next().into_iter();
    let last = strip(text.last()).lines().rev().take(3);
    first.chain(last).find_map(line_exit_code)
}

fn json_exit_code(text: &str) -> Option<i32> {
    if let Some(code) = member(text, EXIT_MEMBERS).and_then(Value::whole) {
        return Some(code);
    }
    // One level down: `{"output": "...", "metadata": {"exit_code": 1}}`.
    members(text).find_map(|(key, value)| match value {
        Value::Raw(raw) if raw.starts_with('{') && !key.is_empty() => {
            member(raw, EXIT_MEMBERS).and_then(Value::whole)
        }
        _ => None,
    })
}

fn line_exit_code(line: &str) -> Option<i32> {
    // A line that tells an exit code tells little else.
    if line.len() > 160 {
        return None;
    }
    let lower = line.to_ascii_lowercase();
    let phrase = EXIT_PHRASES
        .iter()
        .filter_map(|p| Some((lower.find(p)?, p.len())));
    let (at, length) = phrase.min_by_key(|found| (found.0, usize::MAX - found.1))?;
    // `<returncode>1</returncode>`, `[exit code: 1]`, `(exit code 1)`, `Exit status 1`.
    let before = lower.get(..at)?.trim_end();
    let opens = before.is_empty()
        || before.ends_with(['[', '(', '<', ':', ',', '.', '-', ';', '>', '{', '"'])
        || [
            "process",
            "command",
            "failed with",
            "returned",
            "finished with",
            "with",
            "shell",
            "error",
        ]
        .iter()
        .any(|word| before.ends_with(word));
    if !opens {
        return None;
    }
    let rest = lower
        .get(at + length..)?
        .trim_start_matches([':', '=', ' ', '>', '"', '\'']);
    let end = rest
        .char_indices()
        .find(|(at, c)| !(c.is_ascii_digit() || (*at == 0 && *c == '-')))
        .map_or(rest.len(), |(at, _)| at);
    rest.get(..end)?.parse().ok()
}
