//! Bodies to steps: composes what bytes, dialects, fingerprints, actions and texts know.
//!
//! Invariant: a [`Reader`] is stateless but for caches; what it reads depends on the body and its settings
//! alone. Steps own what they need: no text of the body lives on in them.

mod audiences;
mod caches;
mod call;
mod coverage;
mod memo;
mod names;
mod outcome;
mod reader;
mod records;
mod reply;
mod senders;
mod settings;

pub use crate::actions::Watch;
pub use crate::texts::prepare;
/// How conventions of the user's own are described.
pub mod conventions {
    pub use crate::dialects::{Condition, Configured, Convention, Key, Part, Place, Role, Source};
}
pub use crate::dialects::Switch;
pub use crate::otlp::apart;
pub use audiences::{Audiences, Condition};
pub use coverage::{Content, Coverage};
pub use memo::Memory;
pub use reader::{Reader, Reading};
pub use settings::Settings;
