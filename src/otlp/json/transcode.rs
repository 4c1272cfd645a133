//! OTLP/JSON to protobuf, in one pass and without a tree between them.

use std::fmt::Display;

use bytes::Bytes;

use super::lexer::{Lexer, Read, Scalar};
use super::metrics::METRICS_REQUEST;
use super::number::{base64, double, hex, whole};
use super::schema::{Entry, Kind, LOGS_REQUEST, Message, REQUEST};
use super::{DEPTH_MAX, JsonError};
use crate::model::Signal;
use crate::otlp::wire::{close, open, put_bytes, put_fixed32, put_fixed64, put_number, put_varint};

/// An ExportTraceServiceRequest from its JSON form, encoded as protobuf. What is wrong with single spans (ids, nesting)
/// is left for [`crate::otlp::read`] to find; all else is an error with path and position.
pub fn transcode(json: &[u8]) -> Result<Bytes, JsonError> {
    transcode_with_hint(Signal::Traces, json).map(|(body, _)| body)
}

/// As [`transcode`], of a request with this signal, and a sentence for the client where what was ignored looks like a
/// mistake: a known name in snake_case, or fields in a body that has none of a request.
pub fn transcode_with_hint(
    signal: Signal,
    json: &[u8],
) -> Result<(Bytes, Option<String>), JsonError> {
    let request = match signal {
        Signal::Traces => &REQUEST,
        Signal::Logs => &LOGS_REQUEST,
        Signal::Metrics => &METRICS_REQUEST,
    };
    let run = || {
        let mut lexer = Lexer::new(json)?;
        let mut writer = Writer {
            out: Vec::with_capacity(json.len() / 2),
            request,
            known: false,
            hint: None,
            stranger: None,
        };
        writer.message(&mut lexer, request)?;
        lexer.end()?;
        let hint = writer.foreign().or(writer.hint);
        Ok((Bytes::from(writer.out), hint))
    };
    run().map_err(|wrong: Box<super::lexer::Wrong>| wrong.report())
}

/// Values that begin this near to [`DEPTH_MAX`] are nested deeper than [`crate::otlp::Limits::nesting`] allows in
/// arrays and in maps: what is in them is left out, and `read` cuts out just their span.
const VALUE_DEPTH: u32 = 10;

/// Most characters of an unknown name that a hint shows.
const NAME_SHOWN: usize = 64;

struct Writer {
    out: Vec<u8>,
    /// The outermost message.
    request: &'static Message,
    /// A field of the outermost message was there.
    known: bool,
    /// About the first name in snake_case.
    hint: Option<String>,
    /// The first unknown name of the outermost message.
    stranger: Option<String>,
}

impl Writer {
    /// The content of a message.
    fn message(&mut self, lexer: &mut Lexer<'_>, message: &Message) -> Read<()> {
        if message.oneof && lexer.depth() > DEPTH_MAX - VALUE_DEPTH {
            return lexer.skip_deep();
        }
        // Defaults are not written, unless they overrule an earlier value of the same field.
        let mut written = 0u32;
        lexer.object(|lexer, name| {
            let Some(entry) = message.field(name) else {
                self.unknown(message, name);
                return lexer.skip();
            };
            self.known |= std::ptr::eq(message, self.request);
            if lexer.null()? {
                return Ok(());
            }
            let explicit = message.oneof || written & 1 << entry.number != 0;
            written |= 1 << entry.number;
            self.field(lexer, entry, explicit)
                .map_err(|wrong| match entry.kind {
                    // Elements have said their place themselves.
                    Kind::Many(_)
                    | Kind::Texts
                    | Kind::Fixed64s
                    | Kind::Doubles
                    | Kind::Uint64s => wrong,
                    _ => wrong.within(entry.name),
                })
        })
    }

    /// What to say of a body that has fields, and none of a request.
    fn foreign(&self) -> Option<String> {
        let name = self.stranger.as_deref().filter(|_| !self.known)?;
        let wanted = self.request.fields.first()?.name;
        Some(if camel(name) == wanted {
            format!("body has no `{wanted}`: `{name}` is spelled `{wanted}` in OTLP/JSON")
        } else {
            format!("body has no `{wanted}`: `{name}` was ignored, and all else in it")
        })
    }

