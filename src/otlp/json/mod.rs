//! OTLP/JSON, to protobuf bytes and back.
//!
//! The reader is ours because stock serde support refuses valid OTLP/JSON. Its rules, where the proto3 JSON
//! mapping and OTLP leave a choice:
//! - A repeated key: the last scalar holds, a repeated list is appended, a repeated message is merged.
//!   That is what protobuf makes of a field that occurs again.
//! - `null` is absence, also as an element of an attribute array; in other lists it is an error.
//! - Ids are hex in either case. Base64 of the right length is refused as such; any other id that is no id is passed on, so
//!   that [`super::read`] cuts out just that span.
//! - Enums are integers; names are refused, unknown numbers pass.
//! - Objects and arrays nest at most [`DEPTH_MAX`] deep, but for attribute values: those that nest deeper are left to
//!   [`super::read`] too.
//!
//! Fields that the schema does not know are dropped in either direction: JSON cannot carry them.

mod lexer;
mod metrics;
mod number;
mod schema;
mod skip;
#[cfg(test)]
mod tests;
mod transcode;
mod write;

pub use number::base64;
pub use transcode::{transcode, transcode_with_hint};
pub(super) use write::put_string;
pub use write::{records_to_json, to_json, to_json_of};

/// Deepest nesting of objects and arrays. Enough for [`super::Limits::nesting`] levels of maps.
pub const DEPTH_MAX: u32 = 300;

/// The body is no OTLP/JSON request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {what} (at byte {offset})", if path.is_empty() { "body" } else { path.as_str() })]
pub struct JsonError {
    path: String,
    what: String,
    offset: usize,
}

impl JsonError {
    /// Where, as `resourceSpans[0].scopeSpans[0].spans[3].kind`; empty for the body itself.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is wrong there.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Where in the text, in bytes from its start.
    pub fn offset(&self) -> usize {
        self.offset
    }
}
