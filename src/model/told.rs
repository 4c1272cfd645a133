//! What tells a finding that was told before apart from news: a span that comes marked, or a span of a sentinel's
//! own, says of which steps by which rule.
//!
//! Invariant: the same whoever asks, and made only of what stands on the span.

use std::hash::BuildHasher;

use super::TraceId;

/// Identity of a finding as told in a trace: its type, its rule, the ids of its steps as they are written.
pub fn told_key(trace: TraceId, anomaly: &str, rule: &str, spans: &str) -> u64 {
    foldhash::quality::FixedState::with_seed(0x701d).hash_one((trace, anomaly, rule, spans))
}

/// Says that a finding of this type was told on a span.
pub fn told_on(trace: TraceId, anomaly: &str, span: &str) -> u64 {
    told_key(trace, anomaly, "*", span)
}

/// Says that an episode was told of in this state; both as they are written.
pub fn told_episode(trace: TraceId, episode: &str, state: &str) -> u64 {
    told_key(trace, "*", state, episode)
}

/// Says that something was told in a trace.
pub fn told_in(trace: TraceId) -> u64 {
    told_key(trace, "", "", "")
}

/// Says that a span has as many events of ours as one may get: it may have been told more than they say.
pub fn told_fully(trace: TraceId, span: &str) -> u64 {
    told_key(trace, "*", "*", span)
}
