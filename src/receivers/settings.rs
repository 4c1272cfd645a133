//! What a receiver is told: addresses, sizes, times. Spelled as the OpenTelemetry collector spells it.
//!
//! Invariant: every default number of the receivers stands here and nowhere else.

use std::time::Duration;

use serde::{Deserialize, Deserializer};

use crate::model::{Signal, units};
use crate::security::{AuthReference, ServerTls};

use super::cors::CorsSettings;
use super::limits::{self, Keepalive, Limits, ServerParameters};

/// Bytes in a mebibyte.
const MIB: u64 = 1 << 20;
/// Room for any token, and for what proxies add.
const HEADERS: u64 = 16 << 10;
/// More agents than one collector has as a rule. Each takes a file of the process.
const CONNECTIONS: usize = 1024;

/// `receivers: otlp:`. Silent means both protocols on this host only.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Which protocols are served.
    #[serde(deserialize_with = "null_is_default")]
    pub protocols: Protocols,
}

impl Default for Settings {
    fn default() -> Self {
        let protocols = Protocols {
            grpc: Some(GrpcSettings::default()),
            http: Some(HttpSettings::default()),
        };
        Self { protocols }
    }
}

impl Settings {
    /// What would keep a protocol from ever taking a request: the path of the key, and what is wrong with it.
    pub fn faults(&self) -> Vec<([&'static str; 3], &'static str)> {
        let mut faults = Vec::new();
        let mut served = |protocol, limits: Limits, size| {
            let of = limits::faults(&limits, size).into_iter();
            faults.extend(of.map(|(key, what)| (["protocols", protocol, key], what)));
        };
        if let Some(grpc) = &self.protocols.grpc {
            let size = match grpc.max_recv_msg_size_mib {
                Some(_) => "max_recv_msg_size_mib",
                None => "max_request_size",
            };
            served("grpc", grpc.limits(), size);
        }
        if let Some(http) = &self.protocols.http {
            served("http", http.limits(), "max_request_body_size");
            faults.extend(
                http.path_faults()
                    .map(|(key, what)| (["protocols", "http", key], what)),
            );
        }
        faults
    }
}

/// The protocols of the OTLP receiver. One that is not named is not served; a name without a value is
/// served with defaults.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocols {
    /// OTLP over gRPC.
    #[serde(default, deserialize_with = "named")]
    pub grpc: Option<GrpcSettings>,
    /// OTLP over HTTP, protobuf and JSON.
    #[serde(default, deserialize_with = "named")]
    pub http: Option<HttpSettings>,
}

impl Default for Protocols {
    fn default() -> Self {
        Settings::default().protocols
    }
}

/// `protocols: grpc:`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GrpcSettings {
    /// Address to listen on, `host:port`.
    pub endpoint: String,
    /// The collector's name for the size limit, in MiB. Wins over `max_request_size`.
    pub max_recv_msg_size_mib: Option<u64>,
    /// Largest request in bytes, before and after inflating.
    #[serde(with = "units::size")]
    pub max_request_size: u64,
    /// Largest head of a request in bytes.
    #[serde(with = "units::size")]
    pub max_header_bytes: u64,
    /// Connections at a time.
    pub max_connections: usize,
    /// Requests served at a time on one connection.
    pub max_concurrent_streams: u32,
    /// How long the first request of a connection may take to show its head.
    #[serde(with = "units::duration")]
    pub read_header_timeout: Duration,
    /// How long a request's body may take to arrive.
    #[serde(with = "units::duration")]
    pub read_timeout: Duration,
    /// How long connections last, and when silent peers are asked.
    pub keepalive: Keepalive,
    /// Transport security; absent: plain text.
    pub tls: Option<ServerTls>,
    /// Who is let in; absent: everybody.
    pub auth: Option<AuthReference>,
}

impl Default for GrpcSettings {
    fn default() -> Self {
        Self {
            endpoint: "localhost:4317".to_owned(),
            max_recv_msg_size_mib: None,
            max_request_size: 64 * MIB,
            max_header_bytes: HEADERS,
            max_connections: CONNECTIONS,
            max_concurrent_streams: 256,
            read_header_timeout: Duration::from_secs(60),
            read_timeout: Duration::from_secs(60),
            keepalive: Keepalive::default(),
            tls: None,
            auth: None,
        }
    }
}

