//! How much one listener takes of the machine: what can be set, and what the servers make of it.

use std::time::Duration;

use http::HeaderMap;
use serde::Deserialize;

use crate::model::units;

use super::refusal::Refusal;

/// What a header costs beside its name and value, as HTTP/2 counts it.
const HEADER_EXTRA: usize = 32;

/// Limits that both protocols share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest request in bytes, before and after inflating.
    pub request_bytes: usize,
    /// Largest head of a request in bytes.
    pub header_bytes: usize,
    /// Connections at a time.
    pub connections: usize,
    /// Requests served at a time on one HTTP/2 connection.
    pub concurrent_streams: u32,
    /// How long the head of a request may take.
    pub header_time: Duration,
    /// How long the body of a request may take.
    pub body_time: Duration,
    /// How long a connection may do nothing; zero: for ever.
    pub idle_time: Duration,
    /// How long a connection may last, and what it gets to end; zero: for ever.
    pub age: (Duration, Duration),
    /// When HTTP/2 asks a silent peer whether it is still there, and how long it waits for the answer.
    pub ping: (Duration, Duration),
}

impl Limits {
    /// Refuses a head that is too large.
    pub(super) fn check_headers(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let bytes: usize = headers
            .iter()
            .map(|(name, value)| name.as_str().len() + value.len() + HEADER_EXTRA)
            .sum();
        if bytes > self.header_bytes {
            return Err(Refusal::headers_too_large(self.header_bytes));
        }
        Ok(())
    }
}

/// `keepalive:` of gRPC, as the collector has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Keepalive {
    /// The server's side.
    pub server_parameters: ServerParameters,
}

/// `keepalive: server_parameters:`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerParameters {
    /// How long a connection may do nothing; 0 = for ever.
    #[serde(with = "units::duration")]
    pub max_connection_idle: Duration,
    /// How long a connection may last, up to a tenth more or less, so that load balancers can balance; 0 = for ever.
    #[serde(with = "units::duration")]
    pub max_connection_age: Duration,
    /// What requests under way get to be answered then.
    #[serde(with = "units::duration")]
    pub max_connection_age_grace: Duration,
    /// After this long without a word the peer is asked whether it is still there.
    #[serde(with = "units::duration")]
    pub time: Duration,
    /// How long its answer may take.
    #[serde(with = "units::duration")]
    pub timeout: Duration,
}

impl Default for ServerParameters {
    fn default() -> Self {
        Self {
            max_connection_idle: Duration::from_secs(600),
            max_connection_age: Duration::ZERO,
            max_connection_age_grace: Duration::from_secs(30),
            time: Duration::from_secs(60),
            timeout: Duration::from_secs(20),
        }
    }
}

/// What would keep a listener from ever taking a request: the key, and what is wrong with it.
pub(super) fn faults(limits: &Limits, size: &'static str) -> Vec<(&'static str, &'static str)> {
    let no_time = "0: no request would come in time";
    [
        (
            limits.request_bytes == 0,
            size,
            "0 bytes: no request would be small enough",
        ),
        (
            limits.header_bytes < 1024,
            "max_header_bytes",
            "less than 1024 bytes: no client could say what it wants",
        ),
        (
            limits.connections == 0,
            "max_connections",
            "0 connections: nobody would be served",
        ),
        (
            limits.concurrent_streams == 0,
            "max_concurrent_streams",
            "0 streams: nothing would be served",
        ),
        (limits.header_time.is_zero(), "read_header_timeout", no_time),
        (limits.body_time.is_zero(), "read_timeout", no_time),
    ]
    .into_iter()
    .filter(|(wrong, ..)| *wrong)
    .map(|(_, key, what)| (key, what))
    .collect()
}
