//! What an exporter is told. Spelled as the OpenTelemetry collector spells it.
//!
//! Invariant: every default number of the exporters stands here and nowhere else.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Deserializer};

use crate::model::{Signal, units};
use crate::security::{AuthReference, ClientTls};

/// One exporter of any type.
#[derive(Clone, Debug, PartialEq)]
pub enum Settings {
    /// `otlp_grpc`, also `otlp`.
    OtlpGrpc(OtlpGrpcSettings),
    /// `otlp_http`, also `otlphttp`.
    OtlpHttp(OtlpHttpSettings),
    /// `debug`.
    Debug(DebugSettings),
    /// `file`.
    File(FileSettings),
}

impl Settings {
    /// Type names that [`Settings::read`] knows, old spellings included.
    pub const KINDS: &'static [&'static str] = &[
        "otlp_grpc",
        "otlp",
        "otlp_http",
        "otlphttp",
        "debug",
        "file",
    ];

    /// Reads the settings of an exporter of type `kind`; nothing after the colon means defaults.
    /// `None` when no such type exists.
    pub fn read<'de, D: Deserializer<'de>>(
        kind: &str,
        deserializer: D,
    ) -> Option<Result<Self, D::Error>> {
        fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
        where
            D: Deserializer<'de>,
            T: Deserialize<'de> + Default,
        {
            Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
        }
        Some(match kind {
            "otlp_grpc" | "otlp" => or_default(deserializer).map(Self::OtlpGrpc),
            "otlp_http" | "otlphttp" => or_default(deserializer).map(Self::OtlpHttp),
            "debug" => or_default(deserializer).map(Self::Debug),
            "file" => or_default(deserializer).map(Self::File),
            _ => return None,
        })
    }
}

/// An exporter over gRPC.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OtlpGrpcSettings {
    /// `host:port`, or a URL whose scheme decides about TLS.
    pub endpoint: String,
    /// Sent with every request.
    pub headers: BTreeMap<String, String>,
    /// How long one attempt may take.
    #[serde(with = "units::duration")]
    pub timeout: Duration,
    /// How bodies are squeezed; absent: not at all on this host, gzip elsewhere.
    pub compression: Option<Compression>,
    /// Requests are cut along spans, log records or metrics to at most this many bytes, before compression.
    #[serde(with = "units::size")]
    pub max_request_size: u64,
    /// What waits for the backend.
    pub sending_queue: QueueSettings,
    /// How long and how often.
    pub retry_on_failure: RetrySettings,
    /// Transport security.
    pub tls: ClientTls,
    /// The extension whose token goes with every request.
    pub auth: Option<AuthReference>,
    /// Spans of others end here: only those that tell of findings are sent (`annotate.late: span`).
    pub findings_only: bool,
}

impl Default for OtlpGrpcSettings {
    fn default() -> Self {
        Self {
            endpoint: String::new(),
            headers: BTreeMap::new(),
            timeout: Duration::from_secs(5),
            compression: None,
            max_request_size: MAX_REQUEST_SIZE,
            sending_queue: QueueSettings::default(),
            retry_on_failure: RetrySettings::default(),
            tls: ClientTls::default(),
            auth: None,
            findings_only: false,
        }
    }
}

/// An exporter over HTTP.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OtlpHttpSettings {
    /// Base URL: `v1/traces`, `v1/logs` or `v1/metrics` is appended.
    pub endpoint: String,
    /// URL for traces, used as it is.
    pub traces_endpoint: Option<String>,
    /// URL for log records, used as it is.
    pub logs_endpoint: Option<String>,
    /// URL for metrics, used as it is.
    pub metrics_endpoint: Option<String>,
    /// Sent with every request.
    pub headers: BTreeMap<String, String>,
    /// How long one attempt may take.
    #[serde(with = "units::duration")]
    pub timeout: Duration,
    /// How bodies are squeezed; absent: not at all on this host, gzip elsewhere.
    pub compression: Option<Compression>,
    /// Protobuf or JSON.
    pub encoding: Encoding,
    /// Requests are cut along spans to at most this many bytes, before compression.
    #[serde(with = "units::size")]
    pub max_request_size: u64,
    /// What waits for the backend.
    pub sending_queue: QueueSettings,
    /// How long and how often.
    pub retry_on_failure: RetrySettings,
    /// Transport security.
    pub tls: ClientTls,
    /// The extension whose token goes with every request.
    pub auth: Option<AuthReference>,
    /// Spans of others end here: only those that tell of findings are sent (`annotate.late: span`).
    pub findings_only: bool,
}

