//! What a call does to the world, as far as its tool, arguments and answer tell.

use std::sync::Arc;

use serde::Deserialize;
use smallvec::SmallVec;

use super::{FileLink, Name, Places};

/// What kind of tool it is; decides which rules apply to its calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Changes files.
    Edit,
    /// Runs checks.
    Verify,
    /// Reads files, listings, records.
    Read,
    /// Runs a command.
    Shell,
    /// Fetches from a host.
    Fetch,
    /// Searches.
    Search,
    /// Hands work to another agent.
    Delegate,
    /// Asks for new output of something that runs.
    Poll,
    /// Lets time pass.
    Wait,
    /// Asks a person.
    Ask,
    /// Its arguments are the final answer (`final_answer`, `submit`, `finish`): a claim, not a call.
    Finish,
    /// Anything else.
    #[default]
    Other,
}

impl Role {
    /// All of them, by the names that configuration and documentation use.
    pub const NAMES: [(&'static str, Self); 12] = [
        ("edit", Self::Edit),
        ("verify", Self::Verify),
        ("read", Self::Read),
        ("shell", Self::Shell),
        ("fetch", Self::Fetch),
        ("search", Self::Search),
        ("delegate", Self::Delegate),
        ("poll", Self::Poll),
        ("wait", Self::Wait),
        ("ask", Self::Ask),
        ("finish", Self::Finish),
        ("other", Self::Other),
    ];
}

/// Things that a call depends on or changes, as hashes, small and comparable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Targets {
    /// Hashes of up to two normalised paths; 0 = none.
    pub files: [u64; 2],
    /// More files than fit: any file may be meant.
    pub any_file: bool,
    /// The whole workspace: what verifications, builds and program runs depend on.
    pub workspace: bool,
    /// The state of the version control (git status, log, diff; commit, checkout, stash).
    pub repo: bool,
    /// A running service (deploy, migrate, restart).
    pub service: bool,
    /// Something is changed, but nobody can say what: resets only itself.
    pub unknown: bool,
}

impl Targets {
    /// Whether nothing is named.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a change of `self` can matter to something that depends on `other` (A1).
    pub fn touches(&self, other: &Self) -> bool {
        let files = self.any_file || self.files != [0; 2];
        let shared = self
            .files
            .iter()
            .any(|file| *file != 0 && other.files.contains(file));
        shared
            || (self.any_file && other.files != [0; 2])
            || (files && (other.workspace || other.any_file))
            || (self.workspace && (other.workspace || other.any_file || other.files != [0; 2]))
            || (self.repo && (other.repo || other.workspace))
            || (self.service && (other.service || other.workspace))
    }
}

/// Everything that a call does, as far as known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effects {
    /// What its answer depends on.
    pub reads: Targets,
    /// What it changes when it succeeds.
    pub changes: Targets,
    /// Paths written, deleted, moved to; bounded at 16.
    pub writes: SmallVec<[Write; 1]>,
    /// Hosts contacted, lower case, without port; bounded at 8.
    pub hosts: SmallVec<[Name; 1]>,
    /// A check that ran.
    pub verification: Option<Box<Verification>>,
    /// It changes source files whose behaviour wants checking (no documentation, summaries or scratch files).
    pub edits_source: bool,
    /// Directory, as text after normalising, under which the edits lie; `None` when unknown.
    pub edit_root: Option<Name>,
    /// It asks for new output of something that runs.
    pub poll: bool,
    /// It does nothing (`:`, `true`, an empty write).
    pub void: bool,
    /// It lets time pass (`sleep N`): milliseconds.
    pub wait_ms: Option<u64>,
    /// It runs the program, a reproduction or a build: weak evidence that an edit works.
    pub weak_check: bool,
    /// Links that it makes.
    pub links: Vec<FileLink>,
    /// What it tells of where the workspace is, where that is to be inferred.
    pub root_hint: Option<RootHint>,
    /// It puts the edits of the working tree aside, or takes them back.
    pub stash: Option<Stash>,
}

/// A directory that a call names as, or treats as, the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootHint {
    /// It is the top of a git working tree, by git's own word; else a directory that was gone to.
    pub top_level: bool,
    /// Normalised, absolute.
    pub path: Name,
}

/// Edits put aside, or taken back: `git stash`, `git stash pop`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stash {
    /// Put aside.
    Put,
    /// Taken back.
    Taken,
}

/// One path written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The path as far as it could be resolved (absolute where the working directory is known).
    pub path: Name,
    /// The path with its dots, where it has any: behind a link they lead elsewhere.
    pub dotted: Option<Name>,
    /// It is deleted, or moved away.
    pub deletes: bool,
    /// It lies in a temp tree.
    pub temp: bool,
    /// Holds a variable or a substitution that is not known.
    pub unresolved: bool,
    /// The whole file is written anew.
    pub whole_file: bool,
    /// It lies in a container or on another machine: no path of ours.
    pub away: bool,
}

/// A check that ran: tests, or weaker ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Verification {
    /// The runner as people call it (`pytest`, `cargo test`).
    pub runner: Name,
    /// Where it ran, as normalised text; `None` when unknown.
    pub cwd: Option<Name>,
    /// What kind of check.
    pub kind: CheckKind,
    /// What it showed.
    pub verdict: Verdict,
    /// Tests passed, by the runner's own summary.
    pub passed: Option<u32>,
    /// Tests failed, by the runner's own summary.
    pub failed: Option<u32>,
    /// Its exit status is hidden by a pipe, `|| true`, `;` or `&`.
    pub masked: bool,
    /// It was put into the background: its end is not known.
    pub background: bool,
    /// Only a part was run (a path, a filter).
    pub partial: bool,
    /// It ran while the edits were put aside: it tells of another tree.
    pub aside: bool,
}

/// How strong a check is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckKind {
    /// Linters, type checkers, builds.
    Static,
    /// Tests.
    Tests,
}

/// What a check showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Passed by its own exit status.
    Passed,
    /// Passed by the runner's complete summary, though its exit status is masked.
    PassedBySummary,
    /// Failed.
    Failed,
    /// Ran no test: found none, or could not start.
    ZeroTests,
    /// Stopped before its end (a time limit, a signal), and nothing it printed settles it.
    Stopped,
    /// Masked without a summary that settles it.
    Masked,
    /// Nothing says (no exit code, no result).
    Unknown,
}

/// What the writes of a call come to, against the limits configured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reach {
    /// Where its writes lie.
    pub scope: Scope,
    /// The first directory on the way to a path outside that does not hold the workspace.
    pub outside: Option<Name>,
    /// Paths written, temp trees left out.
    pub writes: u16,
    /// Those of them that are deleted or moved away.
    pub deletes: u16,
    /// Hash of the one path that is written anew as a whole; 0 = none.
    pub rewrites: u64,
    /// The host contacted, as the source's rule reads it, where that rule is in force.
    pub source_host: Option<Name>,
    /// Against what its writes were placed, for those who learn later of links or of the workspace.
    pub places: Option<Arc<Places>>,
}

/// Where the writes of a call lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// It writes nothing that counts.
    #[default]
    NoWrite,
    /// All inside the workspace or an allowed directory.
    Inside,
    /// One at least outside of both.
    Outside,
    /// It writes, and no workspace is known.
    NoWorkspace,
    /// It writes, and the workspace is to be inferred from the run.
    Open,
    /// A path holds what nobody knows, and no other lies outside.
    Unknown,
}
