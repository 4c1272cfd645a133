//! Whether a text claims that work is complete or that checks passed (DESIGN 6, claims).
//!
//! Invariant: a claim is a statement of the text itself about what is: negation, conditions, questions,
//! plans, quotes and code are none, an open "not run" takes a completion back, and checks that are told to
//! fail take back everything. Work that the writer announces after it takes a completion back as well.
//!
//! Cost: bounded by [`WEIGHED_MAX`] beside one look at each sentence. Texts are read from their end, so that what
//! a writer comes to is what counts: a claim is what a text closes with, and what is weighed last of a text of
//! thousands of statements (a log that was pasted, a text that runs in circles) would not be a person's claim.

use std::sync::LazyLock;

use regex::Regex;
use smallvec::SmallVec;

use super::prose::sentences;
use super::visible::without_thoughts;
use super::{chinese, english, french, german, goals, japanese, spanish};
use crate::model::{Claim, Excerpt};

/// Most sentences of one text in which something speaks and that are weighed, the last ones of it.
const WEIGHED_MAX: usize = 128;

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
    /// Judges one sentence in lower case that is no question; `None` when no word in it speaks, which is told
    /// cheaply.
    pub(super) judge: fn(&str) -> Option<Said>,
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
    let mut left = WEIGHED_MAX;
    let mut claimed_later = false;
    // From the end: the last word holds.
    for (piece, seen) in [text.front(), text.end()].into_iter().zip(seen).rev() {
        if seen.is_empty() {
            continue;
        }
        let languages = languages(piece);
        let own = statements(seen, &languages);
        for sentence in own.backwards() {
            let Some(here) = weigh(sentence, &languages) else {
                continue;
            };
            all.claim = all.claim.max(here.claim);
            all.gap |= here.gap;
            all.failing |= here.failing;
            // "I need to fix it. Fixed." is done.
            all.ahead |= here.ahead && !claimed_later;
            claimed_later |= here.claim != Claim::None;
            left -= 1;
            if left == 0 {
                return all.into();
            }
        }
    }
    all.into()
}

impl From<Said> for Reading {
    fn from(all: Said) -> Self {
        let withdrawn = all.failing || ((all.gap || all.ahead) && all.claim == Claim::Done);
        Self {
            claim: if withdrawn { Claim::None } else { all.claim },
            honest_gap: all.gap || all.failing,
        }
    }
}

/// Sentences one behind the other.
#[derive(Debug, Default)]
struct Statements {
    text: String,
    ends: Vec<usize>,
}

impl Statements {
    fn backwards(&self) -> impl Iterator<Item = &str> {
        let starts = self.ends.iter().rev().skip(1).copied().chain([0]);
        self.ends
            .iter()
            .rev()
            .zip(starts)
            .filter_map(|(end, start)| self.text.get(start..*end))
    }
}

/// The sentences of a text that state something.
fn statements(seen: &str, languages: &[&Language]) -> Statements {
    let mut own = Statements {
        text: String::with_capacity(seen.len()),
        ends: Vec::new(),
    };
    let plans = |heading: &str| languages.iter().any(|language| (language.plans)(heading));
    sentences(seen, plans, |sentence, question| {
        if !question {
            own.text.push_str(sentence);
            own.ends.push(own.text.len());
        }
    });
    own
}

/// What a sentence says in any of the languages; `None` when nothing in it speaks.
fn weigh(sentence: &str, languages: &[&Language]) -> Option<Said> {
    let mut here: Option<Said> = None;
    for said in languages
        .iter()
        .filter_map(|language| (language.judge)(sentence))
    {
        let here = here.get_or_insert_default();
        here.claim = here.claim.max(said.claim);
        here.gap |= said.gap;
        here.failing |= said.failing;
        here.ahead |= said.ahead;
    }
    let mut here = here?;
    // "\u{786e}\u{4fdd} all tests pass": one language claims, another one asks for it.
    if here.claim != Claim::None
        && !sentence.is_ascii()
        && languages
            .iter()
            .any(|language| (language.silences)(sentence))
    {
        here.claim = Claim::None;
    }
    Some(here)
}

/// Builds what all languages are read by, so that no text has to wait for it.
pub(super) fn prepare() {
    for language in LANGUAGES {
        // The answers do not matter: the first question builds the tables.
        let _ = (language.judge)("tests");
        let _ = (language.silences)("tests");
    }
    let _ = languages("tests");
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
    fn the_last_word_of_a_long_text_counts() {
        let many = "The parser is fixed. ".repeat(super::WEIGHED_MAX);
        assert_eq!(read(many.as_str()).claim, Claim::Done);
        assert_eq!(
            read(format!("{many}All tests pass.").as_str()).claim,
            Claim::ChecksPassed
        );
        let facts = read(format!("{many}I did not run the tests.").as_str());
        assert_eq!((facts.claim, facts.honest_gap), (Claim::None, true));
        // So far back nothing is weighed.
        assert_eq!(
            read(format!("All tests pass. {many}").as_str()).claim,
            Claim::Done
        );
        // What does not speak does not count.
        let quiet = "Blue water flows under old bridges. ".repeat(1000);
        assert_eq!(
            read(format!("All tests pass. {quiet}").as_str()).claim,
            Claim::ChecksPassed
        );
        assert_eq!(read("I need to fix it. It is fixed.").claim, Claim::Done);
        assert_eq!(
            read("It is fixed. I need to run the tests.").claim,
            Claim::None
        );
    }

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
