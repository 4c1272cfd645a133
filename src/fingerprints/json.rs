//! JSON as Python's `json.loads` reads it, as a flat list of nodes over the borrowed text.
//!
//! Invariant: what is a document here is exactly what Python 3.11 accepts (NaN and the infinities
//! included, trailing text excluded), except that nesting beyond [`DEPTH`] is no document.

/// Deepest nesting that is still read; deeper arguments are text.
pub(super) const DEPTH: usize = 64;
/// Most digits Python 3.11 turns into an integer.
const INT_DIGITS: usize = 4300;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    True,
    False,
    /// An integer: no fraction, no exponent.
    Int,
    /// Any other number.
    Float,
    NaN,
    Infinity,
    NegativeInfinity,
    /// A string; `start..end` lies between the quotes.
    Plain,
    /// A string with escapes; `start..end` lies between the quotes, still escaped.
    Escaped,
    /// Its children follow, up to `next`.
    Array,
    /// Key and value nodes follow in turn, up to `next`.
    Object,
}

/// One value or key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) start: u32,
    pub(super) end: u32,
    /// Index of the node after this one and all that is inside it.
    pub(super) next: u32,
}

/// Reads `text` into `nodes`, the root first. `None` when it is no document; `nodes` is void then.
pub(super) fn parse(text: &str, nodes: &mut Vec<Node>) -> Option<()> {
    nodes.clear();
    let mut parser = Parser {
        bytes: text.as_bytes(),
        at: 0,
        nodes,
    };
    parser.value(0)?;
    parser.space();
    (parser.at == parser.bytes.len()).then_some(())
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    nodes: &'a mut Vec<Node>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn push(&mut self, kind: Kind, start: usize, end: usize) -> Option<usize> {
        let index = self.nodes.len();
        self.nodes.push(Node {
            kind,
            start: u32::try_from(start).ok()?,
            end: u32::try_from(end).ok()?,
            next: u32::try_from(index + 1).ok()?,
        });
        Some(index)
    }

    fn close(&mut self, index: usize) -> Option<()> {
        let next = u32::try_from(self.nodes.len()).ok()?;
        let end = u32::try_from(self.at).ok()?;
        let node = self.nodes.get_mut(index)?;
        node.next = next;
        node.end = end;
        Some(())
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        self.space();
        match self.peek()? {
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            b'"' => self.string(),
            b'n' => self.word(b"null", Kind::Null),
            b't' => self.word(b"true", Kind::True),
            b'f' => self.word(b"false", Kind::False),
            b'N' => self.word(b"NaN", Kind::NaN),
            b'I' => self.word(b"Infinity", Kind::Infinity),
            b'-' if self.bytes.get(self.at + 1) == Some(&b'I') => {
                self.word(b"-Infinity", Kind::NegativeInfinity)
            }
            b'-' | b'0'..=b'9' => self.number(),
            _ => None,
        }
    }

    fn word(&mut self, word: &[u8], kind: Kind) -> Option<()> {
        let end = self.at + word.len();
        (self.bytes.get(self.at..end)? == word).then_some(())?;
        self.push(kind, self.at, end)?;
        self.at = end;
        Some(())
    }

    fn object(&mut self, depth: usize) -> Option<()> {
        (depth < DEPTH).then_some(())?;
        let index = self.push(Kind::Object, self.at, self.at)?;
        self.at += 1;
        self.space();
        if self.peek()? == b'}' {
            self.at += 1;
            return self.close(index);
        }
        loop {
            self.space();
            (self.peek()? == b'"').then_some(())?;
            self.string()?;
            self.space();
            (self.peek()? == b':').then_some(())?;
            self.at += 1;
            self.value(depth + 1)?;
            self.space();
            match self.peek()? {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return self.close(index);
                }
                _ => return None,
            }
        }
    }

    fn array(&mut self, depth: usize) -> Option<()> {
        (depth < DEPTH).then_some(())?;
        let index = self.push(Kind::Array, self.at, self.at)?;
        self.at += 1;
        self.space();
        if self.peek()? == b']' {
            self.at += 1;
            return self.close(index);
        }
        loop {
            self.value(depth + 1)?;
            self.space();
            match self.peek()? {
                b',' => self.at += 1,
                b']' => {
                    self.at += 1;
                    return self.close(index);
                }
                _ => return None,
            }
        }
    }

    fn string(&mut self) -> Option<()> {
        let start = self.at + 1;
        let mut kind = Kind::Plain;
        let mut at = start;
        loop {
            let rest = self.bytes.get(at..)?;
            at += rest
                .iter()
                .position(|b| *b < 0x20 || matches!(b, b'"' | b'\\'))?;
            match self.bytes.get(at)? {
                b'"' => break,
                b'\\' => {
                    kind = Kind::Escaped;
                    at += match self.bytes.get(at + 1)? {
                        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
                        b'u' => {
                            let digits = self.bytes.get(at + 2..at + 6)?;
                            digits.iter().all(u8::is_ascii_hexdigit).then_some(6)?
                        }
                        _ => return None,
                    };
                }
                _ => return None,
            }
        }
        self.push(kind, start, at)?;
        self.at = at + 1;
        Some(())
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Option<()> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let whole = match self.peek()? {
            b'0' => {
                self.at += 1;
                1
            }
            _ => self.digits(),
        };
        (whole > 0).then_some(())?;
        let mut kind = Kind::Int;
        // As Python's pattern: a fraction or exponent without digits does not belong to the number.
        let before = self.at;
        if self.peek() == Some(b'.') {
            self.at += 1;
            if self.digits() == 0 {
                self.at = before;
            } else {
                kind = Kind::Float;
            }
        }
        let before = self.at;
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if self.digits() == 0 {
                self.at = before;
            } else {
                kind = Kind::Float;
            }
        }
        (kind == Kind::Float || whole <= INT_DIGITS).then_some(())?;
        self.push(kind, start, self.at)?;
        Some(())
    }
}

