//! Which values are secrets: never shown in a report or in the printed configuration.

use super::expand::is_reference;
use super::tree::{Node, Place, Value};

/// How far a key may name a secret, by where it stands.
///
/// Ids of components are names, not keys; below `processors` names of tools and attributes are keys, and nothing
/// is a secret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Secrecy {
    /// The whole configuration.
    #[default]
    Root,
    /// A section of components: its keys are their ids.
    Section,
    /// Below `processors`.
    Never,
    /// Keys are looked at.
    Open,
    /// Below `auth`: the name of an authenticator is none, whatever else is there is one.
    Auth,
    /// A secret, and so is everything in it.
    Secret,
}

impl Secrecy {
    /// What holds for the value of a key.
    pub(super) fn below(self, key: &str) -> Self {
        match (self, key) {
            (Self::Root, "processors") => Self::Never,
            (Self::Root, "receivers" | "exporters" | "extensions") => Self::Section,
            (Self::Section, _) => Self::Open,
            (Self::Auth, "authenticator") => Self::Open,
            (Self::Auth, _) => Self::Secret,
            (Self::Root | Self::Open, "auth") => Self::Auth,
            (Self::Root | Self::Open, key) if is_secret(key) => Self::Secret,
            (Self::Root, _) => Self::Open,
            (same, _) => same,
        }
    }

    /// Whether the value must not be shown.
    pub(super) fn hides(self) -> bool {
        matches!(self, Self::Secret | Self::Auth)
    }
}

/// Words of keys that name a secret.
const WORDS: [&str; 14] = [
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "secret",
    "secrets",
    "token",
    "authorization",
    "apikey",
    "apikeys",
    "bearer",
    "cookie",
    "cookies",
    "credentials",
];

/// Whether what stands under this key is a secret: one of the key's words says so, whole (`min_tokens` is a
/// number of tokens). Headers are as a whole: tokens travel in them under any name.
fn is_secret(key: &str) -> bool {
    let words = words(key);
    let whole = words.join("_");
    matches!(
        whole.as_str(),
        "headers" | "auth" | "tokens" | "key_pem" | "private_key"
    ) || words.iter().any(|word| WORDS.contains(&word.as_str()))
        || words
            .windows(2)
            .any(|pair| matches!(pair, [a, b] if a == "api" && (b == "key" || b == "keys")))
}

/// The words of a key, in lower case: `x-api-key`, `api_key` and `apiKey` have `api` and `key`.
fn words(key: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small = false;
    for c in key.chars() {
        if !c.is_alphanumeric() || (small && c.is_uppercase()) {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(last) = words.last_mut()
        {
            last.extend(c.to_lowercase());
        }
        small = c.is_lowercase() || c.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The places of all secret values below `node` that are written out in the source. A reference to
/// the environment is none.
pub(super) fn places(node: &Node, secrecy: Secrecy, found: &mut Vec<Place>) {
    match &node.value {
        Value::Scalar(scalar) => {
            let typed = scalar.typed.as_deref().unwrap_or(&scalar.text);
            if secrecy.hides() && !is_reference(typed) && !scalar.is_null() {
                found.push(node.place);
            }
        }
        Value::List(members) => {
            for member in members {
                places(member, secrecy, found);
            }
        }
        Value::Map(entries) => {
            for entry in entries {
                // Keys may be paths, where the source allows it.
                let below = entry.key.split("::").fold(secrecy, Secrecy::below);
                places(&entry.value, below, found);
            }
        }
    }
}

/// The places of what looks like a secret in a text that is no valid YAML: the rest of each line after
/// a key that names one, and everything indented under `headers:`.
pub(super) fn places_in_text(source: usize, text: &str, found: &mut Vec<Place>) {
    let mut start = 0;
    let mut under: Option<usize> = None;
    let mut processors = false;
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        if indent == 0 && !line.starts_with('#') && !line.trim().is_empty() {
            processors = line.starts_with("processors:");
        }
        if processors {
            start += line.len();
            continue;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(path: &str) -> bool {
        path.split('/').fold(Secrecy::Root, Secrecy::below).hides()
    }

    #[test]
    fn whole_words_outside_of_the_processors() {
        for path in [
            "exporters/otlp/headers",
            "exporters/otlp/headers/anything",
            "exporters/otlp/token",
            "exporters/otlp/x-api-key",
            "exporters/otlp/apiKey",
            "exporters/otlp/accessToken/0",
            "exporters/otlp/tls/key_pem",
            "receivers/otlp/protocols/grpc/auth/tokens",
            "receivers/otlp/auth/users",
            "extensions/health_check/password",
            "service/telemetry/bearer_token",
            "token",
        ] {
            assert!(secret(path), "{path}");
        }
        for path in [
            "processors/anomaly/detectors/stutter/min_tokens",
            "processors/anomaly/tools/get_token",
            "processors/anomaly/detectors/stuck/tools/read_secret/threshold",
            "processors/anomaly/overrides/match/api_key",
            "processors/token/settle",
            "exporters/otlp/max_tokens",
            "exporters/otlp/tokenizer",
            "exporters/otlp/secretary",
            "exporters/otlp/endpoint",
            "exporters/otlp/auth/authenticator",
            "receivers/otlp/protocols/grpc/auth/authenticator",
            "extensions/bearertokenauth/filename",
            "exporters/otlp_http/token/endpoint",
            "exporters/secret",
            "service/pipelines/traces",
        ] {
            assert!(!secret(&path.replace("http/token", "http-token")), "{path}");
        }
    }

    #[test]
    fn a_broken_text_keeps_its_processors() {
        let text =
            "processors:\n  anomaly: {tools: {get_token: read}\nexporters:\n  otlp: {token: abc}\n";
        let mut found = Vec::new();
        places_in_text(0, text, &mut found);
        let shown: Vec<&str> = found.iter().map(|p| &text[p.start..p.end]).collect();
        assert_eq!(shown, [" abc}"]);
    }
}
