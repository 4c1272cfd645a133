//! A pull reader for JSON that goes once over the borrowed text and decodes only what is asked for.
//!
//! Invariant: it never recurses on the input's nesting, never panics, and moves forward with every call,
//! so that it ends on any text. It is lenient: what is skipped is only balanced, not validated.

use std::borrow::Cow;

/// The text is not JSON at the place where something was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// What kind of value comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    Array,
    Text,
    Null,
    /// A number, a boolean.
    Scalar,
    End,
}

/// A place in a JSON text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

/// A string as it stands between its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quoted<'a>(pub(super) &'a str);

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    fn space(&mut self) {
        while matches!(
            self.bytes().get(self.at),
            Some(b' ' | b'\t' | b'\n' | b'\r')
        ) {
            self.at += 1;
        }
    }

    /// The kind of the next value, white space passed over.
    pub(super) fn kind(&mut self) -> Kind {
        self.space();
        match self.bytes().get(self.at) {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::Text,
            Some(b'n') => Kind::Null,
            Some(_) => Kind::Scalar,
            None => Kind::End,
        }
    }

    /// Whether nothing but white space is left.
    pub(super) fn finished(&mut self) -> bool {
        self.kind() == Kind::End
    }

    /// Goes through an object; what `visit` leaves unread of a member is skipped.
    pub(super) fn object(
        &mut self,
        mut visit: impl FnMut(Quoted<'a>, &mut Self) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        self.expect(b'{')?;
        self.space();
        if self.bytes().get(self.at) == Some(&b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.space();
            let key = self.quoted()?;
            self.space();
            self.expect(b':')?;
            self.space();
            let before = self.at;
            visit(key, self)?;
            if self.at == before {
                self.value()?;
            }
            self.space();
            match self.bytes().get(self.at) {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(Malformed),
            }
        }
    }

    /// Goes through an array; an element that `visit` leaves unread is skipped.
    pub(super) fn array(
        &mut self,
        mut visit: impl FnMut(&mut Self) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        self.expect(b'[')?;
        self.space();
        if self.bytes().get(self.at) == Some(&b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.space();
            let before = self.at;
            visit(self)?;
            if self.at == before {
                self.value()?;
            }
            self.space();
            match self.bytes().get(self.at) {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(Malformed),
            }
        }
    }

    /// Reads a string.
    pub(super) fn quoted(&mut self) -> Result<Quoted<'a>, Malformed> {
        let start = self.at + 1;
        self.pass_string()?;
        let text = self.text.get(start..self.at - 1).ok_or(Malformed)?;
        Ok(Quoted(text))
    }

    /// Passes over the next value of any kind and gives back its text.
    pub(super) fn value(&mut self) -> Result<&'a str, Malformed> {
        self.space();
        let start = self.at;
        match self.bytes().get(self.at) {
            Some(b'"') => self.pass_string()?,
            Some(b'{' | b'[') => self.pass_nested()?,
            Some(_) => self.pass_scalar()?,
            None => return Err(Malformed),
        }
        self.text.get(start..self.at).ok_or(Malformed)
    }

    fn expect(&mut self, byte: u8) -> Result<(), Malformed> {
        if self.bytes().get(self.at) != Some(&byte) {
            return Err(Malformed);
        }
        self.at += 1;
        Ok(())
    }

    /// To the byte behind the closing quote. Looks for quotes only, and then back at the backslashes
    /// before it: much faster on long texts full of `\n` than a stop at every escape.
    fn pass_string(&mut self) -> Result<(), Malformed> {
        if self.bytes().get(self.at) != Some(&b'"') {
            return Err(Malformed);
        }
        let start = self.at + 1;
        let mut from = start;
        loop {
            let rest = self.bytes().get(from..).ok_or(Malformed)?;
            let quote = from + memchr::memchr(b'"', rest).ok_or(Malformed)?;
            let inside = self.bytes().get(start..quote).ok_or(Malformed)?;
            let backslashes = inside.iter().rev().take_while(|b| **b == b'\\').count();
            from = quote + 1;
            if backslashes % 2 == 0 {
                self.at = from;
                return Ok(());
            }
        }
    }

    fn pass_nested(&mut self) -> Result<(), Malformed> {
        let mut depth = 0usize;
        loop {
            match self.bytes().get(self.at).ok_or(Malformed)? {
                b'"' => {
                    self.pass_string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        self.at += 1;
                        return Ok(());
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    fn pass_scalar(&mut self) -> Result<(), Malformed> {
        let start = self.at;
        while let Some(byte) = self.bytes().get(self.at) {
            if matches!(byte, b',' | b'}' | b']' | b':' | b'"' | b'{' | b'[')
                || byte.is_ascii_whitespace()
            {
                break;
            }
            self.at += 1;
        }
        if self.at == start {
            return Err(Malformed);
        }
        Ok(())
    }
}

impl<'a> Quoted<'a> {
    /// The text meant: borrowed where nothing is escaped. An escape that is none stays as it stands.
    pub(super) fn decode(self) -> Cow<'a, str> {
        let Some(first) = memchr::memchr(b'\\', self.0.as_bytes()) else {
            return Cow::Borrowed(self.0);
        };
        let mut out = String::with_capacity(self.0.len());
        let mut rest = self.0;
        let mut next = Some(first);
        while let Some(at) = next {
            let (before, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
            out.push_str(before);
            let used = unescape(tail, &mut out);
            rest = tail.get(used..).unwrap_or_default();
            next = memchr::memchr(b'\\', rest.as_bytes());
        }
        out.push_str(rest);
        Cow::Owned(out)
    }
}

/// Writes what the escape at the start of `tail` means; gives back its length in bytes.
fn unescape(tail: &str, out: &mut String) -> usize {
    let plain = match tail.as_bytes().get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => return unescape_unicode(tail, out),
        _ => {
            out.push('\\');
            return 1;
        }
    };
    out.push(plain);
    2
}

fn unescape_unicode(tail: &str, out: &mut String) -> usize {
    let hex = |at: usize| {
        tail.get(at..at + 4)
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
    };
    let Some(high) = hex(2) else {
        out.push('\\');
        return 1;
    };
    if (0xd800..0xdc00).contains(&high)
        && tail.get(6..8) == Some("\\u")
        && let Some(low) = hex(8).filter(|low| (0xdc00..0xe000).contains(low))
    {
        let point = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        out.push(char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER));
        return 12;
    }
    out.push(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER));
    6
}

