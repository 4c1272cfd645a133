//! The words that all other modules use. Imports nothing of ours.
//!
//! Invariant: nothing here knows bytes, attribute keys, clocks or configuration.

mod bill;
mod content;
mod effects;
mod excerpt;
mod finding;
mod fingerprint;
mod ids;
mod ignored;
mod places;
mod pressure;
mod range;
mod release;
mod shown;
mod sketch;
mod step;
mod time;
mod told;
mod tools;
mod topic;
pub mod units;

pub use bill::Bill;
pub use content::{Answered, Prompt};
pub use effects::{
    CheckKind, Effects, Reach, Role, RootHint, Scope, Stash, Targets, Verdict, Verification, Write,
};
pub use excerpt::Excerpt;
pub use finding::{AnomalyType, Confidence, Fact, Finding, Lack, Member, Severity};
pub use fingerprint::fingerprint;
pub use ids::{Name, SpanId, TraceId};
pub use ignored::{Ignored, Leftout};
pub use places::{
    FileLink, Placed, Places, first_outside, is_absolute, is_temp, unusable_directory, within,
};
pub use pressure::Pressure;
pub use range::Range;
pub use release::{
    Carrier, EVENT, EVENTS_MAX, Emit, EpisodeState, OUR_SCOPE, Patch, Release, Report, STATUS_SET,
    SYNTHETIC, Selection, Signal, Waste,
};
pub use shown::{is_unseen, printable, printable_within};
pub use sketch::{Likeness, SET, SHAPE, Sketch};
pub use step::{
    Action, AgentRun, Answer, Arguments, CallId, Claim, Failure, Finish, Goal, Link, ModelCall,
    Outcome, Repetition, Requested, Service, Step, TextFacts, ToolCall, ToolIdentity, Usage,
};
pub use time::Timestamp;
pub use told::{told_episode, told_fully, told_in, told_key, told_on};
pub use tools::{Breach, Definition, Fit, Hints, Shape, ToolSet};
pub use topic::{Bearing, Topics, Words};
