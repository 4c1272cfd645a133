//! Reads a body once, completely, before it is answered for.

use std::ops::Range;

use bytes::Bytes;
use smallvec::SmallVec;

use super::Limits;
use super::check::{Gathered, check_resource, check_scope, check_span};
use super::cuts::without;
use super::fields::{request, resource_spans, scope_spans};
use super::malformed::{BodyError, Fault, Malformed};
use super::scan::text;
use super::views::{ResourceView, ScopeView, SpanView};
use super::wire::{Field, Fields, Wire, WireError};

/// A good span on its way past.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Its position in [`Readout::body`].
    pub index: u32,
    /// What sent it.
    pub resource: &'a ResourceView<'a>,
    /// What made it.
    pub scope: &'a ScopeView<'a>,
    /// The span.
    pub span: &'a SpanView<'a>,
}

/// A body that was read.
#[derive(Clone, Debug)]
pub struct Readout {
    /// The same buffer when nothing was malformed, else a new one without what was.
    pub body: Bytes,
    /// Spans in it.
    pub spans: u32,
    /// What was cut out.
    pub malformed: Malformed,
}

/// Reads an ExportTraceServiceRequest and calls `visit` for each good span in wire order.
///
/// A span that is malformed is cut out; a resource or scope (or schema_url) that is takes its spans along. Fields may come in
/// any order, in pieces or unknown. Fails when the body, a ResourceSpans or a ScopeSpans cannot be taken apart:
/// `visit` may have seen spans by then, which must be forgotten.
pub fn read(body: Bytes, visit: impl FnMut(&Seen<'_>)) -> Result<Readout, BodyError> {
    read_with(body, &Limits::default(), visit)
}

/// [`read`] with other limits than the default ones.
pub fn read_with(
    body: Bytes,
    limits: &Limits,
    visit: impl FnMut(&Seen<'_>),
) -> Result<Readout, BodyError> {
    let mut reader = Reader::new(
        limits,
        Spans {
            visit,
            attributes: Vec::new(),
        },
    );
    reader.body(&body)?;
    let (items, malformed, cuts) = reader.end();
    Ok(Readout {
        body: without(body, &cuts)?,
        spans: items,
        malformed,
    })
}

/// How the messages of a request are called, for people.
pub(super) struct Words {
    pub(super) resources: &'static str,
    pub(super) scopes: &'static str,
    pub(super) items: &'static str,
}

/// Checks what stands in the scopes of a request, item by item: spans or log records.
pub(super) trait Items<'a> {
    /// How they are called.
    const WORDS: Words;

    /// Checks one, and shows it to whom it concerns.
    fn item(
        &mut self,
        index: u32,
        limits: &Limits,
        resource: &ResourceView<'_>,
        scope: &ScopeView<'_>,
        bytes: &'a [u8],
    ) -> Result<(), Box<Fault>>;
}

struct Spans<'a, F> {
    visit: F,
    attributes: Gathered<'a>,
}

impl<'a, F: FnMut(&Seen<'_>)> Items<'a> for Spans<'a, F> {
    const WORDS: Words = Words {
        resources: "resourceSpans",
        scopes: "scopeSpans",
        items: "spans",
    };

    #[inline]
    fn item(
        &mut self,
        index: u32,
        limits: &Limits,
        resource: &ResourceView<'_>,
        scope: &ScopeView<'_>,
        bytes: &'a [u8],
    ) -> Result<(), Box<Fault>> {
        let span = check_span(bytes, limits, &mut self.attributes)?;
        (self.visit)(&Seen {
            index,
            resource,
            scope,
            span: &span,
        });
        Ok(())
    }
}

/// Walks the envelopes of a request.
pub(super) struct Reader<'l, 'a, I> {
    limits: &'l Limits,
    items: I,
    count: u32,
    malformed: Malformed,
    /// Fields to leave out, as ranges of the body, ascending, none within another.
    cuts: Vec<Range<usize>>,
    resource_attributes: Gathered<'a>,
    scope_attributes: Gathered<'a>,
}

/// An envelope (ResourceSpans or ScopeSpans) as found before its content is looked at.
struct Envelope<'a> {
    /// Its field in the body.
    field: Range<usize>,
    content: &'a [u8],
    /// Pieces of its resource or scope, wherever they stand.
    head: SmallVec<[&'a [u8]; 1]>,
    schema_url: Result<&'a str, Box<Fault>>,
}

