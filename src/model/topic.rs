//! What a text is about, as hashes of its words: only ever compared, never shown.

use std::sync::Arc;

/// Hashes of the words of a text, sorted, each once. Bounded by who makes it.
pub type Words = Arc<[u32]>;

/// What a call is about (goal_drift).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topics {
    /// Words of its arguments.
    pub asked: Words,
    /// The arguments hold more words than are kept: that none is shared says nothing.
    pub more: bool,
    /// Words of its answer; `None` when it is not captured.
    pub answered: Option<Words>,
}

/// How a call stands to the goal of its run (goal_drift).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bearing {
    /// Nobody asks, or its arguments were not captured.
    #[default]
    Unread,
    /// No goal is known yet, or no call has shared a word with it so far: there is nothing to compare with.
    NoGoal,
    /// Answers before it were not captured: what followed from the goal is not known.
    NoResults,
    /// More has followed from the goal than is kept.
    TooMuch,
    /// It holds no word, or is of a kind that belongs to every goal (a check, a wait, a question).
    Neutral,
    /// It shares a word with the goal, or with what followed from it.
    On,
    /// It shares none.
    Off,
}
