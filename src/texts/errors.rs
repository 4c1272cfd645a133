//! What an answer says about failure: error shapes, and the class of an error.
//!
//! Invariant: a text looks like an error only by its form (how it begins, a member that says so), never
//! because the word occurs in it. A class is the same for two errors that differ in numbers, ids, paths
//! and quoted names only; the names are told apart in `names`.

use xxhash_rust::xxh3::xxh3_64;

use super::members::{Value, folded, member, members};
use super::visible::strip;
use crate::model::Excerpt;

/// How an error begins, in lower case.
const BEGINNINGS: &[&str] = &[
    "error:",
    "error ",
    "error -",
    "error\n",
    "errors:",
    "fatal:",
    "fatal error",
    "exception:",
    "exception in ",
    "traceback (most recent call last)",
    "unhandled ",
    "uncaught ",
    "[errno",
    "errno ",
    "panic:",
    "thread 'main' panicked",
    "failed:",
    "failed to ",
    "failure:",
    "npm err!",
    "syntaxerror",
    "unable to ",
    "cannot ",
    "can't ",
    "could not ",
    "couldn't ",
    "invalid ",
    "permission denied",
    "access denied",
    "no such file or directory",
    "command not found",
    "segmentation fault",
    "<tool_use_error>",
    "<error>",
    "mcp error",
    "api error",
    "http error",
    "error executing",
    "tool error",
    "tool execution failed",
    "[error]",
    "error]",
    "err:",
    "**error",
    "execution failed",
    "command failed",
    "request failed",
    "no such function",
    "no such tool",
    "unknown tool",
    "refused:",
    "timed out",
    "timeout:",
    "usage error",
    "inputvalidationerror",
    "validation error",
    "e: ",
    "econn",
    "eaddr",
    "eacces",
    "enoent",
    "connection refused",
    "oserror",
    "the tool call failed",
    "no tool called",
    "sandbox: ",
    "error[",
    "curl: (",
    "err_",
    "caused by:",
    "fatal: ",
    "the term '",
];

/// Words after which a colon makes an error of the beginning of a text: `bash: x: command not found`.
const SHELL_ERRORS: &[&str] = &[
    ": command not found",
    ": no such file or directory",
    ": permission denied",
    ": not a directory",
    ": is a directory",
    ": cannot open",
    ": invalid option",
    ": unrecognized option",
    ": illegal option",
    ": syntax error",
    ": extra operand",
    ": missing operand",
    ": unexpected eof",
    ": cannot access",
    ": cannot stat",
    ": read error",
    ": too many arguments",
    ": command timed out",
    ": operation not permitted",
    ": no space left on device",
    ": address already in use",
    ": could not resolve host",
    ": name or service not known",
    ": connection refused",
    ": error response from daemon",
    "' is not recognized as",
    "is not a directory",
    "syntax error near",
    "malformed command",
    "command timed out",
];

/// Whether the text has the form of an error.
pub fn looks_like_error<'a>(text: impl Into<Excerpt<'a>>) -> bool {
    let text = text.into();
    let front = strip(text.front());
    if front.starts_with('{') {
        return json_error(front);
    }
    let first: String = front
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(240)
        .flat_map(char::to_lowercase)
        .collect();
    if front.len() > first.len() && first.starts_with("error") && first == "error" {
        return true;
    }
    first == "error"
        || first == "failed"
        || BEGINNINGS.iter().any(|start| first.starts_with(start))
        || named_error(front.lines().next().unwrap_or_default())
        || SHELL_ERRORS.iter().any(|end| first.contains(end))
        || front.lines().take(4).any(|line| {
            line.starts_with("Traceback (most recent call last)")
                || (line.starts_with("Try '") && line.contains("--help"))
        })
}

/// `ValueError: ...`, `requests.exceptions.HTTPError: ...`, `java.lang.NullPointerException`.
fn named_error(line: &str) -> bool {
    let name = line.split([':', ' ', '(']).next().unwrap_or_default();
    let last = name.rsplit(['.', '$']).next().unwrap_or_default();
    let typed = last.len() > 5 && last.starts_with(|c: char| c.is_ascii_uppercase());
    typed
        && (last.ends_with("Error") || last.ends_with("Exception"))
        && (line.len() == name.len()
            || line
                .get(name.len()..)
                .is_some_and(|r| r.starts_with([':', '('])))
}

/// A JSON object that says so: an error member, `isError`, a failed state, `success` or `ok` false.
fn json_error(text: &str) -> bool {
    let mut buffer = [0; 24];
    members(text).any(|(key, value)| match folded(key, &mut buffer) {
        "error" | "errors" | "exception" | "traceback" | "error_message" | "errormessage" => {
            !value.is_nothing()
        }
        "iserror" | "is_error" | "failed" => value.is("true"),
        "success" | "ok" | "succeeded" => value.is("false"),
        "status" | "state" | "result" | "type" | "outcome" => match value {
            Value::Text(text) => ["error", "failed", "failure", "exception"]
                .iter()
                .any(|state| text.eq_ignore_ascii_case(state)),
            Value::Raw(raw) => key.eq_ignore_ascii_case("status") && http_error(raw),
        },
        "statuscode" | "status_code" | "httpstatus" | "http_status" => match value {
            Value::Text(text) | Value::Raw(text) => http_error(text),
        },
        _ => false,
    })
}

fn http_error(code: &str) -> bool {
    code.len() == 3 && code.starts_with(['4', '5']) && code.bytes().all(|b| b.is_ascii_digit())
}