impl<'a> Envelope<'a> {
    /// Finds the head of an envelope. Both kinds have the same three field numbers.
    fn open(field: Range<usize>, content: &'a [u8]) -> Result<Self, WireError> {
        let mut envelope = Self {
            field,
            content,
            head: SmallVec::new(),
            schema_url: Ok(""),
        };
        for field in Fields::new(content) {
            let Field { number, wire } = field?;
            match (number, wire) {
                (resource_spans::RESOURCE, Wire::Bytes(piece)) => envelope.head.push(piece),
                (resource_spans::SCHEMA_URL, Wire::Bytes(bytes)) => {
                    // One bad occurrence spoils it for every strict reader after us.
                    let checked = text(bytes).map_err(|fault| fault.within("schemaUrl"));
                    envelope.schema_url = envelope.schema_url.and(checked);
                }
                (resource_spans::SCOPE_SPANS, Wire::Bytes(_)) => {}
                (resource_spans::RESOURCE..=resource_spans::SCHEMA_URL, _) => {
                    return Err(WireError::Mismatch);
                }
                _ => {}
            }
        }
        Ok(envelope)
    }

    /// The messages within, each with the range of its field in the body.
    fn items(&self) -> impl Iterator<Item = (Range<usize>, &'a [u8])> + use<'a> {
        items(self.content, self.field.end - self.content.len())
    }
}

const _: () = assert!(
    resource_spans::RESOURCE == scope_spans::SCOPE
        && resource_spans::SCOPE_SPANS == scope_spans::SPANS
        && resource_spans::SCHEMA_URL == scope_spans::SCHEMA_URL
);

/// The messages within an envelope whose content starts at `base` and was found sound.
fn items(content: &[u8], base: usize) -> impl Iterator<Item = (Range<usize>, &[u8])> {
    let mut fields = Fields::new(content);
    std::iter::from_fn(move || {
        loop {
            let start = base + fields.position();
            let field = fields.next()?.ok()?;
            if let (resource_spans::SCOPE_SPANS, Wire::Bytes(item)) = (field.number, field.wire) {
                return Some((start..base + fields.position(), item));
            }
        }
    })
}

impl<'l, 'a, I: Items<'a>> Reader<'l, 'a, I> {
    pub(super) fn new(limits: &'l Limits, items: I) -> Self {
        Self {
            limits,
            items,
            count: 0,
            malformed: Malformed::default(),
            cuts: Vec::new(),
            resource_attributes: Vec::new(),
            scope_attributes: Vec::new(),
        }
    }

    /// How many items were good, what was not, and where that stands.
    pub(super) fn end(self) -> (u32, Malformed, Vec<Range<usize>>) {
        (self.count, self.malformed, self.cuts)
    }

    pub(super) fn body(&mut self, body: &'a [u8]) -> Result<(), BodyError> {
        let mut fields = Fields::new(body);
        let mut resources = 0;
        loop {
            let start = fields.position();
            let Some(field) = fields.next() else {
                return Ok(());
            };
            let field = field.map_err(|error| {
                BodyError::new(String::new(), format!("{error} (at byte {start})"))
            })?;
            match (field.number, field.wire) {
                (request::RESOURCE_SPANS, Wire::Bytes(content)) => {
                    self.resource(start..fields.position(), content, resources)?;
                    resources += 1;
                }
                (request::RESOURCE_SPANS, _) => {
                    let what = format!("{} (at byte {start})", Fault::wire_type(1).what());
                    return Err(BodyError::new(String::new(), what));
                }
                _ => {}
            }
        }
    }

