//! Calls that model answers asked for, and what became of them: nine of eleven frameworks leave no span of a
//! call to an unknown tool or with arguments that they refuse.
//!
//! Invariant: a request is told of once: at the first later answer of its lane that began after it, by when
//! the framework has run the call or has refused to; else when the run is over. Answers that overlap it in
//! time, and the spans of whole runs, settle nothing.

use smallvec::SmallVec;

use crate::lanes::{Call, Reply, View, Wanted};

/// The requests that the answer judged settles: asked for before, and not settled by an answer in between.
pub(super) fn settled_here<'v>(view: &View<'v>) -> SmallVec<[&'v Wanted; 2]> {
    let Some(judged) = view.reply() else {
        return SmallVec::new();
    };
    let of_lane = wants_of(view);
    of_lane
        .filter(|want| {
            settles(judged, want)
                && !view
                    .replies()
                    .iter()
                    .any(|other| other.order < judged.order && settles(other, want))
        })
        .collect()
}

/// The requests of which nothing was told yet, for when the run is over: those that no answer has settled, and
/// those that could not be judged for want of the definitions that came with the agent's span.
pub(super) fn not_told<'v>(view: &View<'v>) -> SmallVec<[&'v Wanted; 2]> {
    wants_of(view).filter(|want| !want.told).collect()
}

/// The requests of answers that the lane remembers.
fn wants_of<'v>(view: &View<'v>) -> impl Iterator<Item = &'v Wanted> {
    let replies = view.lane.replies();
    view.run.asks.wants().iter().filter(|want| {
        replies
            .binary_search_by(|reply| reply.order.cmp(&want.order))
            .is_ok()
    })
}

fn settles(reply: &Reply, want: &Wanted) -> bool {
    !reply.of_run && reply.order > want.order && reply.start >= want.member.end
}

/// Whether a request led to one of these calls: its own one, or one of the same tool that nothing else is
/// known to have asked for.
pub(super) fn was_run(want: &Wanted, calls: &[Call]) -> bool {
    want.ran
        || calls.iter().any(|call| {
            call.order > want.order
                && call.more.identity.bare == want.identity.bare
                && !call.more.asked
        })
}
