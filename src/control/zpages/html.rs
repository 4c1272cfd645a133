//! HTML, written so that nothing from outside can become markup.
//!
//! Invariant: what strangers wrote gets into a page through [`Html::text`] and [`Html::attribute`] alone; both spell
//! out what a browser would obey.

use std::fmt::{self, Write as _};

use crate::model::printable;

/// Most bytes of one page; what comes after is left out, and said to be.
pub(super) const PAGE_MAX: usize = 2 << 20;

/// A page under construction.
#[derive(Debug, Default)]
pub(super) struct Html {
    out: String,
}

impl Html {
    /// Markup of ours, as it is.
    pub(super) fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.out.push_str(markup);
        self
    }

    /// A text from anywhere: escaped, and every character that would be obeyed spelled out.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        for c in printable(text).chars() {
            match c {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '"' => self.out.push_str("&quot;"),
                '\'' => self.out.push_str("&#39;"),
                c => self.out.push(c),
            }
        }
        self
    }

    /// Something that says what it is in ASCII letters, digits and signs: a number, an id, a time.
    pub(super) fn value(&mut self, value: impl fmt::Display) -> &mut Self {
        let mut text = String::new();
        // A String takes everything.
        let _ = write!(text, "{value}");
        self.text(&text)
    }

    /// So many of something: `1 run`, `2 runs`.
    pub(super) fn counted(&mut self, count: u64, noun: &'static str) -> &mut Self {
        let plural = if count == 1 { "" } else { "s" };
        self.value(count).raw(" ").raw(noun).raw(plural)
    }

    /// ` name="value"`.
    pub(super) fn attribute(&mut self, name: &'static str, value: &str) -> &mut Self {
        self.raw(" ").raw(name).raw("=\"").text(value).raw("\"")
    }

    /// A cell of a table with a class of ours.
    pub(super) fn cell(&mut self, class: &'static str, text: &str) -> &mut Self {
        self.raw("<td class=\"").raw(class).raw("\">");
        self.text(text).raw("</td>")
    }

    /// A part that was written aside.
    pub(super) fn append(&mut self, part: Self) -> &mut Self {
        self.out.push_str(&part.out);
        self
    }

    /// Whether there is no more room.
    pub(super) fn is_full(&self) -> bool {
        self.out.len() >= PAGE_MAX
    }

    /// What was written.
    pub(super) fn take(self) -> String {
        self.out
    }
}

/// A value for a query: every byte that is not a letter, digit or one of `-._~` as `%XX`.
pub(super) fn encoded(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// The value of a key in a query, decoded; `None` where it is not there or no UTF-8.
pub(super) fn query_value(query: &str, key: &str) -> Option<String> {
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    let (_, value) = pairs.find(|(name, _)| name == key)?;
    (!value.is_empty()).then(|| value.into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn strangers_write_no_markup() {
        let mut html = Html::default();
        html.text("<script>alert('x')</script>\u{202e}\u{7}");
        let out = html.take();
        assert!(
            !out.contains(['<', '>', '\'', '"', '\u{202e}', '\u{7}']),
            "{out}"
        );
    }

    proptest! {
        #[test]
        fn no_text_leaves_its_place(text in any::<String>()) {
            let mut html = Html::default();
            html.attribute("title", &text);
            let out = html.take();
            prop_assert_eq!(out.matches('"').count(), 2);
            prop_assert!(!out.contains(['<', '>']));
        }

        #[test]
        fn a_query_gives_back_what_was_put_in(text in "\\PC{1,40}") {
            let query = format!("a=b&id={}", encoded(&text));
            prop_assert_eq!(query_value(&query, "id"), Some(text));
        }
    }
}
