//! What the conventions of agent frameworks mean: attribute keys to borrowed texts.
//!
//! Invariant: attribute keys stand here and nowhere else; nothing here judges, compares or keeps a text.
//! A span that no dialect knows costs one pass over its keys.
//!
//! A new dialect is a file of its own and a line in `DIALECTS` (docs/contributing.md). Conventions of the user's
//! own go before all of them (`configured.rs`).

mod claude_code;
mod claude_code_events;
mod codex;
mod codex_events;
mod configured;
mod convention;
mod envelopes;
mod events;
mod fault;
mod fields;
mod flattened;
mod json;
mod langfuse;
mod langsmith;
mod messages;
mod mlflow;
mod openinference;
mod origin;
mod otel_events;
mod otel_genai;
mod parts;
mod printed;
mod python;
mod raw;
mod responses;
mod results;
mod sources;
mod switches;
mod tools;
mod traceloop;
mod values;
mod vercel;

pub use configured::Configured;
pub use convention::{Convention, Key, Role};
pub use envelopes::{BareArguments, bare_arguments, final_answer};
pub use events::{Event, read_event};
pub use messages::goal_text;
pub use origin::{Origin, origin, resource_text};
pub use raw::{Definitions, Fault, Input, Part, Raw, RawCall, Reply, Text};
pub use results::{BareResult, bare_result};
pub use sources::{Condition, Place, Source};
pub use switches::{Switch, switch};
pub use tools::{Tool, Tools, tools};

use smallvec::{SmallVec, smallvec};

use crate::model::{
    EVENT, EVENTS_MAX, OUR_SCOPE, SYNTHETIC, told_episode, told_fully, told_in, told_key, told_on,
};
use crate::otlp::{Seen, Value};

/// How one convention is known, and how it is read.
struct Dialect {
    /// The attribute that spans of this convention carry.
    marker: &'static str,
    /// Reads a span, given the value of the marker; `None` when the span is no step.
    read: for<'a> fn(&Seen<'a>, Value<'a>) -> Option<Raw<'a>>,
}

/// All conventions that an attribute marks, in order of precedence: where a span carries several markers,
/// the first that reads it as a step wins.
const DIALECTS: &[Dialect] = &[
    openinference::OPENINFERENCE,
    langsmith::LANGSMITH,
    otel_genai::GENAI,
    langfuse::LANGFUSE,
    mlflow::MLFLOW,
    vercel::VERCEL,
    traceloop::TRACELOOP,
    traceloop::MODEL,
    otel_genai::MCP,
    codex::CODEX,
];

/// Conventions that the span's name marks: asked only when no other knows the span.
const NAMED: &[Named] = &[claude_code::CLAUDE_CODE];

/// A convention known by how its spans are named.
struct Named {
    /// What its span names begin with.
    prefix: &'static str,
    /// Reads a span, given the rest of its name; `None` when the span is no step.
    read: for<'a> fn(&Seen<'a>, &'a str) -> Option<Raw<'a>>,
}

/// The lengths of all markers as a set of bits: nearly all keys are told to be none by their length.
const LENGTHS: u64 = {
    let mut lengths = 0;
    let mut at = 0;
    while at < DIALECTS.len() {
        lengths |= 1 << DIALECTS[at].marker.len();
        at += 1;
    }
    lengths
};

/// Most events looked at in one span.
const EVENTS: usize = 1024;

/// Our own marks: a span may have come through another sentinel.
const MARK: &str = "sentinel.";
/// What their names go on with.
const MARKS: [&str; 5] = [
    "anomaly.",
    "note.",
    "run.",
    "not_assessed",
    "session.complete",
];

/// What stands for the marker of a convention of the user's own.
const OWN: &str = "dialects";

/// What one span says.
#[derive(Debug, Default)]
pub struct Said<'a> {
    /// The step it tells, if any dialect knows it as one.
    pub raw: Option<Raw<'a>>,
    /// What marks the convention that read it; empty when none did.
    pub by: &'static str,
    /// It carries marks of a sentinel already.
    pub marked: bool,
    /// What it tells of findings, by [`told_key`] and its like.
    pub told: SmallVec<[u64; 2]>,
    /// A sentinel made it: it tells of a finding, never of a step.
    pub made: bool,
}

