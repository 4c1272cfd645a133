//! Releases -> backends: one queue and one retry for every kind of exporter.
//!
//! Invariant: every span handed to an exporter ends as sent or as dropped for exactly one reason; until
//! then it is queued or in flight.

mod settings;

pub use settings::{
    Compression, DebugSettings, Encoding, FileSettings, OnFull, OtlpGrpcSettings, OtlpHttpSettings,
    QueueSettings, RetrySettings, Settings, Sizer, TlsSettings, Verbosity,
};
