//! Texts as they may be shown: bounded, and no more detailed than configured.

use super::{EvidenceDetail, Settings};
use crate::model::printable_within;

/// Longest text written, in bytes: what all backends index.
const TEXT_MAX: usize = 240;

impl Settings {
    /// Whether names of tools and agents may be written.
    pub(super) fn shows_names(&self) -> bool {
        self.evidence != EvidenceDetail::None
    }
}

/// A text in which every character is seen, cut to what backends index, with directories taken out of paths
/// unless they may be shown.
pub(super) fn shown(text: &str, settings: &Settings) -> String {
    match settings.evidence {
        EvidenceDetail::Paths => printable_within(text, TEXT_MAX),
        EvidenceDetail::Names => printable_within(&without_directories(text), TEXT_MAX),
        EvidenceDetail::None => printable_within(&without_names(text), TEXT_MAX),
    }
}

/// `/srv/agent/src/a.rs` becomes `a.rs`; words without two slashes stay.
fn without_directories(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, word) in text.split(' ').enumerate() {
        if at > 0 {
            out.push(' ');
        }
        let is_path = word.matches('/').count() >= 2 && !word.contains("://");
        let trimmed = word.trim_end_matches('/');
        match trimmed.rsplit('/').next() {
            Some(last) if is_path && !last.is_empty() => out.push_str(last),
            _ => out.push_str(word),
        }
    }
    out
}

/// What stands between backticks, where sentences have names, and every path become `...`. A name that holds a
/// backtick itself takes what follows along.
fn without_names(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, part) in text.split('`').enumerate() {
        if at % 2 == 1 {
            out.push_str("`...`");
            continue;
        }
        for (at, word) in part.split(' ').enumerate() {
            if at > 0 {
                out.push(' ');
            }
            out.push_str(if word.contains('/') { "..." } else { word });
        }
    }
    out
}

/// Sixteen hex digits.
pub(super) fn hex16(number: u64) -> String {
    format!("{number:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cut_to_their_last_part_by_default() {
        let settings = Settings::default();
        assert_eq!(
            shown("wrote /srv/agent/src/a.rs twice", &settings),
            "wrote a.rs twice"
        );
        assert_eq!(shown("read src/a.rs", &settings), "read src/a.rs");
        let paths = Settings {
            evidence: EvidenceDetail::Paths,
            ..Settings::default()
        };
        assert_eq!(
            shown("wrote /srv/agent/a.rs", &paths),
            "wrote /srv/agent/a.rs"
        );
    }

    #[test]
    fn without_evidence_no_name_is_told() {
        let none = Settings {
            evidence: EvidenceDetail::None,
            ..Settings::default()
        };
        assert_eq!(
            shown(
                "`read_file` failed 3 times with the same error since step 1",
                &none
            ),
            "`...` failed 3 times with the same error since step 1"
        );
        assert_eq!(
            shown("wrote /srv/a.rs (outside of src/b) by `cp`", &none),
            "wrote ... (outside of ... by `...`"
        );
    }

    #[test]
    fn strangers_words_are_seen_as_they_are() {
        for settings in [EvidenceDetail::Names, EvidenceDetail::Paths].map(|evidence| Settings {
            evidence,
            ..Settings::default()
        }) {
            assert_eq!(shown("a\u{202e}b\nc", &settings), "a\\u{202e}b\\nc");
        }
    }

    #[test]
    fn long_texts_are_cut_at_a_character() {
        let text = shown(&"ä".repeat(300), &Settings::default());
        assert!(text.len() <= TEXT_MAX && text.ends_with("..."));
    }
}
