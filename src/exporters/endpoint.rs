//! Where an exporter sends to: endpoints as people write them, made into what a client needs.

use std::collections::BTreeMap;
use std::net::IpAddr;

use http::header::{HeaderName, HeaderValue, USER_AGENT};
use http::uri::{Authority, PathAndQuery, Scheme, Uri};
use http::{HeaderMap, uri};

use crate::model::Signal;

use super::settings::{Compression, OtlpGrpcSettings, OtlpHttpSettings};
use crate::security::ClientTls;

/// The signal whose path stands at the end of a path already.
fn signal_in(path: &str) -> Option<&'static str> {
    let path = path.trim_end_matches('/');
    [Signal::Traces, Signal::Logs, Signal::Metrics]
        .map(Signal::name)
        .into_iter()
        .find(|name| {
            path.strip_suffix(name)
                .is_some_and(|base| base.ends_with("/v1/"))
        })
}

/// Path of the gRPC method that takes a signal.
const fn method(signal: Signal) -> &'static str {
    match signal {
        Signal::Traces => "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
        Signal::Logs => "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
        Signal::Metrics => "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
    }
}

/// Why an exporter cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// No endpoint was given.
    #[error("`endpoint` is missing; write for example `{0}`")]
    NoEndpoint(&'static str),
    /// The endpoint cannot be understood.
    #[error("endpoint `{endpoint}`: {why}")]
    Endpoint {
        /// As it was written.
        endpoint: String,
        /// What is wrong.
        why: String,
    },
    /// A header cannot be sent.
    #[error("header `{0}` has a name or value that cannot be sent")]
    Header(String),
    /// Retry settings contradict each other.
    #[error("retry_on_failure: {0}")]
    Retry(String),
}

/// A destination: where to, and what goes with every request.
#[derive(Clone, Debug)]
pub(super) struct Destination {
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
    pub(super) compression: Compression,
}

impl Destination {
    /// Of an exporter over gRPC: `host:port`, `http://host:port`, `dns:///host:port`.
    pub(super) fn grpc(settings: &OtlpGrpcSettings, signal: Signal) -> Result<Self, BuildError> {
        let written = settings.endpoint.as_str();
        if written.is_empty() {
            return Err(BuildError::NoEndpoint("endpoint: localhost:4317"));
        }
        let wrong = |why: &str| BuildError::Endpoint {
            endpoint: written.to_owned(),
            why: why.to_owned(),
        };
        if written.starts_with("unix:") {
            return Err(wrong("unix sockets are not supported; use host:port"));
        }
        let bare = written.strip_prefix("dns:///").unwrap_or(written);
        let (scheme, rest) = bare.split_once("://").unwrap_or(("", bare));
        let scheme_spoken = spoken(scheme, &settings.tls, written)?;
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        if !path.is_empty() {
            return Err(wrong("gRPC endpoints have no path; write host:port"));
        }
        let authority: Authority = host.parse().map_err(|_| wrong("this is no host:port"))?;
        reachable(&authority).map_err(wrong)?;
        if authority.port().is_none() && scheme.is_empty() {
            return Err(wrong("the port is missing; OTLP over gRPC has 4317"));
        }
        let uri = uri::Builder::new()
            .scheme(scheme_spoken)
            .authority(authority)
            .path_and_query(method(signal))
            .build()
            .map_err(|_| wrong("this is no host:port"))?;
        Self::new(uri, &settings.headers, settings.compression)
    }

