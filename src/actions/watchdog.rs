//! What gptme's anomaly watchdog (first version) reads of a call: writers and browsers by exact name, one path or
//! URL each.
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

/// The host that the watchdog sees a call contact, as Python's `urlsplit` reads it.
pub(super) fn contact(call: &CallFacts<'_>) -> Option<String> {
    if !matches!(call.tool, "browser" | "read_web") {
        return None;
    }
    let arguments: Value = serde_json::from_str(call.arguments?).ok()?;
    let given = arguments
        .get("url")
        .into_iter()
        .chain(arguments.get("args").and_then(|list| list.get(0)))
        .find(|value| !matches!(value, Value::Null) && value.as_str() != Some(""));
    if let Some(given) = given {
        return host_of(given.as_str()?);
    }
    let line = arguments.get("content")?.as_str()?.trim().lines().next()?;
    let web = line.starts_with("http://") || line.starts_with("https://");
    web.then(|| host_of(line)).flatten()
}

/// The host of a URL as `urlsplit(url).hostname` gives it; `None` where that is none, or an error.
fn host_of(url: &str) -> Option<String> {
    let url: String = url
        .trim_start_matches(|c: char| c <= ' ')
        .chars()
        .filter(|c| !matches!(c, '\t' | '\r' | '\n'))
        .collect();
    let is_scheme = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    };
    let rest = match url.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => rest,
        _ => url.as_str(),
    };
    let rest = rest.strip_prefix("//")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let netloc = rest.get(..end)?;
    if netloc.contains('[') != netloc.contains(']') {
        return None;
    }
    let host = netloc.rsplit('@').next()?;
    let host = match host.split_once('[') {
        Some((_, bracketed)) => bracketed.split(']').next()?,
        None => host.split(':').next()?,
    };
    let (name, zone) = host.split_at(host.find('%').unwrap_or(host.len()));
    let host = name.to_lowercase() + zone;
    (!host.is_empty()).then_some(host)
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

    #[test]
    fn hosts_as_python_splits_urls() {
        for (url, expected) in [
            ("HTTPS://EXAMPLE.ORG:80/", Some("example.org")),
            ("https://github.com@evil.example/x", Some("evil.example")),
            ("https://example.org\\@github.com/", Some("github.com")),
            ("//example.org/a", Some("example.org")),
            ("example.org:80/a", None),
            ("file://server/share", Some("server")),
            ("http://[2001:DB8::1]/", Some("2001:db8::1")),
            ("http://[::1/", None),
            (" https://exam\nple.org?x", Some("example.org")),
            ("https:/example.org/", None),
            ("http:///path", None),
        ] {
            assert_eq!(host_of(url).as_deref(), expected, "{url}");
        }
    }
}
