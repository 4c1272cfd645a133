//! The only module with effects: it opens sockets and files, reads clock and environment, starts
//! threads and tasks, and hands opened things to the others.
#![expect(
    clippy::disallowed_methods,
    reason = "the door of .clippy.toml: what is forbidden elsewhere is done here"
)]

pub mod assemble;
pub mod clock;
pub mod coverage;
mod doors;
pub mod engine_task;
pub mod environment;
pub mod exemplars;
pub mod figures;
pub mod files;
pub mod guarded;
pub mod log;
pub mod loopback;
pub mod net;
pub mod outstanding;
mod pages;
pub mod process;
pub mod push;
pub mod run;
pub mod security;
pub mod serve;
pub mod shutdown;
pub mod signals;
mod telling;
pub mod terminal;