impl GrpcSettings {
    /// What the server needs of them.
    pub fn limits(&self) -> Limits {
        let bytes = self
            .max_recv_msg_size_mib
            .map_or(self.max_request_size, |mib| mib.saturating_mul(MIB));
        let keepalive = &self.keepalive.server_parameters;
        Limits {
            request_bytes: whole(bytes),
            header_bytes: whole(self.max_header_bytes),
            connections: self.max_connections,
            concurrent_streams: self.max_concurrent_streams,
            header_time: self.read_header_timeout,
            body_time: self.read_timeout,
            idle_time: keepalive.max_connection_idle,
            age: (
                keepalive.max_connection_age,
                keepalive.max_connection_age_grace,
            ),
            ping: (keepalive.time, keepalive.timeout),
        }
    }
}

/// `protocols: http:`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HttpSettings {
    /// Address to listen on, `host:port`.
    pub endpoint: String,
    /// Largest request body in bytes, before and after inflating.
    #[serde(with = "units::size", alias = "max_request_size")]
    pub max_request_body_size: u64,
    /// Path that takes traces.
    pub traces_url_path: String,
    /// Path that takes log records.
    pub logs_url_path: String,
    /// Path that takes metrics.
    pub metrics_url_path: String,
    /// Largest head of a request in bytes.
    #[serde(with = "units::size")]
    pub max_header_bytes: u64,
    /// Connections at a time.
    pub max_connections: usize,
    /// Requests served at a time on one HTTP/2 connection.
    pub max_concurrent_streams: u32,
    /// How long a connection may do nothing; 0 = for ever.
    #[serde(with = "units::duration")]
    pub idle_timeout: Duration,
    /// How long the head of a request may take, and how long a connection may stay silent.
    #[serde(with = "units::duration")]
    pub read_header_timeout: Duration,
    /// How long a request's body may take to arrive.
    #[serde(with = "units::duration")]
    pub read_timeout: Duration,
    /// Pages in a browser that may send.
    pub cors: CorsSettings,
    /// Transport security; absent: plain text.
    pub tls: Option<ServerTls>,
    /// Who is let in; absent: everybody.
    pub auth: Option<AuthReference>,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            endpoint: "localhost:4318".to_owned(),
            max_request_body_size: 64 * MIB,
            traces_url_path: "/v1/traces".to_owned(),
            logs_url_path: "/v1/logs".to_owned(),
            metrics_url_path: "/v1/metrics".to_owned(),
            max_header_bytes: HEADERS,
            max_connections: CONNECTIONS,
            max_concurrent_streams: 256,
            idle_timeout: Duration::from_secs(60),
            read_header_timeout: Duration::from_secs(60),
            read_timeout: Duration::from_secs(60),
            cors: CorsSettings::default(),
            tls: None,
            auth: None,
        }
    }
}

impl HttpSettings {
    /// The path of each signal, with a slash before it and none behind.
    pub(super) fn paths(&self) -> [(Signal, String); 3] {
        [
            (Signal::Traces, &self.traces_url_path),
            (Signal::Logs, &self.logs_url_path),
            (Signal::Metrics, &self.metrics_url_path),
        ]
        .map(|(signal, path)| (signal, format!("/{}", path.trim_matches('/'))))
    }

