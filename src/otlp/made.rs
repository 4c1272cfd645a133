//! Requests of our own making: one span under somebody's resource.
//!
//! Invariant: the bytes depend on what is asked for alone, so what is made again is the same.

use bytes::Bytes;

use super::AttributeValue;
use super::annotate::put_attribute;
use super::fields::{link, request, resource, resource_spans, scope, scope_spans, span};
use super::wire::{close, open, put_bytes, put_fixed64, put_number};
use crate::model::{SpanId, Timestamp, TraceId};

/// SPAN_KIND_INTERNAL.
const INTERNAL: u64 = 1;

/// A span of our own, without duration.
#[derive(Clone, Copy, Debug)]
pub struct Made<'a> {
    /// The trace it belongs to.
    pub trace: TraceId,
    /// Its own id.
    pub span: SpanId,
    /// The span it hangs under.
    pub parent: SpanId,
    /// Its name.
    pub name: &'a str,
    /// Its start and end.
    pub at: Timestamp,
    /// Spans of the trace it points at, each with what it is to it.
    pub links: &'a [(SpanId, &'a str)],
    /// Key under which a link says what its span is.
    pub role: &'a str,
    /// Attributes and events, as [`super::PatchWriter`] writes them.
    pub fields: &'a [u8],
}

/// Name and version of an instrumentation scope.
#[derive(Clone, Copy, Debug)]
pub struct MadeBy<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its version.
    pub version: &'a str,
}

/// An ExportTraceServiceRequest that holds one span. `sender` is what
/// [`super::ResourceView::encode`] or [`sender`] gave.
pub fn request_of(sender: &[u8], by: MadeBy<'_>, made: &Made<'_>) -> Bytes {
    let mut out = Vec::with_capacity(sender.len() + made.fields.len() + 256);
    let resource = open(&mut out, request::RESOURCE_SPANS);
    out.extend_from_slice(sender);
    let spans = open(&mut out, resource_spans::SCOPE_SPANS);
    let scope = open(&mut out, scope_spans::SCOPE);
    put_bytes(&mut out, scope::NAME, by.name.as_bytes());
    put_bytes(&mut out, scope::VERSION, by.version.as_bytes());
    close(&mut out, scope);
    let span = open(&mut out, scope_spans::SPANS);
    made.write(&mut out);
    close(&mut out, span);
    close(&mut out, spans);
    close(&mut out, resource);
    Bytes::from(out)
}

/// Whose spans they are, where the resource as sent is not known any more.
pub fn sender(attributes: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    let message = open(&mut out, resource_spans::RESOURCE);
    for (key, text) in attributes {
        put_attribute(
            &mut out,
            resource::ATTRIBUTES,
            key,
            AttributeValue::Str(text),
        );
    }
    close(&mut out, message);
    out
}

impl Made<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        put_bytes(out, span::TRACE_ID, self.trace.as_bytes());
        put_bytes(out, span::SPAN_ID, self.span.as_bytes());
        put_bytes(out, span::PARENT_SPAN_ID, self.parent.as_bytes());
        put_bytes(out, span::NAME, self.name.as_bytes());
        put_number(out, span::KIND, INTERNAL);
        put_fixed64(out, span::START, self.at.nanos());
        put_fixed64(out, span::END, self.at.nanos());
        out.extend_from_slice(self.fields);
        for (other, role) in self.links {
            let message = open(out, span::LINKS);
            put_bytes(out, link::TRACE_ID, self.trace.as_bytes());
            put_bytes(out, link::SPAN_ID, other.as_bytes());
            put_attribute(out, link::ATTRIBUTES, self.role, AttributeValue::Str(role));
            close(out, message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::otlp::{self, PatchWriter};

    fn id(n: u8) -> SpanId {
        SpanId::from_slice(&[n; 8]).unwrap()
    }

    fn made<'a>(links: &'a [(SpanId, &'a str)], fields: &'a Bytes) -> Made<'a> {
        Made {
            trace: TraceId::from_slice(&[7; 16]).unwrap(),
            span: id(1),
            parent: id(2),
            name: "anomaly stuck",
            at: Timestamp::from_nanos(42),
            links,
            role: "role",
            fields,
        }
    }

    const BY: MadeBy<'static> = MadeBy {
        name: "sentinel",
        version: "1",
    };

    #[test]
    fn what_is_made_reads_back() {
        let fields = PatchWriter::new()
            .attribute("a", AttributeValue::Int(1))
            .event("e", Timestamp::from_nanos(42), &[])
            .finish();
        let sender = sender(&[("service.name", "svc")]);
        let body = request_of(&sender, BY, &made(&[(id(3), "evidence")], &fields));
        let mut seen = 0;
        let readout = otlp::read(body, |it| {
            seen += 1;
            let service = it.resource.attribute("service.name").unwrap();
            assert_eq!(service.as_str(), Some("svc"));
            assert_eq!((it.scope.name(), it.scope.version()), ("sentinel", "1"));
            let span = it.span;
            assert_eq!(
                (span.span_id(), span.parent_span_id()),
                (id(1), Some(id(2)))
            );
            assert_eq!(
                (span.name(), span.kind()),
                ("anomaly stuck", otlp::SpanKind::Internal)
            );
            assert_eq!((span.start().nanos(), span.end().nanos()), (42, 42));
            assert_eq!(span.status().code, otlp::StatusCode::Unset);
            assert_eq!(span.attributes().count(), 1);
            assert_eq!(span.events().count(), 1);
            assert_eq!(span.links().next().unwrap().span_id(), Some(id(3)));
        })
        .unwrap();
        assert_eq!((seen, readout.spans, readout.malformed.total()), (1, 1, 0));
    }

    #[test]
    fn a_resource_is_copied_with_its_schema_and_whatever_else_it_holds() {
        let json = br#"{"resourceSpans":[{"schemaUrl":"u","resource":{"droppedAttributesCount":3,
            "attributes":[{"key":"service.name","value":{"stringValue":"x"}},{"key":"n","value":{"intValue":"5"}}]},
            "scopeSpans":[{"spans":[{"traceId":"0000000000000000000000000000000a","spanId":"0000000000000001"}]}]}]}"#;
        let mut sender = Vec::new();
        otlp::read(otlp::transcode(json).unwrap(), |it| {
            sender = it.resource.encode()
        })
        .unwrap();
        let fields = Bytes::new();
        let body = request_of(&sender, BY, &made(&[(id(3), "evidence")], &fields));
        let shown = otlp::to_json(&body).unwrap();
        for part in [
            r#""schemaUrl":"u""#,
            r#""droppedAttributesCount":3"#,
            r#""stringValue":"x""#,
            r#""intValue":"5""#,
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }
}
