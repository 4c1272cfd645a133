//! Which values are secrets: never shown in a report or in the printed configuration.

use super::expand::is_reference;
use super::tree::{Node, Place, Value};

/// Whether what stands under this key is a secret. Headers are as a whole: tokens travel in them under
/// any name.
pub(super) fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase().replace('-', "_");
    matches!(key.as_str(), "headers" | "auth" | "key_pem" | "credentials")
        || [
            "password",
            "passwd",
            "secret",
            "token",
            "authorization",
            "api_key",
            "apikey",
            "bearer",
            "cookie",
        ]
        .iter()
        .any(|word| key.contains(word))
}

/// The places of all secret values below `node` that are written out in the source. A reference to
/// the environment is none.
pub(super) fn places(node: &Node, inside: bool, found: &mut Vec<Place>) {
    match &node.value {
        Value::Scalar(scalar) => {
            let typed = scalar.typed.as_deref().unwrap_or(&scalar.text);
            if inside && !is_reference(typed) && !scalar.is_null() {
                found.push(node.place);
            }
        }
        Value::List(members) => {
            for member in members {
                places(member, inside, found);
            }
        }
        Value::Map(entries) => {
            for entry in entries {
                places(&entry.value, inside || is_secret(&entry.key), found);
            }
        }
    }
}

/// The places of what looks like a secret in a text that is no valid YAML: the rest of each line after
/// a key that names one, and everything indented under `headers:`.
pub(super) fn places_in_text(source: usize, text: &str, found: &mut Vec<Place>) {
    let mut start = 0;
    let mut under: Option<usize> = None;
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        let inside = under.is_some_and(|outer| indent > outer);
        if !inside && !line.trim().is_empty() {
            under = None;
        }
        let mut hide = None;
        let mut from = 0;
        for (colon, _) in line.match_indices(':') {
            let key = line.get(from..colon).unwrap_or("");
            let word = key
                .rsplit(|c: char| c.is_whitespace() || "{[,".contains(c))
                .next()
                .unwrap_or("")
                .trim_matches(['"', '\'']);
            if is_secret(word) || (inside && from == 0) {
                hide = Some(colon + 1);
                if is_secret(word) && under.is_none() {
                    under = Some(indent);
                }
                break;
            }
            from = colon + 1;
        }
        if let Some(hide) = hide {
            let kept = line.trim_end().len();
            if kept > hide {
                found.push(Place {
                    source,
                    start: start + hide,
                    end: start + kept,
                });
            }
        }
        start += line.len();
    }
}
