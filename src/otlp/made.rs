//! Requests of our own making: one span or one log record under somebody's resource.
//!
//! Invariant: the bytes depend on what is asked for alone, so what is made again is the same.

use bytes::Bytes;

use super::AttributeValue;
use super::annotate::put_attribute;
use super::fields::{
    any_value, link, log_record, request, resource, resource_spans, scope, scope_spans, span,
};
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
    let room = sender.len() + made.fields.len() + 256;
    enveloped(sender, by, room, |out| made.write(out))
}

/// A log record of our own about a span.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The trace of the span.
    pub trace: TraceId,
    /// The span.
    pub span: SpanId,
    /// Its event name.
    pub name: &'a str,
    /// When it happened, by the clock of those who sent the span.
    pub at: Timestamp,
    /// When we saw it, by ours.
    pub observed: Timestamp,
    /// Severity as OTLP numbers it, 1 to 24.
    pub severity_number: i64,
    /// Severity in words.
    pub severity: &'a str,
    /// Its body.
    pub body: &'a str,
    /// Its attributes, each key once.
    pub attributes: &'a [(&'a str, AttributeValue<'a>)],
}

/// An ExportLogsServiceRequest that holds one record; written one after another they are one request. `sender`
/// as for [`request_of`].
pub fn log_request_of(sender: &[u8], by: MadeBy<'_>, record: &Record<'_>) -> Bytes {
    let room = sender.len() + record.attributes.len() * 64 + 512;
    enveloped(sender, by, room, |out| record.write(out))
}

/// One span or log record within its envelopes, which have the same numbers.
fn enveloped(
    sender: &[u8],
    by: MadeBy<'_>,
    room: usize,
    write: impl FnOnce(&mut Vec<u8>),
) -> Bytes {
    let mut out = Vec::with_capacity(room);
    let resource = open(&mut out, request::RESOURCE_SPANS);
    out.extend_from_slice(sender);
    let spans = open(&mut out, resource_spans::SCOPE_SPANS);
    let scope = open(&mut out, scope_spans::SCOPE);
    put_bytes(&mut out, scope::NAME, by.name.as_bytes());
    put_bytes(&mut out, scope::VERSION, by.version.as_bytes());
    close(&mut out, scope);
    let span = open(&mut out, scope_spans::SPANS);
    write(&mut out);
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

impl Record<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        put_fixed64(out, log_record::TIME, self.at.nanos());
        put_fixed64(out, log_record::OBSERVED_TIME, self.observed.nanos());
        put_number(
            out,
            log_record::SEVERITY_NUMBER,
            self.severity_number.cast_unsigned(),
        );
        put_bytes(out, log_record::SEVERITY_TEXT, self.severity.as_bytes());
        let body = open(out, log_record::BODY);
        put_bytes(out, any_value::STRING, self.body.as_bytes());
        close(out, body);
        for (key, value) in self.attributes {
            put_attribute(out, log_record::ATTRIBUTES, key, *value);
        }
        put_bytes(out, log_record::TRACE_ID, self.trace.as_bytes());
        put_bytes(out, log_record::SPAN_ID, self.span.as_bytes());
        put_bytes(out, log_record::EVENT_NAME, self.name.as_bytes());
    }
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
    fn a_record_is_what_others_read() {
        use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
        use opentelemetry_proto::tonic::common::v1::any_value::Value;
        use prost::Message;
        let record = Record {
            trace: TraceId::from_slice(&[7; 16]).unwrap(),
            span: id(1),
            name: "sentinel.anomaly",
            at: Timestamp::from_nanos(42),
            observed: Timestamp::from_nanos(43),
            severity_number: 17,
            severity: "error",
            body: "what",
            attributes: &[
                ("s", AttributeValue::Str("x")),
                ("i", AttributeValue::Int(-1)),
                ("b", AttributeValue::Bool(true)),
            ],
        };
        let sender = sender(&[("service.name", "svc")]);
        let one = log_request_of(&sender, BY, &record);
        let both = [one.clone(), one].concat();
        let decoded = ExportLogsServiceRequest::decode(both.as_slice()).unwrap();
        assert_eq!(decoded.encoded_len(), both.len(), "no field is unknown");
        assert_eq!(decoded.resource_logs.len(), 2);
        for resource in decoded.resource_logs {
            assert_eq!(resource.resource.unwrap().attributes[0].key, "service.name");
            let scope = &resource.scope_logs[0];
            assert_eq!(scope.scope.as_ref().unwrap().name, "sentinel");
            let read = &scope.log_records[0];
            assert_eq!(
                (read.time_unix_nano, read.observed_time_unix_nano),
                (42, 43)
            );
            assert_eq!(
                (read.severity_number, read.severity_text.as_str()),
                (17, "error")
            );
            assert_eq!(read.event_name, "sentinel.anomaly");
            assert_eq!(
                (read.trace_id.as_slice(), read.span_id.as_slice()),
                (&[7; 16][..], &[1; 8][..])
            );
            let body = read.body.clone().unwrap().value.unwrap();
            assert_eq!(body, Value::StringValue("what".into()));
            let keys: Vec<&str> = read.attributes.iter().map(|it| it.key.as_str()).collect();
            assert_eq!(keys, ["s", "i", "b"]);
        }
        let json = otlp::records_to_json(&both).unwrap();
        let shown: ExportLogsServiceRequest = serde_json::from_str(&json).unwrap();
        let decoded = ExportLogsServiceRequest::decode(both.as_slice()).unwrap();
        assert_eq!(shown, decoded);
    }

    #[test]
    fn records_are_counted_and_cut_as_spans_are() {
        let record = Record {
            trace: TraceId::from_slice(&[7; 16]).unwrap(),
            span: id(1),
            name: "e",
            at: Timestamp::from_nanos(42),
            observed: Timestamp::from_nanos(43),
            severity_number: 13,
            severity: "warning",
            body: "what",
            attributes: &[],
        };
        let one = log_request_of(&sender(&[("service.name", "svc")]), BY, &record);
        let body = Bytes::from([one.clone(), one.clone(), one.clone()].concat());
        assert_eq!(otlp::count_spans(&body), 3);
        let release = crate::model::Release {
            body,
            spans: crate::model::Selection::All,
            count: 3,
            patches: Vec::new(),
            synthetic: true,
        };
        let cut = otlp::pack_within(&release, one.len());
        let bodies: Vec<&Bytes> = cut.iter().map(|packed| &packed.body).collect();
        assert_eq!(bodies, [&one, &one, &one]);
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
