//! JSON names and kinds of the fields of each message, for both directions.

use crate::otlp::fields::{
    any_value, entity_ref, event, key_value, link, list, log_record, request, resource,
    resource_spans, scope, scope_spans, span, status,
};

/// A message.
pub(super) struct Message {
    pub(super) fields: &'static [Entry],
    /// At most one field is set, and set also when it holds its default (AnyValue).
    pub(super) oneof: bool,
}

/// A field.
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) number: u32,
    pub(super) kind: Kind,
}

/// What a field holds, on both sides.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Text,
    /// Hex in JSON; so many bytes when valid.
    Id(usize),
    /// Base64 in JSON.
    Bytes,
    Bool,
    Double,
    /// A double of which 0 is told from absence.
    SetDouble,
    /// Eight bytes, signed, a string in JSON; 0 is told from absence.
    SetSfixed64,
    /// Zigzag varint.
    Sint32,
    /// Packed, each as [`Kind::Fixed64`].
    Fixed64s,
    /// Packed, each as [`Kind::Double`].
    Doubles,
    /// Packed varints, strings in JSON.
    Uint64s,
    /// Signed varint, a string in JSON.
    Int64,
    /// Eight bytes, a string in JSON.
    Fixed64,
    Int32,
    Uint32,
    Fixed32,
    Enum,
    One(&'static Message),
    Many(&'static Message),
    Texts,
}

impl Message {
    pub(super) fn field(&self, name: &str) -> Option<&'static Entry> {
        self.fields.iter().find(|entry| entry.name == name)
    }
}

pub(super) const fn field(name: &'static str, number: u32, kind: Kind) -> Entry {
    Entry { name, number, kind }
}

pub(super) const fn message(fields: &'static [Entry]) -> Message {
    Message {
        fields,
        oneof: false,
    }
}

pub(super) static REQUEST: Message = message(&[field(
    "resourceSpans",
    request::RESOURCE_SPANS,
    Kind::Many(&RESOURCE_SPANS),
)]);

static RESOURCE_SPANS: Message = message(&[
    field("resource", resource_spans::RESOURCE, Kind::One(&RESOURCE)),
    field(
        "scopeSpans",
        resource_spans::SCOPE_SPANS,
        Kind::Many(&SCOPE_SPANS),
    ),
    field("schemaUrl", resource_spans::SCHEMA_URL, Kind::Text),
]);

pub(super) static LOGS_REQUEST: Message = message(&[field(
    "resourceLogs",
    request::RESOURCE_SPANS,
    Kind::Many(&RESOURCE_LOGS),
)]);

static RESOURCE_LOGS: Message = message(&[
    field("resource", resource_spans::RESOURCE, Kind::One(&RESOURCE)),
    field(
        "scopeLogs",
        resource_spans::SCOPE_SPANS,
        Kind::Many(&SCOPE_LOGS),
    ),
    field("schemaUrl", resource_spans::SCHEMA_URL, Kind::Text),
]);

static SCOPE_LOGS: Message = message(&[
    field("scope", scope_spans::SCOPE, Kind::One(&SCOPE)),
    field("logRecords", scope_spans::SPANS, Kind::Many(&LOG_RECORD)),
    field("schemaUrl", scope_spans::SCHEMA_URL, Kind::Text),
]);

static LOG_RECORD: Message = message(&[
    field("timeUnixNano", log_record::TIME, Kind::Fixed64),
    field(
        "observedTimeUnixNano",
        log_record::OBSERVED_TIME,
        Kind::Fixed64,
    ),
    field("severityNumber", log_record::SEVERITY_NUMBER, Kind::Enum),
    field("severityText", log_record::SEVERITY_TEXT, Kind::Text),
    field("body", log_record::BODY, Kind::One(&ANY_VALUE)),
    field("attributes", log_record::ATTRIBUTES, Kind::Many(&KEY_VALUE)),
    field(
        "droppedAttributesCount",
        log_record::DROPPED_ATTRIBUTES_COUNT,
        Kind::Uint32,
    ),
    field("flags", log_record::FLAGS, Kind::Fixed32),
    field("traceId", log_record::TRACE_ID, Kind::Id(16)),
    field("spanId", log_record::SPAN_ID, Kind::Id(8)),
    field("eventName", log_record::EVENT_NAME, Kind::Text),
]);

pub(super) static RESOURCE: Message = message(&[
    field("attributes", resource::ATTRIBUTES, Kind::Many(&KEY_VALUE)),
    field(
        "droppedAttributesCount",
        resource::DROPPED_ATTRIBUTES_COUNT,
        Kind::Uint32,
    ),
    field("entityRefs", resource::ENTITY_REFS, Kind::Many(&ENTITY_REF)),
]);

