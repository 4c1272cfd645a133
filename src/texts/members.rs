//! A glance into an answer that looks like a JSON object: its members, without reading it into a tree.
//!
//! Invariant: total on any text; members come in order of appearance up to the first place that is no
//! JSON; nested values are stepped over.

/// A value as it stands in the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    /// Between the quotes, escapes as written.
    Text(&'a str),
    /// A number, a literal, or a nested value as written.
    Raw(&'a str),
}

impl<'a> Value<'a> {
    /// The text of a string member.
    pub(super) fn text(self) -> Option<&'a str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Raw(_) => None,
        }
    }

    /// The value as a whole number, from a number or a string that is one.
    pub(super) fn whole(self) -> Option<i32> {
        let (Self::Text(text) | Self::Raw(text)) = self;
        text.parse().ok()
    }

    /// Whether it is the literal.
    pub(super) fn is(self, literal: &str) -> bool {
        matches!(self, Self::Raw(raw) if raw == literal)
    }

    /// Null, false, zero, or an empty text, list or object: says nothing.
    pub(super) fn is_nothing(self) -> bool {
        let (Self::Text(text) | Self::Raw(text)) = self;
        let inner = text.trim();
        matches!(inner, "" | "null" | "false" | "0")
            || (inner.len() < 8
                && inner.starts_with(['[', '{'])
                && matches!(inner.replace(' ', "").as_str(), "[]" | "{}"))
    }
}

/// Most members looked at.
const MOST: usize = 64;

/// The members of the object that `text` is; nothing when it does not start like one.
pub(super) fn members(text: &str) -> impl Iterator<Item = (&str, Value<'_>)> {
    let mut rest = text.trim_start().strip_prefix('{').unwrap_or_default();
    std::iter::from_fn(move || {
        let (key, after) = string(rest.trim_start().trim_start_matches(',').trim_start())?;
        let after = after.trim_start().strip_prefix(':')?.trim_start();
        let (value, after) = value(after)?;
        rest = after;
        Some((key, value))
    })
    .take(MOST)
}

/// The first member of one of these names, compared without case.
pub(super) fn member<'a>(text: &'a str, names: &[&str]) -> Option<Value<'a>> {
    members(text)
        .find(|(key, _)| names.iter().any(|name| key.eq_ignore_ascii_case(name)))
        .map(|(_, value)| value)
}

fn string(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('"')?;
    let end = closing_quote(inner.as_bytes())?;
    Some((inner.get(..end)?, inner.get(end + 1..)?))
}

/// Where the text ends that begins at the front: the first quote that no backslash takes away.
fn closing_quote(bytes: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + memchr::memchr2(b'"', b'\\', bytes.get(from..)?)?;
        if bytes.get(at) == Some(&b'"') {
            return Some(at);
        }
        from = at + 2;
    }
}

/// The key in lower case where it is short enough to be one that is asked for; else nothing.
pub(super) fn folded<'b>(key: &str, buffer: &'b mut [u8; 24]) -> &'b str {
    let Some(place) = buffer.get_mut(..key.len()) else {
        return "";
    };
    place.copy_from_slice(key.as_bytes());
    place.make_ascii_lowercase();
    std::str::from_utf8(place).unwrap_or_default()
}

fn value(text: &str) -> Option<(Value<'_>, &str)> {
    if text.starts_with('"') {
        let (inner, rest) = string(text)?;
        return Some((Value::Text(inner), rest));
    }
    let end = if text.starts_with(['{', '[']) {
        nested_end(text)?
    } else {
        text.find([',', '}', ']', '\n'])?
    };
    let (raw, rest) = text.split_at_checked(end)?;
    Some((Value::Raw(raw.trim_end()), rest))
}

/// Where the nested value at the start of `text` ends.
fn nested_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => at += closing_quote(bytes.get(at..)?)? + 1,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_members() {
        let text = r#" {"a": 1, "b":"x\"y", "c": {"a": [1, "}"]}, "d":true}"#;
        let all: Vec<_> = members(text).collect();
        assert_eq!(
            all,
            [
                ("a", Value::Raw("1")),
                ("b", Value::Text(r#"x\"y"#)),
                ("c", Value::Raw(r#"{"a": [1, "}"]}"#)),
                ("d", Value::Raw("true")),
            ]
        );
        assert_eq!(member(text, &["D"]), Some(Value::Raw("true")));
        assert_eq!(members("no json").count(), 0);
        assert_eq!(members(r#"{"a": "#).count(), 0);
        assert!(Value::Raw("[ ]").is_nothing() && !Value::Raw("[1]").is_nothing());
    }
}
