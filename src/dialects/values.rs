//! Attribute values as texts and numbers: JSON where they are structured (P16, P34).

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::otlp::Value;

use super::json::write_text;
use super::raw::Text;

/// Deepest structured value that is still written out; the reader of bytes allows no deeper one.
const DEPTH: usize = 64;

/// A value as text: a string as it stands, anything else as JSON; `None` when it is empty or bytes.
pub(super) fn text(value: Value<'_>) -> Option<Text<'_>> {
    match value {
        Value::Str(text) => Some(Cow::Borrowed(text)),
        Value::Empty | Value::Bytes(_) => None,
        other => {
            let mut out = String::new();
            write(other, &mut out, 0);
            Some(Cow::Owned(out))
        }
    }
}

/// A number, or a string that holds one.
pub(super) fn integer(value: Value<'_>) -> Option<i64> {
    match value {
        Value::Int(number) => Some(number),
        Value::Double(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
            #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
            let whole = number as i64;
            Some(whole)
        }
        Value::Str(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// A number, or a string that holds one.
pub(super) fn float(value: Value<'_>) -> Option<f64> {
    match value {
        Value::Int(number) => {
            #[expect(clippy::cast_precision_loss, reason = "an amount of money")]
            let number = number as f64;
            Some(number)
        }
        Value::Double(number) => Some(number),
        Value::Str(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn write(value: Value<'_>, out: &mut String, depth: usize) {
    match value {
        Value::Str(text) => write_text(text, out),
        Value::Bool(yes) => out.push_str(if yes { "true" } else { "false" }),
        Value::Int(number) => {
            let _ = write!(out, "{number}");
        }
        Value::Double(number) if number.is_finite() => {
            let _ = write!(out, "{number:?}");
        }
        Value::Array(array) if depth < DEPTH => {
            out.push('[');
            for (place, element) in array.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write(element, out, depth + 1);
            }
            out.push(']');
        }
        Value::Map(map) if depth < DEPTH => {
            out.push('{');
            for (place, (key, member)) in map.iter().enumerate() {
                if place > 0 {
                    out.push(',');
                }
                write_text(key, out);
                out.push(':');
                write(member, out, depth + 1);
            }
            out.push('}');
        }
        Value::Bytes(_) | Value::Empty | Value::Double(_) | Value::Array(_) | Value::Map(_) => {
            out.push_str("null");
        }
    }
}
