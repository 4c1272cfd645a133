//! Field numbers of opentelemetry-proto 1.11, one module a message.

pub(super) mod request {
    pub(in crate::otlp) const RESOURCE_SPANS: u32 = 1;
}

pub(super) mod resource_spans {
    pub(in crate::otlp) const RESOURCE: u32 = 1;
    pub(in crate::otlp) const SCOPE_SPANS: u32 = 2;
    pub(in crate::otlp) const SCHEMA_URL: u32 = 3;
}

pub(super) mod scope_spans {
    pub(in crate::otlp) const SCOPE: u32 = 1;
    pub(in crate::otlp) const SPANS: u32 = 2;
    pub(in crate::otlp) const SCHEMA_URL: u32 = 3;
}

pub(super) mod resource {
    pub(in crate::otlp) const ATTRIBUTES: u32 = 1;
    pub(in crate::otlp) const DROPPED_ATTRIBUTES_COUNT: u32 = 2;
    pub(in crate::otlp) const ENTITY_REFS: u32 = 3;
}

pub(super) mod entity_ref {
    pub(in crate::otlp) const SCHEMA_URL: u32 = 1;
    pub(in crate::otlp) const TYPE: u32 = 2;
    pub(in crate::otlp) const ID_KEYS: u32 = 3;
    pub(in crate::otlp) const DESCRIPTION_KEYS: u32 = 4;
}

pub(super) mod scope {
    pub(in crate::otlp) const NAME: u32 = 1;
    pub(in crate::otlp) const VERSION: u32 = 2;
    pub(in crate::otlp) const ATTRIBUTES: u32 = 3;
    pub(in crate::otlp) const DROPPED_ATTRIBUTES_COUNT: u32 = 4;
}

pub(super) mod span {
    pub(in crate::otlp) const TRACE_ID: u32 = 1;
    pub(in crate::otlp) const SPAN_ID: u32 = 2;
    pub(in crate::otlp) const TRACE_STATE: u32 = 3;
    pub(in crate::otlp) const PARENT_SPAN_ID: u32 = 4;
    pub(in crate::otlp) const NAME: u32 = 5;
    pub(in crate::otlp) const KIND: u32 = 6;
    pub(in crate::otlp) const START: u32 = 7;
    pub(in crate::otlp) const END: u32 = 8;
    pub(in crate::otlp) const ATTRIBUTES: u32 = 9;
    pub(in crate::otlp) const DROPPED_ATTRIBUTES_COUNT: u32 = 10;
    pub(in crate::otlp) const EVENTS: u32 = 11;
    pub(in crate::otlp) const DROPPED_EVENTS_COUNT: u32 = 12;
    pub(in crate::otlp) const LINKS: u32 = 13;
    pub(in crate::otlp) const DROPPED_LINKS_COUNT: u32 = 14;
    pub(in crate::otlp) const STATUS: u32 = 15;
    pub(in crate::otlp) const FLAGS: u32 = 16;
}

/// The envelopes of log records, up to the record itself, have the numbers of those of spans.
pub(super) mod log_record {
    pub(in crate::otlp) const TIME: u32 = 1;
    pub(in crate::otlp) const SEVERITY_NUMBER: u32 = 2;
    pub(in crate::otlp) const SEVERITY_TEXT: u32 = 3;
    pub(in crate::otlp) const BODY: u32 = 5;
    pub(in crate::otlp) const ATTRIBUTES: u32 = 6;
    pub(in crate::otlp) const DROPPED_ATTRIBUTES_COUNT: u32 = 7;
    pub(in crate::otlp) const FLAGS: u32 = 8;
    pub(in crate::otlp) const TRACE_ID: u32 = 9;
    pub(in crate::otlp) const SPAN_ID: u32 = 10;
    pub(in crate::otlp) const OBSERVED_TIME: u32 = 11;
    pub(in crate::otlp) const EVENT_NAME: u32 = 12;
}

