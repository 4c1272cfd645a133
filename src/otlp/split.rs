//! Cuts a release that is too large for one request.

use std::ops::Range;

use bytes::Bytes;
use smallvec::SmallVec;

use super::fields::{request, resource_spans, scope_spans};
use super::pack::{Chosen, pack};
use super::plan::{Ops, Plan};
use super::wire::{Field, Fields, Wire, WireError, bytes_field_len};
use crate::model::{Release, Selection};

/// A request, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// An ExportTraceServiceRequest in protobuf.
    pub body: Bytes,
    /// Spans in it.
    pub spans: u32,
    /// It is one span and larger than asked for.
    pub oversize: bool,
}

/// [`pack`] as requests of at most `max` bytes, cut along spans. Each repeats the envelopes of its spans, with their schema_url and
/// unknown fields; unknown fields of the request go with the first. A span that is too large by itself comes
/// alone and is flagged. What fits comes as [`pack`] makes it; when it is cut, envelopes without spans are left out.
pub fn pack_within(release: &Release, max: usize) -> Vec<Packed> {
    let whole = |body: Bytes| {
        vec![Packed {
            oversize: body.len() > max && release.count == 1,
            body,
            spans: release.count,
        }]
    };
    if release.spans == Selection::All && release.patches.is_empty() {
        if release.body.len() <= max {
            return whole(release.body.clone());
        }
    } else {
        let mut chosen = Chosen::new(&release.spans, &release.patches);
        match Plan::new(&release.body, &mut chosen) {
            Ok(plan) if plan.len() <= max => return whole(plan.write()),
            Ok(_) => {}
            Err(_) => return whole(pack(release)),
        }
    }
    let mut splitter = Splitter {
        max,
        chosen: Chosen::new(&release.spans, &release.patches),
        ops: Ops::new(&release.body),
        done: Vec::new(),
        closed: 0,
        resource: None,
        scope: None,
        spans: 0,
    };
    match splitter.body(&release.body) {
        Ok(()) => splitter.done,
        Err(_) => whole(pack(release)),
    }
}

/// An envelope that is open in the request being made.
struct Level {
    header: usize,
    /// Bytes of its content so far, without an envelope open in it.
    content: usize,
}

/// An envelope of the source.
struct Envelope<'a> {
    /// Its fields that are no messages of the next level, as ranges of the body.
    head: SmallVec<[Range<usize>; 4]>,
    items: Fields<'a>,
    base: usize,
}

impl<'a> Envelope<'a> {
    /// Both kinds of envelopes hold the next level in the same field number.
    fn open(field: &Range<usize>, content: &'a [u8]) -> Result<Self, WireError> {
        let base = field.end - content.len();
        let mut head = SmallVec::<[Range<usize>; 4]>::new();
        let mut fields = Fields::new(content);
        loop {
            let start = base + fields.position();
            let Some(field) = fields.next() else { break };
            if !is_item(&field?) {
                head.push(start..base + fields.position());
            }
        }
        Ok(Self {
            head,
            items: Fields::new(content),
            base,
        })
    }

    fn head_len(&self) -> usize {
        self.head.iter().map(Range::len).sum()
    }

    /// The next message within, and the range of its field in the body.
    fn next(&mut self) -> Option<(Range<usize>, &'a [u8])> {
        loop {
            let start = self.base + self.items.position();
            let field = self.items.next()?.ok()?;
            if is_item(&field)
                && let Wire::Bytes(content) = field.wire
            {
                return Some((start..self.base + self.items.position(), content));
            }
        }
    }
}

fn is_item(field: &Field<'_>) -> bool {
    const { assert!(resource_spans::SCOPE_SPANS == scope_spans::SPANS) };
    field.number == scope_spans::SPANS && matches!(field.wire, Wire::Bytes(_))
}

struct Splitter<'a, 'p> {
    max: usize,
    chosen: Chosen<'p>,
    ops: Ops<'a, 'p>,
    done: Vec<Packed>,
    /// Bytes of the request being made, without open envelopes.
    closed: usize,
    resource: Option<Level>,
    scope: Option<Level>,
    spans: u32,
}

