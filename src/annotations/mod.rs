//! From reports to bytes that are appended to a span (DESIGN 7). Pure.
//!
//! Invariants: every value is scalar; attributes are absent on clean spans; no result text is ever written;
//! the span's own fields are never touched. Names are frozen: people alert on them.

mod event;
mod mark;
mod message;
mod record;
mod settings;
mod summary;
mod synthetic;

pub use event::keys;
pub use mark::{Bearer, mark};
pub use record::record;
pub use settings::{EvidenceDetail, LatePolicy, Settings, StatusPolicy};
pub use summary::RunSummary;
pub use synthetic::synthetic;

/// Namespace of everything we write.
pub const NAMESPACE: &str = "sentinel.";
