//! Python literals as JSON: emitters write `str(arguments)` and `repr(message)` where JSON should stand (P3).
//!
//! Invariant: what is no literal stays what it is; bounded in nesting and in length.

use std::borrow::Cow;

use super::json::write_text;
use super::raw::Text;

/// Deepest literal that is read.
const DEPTH: u8 = 32;
/// Longest literal that is read, in bytes.
const LONGEST: usize = 256 * 1024;

/// The JSON that a dict or a list as Python prints it says; `None` when the text is no such literal.
pub(super) fn to_json(text: &str) -> Option<String> {
    let text = text.trim();
    let begins = text.starts_with(['{', '[', '(']);
    begins.then(|| whole(text, false)).flatten()
}

/// As [`to_json`], with objects as `Class(name=value, ..)` prints them: each becomes an object of its members.
pub(super) fn objects_to_json(text: &str) -> Option<String> {
    whole(text.trim(), true)
}

fn whole(text: &str, objects: bool) -> Option<String> {
    if text.len() > LONGEST {
        return None;
    }
    let mut reader = Reader {
        text,
        at: 0,
        out: String::with_capacity(text.len()),
        objects,
    };
    reader.value(DEPTH)?;
    reader.space();
    (reader.at == text.len()).then_some(reader.out)
}

/// Whether a text begins as a dict does that Python printed: never JSON.
pub(super) fn begins_dict(text: &str) -> bool {
    let inner = text.trim_start().strip_prefix('{').map(str::trim_start);
    inner.is_some_and(|inner| inner.starts_with('\''))
}

/// A message of LangChain as Python prints it: `content='..' name='..' tool_call_id='..' status='error'`.
#[derive(Debug, PartialEq)]
pub(super) struct Printed<'a> {
    pub(super) content: Text<'a>,
    pub(super) call_id: Option<Text<'a>>,
    pub(super) failed: Option<bool>,
}

