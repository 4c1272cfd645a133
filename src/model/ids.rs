//! Identifiers as they stand on the wire. Invariant: a held id is never all zero.

use std::fmt;
use std::sync::Arc;

/// A short shared text: tool, agent, service or conversation name. Cheap to clone.
pub type Name = Arc<str>;

/// The 16 bytes that name a trace; never all zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TraceId([u8; 16]);

/// The 8 bytes that name a span within its trace; never all zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpanId([u8; 8]);

impl TraceId {
    /// Reads an id; `None` when the length is not 16 or every byte is zero (OTLP: invalid).
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        let id: [u8; 16] = bytes.try_into().ok()?;
        (id != [0; 16]).then_some(Self(id))
    }

    /// The bytes as sent.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl SpanId {
    /// Reads an id; `None` when the length is not 8 or every byte is zero (OTLP: invalid).
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        let id: [u8; 8] = bytes.try_into().ok()?;
        (id != [0; 8]).then_some(Self(id))
    }

    /// The bytes as sent.
    pub fn as_bytes(&self) -> &[u8; 8] {
        &self.0
    }
}

fn write_hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl fmt::Debug for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl fmt::Debug for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_wrong_lengths_and_zero() {
        assert_eq!(TraceId::from_slice(&[1; 15]), None);
        assert_eq!(TraceId::from_slice(&[0; 16]), None);
        assert_eq!(SpanId::from_slice(&[0; 8]), None);
        assert_eq!(SpanId::from_slice(&[]), None);
    }

    #[test]
    fn prints_lower_case_hex() {
        let id = SpanId::from_slice(&[0, 1, 0xab, 3, 4, 5, 6, 0xff]).unwrap();
        assert_eq!(id.to_string(), "0001ab03040506ff");
    }
}