    fn resource(
        &mut self,
        field: Range<usize>,
        content: &'a [u8],
        position: usize,
    ) -> Result<(), BodyError> {
        let path = || format!("{}[{position}]", I::WORDS.resources);
        let broken = |error: WireError| BodyError::new(path(), error.to_string());
        let envelope = Envelope::open(field, content).map_err(broken)?;
        let mut attributes = std::mem::take(&mut self.resource_attributes);
        let checked = check_resource(&envelope.head, self.limits, &mut attributes)
            .map_err(|fault| fault.within("resource"));
        let checked = match (checked, envelope.schema_url.as_ref()) {
            (Ok(view), Ok(schema_url)) => Ok(ResourceView { schema_url, ..view }),
            (Err(fault), _) => Err(fault),
            (Ok(_), Err(_)) => Err(Fault::utf8().within("schemaUrl")),
        };
        match checked {
            Ok(view) => {
                for (scope, (field, content)) in envelope.items().enumerate() {
                    self.scope(&view, field, content, (position, scope))?;
                }
            }
            Err(fault) => {
                let mut spans = 0;
                for (scope, (field, content)) in envelope.items().enumerate() {
                    let envelope = Envelope::open(field, content).map_err(|error| {
                        let scopes = I::WORDS.scopes;
                        BodyError::new(format!("{}.{scopes}[{scope}]", path()), error.to_string())
                    })?;
                    spans += envelope.items().count();
                }
                self.cut(envelope.field.clone(), spans, &fault, path);
            }
        }
        attributes.clear();
        self.resource_attributes = attributes;
        Ok(())
    }

    fn scope(
        &mut self,
        resource: &ResourceView<'_>,
        field: Range<usize>,
        content: &'a [u8],
        (in_request, in_resource): (usize, usize),
    ) -> Result<(), BodyError> {
        let words = I::WORDS;
        let path = || {
            let (resources, scopes) = (words.resources, words.scopes);
            format!("{resources}[{in_request}].{scopes}[{in_resource}]")
        };
        let envelope = Envelope::open(field, content)
            .map_err(|error| BodyError::new(path(), error.to_string()))?;
        let mut attributes = std::mem::take(&mut self.scope_attributes);
        let checked = check_scope(&envelope.head, self.limits, &mut attributes)
            .map_err(|fault| fault.within("scope"));
        let checked = match (checked, envelope.schema_url.as_ref()) {
            (Ok(view), Ok(schema_url)) => Ok(ScopeView { schema_url, ..view }),
            (Err(fault), _) => Err(fault),
            (Ok(_), Err(_)) => Err(Fault::utf8().within("schemaUrl")),
        };
        match checked {
            Ok(view) => {
                for (position, (field, item)) in envelope.items().enumerate() {
                    if let Err(fault) = self.item(resource, &view, item) {
                        self.cut(field, 1, &fault, || {
                            format!("{}.{}[{position}]", path(), words.items)
                        });
                    }
                }
            }
            Err(fault) => self.cut(
                envelope.field.clone(),
                envelope.items().count(),
                &fault,
                path,
            ),
        }
        attributes.clear();
        self.scope_attributes = attributes;
        Ok(())
    }

    #[inline]
    fn item(
        &mut self,
        resource: &ResourceView<'_>,
        scope: &ScopeView<'_>,
        bytes: &'a [u8],
    ) -> Result<(), Box<Fault>> {
        self.items
            .item(self.count, self.limits, resource, scope, bytes)?;
        self.count = self.count.saturating_add(1);
        Ok(())
    }

    #[cold]
    fn cut(
        &mut self,
        field: Range<usize>,
        spans: usize,
        fault: &Fault,
        path: impl FnOnce() -> String,
    ) {
        self.cuts.push(field);
        self.malformed.add(fault.reason, spans as u64);
        if self.malformed.first.is_none() {
            self.malformed.first = Some(fault.describe(&path()));
        }
    }
}

