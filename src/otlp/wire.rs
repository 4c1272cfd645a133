//! The protobuf wire format: fields out of a message, fields into a buffer.
//!
//! Invariant: no input panics, nothing is read beyond its message, groups nest at most [`GROUPS_MAX`] deep.

/// Deepest nesting of groups that is skipped; OTLP itself has none.
const GROUPS_MAX: u32 = 64;

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum WireError {
    #[error("a number is cut off")]
    CutNumber,
    #[error("a number takes more than 64 bits")]
    LongNumber,
    #[error("the length of a field runs beyond its message")]
    Length,
    #[error("a field number is 0 or too large")]
    FieldNumber,
    #[error("a field has a wire type that does not exist")]
    WireType,
    #[error("a known field has the wrong wire type")]
    Mismatch,
    #[error("a group is not closed, closed twice or nested too deep")]
    Group,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
    /// A group, skipped: deprecated, always unknown here.
    Group,
    Fixed32(u32),
}

/// One field of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field<'a> {
    pub(super) number: u32,
    pub(super) wire: Wire<'a>,
}

/// The fields of a message, one after another; ends after the first error.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
    len: usize,
}

impl<'a> Fields<'a> {
    pub(super) const EMPTY: Self = Self { rest: &[], len: 0 };

    pub(super) fn new(message: &'a [u8]) -> Self {
        Self {
            rest: message,
            len: message.len(),
        }
    }

    /// Offset of the next field in the message.
    pub(super) fn position(&self) -> usize {
        self.len - self.rest.len()
    }

    /// What has not been read yet.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next length-delimited field of this number; errors end the iteration. For checked messages.
    pub(super) fn next_bytes(&mut self, number: u32) -> Option<&'a [u8]> {
        loop {
            let field = self.next()?.ok()?;
            if let Wire::Bytes(bytes) = field.wire
                && field.number == number
            {
                return Some(bytes);
            }
        }
    }

    #[inline(always)]
    fn read(&mut self) -> Result<Field<'a>, WireError> {
        let (number, wire_type) = key(&mut self.rest)?;
        let wire = self.value(number, wire_type)?;
        Ok(Field { number, wire })
    }

    #[inline(always)]
    fn value(&mut self, number: u32, wire_type: u32) -> Result<Wire<'a>, WireError> {
        Ok(match wire_type {
            0 => Wire::Varint(varint(&mut self.rest)?),
            1 => Wire::Fixed64(u64::from_le_bytes(*take(&mut self.rest)?)),
            2 => {
                let len = varint(&mut self.rest)?;
                let len = usize::try_from(len).map_err(|_| WireError::Length)?;
                let (bytes, rest) = self.rest.split_at_checked(len).ok_or(WireError::Length)?;
                self.rest = rest;
                Wire::Bytes(bytes)
            }
            3 => {
                skip_group(&mut self.rest, number)?;
                Wire::Group
            }
            4 => return Err(WireError::Group),
            5 => Wire::Fixed32(u32::from_le_bytes(*take(&mut self.rest)?)),
            _ => return Err(WireError::WireType),
        })
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, WireError>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.read();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

#[inline(always)]
fn key(rest: &mut &[u8]) -> Result<(u32, u32), WireError> {
    let key = u32::try_from(varint(rest)?).map_err(|_| WireError::FieldNumber)?;
    let number = key >> 3;
    if number == 0 {
        return Err(WireError::FieldNumber);
    }
    Ok((number, key & 7))
}

#[inline(always)]
fn take<'a, const N: usize>(rest: &mut &'a [u8]) -> Result<&'a [u8; N], WireError> {
    let (bytes, tail) = rest.split_first_chunk().ok_or(WireError::Length)?;
    *rest = tail;
    Ok(bytes)
}

#[inline(always)]
fn varint(rest: &mut &[u8]) -> Result<u64, WireError> {
    match **rest {
        [low, ref tail @ ..] if low < 0x80 => {
            *rest = tail;
            Ok(u64::from(low))
        }
        [low, high, ref tail @ ..] if high < 0x80 => {
            *rest = tail;
            Ok(u64::from(low & 0x7f) | u64::from(high) << 7)
        }
        _ => long_varint(rest),
    }
}

#[inline(never)]
fn long_varint(rest: &mut &[u8]) -> Result<u64, WireError> {
    let mut value = 0u64;
    for place in 0..10 {
        let [byte, tail @ ..] = *rest else {
            return Err(WireError::CutNumber);
        };
        *rest = tail;
        // The tenth byte holds the one bit that is left of 64.
        if place == 9 && *byte > 1 {
            return Err(WireError::LongNumber);
        }
        value |= u64::from(byte & 0x7f) << (7 * place);
        if *byte < 0x80 {
            return Ok(value);
        }
    }
    Err(WireError::LongNumber)
}

/// Skips a group whose start has been read. A stack of numbers, so that depth costs no recursion.
#[cold]
fn skip_group(rest: &mut &[u8], number: u32) -> Result<(), WireError> {
    let mut open = smallvec::SmallVec::<[u32; 4]>::from_slice(&[number]);
    while let Some(&innermost) = open.last() {
        let (number, wire_type) = key(rest)?;
        match wire_type {
            0 => drop(varint(rest)?),
            1 => drop(take::<8>(rest)?),
            2 => {
                let len = usize::try_from(varint(rest)?).map_err(|_| WireError::Length)?;
                *rest = rest.get(len..).ok_or(WireError::Length)?;
            }
            3 if open.len() < GROUPS_MAX as usize => open.push(number),
            4 if number == innermost => drop(open.pop()),
            5 => drop(take::<4>(rest)?),
            3 | 4 => return Err(WireError::Group),
            _ => return Err(WireError::WireType),
        }
    }
    Ok(())
}

