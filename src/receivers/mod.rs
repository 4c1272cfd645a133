//! OTLP over gRPC and HTTP: transport -> whole body -> steps -> the queue to the engine -> the answer. Log records
//! and metrics go to their exporters at once instead.
//!
//! Invariant: the answer is given after the body was read whole and taken by the queue; after a success
//! nothing of it is refused any more. Listeners come opened from `runtime`; nothing is spawned beyond a
//! server's own future.

mod collect;
mod connection;
mod counters;
mod desk;
mod grpc;
mod guard;
mod http;
mod inflate;
mod intake;
mod refusal;
mod reply;
mod routes;
mod server;
mod settings;

pub use counters::{Counters, Items};
pub use desk::Desk;
pub use guard::{Guard, TlsGuard};
pub use intake::{Arrivals, Intake, NoRoom, intake};
pub use routes::{Relay, Routes};
pub use server::{serve_grpc, serve_http};
pub use settings::{GrpcSettings, HttpSettings, IntakeSettings, Limits, Protocols, Settings};
