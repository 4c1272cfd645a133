//! Rewrites a body by plan: one walk notes what to copy and which lengths change, then all is written at once.
//!
//! Invariant: bytes outside of what is left out or appended come out in their order and unchanged, save the
//! lengths of the messages around a change.

use std::ops::Range;

use bytes::Bytes;

use super::fields::{request, resource_spans, scope_spans};
use super::wire::{Fields, Wire, WireError, bytes_field_len, put_header};

/// What becomes of the messages of a body. Ranges are those of the whole field, tag included.
pub(super) trait Choice<'p> {
    /// Whether a ResourceSpans or ScopeSpans is looked into; else it is left out.
    fn envelope(&mut self, field: &Range<usize>) -> bool;
    /// What becomes of the next span.
    fn span(&mut self, field: &Range<usize>) -> Fate<'p>;
    /// Nothing changes from here on.
    fn done(&self) -> bool;
    /// Keeps what holds no span: unknown fields of the request, envelopes that came empty.
    fn keeps_empty(&self) -> bool;
}

/// What becomes of a span.
pub(super) enum Fate<'p> {
    Keep,
    Drop,
    Append(&'p Bytes),
}

enum Op<'p> {
    Copy(Range<usize>),
    Header(u32, usize),
    Append(&'p Bytes),
}

/// Bytes to write, as runs of a body and additions.
pub(super) struct Ops<'a, 'p> {
    body: &'a [u8],
    ops: Vec<Op<'p>>,
}

impl<'a, 'p> Ops<'a, 'p> {
    pub(super) fn new(body: &'a [u8]) -> Self {
        Self {
            body,
            ops: Vec::new(),
        }
    }

    pub(super) fn copy(&mut self, range: Range<usize>) {
        match self.ops.last_mut() {
            Some(Op::Copy(last)) if last.end == range.start => last.end = range.end,
            _ if range.is_empty() => {}
            _ => self.ops.push(Op::Copy(range)),
        }
    }

    /// Adds the tag and length of a message; returns its place for [`Ops::set_len`].
    pub(super) fn header(&mut self, number: u32, len: usize) -> usize {
        self.ops.push(Op::Header(number, len));
        self.ops.len() - 1
    }

    pub(super) fn set_len(&mut self, header: usize, content: usize) {
        if let Some(Op::Header(_, len)) = self.ops.get_mut(header) {
            *len = content;
        }
    }

    pub(super) fn append(&mut self, bytes: &'p Bytes) {
        self.ops.push(Op::Append(bytes));
    }

    /// Takes back all from this header on.
    fn take_back(&mut self, header: usize) {
        self.ops.truncate(header);
    }

    /// Writes all that was noted, `len` bytes, and forgets it.
    pub(super) fn write(&mut self, len: usize) -> Bytes {
        let mut out = Vec::with_capacity(len);
        for op in self.ops.drain(..) {
            match op {
                Op::Copy(range) => out.extend_from_slice(self.body.get(range).unwrap_or_default()),
                Op::Header(number, len) => put_header(&mut out, number, len),
                Op::Append(bytes) => out.extend_from_slice(bytes),
            }
        }
        debug_assert_eq!(out.len(), len, "planned and written");
        Bytes::from(out)
    }
}

/// What to write.
pub(super) struct Plan<'a, 'p> {
    ops: Ops<'a, 'p>,
    len: usize,
}

/// A message that is being planned.
struct Level {
    header: usize,
    len: usize,
}

/// What was met in an envelope.
#[derive(Clone, Copy, Default)]
struct Met {
    /// Spans, or envelopes within.
    any: bool,
    kept: bool,
    changed: bool,
}

impl<'a, 'p> Plan<'a, 'p> {
    /// Plans a body. Fails only on a body that [`super::read`] refuses.
    pub(super) fn new(body: &'a [u8], choice: &mut impl Choice<'p>) -> Result<Self, WireError> {
        let mut plan = Self {
            ops: Ops::new(body),
            len: 0,
        };
        let mut fields = Fields::new(body);
        while !choice.done() {
            let start = fields.position();
            let Some(field) = fields.next() else { break };
            let field = field?;
            let range = start..fields.position();
            match (field.number, field.wire) {
                (request::RESOURCE_SPANS, Wire::Bytes(content)) if choice.envelope(&range) => {
                    plan.resource(range, content, choice)?;
                }
                (request::RESOURCE_SPANS, Wire::Bytes(_)) => {}
                _ if choice.keeps_empty() => plan.copy(range),
                _ => {}
            }
        }
        plan.copy(fields.position()..body.len());
        Ok(plan)
    }

