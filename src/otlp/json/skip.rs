//! Steps over values that nobody wants; they are checked all the same.

use super::lexer::{Lexer, Read};

impl Lexer<'_> {
    /// Takes whatever comes, however deep, checking it.
    pub(super) fn skip_deep(&mut self) -> Read<()> {
        let mut open = Vec::new();
        loop {
            match self.peek() {
                Some(bracket @ (b'{' | b'[')) => {
                    self.at += 1;
                    open.push(bracket);
                    if !matches!(self.peek(), Some(b'}' | b']')) {
                        self.key_within(bracket)?;
                        continue;
                    }
                }
                _ => self.skip()?,
            }
            while let Some(bracket) = open.last().copied() {
                match (bracket, self.peek()) {
                    (b'{', Some(b'}')) | (b'[', Some(b']')) => {
                        self.at += 1;
                        open.pop();
                    }
                    (_, Some(b',')) => {
                        self.at += 1;
                        self.key_within(bracket)?;
                        break;
                    }
                    _ => return self.wrong("an object or array is not closed"),
                }
            }
            if open.is_empty() {
                return Ok(());
            }
        }
    }

    fn key_within(&mut self, bracket: u8) -> Read<()> {
        if bracket == b'{' {
            self.string_of("a key must be a string")?;
            self.expect(b':', "a colon is missing after the key")?;
        }
        Ok(())
    }

    /// Takes whatever comes, checking it.
    pub(super) fn skip(&mut self) -> Read<()> {
        match self.peek() {
            Some(b'{') => self.object(|lexer, _| lexer.skip()),
            Some(b'[') => self.array(|lexer, _| lexer.skip()),
            Some(b'"') => self.string().map(drop),
            Some(b'-' | b'0'..=b'9') => self.number().map(drop),
            Some(b't' | b'f') => self.truth().map(drop),
            Some(b'n') => self.null().map(drop),
            Some(_) => self.wrong("is no JSON value"),
            None => self.wrong("the text ends where a value must stand"),
        }
    }
}
