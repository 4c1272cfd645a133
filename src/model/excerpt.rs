//! A text as far as it is read. Invariant: at most [`Excerpt::FRONT`] + [`Excerpt::END`] bytes are looked
//! at, the length is exact, and both pieces are whole UTF-8.

/// The two ends of a text (DESIGN 4: what is read of one text is bounded). The whole is only hashed and
/// counted, which costs no more than copying it would.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Excerpt<'a> {
    whole: &'a str,
    front: &'a str,
    end: &'a str,
}

impl<'a> Excerpt<'a> {
    /// Bytes read from the front.
    pub const FRONT: usize = 64 * 1024;
    /// Bytes read from the end of a longer text.
    pub const END: usize = 16 * 1024;

    /// Cuts a text to what is read of it, at character boundaries.
    pub fn of(whole: &'a str) -> Self {
        let bytes = whole.len();
        if bytes <= Self::FRONT + Self::END {
            return Self {
                whole,
                front: whole,
                end: "",
            };
        }
        let front = whole.floor_char_boundary(Self::FRONT);
        let end = whole.ceil_char_boundary(bytes - Self::END);
        Self {
            whole,
            front: whole.get(..front).unwrap_or_default(),
            end: whole.get(end..).unwrap_or_default(),
        }
    }

    /// The front piece; the whole text unless [`Excerpt::truncated`].
    pub fn front(&self) -> &'a str {
        self.front
    }

    /// The end piece; empty unless [`Excerpt::truncated`].
    pub fn end(&self) -> &'a str {
        self.end
    }

    /// The last piece there is: where a text comes to its point.
    pub fn last(&self) -> &'a str {
        if self.truncated() {
            self.end
        } else {
            self.front
        }
    }

    /// The whole text, for hashing and counting only.
    pub fn whole(&self) -> &'a str {
        self.whole
    }

    /// Whether the middle of the text is not looked at.
    pub fn truncated(&self) -> bool {
        self.front.len() < self.whole.len()
    }
}

impl<'a> From<&'a str> for Excerpt<'a> {
    fn from(text: &'a str) -> Self {
        Self::of(text)
    }
}

impl<'a> From<&'a String> for Excerpt<'a> {
    fn from(text: &'a String) -> Self {
        Self::of(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_are_whole_and_long_ones_keep_both_ends() {
        let short = Excerpt::of("abc");
        assert!(!short.truncated());
        assert_eq!(
            (short.front(), short.last(), short.end()),
            ("abc", "abc", "")
        );
        let text = format!("a{}z", "\u{e9}".repeat(60_000));
        let long = Excerpt::of(&text);
        assert!(long.truncated());
        assert_eq!(long.whole().len(), 120_002);
        assert!(long.front().starts_with('a') && long.front().len() <= Excerpt::FRONT);
        assert!(long.end().ends_with('z') && long.end().len() <= Excerpt::END);
        assert_eq!(long.last(), long.end());
    }
}
