//! Which attribute means what: each convention lists its keys per field, in order of precedence.
//!
//! Invariant: one pass over the attributes, at most [`ATTRIBUTES`] of them; of several keys for one field
//! the one listed first wins, wherever it stands; values that are placeholders do not count (P15, P30).

use std::borrow::Cow;

use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::model::{Hints, Usage};
use crate::otlp::{SpanView, Value};

use super::json::pick;
use super::raw::{Definitions, Text};
use super::{tools, values};

/// Most attributes looked at in one span (DESIGN 4).
pub(super) const ATTRIBUTES: usize = 1024;

/// Most tools read of one list.
const TOOLS: usize = 1024;

/// What an attribute can mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Tool,
    CallId,
    Arguments,
    Result,
    ErrorType,
    /// A flag or word that says how it went.
    Success,
    ExitCode,
    Agent,
    Conversation,
    InputTokens,
    OutputTokens,
    Cost,
    /// Messages given to the model.
    Input,
    /// Messages given out.
    Output,
    /// Final text of a run.
    Final,
    Reasoning,
    Finish,
    Definitions,
    /// JSON with names of agent and session among other things.
    Metadata,
    /// Why it failed, beside the status.
    Message,
    /// JSON with numbers of tokens.
    Usage,
    /// JSON with amounts of money.
    Costs,
    /// Marks the second span of a call.
    Seam,
}

/// How many fields there are.
const FIELDS: usize = Field::Seam as usize + 1;