/// What a marked span tells of findings, on it or, by a span of our own, on the one above it. That anything is
/// told is told of its trace.
fn told(seen: &Seen<'_>, made: bool) -> SmallVec<[u64; 2]> {
    let (span, trace) = (seen.span, seen.span.trace_id());
    let accused = span.parent_span_id().filter(|_| made);
    let accused = accused.unwrap_or(span.span_id()).to_string();
    let mut told = smallvec![told_in(trace)];
    let (mut episode, mut state) = ("", "");
    for (key, value) in span.attributes().take(fields::ATTRIBUTES) {
        match key {
            "sentinel.anomaly.episode" => episode = value.as_str().unwrap_or_default(),
            "sentinel.anomaly.state" => state = value.as_str().unwrap_or_default(),
            _ => {}
        }
    }
    if !episode.is_empty() {
        told.push(told_episode(trace, episode, state));
    }
    let events = span.events().take(EVENTS);
    let mut count = 0;
    for event in events.filter(|event| event.name() == EVENT) {
        let (mut anomaly, mut rule, mut spans) = ("", "", "");
        for (key, value) in event.attributes().take(fields::ATTRIBUTES) {
            let text = value.as_str().unwrap_or_default();
            match key {
                "sentinel.anomaly.type" => anomaly = text,
                "sentinel.anomaly.rule" => rule = text,
                "sentinel.anomaly.span_ids" => spans = text,
                _ => {}
            }
        }
        told.push(told_key(trace, anomaly, rule, spans));
        told.push(told_on(trace, anomaly, &accused));
        count += 1;
    }
    if count >= EVENTS_MAX {
        told.push(told_fully(trace, &accused));
    }
    told
}

/// Reads a span by the first dialect that knows it: `own` ones go first, and what they do not name is as the
/// built-in one has it.
pub fn read<'a>(seen: &Seen<'a>, own: &Configured) -> Said<'a> {
    let mut said = built_in(seen);
    if !own.conventions().is_empty() && !said.made {
        let (raw, ours) = own.read(seen, said.raw.take());
        said.raw = raw;
        // Where an own one only completes a known one, it is the known one that captures content.
        if ours && said.by.is_empty() {
            said.by = OWN;
        }
    }
    said
}

fn built_in<'a>(seen: &Seen<'a>) -> Said<'a> {
    let mut markers = [Value::Empty; DIALECTS.len()];
    let mut any = false;
    let mut said = Said::default();
    let ours = seen.scope.name() == OUR_SCOPE;
    for (key, value) in seen.span.attributes().take(fields::ATTRIBUTES) {
        if key.len() < 64 && LENGTHS >> key.len() & 1 != 0 {
            for (dialect, marker) in DIALECTS.iter().zip(&mut markers) {
                if key == dialect.marker {
                    *marker = value;
                    any = true;
                }
            }
        }
        let own = key.strip_prefix(MARK);
        said.marked |= own.is_some_and(|own| MARKS.iter().any(|mark| own.starts_with(mark)));
        said.made |= ours && key == SYNTHETIC;
    }
    if said.marked {
        said.told = told(seen, said.made);
    }
    if any && !said.made {
        let read = DIALECTS
            .iter()
            .zip(markers)
            .filter(|(_, marker)| *marker != Value::Empty)
            .find_map(|(dialect, marker)| Some((dialect.marker, (dialect.read)(seen, marker)?)));
        if let Some((by, raw)) = read {
            (said.by, said.raw) = (by, Some(raw));
        }
    }
    if said.raw.is_none() {
        let name = seen.span.name();
        let read = NAMED.iter().find_map(|named| {
            let rest = name.strip_prefix(named.prefix)?;
            Some((named.prefix, (named.read)(seen, rest)?))
        });
        if let Some((by, raw)) = read {
            (said.by, said.raw) = (by, Some(raw));
        }
    }
    said
}
