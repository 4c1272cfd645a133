//! Reads attribute values out of their bytes: once with every check, and again, when looked at, without.

use super::fields::{any_value, key_value, list};
use super::malformed::{Fault, Reason};
use super::value::{ArrayView, MapView, Pieces, Value};
use super::wire::{Fields, Wire};

/// An AnyValue as its fields pass by.
struct Scan<'a> {
    value: Value<'a>,
    /// Pieces of the list that `value` is.
    pieces: u32,
}

impl<'a> Scan<'a> {
    const NEW: Self = Self {
        value: Value::Empty,
        pieces: 0,
    };

    fn set(&mut self, value: Value<'a>) {
        let joins = matches!(
            (&self.value, &value),
            (Value::Array(_), Value::Array(_)) | (Value::Map(_), Value::Map(_))
        );
        self.pieces = if joins { self.pieces + 1 } else { 1 };
        self.value = value;
    }

    /// The value, once all fields of `holder` have passed.
    fn finish(self, holder: &'a [u8], keyed: bool) -> Value<'a> {
        match self.value {
            Value::Array(_) if self.pieces > 1 => Value::Array(ArrayView(split(
                holder,
                keyed,
                any_value::ARRAY,
                self.pieces,
            ))),
            Value::Map(_) if self.pieces > 1 => {
                Value::Map(MapView(split(holder, keyed, any_value::MAP, self.pieces)))
            }
            value => value,
        }
    }
}

/// The last `pieces` of all pieces of this case.
#[cold]
fn split(holder: &[u8], keyed: bool, case: u32, pieces: u32) -> Pieces<'_> {
    let count = |any| {
        let mut fields = Fields::new(any);
        std::iter::from_fn(|| fields.next_bytes(case)).fold(0u32, |sum, _| sum.saturating_add(1))
    };
    let all = if keyed {
        let mut fields = Fields::new(holder);
        std::iter::from_fn(|| fields.next_bytes(key_value::VALUE))
            .fold(0u32, |sum, any| sum.saturating_add(count(any)))
    } else {
        count(holder)
    };
    Pieces::Split {
        holder,
        keyed,
        case,
        skip: all.saturating_sub(pieces),
    }
}

pub(super) fn text(bytes: &[u8]) -> Result<&str, Box<Fault>> {
    utf8(bytes).ok_or_else(Fault::utf8)
}

/// Texts shorter than this are checked by the standard library: a call into wide registers costs more.
const SHORT: usize = 64;

/// Bytes as text, `None` when they are no UTF-8. Every string of every span goes through here, which is most of what
/// the check of a span costs: long ones are checked with vector instructions.
#[inline]
fn utf8(bytes: &[u8]) -> Option<&str> {
    if bytes.len() < SHORT {
        return std::str::from_utf8(bytes).ok();
    }
    simdutf8::basic::from_utf8(bytes).ok()
}

/// [`check_entry`] of the form that nearly all have: key, then one plain value, nothing else. `None` for any other.
#[inline]
fn plain_entry(bytes: &[u8]) -> Option<(&str, Value<'_>)> {
    const KEY: u8 = (key_value::KEY << 3 | 2).to_le_bytes()[0];
    const VALUE: u8 = (key_value::VALUE << 3 | 2).to_le_bytes()[0];
    const STRING: u8 = (any_value::STRING << 3 | 2).to_le_bytes()[0];
    const BOOL: u8 = (any_value::BOOL << 3).to_le_bytes()[0];
    const INT: u8 = (any_value::INT << 3).to_le_bytes()[0];
    const DOUBLE: u8 = (any_value::DOUBLE << 3 | 1).to_le_bytes()[0];
    let (key, rest) = short_field(bytes, KEY)?;
    let (any, []) = short_field(rest, VALUE)? else {
        return None;
    };
    let value = match any {
        [STRING, ..] => match short_field(any, STRING)? {
            (text, []) => Value::Str(utf8(text)?),
            _ => return None,
        },
        [BOOL, truth @ (0 | 1)] => Value::Bool(*truth == 1),
        [INT, number] if *number < 0x80 => Value::Int(i64::from(*number)),
        [DOUBLE, bits @ ..] => Value::Double(f64::from_le_bytes(bits.try_into().ok()?)),
        _ => return None,
    };
    Some((utf8(key)?, value))
}

/// The content of a field with this tag and a length of one or two bytes, and what follows.
#[inline]
fn short_field(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    match bytes {
        [first, len, rest @ ..] if *first == tag && *len < 0x80 => {
            rest.split_at_checked(usize::from(*len))
        }
        [first, low, high, rest @ ..] if *first == tag && *high < 0x80 => {
            rest.split_at_checked(usize::from(low & 0x7f) | usize::from(*high) << 7)
        }
        _ => None,
    }
}

/// Checks a KeyValue whose value may be `levels` deep.
#[inline]
pub(super) fn check_entry(bytes: &[u8], levels: u32) -> Result<(&str, Value<'_>), Box<Fault>> {
    match plain_entry(bytes) {
        Some(entry) if levels > 0 => Ok(entry),
        _ => check_any_entry(bytes, levels),
    }
}

