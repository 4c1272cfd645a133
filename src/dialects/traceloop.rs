//! OpenLLMetry (Traceloop): `traceloop.span.kind` and, on model spans of older releases, `llm.request.type`.
//! Newer ones name a GenAI operation and are read there; the keys are common to both.

use std::borrow::Cow;

use crate::otlp::{Seen, Value};

use super::Dialect;
use super::otel_genai;
use super::raw::{Part, Raw};

/// Workflows, agents, tools.
pub(super) const TRACELOOP: Dialect = Dialect {
    marker: "traceloop.span.kind",
    read,
};

/// Model calls.
pub(super) const MODEL: Dialect = Dialect {
    marker: "llm.request.type",
    read: read_model,
};

fn read<'a>(seen: &Seen<'a>, kind: Value<'a>) -> Option<Raw<'a>> {
    let part = match kind.as_str()? {
        "tool" => Part::ToolCall,
        "agent" => Part::AgentRun,
        "workflow" if seen.span.parent_span_id().is_none() => Part::AgentRun,
        // Tasks tell again what their children tell.
        _ => return None,
    };
    let mut raw = otel_genai::of(seen, part);
    if kind.as_str() == Some("agent") && raw.agent.is_none() {
        let name = seen.span.name();
        raw.agent = raw.tool.take().or_else(|| {
            let name = name.strip_suffix(".agent").unwrap_or(name);
            (!name.is_empty()).then_some(Cow::Borrowed(name))
        });
    }
    Some(raw)
}

fn read_model<'a>(seen: &Seen<'a>, kind: Value<'a>) -> Option<Raw<'a>> {
    matches!(kind.as_str()?, "chat" | "completion").then(|| otel_genai::of(seen, Part::ModelCall))
}
