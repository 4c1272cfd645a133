//! (being built)
mod settings;
pub use settings::*;
