//! What log records tell of agents: content of a span, steps that no span tells, and that a user has spoken.
//!
//! Invariant: a record that no convention knows costs a look at its name. A record tells of the span that it
//! stands in only where its convention says so: agents that send no spans log within whatever is open.
//!
//! A convention of events is a file of its own and a line in [`read_event`].

use std::borrow::Cow;
use std::time::Duration;

use crate::otlp::{SeenRecord, Value};

use super::raw::{Raw, Text};
use super::values;
use super::{claude_code_events, codex_events, otel_events};

/// What one log record tells.
#[derive(Debug)]
pub enum Event<'a> {
    /// Content of the span that the record belongs to.
    Content {
        /// The content.
        raw: Raw<'a>,
        /// One message of several that tell together.
        part: bool,
    },
    /// Something an agent did, told by this record alone.
    Step {
        /// What it was.
        raw: Raw<'a>,
        /// How long it took until the record was made.
        took: Duration,
        /// What tells it apart from others of its session, where the record says so.
        id: Option<Text<'a>>,
    },
    /// What such a step gave out: `id` is that step's.
    Answer {
        /// The content.
        raw: Raw<'a>,
        /// The step's id.
        id: Text<'a>,
    },
    /// A user has spoken in this conversation.
    Prompt(Text<'a>),
}

/// A record with what is looked at of it.
#[derive(Clone, Copy)]
pub(super) struct Told<'s, 'a> {
    seen: &'s SeenRecord<'a>,
    /// The name of the event, without the prefix of its convention.
    pub(super) kind: &'a str,
}

impl<'a> Told<'_, 'a> {
    /// Its attributes, and behind them the members of a body that is a map.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'a str, Value<'a>)> + use<'a> {
        let record = self.seen.record;
        let members = record.body().as_map().map(|map| map.iter());
        record.attributes().chain(members.into_iter().flatten())
    }

    /// Its body.
    pub(super) fn body(&self) -> Value<'a> {
        self.seen.record.body()
    }

    /// A value by its key.
    pub(super) fn get(&self, key: &str) -> Option<Value<'a>> {
        let found = self
            .entries()
            .take(super::fields::ATTRIBUTES)
            .find(|(own, value)| *own == key && *value != Value::Empty);
        found.map(|(_, value)| value)
    }

    /// A value by its key, as text.
    pub(super) fn text(&self, key: &str) -> Option<Text<'a>> {
        self.get(key).and_then(values::text)
    }

    /// The milliseconds under a key.
    pub(super) fn millis(&self, key: &str) -> Duration {
        let millis = self.get(key).and_then(values::float).unwrap_or(0.0);
        Duration::try_from_secs_f64(millis / 1e3)
            .unwrap_or_default()
            .min(LONGEST)
    }
}

/// What takes longer was not measured.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);

/// What a log record tells of agents; `None` when nothing. The word marks the convention that read it.
pub fn read_event<'a>(seen: &SeenRecord<'a>) -> Option<(&'static str, Event<'a>)> {
    let record = seen.record;
    // The name stands in its field, in an attribute (P29), or is all the body says.
    let attribute = record
        .attribute("event.name")
        .and_then(|name| name.as_str());
    let names = [Some(record.event_name()), attribute, record.body().as_str()];
    for name in names.into_iter().flatten() {
        let told = |kind| Told { seen, kind };
        if let Some(kind) = name.strip_prefix("gen_ai.") {
            return Some((otel_events::MARK, otel_events::read(told(kind))?));
        }
        if let Some(kind) = name.strip_prefix(claude_code_events::MARK) {
            return Some((
                claude_code_events::MARK,
                claude_code_events::read(told(kind))?,
            ));
        }
        if let Some(kind) = name.strip_prefix("codex.") {
            return Some((codex_events::MARK, codex_events::read(told(kind))?));
        }
    }
    None
}

/// A text that says what stands for `true` or `false`.
pub(super) fn truth(value: Option<Value<'_>>) -> Option<bool> {
    match value? {
        Value::Bool(truth) => Some(truth),
        Value::Str("true" | "True") => Some(true),
        Value::Str("false" | "False") => Some(false),
        _ => None,
    }
}

/// A text that is not empty and was not taken out.
pub(super) fn shown(text: Option<Text<'_>>) -> Option<Text<'_>> {
    text.filter(|text| !text.is_empty() && !super::fields::is_redacted(text))
}

/// The session of a record; placeholders are none.
pub(super) fn session<'a>(told: Told<'_, 'a>, keys: &[&str]) -> Option<Text<'a>> {
    let found = keys.iter().find_map(|key| told.text(key));
    found.filter(|id| !super::fields::is_placeholder(id))
}

/// A name that is given as a text.
pub(super) fn name<'a>(told: Told<'_, 'a>, key: &str) -> Option<Text<'a>> {
    let name = told.get(key)?.as_str()?;
    (!name.is_empty()).then_some(Cow::Borrowed(name))
}