    fn unknown(&mut self, message: &Message, name: &str) {
        if self.stranger.is_none() && std::ptr::eq(message, self.request) {
            self.stranger = Some(name.chars().take(NAME_SHOWN).collect());
        }
        if self.hint.is_none()
            && name.contains('_')
            && let Some(entry) = message.field(&camel(name))
        {
            self.hint = Some(format!(
                "`{name}` was ignored: OTLP/JSON names are lowerCamelCase, here `{}`",
                entry.name
            ));
        }
    }

    /// The value of a field; `explicit` has a default written too.
    fn field(&mut self, lexer: &mut Lexer<'_>, entry: &'static Entry, explicit: bool) -> Read<()> {
        let number = entry.number;
        match entry.kind {
            Kind::Text => {
                let text = lexer.string()?;
                if explicit || !text.is_empty() {
                    put_bytes(&mut self.out, number, text.as_bytes());
                }
            }
            Kind::Id(len) => self.id(lexer, number, len, explicit)?,
            Kind::Bytes => {
                let offset = lexer.offset();
                match base64(&lexer.string()?) {
                    Some(bytes) => put_bytes(&mut self.out, number, &bytes),
                    None => return lexer.wrong_at(offset, "must be base64"),
                }
            }
            Kind::Fixed64s | Kind::Doubles | Kind::Uint64s => self.packed(lexer, entry)?,
            Kind::One(message) => {
                let start = open(&mut self.out, number);
                self.message(lexer, message)?;
                close(&mut self.out, start);
            }
            Kind::Many(message) => self.many(lexer, entry, message)?,
            Kind::Texts => lexer.array(|lexer, item| {
                let text = lexer.string();
                let text = text.map_err(|wrong| wrong.within_item(entry.name, item))?;
                put_bytes(&mut self.out, number, text.as_bytes());
                Ok(())
            })?,
            _ => self.number(lexer, entry, explicit)?,
        }
        Ok(())
    }

