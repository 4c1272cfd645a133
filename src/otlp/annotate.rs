//! Encodes what is appended to a span. Protobuf joins messages that are concatenated: attributes and events are
//! added to the span's own, a status replaces it, all else is untouched.

use bytes::Bytes;

use super::fields::{any_value, event, key_value, span, status};
use super::views::StatusCode;
use super::wire::{close, open, put_bytes, put_fixed64, put_number};
use crate::model::Timestamp;

/// A value of an attribute of ours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AttributeValue<'a> {
    /// A text.
    Str(&'a str),
    /// A whole number.
    Int(i64),
    /// A number.
    Double(f64),
    /// A truth value.
    Bool(bool),
}

/// Collects fields of a Span message.
#[derive(Clone, Debug, Default)]
pub struct PatchWriter {
    out: Vec<u8>,
}

impl PatchWriter {
    /// An empty patch.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an attribute.
    #[must_use]
    pub fn attribute(mut self, key: &str, value: AttributeValue<'_>) -> Self {
        put_attribute(&mut self.out, span::ATTRIBUTES, key, value);
        self
    }

    /// Adds an event.
    #[must_use]
    pub fn event(
        mut self,
        name: &str,
        time: Timestamp,
        attributes: &[(&str, AttributeValue<'_>)],
    ) -> Self {
        let message = open(&mut self.out, span::EVENTS);
        put_fixed64(&mut self.out, event::TIME, time.nanos());
        put_bytes(&mut self.out, event::NAME, name.as_bytes());
        for (key, value) in attributes {
            put_attribute(&mut self.out, event::ATTRIBUTES, key, *value);
        }
        close(&mut self.out, message);
        self
    }

    /// Sets the status. An empty `message` leaves the span's own text in place.
    #[must_use]
    pub fn status(mut self, code: StatusCode, message: &str) -> Self {
        let status = open(&mut self.out, span::STATUS);
        if !message.is_empty() {
            put_bytes(&mut self.out, status::MESSAGE, message.as_bytes());
        }
        put_number(&mut self.out, status::CODE, code.number());
        close(&mut self.out, status);
        self
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// The encoded fields, for [`crate::model::Patch`].
    pub fn finish(self) -> Bytes {
        Bytes::from(self.out)
    }
}

pub(super) fn put_attribute(out: &mut Vec<u8>, number: u32, key: &str, value: AttributeValue<'_>) {
    let entry = open(out, number);
    put_bytes(out, key_value::KEY, key.as_bytes());
    let any = open(out, key_value::VALUE);
    match value {
        AttributeValue::Str(text) => put_bytes(out, any_value::STRING, text.as_bytes()),
        AttributeValue::Int(number) => put_number(out, any_value::INT, number.cast_unsigned()),
        AttributeValue::Double(number) => put_fixed64(out, any_value::DOUBLE, number.to_bits()),
        AttributeValue::Bool(truth) => put_number(out, any_value::BOOL, u64::from(truth)),
    }
    close(out, any);
    close(out, entry);
}