impl OtlpHttpSettings {
    /// The whole URL for `signal`, where one is given.
    pub fn whole(&self, signal: Signal) -> Option<&str> {
        match signal {
            Signal::Traces => self.traces_endpoint.as_deref(),
            Signal::Logs => self.logs_endpoint.as_deref(),
            Signal::Metrics => self.metrics_endpoint.as_deref(),
        }
    }
}

impl Default for OtlpHttpSettings {
    fn default() -> Self {
        Self {
            endpoint: String::new(),
            traces_endpoint: None,
            logs_endpoint: None,
            metrics_endpoint: None,
            headers: BTreeMap::new(),
            timeout: Duration::from_secs(30),
            compression: None,
            encoding: Encoding::Proto,
            max_request_size: MAX_REQUEST_SIZE,
            sending_queue: QueueSettings::default(),
            retry_on_failure: RetrySettings::default(),
            tls: ClientTls::default(),
            auth: None,
            findings_only: false,
        }
    }
}

/// 3.5 MiB: below the 4 MiB at which gRPC servers of most languages refuse by default.
const MAX_REQUEST_SIZE: u64 = 3_670_016;

/// How bodies are squeezed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compression {
    /// Not at all.
    None,
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
}

impl Compression {
    /// The word in `grpc-encoding` and `Content-Encoding`, if there is one to send.
    pub(super) const fn token(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Gzip => Some("gzip"),
            Self::Zstd => Some("zstd"),
        }
    }
}

/// How OTLP/HTTP bodies are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// application/x-protobuf.
    Proto,
    /// application/json.
    Json,
}

/// What waits for a backend.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QueueSettings {
    /// Off: one request at a time, and the receivers refuse while one waits.
    pub enabled: bool,
    /// Bytes that may wait, those being sent included.
    #[serde(with = "units::size")]
    pub queue_size: u64,
    /// What `queue_size` counts; only bytes.
    pub sizer: Sizer,
    /// Requests in flight at a time.
    pub num_consumers: usize,
    /// What happens when the queue is full.
    pub on_full: OnFull,
}

impl Default for QueueSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            queue_size: 256 << 20,
            sizer: Sizer::Bytes,
            num_consumers: 10,
            on_full: OnFull::Refuse,
        }
    }
}

/// What a queue counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sizer {
    /// Bytes: what memory is made of.
    Bytes,
}

/// What happens when a queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFull {
    /// When no exporter has room, the receivers refuse, retryably, until one has: nothing is lost. While
    /// another one has room, this one drops what is new, counted as `queue_full`.
    Refuse,
    /// This exporter drops what is new, counted as `queue_full`, and never stops the receivers.
    Drop,
}

/// When to try again, and how long.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetrySettings {
    /// Off: one attempt.
    pub enabled: bool,
    /// Wait after the first failure.
    #[serde(with = "units::duration")]
    pub initial_interval: Duration,
    /// A wait is stretched or cut by up to this share.
    pub randomization_factor: f64,
    /// Growth from wait to wait.
    pub multiplier: f64,
    /// Longest wait before jitter.
    #[serde(with = "units::duration")]
    pub max_interval: Duration,
    /// A request is given up after this long; 0 = never.
    #[serde(with = "units::duration")]
    pub max_elapsed_time: Duration,
}

