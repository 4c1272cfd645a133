//! What gptme's anomaly watchdog (first version) reads of a call: writers by exact name, one path each.
//!
//! Invariant: no tilde, no variable, no URL, no drive, no case folding; what it would raise an error on
//! (a path that is no text, or holds NUL) is no write at all: it fails open.

use serde_json::Value;

use super::CallFacts;

/// A write as the watchdog sees it.
pub(super) struct SourceWrite {
    /// Its path, where one is given.
    pub(super) path: Option<String>,
}

/// The write that a call is, if it is one.
pub(super) fn write(call: &CallFacts<'_>) -> Option<SourceWrite> {
    if !matches!(call.tool, "save" | "append" | "patch") {
        return None;
    }
    let arguments = call
        .arguments
        .and_then(|text| serde_json::from_str::<Value>(text).ok())
        .unwrap_or_default();
    let given = ["path", "filename"]
        .into_iter()
        .filter_map(|name| arguments.get(name))
        .chain(arguments.get("args").and_then(|list| list.get(0)))
        .find(|value| !matches!(value, Value::Null) && value.as_str() != Some(""));
    let path = match given {
        Some(Value::String(path)) if path.contains('\0') => return None,
        Some(Value::String(path)) => Some(path.clone()),
        Some(_) => return None,
        None if call.tool == "patch" => arguments
            .get("content")
            .and_then(Value::as_str)
            .and_then(patched),
        None => None,
    };
    Some(SourceWrite { path })
}

/// The path of the first `+++` line, without `b/`.
fn patched(body: &str) -> Option<String> {
    let line = body.lines().find_map(|line| line.strip_prefix("+++ "))?;
    let path = line.trim();
    let path = path.strip_prefix("b/").unwrap_or(path);
    (!path.is_empty() && path != "/dev/null").then(|| path.to_owned())
}

/// Takes out dots and doubled slashes of an absolute path; there are no links to follow in spans.
pub(super) fn resolve(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_first_version_reads() {
        let path = |tool, arguments| {
            let call = CallFacts {
                tool,
                arguments: Some(arguments),
                ..CallFacts::default()
            };
            write(&call).map(|write| write.path.unwrap_or_default())
        };
        for (tool, arguments, expected) in [
            ("save", r#"{"path": "a", "filename": "b"}"#, Some("a")),
            ("append", r#"{"filename": "b"}"#, Some("b")),
            ("save", r#"{"args": ["c", "d"]}"#, Some("c")),
            (
                "patch",
                r#"{"content": "--- a/x\n+++ b//opt/y\n"}"#,
                Some("/opt/y"),
            ),
            ("save", r#"{"path": 5}"#, None),
            ("save", r#"{"path": "a\u0000b"}"#, None),
            ("save.text", r#"{"path": "a"}"#, None),
            ("shell", r#"{"command": "echo > a"}"#, None),
            ("save", "{}", Some("")),
        ] {
            assert_eq!(path(tool, arguments).as_deref(), expected, "{arguments}");
        }
        assert_eq!(resolve("//srv/./a/../../../b/"), "/b");
    }
}
