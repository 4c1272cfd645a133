//! What can be set about health and own telemetry: `extensions.health_check`, `service.telemetry`,
//! `service.shutdown`. Spelled as the collector that our users know spells it.

use std::fmt;
use std::time::Duration;

use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize};

use crate::model::units;

/// `extensions.health_check`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HealthCheck {
    /// `host:port` to listen on.
    pub endpoint: String,
    /// Path of the answer; `/` by default. `/live` and `/ready` answer beside it.
    pub path: String,
}

impl Default for HealthCheck {
    fn default() -> Self {
        Self {
            endpoint: "localhost:13133".to_owned(),
            path: "/".to_owned(),
        }
    }
}

/// `extensions.zpages`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ZpagesSettings {
    /// `host:port` to listen on.
    pub endpoint: String,
}

impl Default for ZpagesSettings {
    fn default() -> Self {
        Self {
            endpoint: "localhost:55679".to_owned(),
        }
    }
}

/// `service.telemetry`: what we say about ourselves.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Telemetry {
    /// Our log on stderr.
    pub logs: Logs,
    /// Our metrics.
    pub metrics: Metrics,
}

/// `service.telemetry.logs`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Logs {
    /// Lowest level written.
    pub level: LogLevel,
    /// One line for people, or one JSON object a line.
    pub encoding: Encoding,
}

/// Lowest level written to the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Everything about our own work.
    Debug,
    /// What an operator wants to know.
    #[default]
    Info,
    /// What an operator should look at.
    Warn,
    /// What went wrong.
    Error,
}

impl LogLevel {
    /// The name as it is written in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// How a log line looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// For people.
    #[default]
    Console,
    /// One JSON object a line.
    Json,
}

/// `service.telemetry.metrics`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Metrics {
    /// How much; `none` opens no port and pushes nothing.
    pub level: MetricsLevel,
    /// `host:port` of the Prometheus page; short for a `pull` reader. Ignored when `readers` is set.
    pub address: Option<String>,
    /// Where our metrics go; without any, the Prometheus page on `localhost:8888`.
    pub readers: Vec<Reader>,
}

/// How many metrics are offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MetricsLevel {
    /// No metrics at all.
    None,
    /// As `normal`; accepted because the collector has it.
    Basic,
    /// All that this program counts.
    #[default]
    Normal,
    /// As `normal`; accepted because the collector has it.
    Detailed,
}

/// One entry of `service.telemetry.metrics.readers`: `pull` or `periodic`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reader {
    /// Served to whoever scrapes.
    Pull(Pull),
    /// Pushed at an interval.
    Periodic(Periodic),
}

/// A `pull` reader.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pull {
    /// What it is served with.
    pub exporter: PullExporter,
}

/// The exporter of a `pull` reader.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PullExporter {
    /// The Prometheus page.
    pub prometheus: Prometheus,
}

/// Where the Prometheus page is served.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Prometheus {
    /// Host to listen on.
    pub host: String,
    /// Port to listen on.
    pub port: u16,
}

impl Default for Prometheus {
    fn default() -> Self {
        Self {
            host: "localhost".to_owned(),
            port: 8888,
        }
    }
}

/// A `periodic` reader.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Periodic {
    /// Time between two pushes: a duration, or a bare number of milliseconds as the collector has it.
    #[serde(deserialize_with = "milliseconds")]
    pub interval: Duration,
    /// Where they go.
    pub exporter: PeriodicExporter,
}

impl Default for Periodic {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(60),
            exporter: PeriodicExporter::default(),
        }
    }
}

/// The exporter of a `periodic` reader.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PeriodicExporter {
    /// OTLP.
    pub otlp: Otlp,
}

/// Where own metrics are pushed by OTLP.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Otlp {
    /// URL, `http://localhost:4317` by default; for HTTP with the path `/v1/metrics`.
    pub endpoint: String,
    /// `grpc`, `http/protobuf` or `http/json`.
    pub protocol: OtlpProtocol,
    /// Time a push may take.
    #[serde(deserialize_with = "milliseconds")]
    pub timeout: Duration,
}

impl Default for Otlp {
    fn default() -> Self {
        Self {
            endpoint: "http://localhost:4317".to_owned(),
            protocol: OtlpProtocol::default(),
            timeout: Duration::from_secs(10),
        }
    }
}

