//! Bytes and their meaning: the OTLP wire format of traces, of log records and of
//! metrics, read in place and never decoded into objects.
//!
//! Invariants: a body that [`read`] accepts leaves as the very bytes it came in, fields we do not know
//! included; every text that a view hands out is valid UTF-8 and every id has its length; no input
//! panics or recurses deeper than [`Limits::nesting`]. Field numbers stand in this module and nowhere else.

mod annotate;
mod check;
mod cuts;
mod fields;
pub mod json;
mod made;
mod malformed;
mod metrics;
mod pack;
mod plan;
mod read;
mod records;
mod scan;
mod split;
pub mod status;
mod value;
mod views;
mod wire;

pub use annotate::{AttributeValue, PatchWriter};
pub use json::{JsonError, records_to_json, to_json, to_json_of, transcode, transcode_with_hint};
pub use made::{Made, MadeBy, Record, log_request_of, request_of, sender};
pub use malformed::{BodyError, Malformed, Reason};
pub use metrics::{check_metrics, count_points};
pub use pack::{apart, count_spans, halve, pack};
pub use read::{Readout, Seen, read, read_with};
pub use records::{RecordView, Records, SeenRecord, read_records};
pub use split::{Packed, pack_within};
pub use value::{ArrayView, Entries, MapView, Value, Values};
pub use views::{
    Attributes, EventView, LinkView, ResourceView, ScopeView, SpanKind, SpanView, StatusCode,
    StatusView,
};

/// What one body may ask of its reader (DESIGN 3.1 and 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Deepest nesting of attribute values; a plain value is 1 deep. A span beyond it is malformed.
    pub nesting: u32,
    /// Attributes of one span that views show. Those beyond are checked and passed on, but not shown.
    pub attributes_per_span: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            nesting: 64,
            attributes_per_span: 1024,
        }
    }
}