    /// Of an exporter over HTTP: a base URL and `v1/traces`, `v1/logs` or `v1/metrics`, or a URL for the signal as it is.
    pub(super) fn http(settings: &OtlpHttpSettings, signal: Signal) -> Result<Self, BuildError> {
        let whole = settings.whole(signal);
        let written = whole.unwrap_or(&settings.endpoint);
        if written.is_empty() {
            return Err(BuildError::NoEndpoint("endpoint: http://localhost:4318"));
        }
        let wrong = |why: &str| BuildError::Endpoint {
            endpoint: written.to_owned(),
            why: why.to_owned(),
        };
        let Some((scheme, _)) = written.split_once("://") else {
            return Err(wrong("a URL is needed; put http:// in front"));
        };
        spoken(scheme, &settings.tls, written)?;
        let base: Uri = written.parse().map_err(|_| wrong("this is no URL"))?;
        let mut parts = base.into_parts();
        if let Some(authority) = &parts.authority {
            reachable(authority).map_err(wrong)?;
        }
        if whole.is_none() {
            let given = parts.path_and_query.as_ref();
            let path = given.map_or("/", PathAndQuery::path);
            if let Some(name) = signal_in(path) {
                return Err(BuildError::Endpoint {
                    endpoint: written.to_owned(),
                    why: format!(
                        "`v1/{name}` is put behind it; leave it out, or write the whole as `{name}_endpoint`"
                    ),
                });
            }
            let slash = if path.ends_with('/') { "" } else { "/" };
            let query = given.and_then(PathAndQuery::query);
            let query = query.map_or_else(String::new, |query| format!("?{query}"));
            let joined = format!("{path}{slash}v1/{}{query}", signal.name());
            parts.path_and_query = Some(joined.parse().map_err(|_| wrong("this is no URL"))?);
        }
        let uri = Uri::from_parts(parts).map_err(|_| wrong("this is no URL"))?;
        Self::new(uri, &settings.headers, settings.compression)
    }

    /// Whether TLS is spoken there.
    pub(super) fn is_secure(&self) -> bool {
        self.uri.scheme() == Some(&Scheme::HTTPS)
    }

    /// Whether only this host hears what is sent there.
    pub(super) fn is_near(&self) -> bool {
        is_loopback(&self.uri)
    }

    /// `http://host:port`, for the log: without user, password and query.
    pub(super) fn host(&self) -> String {
        let authority = self.uri.authority().map_or("", Authority::as_str);
        let host = authority
            .rsplit_once('@')
            .map_or(authority, |(_, host)| host);
        format!("{}://{host}", self.uri.scheme_str().unwrap_or("http"))
    }

    /// As [`Destination::host`], with the path.
    pub(super) fn url(&self) -> String {
        format!("{}{}", self.host(), self.uri.path())
    }

    fn new(
        uri: Uri,
        texts: &BTreeMap<String, String>,
        compression: Option<Compression>,
    ) -> Result<Self, BuildError> {
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, HeaderValue::from_static(PRODUCT));
        for (name, value) in texts {
            let unsendable = || BuildError::Header(name.clone());
            let key: HeaderName = name.parse().map_err(|_| unsendable())?;
            let mut value: HeaderValue = value.parse().map_err(|_| unsendable())?;
            // Headers carry tokens: kept out of header compression tables and debug prints.
            value.set_sensitive(key != USER_AGENT);
            headers.insert(key, value);
        }
        let elsewhere = if is_loopback(&uri) {
            Compression::None
        } else {
            Compression::Gzip
        };
        Ok(Self {
            uri,
            headers,
            compression: compression.unwrap_or(elsewhere),
        })
    }
}

/// That there is a host, and a port that can be connected to where one is written.
fn reachable(authority: &Authority) -> Result<(), &'static str> {
    let (host, written) = (authority.host(), authority.as_str());
    if host.is_empty() {
        return Err("the host is missing");
    }
    let (_, place) = written.rsplit_once('@').unwrap_or(("", written));
    let port = place.strip_prefix(host).unwrap_or_default();
    let port = port.strip_prefix(':').unwrap_or("4318");
    match port.parse::<u16>() {
        Ok(1..) => Ok(()),
        _ => Err("the port must be a number from 1 to 65535"),
    }
}

/// Who we are.
const PRODUCT: &str = concat!("agent-sentinel/", env!("CARGO_PKG_VERSION"), " (rust)");