/// Bytes that a varint of this value takes.
pub(super) fn varint_len(value: u64) -> usize {
    let bits = 64 - (value | 1).leading_zeros() as usize;
    bits.div_ceil(7)
}

/// Bytes that a length-delimited field takes whose number is below 16.
pub(super) fn bytes_field_len(len: usize) -> usize {
    1 + varint_len(len as u64) + len
}

/// Appends a varint.
pub(super) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(low_bits(value) | 0x80);
        value >>= 7;
    }
    out.push(low_bits(value));
}

fn low_bits(value: u64) -> u8 {
    (value & 0x7f).to_le_bytes()[0]
}

/// Appends the tag and length of a length-delimited field.
pub(super) fn put_header(out: &mut Vec<u8>, number: u32, len: usize) {
    put_varint(out, u64::from(number << 3 | 2));
    put_varint(out, len as u64);
}

/// Appends a length-delimited field.
pub(super) fn put_bytes(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    put_header(out, number, bytes.len());
    out.extend_from_slice(bytes);
}

/// Appends a varint field.
pub(super) fn put_number(out: &mut Vec<u8>, number: u32, value: u64) {
    put_varint(out, u64::from(number << 3));
    put_varint(out, value);
}

/// Appends a field of eight bytes.
pub(super) fn put_fixed64(out: &mut Vec<u8>, number: u32, value: u64) {
    put_varint(out, u64::from(number << 3 | 1));
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends a field of four bytes.
pub(super) fn put_fixed32(out: &mut Vec<u8>, number: u32, value: u32) {
    put_varint(out, u64::from(number << 3 | 5));
    out.extend_from_slice(&value.to_le_bytes());
}

/// A message field whose length is not known yet.
#[must_use]
pub(super) struct Open {
    content: usize,
}

/// Starts a message field; what is appended until [`close`] is its content.
pub(super) fn open(out: &mut Vec<u8>, number: u32) -> Open {
    put_varint(out, u64::from(number << 3 | 2));
    // Most messages are shorter than 128 bytes: one byte of length, nothing to move at the end.
    out.push(0);
    Open { content: out.len() }
}

/// Ends a message field and writes its length.
pub(super) fn close(out: &mut Vec<u8>, message: Open) {
    let end = out.len();
    let len = end - message.content;
    let width = varint_len(len as u64);
    if width > 1 {
        out.resize(end + width - 1, 0);
        out.copy_within(message.content..end, message.content + width - 1);
    }
    let mut rest = len as u64;
    for place in 0..width {
        let more = if place + 1 < width { 0x80 } else { 0 };
        if let Some(byte) = out.get_mut(message.content - 1 + place) {
            *byte = low_bits(rest) | more;
        }
        rest >>= 7;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn one(bytes: &[u8]) -> Result<Field<'_>, WireError> {
        Fields::new(bytes).next().unwrap()
    }

    #[test]
    fn numbers_take_up_to_ten_bytes() {
        let field = one(&[8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1]);
        assert_eq!(field.unwrap().wire, Wire::Varint(u64::MAX));
        // Longer than need be, as some writers do to leave room.
        let padded = one(&[0x88, 0x80, 0, 0x80, 0x80, 0]);
        assert_eq!(padded.unwrap().wire, Wire::Varint(0));
        for (bytes, error) in [
            (
                &[8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2][..],
                WireError::LongNumber,
            ),
            (
                &[8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 129, 0],
                WireError::LongNumber,
            ),
            (&[8, 255], WireError::CutNumber),
            (&[8], WireError::CutNumber),
        ] {
            assert_eq!(one(bytes), Err(error));
        }
    }

    #[test]
    fn what_is_no_field_ends_the_message() {
        for (bytes, error) in [
            (&[0, 1][..], WireError::FieldNumber),
            (&[0x80, 0x80, 0x80, 0x80, 0x10, 0], WireError::FieldNumber),
            (&[0x0e, 0], WireError::WireType),
            (&[0x0f, 0], WireError::WireType),
            (&[0x0a, 2, 0], WireError::Length),
            (
                &[0x0a, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 0],
                WireError::Length,
            ),
            (&[0x09, 0, 0, 0, 0, 0, 0, 0], WireError::Length),
            (&[0x0d, 0, 0, 0], WireError::Length),
            (&[0x0c], WireError::Group),
            (&[0x0b], WireError::CutNumber),
            (&[0x0b, 0x14], WireError::Group),
        ] {
            let mut fields = Fields::new(bytes);
            assert_eq!(fields.next(), Some(Err(error)));
            assert_eq!(fields.next(), None);
        }
    }

    #[test]
    fn groups_nest_to_a_limit() {
        let nested = |depth| [vec![0x0b; depth], vec![0x0c; depth]].concat();
        assert_eq!(one(&nested(64)).unwrap().wire, Wire::Group);
        assert_eq!(one(&nested(65)), Err(WireError::Group));
        assert_eq!(one(&vec![0x0b; 1_000_000]), Err(WireError::Group));
    }

    proptest! {
        #[test]
        fn what_is_put_is_read(number: u64, len in 0..20_000usize) {
            let mut out = Vec::new();
            put_number(&mut out, 1, number);
            prop_assert_eq!(out.len(), 1 + varint_len(number));
            prop_assert_eq!(one(&out).unwrap().wire, Wire::Varint(number));
            let content = vec![7; len];
            let mut out = vec![1, 2, 3];
            let message = open(&mut out, 2);
            out.extend_from_slice(&content);
            close(&mut out, message);
            let mut expected = vec![1, 2, 3];
            put_bytes(&mut expected, 2, &content);
            prop_assert_eq!(&out, &expected);
            prop_assert_eq!(out.len(), 3 + bytes_field_len(len));
        }
    }
}