/// The members with these names of the object that `text` is, as they stand. What is null, cut short or
/// not there is `None`.
pub(super) fn pick<'a, const N: usize>(text: &'a str, names: [&str; N]) -> [Option<&'a str>; N] {
    let mut found = [None; N];
    let mut cursor = Cursor::new(text);
    if cursor.kind() != Kind::Object {
        return found;
    }
    let _ = cursor.object(|key, cursor| {
        let slot = names
            .iter()
            .zip(&mut found)
            .find(|(name, _)| **name == key.0);
        if let Some((_, slot)) = slot
            && slot.is_none()
            && cursor.kind() != Kind::Null
        {
            *slot = Some(cursor.value()?);
        }
        Ok(())
    });
    found
}

/// Appends `text` as a JSON string, quotes included.
pub(super) fn write_text(text: &str, out: &mut String) {
    use std::fmt::Write as _;
    out.push('"');
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..0x20 => "",
            _ => continue,
        };
        out.push_str(text.get(from..at).unwrap_or_default());
        from = at + 1;
        if escape.is_empty() {
            let _ = write!(out, "\\u{byte:04x}");
        } else {
            out.push_str(escape);
        }
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out.push('"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn walks_objects_and_arrays_and_skips_what_is_not_read() {
        let text = r#" {"a" : [1, {"b":"}\"]"}], "c":"x\n\u00e9\ud83d\ude00\\", "d":null} "#;
        let mut seen = Vec::new();
        let mut cursor = Cursor::new(text);
        assert_eq!(cursor.kind(), Kind::Object);
        cursor
            .object(|key, cursor| {
                match key.0 {
                    "a" => seen.push(cursor.value()?.to_owned()),
                    "c" => seen.push(cursor.quoted()?.decode().into_owned()),
                    _ => {}
                }
                Ok(())
            })
            .unwrap();
        assert!(cursor.finished());
        assert_eq!(seen, [r#"[1, {"b":"}\"]"}]"#, "x\n\u{e9}\u{1f600}\\"]);
    }

    #[test]
    fn wrong_escapes_stay() {
        assert_eq!(Quoted(r"a\qb\u12").decode(), r"a\qb\u12");
        assert_eq!(Quoted(r"\ud800").decode(), "\u{fffd}");
    }

    #[test]
    fn cut_texts_are_malformed() {
        for text in [
            "", "{", "[1", r#"{"a"#, r#"{"a":"#, r#"["\"]"#, "[,]", "{]", "[1 2]",
        ] {
            let mut cursor = Cursor::new(text);
            let read = match cursor.kind() {
                Kind::Object => cursor.object(|_, _| Ok(())),
                Kind::Array => cursor.array(|_| Ok(())),
                _ => cursor.value().map(|_| ()),
            };
            assert_eq!(read, Err(Malformed), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[\\[\\]{}\",:\\\\u0-9a-fé ]{0,60}") {
            let _ = Cursor::new(&text).value();
            let _ = Cursor::new(&text).object(|_, c| c.array(|c| c.value().map(|_| ())));
            let _ = Quoted(&text).decode();
        }

        #[test]
        fn written_texts_read_back(text in any::<String>()) {
            let mut out = String::new();
            write_text(&text, &mut out);
            prop_assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text.as_str());
            prop_assert_eq!(Cursor::new(&out).quoted().unwrap().decode(), text.as_str());
        }
    }
}
