//! Conventions of the user's own: an agent that nobody else knows is read by configuration
//! (`processors.anomaly.dialects`).
//!
//! Invariant: what is configured goes before every convention that is built in, and takes from it what it
//! does not name itself; nothing is guessed. Without conventions a span costs nothing more.

use std::sync::{Arc, LazyLock};

use crate::otlp::{Seen, Value};

use super::convention::{Convention, Key, Role};
use super::fault;
use super::fields::{self, Fields, Table, acceptable};
use super::messages;
use super::otel_genai::finish_reason;
use super::parts::{self, Whose};
use super::raw::{Fault, Part, Raw};
use super::responses;
use super::sources::Found;
use super::values;

/// Conventions of the user's own, in order of precedence. Clones are one list.
#[derive(Clone, Debug, Default)]
pub struct Configured(Arc<[Convention]>);

/// No keys: what stands beside them (status, exceptions, switches that end in `error`) is read all the same.
static NO_KEYS: LazyLock<Table> = LazyLock::new(|| Table::new(&[]));

impl Configured {
    /// From conventions in order of precedence.
    pub fn new(conventions: Vec<Convention>) -> Self {
        Self(conventions.into())
    }

    /// The conventions.
    pub fn conventions(&self) -> &[Convention] {
        &self.0
    }

    /// Reads a span by the first convention that is about it; `known` is what the built-in ones make of it.
    /// Says too whether there was one.
    pub(super) fn read<'a>(
        &self,
        seen: &Seen<'a>,
        known: Option<Raw<'a>>,
    ) -> (Option<Raw<'a>>, bool) {
        for convention in &*self.0 {
            if convention.when.holds(seen)
                && let Some(part) = convention.part(seen, known.as_ref())
                && convention.names_a_tool(seen, part)
            {
                return (Some(convention.read(seen, part, known)), true);
            }
        }
        (known, false)
    }
}

impl Convention {
    fn part(&self, seen: &Seen<'_>, known: Option<&Raw<'_>>) -> Option<Part> {
        match &self.role {
            Role::Known => known
                .map(|raw| raw.part)
                .or_else(|| self.tells_a_call(seen).then_some(Part::ToolCall)),
            Role::One(part) => Some(*part),
            Role::When(cases) => cases
                .iter()
                .find(|(_, condition)| condition.holds(seen))
                .map(|(part, _)| *part),
        }
    }

    /// Whether a span that nothing else knows holds what only calls of tools have.
    fn tells_a_call(&self, seen: &Seen<'_>) -> bool {
        [Key::ToolName, Key::CallId, Key::Arguments, Key::Result]
            .into_iter()
            .any(|key| self.find(seen, key).is_some())
    }

    /// Whether a tool call names its tool: a span that does not, though it is said where the name would
    /// stand, is none.
    fn names_a_tool(&self, seen: &Seen<'_>, part: Part) -> bool {
        part != Part::ToolCall
            || !self.keys.iter().any(|(key, _)| *key == Key::ToolName)
            || self.find(seen, Key::ToolName).is_some()
    }

    fn find<'a>(&self, seen: &Seen<'a>, key: Key) -> Option<Found<'a>> {
        let (_, sources) = self.keys.iter().find(|(own, _)| *own == key)?;
        sources
            .iter()
            .filter_map(|source| source.find(seen))
            .find(|found| acceptable(key.field(), found.value()))
    }

    fn read<'a>(&self, seen: &Seen<'a>, part: Part, known: Option<Raw<'a>>) -> Raw<'a> {
        let mut raw = match known {
            Some(raw) if raw.part == part => raw,
            Some(raw) => Raw {
                part,
                fault: raw.fault,
                agent: raw.agent,
                conversation: raw.conversation,
                usage: raw.usage,
                ..Raw::default()
            },
            None => {
                let fields = Fields::gather(seen.span, &NO_KEYS, |_, _| {});
                Raw {
                    part,
                    fault: fault::read(seen.span, &fields),
                    hints: fields.hints,
                    ..Raw::default()
                }
            }
        };
        let name = seen.span.name();
        if part == Part::ToolCall && raw.tool.is_none() && !name.is_empty() {
            raw.tool = Some(name.into());
        }
        for (key, _) in self.keys.iter().filter(|(key, _)| key.is_of(part)) {
            if let Some(found) = self.find(seen, *key) {
                set(&mut raw, *key, found);
            }
        }
        if self
            .failed_when
            .as_ref()
            .is_some_and(|condition| condition.holds(seen))
        {
            raw.fault.failed = Some(true);
        }
        raw
    }
}