impl<'a, 'p> Splitter<'a, 'p> {
    fn body(&mut self, body: &'a [u8]) -> Result<(), WireError> {
        let mut fields = Fields::new(body);
        loop {
            let start = fields.position();
            let Some(field) = fields.next() else { break };
            let field = field?;
            let range = start..fields.position();
            match (field.number, field.wire) {
                (request::RESOURCE_SPANS, Wire::Bytes(content)) => {
                    self.resource(&range, content)?
                }
                _ if self.chosen.first() => self.loose(range),
                _ => {}
            }
        }
        self.finish(false);
        Ok(())
    }

    /// A field of the request that we do not know.
    fn loose(&mut self, range: Range<usize>) {
        if self.closed + range.len() > self.max {
            self.finish(false);
        }
        self.closed += range.len();
        self.ops.copy(range);
    }

    fn resource(&mut self, range: &Range<usize>, content: &'a [u8]) -> Result<(), WireError> {
        let mut resource = Envelope::open(range, content)?;
        while let Some((range, content)) = resource.next() {
            let mut scope = Envelope::open(&range, content)?;
            while let Some((field, span)) = scope.next() {
                if let Some(patch) = self.chosen.next() {
                    self.span(&resource, &scope, field, span.len(), patch);
                }
            }
            self.close_scope();
        }
        self.close_resource();
        Ok(())
    }

    fn span(
        &mut self,
        resource: &Envelope<'a>,
        scope: &Envelope<'a>,
        field: Range<usize>,
        len: usize,
        patch: Option<&'p Bytes>,
    ) {
        let content = len + patch.map_or(0, Bytes::len);
        let field_len = if patch.is_none() {
            field.len()
        } else {
            bytes_field_len(content)
        };
        if self.spans > 0 && self.len_with(resource, scope, field_len) > self.max {
            self.finish(false);
        }
        let oversize = self.len_with(resource, scope, field_len) > self.max;
        self.open(resource, scope);
        match patch {
            None => self.ops.copy(field),
            Some(patch) => {
                self.ops.header(scope_spans::SPANS, content);
                self.ops.copy(field.end - len..field.end);
                self.ops.append(patch);
            }
        }
        if let Some(level) = &mut self.scope {
            level.content += field_len;
        }
        self.spans += 1;
        if oversize {
            self.finish(true);
        }
    }

    /// Length of the request if a span of so many bytes were added.
    fn len_with(&self, resource: &Envelope<'a>, scope: &Envelope<'a>, span: usize) -> usize {
        let open = |level: &Option<Level>, envelope: &Envelope<'a>| {
            level
                .as_ref()
                .map_or_else(|| envelope.head_len(), |level| level.content)
        };
        let scope = bytes_field_len(open(&self.scope, scope) + span);
        self.closed + bytes_field_len(open(&self.resource, resource) + scope)
    }

    fn open(&mut self, resource: &Envelope<'a>, scope: &Envelope<'a>) {
        let ops = &mut self.ops;
        let mut open = |number, envelope: &Envelope<'a>| {
            let header = ops.header(number, 0);
            envelope
                .head
                .iter()
                .for_each(|range| ops.copy(range.clone()));
            Level {
                header,
                content: envelope.head_len(),
            }
        };
        self.resource
            .get_or_insert_with(|| open(request::RESOURCE_SPANS, resource));
        self.scope
            .get_or_insert_with(|| open(resource_spans::SCOPE_SPANS, scope));
    }

    fn close_scope(&mut self) {
        if let Some(scope) = self.scope.take() {
            self.ops.set_len(scope.header, scope.content);
            if let Some(resource) = &mut self.resource {
                resource.content += bytes_field_len(scope.content);
            }
        }
    }

    fn close_resource(&mut self) {
        self.close_scope();
        if let Some(resource) = self.resource.take() {
            self.ops.set_len(resource.header, resource.content);
            self.closed += bytes_field_len(resource.content);
        }
    }

    /// Ends the request being made, if there is anything in it.
    fn finish(&mut self, oversize: bool) {
        self.close_resource();
        if self.closed > 0 {
            self.done.push(Packed {
                body: self.ops.write(self.closed),
                spans: self.spans,
                oversize,
            });
        }
        self.closed = 0;
        self.spans = 0;
    }
}
