//! Field numbers of opentelemetry-proto 1.11, one module a message.

pub(super) mod request {
    pub(crate) const RESOURCE_SPANS: u32 = 1;
}

pub(super) mod resource_spans {
    pub(crate) const RESOURCE: u32 = 1;
    pub(crate) const SCOPE_SPANS: u32 = 2;
    pub(crate) const SCHEMA_URL: u32 = 3;
}

pub(super) mod scope_spans {
    pub(crate) const SCOPE: u32 = 1;
    pub(crate) const SPANS: u32 = 2;
    pub(crate) const SCHEMA_URL: u32 = 3;
}

pub(super) mod resource {
    pub(crate) const ATTRIBUTES: u32 = 1;
    pub(crate) const DROPPED_ATTRIBUTES_COUNT: u32 = 2;
    pub(crate) const ENTITY_REFS: u32 = 3;
}

pub(super) mod entity_ref {
    pub(crate) const SCHEMA_URL: u32 = 1;
    pub(crate) const TYPE: u32 = 2;
    pub(crate) const ID_KEYS: u32 = 3;
    pub(crate) const DESCRIPTION_KEYS: u32 = 4;
}

pub(super) mod scope {
    pub(crate) const NAME: u32 = 1;
    pub(crate) const VERSION: u32 = 2;
    pub(crate) const ATTRIBUTES: u32 = 3;
    pub(crate) const DROPPED_ATTRIBUTES_COUNT: u32 = 4;
}

pub(super) mod span {
    pub(crate) const TRACE_ID: u32 = 1;
    pub(crate) const SPAN_ID: u32 = 2;
    pub(crate) const TRACE_STATE: u32 = 3;
    pub(crate) const PARENT_SPAN_ID: u32 = 4;
    pub(crate) const NAME: u32 = 5;
    pub(crate) const KIND: u32 = 6;
    pub(crate) const START: u32 = 7;
    pub(crate) const END: u32 = 8;
    pub(crate) const ATTRIBUTES: u32 = 9;
    pub(crate) const DROPPED_ATTRIBUTES_COUNT: u32 = 10;
    pub(crate) const EVENTS: u32 = 11;
    pub(crate) const DROPPED_EVENTS_COUNT: u32 = 12;
    pub(crate) const LINKS: u32 = 13;
    pub(crate) const DROPPED_LINKS_COUNT: u32 = 14;
    pub(crate) const STATUS: u32 = 15;
    pub(crate) const FLAGS: u32 = 16;
}

pub(super) mod event {
    pub(crate) const TIME: u32 = 1;
    pub(crate) const NAME: u32 = 2;
    pub(crate) const ATTRIBUTES: u32 = 3;
    pub(crate) const DROPPED_ATTRIBUTES_COUNT: u32 = 4;
}

pub(super) mod link {
    pub(crate) const TRACE_ID: u32 = 1;
    pub(crate) const SPAN_ID: u32 = 2;
    pub(crate) const TRACE_STATE: u32 = 3;
    pub(crate) const ATTRIBUTES: u32 = 4;
    pub(crate) const DROPPED_ATTRIBUTES_COUNT: u32 = 5;
    pub(crate) const FLAGS: u32 = 6;
}

pub(super) mod status {
    pub(crate) const MESSAGE: u32 = 2;
    pub(crate) const CODE: u32 = 3;
}

pub(super) mod key_value {
    pub(crate) const KEY: u32 = 1;
    pub(crate) const VALUE: u32 = 2;
    /// Index into a string table: profiles only, empty in traces.
    pub(crate) const KEY_INDEX: u32 = 3;
}

pub(super) mod any_value {
    pub(crate) const STRING: u32 = 1;
    pub(crate) const BOOL: u32 = 2;
    pub(crate) const INT: u32 = 3;
    pub(crate) const DOUBLE: u32 = 4;
    pub(crate) const ARRAY: u32 = 5;
    pub(crate) const MAP: u32 = 6;
    pub(crate) const BYTES: u32 = 7;
    /// Index into a string table: profiles only, empty in traces.
    pub(crate) const STRING_INDEX: u32 = 8;
}

/// ArrayValue and KeyValueList.
pub(super) mod list {
    pub(crate) const VALUES: u32 = 1;
}
