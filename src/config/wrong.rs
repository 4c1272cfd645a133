//! Errors of reading, on their way from the field that raised them to the report.
//!
//! Invariant: an error names the innermost entry or member that caused it, so that the caller can pass
//! that over and read on; a secret is taken out of every text before it is shown.

use std::fmt;

use serde::de::{self, Expected, Unexpected};

use super::reader::Reader;
use super::report::Problem;
use super::suggest;
use super::tree::{Place, Scalar};

/// An error on its way up; it gets its place from the first map or list that sees it.
#[derive(Debug)]
pub(super) struct Wrong(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: Kind,
    at: Option<Spot>,
}

/// What is wrong.
#[derive(Debug)]
pub(super) enum Kind {
    /// Another kind of value was expected.
    Type { expected: String },
    /// A key that the struct does not have.
    UnknownKey {
        key: String,
        allowed: &'static [&'static str],
    },
    /// A word that the enum does not have.
    UnknownWord {
        word: String,
        allowed: &'static [&'static str],
    },
    /// A key that must be there.
    Missing { key: &'static str },
    /// Whatever a field's own reading says.
    Words(String),
}

/// Where, and what to pass over.
#[derive(Debug)]
struct Spot {
    shown: Place,
    passed: Place,
    found: String,
    hidden: Option<(String, String)>,
    /// Something in the same map was passed over already.
    incomplete: bool,
}

impl Wrong {
    pub(super) fn new(kind: Kind) -> Self {
        Self(Box::new(Inner { kind, at: None }))
    }

    /// Says where it is, unless something further in said so before. `passed` is what to pass over.
    pub(super) fn at(mut self, reader: Reader<'_>, passed: Place, shown: Place) -> Self {
        self.0.at.get_or_insert_with(|| Spot {
            shown,
            passed,
            found: reader.describe(),
            hidden: reader.hidden(),
            incomplete: reader.is_incomplete(),
        });
        self
    }

    /// The problem to report (`None` when it only follows from one reported before) and the place to
    /// pass over. `reader` is the outermost one.
    pub(super) fn into_problem(self, reader: Reader<'_>) -> (Option<Problem>, Place) {
        let whole = reader.place();
        let Inner { kind, at } = *self.at(reader, whole, whole).0;
        let Some(spot) = at else {
            return (None, whole);
        };
        let problem = match kind {
            Kind::Type { expected } => {
                let problem = Problem::error(
                    spot.shown,
                    format!("expected {expected}, found {}", spot.found),
                );
                let problem = problem.found(spot.found.clone());
                Some(with_hint(problem, &expected, &spot.found))
            }
            Kind::UnknownKey { key, allowed } => {
                Some(suggest::unknown_key(spot.shown, &key, allowed))
            }
            Kind::UnknownWord { word, allowed } => {
                let word = spot.hide(&word);
                let problem = Problem::error(spot.shown, format!("unknown value `{word}`"));
                // `off` is a word here, and no switch: what other readers of YAML make of it is no other word.
                let off = matches!(word.to_ascii_lowercase().as_str(), "false" | "no");
                let meant = if off && allowed.contains(&"off") {
                    "off"
                } else {
                    word.as_str()
                };
                Some(suggest::advise(problem, meant, allowed))
            }
            Kind::Missing { .. } if spot.incomplete => None,
            Kind::Missing { key } => Some(Problem::error(
                spot.shown,
                format!("`{key}` is missing here"),
            )),
            Kind::Words(words) => Some(Problem::error(spot.shown, spot.hide(&words))),
        };
        (problem, spot.passed)
    }
}

impl Spot {
    /// Takes a secret, or what came from the environment, out of a text.
    fn hide(&self, text: &str) -> String {
        match &self.hidden {
            Some((secret, shown)) if !secret.is_empty() => text.replace(secret.as_str(), shown),
            _ => text.to_owned(),
        }
    }
}

/// Advice for the commonest slips.
fn with_hint(problem: Problem, expected: &str, found: &str) -> Problem {
    let quoted = found.starts_with("the text \"");
    let word = found
        .trim_start_matches("the text ")
        .trim_matches('"')
        .to_ascii_lowercase();
    if expected == BOOLEAN && matches!(word.as_str(), "yes" | "on" | "y") {
        return problem.help("write true");
    }
    if expected == BOOLEAN && matches!(word.as_str(), "no" | "off" | "n") {
        return problem.help("write false");
    }
    let unquoted = Scalar {
        text: word,
        plain: true,
        typed: None,
    };
    let fits = (expected == BOOLEAN && unquoted.as_bool().is_some())
        || (expected.contains("number") && unquoted.as_float().is_some());
    if quoted && fits {
        problem.help("write it without quotes")
    } else {
        problem
    }
}

/// What a switch takes.
pub(super) const BOOLEAN: &str = "true or false";

/// serde's words for what a field wants, in ours.
pub(super) fn expected_words(expected: &dyn Expected) -> String {
    let words = expected.to_string();
    match words.as_str() {
        "a boolean" => BOOLEAN.to_owned(),
        "a string" | "string" | "a borrowed string" | "str" => "text".to_owned(),
        "a map" => "a map of keys and values".to_owned(),
        "a sequence" => "a list".to_owned(),
        "u8" => whole(0, u8::MAX.into()),
        "u16" => whole(0, u16::MAX.into()),
        "u32" => whole(0, u32::MAX.into()),
        "u64" | "usize" => "a whole number of 0 or more".to_owned(),
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a nonzero u32" | "a nonzero u64" | "a nonzero usize" => {
            "a whole number of 1 or more".to_owned()
        }
        other if other.starts_with("struct ") => "a map of keys and values".to_owned(),
        other => other.strip_prefix("enum ").map_or_else(
            || other.to_owned(),
            |_| "one of the words allowed here".to_owned(),
        ),
    }
}

fn whole(from: u64, to: u64) -> String {
    format!("a whole number from {from} to {to}")
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0.kind)
    }
}

impl std::error::Error for Wrong {}

impl de::Error for Wrong {
    fn custom<T: fmt::Display>(words: T) -> Self {
        Self::new(Kind::Words(words.to_string()))
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(Kind::Type {
            expected: expected_words(expected),
        })
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(Kind::Type {
            expected: expected_words(expected),
        })
    }

    fn invalid_length(_: usize, expected: &dyn Expected) -> Self {
        Self::new(Kind::Type {
            expected: expected_words(expected),
        })
    }

    fn unknown_variant(word: &str, allowed: &'static [&'static str]) -> Self {
        Self::new(Kind::UnknownWord {
            word: word.to_owned(),
            allowed,
        })
    }

    fn unknown_field(key: &str, allowed: &'static [&'static str]) -> Self {
        Self::new(Kind::UnknownKey {
            key: key.to_owned(),
            allowed,
        })
    }

    fn missing_field(key: &'static str) -> Self {
        Self::new(Kind::Missing { key })
    }
}
