//! What of a text a person would see (A9).
//!
//! Invariant: a text without a visible character says nothing, however long it is: white space, characters
//! of no width, dots, known placeholders and think blocks do not count.

/// What stands for an empty text, in lower case without brackets around it.
const PLACEHOLDERS: &[&str] = &[
    "no content",
    "no response",
    "no output",
    "empty",
    "empty response",
    "empty message",
    "none",
    "null",
    "undefined",
    "nil",
    "content omitted",
];

/// White space as Python's `str.strip` knows it: Unicode's, and U+001C to U+001F.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// The text without white space at both ends, as Python strips it.
pub(super) fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Characters that take part in text without being seen.
fn unseen(c: char) -> bool {
    is_space(c)
        || c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206f}'
            | '\u{feff}' | '\u{fe00}'..='\u{fe0f}' | '\u{fff9}'..='\u{fffb}' | '\u{2800}' | '\u{3164}')
}

/// Marks that stand alone for nothing at all.
fn filler(c: char) -> bool {
    matches!(
        c,
        '.' | '\u{2026}' | '\u{b7}' | '\u{22ef}' | '\u{3002}' | '\u{2022}'
    )
}

/// The text with its think blocks taken out; a block that is not closed takes the rest.
pub(super) fn without_thoughts(text: &str) -> std::borrow::Cow<'_, str> {
    const TAGS: &[(&str, &str)] = &[
        ("<think>", "</think>"),
        ("<thinking>", "</thinking>"),
        ("<reasoning>", "</reasoning>"),
        ("<|thinking|>", "<|/thinking|>"),
    ];
    // Most texts hold no tag at all.
    if memchr::memchr(b'<', text.as_bytes()).is_none() {
        return text.into();
    }
    let opens = |text: &str| {
        TAGS.iter()
            .filter_map(|(open, close)| Some((text.find(open)?, *open, *close)))
            .min_by_key(|found| found.0)
    };
    let Some(mut found) = opens(text) else {
        // Templates that open the block in the prompt leave only its end in the answer.
        return match text.split_once("</think>") {
            Some((_, rest)) => rest.into(),
            None => text.into(),
        };
    };
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        let (at, open, close) = found;
        kept.push_str(rest.get(..at).unwrap_or_default());
        let inside = rest.get(at + open.len()..).unwrap_or_default();
        let Some((_, after)) = inside.split_once(close) else {
            return kept.into();
        };
        rest = after;
        match opens(rest) {
            Some(next) => found = next,
            None => {
                kept.push_str(rest);
                return kept.into();
            }
        }
    }
}

/// Whether the text is one of the known stand-ins for nothing: `(no content)`, `[empty]`, `None`.
fn placeholder(text: &str) -> bool {
    let inner = text
        .trim_matches(|c: char| unseen(c) || filler(c) || "()[]<>{}*_\"'`-".contains(c))
        .to_lowercase();
    let bracketed = text.starts_with(['(', '[', '<', '{', '*']);
    PLACEHOLDERS.iter().any(|known| {
        // A bare `none` or `empty` may be an answer; `null` and the bracketed forms are not.
        inner == *known
            && (bracketed || matches!(*known, "no content" | "null" | "undefined" | "nil"))
    })
}

/// Whether a text without think blocks holds a visible character outside of placeholders.
pub(super) fn visible(text: &str) -> bool {
    let stripped = strip(text);
    let seen = stripped.chars().any(|c| !unseen(c) && !filler(c));
    // No stand-in is longer.
    seen && !(stripped.len() <= 64 && placeholder(stripped))
}

/// Whether a text without think blocks holds a letter, digit, emoji or bracket pair: never "short and
/// empty" (A9).
pub(super) fn meaningful(text: &str) -> bool {
    let stripped = strip(text);
    if stripped.len() <= 64 && placeholder(stripped) {
        return false;
    }
    stripped.chars().any(|c| c.is_alphanumeric() || symbol(c))
        || ["[]", "{}", "()", "<>", "\"\""]
            .iter()
            .any(|pair| stripped.contains(pair))
}

/// Signs that are an answer by themselves: emoji, check marks, arrows, mathematical signs.
fn symbol(c: char) -> bool {
    matches!(c,
        '\u{2190}'..='\u{22ee}' | '\u{22f0}'..='\u{27bf}' | '\u{2900}'..='\u{2bff}'
        | '\u{1f000}'..='\u{1faff}' | '+' | '$' | '\u{20ac}')
}