#[cfg(test)]
mod tests {
    use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
    use opentelemetry_proto::tonic::common::v1::{
        AnyValue, ArrayValue, InstrumentationScope, KeyValue, any_value,
    };
    use opentelemetry_proto::tonic::resource::v1::Resource;
    use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status, span};
    use prost::Message;

    use super::*;
    use crate::otlp::{Reason, SpanKind, StatusCode, Value};

    fn attribute(key: &str, value: any_value::Value) -> KeyValue {
        KeyValue {
            key: key.to_owned(),
            value: Some(AnyValue { value: Some(value) }),
            ..KeyValue::default()
        }
    }

    fn text(value: &str) -> any_value::Value {
        any_value::Value::StringValue(value.to_owned())
    }

    fn span(number: u8) -> Span {
        Span {
            trace_id: vec![1; 16],
            span_id: vec![number; 8],
            name: format!("span {number}"),
            kind: 3,
            start_time_unix_nano: 5,
            end_time_unix_nano: 9,
            attributes: vec![
                attribute("a", text("b")),
                attribute(
                    "list",
                    any_value::Value::ArrayValue(ArrayValue {
                        values: vec![
                            AnyValue {
                                value: Some(text("x")),
                            },
                            AnyValue { value: None },
                        ],
                    }),
                ),
            ],
            events: vec![span::Event {
                name: "exception".to_owned(),
                time_unix_nano: 7,
                attributes: vec![attribute("type", text("Boom"))],
                ..Default::default()
            }],
            links: vec![span::Link {
                trace_id: vec![7; 16],
                ..Default::default()
            }],
            status: Some(Status {
                code: 2,
                message: "no".to_owned(),
            }),
            ..Span::default()
        }
    }

    fn request(spans: Vec<Span>) -> ExportTraceServiceRequest {
        ExportTraceServiceRequest {
            resource_spans: vec![ResourceSpans {
                resource: Some(Resource {
                    attributes: vec![attribute("service.name", text("shop"))],
                    ..Resource::default()
                }),
                scope_spans: vec![ScopeSpans {
                    scope: Some(InstrumentationScope {
                        name: "lib".to_owned(),
                        version: "1".to_owned(),
                        ..InstrumentationScope::default()
                    }),
                    spans,
                    schema_url: "https://schema/scope".to_owned(),
                }],
                schema_url: "https://schema/resource".to_owned(),
            }],
        }
    }

    fn encode(request: &ExportTraceServiceRequest) -> Bytes {
        Bytes::from(request.encode_to_vec())
    }

    #[test]
    fn shows_what_a_span_holds() {
        let body = encode(&request(vec![span(1), span(2)]));
        let mut seen = Vec::new();
        let readout = read(body.clone(), |at| {
            assert_eq!(
                at.resource.attribute("service.name"),
                Some(Value::Str("shop"))
            );
            assert_eq!(at.resource.schema_url(), "https://schema/resource");
            assert_eq!(
                (at.scope.name(), at.scope.version(), at.scope.schema_url()),
                ("lib", "1", "https://schema/scope")
            );
            let span = at.span;
            assert_eq!(span.kind(), SpanKind::Client);
            assert_eq!((span.start().nanos(), span.end().nanos()), (5, 9));
            assert_eq!(span.status().code, StatusCode::Error);
            assert_eq!(span.status().message, "no");
            assert_eq!(span.attribute("a"), Some(Value::Str("b")));
            let list = span.attribute("list").and_then(|value| value.as_array());
            let list: Vec<Value<'_>> = list.unwrap().iter().collect();
            assert_eq!(list, [Value::Str("x"), Value::Empty]);
            let event = span.events().next().unwrap();
            assert_eq!((event.name(), event.time().nanos()), ("exception", 7));
            assert_eq!(event.attribute("type"), Some(Value::Str("Boom")));
            assert_eq!(
                span.links().next().unwrap().trace_id().unwrap().as_bytes(),
                &[7; 16]
            );
            seen.push((at.index, span.name().to_owned()));
        })
        .unwrap();
        assert_eq!(seen, [(0, "span 1".to_owned()), (1, "span 2".to_owned())]);
        assert_eq!(readout.body.as_ptr(), body.as_ptr());
        assert_eq!((readout.spans, readout.malformed.total()), (2, 0));
    }

    #[test]
    fn cuts_a_bad_span_out_and_says_where() {
        let mut bad = span(2);
        bad.trace_id.pop();
        let body = encode(&request(vec![span(1), bad, span(3)]));
        let mut seen = Vec::new();
        let readout = read(body, |at| {
            seen.push((at.index, at.span.name().to_owned()));
        })
        .unwrap();
        assert_eq!(seen, [(0, "span 1".to_owned()), (1, "span 3".to_owned())]);
        assert_eq!(readout.body, encode(&request(vec![span(1), span(3)])));
        assert_eq!(readout.malformed.total(), 1);
        assert_eq!(
            readout.malformed.first.as_deref(),
            Some("resourceSpans[0].scopeSpans[0].spans[1].traceId: must be 16 bytes, has 15")
        );
    }

    /// A field of this number that holds these bytes.
    fn field(number: u8, content: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        crate::otlp::wire::put_bytes(&mut out, u32::from(number), content);
        out
    }

    fn names(body: Vec<u8>) -> (Vec<String>, Readout) {
        let mut names = Vec::new();
        let readout = read(Bytes::from(body), |at| {
            names.push(at.span.name().to_owned())
        });
        (names, readout.unwrap())
    }

    /// A ScopeSpans of spans 1 and 2 with these fields before them.
    fn scope_with(fields: &[u8]) -> Vec<u8> {
        [
            fields,
            &field(2, &span(1).encode_to_vec()),
            &field(2, &span(2).encode_to_vec()),
        ]
        .concat()
    }

    const BAD_TEXT: &[u8] = &[0xc3, 0x28];

    #[test]
    fn r_04_and_r_17_empty_requests_and_envelopes_are_fine() {
        for body in [vec![], field(1, &[]), field(1, &field(2, &[]))] {
            let (names, readout) = names(body.clone());
            assert!(names.is_empty());
            assert_eq!((readout.spans, readout.malformed.total()), (0, 0));
            assert_eq!(readout.body, body);
        }
    }

    #[test]
    fn r_14_unknown_fields_of_every_wire_type_pass() {
        let unknown = [
            &[0x88, 0x06, 0x01][..],                                 // varint
            &[0x89, 0x06, 1, 2, 3, 4, 5, 6, 7, 8],                   // eight bytes
            &[0x8a, 0x06, 2, 0xff, 0xff],                            // bytes
            &[0x8b, 0x06, 0x93, 0x06, 0x94, 0x06, 8, 1, 0x8c, 0x06], // group with a group
            &[0x8d, 0x06, 1, 2, 3, 4],                               // four bytes
        ]
        .concat();
        let span = [span(1).encode_to_vec(), unknown.clone()].concat();
        let scope = [unknown.clone(), field(2, &span)].concat();
        let resource = [field(2, &scope), unknown.clone()].concat();
        let body = [unknown, field(1, &resource)].concat();
        let (names, readout) = names(body.clone());
        assert_eq!(names, ["span 1"]);
        assert_eq!(readout.body, body);
    }

    #[test]
    fn heads_are_found_behind_their_spans_and_in_pieces() {
        // As the Go collector writes: descending field numbers.
        let attributes = |value: &str| {
            let resource = Resource {
                attributes: vec![attribute(value, text(value))],
                ..Resource::default()
            };
            field(1, &resource.encode_to_vec())
        };
        let name = field(1, &field(1, b"lib"));
        let version = field(1, &field(2, b"2"));
        let scope = [
            field(3, b"url"),
            field(2, &span(1).encode_to_vec()),
            name,
            version,
        ]
        .concat();
        let resource = [field(2, &scope), attributes("a"), attributes("b")].concat();
        let readout = read(Bytes::from(field(1, &resource)), |at| {
            let keys: Vec<&str> = at.resource.attributes().map(|(key, _)| key).collect();
            assert_eq!(keys, ["a", "b"]);
            assert_eq!((at.scope.name(), at.scope.version()), ("lib", "2"));
            assert_eq!(at.scope.schema_url(), "url");
        });
        assert_eq!(readout.unwrap().spans, 1);
    }

    #[test]
    fn v_01_each_bad_id_has_its_reason() {
        let link = span::Link {
            trace_id: vec![1; 3],
            ..span::Link::default()
        };
        type Spoil<'s> = (Reason, &'static str, &'s dyn Fn(&mut Span));
        let spoils: [Spoil<'_>; 7] = [
            (Reason::TraceId, "traceId: must be 16 bytes, has 0", &|s| {
                s.trace_id.clear()
            }),
            (Reason::TraceId, "traceId: must not be all zero", &|s| {
                s.trace_id = vec![0; 16]
            }),
            (Reason::TraceId, "traceId: must be 16 bytes, has 17", &|s| {
                s.trace_id.push(1)
            }),
            (Reason::SpanId, "spanId: must be 8 bytes, has 7", &|s| {
                s.span_id = vec![1; 7]
            }),
            (Reason::SpanId, "spanId: must not be all zero", &|s| {
                s.span_id = vec![0; 8]
            }),
            (
                Reason::ParentSpanId,
                "parentSpanId: must be 8 bytes, has 2",
                &|s| {
                    s.parent_span_id = vec![1; 2];
                },
            ),
            (
                Reason::Link,
                "links[0].traceId: must be 16 bytes, has 3",
                &|s| {
                    s.links = vec![link.clone()];
                },
            ),
        ];
        for (reason, what, spoil) in spoils {
            let mut bad = span(2);
            spoil(&mut bad);
            let body = request(vec![span(1), bad, span(3)]).encode_to_vec();
            let (names, readout) = names(body);
            assert_eq!(names, ["span 1", "span 3"]);
            assert_eq!(readout.malformed.by_reason.as_slice(), [(reason, 1)]);
            assert_eq!(
                readout.malformed.first.unwrap(),
                format!("resourceSpans[0].scopeSpans[0].spans[1].{what}")
            );
        }
    }

    #[test]
    fn v_01_a_parent_of_zeros_is_none() {
        let mut root = span(1);
        root.parent_span_id = vec![0; 8];
        let readout = read(encode(&request(vec![root])), |at| {
            assert_eq!(at.span.parent_span_id(), None);
        });
        assert_eq!(readout.unwrap().spans, 1);
    }

    #[test]
    fn v_02_one_bad_text_cuts_one_span() {
        let value = |bytes: &[u8]| field(2, &field(1, bytes));
        let in_list = field(2, &field(5, &field(1, &field(1, BAD_TEXT))));
        let in_map = field(2, &field(6, &field(1, &field(1, BAD_TEXT))));
        for (bad, path) in [
            (field(5, BAD_TEXT), "name"),
            (field(3, BAD_TEXT), "traceState"),
            (field(9, &field(1, BAD_TEXT)), "attributes[2].key"),
            (
                field(9, &value(BAD_TEXT)),
                "attributes[2].value.stringValue",
            ),
            (
                field(9, &in_list),
                "attributes[2].value.arrayValue.values[0].stringValue",
            ),
            (
                field(9, &in_map),
                "attributes[2].value.kvlistValue.values[0].key",
            ),
            (field(11, &field(2, BAD_TEXT)), "events[1].name"),
            (
                field(11, &field(3, &field(1, BAD_TEXT))),
                "events[1].attributes[0].key",
            ),
            (field(13, &field(3, BAD_TEXT)), "links[1].traceState"),
            (field(15, &field(2, BAD_TEXT)), "status.message"),
        ] {
            let bad = field(2, &[span(9).encode_to_vec(), bad].concat());
            let body = field(1, &field(2, &scope_with(&bad)));
            let (names, readout) = names(body);
            assert_eq!(names, ["span 1", "span 2"], "{path}");
            assert_eq!(readout.malformed.by_reason.as_slice(), [(Reason::Utf8, 1)]);
            assert_eq!(
                readout.malformed.first.unwrap(),
                format!("resourceSpans[0].scopeSpans[0].spans[0].{path}: is not UTF-8")
            );
            assert_eq!(readout.body, field(1, &field(2, &scope_with(&[]))));
        }
    }

    #[test]
    fn v_02_bytes_and_unknown_fields_need_no_utf8() {
        let bytes = field(9, &field(2, &field(7, BAD_TEXT)));
        let unknown = field(30, BAD_TEXT);
        let span = [span(1).encode_to_vec(), bytes, unknown].concat();
        let (names, _) = names(field(1, &field(2, &field(2, &span))));
        assert_eq!(names, ["span 1"]);
    }

    #[test]
    fn v_03_odd_times_and_names_are_accepted() {
        let mut odd = span(1);
        odd.start_time_unix_nano = u64::MAX;
        odd.end_time_unix_nano = 0;
        odd.name.clear();
        let (names, _) = names(request(vec![odd]).encode_to_vec());
        assert_eq!(names, [""]);
    }

    #[test]
    fn v_04_the_first_of_equal_keys_is_shown_and_all_are_kept() {
        let mut twice = span(1);
        twice.attributes = vec![attribute("k", text("1")), attribute("k", text("2"))];
        let body = encode(&request(vec![twice]));
        let readout = read(body.clone(), |at| {
            assert_eq!(at.span.attribute("k"), Some(Value::Str("1")));
            assert_eq!(at.span.attributes().count(), 2);
        });
        assert_eq!(readout.unwrap().body, body);
    }

    #[test]
    fn string_table_indexes_of_profiles_are_empty_values() {
        let mut odd = span(1);
        odd.attributes = vec![attribute("k", any_value::Value::StringValueStrindex(4))];
        read(encode(&request(vec![odd])), |at| {
            assert_eq!(at.span.attribute("k"), Some(Value::Empty));
        })
        .unwrap();
    }

    #[test]
    fn heads_that_fail_take_their_spans_along() {
        let good = field(2, &scope_with(&[]));
        let bad_attribute = field(1, &field(1, &field(1, BAD_TEXT)));
        let bad_entity = field(1, &field(3, &field(3, BAD_TEXT)));
        let bad_frame = field(1, &[0x0a, 9]);
        for (head, path, reason) in [
            (
                bad_attribute,
                "resource.attributes[0].key: is not UTF-8",
                Reason::Utf8,
            ),
            (
                bad_entity,
                "resource.entityRefs[0].idKeys: is not UTF-8",
                Reason::Utf8,
            ),
            (field(3, BAD_TEXT), "schemaUrl: is not UTF-8", Reason::Utf8),
            (
                bad_frame,
                "resource: the length of a field runs beyond its message",
                Reason::Frame,
            ),
        ] {
            let bad = field(1, &[good.clone(), head, good.clone()].concat());
            let (names, readout) = names([bad, field(1, &good)].concat());
            assert_eq!(names, ["span 1", "span 2"]);
            assert_eq!(readout.malformed.by_reason.as_slice(), [(reason, 4)]);
            let first = readout.malformed.first.unwrap();
            assert_eq!(first, format!("resourceSpans[0].{path}"));
            assert_eq!(readout.body, field(1, &good));
        }
        for (head, path) in [
            (field(1, &field(1, BAD_TEXT)), "scope.name"),
            (field(1, &field(2, BAD_TEXT)), "scope.version"),
            (field(3, BAD_TEXT), "schemaUrl"),
        ] {
            let bad = field(2, &scope_with(&head));
            let (names, readout) = names(field(1, &[good.clone(), bad].concat()));
            assert_eq!(names, ["span 1", "span 2"]);
            assert_eq!(readout.malformed.by_reason.as_slice(), [(Reason::Utf8, 2)]);
            let first = readout.malformed.first.unwrap();
            assert_eq!(
                first,
                format!("resourceSpans[0].scopeSpans[1].{path}: is not UTF-8")
            );
            assert_eq!(readout.body, field(1, &good));
        }
    }

    #[test]
    fn what_cannot_be_taken_apart_is_refused_with_its_place() {
        let good = field(1, &field(2, &scope_with(&[])));
        for (bad, message) in [
            (
                vec![0x0a, 0xff, 0x7f],
                "body: the length of a field runs beyond its message (at byte 0)",
            ),
            (
                vec![0x08, 1],
                "body: field 1 has the wrong wire type (at byte 0)",
            ),
            (
                vec![0x00],
                "body: a field number is 0 or too large (at byte 0)",
            ),
            (
                field(1, &[0x12, 9]),
                "resourceSpans[0]: the length of a field runs beyond its message",
            ),
            (
                field(1, &field(2, &[0x12, 9])),
                "resourceSpans[0].scopeSpans[0]: the length of a field runs beyond its message",
            ),
            (
                field(1, &[field(3, BAD_TEXT), field(2, &[0x0c])].concat()),
                "resourceSpans[0].scopeSpans[0]: a group is not closed, closed twice or nested too deep",
            ),
            (
                field(1, &[0x10, 1]),
                "resourceSpans[0]: a known field has the wrong wire type",
            ),
        ] {
            let error = read(Bytes::from([bad, good.clone()].concat()), |_| {});
            assert_eq!(error.unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn attributes_beyond_the_limit_are_checked_and_kept_but_not_shown() {
        let mut wide = span(1);
        let many = (0..1030).map(|n| attribute(&n.to_string(), any_value::Value::IntValue(n)));
        wide.attributes = many.collect();
        let body = encode(&request(vec![wide.clone()]));
        let readout = read(body.clone(), |at| {
            assert_eq!(at.span.attributes().count(), 1024);
            assert_eq!(at.span.attributes_left_out(), 6);
        });
        assert_eq!(readout.unwrap().body, body);
        let bad = [wide.encode_to_vec(), field(9, &field(1, BAD_TEXT))].concat();
        let (names, readout) = names(field(1, &field(2, &field(2, &bad))));
        assert!(names.is_empty());
        assert!(
            readout
                .malformed
                .first
                .unwrap()
                .contains("attributes[1030].key")
        );
    }
}
