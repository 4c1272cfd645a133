//! The accused: spans that wait because they are about to be marked. Everything else leaves at once.

use std::collections::BTreeMap;

use bytes::Bytes;
use foldhash::quality::RandomState;
use hashbrown::HashMap;
use smallvec::smallvec;

use crate::annotations::Bearer;
use crate::model::{Patch, Release, Selection, SpanId, Timestamp, TraceId};
use crate::sessions::Site;
use crate::steps;

use super::Cut;

/// A span that waits.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) run: TraceId,
    pub(super) span: SpanId,
    pub(super) bearer: Bearer,
    pub(super) since: Timestamp,
}

/// What held spans of one body need of it.
#[derive(Debug)]
struct Pinned {
    /// A body of these spans alone, or the whole body where it cannot be taken apart or little would be won.
    body: Bytes,
    /// Where they stood in the body that came, ascending; empty where that is `body`.
    cut: Vec<u32>,
    /// How many still wait.
    spans: u32,
}

impl Pinned {
    fn of(body: &Bytes, spans: &[(Site, Held)]) -> Self {
        let places: Vec<u32> = spans.iter().map(|(site, _)| site.index).collect();
        let apart = steps::apart(body, &places).filter(|apart| apart.len() <= body.len() / 2);
        Self {
            cut: if apart.is_some() { places } else { Vec::new() },
            body: apart.unwrap_or_else(|| body.clone()),
            spans: 0,
        }
    }

    /// Where a span stands in what is kept.
    fn place(&self, index: u32) -> u32 {
        let place = self.cut.binary_search(&index).ok();
        place
            .and_then(|place| u32::try_from(place).ok())
            .unwrap_or(index)
    }
}

/// All held spans, oldest body first. They are copied out of large bodies: one span of two kilobytes must not keep
/// a request of half a megabyte in memory for as long as it waits.
#[derive(Debug, Default)]
pub(super) struct Holds {
    spans: BTreeMap<(u64, u32), Held>,
    bodies: HashMap<u64, Pinned, RandomState>,
    bytes: u64,
}

impl Holds {
    /// Holds spans of one body, in the order of the body. All that are held of a body are held at once. Tells of
    /// the body they were copied into, if they were.
    pub(super) fn hold(&mut self, body: &Bytes, spans: Vec<(Site, Held)>) -> Option<Cut> {
        let (first, _) = spans.first()?;
        let number = first.body;
        let mut pinned = Pinned::of(body, &spans);
        for (site, held) in spans {
            let known = self.spans.insert((site.body, site.index), held);
            pinned.spans += u32::from(known.is_none());
        }
        self.bytes += pinned.body.len() as u64;
        let cut = (!pinned.cut.is_empty()).then(|| Cut {
            from: body.clone(),
            places: pinned.cut.clone(),
            apart: pinned.body.clone(),
        });
        self.bodies.insert(number, pinned);
        cut
    }

    /// The held span at a site.
    pub(super) fn get(&self, site: Site) -> Option<&Held> {
        self.spans.get(&(site.body, site.index))
    }

    /// Lets a span go, with what is appended to it.
    pub(super) fn let_go(&mut self, site: Site, patch: Option<Bytes>) -> Option<(Held, Release)> {
        let held = self.spans.remove(&(site.body, site.index))?;
        let pinned = self.bodies.get_mut(&site.body)?;
        pinned.spans = pinned.spans.saturating_sub(1);
        let (body, place) = (pinned.body.clone(), pinned.place(site.index));
        if pinned.spans == 0 {
            self.bodies.remove(&site.body);
            self.bytes = self.bytes.saturating_sub(body.len() as u64);
        }
        let patches = patch
            .filter(|bytes| !bytes.is_empty())
            .map(|bytes| Patch { span: place, bytes })
            .into_iter()
            .collect();
        let spans = Selection::Ranges(smallvec![place..place + 1]);
        Some((
            held,
            Release {
                body,
                spans,
                count: 1,
                patches,
                synthetic: false,
            },
        ))
    }

    /// The oldest held span: its body and position, and its run.
    pub(super) fn oldest(&self) -> Option<((u64, u32), TraceId)> {
        self.spans
            .first_key_value()
            .map(|(key, held)| (*key, held.run))
    }

    /// Spans held.
    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    /// Bytes kept for them.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
    use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
    use prost::Message;

    use super::*;

    fn request(spans: impl IntoIterator<Item = u32>) -> Bytes {
        let span = |number| Span {
            name: format!("span {number}"),
            ..Span::default()
        };
        let scope = ScopeSpans {
            spans: spans.into_iter().map(span).collect(),
            ..ScopeSpans::default()
        };
        let request = ExportTraceServiceRequest {
            resource_spans: vec![ResourceSpans {
                scope_spans: vec![scope],
                ..ResourceSpans::default()
            }],
        };
        Bytes::from(request.encode_to_vec())
    }

    fn held(index: u32) -> (Site, Held) {
        let site = Site {
            body: 7,
            index,
            marked: false,
        };
        let held = Held {
            run: TraceId::from_slice(&[1; 16]).unwrap(),
            span: SpanId::from_slice(&[2; 8]).unwrap(),
            bearer: Bearer {
                start: Timestamp::ZERO,
                end: Timestamp::ZERO,
                unset: true,
            },
            since: Timestamp::ZERO,
        };
        (site, held)
    }

    #[test]
    fn few_spans_of_a_large_body_do_not_keep_it() {
        let body = request(0..100);
        let mut holds = Holds::default();
        let cut = holds.hold(&body, vec![held(3), held(90)]).unwrap();
        assert_eq!(cut.places, [3, 90]);
        assert_eq!((cut.from, cut.apart), (body.clone(), request([3, 90])));
        assert_eq!(holds.bytes(), request([3, 90]).len() as u64);
        let patch = Bytes::from_static(b"p");
        let (_, release) = holds.let_go(held(90).0, Some(patch)).unwrap();
        assert_eq!(release.body, request([3, 90]));
        assert_eq!(release.spans, Selection::Ranges(smallvec![1..2]));
        assert_eq!(release.patches.first().unwrap().span, 1);
        assert_eq!(holds.len(), 1);
        let (_, release) = holds.let_go(held(3).0, None).unwrap();
        assert_eq!(release.spans, Selection::Ranges(smallvec![0..1]));
        assert_eq!((holds.len(), holds.bytes()), (0, 0));
    }

    #[test]
    fn most_of_a_body_is_kept_as_it_came() {
        let body = request(0..3);
        let mut holds = Holds::default();
        assert!(holds.hold(&body, vec![held(0), held(2)]).is_none());
        let (_, release) = holds.let_go(held(2).0, None).unwrap();
        assert_eq!(release.body.as_ptr(), body.as_ptr());
        assert_eq!(release.spans, Selection::Ranges(smallvec![2..3]));
    }
}