/// Reads such a message; `None` when the text is none.
pub(super) fn message(text: &str) -> Option<Printed<'_>> {
    let rest = text.strip_prefix("content=")?;
    let mut reader = Reader {
        text: rest,
        at: 0,
        out: String::new(),
        objects: false,
    };
    let content = reader.string()?;
    let rest = rest.get(reader.at..)?;
    if !rest.starts_with(' ') {
        return None;
    }
    let member = |name: &str| {
        let (_, value) = rest.split_once(name)?;
        let (value, _) = value.split_once('\'')?;
        Some(value)
    };
    let call_id = member(" tool_call_id='").map(|id| Cow::Owned(id.to_owned()));
    let failed = match member(" status='") {
        Some("error") => Some(true),
        Some("success") => Some(false),
        _ => None,
    };
    // Without any of these it is a text about a content, not a message.
    (call_id.is_some() || failed.is_some() || rest.starts_with(" additional_kwargs=")).then_some(
        Printed {
            content: Cow::Owned(content),
            call_id,
            failed,
        },
    )
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    out: String,
    /// Objects count as values, and what stands for one (`<..>`, a bare name) as null.
    objects: bool,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn take(&mut self, token: char) -> bool {
        self.space();
        let found = self.rest().starts_with(token);
        self.at += if found { token.len_utf8() } else { 0 };
        found
    }

    fn value(&mut self, depth: u8) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        self.space();
        match self.rest().bytes().next()? {
            b'{' => self.dict(depth),
            b'[' => self.list(']', depth),
            b'(' => self.list(')', depth),
            b'\'' | b'"' => {
                let text = self.string()?;
                write_text(&text, &mut self.out);
                Some(())
            }
            b'<' if self.objects => self.angled(),
            first if self.objects && (first.is_ascii_alphabetic() || first == b'_') => {
                self.named(depth)
            }
            _ => self.word(),
        }
    }

    /// What begins with a name: an object, a constant, bytes, or a name alone.
    fn named(&mut self, depth: u8) -> Option<()> {
        let rest = self.rest();
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.')))
            .unwrap_or(rest.len());
        let name = rest.get(..end)?;
        match rest.as_bytes().get(end) {
            Some(b'(') => {
                self.at += end + 1;
                self.object(depth)
            }
            Some(b'\'' | b'"') if matches!(name, "b" | "r" | "u") => {
                self.at += end;
                let text = self.string()?;
                write_text(&text, &mut self.out);
                Some(())
            }
            _ => {
                self.out.push_str(match name {
                    "True" => "true",
                    "False" => "false",
                    _ => "null",
                });
                self.at += end;
                Some(())
            }
        }
    }

    /// The members of an object, behind its parenthesis; those without a name get their number.
    fn object(&mut self, depth: u8) -> Option<()> {
        self.out.push('{');
        let mut place = 0u32;
        while !self.take(')') {
            if place > 0 {
                self.out.push(',');
            }
            self.space();
            let rest = self.rest();
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            let end = end.filter(|end| *end > 0 && rest.as_bytes().get(*end) == Some(&b'='));
            match end {
                Some(end) => {
                    write_text(rest.get(..end)?, &mut self.out);
                    self.at += end + 1;
                }
                None => write_text(&place.to_string(), &mut self.out),
            }
            self.out.push(':');
            self.value(depth)?;
            place = place.saturating_add(1);
            if !self.take(',') {
                if self.take(')') {
                    break;
                }
                return None;
            }
        }
        self.out.push('}');
        Some(())
    }

    /// `<Kind.TOOL: 'tool'>` is its value, anything else in angles is null.
    fn angled(&mut self) -> Option<()> {
        let rest = self.rest();
        let inside = rest.get(1..rest.find('>')?)?;
        let value = inside
            .split_once(": '")
            .and_then(|(_, value)| value.strip_suffix('\''));
        match value {
            Some(value) => write_text(value, &mut self.out),
            None => self.out.push_str("null"),
        }
        self.at += inside.len() + 2;
        Some(())
    }

    fn dict(&mut self, depth: u8) -> Option<()> {
        self.at += 1;
        self.out.push('{');
        let mut first = true;
        while !self.take('}') {
            if !first {
                self.out.push(',');
            }
            first = false;
            self.space();
            let key = self.string()?;
            write_text(&key, &mut self.out);
            if !self.take(':') {
                return None;
            }
            self.out.push(':');
            self.value(depth)?;
            if !self.take(',') {
                if self.take('}') {
                    break;
                }
                return None;
            }
        }
        self.out.push('}');
        Some(())
    }

    fn list(&mut self, close: char, depth: u8) -> Option<()> {
        self.at += 1;
        self.out.push('[');
        let mut first = true;
        while !self.take(close) {
            if !first {
                self.out.push(',');
            }
            first = false;
            self.value(depth)?;
            if !self.take(',') {
                if self.take(close) {
                    break;
                }
                return None;
            }
        }
        self.out.push(']');
        Some(())
    }

    /// True, False, None, a number.
    fn word(&mut self) -> Option<()> {
        let rest = self.rest();
        let end = rest
            .find(|c: char| matches!(c, ',' | ':' | '}' | ']' | ')') || c.is_whitespace())
            .unwrap_or(rest.len());
        let word = rest.get(..end)?;
        let json = match word {
            "True" => "true",
            "False" => "false",
            "None" | "nan" | "inf" | "-inf" => "null",
            number if is_number(number) => number,
            _ => return None,
        };
        self.out.push_str(json);
        self.at += end;
        Some(())
    }

    fn string(&mut self) -> Option<String> {
        let rest = self.rest();
        let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        let mut out = String::new();
        let mut chars = rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            if c == quote {
                self.at += at + 1;
                return Some(out);
            }
            if c != '\\' {
                out.push(c);
                continue;
            }
            let (_, escaped) = chars.next()?;
            let digits = match escaped {
                'n' => {
                    out.push('\n');
                    0
                }
                't' => {
                    out.push('\t');
                    0
                }
                'r' => {
                    out.push('\r');
                    0
                }
                '\\' | '\'' | '"' => {
                    out.push(escaped);
                    0
                }
                'x' => 2,
                'u' => 4,
                'U' => 8,
                other => {
                    out.push('\\');
                    out.push(other);
                    0
                }
            };
            if digits > 0 {
                let mut point = 0u32;
                for _ in 0..digits {
                    let digit = chars.next()?.1.to_digit(16)?;
                    point = point.checked_mul(16)?.checked_add(digit)?;
                }
                out.push(char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
        None
    }
}

/// A number that JSON would take as well.
fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix('-').unwrap_or(word);
    digits.bytes().next().is_some_and(|b| b.is_ascii_digit())
        && (digits.len() == 1 || !digits.starts_with('0') || digits.starts_with("0."))
        && word.parse::<f64>().is_ok()
        && !word.ends_with('.')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn literals_become_json() {
        for (python, json) in [
            ("{'path': 'src/a.py'}", r#"{"path":"src/a.py"}"#),
            (
                r#"{'a': "it's", 'b': [1, 2.5, -3], 'c': (True, None), 'd': {}}"#,
                r#"{"a":"it's","b":[1,2.5,-3],"c":[true,null],"d":{}}"#,
            ),
            (
                r"{'a': 'x\n\'y\' \x41 \u00e9'}",
                "{\"a\":\"x\\n'y' A \u{e9}\"}",
            ),
            ("[]", "[]"),
            ("(1,)", "[1]"),
        ] {
            assert_eq!(to_json(python).as_deref(), Some(json), "{python}");
        }
    }

    #[test]
    fn what_is_no_literal_stays() {
        for text in [
            "{'a': Path('x')}",
            "{'a'}",
            "{'a': 1",
            "plain",
            "{'a': 1} and more",
            "{1: 2}",
            "{'a': 007}",
        ] {
            assert_eq!(to_json(text), None, "{text}");
        }
    }

    #[test]
    fn objects_become_their_members() {
        for (python, json) in [
            (
                r#"Call(arguments='{"a": 1}', id=None, ok=True)"#,
                r#"{"arguments":"{\"a\": 1}","id":null,"ok":true}"#,
            ),
            (
                "[a.B(kind=<Kind.X: 'x'>, of=<class 'y'>, at=C(1, tz=UTC), raw=b'z')]",
                r#"[{"kind":"x","of":null,"at":{"0":1,"tz":null},"raw":"z"}]"#,
            ),
            ("A()", "{}"),
            ("A(b=[C(d='e')],)", r#"{"b":[{"d":"e"}]}"#),
        ] {
            assert_eq!(objects_to_json(python).as_deref(), Some(json), "{python}");
        }
        for text in [
            "A(",
            "A(b",
            "A(b=",
            "A(b=1",
            "A(b=1) and more",
            "A(b=<c)",
            "A((b)=1)",
        ] {
            assert_eq!(objects_to_json(text), None, "{text}");
        }
        let deep = format!("{}{}", "A(".repeat(60), ")".repeat(60));
        assert_eq!(objects_to_json(&deep), None);
    }

    #[test]
    fn printed_messages() {
        let text =
            r"content='[Errno 2] No such file: \'a\'' name='read' tool_call_id='c1' status='error'";
        let read = message(text).unwrap();
        assert_eq!(read.content, "[Errno 2] No such file: 'a'");
        assert_eq!(
            (read.call_id.as_deref(), read.failed),
            (Some("c1"), Some(true))
        );
        assert_eq!(message("content='a'"), None);
        assert_eq!(message("content of the file"), None);
    }

    proptest! {
        #[test]
        fn whatever_is_read_is_json(text in "[\\[\\](){}<>='\",:\\\\a-zA-Z0-9.é -]{0,60}") {
            if let Some(json) = to_json(&text) {
                prop_assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok(), "{json}");
            }
            for text in [format!("A({text})"), format!("[B(c={text})]"), text.clone()] {
                if let Some(json) = objects_to_json(&text) {
                    prop_assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok(), "{json}");
                }
            }
            let _ = message(&format!("content={text}"));
        }
    }
}
