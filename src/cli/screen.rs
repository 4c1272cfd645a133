//! Text on a terminal: strangers' names made harmless, widths counted as they are shown, lines wrapped.
//!
//! Invariant: nothing that came with a span can move the cursor, change a colour, turn the direction of the
//! text around, or hide a part of it.

use std::borrow::Cow;
use std::io::{self, Write};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns where nothing says how many there are.
pub(super) const COLUMNS: usize = 100;
/// Fewest columns that are laid out for, and most.
const COLUMNS_RANGE: std::ops::RangeInclusive<usize> = 44..=160;

/// The columns to lay out for, from what a terminal says.
pub(super) fn columns(said: Option<usize>) -> usize {
    said.unwrap_or(COLUMNS)
        .clamp(*COLUMNS_RANGE.start(), *COLUMNS_RANGE.end())
}

/// A text with everything spelled out that a terminal would obey or not show, as in all that we write.
pub(super) use crate::model::printable as safe;

/// Columns that a text takes.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// A text of at most `columns`; a longer one ends in `...`.
pub(super) fn cut(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let wide = c.width().unwrap_or(0);
        if used + wide > columns.saturating_sub(3) {
            break;
        }
        used += wide;
        out.push(c);
    }
    out.push_str("...".get(..columns.min(3)).unwrap_or_default());
    Cow::Owned(out)
}

/// A text filled with blanks to `columns`.
pub(super) fn padded(text: &str, columns: usize) -> String {
    let blanks = columns.saturating_sub(width(text));
    format!("{text}{:blanks$}", "")
}

/// Writes words behind something that already takes `used` columns; further lines are indented. A word that
/// is wider than a line is broken.
pub(super) fn wrap(
    out: &mut dyn Write,
    text: &str,
    mut used: usize,
    indent: usize,
    columns: usize,
) -> io::Result<()> {
    let room = columns.saturating_sub(indent + 1).max(8);
    for word in text.split(' ') {
        let mut word = word;
        while width(word) > room {
            let (head, tail) = split(word, room);
            write!(out, "\n{:indent$} {head}", "")?;
            used = columns;
            word = tail;
        }
        let wide = width(word) + 1;
        if used + wide > columns {
            write!(out, "\n{:indent$}", "")?;
            used = indent;
        }
        write!(out, " {word}")?;
        used += wide;
    }
    writeln!(out)
}

/// A word in two, the first part of at most `columns`.
fn split(word: &str, columns: usize) -> (&str, &str) {
    let mut used = 0;
    for (at, c) in word.char_indices() {
        used += c.width().unwrap_or(0);
        if used > columns && at > 0 {
            return word.split_at(at);
        }
    }
    (word, "")
}

/// A count with its word: `1 step`, `2 steps`.
pub(super) fn count(number: u64, word: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{} {word}{s}", grouped(number))
}

/// A number with its thousands set apart: `12,400`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Milliseconds as people say them: `350 ms`, `4.2 s`, `12 min`, `3.5 h`.
pub(super) fn time(ms: u64) -> String {
    let seconds = std::time::Duration::from_millis(ms).as_secs_f64();
    if ms < 1_000 {
        format!("{ms} ms")
    } else if seconds < 120.0 {
        format!("{seconds:.1} s")
    } else if seconds < 7_200.0 {
        format!("{:.0} min", seconds / 60.0)
    } else {
        format!("{:.1} h", seconds / 3_600.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn widths_are_as_shown() {
        assert_eq!(cut("read_file", 9), "read_file");
        assert_eq!(cut("read_file", 8), "read_...");
        assert_eq!(cut("日本語の道具", 9), "日本語...");
        assert_eq!(padded("日本", 6), "日本  ");
        assert_eq!(columns(None), 100);
        assert_eq!((columns(Some(3)), columns(Some(999))), (44, 160));
    }

    #[test]
    fn words_wrap_and_long_ones_break() {
        let mut out = Vec::new();
        wrap(&mut out, "one two threethreethreethree four", 4, 2, 16).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, " one two\n   threethreethr\n   eethree four\n");
    }

    #[test]
    fn numbers_as_people_say_them() {
        assert_eq!(count(1, "step"), "1 step");
        assert_eq!(count(12_400, "call"), "12,400 calls");
        assert_eq!(
            [350, 4_200, 720_000, 12_600_000].map(time),
            ["350 ms", "4.2 s", "12 min", "3.5 h"]
        );
    }

    proptest! {
        #[test]
        fn no_line_is_too_wide(text in ".{0,80}", wide in 16usize..60) {
            let clean = safe(&text).into_owned();
            prop_assert!(width(&cut(&clean, wide)) <= wide);
            let mut out = Vec::new();
            wrap(&mut out, &clean, 0, 2, wide).unwrap();
            for line in String::from_utf8(out).unwrap().lines() {
                prop_assert!(width(line.trim_end()) <= wide, "{line:?}");
            }
        }
    }
}
