//! Strangers' words made fit to be shown to a person: on a terminal, in a line of a log, on a page.
//!
//! Invariant: nothing that came with a span can move a cursor, begin a line, change a colour, turn the
//! direction of what stands around it, or hide a part of itself: every character that is obeyed instead of
//! drawn, or not drawn at all, is spelled out (`\n`, `\x1b`, `\u{202e}`). These are Unicode's controls (Cc),
//! format characters (Cf), separators of lines and paragraphs (Zl, Zp), and what is ignorable by default:
//! fillers, selectors, tags. [`printable`] is the only judge of that; all that is written for people goes
//! through it, and what it gives it leaves as it is.
//!
//! What stays, and why. Letters of every script stay, those written from right to left too: they turn only
//! themselves, as words of ours stand at both sides of a name. Persian, Urdu and the scripts of India cannot
//! be spelled without the two joiners (U+200C, U+200D), and people name agents with emoji joined by one; so
//! one joiner stays where such a script or an emoji stands at both sides of it, and a selector behind the
//! sign or letter that it chooses the form of. Anywhere else (between Latin letters, twice in a row, at an
//! end) they only hide a difference between two names. The few format characters that are drawn (Arabic
//! signs before numbers) are spelled out like all others: no name needs them, and a rule without exceptions
//! can be checked.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A text in which every character is drawn and none obeyed: all others are spelled out. Idempotent; a text
/// that has none comes back as it is.
pub fn printable(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find(is_unseen) else {
        return Cow::Borrowed(text);
    };
    let mut out: Option<String> = None;
    // The character before, where it was kept.
    let (clean, rest) = text.split_at(first);
    let mut before = clean.chars().next_back();
    let mut rest = rest.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let next = rest.peek().map(|(_, next)| *next);
        if is_unseen(c) && !belongs(before, c, next) {
            let start = || text.get(..first + at).unwrap_or_default().to_owned();
            spell_out(c, out.get_or_insert_with(start));
            before = None;
            continue;
        }
        if let Some(out) = &mut out {
            out.push(c);
        }
        before = Some(c);
    }
    out.map_or(Cow::Borrowed(text), Cow::Owned)
}

/// [`printable`], cut to at most `max` bytes (3 at least); what was cut ends in `...`. No character and no
/// escape is cut in two.
pub fn printable_within(text: &str, max: usize) -> String {
    // Spelling out makes nothing shorter: more than this is never shown.
    let head = text.get(..text.floor_char_boundary(max.saturating_add(8)));
    let whole = printable(head.unwrap_or_default());
    if whole.len() <= max {
        return whole.into_owned();
    }
    let end = whole.floor_char_boundary(max.saturating_sub(3));
    let mut kept = whole.get(..end).unwrap_or_default();
    if let Some((before, escape)) = kept.rsplit_once('\\')
        && (escape.is_empty()
            || escape.starts_with('x') && escape.len() < 3
            || escape.starts_with("u{") && escape.len() < 8 && !escape.contains('}')
            || escape == "u")
    {
        kept = before;
    }
    // Nothing stands behind a joiner any more that it would join.
    format!("{}...", kept.trim_end_matches(['\u{200c}', '\u{200d}']))
}

