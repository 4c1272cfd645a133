//! References to the environment inside values: `${env:NAME}`, `${NAME}`, `${env:NAME:-default}`, `$$`.
//!
//! Invariant: what a variable holds is text. It is never read as YAML, so no variable can add keys.

use super::problems::Problems;
use super::report::Problem;
use super::tree::{Entry, Node, Value};

/// Looks a variable up.
pub(super) type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Expands every value of the tree. A value that cannot be is reported and dropped.
pub(super) fn expand(node: &mut Node, env: Environment<'_>, problems: &mut Problems) {
    match &mut node.value {
        Value::Scalar(scalar) => {
            if !scalar.text.contains('$') {
                return;
            }
            match expanded(&scalar.text, env) {
                Ok(text) => {
                    if text != scalar.text {
                        scalar.typed = Some(std::mem::replace(&mut scalar.text, text));
                    }
                }
                Err(wrong) => {
                    let (message, help) = wrong.words();
                    problems.push(Problem::error(node.place, message).helps(help));
                    problems.drop(node.place);
                }
            }
        }
        Value::List(members) => {
            for member in members {
                expand(member, env, problems);
            }
        }
        Value::Map(entries) => {
            for Entry { value, .. } in entries {
                expand(value, env, problems);
            }
        }
    }
}

#[derive(Debug, PartialEq)]
enum Wrong {
    Unset(String),
    Name(String),
    Scheme(String),
    Unclosed,
}

impl Wrong {
    fn words(self) -> (String, Option<String>) {
        match self {
            Self::Unset(name) => (
                format!("environment variable `{name}` is not set"),
                Some(format!("set it, or give a default: ${{env:{name}:-value}}")),
            ),
            Self::Name(name) => (
                format!("`{name}` is no name of an environment variable"),
                Some("a name has letters, digits and _; write $$ for a plain $".to_owned()),
            ),
            Self::Scheme(scheme) => (
                format!("`${{{scheme}:...}}` is not supported"),
                Some("only env: is, as in ${env:NAME}; write $$ for a plain $".to_owned()),
            ),
            Self::Unclosed => (
                "a `${` that is never closed".to_owned(),
                Some("write ${env:NAME}, or $${ for the plain characters".to_owned()),
            ),
        }
    }
}

fn expanded(text: &str, env: Environment<'_>) -> Result<String, Wrong> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        if let Some(after) = after.strip_prefix('$') {
            out.push('$');
            rest = after;
        } else if let Some(after) = after.strip_prefix('{') {
            let (reference, after) = after.split_once('}').ok_or(Wrong::Unclosed)?;
            out.push_str(&looked_up(reference, env)?);
            rest = after;
        } else {
            out.push('$');
            rest = after;
        }
    }
    out.push_str(rest);
    Ok(out)
}

fn looked_up(reference: &str, env: Environment<'_>) -> Result<String, Wrong> {
    let body = reference.strip_prefix("env:").unwrap_or(reference);
    let (name, default) = match body.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (body, None),
    };
    if let Some((scheme, _)) = name.split_once(':') {
        return Err(Wrong::Scheme(scheme.to_owned()));
    }
    if !is_name(name) {
        return Err(Wrong::Name(name.to_owned()));
    }
    // As in a shell and in the collector, `:-` also covers a variable that is set but empty.
    match (env(name), default) {
        (Some(value), None) => Ok(value),
        (Some(value), Some(_)) if !value.is_empty() => Ok(value),
        (_, Some(default)) => Ok(default.to_owned()),
        (None, None) => Err(Wrong::Unset(name.to_owned())),
    }
}

fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Whether a text as typed is nothing but one reference, so that it holds no secret itself.
pub(super) fn is_reference(typed: &str) -> bool {
    typed
        .trim()
        .strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'))
        .is_some_and(|inner| !inner.contains([':', '}']) || inner.starts_with("env:"))
        && !typed.contains(":-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(name: &str) -> Option<String> {
        match name {
            "HOST" => Some("jaeger".to_owned()),
            "EMPTY" => Some(String::new()),
            "TRAP" => Some("${env:HOST}: {a: b}".to_owned()),
            _ => None,
        }
    }

    #[test]
    fn references() {
        for (text, want) in [
            ("${env:HOST}:4317", "jaeger:4317"),
            ("${HOST}", "jaeger"),
            ("${env:NONE:-localhost}:1", "localhost:1"),
            ("${NONE:-}", ""),
            ("${EMPTY:-x}", "x"),
            ("${EMPTY}", ""),
            ("$$", "$"),
            ("$${env:HOST}", "${env:HOST}"),
            ("$$${HOST}", "$jaeger"),
            ("a$b$", "a$b$"),
            ("${TRAP}", "${env:HOST}: {a: b}"),
            ("${NONE:-a:b}", "a:b"),
        ] {
            assert_eq!(expanded(text, &env).as_deref(), Ok(want), "{text}");
        }
    }

    #[test]
    fn what_is_wrong() {
        for (text, want) in [
            ("${env:NONE}", Wrong::Unset("NONE".into())),
            ("${NONE", Wrong::Unclosed),
            ("${1A}", Wrong::Name("1A".into())),
            ("${}", Wrong::Name(String::new())),
            ("${file:/etc/x}", Wrong::Scheme("file".into())),
        ] {
            assert_eq!(expanded(text, &env), Err(want), "{text}");
        }
    }

    #[test]
    fn a_reference_alone_hides_nothing() {
        assert!(is_reference("${env:TOKEN}"));
        assert!(is_reference("${TOKEN}"));
        for secret in ["Bearer ${env:TOKEN}", "${env:TOKEN:-hunter2}", "hunter2"] {
            assert!(!is_reference(secret), "{secret}");
        }
    }
}
