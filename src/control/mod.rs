//! What people and orchestrators ask this process: health and metrics.
//!
//! Invariant: answering costs the path of a span nothing; everything is read from counters and stamps
//! that the work leaves behind.

pub mod health;
mod line;
pub mod metrics;
pub mod notebook;
pub mod pages;
mod settings;
pub mod zpages;

pub use line::Line;
pub use settings::{
    Encoding, HealthCheck, LogLevel, Logs, Metrics, MetricsLevel, Otlp, OtlpProtocol, Periodic,
    PeriodicExporter, Prometheus, Pull, PullExporter, Reader, Shutdown, Telemetry, ZpagesSettings,
};