/// The envelopes of metrics, up to the metric itself, have the numbers of those of spans.
pub(super) mod metric {
    pub(in crate::otlp) const NAME: u32 = 1;
    pub(in crate::otlp) const DESCRIPTION: u32 = 2;
    pub(in crate::otlp) const UNIT: u32 = 3;
    pub(in crate::otlp) const GAUGE: u32 = 5;
    pub(in crate::otlp) const SUM: u32 = 7;
    pub(in crate::otlp) const HISTOGRAM: u32 = 9;
    pub(in crate::otlp) const EXPONENTIAL_HISTOGRAM: u32 = 10;
    pub(in crate::otlp) const SUMMARY: u32 = 11;
    pub(in crate::otlp) const METADATA: u32 = 12;
}

/// Gauge, Sum, Histogram, ExponentialHistogram and Summary: all have their points under one number.
pub(super) mod data {
    pub(in crate::otlp) const POINTS: u32 = 1;
    pub(in crate::otlp) const TEMPORALITY: u32 = 2;
    pub(in crate::otlp) const MONOTONIC: u32 = 3;
}

/// Times that all kinds of points have in common.
pub(super) mod point {
    pub(in crate::otlp) const START: u32 = 2;
    pub(in crate::otlp) const TIME: u32 = 3;
}

pub(super) mod number_point {
    pub(in crate::otlp) const DOUBLE: u32 = 4;
    pub(in crate::otlp) const EXEMPLARS: u32 = 5;
    pub(in crate::otlp) const INT: u32 = 6;
    pub(in crate::otlp) const ATTRIBUTES: u32 = 7;
    pub(in crate::otlp) const FLAGS: u32 = 8;
}

pub(super) mod histogram_point {
    pub(in crate::otlp) const COUNT: u32 = 4;
    pub(in crate::otlp) const SUM: u32 = 5;
    pub(in crate::otlp) const BUCKET_COUNTS: u32 = 6;
    pub(in crate::otlp) const BOUNDS: u32 = 7;
    pub(in crate::otlp) const EXEMPLARS: u32 = 8;
    pub(in crate::otlp) const ATTRIBUTES: u32 = 9;
    pub(in crate::otlp) const FLAGS: u32 = 10;
    pub(in crate::otlp) const MIN: u32 = 11;
    pub(in crate::otlp) const MAX: u32 = 12;
}

pub(super) mod exponential_point {
    pub(in crate::otlp) const ATTRIBUTES: u32 = 1;
    pub(in crate::otlp) const COUNT: u32 = 4;
    pub(in crate::otlp) const SUM: u32 = 5;
    pub(in crate::otlp) const SCALE: u32 = 6;
    pub(in crate::otlp) const ZERO_COUNT: u32 = 7;
    pub(in crate::otlp) const POSITIVE: u32 = 8;
    pub(in crate::otlp) const NEGATIVE: u32 = 9;
    pub(in crate::otlp) const FLAGS: u32 = 10;
    pub(in crate::otlp) const EXEMPLARS: u32 = 11;
    pub(in crate::otlp) const MIN: u32 = 12;
    pub(in crate::otlp) const MAX: u32 = 13;
    pub(in crate::otlp) const ZERO_THRESHOLD: u32 = 14;
}

pub(super) mod buckets {
    pub(in crate::otlp) const OFFSET: u32 = 1;
    pub(in crate::otlp) const COUNTS: u32 = 2;
}

pub(super) mod summary_point {
    pub(in crate::otlp) const COUNT: u32 = 4;
    pub(in crate::otlp) const SUM: u32 = 5;
    pub(in crate::otlp) const QUANTILES: u32 = 6;
    pub(in crate::otlp) const ATTRIBUTES: u32 = 7;
    pub(in crate::otlp) const FLAGS: u32 = 8;
}

pub(super) mod quantile {
    pub(in crate::otlp) const QUANTILE: u32 = 1;
    pub(in crate::otlp) const VALUE: u32 = 2;
}

