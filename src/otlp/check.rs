//! Checks resource, scope and span once, completely, and makes their views on the way.

use super::Limits;
use super::fields::{entity_ref, event, link, resource, scope, span, status};
use super::malformed::{Fault, Reason};
use super::scan::{check_entry, text};
use super::value::Value;
use super::views::{ResourceView, ScopeView, SpanKind, SpanView, StatusView};
use super::wire::{Fields, Wire};
use crate::model::{SpanId, Timestamp, TraceId};

/// Attributes gathered by a check; one buffer serves all spans of a body.
pub(super) type Gathered<'a> = Vec<(&'a str, Value<'a>)>;

type Checked<T> = Result<T, Box<Fault>>;

/// Checks the pieces of a resource (it may be split; protobuf joins them).
pub(super) fn check_resource<'b, 'a: 'b>(
    pieces: &'b [&'a [u8]],
    limits: &Limits,
    attributes: &'b mut Gathered<'a>,
) -> Checked<ResourceView<'b>> {
    attributes.clear();
    let mut entities = 0;
    for field in pieces.iter().flat_map(|piece| Fields::new(piece)) {
        let field = field?;
        match (field.number, field.wire) {
            (resource::ATTRIBUTES, Wire::Bytes(bytes)) => {
                gather(bytes, limits.nesting, attributes)?;
            }
            (resource::DROPPED_ATTRIBUTES_COUNT, Wire::Varint(_)) => {}
            (resource::ENTITY_REFS, Wire::Bytes(bytes)) => {
                check_entity(bytes).map_err(|fault| fault.within_item("entityRefs", entities))?;
                entities += 1;
            }
            (resource::ATTRIBUTES..=resource::ENTITY_REFS, _) => {
                return Err(Fault::wire_type(field.number));
            }
            _ => {}
        }
    }
    Ok(ResourceView {
        pieces,
        attributes,
        schema_url: "",
    })
}

/// Checks the pieces of a scope.
pub(super) fn check_scope<'b, 'a: 'b>(
    pieces: &[&'a [u8]],
    limits: &Limits,
    attributes: &'b mut Gathered<'a>,
) -> Checked<ScopeView<'b>> {
    attributes.clear();
    let mut name = "";
    let mut version = "";
    for field in pieces.iter().flat_map(|piece| Fields::new(piece)) {
        let field = field?;
        match (field.number, field.wire) {
            (scope::NAME, Wire::Bytes(bytes)) => {
                name = text(bytes).map_err(|fault| fault.within("name"))?;
            }
            (scope::VERSION, Wire::Bytes(bytes)) => {
                version = text(bytes).map_err(|fault| fault.within("version"))?;
            }
            (scope::ATTRIBUTES, Wire::Bytes(bytes)) => gather(bytes, limits.nesting, attributes)?,
            (scope::DROPPED_ATTRIBUTES_COUNT, Wire::Varint(_)) => {}
            (scope::NAME..=scope::DROPPED_ATTRIBUTES_COUNT, _) => {
                return Err(Fault::wire_type(field.number));
            }
            _ => {}
        }
    }
    Ok(ScopeView {
        name,
        version,
        attributes,
        schema_url: "",
    })
}

fn gather<'a>(bytes: &'a [u8], nesting: u32, attributes: &mut Gathered<'a>) -> Checked<()> {
    let entry = check_entry(bytes, nesting)
        .map_err(|fault| fault.within_item("attributes", attributes.len()))?;
    attributes.push(entry);
    Ok(())
}

fn check_entity(bytes: &[u8]) -> Checked<()> {
    for field in Fields::new(bytes) {
        let field = field?;
        match (field.number, field.wire) {
            (entity_ref::SCHEMA_URL..=entity_ref::DESCRIPTION_KEYS, Wire::Bytes(bytes)) => {
                let name = match field.number {
                    entity_ref::SCHEMA_URL => "schemaUrl",
                    entity_ref::TYPE => "type",
                    entity_ref::ID_KEYS => "idKeys",
                    _ => "descriptionKeys",
                };
                text(bytes).map_err(|fault| fault.within(name))?;
            }
            (entity_ref::SCHEMA_URL..=entity_ref::DESCRIPTION_KEYS, _) => {
                return Err(Fault::wire_type(field.number));
            }
            _ => {}
        }
    }
    Ok(())
}

