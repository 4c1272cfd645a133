//! OTLP over gRPC and HTTP: transport -> whole body -> steps -> the queue to the engine -> the answer.
//!
//! Invariant: the answer is given after the body was read whole and taken by the queue; after a success
//! nothing of it is refused any more. Listeners come opened from `runtime`; nothing is spawned beyond a
//! server's own future.

mod settings;

pub use settings::{GrpcSettings, HttpSettings, IntakeSettings, Limits, Protocols, Settings};
