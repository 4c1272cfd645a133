//! Whether a text claims that work is complete or that checks passed (DESIGN 6, claims).
//!
//! Invariant: a claim is a statement of the text itself about what is: negation, conditions, questions,
//! plans, quotes and code are none, an open "not run" takes a completion back, and checks that are told to
//! fail take back everything. Work that the writer announces after it takes a completion back as well.

use std::sync::LazyLock;

use regex::Regex;
use smallvec::SmallVec;

use super::prose::sentences;
use super::visible::without_thoughts;
use super::{chinese, english, french, german, goals, japanese, spanish};
use crate::model::{Claim, Excerpt};

/// What one sentence says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    /// What it asserts.
    pub(super) claim: Claim,
    /// It says openly that something was not done, not run, or withdrawn.
    pub(super) gap: bool,
    /// It says that checks fail.
    pub(super) failing: bool,
    /// It announces work of the writer's own.
    pub(super) ahead: bool,
}

/// A language: one file each.
pub(super) struct Language {
    /// Judges one sentence in lower case that is no question.
    pub(super) judge: fn(&str) -> Said,
    /// Whether a sentence holds what takes back a claim that another language reads in it. Only of languages
    /// whose words cannot be those of another.
    pub(super) silences: fn(&str) -> bool,
    /// Whether a heading, in lower case, announces plans, criteria or open work.
    pub(super) plans: fn(&str) -> bool,
    /// Whether a sentence of a goal, in lower case, asks for tests to be run or to pass.
    pub(super) asks_for_tests: fn(&str) -> bool,
    /// Parts of words without one of which no text in this language says anything here; lower case.
    /// English has none: it is always asked.
    pub(super) stems: &'static [&'static str],
}

/// All languages, English first. Every sentence is shown to each whose stems stand in the text.
const LANGUAGES: &[Language] = &[
    english::LANGUAGE,
    german::LANGUAGE,
    french::LANGUAGE,
    spanish::LANGUAGE,
    chinese::LANGUAGE,
    japanese::LANGUAGE,
];

/// The stems of all languages but English: most texts hold none.
static STEMS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let all = LANGUAGES.iter().flat_map(|language| language.stems);
    any_of(all.copied())
});

/// The stems of each language.
static STEMS_OF_EACH: LazyLock<Vec<Option<Regex>>> = LazyLock::new(|| {
    let each = |language: &Language| any_of(language.stems.iter().copied());
    LANGUAGES.iter().map(each).collect()
});

fn any_of(stems: impl Iterator<Item = &'static str>) -> Option<Regex> {
    let stems: Vec<String> = stems.map(regex::escape).collect();
    if stems.is_empty() {
        return None;
    }
    Regex::new(&format!("(?i){}", stems.join("|"))).ok()
}

/// The languages worth asking about a text.
fn languages(text: &str) -> SmallVec<[&'static Language; 6]> {
    let foreign = STEMS.as_ref().is_none_or(|stems| stems.is_match(text));
    if !foreign {
        return LANGUAGES.iter().take(1).collect();
    }
    LANGUAGES
        .iter()
        .zip(STEMS_OF_EACH.iter())
        .filter(|(_, stems)| stems.as_ref().is_none_or(|stems| stems.is_match(text)))
        .map(|(language, _)| language)
        .collect()
}

/// What a whole text says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) claim: Claim,
    pub(super) honest_gap: bool,
}