static ENTITY_REF: Message = message(&[
    field("schemaUrl", entity_ref::SCHEMA_URL, Kind::Text),
    field("type", entity_ref::TYPE, Kind::Text),
    field("idKeys", entity_ref::ID_KEYS, Kind::Texts),
    field("descriptionKeys", entity_ref::DESCRIPTION_KEYS, Kind::Texts),
]);

static SCOPE_SPANS: Message = message(&[
    field("scope", scope_spans::SCOPE, Kind::One(&SCOPE)),
    field("spans", scope_spans::SPANS, Kind::Many(&SPAN)),
    field("schemaUrl", scope_spans::SCHEMA_URL, Kind::Text),
]);

pub(super) static SCOPE: Message = message(&[
    field("name", scope::NAME, Kind::Text),
    field("version", scope::VERSION, Kind::Text),
    field("attributes", scope::ATTRIBUTES, Kind::Many(&KEY_VALUE)),
    field(
        "droppedAttributesCount",
        scope::DROPPED_ATTRIBUTES_COUNT,
        Kind::Uint32,
    ),
]);

static SPAN: Message = message(&[
    field("traceId", span::TRACE_ID, Kind::Id(16)),
    field("spanId", span::SPAN_ID, Kind::Id(8)),
    field("traceState", span::TRACE_STATE, Kind::Text),
    field("parentSpanId", span::PARENT_SPAN_ID, Kind::Id(8)),
    field("flags", span::FLAGS, Kind::Fixed32),
    field("name", span::NAME, Kind::Text),
    field("kind", span::KIND, Kind::Enum),
    field("startTimeUnixNano", span::START, Kind::Fixed64),
    field("endTimeUnixNano", span::END, Kind::Fixed64),
    field("attributes", span::ATTRIBUTES, Kind::Many(&KEY_VALUE)),
    field(
        "droppedAttributesCount",
        span::DROPPED_ATTRIBUTES_COUNT,
        Kind::Uint32,
    ),
    field("events", span::EVENTS, Kind::Many(&EVENT)),
    field(
        "droppedEventsCount",
        span::DROPPED_EVENTS_COUNT,
        Kind::Uint32,
    ),
    field("links", span::LINKS, Kind::Many(&LINK)),
    field("droppedLinksCount", span::DROPPED_LINKS_COUNT, Kind::Uint32),
    field("status", span::STATUS, Kind::One(&STATUS)),
]);

static EVENT: Message = message(&[
    field("timeUnixNano", event::TIME, Kind::Fixed64),
    field("name", event::NAME, Kind::Text),
    field("attributes", event::ATTRIBUTES, Kind::Many(&KEY_VALUE)),
    field(
        "droppedAttributesCount",
        event::DROPPED_ATTRIBUTES_COUNT,
        Kind::Uint32,
    ),
]);

static LINK: Message = message(&[
    field("traceId", link::TRACE_ID, Kind::Id(16)),
    field("spanId", link::SPAN_ID, Kind::Id(8)),
    field("traceState", link::TRACE_STATE, Kind::Text),
    field("attributes", link::ATTRIBUTES, Kind::Many(&KEY_VALUE)),
    field(
        "droppedAttributesCount",
        link::DROPPED_ATTRIBUTES_COUNT,
        Kind::Uint32,
    ),
    field("flags", link::FLAGS, Kind::Fixed32),
]);

static STATUS: Message = message(&[
    field("message", status::MESSAGE, Kind::Text),
    field("code", status::CODE, Kind::Enum),
]);

pub(super) static KEY_VALUE: Message = message(&[
    field("key", key_value::KEY, Kind::Text),
    field("value", key_value::VALUE, Kind::One(&ANY_VALUE)),
    field("keyStrindex", key_value::KEY_INDEX, Kind::Int32),
]);

pub(super) static ANY_VALUE: Message = Message {
    fields: &[
        field("stringValue", any_value::STRING, Kind::Text),
        field("boolValue", any_value::BOOL, Kind::Bool),
        field("intValue", any_value::INT, Kind::Int64),
        field("doubleValue", any_value::DOUBLE, Kind::Double),
        field("arrayValue", any_value::ARRAY, Kind::One(&ARRAY)),
        field("kvlistValue", any_value::MAP, Kind::One(&MAP)),
        field("bytesValue", any_value::BYTES, Kind::Bytes),
        field("stringValueStrindex", any_value::STRING_INDEX, Kind::Int32),
    ],
    oneof: true,
};

static ARRAY: Message = message(&[field("values", list::VALUES, Kind::Many(&ANY_VALUE))]);

static MAP: Message = message(&[field("values", list::VALUES, Kind::Many(&KEY_VALUE))]);
