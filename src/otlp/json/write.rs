//! Protobuf to OTLP/JSON: hex ids, 64-bit integers as strings, defaults left out.

use std::fmt::Write;

use smallvec::SmallVec;

use super::metrics::METRICS_REQUEST;
use super::number::put_base64;
use super::schema::{Entry, Kind, LOGS_REQUEST, Message, REQUEST};
use crate::model::Signal;
use crate::otlp::Limits;
use crate::otlp::malformed::{BodyError, Fault, Reason};
use crate::otlp::scan::text;
use crate::otlp::views::enumeration;
use crate::otlp::wire::{Field, Fields, Wire};

/// An ExportTraceServiceRequest as one line of OTLP/JSON, without a line break at its end. Pieces of split messages are joined, fields
/// that the schema does not know are left out. Fails on a body that [`crate::otlp::read`] would refuse or cut.
pub fn to_json(body: &[u8]) -> Result<String, BodyError> {
    written(&REQUEST, body)
}

/// As [`to_json`], of an ExportLogsServiceRequest.
pub fn records_to_json(body: &[u8]) -> Result<String, BodyError> {
    written(&LOGS_REQUEST, body)
}

/// A request with this signal as [`to_json`] writes it.
pub fn to_json_of(signal: Signal, body: &[u8]) -> Result<String, BodyError> {
    match signal {
        Signal::Traces => to_json(body),
        Signal::Logs => records_to_json(body),
        Signal::Metrics => written(&METRICS_REQUEST, body),
    }
}

fn written(request: &'static Message, body: &[u8]) -> Result<String, BodyError> {
    let mut writer = Writer {
        out: String::with_capacity(body.len() + body.len() / 2),
        // Four messages around a value, and up to three for each of its levels.
        levels: 8 + 3 * Limits::default().nesting,
    };
    match writer.message(request, &[body]) {
        Ok(()) => Ok(writer.out),
        Err(fault) => Err(BodyError::of(&fault)),
    }
}

struct Writer {
    out: String,
    levels: u32,
}

type Written = Result<(), Box<Fault>>;

