//! The spans a run has seen: for telling duplicates, and for the chain of parents.

use crate::model::SpanId;

use super::LaneId;

/// Spans remembered for telling duplicates (DESIGN 3.6).
const SEEN_MAX: usize = 1024;
/// Spans remembered with their parents.
const LINKS_MAX: usize = 256;
/// Ancestors walked at most: deeper nesting and cycles end here.
pub(super) const DEPTH_MAX: u16 = 64;

/// What is remembered of one span.
#[derive(Clone, Copy, Debug)]
struct Link {
    span: SpanId,
    parent: Option<SpanId>,
    /// The lane that it and its descendants belong to, where that is certain.
    lane: Option<LaneId>,
}

/// The last spans of a run. Rings: the oldest are overwritten.
#[derive(Clone, Debug, Default)]
pub(super) struct Spans {
    seen: Vec<SpanId>,
    seen_next: usize,
    links: Vec<Link>,
    links_next: usize,
    /// Spans of agents, kept for the life of the run: they name their descendants.
    agents: Vec<Link>,
}

impl Spans {
    /// Notes a span; `false` when it was known already. O(1024) comparisons of 8 bytes at most.
    pub(super) fn first_sight(&mut self, span: SpanId) -> bool {
        if self.seen.contains(&span) {
            return false;
        }
        put(&mut self.seen, &mut self.seen_next, span, SEEN_MAX);
        true
    }

    /// Whether a span has been seen as a step.
    pub(super) fn saw(&self, span: SpanId) -> bool {
        self.seen.contains(&span)
    }

    /// The spans seen, for when the run is closed.
    pub(super) fn into_seen(self) -> Vec<SpanId> {
        self.seen
    }

    /// Whether a span has been seen.
    pub(super) fn has(&self, span: SpanId) -> bool {
        self.seen.contains(&span) || self.links.iter().any(|link| link.span == span)
    }

    /// Notes a span's parent, and its lane where certain.
    pub(super) fn link(&mut self, span: SpanId, parent: Option<SpanId>, lane: Option<LaneId>) {
        let link = Link { span, parent, lane };
        put(&mut self.links, &mut self.links_next, link, LINKS_MAX);
    }

    /// Notes the span of an agent.
    pub(super) fn agent(&mut self, span: SpanId, parent: Option<SpanId>, lane: LaneId) {
        const AGENTS_MAX: usize = 256;
        if self.agents.len() < AGENTS_MAX {
            self.agents.push(Link {
                span,
                parent,
                lane: Some(lane),
            });
        } else {
            self.link(span, parent, Some(lane));
        }
    }

    fn find(&self, span: SpanId) -> Option<&Link> {
        let by_id = |link: &&Link| link.span == span;
        self.agents
            .iter()
            .find(by_id)
            .or_else(|| self.links.iter().rev().find(by_id))
    }

    /// The lane of the nearest known ancestor, beginning at `parent`.
    pub(super) fn lane_above(&self, parent: Option<SpanId>) -> Option<LaneId> {
        self.ancestors(parent).find_map(|link| link.lane)
    }

    /// Whether `ancestor` stands above a span whose parent is `parent`.
    pub(super) fn is_below(&self, parent: Option<SpanId>, ancestor: SpanId) -> bool {
        parent == Some(ancestor)
            || self
                .ancestors(parent)
                .any(|link| link.parent == Some(ancestor))
    }

    /// How many ancestors are known.
    pub(super) fn depth(&self, parent: Option<SpanId>) -> u16 {
        u16::try_from(self.ancestors(parent).count()).unwrap_or(DEPTH_MAX)
    }

    fn ancestors(&self, parent: Option<SpanId>) -> impl Iterator<Item = &Link> {
        let mut next = parent;
        (0..DEPTH_MAX).map_while(move |_| {
            let link = self.find(next?)?;
            next = link.parent;
            Some(link)
        })
    }

    /// Bytes held on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.seen.capacity() * size_of::<SpanId>()
            + (self.links.capacity() + self.agents.capacity()) * size_of::<Link>()
    }
}

fn put<T>(ring: &mut Vec<T>, next: &mut usize, item: T, capacity: usize) {
    if ring.len() < capacity {
        ring.push(item);
    } else if let Some(slot) = ring.get_mut(*next) {
        *slot = item;
        *next = (*next + 1) % capacity;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(n: u8) -> SpanId {
        SpanId::from_slice(&[n; 8]).unwrap()
    }

    #[test]
    fn cycles_end() {
        let mut spans = Spans::default();
        spans.link(span(1), Some(span(2)), None);
        spans.link(span(2), Some(span(1)), None);
        assert_eq!(spans.depth(Some(span(1))), DEPTH_MAX);
        assert_eq!(spans.lane_above(Some(span(1))), None);
        assert!(!spans.is_below(Some(span(1)), span(9)));
    }

    #[test]
    fn the_nearest_ancestor_with_a_lane_decides() {
        let mut spans = Spans::default();
        spans.agent(span(1), None, LaneId(7));
        spans.link(span(2), Some(span(1)), None);
        assert_eq!(spans.lane_above(Some(span(2))), Some(LaneId(7)));
        assert!(spans.is_below(Some(span(2)), span(1)));
    }

    #[test]
    fn a_thousand_spans_back_is_still_a_duplicate() {
        let mut spans = Spans::default();
        let id = |n: u64| SpanId::from_slice(&(n + 1).to_be_bytes()).unwrap();
        for n in 0..SEEN_MAX as u64 {
            assert!(spans.first_sight(id(n)));
        }
        assert!(!spans.first_sight(id(0)));
        assert!(spans.first_sight(id(5000)));
        assert!(spans.first_sight(id(0)), "the oldest was forgotten");
    }
}
