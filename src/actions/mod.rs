//! What a call does to the world: the role of its tool, the shell command inside it taken apart, the
//! paths and hosts it touches, the checks it runs and what they showed.
//!
//! Invariant: everything here is a pure function of borrowed texts. No text makes it panic, and the work
//! is bounded by the bounds of the texts: what is over a bound, or cannot be taken apart, comes out as
//! `unparsed`, never as a guess. A doubtful call does nothing that could accuse or excuse an agent.

mod arguments;
mod cache;
mod commands;
mod comments;
mod edits;
mod effects;
mod exits;
mod git;
mod guard;
mod hosts;
mod members;
mod paths;
mod prefixes;
mod reach;
mod roles;
mod roots;
mod runners;
mod script;
mod settings;
mod summaries;
mod tools;
mod trails;
mod verification;
mod walk;
mod watchdog;
mod world;

#[cfg(test)]
mod tests;

use crate::model::{Effects, Role};

pub use cache::Scripts;
pub use effects::effects;
pub use exits::ExitMeaning;
pub use reach::{Watch, places, reach};
pub use roles::{role, tells_time};
pub use roots::Roots;
pub use settings::{Roles, Settings, Workspace};

/// What is known of one call. All texts are borrowed; none is kept.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallFacts<'a> {
    /// The tool's name as sent.
    pub tool: &'a str,
    /// Its role, as [`role`] gave it.
    pub role: Role,
    /// The arguments: JSON text, or plain text (a bare command).
    pub arguments: Option<&'a str>,
    /// What came back.
    pub answer: Option<Excerpt<'a>>,
    /// Exit code, where one is known.
    pub exit_code: Option<i32>,
    /// Whether the emitter marked the call as failed; `None` when it says neither.
    pub error_flag: Option<bool>,
    /// The directory in which the call starts, absolute, where it is known.
    pub cwd: Option<&'a str>,
    /// Where the work is, is to be inferred.
    pub infer: bool,
}

/// A text, or its beginning and its end when it was longer than what is read of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Excerpt<'a> {
    /// The beginning, or the whole.
    pub front: &'a str,
    /// The end, when the middle is left out; empty otherwise.
    pub back: &'a str,
}

/// What could be understood of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Understood {
    /// What it does.
    pub effects: Effects,
    /// The role of this very call: an editor asked to view is [`Role::Read`].
    pub role: Role,
    /// What its exit code means.
    pub exit: ExitMeaning,
    /// The command could not be taken apart: effects are what little was certain.
    pub unparsed: bool,
}