impl Default for RetrySettings {
    fn default() -> Self {
        Self {
            enabled: true,
            initial_interval: Duration::from_secs(5),
            randomization_factor: 0.5,
            multiplier: 1.5,
            max_interval: Duration::from_secs(30),
            max_elapsed_time: Duration::from_secs(300),
        }
    }
}

impl RetrySettings {
    /// What is wrong with them, if anything (otlp_conformance Q-02).
    pub fn check(&self) -> Result<(), String> {
        let longest = self.initial_interval.max(self.max_interval);
        if !self.max_elapsed_time.is_zero() && self.max_elapsed_time < longest {
            return Err(format!(
                "max_elapsed_time ({:?}) is shorter than the longest wait ({longest:?})",
                self.max_elapsed_time
            ));
        }
        if !(0.0..=1.0).contains(&self.randomization_factor) {
            return Err("randomization_factor must lie between 0 and 1".to_owned());
        }
        if !self.multiplier.is_finite() || self.multiplier < 1.0 {
            return Err("multiplier must be 1 or more".to_owned());
        }
        Ok(())
    }
}

/// `debug`: what passes, for people.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DebugSettings {
    /// How much of it.
    pub verbosity: Verbosity,
}

impl Default for DebugSettings {
    fn default() -> Self {
        Self {
            verbosity: Verbosity::Normal,
        }
    }
}

/// How much `debug` shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verbosity {
    /// A line a request, and the marked spans.
    Basic,
    /// A line a span.
    Normal,
    /// Every attribute and event.
    Detailed,
}

/// `file`: OTLP/JSON, a request a line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FileSettings {
    /// Where to write; `-` is standard output.
    pub path: String,
    /// Add to what is there instead of starting anew.
    pub append: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: &str, json: &str) -> Settings {
        Settings::read(kind, &mut serde_json::Deserializer::from_str(json))
            .unwrap()
            .unwrap()
    }

    #[test]
    fn every_kind_is_known_and_silence_means_defaults() {
        for kind in Settings::KINDS {
            read(kind, "null");
            read(kind, "{}");
        }
        let mut json = serde_json::Deserializer::from_str("{}");
        assert!(Settings::read("kafka", &mut json).is_none());
        assert_eq!(
            read("otlp", "{}"),
            Settings::OtlpGrpc(OtlpGrpcSettings::default())
        );
        assert_eq!(
            read("otlphttp", "{}"),
            Settings::OtlpHttp(OtlpHttpSettings::default())
        );
    }

    #[test]
    fn the_collectors_spelling_is_understood() {
        let Settings::OtlpGrpc(settings) = read(
            "otlp_grpc",
            r#"{"endpoint": "jaeger:4317", "headers": {"x-team": "blue"}, "compression": "zstd",
                "tls": {"insecure": true}, "max_request_size": "3.5MiB",
                "sending_queue": {"queue_size": "1MiB", "num_consumers": 2, "sizer": "bytes"},
                "retry_on_failure": {"max_elapsed_time": "0"}}"#,
        ) else {
            panic!("gRPC");
        };
        assert_eq!(settings.max_request_size, MAX_REQUEST_SIZE);
        assert_eq!(settings.sending_queue.queue_size, 1 << 20);
        assert_eq!(settings.compression, Some(Compression::Zstd));
        assert_eq!(settings.tls.insecure, Some(true));
        assert_eq!(settings.retry_on_failure.max_elapsed_time, Duration::ZERO);
    }

    #[test]
    fn q_02_an_end_before_the_first_wait_is_refused() {
        let good = RetrySettings::default();
        assert_eq!(good.check(), Ok(()));
        let forever = RetrySettings {
            max_elapsed_time: Duration::ZERO,
            ..RetrySettings::default()
        };
        assert_eq!(forever.check(), Ok(()));
        let short = RetrySettings {
            max_elapsed_time: Duration::from_secs(10),
            ..RetrySettings::default()
        };
        assert!(short.check().unwrap_err().contains("max_elapsed_time"));
    }
}
