//! JSON by RFC 8259, strictly, one token after another; nothing is built that the caller does not ask for.

use std::borrow::Cow;
use std::fmt::Write;

use memchr::memchr2;
use smallvec::SmallVec;

use super::{DEPTH_MAX, JsonError};

pub(super) type Read<T> = Result<T, Box<Wrong>>;

/// What is wrong, and where. Boxed: the good way through pays one word.
#[derive(Debug)]
pub(super) struct Wrong {
    what: Cow<'static, str>,
    offset: usize,
    /// Innermost first.
    path: SmallVec<[(&'static str, Option<usize>); 6]>,
}

impl Wrong {
    #[cold]
    pub(super) fn within(mut self: Box<Self>, field: &'static str) -> Box<Self> {
        self.path.push((field, None));
        self
    }

    /// The innermost field said so far is this element of its list.
    #[cold]
    pub(super) fn within_item(mut self: Box<Self>, field: &'static str, item: usize) -> Box<Self> {
        self.path.push((field, Some(item)));
        self
    }

    pub(super) fn report(self) -> JsonError {
        let mut path = String::new();
        for (field, item) in self.path.iter().rev() {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(field);
            if let Some(item) = item {
                let _ = write!(path, "[{item}]");
            }
        }
        JsonError {
            path,
            what: self.what.into_owned(),
            offset: self.offset,
        }
    }
}

/// A JSON text and a place in it.
pub(super) struct Lexer<'a> {
    text: &'a str,
    pub(super) at: usize,
    depth: u32,
}

/// A number or text, where a field takes both.
pub(super) enum Scalar<'a> {
    Number(&'a str),
    Text(Cow<'a, str>),
}

impl<'a> Lexer<'a> {
    pub(super) fn new(json: &'a [u8]) -> Read<Self> {
        let wrong = |what, offset| {
            Box::new(Wrong {
                what: Cow::Borrowed(what),
                offset,
                path: SmallVec::new(),
            })
        };
        if json.starts_with(b"\xef\xbb\xbf") {
            return Err(wrong("a byte order mark is not allowed in JSON", 0));
        }
        let text = std::str::from_utf8(json)
            .map_err(|error| wrong("is not UTF-8", error.valid_up_to()))?;
        Ok(Self {
            text,
            at: 0,
            depth: 0,
        })
    }

    /// Says what is wrong here.
    #[cold]
    pub(super) fn wrong<T>(&self, what: impl Into<Cow<'static, str>>) -> Read<T> {
        self.wrong_at(self.at, what)
    }

    #[cold]
    pub(super) fn wrong_at<T>(&self, offset: usize, what: impl Into<Cow<'static, str>>) -> Read<T> {
        Err(Box::new(Wrong {
            what: what.into(),
            offset,
            path: SmallVec::new(),
        }))
    }

    /// Offset of the next token.
    pub(super) fn offset(&mut self) -> usize {
        self.peek();
        self.at
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The first byte of the next token; `None` at the end.
    pub(super) fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.byte() {
            self.at += 1;
        }
        self.byte()
    }

    pub(super) fn expect(&mut self, byte: u8, what: &'static str) -> Read<()> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        self.wrong(what)
    }

    /// That nothing follows.
    pub(super) fn end(&mut self) -> Read<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => self.wrong("more text after the end of the JSON value"),
        }
    }

    fn word(&mut self, word: &'static str) -> bool {
        self.peek();
        let found =
            self.text.as_bytes().get(self.at..self.at + word.len()) == Some(word.as_bytes());
        if found {
            self.at += word.len();
        }
        found
    }

    /// Takes a null, if that is what comes.
    pub(super) fn null(&mut self) -> Read<bool> {
        if self.peek() != Some(b'n') {
            return Ok(false);
        }
        if self.word("null") {
            Ok(true)
        } else {
            self.wrong("is no JSON value")
        }
    }

    /// A truth value.
    pub(super) fn truth(&mut self) -> Read<bool> {
        if self.word("true") {
            return Ok(true);
        }
        if self.word("false") {
            return Ok(false);
        }
        self.wrong("must be true or false")
    }