impl Writer {
    fn message(&mut self, message: &'static Message, pieces: &[&[u8]]) -> Written {
        let mut fields = SmallVec::<[Field<'_>; 16]>::new();
        for field in pieces.iter().flat_map(|piece| Fields::new(piece)) {
            fields.push(field?);
        }
        self.levels = self
            .levels
            .checked_sub(1)
            .ok_or_else(|| Fault::new(Reason::Nesting, "values are nested too deep"))?;
        self.out.push('{');
        let start = self.out.len();
        if message.oneof {
            self.oneof(message, &fields)?;
        } else {
            for entry in message.fields {
                let wires: SmallVec<[Wire<'_>; 4]> = fields
                    .iter()
                    .filter(|field| field.number == entry.number)
                    .map(|field| field.wire)
                    .collect();
                self.field(entry, &wires, start, false)?;
            }
        }
        self.out.push('}');
        self.levels += 1;
        Ok(())
    }

    /// The case that was set last, with those of its pieces that no other case has overwritten.
    fn oneof(&mut self, message: &'static Message, fields: &[Field<'_>]) -> Written {
        let mut wires = SmallVec::<[Wire<'_>; 4]>::new();
        let mut last: Option<&Entry> = None;
        for field in fields {
            let entry = message.fields.iter().find(|e| e.number == field.number);
            let Some(entry) = entry else { continue };
            if last.is_some_and(|last| last.number != entry.number) {
                wires.clear();
            }
            last = Some(entry);
            wires.push(field.wire);
        }
        match last {
            Some(entry) => self.field(entry, &wires, self.out.len(), true),
            None => Ok(()),
        }
    }

    /// A field by all its occurrences; `start` is where its object begins.
    fn field(
        &mut self,
        entry: &'static Entry,
        wires: &[Wire<'_>],
        start: usize,
        explicit: bool,
    ) -> Written {
        let Some(last) = wires.last() else {
            return Ok(());
        };
        let before = self.out.len();
        if before > start {
            self.out.push(',');
        }
        self.out.push('"');
        self.out.push_str(entry.name);
        self.out.push_str("\":");
        let named = self.out.len();
        let written = match entry.kind {
            Kind::Many(message) => self.list(entry, wires, |writer, bytes| {
                writer.message(message, &[bytes])
            })?,
            Kind::Texts => self.list(entry, wires, |writer, bytes| writer.text(bytes))?,
            Kind::Fixed64s | Kind::Doubles | Kind::Uint64s => self.packed(entry, wires)?,
            Kind::One(message) => {
                let mut pieces = SmallVec::<[&[u8]; 1]>::new();
                for wire in wires {
                    pieces.push(bytes(*wire, entry)?);
                }
                self.message(message, &pieces)
                    .map_err(|fault| fault.within(entry.name))?;
                true
            }
            _ => self
                .scalar(entry, *last)
                .map_err(|fault| fault.within(entry.name))?,
        };
        if !written && !explicit {
            self.out.truncate(before);
        }
        debug_assert!(self.out.len() != named, "a name without a value");
        Ok(())
    }

    fn list(
        &mut self,
        entry: &'static Entry,
        wires: &[Wire<'_>],
        mut item: impl FnMut(&mut Self, &[u8]) -> Written,
    ) -> Result<bool, Box<Fault>> {
        self.out.push('[');
        for (place, wire) in wires.iter().enumerate() {
            if place > 0 {
                self.out.push(',');
            }
            item(self, bytes(*wire, entry)?)
                .map_err(|fault| fault.within_item(entry.name, place))?;
        }
        self.out.push(']');
        Ok(true)
    }

    /// Numbers that are packed, or stand by themselves as an older encoder writes them.
    fn packed(&mut self, entry: &'static Entry, wires: &[Wire<'_>]) -> Result<bool, Box<Fault>> {
        let mut numbers = SmallVec::<[u64; 16]>::new();
        for wire in wires {
            match (*wire, entry.kind) {
                (Wire::Varint(number), Kind::Uint64s)
                | (Wire::Fixed64(number), Kind::Fixed64s | Kind::Doubles) => numbers.push(number),
                (Wire::Bytes(bytes), Kind::Uint64s) => varints(bytes, &mut numbers)?,
                (Wire::Bytes(bytes), _) => {
                    let (eights, []) = bytes.as_chunks::<8>() else {
                        return Err(Fault::wire_type(entry.number).within(entry.name));
                    };
                    numbers.extend(eights.iter().map(|eight| u64::from_le_bytes(*eight)));
                }
                _ => return Err(Fault::wire_type(entry.number).within(entry.name)),
            }
        }
        self.out.push('[');
        for (place, number) in numbers.iter().enumerate() {
            if place > 0 {
                self.out.push(',');
            }
            match entry.kind {
                Kind::Doubles => put_double(&mut self.out, f64::from_bits(*number)),
                _ => {
                    let _ = write!(self.out, "\"{number}\"");
                }
            }
        }
        self.out.push(']');
        Ok(!numbers.is_empty())
    }

    /// A value that is no message; false when it is its kind's default.
    fn scalar(&mut self, entry: &Entry, wire: Wire<'_>) -> Result<bool, Box<Fault>> {
        let out = &mut self.out;
        Ok(match (entry.kind, wire) {
            (Kind::Text, Wire::Bytes(bytes)) => {
                self.text(bytes)?;
                !bytes.is_empty()
            }
            (Kind::Id(_), Wire::Bytes(bytes)) => {
                out.push('"');
                for digit in bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]) {
                    out.extend(char::from_digit(u32::from(digit), 16));
                }
                out.push('"');
                !bytes.is_empty()
            }
            (Kind::Bytes, Wire::Bytes(bytes)) => {
                out.push('"');
                put_base64(out, bytes);
                out.push('"');
                !bytes.is_empty()
            }
            (Kind::Bool, Wire::Varint(truth)) => {
                out.push_str(if truth == 0 { "false" } else { "true" });
                truth != 0
            }
            (Kind::Double | Kind::SetDouble, Wire::Fixed64(bits)) => {
                put_double(out, f64::from_bits(bits));
                bits != 0 || matches!(entry.kind, Kind::SetDouble)
            }
            (Kind::SetSfixed64, Wire::Fixed64(number)) => {
                let _ = write!(out, "\"{}\"", number.cast_signed());
                true
            }
            (Kind::Sint32, Wire::Varint(number)) => {
                let zigzag = enumeration(number).cast_unsigned();
                let number = (zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed();
                let _ = write!(out, "{number}");
                number != 0
            }
            (Kind::Int64, Wire::Varint(number)) => {
                let _ = write!(out, "\"{}\"", number.cast_signed());
                number != 0
            }
            (Kind::Fixed64, Wire::Fixed64(number)) => {
                let _ = write!(out, "\"{number}\"");
                number != 0
            }
            (Kind::Enum | Kind::Int32, Wire::Varint(number)) => {
                let _ = write!(out, "{}", enumeration(number));
                enumeration(number) != 0
            }
            (Kind::Uint32, Wire::Varint(number)) => {
                let number = enumeration(number).cast_unsigned();
                let _ = write!(out, "{number}");
                number != 0
            }
            (Kind::Fixed32, Wire::Fixed32(number)) => {
                let _ = write!(out, "{number}");
                number != 0
            }
            _ => return Err(Fault::wire_type(entry.number)),
        })
    }

    fn text(&mut self, bytes: &[u8]) -> Written {
        put_string(&mut self.out, text(bytes)?);
        Ok(())
    }
}

/// Takes packed varints apart, by way of the fields that they would be one by one.
fn varints(packed: &[u8], numbers: &mut SmallVec<[u64; 16]>) -> Written {
    let mut rest = packed;
    while let Some(end) = rest.iter().position(|byte| byte & 0x80 == 0) {
        let (number, after) = rest.split_at(end + 1);
        let mut field: SmallVec<[u8; 16]> = SmallVec::from_slice(&[8]);
        field.extend_from_slice(number);
        for field in Fields::new(&field) {
            if let Wire::Varint(number) = field?.wire {
                numbers.push(number);
            }
        }
        rest = after;
    }
    if rest.is_empty() {
        Ok(())
    } else {
        Err(Fault::new(Reason::Frame, "a number is cut off"))
    }
}

fn bytes<'a>(wire: Wire<'a>, entry: &'static Entry) -> Result<&'a [u8], Box<Fault>> {
    match wire {
        Wire::Bytes(bytes) => Ok(bytes),
        _ => Err(Fault::wire_type(entry.number).within(entry.name)),
    }
}

fn put_double(out: &mut String, number: f64) {
    if number.is_nan() {
        out.push_str("\"NaN\"");
    } else if number.is_infinite() {
        out.push_str(if number > 0.0 {
            "\"Infinity\""
        } else {
            "\"-Infinity\""
        });
    } else {
        // Debug, for it writes 1e300 as that and not as 301 digits.
        let _ = write!(out, "{number:?}");
    }
}

/// Writes a JSON string.
pub(in crate::otlp) fn put_string(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest
        .bytes()
        .position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20))
    {
        let (plain, tail) = rest.split_at(at);
        out.push_str(plain);
        let mut chars = tail.chars();
        match chars.next() {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some(control) => {
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out.push('"');
}
