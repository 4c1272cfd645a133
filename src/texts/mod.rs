//! What a text says and looks like, as numbers and flags: claims, emptiness, repetition, error shapes.
//!
//! Invariant: every function is total on any text, bounded by what [`Excerpt`] reads, and in doubt says
//! nothing: no claim, no error, no refusal. One file a language; `claims` holds the list of them.

mod answers;
mod calls;
mod chinese;
mod claims;
mod english;
mod errors;
mod exits;
mod french;
mod german;
mod goals;
mod grammar;
mod japanese;
mod members;
mod names;
mod prose;
mod refusals;
mod repetition;
mod spanish;
mod states;
mod visible;

use xxhash_rust::xxh3::xxh3_64;

pub use answers::{acknowledges, informs, stands_for_a_picture, tells};
pub use claims::goal_asks_for_tests;
pub use errors::{error_class, looks_like_error};
pub use exits::exit_code_in;
pub use names::error_names;
pub use refusals::refused;
pub use states::pending_state;

use crate::model::{Excerpt, TextFacts};

/// Reads a model's answer, its reasoning, or the output of an agent run.
pub fn read<'a>(text: impl Into<Excerpt<'a>>) -> TextFacts {
    let text = text.into();
    let front = text.front();
    // What a person would see, taken once for all who ask; of a short text both pieces are the same.
    let seen = visible::without_thoughts(front);
    let seen_end = visible::without_thoughts(text.end());
    let last = if text.truncated() { &seen_end } else { &seen };
    let said = claims::read(text, [&seen, &seen_end]);
    TextFacts {
        hash: hash(text),
        chars: chars(text),
        visible: visible::visible(&seen) || visible::visible(&seen_end),
        meaningful: text.truncated() || visible::meaningful(&seen),
        claim: said.claim,
        honest_gap: said.honest_gap,
        call_as_text: calls::call_as_text(last),
        words: repetition::word_count(front).saturating_add(repetition::word_count(text.end())),
        repetition: repetition::measure(front),
        truncated: text.truncated(),
    }
}

/// Builds the tables by which texts are read; without it the first text of each language waits some
/// milliseconds for its own. The same each time, and nothing is left to do afterwards.
pub fn prepare() {
    claims::prepare();
    let _ = (refused("tests"), goal_asks_for_tests("tests"));
}

/// Hash of a text without the white space at both ends: a run that repeats its last answer is one claim.
pub fn hash<'a>(text: impl Into<Excerpt<'a>>) -> u64 {
    xxh3_64(visible::strip(text.into().whole()).as_bytes())
}

/// Code points left after stripping as Python strips.
fn chars(text: Excerpt<'_>) -> u32 {
    u32::try_from(visible::strip(text.whole()).chars().count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tables;
#[cfg(test)]
mod tests;