    /// The members of an object: `member` is called at each value and must take it.
    pub(super) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &str) -> Read<()>,
    ) -> Read<()> {
        self.expect(b'{', "must be an object")?;
        self.enter()?;
        let mut first = true;
        loop {
            match self.peek() {
                Some(b'}') if first => break,
                Some(b'"') if first => {}
                Some(b',') if !first => {
                    self.at += 1;
                    self.peek();
                }
                Some(b'}') => break,
                _ => return self.wrong("an object is not closed, or a comma or key is missing"),
            }
            first = false;
            let key = self.string_of("a key must be a string")?;
            self.expect(b':', "a colon is missing after the key")?;
            member(self, &key)?;
        }
        self.at += 1;
        self.depth -= 1;
        Ok(())
    }

    /// The elements of an array: `element` is called at each and must take it.
    pub(super) fn array(
        &mut self,
        mut element: impl FnMut(&mut Self, usize) -> Read<()>,
    ) -> Read<()> {
        self.expect(b'[', "must be an array")?;
        self.enter()?;
        let mut count = 0;
        loop {
            match self.peek() {
                Some(b']') => break,
                Some(b',') if count > 0 => self.at += 1,
                Some(_) if count == 0 => {}
                _ => return self.wrong("an array is not closed, or a comma is missing"),
            }
            element(self, count)?;
            count += 1;
        }
        self.at += 1;
        self.depth -= 1;
        Ok(())
    }

    fn enter(&mut self) -> Read<()> {
        if self.depth == DEPTH_MAX {
            return self.wrong(format!(
                "objects and arrays nest more than {DEPTH_MAX} deep"
            ));
        }
        self.depth += 1;
        Ok(())
    }

    /// A text, borrowed unless it holds escapes.
    pub(super) fn string(&mut self) -> Read<Cow<'a, str>> {
        self.string_of("must be a string")
    }

    pub(super) fn string_of(&mut self, what: &'static str) -> Read<Cow<'a, str>> {
        self.expect(b'"', what)?;
        let (part, escaped) = self.plain()?;
        if !escaped {
            return Ok(Cow::Borrowed(part));
        }
        let mut whole = part.to_owned();
        loop {
            whole.push(self.escape()?);
            let (part, escaped) = self.plain()?;
            whole.push_str(part);
            if !escaped {
                return Ok(Cow::Owned(whole));
            }
        }
    }

    /// Text up to the closing quote, or up to a backslash (true); both are taken.
    fn plain(&mut self) -> Read<(&'a str, bool)> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let Some(len) = memchr2(b'"', b'\\', rest.as_bytes()) else {
            return self.wrong("a string is not closed");
        };
        // Both are ASCII, so this is a boundary.
        let part = rest.get(..len).unwrap_or_default();
        if part
            .bytes()
            .fold(false, |found, byte| found | (byte < b' '))
        {
            return self.wrong("a control character in a string must be escaped");
        }
        self.at += len + 1;
        Ok((part, rest.as_bytes().get(len) == Some(&b'\\')))
    }

    /// What stands after a backslash.
    fn escape(&mut self) -> Read<char> {
        let byte = self.byte();
        self.at += 1;
        Ok(match byte {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => return self.wrong_at(self.at - 1, "an escape that JSON does not know"),
        })
    }

    fn unicode(&mut self) -> Read<char> {
        const LONE: &str = "half of a surrogate pair";
        let start = self.at;
        let high = self.four_digits()?;
        let code = if (0xd800..0xdc00).contains(&high) {
            if !self
                .text
                .get(self.at..)
                .is_some_and(|rest| rest.starts_with("\\u"))
            {
                return self.wrong_at(start, LONE);
            }
            self.at += 2;
            let low = self.four_digits()?;
            if !(0xdc00..0xe000).contains(&low) {
                return self.wrong_at(start, LONE);
            }
            0x1_0000 + ((high - 0xd800) << 10 | (low - 0xdc00))
        } else {
            high
        };
        match char::from_u32(code) {
            Some(char) => Ok(char),
            None => self.wrong_at(start, LONE),
        }
    }

    fn four_digits(&mut self) -> Read<u32> {
        let digits = self
            .text
            .as_bytes()
            .get(self.at..self.at + 4)
            .unwrap_or_default();
        let code = digits.iter().try_fold(0, |code, digit| {
            Some(code << 4 | char::from(*digit).to_digit(16)?)
        });
        match code {
            Some(code) if digits.len() == 4 => {
                self.at += 4;
                Ok(code)
            }
            _ => self.wrong("\\u takes four hex digits"),
        }
    }

    /// A number as it stands.
    pub(super) fn number(&mut self) -> Read<&'a str> {
        let start = self.at;
        if self.byte() == Some(b'-') {
            self.at += 1;
        }
        let whole = self.at;
        self.digits()?;
        if self.byte_at(whole) == Some(b'0') && self.at > whole + 1 {
            return self.wrong_at(start, "a number must not start with a zero");
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.byte() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(self.text.get(start..self.at).unwrap_or_default())
    }

    fn byte_at(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn digits(&mut self) -> Read<()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.byte() {
            self.at += 1;
        }
        if start == self.at {
            self.wrong("is no JSON number")
        } else {
            Ok(())
        }
    }

    /// A number, or a text that may hold one.
    pub(super) fn scalar(&mut self) -> Read<Scalar<'a>> {
        match self.peek() {
            Some(b'"') => self.string().map(Scalar::Text),
            Some(b'-' | b'0'..=b'9') => self.number().map(Scalar::Number),
            _ => self.wrong("must be a number"),
        }
    }

    /// Objects and arrays around the next token.
    pub(super) fn depth(&self) -> u32 {
        self.depth
    }
}

#[cfg(test)]
mod tests {
    use crate::otlp::json::transcode;

    #[test]
    fn j_11_what_is_no_json_is_refused() {
        for wrong in [
            "",
            " ",
            "null",
            "[]",
            "1",
            "\"\"",
            "{",
            "{}x",
            "{}{}",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{,}",
            "{a:1}",
            "{\"a\":1 \"b\":2}",
            "{\"a\":[1,]}",
            "{\"a\":[,]}",
            "{\"a\":[1 2]}",
            "{\"a\":[1}",
            "{\"a\":01}",
            "{\"a\":-}",
            "{\"a\":1.}",
            "{\"a\":.5}",
            "{\"a\":1e}",
            "{\"a\":+1}",
            "{\"a\":nul}",
            "{\"a\":truE}",
            "{\"a\":\"\\x\"}",
            "{\"a\":\"\\u12\"}",
            "{\"a\":\"",
            "{\"a\":\"\\",
            "{\"a\":\"\\u",
            "{\"a\":NaN}",
            "{'a':1}",
            "{\"a\":1}//",
        ] {
            assert!(transcode(wrong.as_bytes()).is_err(), "{wrong}");
        }
        for fine in ["{}", " \t\r\n{ } \n", "{\"\":[]}", "{\"a\":-0.0e+1}"] {
            assert!(transcode(fine.as_bytes()).unwrap().is_empty(), "{fine}");
        }
    }
}