pub(super) mod exemplar {
    pub(in crate::otlp) const TIME: u32 = 2;
    pub(in crate::otlp) const DOUBLE: u32 = 3;
    pub(in crate::otlp) const SPAN_ID: u32 = 4;
    pub(in crate::otlp) const TRACE_ID: u32 = 5;
    pub(in crate::otlp) const INT: u32 = 6;
    pub(in crate::otlp) const ATTRIBUTES: u32 = 7;
}

pub(super) mod event {
    pub(in crate::otlp) const TIME: u32 = 1;
    pub(in crate::otlp) const NAME: u32 = 2;
    pub(in crate::otlp) const ATTRIBUTES: u32 = 3;
    pub(in crate::otlp) const DROPPED_ATTRIBUTES_COUNT: u32 = 4;
}

pub(super) mod link {
    pub(in crate::otlp) const TRACE_ID: u32 = 1;
    pub(in crate::otlp) const SPAN_ID: u32 = 2;
    pub(in crate::otlp) const TRACE_STATE: u32 = 3;
    pub(in crate::otlp) const ATTRIBUTES: u32 = 4;
    pub(in crate::otlp) const DROPPED_ATTRIBUTES_COUNT: u32 = 5;
    pub(in crate::otlp) const FLAGS: u32 = 6;
}

pub(super) mod status {
    pub(in crate::otlp) const MESSAGE: u32 = 2;
    pub(in crate::otlp) const CODE: u32 = 3;
}

pub(super) mod key_value {
    pub(in crate::otlp) const KEY: u32 = 1;
    pub(in crate::otlp) const VALUE: u32 = 2;
    /// Index into a string table: profiles only, empty in traces.
    pub(in crate::otlp) const KEY_INDEX: u32 = 3;
}

pub(super) mod any_value {
    pub(in crate::otlp) const STRING: u32 = 1;
    pub(in crate::otlp) const BOOL: u32 = 2;
    pub(in crate::otlp) const INT: u32 = 3;
    pub(in crate::otlp) const DOUBLE: u32 = 4;
    pub(in crate::otlp) const ARRAY: u32 = 5;
    pub(in crate::otlp) const MAP: u32 = 6;
    pub(in crate::otlp) const BYTES: u32 = 7;
    /// Index into a string table: profiles only, empty in traces.
    pub(in crate::otlp) const STRING_INDEX: u32 = 8;
}

/// ArrayValue and KeyValueList.
pub(super) mod list {
    pub(in crate::otlp) const VALUES: u32 = 1;
}

pub(super) mod response {
    pub(in crate::otlp) const PARTIAL_SUCCESS: u32 = 1;
}

pub(super) mod partial_success {
    pub(in crate::otlp) const REJECTED_SPANS: u32 = 1;
    pub(in crate::otlp) const ERROR_MESSAGE: u32 = 2;
}

/// google.rpc.Status.
pub(super) mod rpc_status {
    pub(in crate::otlp) const CODE: u32 = 1;
    pub(in crate::otlp) const MESSAGE: u32 = 2;
    pub(in crate::otlp) const DETAILS: u32 = 3;
}

/// google.protobuf.Any.
pub(super) mod packed {
    pub(in crate::otlp) const TYPE_URL: u32 = 1;
    pub(in crate::otlp) const VALUE: u32 = 2;
}

pub(super) mod retry_info {
    pub(in crate::otlp) const RETRY_DELAY: u32 = 1;
}

/// google.protobuf.Duration.
pub(super) mod duration {
    pub(in crate::otlp) const SECONDS: u32 = 1;
    pub(in crate::otlp) const NANOS: u32 = 2;
}

pub(super) mod bad_request {
    pub(in crate::otlp) const FIELD_VIOLATIONS: u32 = 1;
}

pub(super) mod violation {
    pub(in crate::otlp) const FIELD: u32 = 1;
    pub(in crate::otlp) const DESCRIPTION: u32 = 2;
}
