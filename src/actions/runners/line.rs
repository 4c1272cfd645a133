//! The words of a command, with helpers to read them.

use super::super::script::{Word, base_name};

/// The words of a command with helpers to read them.
#[derive(Clone, Copy)]
pub(in crate::actions) struct Line<'a>(pub(in crate::actions) &'a [Word]);

impl<'a> Line<'a> {
    pub(in crate::actions) fn text(&self, at: usize) -> &'a str {
        self.0.get(at).map_or("", |w| w.text.as_str())
    }

    pub(in crate::actions) fn name(&self) -> &'a str {
        base_name(self.text(0))
    }

    pub(in crate::actions) fn has(&self, flags: &[&str]) -> bool {
        self.0
            .iter()
            .skip(1)
            .take_while(|w| w.text != "--")
            .any(|w| {
                flags.contains(&w.text.as_str())
                    || w.text
                        .split_once('=')
                        .is_some_and(|(f, _)| flags.contains(&f))
            })
    }

    pub(in crate::actions) fn value(&self, flags: &[&str]) -> Option<Word> {
        self.0.iter().enumerate().skip(1).find_map(|(at, word)| {
            if flags.contains(&word.text.as_str()) {
                return self.0.get(at + 1).cloned();
            }
            let (flag, value) = word.text.split_once('=')?;
            flags.contains(&flag).then(|| Word {
                text: value.to_owned(),
                dynamic: word.dynamic,
            })
        })
    }

    /// Words that are no options, the name left out.
    pub(in crate::actions) fn operands(&self) -> impl Iterator<Item = &'a Word> + use<'a> {
        self.0.iter().skip(1).filter(|w| !w.text.starts_with('-'))
    }

    pub(super) fn from(&self, at: usize) -> Self {
        Self(self.0.get(at..).unwrap_or_default())
    }

    /// The first word from `at` on that is no option; `valued` ones take the next word along.
    pub(super) fn skip(&self, mut at: usize, valued: &[&str]) -> usize {
        while let Some(word) = self.0.get(at) {
            match word.text.as_str() {
                "--" => return at + 1,
                flag if flag.starts_with('-') => at += if valued.contains(&flag) { 2 } else { 1 },
                _ => break,
            }
        }
        at
    }
}