/// Puts a value in its place.
fn set<'a>(raw: &mut Raw<'a>, key: Key, found: Found<'a>) {
    let tokens = |found: &Found<'_>| {
        values::integer(found.value()).and_then(|tokens| u64::try_from(tokens).ok())
    };
    match key {
        Key::ToolName => raw.tool = found.into_text(),
        Key::CallId => raw.call_id = found.into_text(),
        Key::Arguments => {
            raw.arguments = found.into_text();
            raw.partial = false;
        }
        Key::Result => raw.result = found.into_text(),
        Key::Outcome | Key::Error | Key::ErrorType | Key::ExitCode => {
            outcome(&mut raw.fault, key, found);
        }
        Key::Session => raw.conversation = found.into_text(),
        Key::Agent => raw.agent = found.into_text(),
        Key::InputTokens => raw.usage.input_tokens = tokens(&found),
        Key::OutputTokens => raw.usage.output_tokens = tokens(&found),
        Key::Cost => {
            raw.usage.cost_usd =
                values::float(found.value()).filter(|cost| cost.is_finite() && *cost >= 0.0);
        }
        Key::ToolDefinitions => {
            raw.definitions = match found {
                Found::Value(value) => fields::definitions_in(value),
                Found::Text(text) => Some(super::Definitions {
                    parts: [text].into_iter().collect(),
                }),
            }
        }
        _ => said(raw, key, found),
    }
}

/// What was said, and what had been asked for.
fn said<'a>(raw: &mut Raw<'a>, key: Key, found: Found<'a>) {
    if key == Key::FinishReason {
        raw.reply.finish = match found {
            Found::Value(value) => finish_reason(value),
            Found::Text(text) => Some(text),
        };
        return;
    }
    let Some(text) = found.into_text() else {
        return;
    };
    let run = raw.part != Part::ModelCall;
    match key {
        Key::Text => raw.reply.text = Some(text),
        Key::Reasoning => raw.reply.reasoning = [text].into_iter().collect(),
        Key::Calls => raw.reply.calls = parts::requested(text),
        Key::Output => {
            let finish = raw.reply.finish.take();
            let whose = if run { Whose::Run } else { Whose::Model };
            raw.reply = responses::reply(text, whose);
            raw.reply.finish = raw.reply.finish.take().or(finish);
        }
        Key::Input => {
            let goal = || messages::first_user(text.clone());
            if run {
                raw.input.goal = goal();
            } else {
                let input = messages::input(text.clone());
                let plain = input.user_messages.is_none() && input.goal.is_none();
                raw.input = input;
                if plain {
                    raw.input.goal = goal();
                }
            }
        }
        Key::Goal => raw.input.goal = Some(text),
        _ => {}
    }
}

/// How it went.
fn outcome<'a>(fault: &mut Fault<'a>, key: Key, found: Found<'a>) {
    match key {
        Key::ExitCode => fault.exit_code = values::integer(found.value()),
        Key::Outcome => fault.failed = went(found.value()).or(fault.failed),
        Key::Error if found.value() == Value::Bool(true) => fault.failed = Some(true),
        _ => {
            let text = found.into_text().filter(|text| tells_an_error(text));
            let there = text.is_some();
            if key == Key::ErrorType {
                fault.kind = text.or(fault.kind.take());
            } else if there {
                fault.exception_message = text;
            }
            if there {
                fault.failed = Some(true);
            }
        }
    }
}

/// Whether a word or switch says failure or success.
fn went(value: Value<'_>) -> Option<bool> {
    const FAILED: &[&str] = &[
        "error",
        "errored",
        "fail",
        "failed",
        "failure",
        "false",
        "timeout",
        "timed_out",
        "crashed",
        "exception",
        "aborted",
        "cancelled",
        "canceled",
        "denied",
        "rejected",
    ];
    const WELL: &[&str] = &[
        "ok",
        "success",
        "successful",
        "succeeded",
        "true",
        "done",
        "completed",
        "complete",
        "passed",
    ];
    match value {
        Value::Bool(well) => Some(!well),
        Value::Str(word) => {
            let is = |words: &[&str]| {
                words
                    .iter()
                    .any(|one| word.trim().eq_ignore_ascii_case(one))
            };
            if is(FAILED) {
                Some(true)
            } else {
                is(WELL).then_some(false)
            }
        }
        _ => None,
    }
}

/// Whether what stands where an error would stand is one.
fn tells_an_error(text: &str) -> bool {
    const NONE: &[&str] = &["", "null", "none", "nil", "false", "0", "{}", "[]", "ok"];
    let text = text.trim();
    !NONE.iter().any(|word| text.eq_ignore_ascii_case(word))
}
