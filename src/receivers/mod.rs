//! OTLP over gRPC and HTTP: transport -> whole body -> steps -> the queue to the engine -> the answer. Log records
//! and metrics go to their exporters at once instead.
//!
//! Invariant: the answer is given after the body was read whole and taken by the queue; after a success
//! nothing of it is refused any more. Listeners come opened from `runtime`; nothing is spawned beyond a
//! server's own future.

mod collect;
mod connection;
mod cors;
mod counters;
mod desk;
mod grpc;
mod guard;
mod http;
mod inflate;
mod intake;
mod limits;
mod refusal;
mod reply;
mod routes;
mod server;
mod settings;
mod shares;

pub use cors::CorsSettings;
pub use counters::{Closed, Counters, Items, Limited};
pub use desk::Desk;
pub use guard::{Guard, TlsGuard};
pub use intake::{Arrivals, Intake, NoRoom, intake};
pub use limits::{Keepalive, Limits, ServerParameters};
pub use routes::{Relay, Routes};
pub use server::{serve_grpc, serve_http};
pub use settings::{GrpcSettings, HttpSettings, IntakeSettings, Protocols, Settings};
pub use shares::Client;