fn check_any_entry(bytes: &[u8], levels: u32) -> Result<(&str, Value<'_>), Box<Fault>> {
    let mut key = "";
    let mut scan = Scan::NEW;
    for field in Fields::new(bytes) {
        let field = field?;
        match (field.number, field.wire) {
            (key_value::KEY, Wire::Bytes(bytes)) => {
                key = text(bytes).map_err(|fault| fault.within("key"))?;
            }
            (key_value::VALUE, Wire::Bytes(bytes)) => {
                check_any(bytes, &mut scan, levels).map_err(|fault| fault.within("value"))?;
            }
            (key_value::KEY_INDEX, Wire::Varint(_)) => {}
            (key_value::KEY..=key_value::KEY_INDEX, _) => {
                return Err(Fault::wire_type(field.number));
            }
            _ => {}
        }
    }
    Ok((key, scan.finish(bytes, true)))
}

/// Checks an AnyValue that stands by itself, in one piece.
pub(super) fn check_value(bytes: &[u8], levels: u32) -> Result<Value<'_>, Box<Fault>> {
    let mut scan = Scan::NEW;
    check_any(bytes, &mut scan, levels)?;
    Ok(scan.finish(bytes, false))
}

fn check_any<'a>(bytes: &'a [u8], scan: &mut Scan<'a>, levels: u32) -> Result<(), Box<Fault>> {
    let Some(levels) = levels.checked_sub(1) else {
        return Err(Fault::new(Reason::Nesting, "values are nested too deep"));
    };
    for field in Fields::new(bytes) {
        let field = field?;
        let value = match (field.number, field.wire) {
            (any_value::STRING, Wire::Bytes(bytes)) => {
                Value::Str(text(bytes).map_err(|fault| fault.within("stringValue"))?)
            }
            (any_value::BOOL, Wire::Varint(truth)) => Value::Bool(truth != 0),
            (any_value::INT, Wire::Varint(number)) => Value::Int(number.cast_signed()),
            (any_value::DOUBLE, Wire::Fixed64(bits)) => Value::Double(f64::from_bits(bits)),
            (any_value::BYTES, Wire::Bytes(bytes)) => Value::Bytes(bytes),
            (any_value::ARRAY, Wire::Bytes(bytes)) => {
                check_array(bytes, levels).map_err(|fault| fault.within("arrayValue"))?;
                Value::Array(ArrayView(Pieces::One(bytes)))
            }
            (any_value::MAP, Wire::Bytes(bytes)) => {
                check_map(bytes, levels).map_err(|fault| fault.within("kvlistValue"))?;
                Value::Map(MapView(Pieces::One(bytes)))
            }
            (any_value::STRING_INDEX, Wire::Varint(_)) => Value::Empty,
            (any_value::STRING..=any_value::STRING_INDEX, _) => {
                return Err(Fault::wire_type(field.number));
            }
            _ => continue,
        };
        scan.set(value);
    }
    Ok(())
}

fn check_array(bytes: &[u8], levels: u32) -> Result<(), Box<Fault>> {
    check_list(bytes, |item| check_any(item, &mut { Scan::NEW }, levels))
}

fn check_map(bytes: &[u8], levels: u32) -> Result<(), Box<Fault>> {
    check_list(bytes, |item| check_entry(item, levels).map(drop))
}

fn check_list<'a>(
    bytes: &'a [u8],
    check: impl Fn(&'a [u8]) -> Result<(), Box<Fault>>,
) -> Result<(), Box<Fault>> {
    let mut items = 0;
    for field in Fields::new(bytes) {
        let field = field?;
        match (field.number, field.wire) {
            (list::VALUES, Wire::Bytes(item)) => {
                check(item).map_err(|fault| fault.within_item("values", items))?;
                items += 1;
            }
            (list::VALUES, _) => return Err(Fault::wire_type(field.number)),
            _ => {}
        }
    }
    Ok(())
}

/// The value of a checked AnyValue.
pub(super) fn any(bytes: &[u8]) -> Value<'_> {
    let mut scan = Scan::NEW;
    look(bytes, &mut scan);
    scan.finish(bytes, false)
}

/// Key and value of a checked KeyValue.
pub(super) fn entry(bytes: &[u8]) -> (&str, Value<'_>) {
    let mut key = "";
    let mut scan = Scan::NEW;
    for field in Fields::new(bytes).map_while(Result::ok) {
        match (field.number, field.wire) {
            (key_value::KEY, Wire::Bytes(bytes)) => {
                key = std::str::from_utf8(bytes).unwrap_or_default();
            }
            (key_value::VALUE, Wire::Bytes(bytes)) => look(bytes, &mut scan),
            _ => {}
        }
    }
    (key, scan.finish(bytes, true))
}

/// As [`check_any`], of a value that was checked: lists are not entered.
fn look<'a>(bytes: &'a [u8], scan: &mut Scan<'a>) {
    for field in Fields::new(bytes).map_while(Result::ok) {
        let value = match (field.number, field.wire) {
            (any_value::STRING, Wire::Bytes(bytes)) => {
                Value::Str(std::str::from_utf8(bytes).unwrap_or_default())
            }
            (any_value::BOOL, Wire::Varint(truth)) => Value::Bool(truth != 0),
            (any_value::INT, Wire::Varint(number)) => Value::Int(number.cast_signed()),
            (any_value::DOUBLE, Wire::Fixed64(bits)) => Value::Double(f64::from_bits(bits)),
            (any_value::BYTES, Wire::Bytes(bytes)) => Value::Bytes(bytes),
            (any_value::ARRAY, Wire::Bytes(bytes)) => Value::Array(ArrayView(Pieces::One(bytes))),
            (any_value::MAP, Wire::Bytes(bytes)) => Value::Map(MapView(Pieces::One(bytes))),
            (any_value::STRING_INDEX, _) => Value::Empty,
            _ => continue,
        };
        scan.set(value);
    }
}