/// What a span's fields add up to, before its ids are judged.
#[derive(Default)]
struct Draft<'a> {
    trace_id: &'a [u8],
    span_id: &'a [u8],
    parent_span_id: &'a [u8],
    name: &'a str,
    kind: SpanKind,
    start: u64,
    end: u64,
    status: StatusView<'a>,
    attributes: usize,
    attributes_dropped: u64,
    events: Option<&'a [u8]>,
    event_count: usize,
    links: Option<&'a [u8]>,
    link_count: usize,
}

/// Checks a span.
pub(super) fn check_span<'b, 'a: 'b>(
    bytes: &'a [u8],
    limits: &Limits,
    attributes: &'b mut Gathered<'a>,
) -> Checked<SpanView<'b>> {
    attributes.clear();
    let mut draft = Draft::default();
    let mut fields = Fields::new(bytes);
    loop {
        let from_here = fields.rest();
        let Some(field) = fields.next() else { break };
        let field = field?;
        match (field.number, field.wire) {
            (span::ATTRIBUTES, Wire::Bytes(bytes)) => {
                let entry = check_entry(bytes, limits.nesting)
                    .map_err(|fault| fault.within_item("attributes", draft.attributes))?;
                if draft.attributes < limits.attributes_per_span {
                    attributes.push(entry);
                }
                draft.attributes += 1;
            }
            (number, Wire::Bytes(bytes)) => draft.bytes(number, bytes, from_here, limits)?,
            (span::KIND, Wire::Varint(number)) => draft.kind = SpanKind::of(number),
            (span::START, Wire::Fixed64(nanos)) => draft.start = nanos,
            (span::END, Wire::Fixed64(nanos)) => draft.end = nanos,
            (span::DROPPED_ATTRIBUTES_COUNT, Wire::Varint(number)) => {
                draft.attributes_dropped = number;
            }
            (span::DROPPED_EVENTS_COUNT | span::DROPPED_LINKS_COUNT, Wire::Varint(_))
            | (span::FLAGS, Wire::Fixed32(_)) => {}
            (span::TRACE_ID..=span::FLAGS, _) => return Err(Fault::wire_type(field.number)),
            _ => {}
        }
    }
    draft.finish(bytes, attributes)
}

impl<'a> Draft<'a> {
    /// Takes a length-delimited field; `from_here` is the rest of the span from its tag on.
    fn bytes(
        &mut self,
        number: u32,
        bytes: &'a [u8],
        from_here: &'a [u8],
        limits: &Limits,
    ) -> Checked<()> {
        match number {
            span::TRACE_ID => self.trace_id = bytes,
            span::SPAN_ID => self.span_id = bytes,
            span::PARENT_SPAN_ID => self.parent_span_id = bytes,
            span::NAME => self.name = text(bytes).map_err(|fault| fault.within("name"))?,
            span::TRACE_STATE => {
                text(bytes).map_err(|fault| fault.within("traceState"))?;
            }
            span::EVENTS => {
                check_event(bytes, limits)
                    .map_err(|fault| fault.within_item("events", self.event_count))?;
                self.events.get_or_insert(from_here);
                self.event_count += 1;
            }
            span::LINKS => {
                check_link(bytes, limits)
                    .map_err(|fault| fault.within_item("links", self.link_count))?;
                self.links.get_or_insert(from_here);
                self.link_count += 1;
            }
            span::STATUS => {
                check_status(bytes).map_err(|fault| fault.within("status"))?;
                self.status.merge(bytes);
            }
            span::KIND
            | span::START
            | span::END
            | span::DROPPED_ATTRIBUTES_COUNT
            | span::DROPPED_EVENTS_COUNT
            | span::DROPPED_LINKS_COUNT
            | span::FLAGS => return Err(Fault::wire_type(number)),
            _ => {}
        }
        Ok(())
    }