/// The text of a node: a number as written, a string as it stands between its quotes.
pub(super) fn slice<'a>(text: &'a str, node: &Node) -> &'a str {
    text.get(node.start as usize..node.end as usize)
        .unwrap_or_default()
}

/// Feeds the code points of a string node; lone surrogates come as they are, pairs joined.
pub(super) fn code_points(text: &str, escaped: bool, mut visit: impl FnMut(u32)) {
    if !escaped {
        text.chars().for_each(|c| visit(u32::from(c)));
        return;
    }
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, tail) = rest.split_at(at);
        before.chars().for_each(|c| visit(u32::from(c)));
        let (point, used) = escape(tail);
        visit(point);
        rest = tail.get(used..).unwrap_or_default();
    }
    rest.chars().for_each(|c| visit(u32::from(c)));
}

/// One escape at the start of `tail`, with its length. The parser has checked it.
fn escape(tail: &str) -> (u32, usize) {
    let point = match tail.as_bytes().get(1) {
        Some(b'b') => 8,
        Some(b'f') => 12,
        Some(b'n') => 10,
        Some(b'r') => 13,
        Some(b't') => 9,
        Some(b'u') => {
            let high = hex4(tail, 2);
            if (0xd800..0xdc00).contains(&high) && tail.get(6..8) == Some("\\u") {
                let low = hex4(tail, 8);
                if (0xdc00..0xe000).contains(&low) {
                    return (0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00), 12);
                }
            }
            return (high, 6);
        }
        Some(other) => u32::from(*other),
        None => 0,
    };
    (point, 2)
}

fn hex4(text: &str, at: usize) -> u32 {
    text.get(at..at + 4)
        .and_then(|digits| u32::from_str_radix(digits, 16).ok())
        .unwrap_or(0)
}

/// Appends a string node as WTF-8: as UTF-8, lone surrogates in three bytes. Byte order is code point order.
pub(super) fn decode(text: &str, escaped: bool, out: &mut Vec<u8>) {
    if !escaped {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    code_points(text, true, |point| push_point(point, out));
}

fn push_point(point: u32, out: &mut Vec<u8>) {
    match char::from_u32(point) {
        Some(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        None => {
            let byte = |shift: u32, mask: u32, mark: u8| -> u8 {
                mark | u8::try_from((point >> shift) & mask).unwrap_or(0)
            };
            out.extend_from_slice(&[
                byte(12, 0x0f, 0xe0),
                byte(6, 0x3f, 0x80),
                byte(0, 0x3f, 0x80),
            ]);
        }
    }
}
