//! What came out, held against what the same exporter sends without us in between.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::DemoError;
use crate::model::{OUR_SCOPE, SYNTHETIC, SpanId, Timestamp, TraceId};
use crate::otlp::{self, EventView, SpanView};

/// The name of our event and the beginning of its attributes.
const EVENT: &str = "sentinel.anomaly";
/// What all names of ours begin with.
const OURS: &str = "sentinel.";

/// A finding as a backend gets it: an event on a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) span: SpanId,
    pub(super) anomaly: String,
    pub(super) severity: String,
    pub(super) reason: Option<String>,
    pub(super) message: String,
}

/// One span as it lies in a body.
#[derive(Clone, Debug)]
struct Kept {
    bytes: Vec<u8>,
    /// Its attributes and events that are none of ours.
    foreign: usize,
}

type Spans = BTreeMap<(TraceId, SpanId), Kept>;

/// What the comparison says, in spans where nothing else is said.
#[derive(Clone, Debug, Default)]
pub(super) struct Came {
    /// Sent.
    pub(super) sent: u64,
    /// Came out with the very bytes.
    pub(super) equal: u64,
    /// Came out with the very bytes and ours after them.
    pub(super) marked: u64,
    /// Requests sent.
    pub(super) requests: usize,
    /// Requests that came out as the very bytes.
    pub(super) requests_equal: usize,
    /// Findings by run, in the order of their spans' ends.
    pub(super) marks: BTreeMap<TraceId, Vec<Mark>>,
    /// What must not be.
    pub(super) wrong: Vec<String>,
}

/// Compares the bodies that came out with those that came without us.
pub(super) fn compare(sent: &[Bytes], out: &[Bytes]) -> Result<Came, DemoError> {
    let mut came = Came::default();
    let mut before = Spans::new();
    let mut after = Spans::new();
    let mut marks: BTreeMap<TraceId, Vec<(Timestamp, Mark)>> = BTreeMap::new();
    keep(sent, &mut before, |_| {}, &mut came.wrong)?;
    let note = |span: &SpanView<'_>| {
        let found = marks.entry(span.trace_id()).or_default();
        found.extend(read_marks(span).map(|mark| (span.end(), mark)));
    };
    keep(out, &mut after, note, &mut came.wrong)?;
    for (id, kept) in &before {
        match after.remove(id) {
            None => came.wrong.push(format!("span {} did not come out", id.1)),
            Some(out) if out.bytes == kept.bytes => came.equal += 1,
            Some(out) if out.bytes.starts_with(&kept.bytes) && out.foreign == kept.foreign => {
                came.marked += 1;
            }
            Some(_) => came.wrong.push(format!("span {} was altered", id.1)),
        }
    }
    for id in after.keys() {
        came.wrong
            .push(format!("span {} came out, which nobody sent", id.1));
    }
    came.sent = before.len() as u64;
    came.requests = sent.len();
    came.requests_equal = sent.iter().filter(|body| out.contains(body)).count();
    for (trace, mut found) in marks {
        found.sort_by_key(|(end, _)| *end);
        came.marks
            .insert(trace, found.into_iter().map(|(_, mark)| mark).collect());
    }
    Ok(came)
}

