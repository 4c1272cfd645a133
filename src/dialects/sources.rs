//! Where a convention of the user's own finds things: conditions on spans, and places that hold a value.
//!
//! Invariant: nothing here is judged; a place that a span does not have is no value, never an empty one.

use std::borrow::Cow;

use globset::GlobMatcher;

use crate::otlp::{Seen, Value};

use super::fields::ATTRIBUTES;
use super::json::pick;
use super::parts::value_text;
use super::raw::{Text, own};
use super::values;

/// Which spans are meant: all that is given has to hold. The default means every span.
#[derive(Clone, Debug, Default)]
pub struct Condition {
    /// What the span's name has to be like.
    pub span: Option<GlobMatcher>,
    /// What the name of its instrumentation scope has to be like.
    pub scope: Option<GlobMatcher>,
    /// Attributes that the span has to carry, and what their values have to be like; `None`: anything.
    pub attributes: Vec<(String, Option<GlobMatcher>)>,
}

impl Condition {
    /// Whether a span is meant.
    pub(super) fn holds(&self, seen: &Seen<'_>) -> bool {
        let is =
            |glob: &Option<GlobMatcher>, text| glob.as_ref().is_none_or(|glob| glob.is_match(text));
        is(&self.span, seen.span.name())
            && is(&self.scope, seen.scope.name())
            && self.attributes.iter().all(|(key, glob)| {
                let found = attribute(seen.span.attributes(), key);
                match glob {
                    None => found.is_some(),
                    Some(glob) => found
                        .and_then(values::text)
                        .is_some_and(|text| glob.is_match(&*text)),
                }
            })
    }
}

/// A place that may hold a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Which one.
    pub place: Place,
    /// The way to a member of the JSON that stands there; empty: the value as a whole.
    pub member: Vec<String>,
}

/// Kinds of place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// An attribute of the span.
    Attribute(String),
    /// An attribute of an event of the span: of the last event of this name that carries it.
    Event {
        /// Name of the event.
        name: String,
        /// Key of its attribute.
        attribute: String,
    },
    /// An attribute of the resource.
    Resource(String),
    /// What stands in the span's name between these two; a name that is not like that holds nothing.
    SpanName {
        /// What the name begins with.
        before: String,
        /// What it ends with.
        after: String,
    },
}

/// A value as it was found.
#[derive(Clone, Debug)]
pub(super) enum Found<'a> {
    /// As it stands in the body.
    Value(Value<'a>),
    /// A text taken out of something.
    Text(Text<'a>),
}

impl<'a> Found<'a> {
    /// As text: strings as they stand, structured values as JSON.
    pub(super) fn into_text(self) -> Option<Text<'a>> {
        match self {
            Found::Value(value) => values::text(value),
            Found::Text(text) => Some(text),
        }
    }

    /// For those who look at a value without keeping it.
    pub(super) fn value(&self) -> Value<'_> {
        match self {
            Found::Value(value) => *value,
            Found::Text(text) => Value::Str(text),
        }
    }
}

impl Source {
    /// What stands there.
    pub(super) fn find<'a>(&self, seen: &Seen<'a>) -> Option<Found<'a>> {
        let found = match &self.place {
            Place::Attribute(key) => Found::Value(attribute(seen.span.attributes(), key)?),
            Place::Resource(key) => Found::Value(attribute(seen.resource.attributes(), key)?),
            Place::Event {
                name,
                attribute: key,
            } => Found::Value(
                seen.span
                    .events()
                    .take(super::EVENTS)
                    .filter(|event| event.name() == name)
                    .filter_map(|event| attribute(event.attributes(), key))
                    .last()?,
            ),
            Place::SpanName { before, after } => {
                let name = seen.span.name().strip_prefix(before.as_str())?;
                let name = name.strip_suffix(after.as_str())?;
                Found::Text(Cow::Borrowed(name))
            }
        };
        if self.member.is_empty() {
            return Some(found);
        }
        let text = match found.into_text()? {
            Cow::Borrowed(text) => member(text, &self.member)?,
            Cow::Owned(text) => member(&text, &self.member).map(own)?,
        };
        Some(Found::Text(text))
    }
}

/// Follows names into JSON; JSON in a string on the way is opened.
fn member<'t>(text: &'t str, path: &[String]) -> Option<Text<'t>> {
    let Some((name, rest)) = path.split_first() else {
        return Some(Cow::Borrowed(text));
    };
    let [found] = pick(text, [name.as_str()]);
    let found = value_text(found?);
    if rest.is_empty() {
        return Some(found);
    }
    match found {
        Cow::Borrowed(text) => member(text, rest),
        Cow::Owned(text) => member(&text, rest).map(own),
    }
}

/// The first attribute of this key that holds anything.
fn attribute<'a>(
    attributes: impl Iterator<Item = (&'a str, Value<'a>)>,
    key: &str,
) -> Option<Value<'a>> {
    attributes
        .take(ATTRIBUTES)
        .find(|(own, value)| *own == key && *value != Value::Empty)
        .map(|(_, value)| value)
}
