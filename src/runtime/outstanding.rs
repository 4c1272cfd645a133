//! A second book of what the engine holds, kept outside of it.
//!
//! Invariant: a body that went in is known here until every span of it has come out. So when the engine
//! panics, what it held is still known, span by span, and leaves unjudged instead of being lost.

use bytes::Bytes;
use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::engine::Cut;
use crate::model::{Release, Selection};

/// Bodies of which at least one span has not come out.
#[derive(Debug, Default)]
pub struct Outstanding {
    // Keyed by address: a body comes out as the buffer it went in as, and is kept alive here, so no
    // other one can have its address.
    bodies: HashMap<usize, Body, foldhash::fast::RandomState>,
}

#[derive(Debug)]
struct Body {
    bytes: Bytes,
    spans: u32,
    /// Spans that are out, one bit each; empty while none is.
    out: Vec<u64>,
    left: u32,
}

impl Outstanding {
    /// `body` with `spans` spans goes in.
    pub fn enter(&mut self, body: &Bytes, spans: u32) {
        if spans == 0 {
            return;
        }
        let body = Body {
            bytes: body.clone(),
            spans,
            out: Vec::new(),
            left: spans,
        };
        self.bodies.insert(address(&body.bytes), body);
    }

    /// `release` comes out. Bodies that never went in (our own) are no concern of ours.
    pub fn leave(&mut self, release: &Release) {
        let key = address(&release.body);
        let done = match (&release.spans, self.bodies.get_mut(&key)) {
            (_, None) => return,
            (Selection::All, Some(_)) => true,
            (Selection::Ranges(ranges), Some(body)) => {
                for range in ranges {
                    for span in range.clone() {
                        body.mark(span);
                    }
                }
                body.left == 0
            }
        };
        if done {
            self.bodies.remove(&key);
        }
    }

    /// Spans of a body have moved into one of their own: they are known there from now on.
    pub fn exchange(&mut self, cut: &Cut) {
        let key = address(&cut.from);
        let Some(body) = self.bodies.get_mut(&key) else {
            return;
        };
        cut.places.iter().for_each(|span| body.mark(*span));
        if body.left == 0 {
            self.bodies.remove(&key);
        }
        self.enter(
            &cut.apart,
            u32::try_from(cut.places.len()).unwrap_or(u32::MAX),
        );
    }

    /// Whether no span is missing.
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// How many spans have not come out.
    pub fn spans(&self) -> u64 {
        self.bodies.values().map(|body| u64::from(body.left)).sum()
    }

    /// Gives up waiting: all that has not come out, as releases without marks, oldest address first.
    pub fn abandon(&mut self) -> Vec<Release> {
        let mut bodies: Vec<(usize, Body)> = self.bodies.drain().collect();
        bodies.sort_by_key(|(address, _)| *address);
        let releases = bodies.into_iter().map(|(_, body)| body.rest());
        releases.collect()
    }
}

impl Body {
    fn mark(&mut self, span: u32) {
        if span >= self.spans {
            return;
        }
        if self.out.is_empty() {
            self.out = vec![0; self.spans.div_ceil(64) as usize];
        }
        if let Some(word) = self.out.get_mut(span as usize / 64) {
            let bit = 1 << (span % 64);
            self.left -= u32::from(*word & bit == 0);
            *word |= bit;
        }
    }

    fn is_out(&self, span: u32) -> bool {
        let word = self.out.get(span as usize / 64);
        word.is_some_and(|word| word & (1 << (span % 64)) != 0)
    }

    fn rest(self) -> Release {
        let spans = if self.left == self.spans {
            Selection::All
        } else {
            let mut ranges: SmallVec<[std::ops::Range<u32>; 2]> = SmallVec::new();
            for span in (0..self.spans).filter(|span| !self.is_out(*span)) {
                match ranges.last_mut() {
                    Some(last) if last.end == span => last.end += 1,
                    _ => ranges.push(span..span + 1),
                }
            }
            Selection::Ranges(ranges)
        };
        Release {
            body: self.bytes,
            spans,
            count: self.left,
            patches: Vec::new(),
            synthetic: false,
        }
    }
}

fn address(body: &Bytes) -> usize {
    body.as_ptr().addr()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn release(body: &Bytes, spans: Selection) -> Release {
        Release {
            body: body.clone(),
            count: 0,
            spans,
            patches: Vec::new(),
            synthetic: false,
        }
    }

    #[test]
    fn a_body_that_leaves_whole_is_forgotten() {
        let mut outstanding = Outstanding::default();
        let body = Bytes::from_static(b"body");
        outstanding.enter(&body, 3);
        assert_eq!(outstanding.spans(), 3);
        outstanding.leave(&release(&body, Selection::All));
        assert_eq!(outstanding.spans(), 0);
        assert!(outstanding.abandon().is_empty());
    }

    #[test]
    fn bodies_of_ours_are_no_concern() {
        let mut outstanding = Outstanding::default();
        outstanding.leave(&release(&Bytes::from_static(b"ours"), Selection::All));
        assert_eq!(outstanding.spans(), 0);
    }

    #[test]
    fn spans_that_moved_are_known_where_they_are() {
        let mut outstanding = Outstanding::default();
        let (body, apart) = (Bytes::from(vec![1; 8]), Bytes::from(vec![2; 8]));
        outstanding.enter(&body, 5);
        outstanding.exchange(&Cut {
            from: body.clone(),
            places: vec![1, 3],
            apart: apart.clone(),
        });
        assert_eq!(outstanding.spans(), 5);
        let ranges = smallvec::smallvec![0..1, 2..3, 4..5];
        outstanding.leave(&release(&body, Selection::Ranges(ranges)));
        assert_eq!(outstanding.spans(), 2);
        let ranges = smallvec::smallvec![1..2];
        outstanding.leave(&release(&apart, Selection::Ranges(ranges)));
        let rest = outstanding.abandon();
        let rest: Vec<_> = rest.iter().map(|r| (&r.body, r.count)).collect();
        assert_eq!(rest, [(&apart, 1)]);
    }

    proptest! {
        /// Whatever has left, what is abandoned is exactly the rest.
        #[test]
        fn released_and_abandoned_are_everything(
            spans in 1u32..200,
            cuts in proptest::collection::vec((0u32..220, 0u32..40), 0..8),
        ) {
            let mut outstanding = Outstanding::default();
            let body = Bytes::from(vec![1; 8]);
            outstanding.enter(&body, spans);
            let mut out = vec![false; spans as usize];
            for (start, length) in cuts {
                let range = start..start + length;
                for span in range.clone().filter(|span| *span < spans) {
                    out[span as usize] = true;
                }
                let ranges = Selection::Ranges(smallvec::smallvec![range]);
                outstanding.leave(&release(&body, ranges));
            }
            let left = out.iter().filter(|out| !**out).count();
            prop_assert_eq!(outstanding.spans(), left as u64);
            let rest = outstanding.abandon();
            prop_assert_eq!(rest.len(), usize::from(left > 0));
            for release in rest {
                prop_assert_eq!(release.count as usize, left);
                for (span, out) in out.iter().enumerate() {
                    let span = u32::try_from(span).unwrap();
                    prop_assert_eq!(release.spans.contains(span), !out);
                }
            }
        }
    }
}
