//! Makes of a release the bytes that leave.

use std::ops::Range;

use bytes::Bytes;
use smallvec::smallvec;

use super::fields::{request, resource_spans, scope_spans};
use super::plan::{Choice, Fate, Plan};
use super::wire::Fields;
use crate::model::{Patch, Release, Selection};

/// The bytes of a release: the very buffer of its body when all spans leave unpatched. Else the chosen spans in
/// their order, each followed by its patch, in envelopes that keep schema_url and unknown fields. What belongs to
/// no span (unknown fields of the request, empty envelopes) goes with the first span.
pub fn pack(release: &Release) -> Bytes {
    if release.spans == Selection::All && release.patches.is_empty() {
        return release.body.clone();
    }
    let mut chosen = Chosen::new(&release.spans, &release.patches);
    match Plan::new(&release.body, &mut chosen) {
        Ok(plan) => plan.write(),
        // Bodies of releases were read before; one that was not leaves as it came rather than not at all.
        Err(_) => release.body.clone(),
    }
}

/// The spans at these positions, which ascend, as a body of their own in the same envelopes; `None` when the body
/// cannot be taken apart. O(spans of the body).
pub fn apart(body: &Bytes, spans: &[u32]) -> Option<Bytes> {
    let ranges = spans.iter().map(|at| *at..at.saturating_add(1));
    let spans = Selection::Ranges(ranges.collect());
    let plan = Plan::new(body, &mut Chosen::new(&spans, &[])).ok()?;
    Some(plan.write())
}

/// How many spans a body holds, malformed ones included; those after a broken envelope are not counted.
pub fn count_spans(body: &[u8]) -> u32 {
    let mut count = 0u32;
    let mut resources = Fields::new(body);
    while let Some(resource) = resources.next_bytes(request::RESOURCE_SPANS) {
        let mut scopes = Fields::new(resource);
        while let Some(scope) = scopes.next_bytes(resource_spans::SCOPE_SPANS) {
            let mut spans = Fields::new(scope);
            while spans.next_bytes(scope_spans::SPANS).is_some() {
                count = count.saturating_add(1);
            }
        }
    }
    count
}

/// Cuts a request in two of about as many spans; `None` when it holds fewer than two.
pub fn halve(body: &Bytes) -> Option<(Bytes, Bytes)> {
    let count = count_spans(body);
    let middle = count / 2;
    if middle == 0 {
        return None;
    }
    let part = |range: Range<u32>| {
        let spans = Selection::Ranges(smallvec![range]);
        let plan = Plan::new(body, &mut Chosen::new(&spans, &[])).ok()?;
        Some(plan.write())
    };
    Some((part(0..middle)?, part(middle..count)?))
}

/// The spans of a selection with their patches, asked for in ascending order.
pub(super) struct Chosen<'p> {
    next: u32,
    all: bool,
    ranges: &'p [Range<u32>],
    patches: &'p [Patch],
    first: bool,
}

impl<'p> Chosen<'p> {
    pub(super) fn new(selection: &'p Selection, patches: &'p [Patch]) -> Self {
        let (all, ranges) = match selection {
            Selection::All => (true, [].as_slice()),
            Selection::Ranges(ranges) => (false, ranges.as_slice()),
        };
        Self {
            next: 0,
            all,
            ranges,
            patches,
            first: selection.contains(0),
        }
    }

    /// Whether the first span of the body is chosen.
    pub(super) fn first(&self) -> bool {
        self.first
    }

    /// Decides about the next span: `None` when it is not chosen.
    pub(super) fn next(&mut self) -> Option<Option<&'p Bytes>> {
        let index = self.next;
        self.next = index.saturating_add(1);
        while let [range, rest @ ..] = self.ranges
            && range.end <= index
        {
            self.ranges = rest;
        }
        while let [patch, rest @ ..] = self.patches
            && patch.span < index
        {
            self.patches = rest;
        }
        if !self.all
            && !self
                .ranges
                .first()
                .is_some_and(|range| range.contains(&index))
        {
            return None;
        }
        let patch = self.patches.first().filter(|patch| patch.span == index);
        if patch.is_some() {
            self.patches = self.patches.get(1..).unwrap_or_default();
        }
        Some(
            patch
                .map(|patch| &patch.bytes)
                .filter(|bytes| !bytes.is_empty()),
        )
    }
}