/// The keys of one convention as a table.
pub(super) struct Table(HashMap<&'static str, (Field, u8), foldhash::fast::FixedState>);

impl Table {
    /// Builds the table from lists in order of precedence.
    pub(super) fn new(lists: &[(Field, &[&'static str])]) -> Self {
        let mut keys = HashMap::default();
        for (field, names) in lists {
            for (rank, name) in (0u8..).zip(names.iter()) {
                keys.insert(*name, (*field, rank));
            }
        }
        Self(keys)
    }
}

/// The best value of each field.
pub(super) struct Fields<'a> {
    best: [(u8, Value<'a>); FIELDS],
    /// Some attribute that ends in `error` is true (P32).
    error_flag: bool,
    /// What attributes say of the tool, whatever stands before the name of the hint.
    pub(super) hints: Hints,
}

impl<'a> Fields<'a> {
    /// Goes over the attributes of a span; `other` sees the keys that the table does not know.
    pub(super) fn gather(
        span: &SpanView<'a>,
        table: &Table,
        other: impl FnMut(&'a str, Value<'a>),
    ) -> Self {
        Self::of(span.attributes(), table, other)
    }

    /// As [`Fields::gather`], of attributes wherever they stand.
    pub(super) fn of(
        attributes: impl Iterator<Item = (&'a str, Value<'a>)>,
        table: &Table,
        mut other: impl FnMut(&'a str, Value<'a>),
    ) -> Self {
        let mut fields = Self {
            best: [(u8::MAX, Value::Empty); FIELDS],
            error_flag: false,
            hints: Hints::default(),
        };
        for (key, value) in attributes.take(ATTRIBUTES) {
            match table.0.get(key) {
                Some((field, rank)) => fields.offer(*field, *rank, value),
                None if matches!(value, Value::Bool(_)) => {
                    let says = value == Value::Bool(true);
                    fields.error_flag |=
                        says && (key.ends_with(".error") || key.ends_with("is_error"));
                    let name = key.rsplit('.').next().unwrap_or(key);
                    tools::hint(name, if says { "true" } else { "false" }, &mut fields.hints);
                }
                None if key.ends_with("tool.annotations") => {
                    let annotations = values::text(value).unwrap_or_default();
                    fields.hints = fields.hints.or(tools::annotations(&annotations));
                }
                None => other(key, value),
            }
        }
        fields
    }

    fn offer(&mut self, field: Field, rank: u8, value: Value<'a>) {
        if let Some(best) = self.best.get_mut(field as usize)
            && rank < best.0
            && acceptable(field, value)
        {
            *best = (rank, value);
        }
    }

    pub(super) fn value(&self, field: Field) -> Option<Value<'a>> {
        self.best
            .get(field as usize)
            .filter(|(rank, _)| *rank != u8::MAX)
            .map(|(_, value)| *value)
    }

    /// A field as text: strings as they stand, structured values as JSON.
    pub(super) fn text(&self, field: Field) -> Option<Text<'a>> {
        values::text(self.value(field)?)
    }

    /// A field that only counts when it is a string.
    pub(super) fn name(&self, field: Field) -> Option<Text<'a>> {
        self.value(field)?.as_str().map(Cow::Borrowed)
    }

    /// A field as a whole number.
    pub(super) fn integer(&self, field: Field) -> Option<i64> {
        values::integer(self.value(field)?)
    }

    /// Tokens and cost.
    pub(super) fn usage(&self) -> Usage {
        let tokens = |field| self.integer(field).and_then(|n| u64::try_from(n).ok());
        Usage {
            input_tokens: tokens(Field::InputTokens),
            output_tokens: tokens(Field::OutputTokens),
            cost_usd: self
                .value(Field::Cost)
                .and_then(values::float)
                .filter(|cost| cost.is_finite() && *cost >= 0.0),
        }
    }

    /// The tools of an agent or a model: a list of definitions or names, as an array or as JSON.
    pub(super) fn definitions(&self) -> Option<Definitions<'a>> {
        definitions_in(self.value(Field::Definitions)?)
    }

    /// Tokens and cost from JSON: the first of these names that is there counts.
    pub(super) fn usage_in(&self, input: [&str; 4], output: [&str; 4], cost: [&str; 2]) -> Usage {
        fn first<const N: usize, T: std::str::FromStr>(
            text: Option<Text<'_>>,
            names: [&str; N],
        ) -> Option<T> {
            let text = text?;
            let found = pick(&text, names);
            found
                .into_iter()
                .flatten()
                .find_map(|number| number.parse().ok())
        }
        Usage {
            input_tokens: first(self.text(Field::Usage), input),
            output_tokens: first(self.text(Field::Usage), output),
            cost_usd: first(self.text(Field::Costs), cost)
                .filter(|cost: &f64| cost.is_finite() && *cost >= 0.0),
        }
    }

    /// Whether a flag or word beside the status says that it failed, or that it went well.
    pub(super) fn failed(&self) -> Option<bool> {
        if self.error_flag {
            return Some(true);
        }
        match self.value(Field::Success)? {
            Value::Bool(success) => Some(!success),
            Value::Str("error" | "failed" | "failure" | "false" | "False" | "ERROR") => Some(true),
            Value::Str("success" | "ok" | "true" | "True" | "OK") => Some(false),
            _ => None,
        }
    }
}

/// Tools as an array of definitions or names, or as JSON.
pub(super) fn definitions_in(value: Value<'_>) -> Option<Definitions<'_>> {
    let parts = match value {
        Value::Array(list) if list.iter().all(|one| one.as_str().is_some()) => list
            .iter()
            .take(TOOLS)
            .filter_map(|one| one.as_str().map(Cow::Borrowed))
            .collect(),
        other => SmallVec::from_iter(values::text(other)),
    };
    (!parts.is_empty()).then_some(Definitions { parts })
}

/// Whether a value says anything at all for its field.
pub(super) fn acceptable(field: Field, value: Value<'_>) -> bool {
    let Value::Str(text) = value else {
        return !matches!(value, Value::Empty);
    };
    match field {
        Field::Conversation => !is_placeholder(text),
        Field::CallId => !text.is_empty() && text != "<not specified>",
        Field::Tool => !text.is_empty(),
        // The constant of an instrumentation that does not know the agent.
        Field::Agent => !text.is_empty() && text != "OpenAI Agent",
        Field::ErrorType | Field::Metadata => !text.is_empty(),
        _ => !is_redacted(text),
    }
}

/// Constants that stand where a session id should be (P30): taken at their word they would make one
/// endless conversation of everything.
pub(super) fn is_placeholder(text: &str) -> bool {
    const CONSTANTS: &[&str] = &[
        "null",
        "none",
        "nil",
        "undefined",
        "default",
        "unknown",
        "n/a",
        "anonymous",
        "string",
        "session_id",
        "conversation_id",
        "thread_id",
    ];
    let trimmed = text.trim();
    trimmed.is_empty()
        || is_redacted(trimmed)
        || trimmed.starts_with("[Scrubbed")
        || trimmed.starts_with("<not ")
        || (trimmed.len() <= 15 && CONSTANTS.iter().any(|c| trimmed.eq_ignore_ascii_case(c)))
        || trimmed
            .bytes()
            .all(|b| matches!(b, b'0' | b'-' | b'*' | b'x' | b'X' | b'.'))
}

/// Marks that scrubbers leave in place of a text: its content is unknown.
pub(super) fn is_redacted(text: &str) -> bool {
    text.len() <= 40
        && (matches!(
            text,
            "__REDACTED__" | "[REDACTED]" | "<REDACTED>" | "<redacted>" | "[redacted]" | "REDACTED"
        ) || text.starts_with("[Scrubbed due to")
            || (text.len() >= 6 && text.bytes().all(|b| b == b'*')))
}
