//! Resource, scope and span as they lie in the buffer; made by [`super::read`] once they have been checked.

use super::fields::{event, link, resource_spans, span, status};
use super::value::{Entries, Value};
use super::wire::{Fields, Wire, close, open, put_bytes};
use crate::model::{SpanId, Timestamp, TraceId};

/// Attributes in wire order, a key as often as it came.
pub type Attributes<'a> = std::iter::Copied<std::slice::Iter<'a, (&'a str, Value<'a>)>>;

fn first<'a>(attributes: &'a [(&'a str, Value<'a>)], key: &str) -> Option<Value<'a>> {
    let found = attributes.iter().find(|(name, _)| *name == key);
    found.map(|(_, value)| *value)
}

/// What sent the spans.
#[derive(Clone, Copy, Debug)]
pub struct ResourceView<'a> {
    /// Its pieces as they lie in the body; protobuf joins them.
    pub(super) pieces: &'a [&'a [u8]],
    pub(super) attributes: &'a [(&'a str, Value<'a>)],
    pub(super) schema_url: &'a str,
}

impl<'a> ResourceView<'a> {
    /// Its attributes.
    pub fn attributes(&self) -> Attributes<'a> {
        self.attributes.iter().copied()
    }

    /// The value of the first attribute with this key.
    pub fn attribute(&self, key: &str) -> Option<Value<'a>> {
        first(self.attributes, key)
    }

    /// Schema of the resource; empty when not sent.
    pub fn schema_url(&self) -> &'a str {
        self.schema_url
    }

    /// The fields of a ResourceSpans that tell whose spans they are, for a request of our own under the
    /// same resource: the resource with all its fields, known or not, and its schema.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let message = open(&mut out, resource_spans::RESOURCE);
        self.pieces
            .iter()
            .for_each(|piece| out.extend_from_slice(piece));
        close(&mut out, message);
        if !self.schema_url.is_empty() {
            put_bytes(
                &mut out,
                resource_spans::SCHEMA_URL,
                self.schema_url.as_bytes(),
            );
        }
        out
    }
}

/// The instrumentation library that made the spans.
#[derive(Clone, Copy, Debug)]
pub struct ScopeView<'a> {
    pub(super) name: &'a str,
    pub(super) version: &'a str,
    pub(super) attributes: &'a [(&'a str, Value<'a>)],
    pub(super) schema_url: &'a str,
}

impl<'a> ScopeView<'a> {
    /// Its name; empty when not sent.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Its version; empty when not sent.
    pub fn version(&self) -> &'a str {
        self.version
    }

    /// Its attributes.
    pub fn attributes(&self) -> Attributes<'a> {
        self.attributes.iter().copied()
    }

    /// Schema of its spans; empty when not sent.
    pub fn schema_url(&self) -> &'a str {
        self.schema_url
    }
}

/// A span's role in a remote call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpanKind {
    /// Not sent.
    #[default]
    Unspecified,
    /// Within a process.
    Internal,
    /// Serves a request.
    Server,
    /// Makes a request.
    Client,
    /// Starts work for others to take up.
    Producer,
    /// Takes up work.
    Consumer,
    /// A value that is newer than we are.
    Other(i32),
}

impl SpanKind {
    pub(super) fn of(number: u64) -> Self {
        match number {
            0 => Self::Unspecified,
            1 => Self::Internal,
            2 => Self::Server,
            3 => Self::Client,
            4 => Self::Producer,
            5 => Self::Consumer,
            other => Self::Other(enumeration(other)),
        }
    }
}

/// Enums travel as varints of which protobuf takes the low 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "what protobuf does")]
pub(super) fn enumeration(number: u64) -> i32 {
    number as i32
}

/// How a span ended, as its emitter says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatusCode {
    /// Nothing was said, or something newer than we are.
    #[default]
    Unset,
    /// Well.
    Ok,
    /// In an error.
    Error,
}

impl StatusCode {
    pub(super) fn of(number: u64) -> Self {
        match enumeration(number) {
            1 => Self::Ok,
            2 => Self::Error,
            _ => Self::Unset,
        }
    }

    pub(super) const fn number(self) -> u64 {
        match self {
            Self::Unset => 0,
            Self::Ok => 1,
            Self::Error => 2,
        }
    }
}

/// A span's status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatusView<'a> {
    /// Its code.
    pub code: StatusCode,
    /// Its text; empty when not sent.
    pub message: &'a str,
}

impl<'a> StatusView<'a> {
    /// Merges another piece of a checked status.
    pub(super) fn merge(&mut self, bytes: &'a [u8]) {
        for field in Fields::new(bytes).map_while(Result::ok) {
            match (field.number, field.wire) {
                (status::MESSAGE, Wire::Bytes(bytes)) => {
                    self.message = std::str::from_utf8(bytes).unwrap_or_default();
                }
                (status::CODE, Wire::Varint(number)) => self.code = StatusCode::of(number),
                _ => {}
            }
        }
    }
}

