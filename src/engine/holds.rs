//! The accused: spans that wait because they are about to be marked. Everything else leaves at once.

use std::collections::BTreeMap;

use bytes::Bytes;
use foldhash::quality::RandomState;
use hashbrown::HashMap;
use smallvec::smallvec;

use crate::annotations::Bearer;
use crate::model::{Patch, Release, Selection, SpanId, Timestamp, TraceId};
use crate::sessions::Site;

/// A span that waits.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) run: TraceId,
    pub(super) span: SpanId,
    pub(super) bearer: Bearer,
    pub(super) since: Timestamp,
}

/// A body that held spans pin, and how many.
#[derive(Debug)]
struct Pinned {
    body: Bytes,
    spans: u32,
}

/// All held spans, oldest body first. A held span pins its whole body, so that is what counts.
#[derive(Debug, Default)]
pub(super) struct Holds {
    spans: BTreeMap<(u64, u32), Held>,
    bodies: HashMap<u64, Pinned, RandomState>,
    bytes: u64,
}

impl Holds {
    /// Holds a span of a body.
    pub(super) fn hold(&mut self, site: Site, body: &Bytes, held: Held) {
        if self.spans.insert((site.body, site.index), held).is_some() {
            return;
        }
        let bytes = &mut self.bytes;
        let pinned = self.bodies.entry(site.body).or_insert_with(|| {
            *bytes += body.len() as u64;
            Pinned {
                body: body.clone(),
                spans: 0,
            }
        });
        pinned.spans += 1;
    }

    /// The held span at a site.
    pub(super) fn get(&self, site: Site) -> Option<&Held> {
        self.spans.get(&(site.body, site.index))
    }

    /// Lets a span go, with what is appended to it.
    pub(super) fn let_go(&mut self, site: Site, patch: Option<Bytes>) -> Option<(Held, Release)> {
        let held = self.spans.remove(&(site.body, site.index))?;
        let pinned = self.bodies.get_mut(&site.body)?;
        pinned.spans -= 1;
        let body = pinned.body.clone();
        if pinned.spans == 0 {
            self.bodies.remove(&site.body);
            self.bytes = self.bytes.saturating_sub(body.len() as u64);
        }
        let patches = patch
            .filter(|bytes| !bytes.is_empty())
            .map(|bytes| Patch {
                span: site.index,
                bytes,
            })
            .into_iter()
            .collect();
        let spans = Selection::Ranges(smallvec![site.index..site.index + 1]);
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

    /// Bytes of the bodies pinned.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}