    /// Bytes that will be written.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Writes the new body.
    pub(super) fn write(mut self) -> Bytes {
        self.ops.write(self.len)
    }

    fn resource(
        &mut self,
        range: Range<usize>,
        content: &'a [u8],
        choice: &mut impl Choice<'p>,
    ) -> Result<(), WireError> {
        let level = self.open(request::RESOURCE_SPANS);
        let base = range.end - content.len();
        let mut met = Met::default();
        let mut fields = Fields::new(content);
        while !choice.done() {
            let start = fields.position();
            let Some(field) = fields.next() else { break };
            let field = field?;
            let inner = base + start..base + fields.position();
            match (field.number, field.wire) {
                (resource_spans::SCOPE_SPANS, Wire::Bytes(content)) => {
                    met.any = true;
                    let within = if choice.envelope(&inner) {
                        self.scope(inner, content, choice)?
                    } else {
                        Met {
                            changed: true,
                            ..Met::default()
                        }
                    };
                    met.kept |= within.kept;
                    met.changed |= within.changed;
                }
                _ => self.copy(inner),
            }
        }
        let rest = base + fields.position()..range.end;
        self.close(level, range, rest, met, choice);
        Ok(())
    }

    fn scope(
        &mut self,
        range: Range<usize>,
        content: &'a [u8],
        choice: &mut impl Choice<'p>,
    ) -> Result<Met, WireError> {
        let level = self.open(resource_spans::SCOPE_SPANS);
        let base = range.end - content.len();
        let mut met = Met::default();
        let mut fields = Fields::new(content);
        while !choice.done() {
            let start = fields.position();
            let Some(field) = fields.next() else { break };
            let field = field?;
            let inner = base + start..base + fields.position();
            let (scope_spans::SPANS, Wire::Bytes(span)) = (field.number, field.wire) else {
                self.copy(inner);
                continue;
            };
            met.any = true;
            match choice.span(&inner) {
                Fate::Keep => {
                    met.kept = true;
                    self.copy(inner);
                }
                Fate::Drop => met.changed = true,
                Fate::Append(patch) => {
                    met.kept = true;
                    met.changed = true;
                    self.patched(inner.end - span.len()..inner.end, patch);
                }
            }
        }
        let rest = base + fields.position()..range.end;
        Ok(self.close(level, range, rest, met, choice))
    }

    fn patched(&mut self, span: Range<usize>, patch: &'p Bytes) {
        let content = span.len() + patch.len();
        self.ops.header(scope_spans::SPANS, content);
        self.ops.copy(span);
        self.ops.append(patch);
        self.len += bytes_field_len(content);
    }

    fn copy(&mut self, range: Range<usize>) {
        self.len += range.len();
        self.ops.copy(range);
    }

    fn open(&mut self, number: u32) -> Level {
        Level {
            len: self.len,
            header: self.ops.header(number, 0),
        }
    }

    /// Ends an envelope: as it was if nothing in it changed, left out if nothing is left, else with a new length.
    fn close(
        &mut self,
        level: Level,
        range: Range<usize>,
        rest: Range<usize>,
        met: Met,
        choice: &impl Choice<'p>,
    ) -> Met {
        // `done` may have come before anything was met: what is left is kept as it is.
        let kept = met.kept || !rest.is_empty() || (!met.any && choice.keeps_empty());
        if !kept || !met.changed {
            self.ops.take_back(level.header);
            self.len = level.len;
            if kept {
                self.copy(range);
            }
            return Met {
                kept,
                changed: !kept,
                ..met
            };
        }
        self.copy(rest);
        let content = self.len - level.len;
        self.ops.set_len(level.header, content);
        self.len = level.len + bytes_field_len(content);
        Met { kept, ..met }
    }
}
