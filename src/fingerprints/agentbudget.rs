//! The four rewrites of agentbudget's canonical version, exactly (vectors: agentbudget_canonicalize).
//! Only `rules: source` uses them: they take counts of eight digits for ids and `10 M rows` for minutes.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use xxhash_rust::xxh3::xxh3_64;

use crate::model::Excerpt;

/// Pattern and replacement, in the order in which they are applied.
static REWRITES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        (
            r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
            "<id>",
        ),
        (
            r"\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z?\b",
            "<timestamp>",
        ),
        (
            r"(?i)\b\d+(?:\.\d+)?\s*(?:ms|seconds|secs|sec|s|minutes|mins|min|m|hours|hrs|hr|h)\b",
            "<duration>",
        ),
        (r"(?i)\b[0-9a-f]{8,}\b", "<id>"),
    ]
    .into_iter()
    .filter_map(|(pattern, with)| Some((Regex::new(pattern).ok()?, with)))
    .collect()
});

/// The text as agentbudget's canonical version compares it.
pub fn canonical(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for (pattern, with) in REWRITES.iter() {
        if let Cow::Owned(changed) = pattern.replace_all(&text, *with) {
            text = Cow::Owned(changed);
        }
    }
    text
}

/// Hash of [`canonical`] over what is read of the text.
pub fn digest<'a>(text: impl Into<Excerpt<'a>>) -> u64 {
    let text = text.into();
    let front = xxh3_64(canonical(text.front()).as_bytes());
    if !text.truncated() {
        return front;
    }
    let end = xxh3_64(canonical(text.end()).as_bytes());
    front ^ end.rotate_left(17) ^ text.whole().len() as u64
}