/// What is spoken to an endpoint. A scheme wins over everything under `tls`.
fn spoken(scheme: &str, tls: &ClientTls, written: &str) -> Result<Scheme, BuildError> {
    match scheme.to_ascii_lowercase().as_str() {
        "https" => Ok(Scheme::HTTPS),
        "" if tls.is_wanted() => Ok(Scheme::HTTPS),
        "" | "http" => Ok(Scheme::HTTP),
        other => Err(BuildError::Endpoint {
            endpoint: written.to_owned(),
            why: format!("the scheme `{other}` is not supported; use http or https"),
        }),
    }
}

fn is_loopback(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address
            .parse()
            .is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grpc(endpoint: &str) -> Result<String, BuildError> {
        let settings = OtlpGrpcSettings {
            endpoint: endpoint.to_owned(),
            ..OtlpGrpcSettings::default()
        };
        Destination::grpc(&settings, Signal::Traces)
            .map(|to| to.uri.authority().unwrap().to_string())
    }

    fn http(endpoint: &str) -> Result<String, BuildError> {
        let settings = OtlpHttpSettings {
            endpoint: endpoint.to_owned(),
            ..OtlpHttpSettings::default()
        };
        Destination::http(&settings, Signal::Traces).map(|to| to.uri.to_string())
    }

    #[test]
    fn e_01_grpc_takes_hosts_and_urls() {
        for endpoint in [
            "jaeger:4317",
            "http://jaeger:4317",
            "http://jaeger:4317/",
            "dns:///jaeger:4317",
        ] {
            assert_eq!(grpc(endpoint).unwrap(), "jaeger:4317", "{endpoint}");
        }
        assert_eq!(grpc("[::1]:4317").unwrap(), "[::1]:4317");
        assert_eq!(grpc("http://jaeger").unwrap(), "jaeger");
        for endpoint in [
            "",
            "jaeger",
            "unix:/run/x",
            "http://jaeger:4317/path",
            "a b:1",
            "ftp://x:1",
        ] {
            assert!(grpc(endpoint).is_err(), "{endpoint}");
        }
    }

    #[test]
    fn e_01_the_scheme_decides_about_tls() {
        let spoken = |endpoint: &str, tls: ClientTls| {
            let settings = OtlpGrpcSettings {
                endpoint: endpoint.to_owned(),
                tls,
                ..OtlpGrpcSettings::default()
            };
            let to = Destination::grpc(&settings, Signal::Traces).unwrap();
            to.uri.scheme_str().unwrap().to_owned()
        };
        let with = |insecure: Option<bool>| ClientTls {
            insecure,
            ..ClientTls::default()
        };
        for (endpoint, insecure, want) in [
            ("jaeger:4317", None, "http"),
            ("jaeger:4317", Some(true), "http"),
            ("jaeger:4317", Some(false), "https"),
            ("http://jaeger:4317", Some(false), "http"),
            ("https://jaeger:4317", Some(true), "https"),
            ("HTTPS://jaeger:4317", None, "https"),
        ] {
            assert_eq!(spoken(endpoint, with(insecure)), want, "{endpoint}");
        }
        let roots = ClientTls {
            ca_file: Some("ca.pem".to_owned()),
            ..ClientTls::default()
        };
        assert_eq!(spoken("jaeger:4317", roots), "https");
        assert_eq!(http("https://h").unwrap(), "https://h/v1/traces");
    }

    #[test]
    fn e_02_the_base_is_joined_with_one_slash() {
        for (base, expected) in [
            ("http://h:4318", "http://h:4318/v1/traces"),
            ("http://h:4318/", "http://h:4318/v1/traces"),
            (
                "http://h:4318/mycollector",
                "http://h:4318/mycollector/v1/traces",
            ),
            (
                "http://h:4318/mycollector/",
                "http://h:4318/mycollector/v1/traces",
            ),
            ("http://h/a?key=1", "http://h/a/v1/traces?key=1"),
        ] {
            assert_eq!(http(base).unwrap(), expected);
        }
        assert!(
            http("localhost:4318")
                .unwrap_err()
                .to_string()
                .contains("http://")
        );
    }

    #[test]
    fn the_log_is_told_no_secrets() {
        let settings = OtlpHttpSettings {
            endpoint: "http://user:hunter2@h:4318/a?token=hunter2".to_owned(),
            ..OtlpHttpSettings::default()
        };
        let to = Destination::http(&settings, Signal::Traces).unwrap();
        assert_eq!(to.url(), "http://h:4318/a/v1/traces");
        let settings = OtlpGrpcSettings {
            endpoint: "http://user:hunter2@[::1]:4317".to_owned(),
            ..OtlpGrpcSettings::default()
        };
        let to = Destination::grpc(&settings, Signal::Traces).unwrap();
        assert_eq!(to.host(), "http://[::1]:4317");
    }

    #[test]
    fn e_02_an_endpoint_for_traces_is_used_as_it_is() {
        let whole = |endpoint: &str| {
            let settings = OtlpHttpSettings {
                endpoint: "http://elsewhere".to_owned(),
                traces_endpoint: Some(endpoint.to_owned()),
                ..OtlpHttpSettings::default()
            };
            Destination::http(&settings, Signal::Traces)
                .unwrap()
                .uri
                .to_string()
        };
        assert_eq!(whole("http://h:4318"), "http://h:4318/");
        assert_eq!(whole("http://h:4318/x/y"), "http://h:4318/x/y");
    }

    #[test]
    fn e_05_bodies_stay_plain_on_this_host_only() {
        let compression = |endpoint: &str| {
            let settings = OtlpGrpcSettings {
                endpoint: endpoint.to_owned(),
                ..OtlpGrpcSettings::default()
            };
            Destination::grpc(&settings, Signal::Traces)
                .unwrap()
                .compression
        };
        for near in ["localhost:1", "127.0.0.1:1", "127.9.9.9:1", "[::1]:1"] {
            assert_eq!(compression(near), Compression::None, "{near}");
        }
        for far in ["jaeger:1", "10.0.0.1:1", "localhost.example.com:1"] {
            assert_eq!(compression(far), Compression::Gzip, "{far}");
        }
    }

    #[test]
    fn e_04_headers_go_with_every_request_and_stay_secret() {
        let mut settings = OtlpGrpcSettings {
            endpoint: "localhost:1".to_owned(),
            ..OtlpGrpcSettings::default()
        };
        settings
            .headers
            .insert("Authorization".to_owned(), "Bearer x".to_owned());
        let to = Destination::grpc(&settings, Signal::Traces).unwrap();
        assert_eq!(to.headers.get("authorization").unwrap(), "Bearer x");
        assert!(!format!("{to:?}").contains("Bearer"));
        assert!(
            to.headers
                .get(USER_AGENT)
                .unwrap()
                .to_str()
                .unwrap()
                .starts_with("agent-sentinel/")
        );
        settings
            .headers
            .insert("bad name".to_owned(), String::new());
        assert_eq!(
            Destination::grpc(&settings, Signal::Traces).unwrap_err(),
            BuildError::Header("bad name".to_owned())
        );
    }

    #[test]
    fn log_records_go_to_where_log_records_go() {
        let mut http = OtlpHttpSettings {
            endpoint: "http://h:4318/base/".into(),
            ..OtlpHttpSettings::default()
        };
        let uri = |http: &OtlpHttpSettings| {
            let to = Destination::http(http, Signal::Logs).unwrap();
            to.uri.to_string()
        };
        assert_eq!(uri(&http), "http://h:4318/base/v1/logs");
        http.traces_endpoint = Some("http://t:1/spans".into());
        assert_eq!(uri(&http), "http://h:4318/base/v1/logs");
        http.logs_endpoint = Some("http://l:1/own".into());
        assert_eq!(uri(&http), "http://l:1/own");
        let grpc = OtlpGrpcSettings {
            endpoint: "h:4317".into(),
            ..OtlpGrpcSettings::default()
        };
        let to = Destination::grpc(&grpc, Signal::Logs).unwrap();
        let method = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";
        assert_eq!(to.uri.path(), method);
    }
}