/// Reads the claim of a text; `seen` are its pieces without think blocks.
pub(super) fn read(text: Excerpt<'_>, seen: [&str; 2]) -> Reading {
    let mut all = Said::default();
    for (piece, seen) in [text.front(), text.end()].into_iter().zip(seen) {
        if seen.is_empty() {
            continue;
        }
        let languages = languages(piece);
        let plans = |heading: &str| languages.iter().any(|language| (language.plans)(heading));
        sentences(seen, plans, |sentence, question| {
            if question {
                return;
            }
            let mut here = Said::default();
            for language in &languages {
                let said = (language.judge)(sentence);
                here.claim = here.claim.max(said.claim);
                here.gap |= said.gap;
                here.failing |= said.failing;
                here.ahead |= said.ahead;
            }
            // "\u{786e}\u{4fdd} all tests pass": one language claims, another one asks for it.
            let claims = here.claim != Claim::None && !sentence.is_ascii();
            if claims
                && languages
                    .iter()
                    .any(|language| (language.silences)(sentence))
            {
                here.claim = Claim::None;
            }
            all.claim = all.claim.max(here.claim);
            all.gap |= here.gap;
            all.failing |= here.failing;
            // The later word holds: "I need to fix it. Fixed." is done.
            all.ahead = here.ahead || (all.ahead && here.claim == Claim::None);
        });
    }
    let withdrawn = all.failing || ((all.gap || all.ahead) && all.claim == Claim::Done);
    Reading {
        claim: if withdrawn { Claim::None } else { all.claim },
        honest_gap: all.gap || all.failing,
    }
}

/// Whether a goal asks for tests to be run or to pass.
pub fn goal_asks_for_tests<'a>(text: impl Into<Excerpt<'a>>) -> bool {
    let front = text.into().front();
    if !goals::may_ask(front) {
        return false;
    }
    let languages = languages(front);
    let mut asks = false;
    sentences(
        &without_thoughts(front),
        |_| false,
        |sentence, _| {
            asks |= languages
                .iter()
                .any(|language| (language.asks_for_tests)(sentence));
        },
    );
    asks
}

#[cfg(test)]
mod tests {
    use crate::model::Claim;
    use crate::texts::read;

    #[test]
    fn other_languages() {
        use Claim::{ChecksPassed, Done, None};
        for (text, claim) in [
            ("Erledigt: der Fehler ist behoben.", Done),
            ("Alle Tests bestanden.", ChecksPassed),
            ("Die Tests laufen noch nicht.", None),
            ("Wenn alle Tests bestanden sind, bin ich fertig.", None),
            (
                "Fertig, aber ich konnte die Tests nicht ausf\u{fc}hren.",
                None,
            ),
            ("Termin\u{e9}, tous les tests passent.", ChecksPassed),
            ("Le bug est corrig\u{e9}.", Done),
            ("Les tests ne passent pas.", None),
            ("Si les tests passent, c'est fait.", None),
            ("Todas las pruebas pasan.", ChecksPassed),
            ("Listo, el error est\u{e1} corregido.", Done),
            ("Las pruebas no pasan.", None),
            ("Cuando las pruebas pasan, est\u{e1} listo.", None),
            (
                "\u{6240}\u{6709}\u{6d4b}\u{8bd5}\u{5df2}\u{901a}\u{8fc7}\u{3002}",
                ChecksPassed,
            ),
            ("\u{95ee}\u{9898}\u{5df2}\u{4fee}\u{590d}\u{3002}", Done),
            ("\u{6d4b}\u{8bd5}\u{672a}\u{901a}\u{8fc7}\u{3002}", None),
            (
                "\u{5982}\u{679c}\u{6d4b}\u{8bd5}\u{901a}\u{8fc7}\u{ff0c}\u{5c31}\u{5b8c}\u{6210}\u{4e86}\u{3002}",
                None,
            ),
            (
                "\u{4fee}\u{6b63}\u{3057}\u{307e}\u{3057}\u{305f}\u{3002}",
                Done,
            ),
            (
                "\u{30c6}\u{30b9}\u{30c8}\u{304c}\u{3059}\u{3079}\u{3066}\u{901a}\u{308a}\u{307e}\u{3057}\u{305f}\u{3002}",
                ChecksPassed,
            ),
            (
                "\u{30c6}\u{30b9}\u{30c8}\u{306f}\u{901a}\u{308a}\u{307e}\u{305b}\u{3093}\u{3002}",
                None,
            ),
            ("El informe est\u{e1} en la carpeta.", None),
            ("Der Plan ist gut.", None),
        ] {
            assert_eq!(read(text).claim, claim, "{text}");
        }
    }
}