    fn finish<'b>(
        self,
        bytes: &'a [u8],
        attributes: &'b [(&'a str, Value<'a>)],
    ) -> Checked<SpanView<'b>>
    where
        'a: 'b,
    {
        let trace_id = TraceId::from_slice(self.trace_id)
            .ok_or_else(|| bad_id(Reason::TraceId, self.trace_id, 16).within("traceId"))?;
        let span_id = SpanId::from_slice(self.span_id)
            .ok_or_else(|| bad_id(Reason::SpanId, self.span_id, 8).within("spanId"))?;
        if !matches!(self.parent_span_id.len(), 0 | 8) {
            let fault = bad_id(Reason::ParentSpanId, self.parent_span_id, 8);
            return Err(fault.within("parentSpanId"));
        }
        Ok(SpanView {
            bytes,
            trace_id,
            span_id,
            parent_span_id: SpanId::from_slice(self.parent_span_id),
            name: self.name,
            kind: self.kind,
            start: Timestamp::from_nanos(self.start),
            end: Timestamp::from_nanos(self.end),
            status: self.status,
            attributes,
            attributes_left_out: self.attributes - attributes.len(),
            attributes_dropped: self.attributes_dropped,
            events: self.events.unwrap_or_default(),
            links: self.links.unwrap_or_default(),
        })
    }
}

/// Says what is wrong with an id. A printable one is quoted: it came as text that is no hex.
#[cold]
fn bad_id(reason: Reason, id: &[u8], len: usize) -> Box<Fault> {
    let has = id.len();
    if has == len {
        return Fault::new(reason, "must not be all zero");
    }
    match std::str::from_utf8(id) {
        Ok(shown) if (1..=64).contains(&has) && id.iter().all(u8::is_ascii_graphic) => Fault::new(
            reason,
            format!(
                "must be {len} bytes, in JSON {} hex digits, has {has} bytes: {shown:?}",
                len * 2
            ),
        ),
        _ => Fault::new(reason, format!("must be {len} bytes, has {has}")),
    }
}

fn check_event(bytes: &[u8], limits: &Limits) -> Checked<()> {
    let mut attributes = 0;
    for field in Fields::new(bytes) {
        let field = field?;
        match (field.number, field.wire) {
            (event::TIME, Wire::Fixed64(_))
            | (event::DROPPED_ATTRIBUTES_COUNT, Wire::Varint(_)) => {}
            (event::NAME, Wire::Bytes(bytes)) => {
                text(bytes).map_err(|fault| fault.within("name"))?;
            }
            (event::ATTRIBUTES, Wire::Bytes(bytes)) => {
                check_entry(bytes, limits.nesting)
                    .map_err(|fault| fault.within_item("attributes", attributes))?;
                attributes += 1;
            }
            (event::TIME..=event::DROPPED_ATTRIBUTES_COUNT, _) => {
                return Err(Fault::wire_type(field.number));
            }
            _ => {}
        }
    }
    Ok(())
}

fn check_link(bytes: &[u8], limits: &Limits) -> Checked<()> {
    let mut attributes = 0;
    let mut trace_id: &[u8] = &[];
    let mut span_id: &[u8] = &[];
    for field in Fields::new(bytes) {
        let field = field?;
        match (field.number, field.wire) {
            (link::TRACE_ID, Wire::Bytes(bytes)) => trace_id = bytes,
            (link::SPAN_ID, Wire::Bytes(bytes)) => span_id = bytes,
            (link::TRACE_STATE, Wire::Bytes(bytes)) => {
                text(bytes).map_err(|fault| fault.within("traceState"))?;
            }
            (link::ATTRIBUTES, Wire::Bytes(bytes)) => {
                check_entry(bytes, limits.nesting)
                    .map_err(|fault| fault.within_item("attributes", attributes))?;
                attributes += 1;
            }
            (link::DROPPED_ATTRIBUTES_COUNT, Wire::Varint(_)) | (link::FLAGS, Wire::Fixed32(_)) => {
            }
            (link::TRACE_ID..=link::FLAGS, _) => return Err(Fault::wire_type(field.number)),
            _ => {}
        }
    }
    // The Go collector refuses a whole request over one such length: it must not leave us.
    if !matches!(trace_id.len(), 0 | 16) {
        return Err(bad_id(Reason::Link, trace_id, 16).within("traceId"));
    }
    if !matches!(span_id.len(), 0 | 8) {
        return Err(bad_id(Reason::Link, span_id, 8).within("spanId"));
    }
    Ok(())
}

fn check_status(bytes: &[u8]) -> Checked<()> {
    for field in Fields::new(bytes) {
        let field = field?;
        match (field.number, field.wire) {
            (status::MESSAGE, Wire::Bytes(bytes)) => {
                text(bytes).map_err(|fault| fault.within("message"))?;
            }
            (status::CODE, Wire::Varint(_)) => {}
            (status::MESSAGE | status::CODE, _) => return Err(Fault::wire_type(field.number)),
            _ => {}
        }
    }
    Ok(())
}