/// One span. All texts are UTF-8 and both ids valid.
#[derive(Clone, Copy, Debug)]
pub struct SpanView<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) trace_id: TraceId,
    pub(super) span_id: SpanId,
    pub(super) parent_span_id: Option<SpanId>,
    pub(super) name: &'a str,
    pub(super) kind: SpanKind,
    pub(super) start: Timestamp,
    pub(super) end: Timestamp,
    pub(super) status: StatusView<'a>,
    pub(super) attributes: &'a [(&'a str, Value<'a>)],
    pub(super) attributes_left_out: usize,
    pub(super) attributes_dropped: u64,
    /// From the first event on; empty when there is none.
    pub(super) events: &'a [u8],
    /// From the first link on; empty when there is none.
    pub(super) links: &'a [u8],
}

impl<'a> SpanView<'a> {
    /// The trace it belongs to.
    pub fn trace_id(&self) -> TraceId {
        self.trace_id
    }

    /// Its own id.
    pub fn span_id(&self) -> SpanId {
        self.span_id
    }

    /// The span it hangs under; `None` for a root, also when sent as zeros.
    pub fn parent_span_id(&self) -> Option<SpanId> {
        self.parent_span_id
    }

    /// Its name; empty when not sent.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Its role in a remote call.
    pub fn kind(&self) -> SpanKind {
        self.kind
    }

    /// When it started, as sent: may be zero, in the future, after the end.
    pub fn start(&self) -> Timestamp {
        self.start
    }

    /// When it ended, as sent: may be zero, in the future, before the start.
    pub fn end(&self) -> Timestamp {
        self.end
    }

    /// How it ended.
    pub fn status(&self) -> StatusView<'a> {
        self.status
    }

    /// Its first attributes, up to [`super::Limits::attributes_per_span`].
    pub fn attributes(&self) -> Attributes<'a> {
        self.attributes.iter().copied()
    }

    /// The value of the first attribute with this key (protobuf leaves duplicates undefined; this is our rule).
    pub fn attribute(&self, key: &str) -> Option<Value<'a>> {
        first(self.attributes, key)
    }

    /// How many attributes [`SpanView::attributes`] does not show.
    pub fn attributes_left_out(&self) -> usize {
        self.attributes_left_out
    }

    /// Whether all attributes that its maker set are here: none beyond what is looked at, and none dropped
    /// by the limits of an SDK (128 attributes by default).
    pub fn has_all_attributes(&self) -> bool {
        self.attributes_left_out == 0 && self.attributes_dropped == 0
    }

    /// Its events in wire order.
    pub fn events(&self) -> impl Iterator<Item = EventView<'a>> + Clone + use<'a> {
        let mut fields = Fields::new(self.events);
        let next = move || fields.next_bytes(span::EVENTS).map(EventView::of);
        std::iter::from_fn(next)
    }

    /// Its links in wire order.
    pub fn links(&self) -> impl Iterator<Item = LinkView<'a>> + Clone + use<'a> {
        let mut fields = Fields::new(self.links);
        let next = move || fields.next_bytes(span::LINKS).map(LinkView::of);
        std::iter::from_fn(next)
    }

    /// The span as it lies in its body, without tag and length.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Bytes that the span takes in its body, without tag and length.
    pub fn encoded_len(&self) -> usize {
        self.bytes.len()
    }
}

/// Something that happened during a span.
#[derive(Clone, Copy, Debug)]
pub struct EventView<'a> {
    bytes: &'a [u8],
    time: Timestamp,
    name: &'a str,
}

impl<'a> EventView<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        let mut view = Self {
            bytes,
            time: Timestamp::ZERO,
            name: "",
        };
        for field in Fields::new(bytes).map_while(Result::ok) {
            match (field.number, field.wire) {
                (event::TIME, Wire::Fixed64(nanos)) => view.time = Timestamp::from_nanos(nanos),
                (event::NAME, Wire::Bytes(bytes)) => {
                    view.name = std::str::from_utf8(bytes).unwrap_or_default();
                }
                _ => {}
            }
        }
        view
    }

    /// When, as sent.
    pub fn time(&self) -> Timestamp {
        self.time
    }

    /// Its name; empty when not sent.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Its attributes.
    pub fn attributes(&self) -> Entries<'a> {
        Entries::of(self.bytes, event::ATTRIBUTES)
    }

    /// The value of the first attribute with this key.
    pub fn attribute(&self, key: &str) -> Option<Value<'a>> {
        let found = self.attributes().find(|(name, _)| *name == key);
        found.map(|(_, value)| value)
    }
}

/// A reference to another span.
#[derive(Clone, Copy, Debug)]
pub struct LinkView<'a> {
    bytes: &'a [u8],
    trace_id: Option<TraceId>,
    span_id: Option<SpanId>,
}

impl<'a> LinkView<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        let mut view = Self {
            bytes,
            trace_id: None,
            span_id: None,
        };
        for field in Fields::new(bytes).map_while(Result::ok) {
            match (field.number, field.wire) {
                (link::TRACE_ID, Wire::Bytes(id)) => view.trace_id = TraceId::from_slice(id),
                (link::SPAN_ID, Wire::Bytes(id)) => view.span_id = SpanId::from_slice(id),
                _ => {}
            }
        }
        view
    }

    /// The other trace; `None` when empty or zero.
    pub fn trace_id(&self) -> Option<TraceId> {
        self.trace_id
    }

    /// The other span; `None` when empty or zero.
    pub fn span_id(&self) -> Option<SpanId> {
        self.span_id
    }

    /// Its attributes.
    pub fn attributes(&self) -> Entries<'a> {
        Entries::of(self.bytes, link::ATTRIBUTES)
    }
}