impl<'p> Choice<'p> for Chosen<'p> {
    fn envelope(&mut self, _: &Range<usize>) -> bool {
        true
    }

    fn span(&mut self, _: &Range<usize>) -> Fate<'p> {
        match self.next() {
            None => Fate::Drop,
            Some(None) => Fate::Keep,
            Some(Some(patch)) => Fate::Append(patch),
        }
    }

    fn done(&self) -> bool {
        self.all && self.patches.is_empty()
    }

    fn keeps_empty(&self) -> bool {
        self.first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Timestamp;
    use crate::otlp::{AttributeValue, PatchWriter, StatusCode};
    use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
    use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
    use prost::Message;

    fn body(resources: &[&[u8]]) -> Bytes {
        let span = |number: u8| Span {
            trace_id: vec![1; 16],
            span_id: vec![number; 8],
            ..Span::default()
        };
        let resource = |spans: &&[u8]| ResourceSpans {
            scope_spans: vec![ScopeSpans {
                spans: spans.iter().map(|number| span(*number)).collect(),
                schema_url: "s".to_owned(),
                ..ScopeSpans::default()
            }],
            ..ResourceSpans::default()
        };
        let request = ExportTraceServiceRequest {
            resource_spans: resources.iter().map(resource).collect(),
        };
        Bytes::from(request.encode_to_vec())
    }

    fn release(body: Bytes, spans: Selection) -> Release {
        Release {
            count: count_spans(&body),
            body,
            spans,
            patches: Vec::new(),
            synthetic: false,
        }
    }

    #[test]
    fn all_without_patches_is_the_very_buffer() {
        let body = body(&[&[1, 2], &[3]]);
        let packed = pack(&release(body.clone(), Selection::All));
        assert_eq!(packed.as_ptr(), body.as_ptr());
    }

    #[test]
    fn a_selection_keeps_its_envelopes_only() {
        let all = body(&[&[1, 2], &[3], &[4, 5]]);
        let ranges = smallvec![1..2, 3..4];
        let packed = pack(&release(all, Selection::Ranges(ranges)));
        assert_eq!(packed, body(&[&[2], &[4]]));
    }

    #[test]
    fn spans_apart_keep_their_envelopes() {
        let all = body(&[&[1, 2], &[3], &[4, 5]]);
        assert_eq!(apart(&all, &[1, 4]).unwrap(), body(&[&[2], &[5]]));
        assert!(apart(&Bytes::from_static(&[0; 9]), &[0]).is_none());
    }

    #[test]
    fn halves_meet_in_the_middle() {
        let (left, right) = halve(&body(&[&[1, 2], &[3]])).unwrap();
        assert_eq!((left, right), (body(&[&[1]]), body(&[&[2], &[3]])));
        assert!(halve(&body(&[&[1]])).is_none());
    }

    #[test]
    fn patches_equal_append_by_prost() {
        let all = body(&[&[1, 2], &[3]]);
        let patch = PatchWriter::new()
            .attribute("k", AttributeValue::Str("v"))
            .event(
                "e",
                Timestamp::from_nanos(4),
                &[("n", AttributeValue::Int(-1))],
            )
            .status(StatusCode::Error, "m")
            .finish();
        let mut expected = ExportTraceServiceRequest::decode(all.clone()).unwrap();
        expected.resource_spans[1].scope_spans[0].spans[0]
            .merge(patch.clone())
            .unwrap();
        let mut release = release(all, Selection::All);
        release.patches.push(Patch {
            span: 2,
            bytes: patch,
        });
        let packed = pack(&release);
        assert_eq!(packed, Bytes::from(expected.encode_to_vec()));
    }
}