/// The class of an error: a hash of the shape of its first telling line, with numbers, ids, paths, URLs
/// and quoted parts taken out. 0 when the text tells nothing.
pub fn error_class<'a>(text: impl Into<Excerpt<'a>>) -> u64 {
    let text = text.into();
    let line = telling_line(strip(text.front()), strip(text.last()));
    let shape = shape(line);
    if shape.is_empty() {
        return 0;
    }
    xxh3_64(shape.as_bytes()).max(1)
}

/// The line that says what went wrong: the last of a Python traceback, the error member of JSON, else the
/// first line that names an error, else the first that says anything.
pub(super) fn telling_line<'a>(front: &'a str, last: &'a str) -> &'a str {
    if front.starts_with('{') {
        let named = member(
            front,
            &[
                "error",
                "error_message",
                "message",
                "errors",
                "detail",
                "reason",
            ],
        );
        return match named {
            Some(Value::Text(text)) => first_line(text),
            Some(Value::Raw(raw)) if raw.starts_with('{') => {
                let inner = member(raw, &["message", "type", "code", "error", "detail"]);
                inner.and_then(Value::text).map_or(raw, first_line)
            }
            Some(Value::Raw(raw)) => raw,
            None => first_line(front),
        };
    }
    if front.contains("Traceback (most recent call last)") {
        let unindented = |line: &&str| !line.starts_with([' ', '\t']) && line.contains("Error");
        let named = last.lines().rev().take(40).find(unindented);
        return named.unwrap_or_else(|| last.lines().next_back().unwrap_or_default());
    }
    let said = |line: &&str| line.chars().any(char::is_alphanumeric);
    let wrong = |line: &&str| {
        let lower = line
            .get(..200.min(line.len()))
            .unwrap_or(line)
            .to_ascii_lowercase();
        [
            "error",
            "fatal",
            "failed",
            "denied",
            "cannot",
            "not found",
            "exception",
            "refused",
            "no such",
        ]
        .iter()
        .any(|word| lower.contains(word))
    };
    front
        .lines()
        .take(60)
        .find(wrong)
        .or_else(|| front.lines().find(said))
        .unwrap_or_default()
}

fn first_line(text: &str) -> &str {
    text.lines()
        .find(|line| line.chars().any(char::is_alphanumeric))
        .unwrap_or_default()
}

/// The words of a line without those that vary: numbers, ids, paths, URLs, quoted parts.
fn shape(line: &str) -> String {
    let mut shape = String::new();
    let mut quote: Option<char> = None;
    let mut words = 0;
    for token in line.split_whitespace() {
        // What follows is detail.
        if words >= 24 {
            break;
        }
        let opening = token
            .chars()
            .find(|c| c.is_alphanumeric() || QUOTES.contains(*c));
        if let Some(close) = quote {
            if closes(token, close) {
                quote = None;
            }
            continue;
        }
        if let Some(open) = opening.filter(|c| QUOTES.contains(*c)) {
            let close = closing(open);
            let rest = token.split_once(open).map_or("", |(_, rest)| rest);
            // Only a quote that closes somewhere opens one: `don't` and feet do not.
            if !closes(rest, close) && line.matches(close).count() > 1 {
                quote = Some(close);
            }
            shape.push_str("q ");
            words += 1;
            continue;
        }
        if varies(token) || named_before(line, token) {
            continue;
        }
        for c in token
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, '_' | '!'))
        {
            shape.extend(c.to_lowercase());
        }
        shape.push(' ');
        words += 1;
    }
    shape.truncate(shape.trim_end().len());
    shape
}

const QUOTES: &str = "'\"`\u{2018}\u{201c}";

/// What ends a quotation.
pub(super) fn closing(open: char) -> char {
    match open {
        '\u{2018}' => '\u{2019}',
        '\u{201c}' => '\u{201d}',
        same => same,
    }
}

fn closes(token: &str, close: char) -> bool {
    token
        .trim_end_matches([',', '.', ':', ';', ')', ']', '?', '!'])
        .ends_with(close)
}

/// The name in `x: command not found`.
pub(super) fn named_before(line: &str, token: &str) -> bool {
    line.split_once(": command not found")
        .is_some_and(|(before, _)| before.ends_with(token.trim_end_matches(':')))
}

/// A file name, but no name of an error type.
pub(super) fn file_name(word: &str) -> bool {
    let last = word.rsplit('.').next().unwrap_or_default();
    let dotted = word.len() > last.len() + 1 && !last.is_empty();
    dotted && !last.ends_with("Error") && !last.ends_with("Exception")
}

/// A word that changes from case to case: it holds a digit, a path, a URL or an address. Known codes stay:
/// `404`, `EADDRINUSE`, `E0308`, `-32602`.
fn varies(token: &str) -> bool {
    let bare = token.trim_matches(|c: char| !c.is_alphanumeric() && c != '-');
    if bare.contains(['/', '\\', '@', '=']) || file_name(bare) {
        return true;
    }
    if !bare.bytes().any(|b| b.is_ascii_digit()) {
        return false;
    }
    let code = bare.strip_prefix('-').unwrap_or(bare);
    let status = code.len() == 3 && http_error(code);
    let rpc = code.len() == 5 && code.starts_with("32") && bare.starts_with('-');
    let letter = code.len() <= 6
        && code.starts_with(|c: char| c.is_ascii_uppercase())
        && code
            .get(1..)
            .is_some_and(|d| d.len() >= 3 && d.bytes().all(|b| b.is_ascii_digit()));
    !(status || rpc || letter)
}