/// Whether a character is obeyed or not drawn: controls, format characters, separators of lines and
/// paragraphs, and what Unicode calls ignorable by default. Some belong to the text around them:
/// [`printable`] knows which.
pub fn is_unseen(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    matches!(c,
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
        | '\u{890}'..='\u{891}' | '\u{8e2}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether an unseen character is part of how the text around it is spelled.
fn belongs(before: Option<char>, c: char, next: Option<char>) -> bool {
    let (Some(before), next) = (before, next.unwrap_or(' ')) else {
        return false;
    };
    match c {
        // Emoji are never parted, only joined.
        '\u{200c}' => joins(before) && joins(next),
        '\u{200d}' => {
            (joins(before) && joins(next)) || (emoji(before) || before == '\u{fe0f}') && emoji(next)
        }
        // The form of a sign: as text, or as a picture.
        '\u{fe0e}' | '\u{fe0f}' => emoji(before) || matches!(before, '0'..='9' | '#' | '*'),
        // The form of a Mongolian letter, and what parts it from its suffix.
        '\u{180b}'..='\u{180f}' => mongolian(before) && (c != '\u{180e}' || mongolian(next)),
        _ => false,
    }
}

fn mongolian(c: char) -> bool {
    matches!(c, '\u{1820}'..='\u{18aa}')
}

/// Letters and marks of scripts that are spelled with joiners: Arabic, Syriac, Mandaic, those of India, Sri
/// Lanka, Tibet, Myanmar and the Khmer, Mongolian.
fn joins(c: char) -> bool {
    // What takes a vowel away is no letter, and the place where joiners stand most.
    let virama = matches!(
        c,
        '\u{94d}'
            | '\u{9cd}'
            | '\u{a4d}'
            | '\u{acd}'
            | '\u{b4d}'
            | '\u{bcd}'
            | '\u{c4d}'
            | '\u{ccd}'
            | '\u{d3b}'
            | '\u{d3c}'
            | '\u{d4d}'
            | '\u{dca}'
            | '\u{f84}'
            | '\u{1039}'
            | '\u{103a}'
            | '\u{17d2}'
    );
    virama
        || c.is_alphabetic()
            && matches!(c,
                '\u{620}'..='\u{6ff}' | '\u{710}'..='\u{77f}' | '\u{840}'..='\u{85f}' | '\u{8a0}'..='\u{dff}'
                | '\u{f40}'..='\u{fbc}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17d3}'
                | '\u{1820}'..='\u{18aa}')
}

/// Pictures and signs that have two forms or are joined to one picture.
fn emoji(c: char) -> bool {
    matches!(c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21ff}'
        | '\u{2300}'..='\u{23ff}' | '\u{2460}'..='\u{27bf}' | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}'
        | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

fn spell_out(c: char, out: &mut String) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if c.is_ascii() => {
            let _ = write!(out, "\\x{:02x}", u32::from(c));
        }
        c => {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::Regex;

    use super::*;

    #[test]
    fn each_class_is_spelled_out() {
        for (text, shown) in [
            // C0 and C1: escapes, bells, back-spaces, line ends.
            ("a\u{1b}[31mb\u{7}", "a\\x1b[31mb\\x07"),
            ("ok\u{8}\u{8}no\u{7f}", "ok\\x08\\x08no\\x7f"),
            ("a\nb\tc\rd\u{0}", "a\\nb\\tc\\rd\\x00"),
            ("a\u{9b}2J\u{85}b", "a\\u{9b}2J\\u{85}b"),
            // Separators of lines and paragraphs.
            ("a\u{2028}b\u{2029}c", "a\\u{2028}b\\u{2029}c"),
            // Directions: marks, embeddings, overrides, isolates.
            ("x\u{202e}txt.exe\u{202c}", "x\\u{202e}txt.exe\\u{202c}"),
            (
                "\u{2066}a\u{2069}\u{200f}\u{61c}",
                "\\u{2066}a\\u{2069}\\u{200f}\\u{61c}",
            ),
            // No width.
            (
                "zero\u{200b}wi\u{2060}dth\u{feff}",
                "zero\\u{200b}wi\\u{2060}dth\\u{feff}",
            ),
            (
                "re\u{200d}ad\u{200c}_file\u{ad}",
                "re\\u{200d}ad\\u{200c}_file\\u{ad}",
            ),
            // Tags, fillers, selectors, the rest.
            ("a\u{e0041}\u{e007f}b", "a\\u{e0041}\\u{e007f}b"),
            (
                "\u{3164}\u{115f}\u{ffa0}\u{34f}",
                "\\u{3164}\\u{115f}\\u{ffa0}\\u{34f}",
            ),
            ("a\u{fe0f}b\u{e0100}", "a\\u{fe0f}b\\u{e0100}"),
            (
                "\u{fff9}a\u{fffb}\u{605}\u{1d173}",
                "\\u{fff9}a\\u{fffb}\\u{605}\\u{1d173}",
            ),
        ] {
            assert_eq!(printable(text), shown, "{text:?}");
        }
    }

    #[test]
    fn ordinary_scripts_stay_as_they_are() {
        for text in [
            "read_file",
            "mcp__github.search-code/2",
            "\u{65e5}\u{672c}\u{8a9e} \u{1f980}",
            // Arabic, Hebrew with points, Russian, Thai, Korean.
            "\u{642}\u{631}\u{627}\u{621}\u{629} \u{645}\u{644}\u{641}",
            "\u{5e7}\u{5b0}\u{5e8}\u{5b4}\u{5d9}\u{5d0}\u{5b8}\u{5d4}",
            "\u{447}\u{442}\u{435}\u{43d}\u{438}\u{435}",
            "\u{e2d}\u{e48}\u{e32}\u{e19}",
            "\u{c77d}\u{ae30}",
            // Persian parts "mi" and "khaham" by U+200C; Hindi holds a half letter by U+200D, Sinhala joins by it.
            "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}",
            "\u{915}\u{94d}\u{200d}\u{937}",
            "\u{915}\u{94d}\u{200c}\u{937}",
            "\u{9b0}\u{200d}\u{9cd}\u{9af}",
            "\u{dc1}\u{dca}\u{200d}\u{dbb}\u{dd3}",
            // A person at a computer, a heart in colour, a key cap, a Mongolian form.
            "\u{1f469}\u{1f3fd}\u{200d}\u{1f4bb}",
            "\u{2764}\u{fe0f}\u{200d}\u{1f525}",
            "1\u{fe0f}\u{20e3}",
            "\u{1820}\u{180e}\u{1820}",
        ] {
            assert_eq!(printable(text), text);
            assert!(matches!(printable(text), Cow::Borrowed(_)));
        }
    }

    #[test]
    fn joiners_that_join_nothing_are_told() {
        assert_eq!(
            printable("\u{645}\u{200c}\u{200c}\u{62e}"),
            "\u{645}\\u{200c}\\u{200c}\u{62e}"
        );
        assert_eq!(printable("\u{645}\u{200c}"), "\u{645}\\u{200c}");
        assert_eq!(printable("\u{200d}\u{915}"), "\\u{200d}\u{915}");
        assert_eq!(printable("\u{915}\u{200d}a"), "\u{915}\\u{200d}a");
        assert_eq!(
            printable("\u{1f469}\u{200c}\u{1f4bb}"),
            "\u{1f469}\\u{200c}\u{1f4bb}"
        );
        // Hangs on nothing that was kept.
        assert_eq!(
            printable("a\u{fe0f}\u{200d}\u{1f525}"),
            "a\\u{fe0f}\\u{200d}\u{1f525}"
        );
    }

    #[test]
    fn all_that_unicode_calls_unseen_is() {
        let unseen =
            Regex::new(r"[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]").unwrap();
        let mut text = [0; 4];
        for c in '\0'..=char::MAX {
            let known = unseen.is_match(c.encode_utf8(&mut text));
            assert!(!known || is_unseen(c), "{:x} passes", u32::from(c));
            // Some are not given out yet: nothing else is taken for unseen.
            let spare = matches!(c, '\u{fff0}'..='\u{fff8}' | '\u{13430}'..='\u{1343f}');
            assert!(
                known || spare || !is_unseen(c),
                "{:x} is drawn",
                u32::from(c)
            );
        }
    }

    #[test]
    fn nothing_is_cut_in_two() {
        assert_eq!(printable_within("short", 8), "short");
        assert_eq!(printable_within("123456789", 8), "12345...");
        assert_eq!(printable_within("123\u{202e}56", 8), "123...");
        assert_eq!(printable_within("12\u{1b}456789", 8), "12...");
        assert_eq!(
            printable_within("\u{915}\u{200d}\u{915}\u{915}", 9),
            "\u{915}..."
        );
        assert_eq!(printable_within("\u{202e}", 2), "...");
    }

    proptest! {
        #[test]
        fn what_is_shown_is_seen(text in "(.|[\u{200c}\u{200d}\u{fe0f}\u{915}\u{645}\u{1f525}\n\u{202e}]){0,40}", max in 3usize..60) {
            let shown = printable(&text).into_owned();
            prop_assert_eq!(&printable(&shown), &shown);
            let kept = |c| matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}' | '\u{180b}'..='\u{180f}');
            let bare = shown.chars().find(|c| is_unseen(*c) && !kept(*c));
            prop_assert_eq!(bare, None);
            let cut = printable_within(&text, max);
            prop_assert!(cut.len() <= max && (shown == cut || cut.ends_with("...")));
            prop_assert_eq!(&printable(&cut), &cut);
        }
    }
}