    /// The value of a field that holds a number or a truth.
    fn number(&mut self, lexer: &mut Lexer<'_>, entry: &'static Entry, explicit: bool) -> Read<()> {
        let number = entry.number;
        match entry.kind {
            Kind::Bool => {
                let truth = lexer.truth()?;
                put_number(&mut self.out, number, u64::from(truth));
            }
            Kind::Double | Kind::SetDouble => {
                let bits = bits_of_double(lexer)?;
                put_fixed64(&mut self.out, number, bits);
            }
            Kind::SetSfixed64 => {
                let value: i64 = integer(lexer, i64::MIN, i64::MAX)?;
                put_fixed64(&mut self.out, number, value.cast_unsigned());
            }
            Kind::Sint32 => {
                let value: i32 = integer(lexer, i32::MIN, i32::MAX)?;
                if explicit || value != 0 {
                    let zigzag = (value << 1) ^ (value >> 31);
                    put_number(&mut self.out, number, u64::from(zigzag.cast_unsigned()));
                }
            }
            Kind::Int64 => {
                let value: i64 = integer(lexer, i64::MIN, i64::MAX)?;
                put_number(&mut self.out, number, value.cast_unsigned());
            }
            Kind::Fixed64 => {
                let value: u64 = integer(lexer, u64::MIN, u64::MAX)?;
                if explicit || value != 0 {
                    put_fixed64(&mut self.out, number, value);
                }
            }
            Kind::Uint32 => {
                let value: u32 = integer(lexer, u32::MIN, u32::MAX)?;
                if explicit || value != 0 {
                    put_number(&mut self.out, number, u64::from(value));
                }
            }
            Kind::Fixed32 => {
                let value: u32 = integer(lexer, u32::MIN, u32::MAX)?;
                if explicit || value != 0 {
                    put_fixed32(&mut self.out, number, value);
                }
            }
            Kind::Enum | Kind::Int32 => {
                if matches!(entry.kind, Kind::Enum) && lexer.peek() == Some(b'"') {
                    return lexer
                        .wrong("enum values are integers in OTLP/JSON, names are not allowed");
                }
                let value: i32 = integer(lexer, i32::MIN, i32::MAX)?;
                if explicit || value != 0 {
                    put_number(&mut self.out, number, i64::from(value).cast_unsigned());
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn many(
        &mut self,
        lexer: &mut Lexer<'_>,
        entry: &'static Entry,
        message: &'static Message,
    ) -> Read<()> {
        if lexer.peek() != Some(b'[') {
            return lexer
                .wrong("must be an array")
                .map_err(|wrong: Box<super::lexer::Wrong>| wrong.within(entry.name));
        }
        lexer.array(|lexer, item| {
            let mut step = || {
                let start = open(&mut self.out, entry.number);
                // A null among values is an empty value, so that the others keep their places.
                if !(message.oneof && lexer.null()?) {
                    self.message(lexer, message)?;
                }
                close(&mut self.out, start);
                Ok(())
            };
            step().map_err(|wrong: Box<super::lexer::Wrong>| wrong.within_item(entry.name, item))
        })
    }

    fn id(&mut self, lexer: &mut Lexer<'_>, number: u32, len: usize, explicit: bool) -> Read<()> {
        let offset = lexer.offset();
        let text = lexer.string()?;
        match hex(&text) {
            Some(id) => {
                if explicit || !id.is_empty() {
                    put_bytes(&mut self.out, number, &id);
                }
            }
            None if base64(&text).is_some_and(|id| id.len() == len) => {
                let what = format!(
                    "ids are {} hex digits in OTLP/JSON, not base64 as in plain protobuf JSON",
                    len * 2
                );
                return lexer.wrong_at(offset, what);
            }
            None => {
                // Passed on as it is for `read` to show, but never of a length that would pass for an id.
                let bytes = text.as_bytes();
                let bytes = match bytes {
                    [head @ .., _] if bytes.len() == len => head,
                    _ => bytes,
                };
                put_bytes(&mut self.out, number, bytes);
            }
        }
        Ok(())
    }

    /// A list of numbers, packed into one field.
    fn packed(&mut self, lexer: &mut Lexer<'_>, entry: &'static Entry) -> Read<()> {
        let start = open(&mut self.out, entry.number);
        lexer.array(|lexer, item| {
            let mut one = || {
                match entry.kind {
                    Kind::Uint64s => {
                        let value: u64 = integer(lexer, u64::MIN, u64::MAX)?;
                        put_varint(&mut self.out, value);
                    }
                    Kind::Doubles => {
                        let bits = bits_of_double(lexer)?;
                        self.out.extend_from_slice(&bits.to_le_bytes());
                    }
                    _ => {
                        let value: u64 = integer(lexer, u64::MIN, u64::MAX)?;
                        self.out.extend_from_slice(&value.to_le_bytes());
                    }
                }
                Ok(())
            };
            one().map_err(|wrong: Box<super::lexer::Wrong>| wrong.within_item(entry.name, item))
        })?;
        close(&mut self.out, start);
        Ok(())
    }
}

fn bits_of_double(lexer: &mut Lexer<'_>) -> Read<u64> {
    let offset = lexer.offset();
    let value = match lexer.scalar()? {
        Scalar::Number(text) => double(text),
        Scalar::Text(text) => double(&text),
    };
    match value {
        Some(value) => Ok(value.to_bits()),
        None => lexer.wrong_at(offset, "must be a number that fits a double"),
    }
}

/// A whole number, as number or text.
fn integer<T: TryFrom<i128> + Display>(lexer: &mut Lexer<'_>, min: T, max: T) -> Read<T> {
    let offset = lexer.offset();
    let value = match lexer.scalar()? {
        Scalar::Number(text) => whole(text),
        Scalar::Text(text) => whole(&text),
    };
    match value.and_then(|value| T::try_from(value).ok()) {
        Some(value) => Ok(value),
        None => lexer.wrong_at(
            offset,
            format!("must be a whole number from {min} to {max}"),
        ),
    }
}

/// `start_time_unix_nano` as `startTimeUnixNano`.
fn camel(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut parts = name.split('_');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let mut chars = part.chars();
        out.extend(chars.next().map(|first| first.to_ascii_uppercase()));
        out.push_str(chars.as_str());
    }
    out
}