    /// Keys of paths that are none, or the same as another's, and what is wrong with them.
    fn path_faults(&self) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        let plain = |b: u8| b.is_ascii_graphic() && !matches!(b, b'?' | b'#');
        let none = |path: &str| !path.starts_with('/') || !path.bytes().all(plain);
        let [traces, logs, metrics] = self.paths().map(|(_, path)| path);
        let twice = "the path of another signal too: each needs its own";
        let faults = [
            (
                "traces_url_path",
                none(&self.traces_url_path).then_some("no path of a URL; write it like /v1/traces"),
            ),
            (
                "logs_url_path",
                none(&self.logs_url_path)
                    .then_some("no path of a URL; write it like /v1/logs")
                    .or((logs == traces).then_some(twice)),
            ),
            (
                "metrics_url_path",
                none(&self.metrics_url_path)
                    .then_some("no path of a URL; write it like /v1/metrics")
                    .or((metrics == traces || metrics == logs).then_some(twice)),
            ),
        ];
        faults
            .into_iter()
            .filter_map(|(key, what)| Some((key, what?)))
    }

    /// What the server needs of them.
    pub fn limits(&self) -> Limits {
        let keepalive = ServerParameters::default();
        Limits {
            request_bytes: whole(self.max_request_body_size),
            header_bytes: whole(self.max_header_bytes),
            connections: self.max_connections,
            concurrent_streams: self.max_concurrent_streams,
            header_time: self.read_header_timeout,
            body_time: self.read_timeout,
            idle_time: self.idle_timeout,
            age: (
                keepalive.max_connection_age,
                keepalive.max_connection_age_grace,
            ),
            ping: (keepalive.time, keepalive.timeout),
        }
    }
}

/// The queue between the receivers and the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IntakeSettings {
    /// Requests that may wait.
    pub max_requests: usize,
    /// Bytes of bodies that may wait.
    #[serde(with = "units::size")]
    pub max_bytes: u64,
    /// Bytes of bodies that may be under way, of all clients and receivers: those that arrive, and those being read.
    #[serde(with = "units::size")]
    pub max_arriving_bytes: u64,
    /// A client that holds its part is refused while others wait. Off: first come, first served.
    pub fair_share: bool,
    /// How long a request waits where a quarter of the queue is full, before it is refused if there is no room at all.
    #[serde(with = "units::duration")]
    pub wait_for_room: Duration,
    /// What a refused client is told to wait before it tries again.
    #[serde(with = "units::duration")]
    pub retry_after: Duration,
}

impl Default for IntakeSettings {
    fn default() -> Self {
        Self {
            max_requests: 4096,
            max_bytes: 64 * MIB,
            max_arriving_bytes: 256 * MIB,
            fair_share: true,
            wait_for_room: Duration::from_secs(1),
            retry_after: Duration::from_secs(1),
        }
    }
}

fn whole(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// A key that is there counts, even with nothing after the colon.
fn named<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    null_is_default(deserializer).map(Some)
}

/// Nothing after the colon means defaults, as in the collector.
fn null_is_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Settings {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn silent_means_both_protocols_on_this_host() {
        let settings = read("{}");
        assert_eq!(settings, Settings::default());
        assert_eq!(settings.protocols.grpc.unwrap().endpoint, "localhost:4317");
        assert_eq!(settings.protocols.http.unwrap().endpoint, "localhost:4318");
        assert_eq!(read(r#"{"protocols": null}"#), Settings::default());
    }

    #[test]
    fn only_named_protocols_are_served_and_a_bare_name_is_enough() {
        let settings = read(r#"{"protocols": {"grpc": null}}"#);
        assert_eq!(settings.protocols.grpc, Some(GrpcSettings::default()));
        assert_eq!(settings.protocols.http, None);
    }

    #[test]
    fn r_03_the_limit_is_configurable_in_both_spellings() {
        let settings = read(r#"{"protocols": {"grpc": {"max_recv_msg_size_mib": 4}}}"#);
        assert_eq!(
            settings.protocols.grpc.unwrap().limits().request_bytes,
            4 << 20
        );
        let settings = read(r#"{"protocols": {"http": {"max_request_body_size": "1MiB"}}}"#);
        assert_eq!(
            settings.protocols.http.unwrap().limits().request_bytes,
            1 << 20
        );
        let defaults = Settings::default().protocols;
        assert_eq!(defaults.grpc.unwrap().limits().request_bytes, 64 << 20);
        assert_eq!(defaults.http.unwrap().limits().request_bytes, 64 << 20);
    }

    #[test]
    fn an_unknown_key_is_named() {
        let error = serde_json::from_str::<Settings>(r#"{"protocols": {"grcp": {}}}"#).unwrap_err();
        assert!(error.to_string().contains("grcp"), "{error}");
    }
}