/// The protocol of a push.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub enum OtlpProtocol {
    /// gRPC.
    #[default]
    #[serde(rename = "grpc", alias = "grpc/protobuf")]
    Grpc,
    /// HTTP with protobuf bodies.
    #[serde(rename = "http/protobuf")]
    HttpProtobuf,
    /// HTTP with JSON bodies.
    #[serde(rename = "http/json")]
    HttpJson,
}

/// `service.shutdown`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Shutdown {
    /// From the signal to the end of the process, at most; what is not sent by then is dropped and counted.
    #[serde(with = "units::duration")]
    pub timeout: Duration,
}

impl Default for Shutdown {
    fn default() -> Self {
        Self {
            // A pod has 30 s between SIGTERM and SIGKILL by default.
            timeout: Duration::from_secs(25),
        }
    }
}

impl Metrics {
    /// The addresses at which the Prometheus page is served, as `host:port`.
    pub fn pages(&self) -> Vec<String> {
        if self.level == MetricsLevel::None {
            return Vec::new();
        }
        if self.readers.is_empty() {
            let default = Prometheus::default();
            let address = self.address.clone();
            return vec![address.unwrap_or_else(|| join(&default.host, default.port))];
        }
        let pulls = self.readers.iter().filter_map(|reader| match reader {
            Reader::Pull(pull) => Some(&pull.exporter.prometheus),
            Reader::Periodic(_) => None,
        });
        pulls.map(|page| join(&page.host, page.port)).collect()
    }

    /// The pushes asked for.
    pub fn pushes(&self) -> Vec<&Periodic> {
        if self.level == MetricsLevel::None {
            return Vec::new();
        }
        let pushes = self.readers.iter().filter_map(|reader| match reader {
            Reader::Periodic(periodic) => Some(periodic),
            Reader::Pull(_) => None,
        });
        pushes.collect()
    }
}

/// `host:port`, with brackets around an IPv6 address that has none.
fn join(host: &str, port: u16) -> String {
    if host.contains(':') && !host.starts_with('[') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

/// A duration text, or a bare number of milliseconds.
fn milliseconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    struct Either;
    impl Visitor<'_> for Either {
        type Value = Duration;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a duration like 10s, or a number of milliseconds")
        }
        fn visit_u64<E: Error>(self, value: u64) -> Result<Duration, E> {
            Ok(Duration::from_millis(value))
        }
        fn visit_i64<E: Error>(self, value: i64) -> Result<Duration, E> {
            let value = u64::try_from(value).map_err(|_| E::custom("a time cannot be negative"))?;
            Ok(Duration::from_millis(value))
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<Duration, E> {
            if let Ok(number) = text.trim().parse() {
                return Ok(Duration::from_millis(number));
            }
            units::parse_duration(text).ok_or_else(|| {
                E::custom(format!(
                    "`{text}` is no duration; write a number with a unit, like 10s, or milliseconds"
                ))
            })
        }
    }
    deserializer.deserialize_any(Either)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_said_means_the_page_on_8888() {
        let metrics = Metrics::default();
        assert_eq!(metrics.pages(), ["localhost:8888"]);
        assert!(metrics.pushes().is_empty());
    }

    #[test]
    fn readers_replace_the_default() {
        let metrics: Metrics = serde_json::from_str(
            r#"{"readers": [
                {"pull": {"exporter": {"prometheus": {"host": "::1", "port": 9}}}},
                {"periodic": {"interval": 500, "exporter": {"otlp": {"protocol": "http/json", "endpoint": "http://h/v1/metrics"}}}},
                {"periodic": {"interval": "2s"}}
            ]}"#,
        )
        .expect("readers");
        assert_eq!(metrics.pages(), ["[::1]:9"]);
        let pushes = metrics.pushes();
        assert_eq!(pushes[0].interval, Duration::from_millis(500));
        assert_eq!(pushes[0].exporter.otlp.protocol, OtlpProtocol::HttpJson);
        assert_eq!(pushes[1].interval, Duration::from_secs(2));
    }

    #[test]
    fn level_none_is_silent() {
        let metrics: Metrics =
            serde_json::from_str(r#"{"level": "none", "address": "x:1"}"#).expect("level");
        assert!(metrics.pages().is_empty());
    }

    #[test]
    fn unknown_keys_are_refused() {
        assert!(serde_json::from_str::<Telemetry>(r#"{"log": {}}"#).is_err());
        assert!(serde_json::from_str::<HealthCheck>(r#"{"port": 1}"#).is_err());
        assert!(serde_json::from_str::<Shutdown>(r#"{"timeout": "-1s"}"#).is_err());
    }
}