fn keep(
    bodies: &[Bytes],
    spans: &mut Spans,
    mut visit: impl FnMut(&SpanView<'_>),
    wrong: &mut Vec<String>,
) -> Result<(), DemoError> {
    for body in bodies {
        otlp::read(body.clone(), |seen| {
            let span = seen.span;
            if seen.scope.name() == OUR_SCOPE {
                // Of our own making, for a finding whose span had left.
                visit(span);
                return;
            }
            let keys = span.attributes().map(|(key, _)| key);
            let names = keys.chain(span.events().map(|event| event.name()));
            let kept = Kept {
                bytes: span.as_bytes().to_vec(),
                foreign: names.filter(|name| !name.starts_with(OURS)).count(),
            };
            visit(span);
            let id = (span.trace_id(), span.span_id());
            if spans.insert(id, kept).is_some() {
                wrong.push(format!("span {} came twice", id.1));
            }
        })
        .map_err(|error| DemoError::Data(error.to_string()))?;
    }
    Ok(())
}

fn read_marks<'a>(span: &'a SpanView<'a>) -> impl Iterator<Item = Mark> + 'a {
    let own = |key: &str| {
        let value = span.attribute(&format!("{EVENT}.{key}"));
        value.and_then(|value| value.as_str())
    };
    let (speaks, reason) = (own("type"), own("reason"));
    let made = span.attribute(SYNTHETIC).is_some();
    let accused = span.parent_span_id().filter(|_| made);
    let accused = accused.unwrap_or_else(|| span.span_id());
    let ours = span.events().filter(|event| event.name() == EVENT);
    ours.map(move |event| {
        let anomaly = text(&event, "type");
        Mark {
            span: accused,
            // The attributes of the span speak for its worst finding.
            reason: reason
                .filter(|_| speaks == Some(&anomaly))
                .map(str::to_owned),
            severity: text(&event, "severity"),
            message: text(&event, "message"),
            anomaly,
        }
    })
}

fn text(event: &EventView<'_>, key: &str) -> String {
    let value = event.attribute(&format!("{EVENT}.{key}"));
    let text = value.and_then(|value| value.as_str());
    text.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Patch, Release, Selection};
    use crate::otlp::{AttributeValue, PatchWriter};

    fn body() -> Bytes {
        let json = br#"{"resourceSpans":[{"scopeSpans":[{"spans":[
            {"traceId":"0000000000000000000000000000000a","spanId":"0000000000000001","name":"a"},
            {"traceId":"0000000000000000000000000000000a","spanId":"0000000000000002","name":"b"}]}]}]}"#;
        otlp::transcode(json).unwrap()
    }

    fn patched(patch: PatchWriter) -> Bytes {
        otlp::pack(&Release {
            body: body(),
            spans: Selection::All,
            count: 2,
            patches: vec![Patch {
                span: 1,
                bytes: patch.finish(),
            }],
            synthetic: false,
        })
    }

    #[test]
    fn marks_of_ours_are_read_and_allowed() {
        let text = AttributeValue::Str;
        let patch = PatchWriter::new()
            .attribute("sentinel.anomaly.type", text("stuck"))
            .attribute("sentinel.anomaly.reason", text("copies"))
            .event(
                "sentinel.anomaly",
                Timestamp::ZERO,
                &[
                    ("sentinel.anomaly.type", text("stuck")),
                    ("sentinel.anomaly.severity", text("warning")),
                    ("sentinel.anomaly.message", text("again")),
                ],
            );
        let came = compare(&[body()], &[patched(patch)]).unwrap();
        assert_eq!((came.sent, came.equal, came.marked), (2, 1, 1));
        assert_eq!((came.requests, came.requests_equal), (1, 0));
        assert!(came.wrong.is_empty(), "{:?}", came.wrong);
        let marks: Vec<&Mark> = came.marks.values().flatten().collect();
        assert_eq!(marks.len(), 1);
        assert_eq!(marks[0].anomaly, "stuck");
        assert_eq!(marks[0].reason.as_deref(), Some("copies"));
        assert_eq!(marks[0].message, "again");
    }

    #[test]
    fn whatever_else_differs_is_said() {
        let foreign = patched(PatchWriter::new().attribute("theirs", AttributeValue::Int(1)));
        let came = compare(&[body()], &[foreign]).unwrap();
        assert_eq!(came.wrong, ["span 0000000000000002 was altered"]);
        let came = compare(&[body()], &[]).unwrap();
        assert_eq!(came.wrong.len(), 2);
        let came = compare(&[], &[body()]).unwrap();
        assert_eq!(came.wrong.len(), 2);
        let came = compare(&[body()], &[body(), body()]).unwrap();
        assert_eq!(came.wrong.len(), 2);
    }
}
