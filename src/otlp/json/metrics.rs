//! JSON names and kinds of the fields of metrics.

use super::schema::{Entry, KEY_VALUE};
use super::schema::{Kind, Message, RESOURCE, SCOPE, field, message};
use crate::otlp::fields::{
    buckets, data, exemplar, exponential_point, histogram_point, metric, number_point, point,
    quantile, request, resource_spans, scope_spans, summary_point,
};

pub(super) static METRICS_REQUEST: Message = message(&[field(
    "resourceMetrics",
    request::RESOURCE_SPANS,
    Kind::Many(&RESOURCE_METRICS),
)]);

static RESOURCE_METRICS: Message = message(&[
    field("resource", resource_spans::RESOURCE, Kind::One(&RESOURCE)),
    field(
        "scopeMetrics",
        resource_spans::SCOPE_SPANS,
        Kind::Many(&SCOPE_METRICS),
    ),
    field("schemaUrl", resource_spans::SCHEMA_URL, Kind::Text),
]);

static SCOPE_METRICS: Message = message(&[
    field("scope", scope_spans::SCOPE, Kind::One(&SCOPE)),
    field("metrics", scope_spans::SPANS, Kind::Many(&METRIC)),
    field("schemaUrl", scope_spans::SCHEMA_URL, Kind::Text),
]);

static METRIC: Message = message(&[
    field("name", metric::NAME, Kind::Text),
    field("description", metric::DESCRIPTION, Kind::Text),
    field("unit", metric::UNIT, Kind::Text),
    field("gauge", metric::GAUGE, Kind::One(&GAUGE)),
    field("sum", metric::SUM, Kind::One(&SUM)),
    field("histogram", metric::HISTOGRAM, Kind::One(&HISTOGRAM)),
    field(
        "exponentialHistogram",
        metric::EXPONENTIAL_HISTOGRAM,
        Kind::One(&EXPONENTIAL),
    ),
    field("summary", metric::SUMMARY, Kind::One(&SUMMARY)),
    field("metadata", metric::METADATA, Kind::Many(&KEY_VALUE)),
]);

static GAUGE: Message = message(&[points(&NUMBER_POINT)]);

static SUM: Message = message(&[
    points(&NUMBER_POINT),
    field("aggregationTemporality", data::TEMPORALITY, Kind::Enum),
    field("isMonotonic", data::MONOTONIC, Kind::Bool),
]);

static HISTOGRAM: Message = message(&[
    points(&HISTOGRAM_POINT),
    field("aggregationTemporality", data::TEMPORALITY, Kind::Enum),
]);

static EXPONENTIAL: Message = message(&[
    points(&EXPONENTIAL_POINT),
    field("aggregationTemporality", data::TEMPORALITY, Kind::Enum),
]);

static SUMMARY: Message = message(&[points(&SUMMARY_POINT)]);

const fn points(of: &'static Message) -> Entry {
    field("dataPoints", data::POINTS, Kind::Many(of))
}

const START: Entry = field("startTimeUnixNano", point::START, Kind::Fixed64);
const TIME: Entry = field("timeUnixNano", point::TIME, Kind::Fixed64);

static NUMBER_POINT: Message = message(&[
    field(
        "attributes",
        number_point::ATTRIBUTES,
        Kind::Many(&KEY_VALUE),
    ),
    START,
    TIME,
    field("asDouble", number_point::DOUBLE, Kind::SetDouble),
    field("asInt", number_point::INT, Kind::SetSfixed64),
    field("exemplars", number_point::EXEMPLARS, Kind::Many(&EXEMPLAR)),
    field("flags", number_point::FLAGS, Kind::Uint32),
]);

static HISTOGRAM_POINT: Message = message(&[
    field(
        "attributes",
        histogram_point::ATTRIBUTES,
        Kind::Many(&KEY_VALUE),
    ),
    START,
    TIME,
    field("count", histogram_point::COUNT, Kind::Fixed64),
    field("sum", histogram_point::SUM, Kind::SetDouble),
    field(
        "bucketCounts",
        histogram_point::BUCKET_COUNTS,
        Kind::Fixed64s,
    ),
    field("explicitBounds", histogram_point::BOUNDS, Kind::Doubles),
    field(
        "exemplars",
        histogram_point::EXEMPLARS,
        Kind::Many(&EXEMPLAR),
    ),
    field("flags", histogram_point::FLAGS, Kind::Uint32),
    field("min", histogram_point::MIN, Kind::SetDouble),
    field("max", histogram_point::MAX, Kind::SetDouble),
]);

static EXPONENTIAL_POINT: Message = message(&[
    field(
        "attributes",
        exponential_point::ATTRIBUTES,
        Kind::Many(&KEY_VALUE),
    ),
    START,
    TIME,
    field("count", exponential_point::COUNT, Kind::Fixed64),
    field("sum", exponential_point::SUM, Kind::SetDouble),
    field("scale", exponential_point::SCALE, Kind::Sint32),
    field("zeroCount", exponential_point::ZERO_COUNT, Kind::Fixed64),
    field("positive", exponential_point::POSITIVE, Kind::One(&BUCKETS)),
    field("negative", exponential_point::NEGATIVE, Kind::One(&BUCKETS)),
    field("flags", exponential_point::FLAGS, Kind::Uint32),
    field(
        "exemplars",
        exponential_point::EXEMPLARS,
        Kind::Many(&EXEMPLAR),
    ),
    field("min", exponential_point::MIN, Kind::SetDouble),
    field("max", exponential_point::MAX, Kind::SetDouble),
    field(
        "zeroThreshold",
        exponential_point::ZERO_THRESHOLD,
        Kind::Double,
    ),
]);

static BUCKETS: Message = message(&[
    field("offset", buckets::OFFSET, Kind::Sint32),
    field("bucketCounts", buckets::COUNTS, Kind::Uint64s),
]);

static SUMMARY_POINT: Message = message(&[
    field(
        "attributes",
        summary_point::ATTRIBUTES,
        Kind::Many(&KEY_VALUE),
    ),
    START,
    TIME,
    field("count", summary_point::COUNT, Kind::Fixed64),
    field("sum", summary_point::SUM, Kind::Double),
    field(
        "quantileValues",
        summary_point::QUANTILES,
        Kind::Many(&QUANTILE),
    ),
    field("flags", summary_point::FLAGS, Kind::Uint32),
]);

static QUANTILE: Message = message(&[
    field("quantile", quantile::QUANTILE, Kind::Double),
    field("value", quantile::VALUE, Kind::Double),
]);

static EXEMPLAR: Message = message(&[
    field(
        "filteredAttributes",
        exemplar::ATTRIBUTES,
        Kind::Many(&KEY_VALUE),
    ),
    TIME_OF_EXEMPLAR,
    field("asDouble", exemplar::DOUBLE, Kind::SetDouble),
    field("asInt", exemplar::INT, Kind::SetSfixed64),
    field("spanId", exemplar::SPAN_ID, Kind::Id(8)),
    field("traceId", exemplar::TRACE_ID, Kind::Id(16)),
]);

const TIME_OF_EXEMPLAR: Entry = field("timeUnixNano", exemplar::TIME, Kind::Fixed64);
