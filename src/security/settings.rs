//! What can be set about TLS and tokens. Spelled as the OpenTelemetry collector spells it.

use std::fmt;
use std::time::Duration;

use serde::Deserialize;

use crate::model::units;

/// A version of TLS. Older ones are broken and not offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum TlsVersion {
    /// RFC 5246.
    #[default]
    #[serde(rename = "1.2")]
    V1_2,
    /// RFC 8446.
    #[serde(rename = "1.3")]
    V1_3,
}

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Hides `text`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for who has to use it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// `tls:` of a receiver's protocol. There is TLS when it is written.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerTls {
    /// Our certificate and those between it and the root, in PEM.
    pub cert_file: Option<String>,
    /// The same, in place.
    pub cert_pem: Option<String>,
    /// The private key of the first certificate, in PEM.
    pub key_file: Option<String>,
    /// The same, in place.
    pub key_pem: Option<Secret>,
    /// Roots of clients: who has no certificate of theirs is not let in.
    pub client_ca_file: Option<String>,
    /// Lowest version spoken.
    pub min_version: TlsVersion,
    /// Highest version spoken; absent: the highest there is.
    pub max_version: Option<TlsVersion>,
    /// How long a handshake may take.
    #[serde(with = "units::duration")]
    pub handshake_timeout: Duration,
}

impl Default for ServerTls {
    fn default() -> Self {
        Self {
            cert_file: None,
            cert_pem: None,
            key_file: None,
            key_pem: None,
            client_ca_file: None,
            min_version: TlsVersion::default(),
            max_version: None,
            handshake_timeout: Duration::from_secs(10),
        }
    }
}

impl ServerTls {
    /// What would keep it from working: the key, and what is wrong with it.
    pub fn faults(&self) -> Vec<(&'static str, String)> {
        let cert = (self.cert_file.is_some(), self.cert_pem.is_some());
        let key = (self.key_file.is_some(), self.key_pem.is_some());
        let mut faults = pair(cert, key);
        if cert == (false, false) && key == (false, false) {
            let what = "has neither `cert_file` nor `key_file`: a server needs both";
            faults.push(("", what.to_owned()));
        }
        faults.extend(order(self.min_version, self.max_version));
        if self.handshake_timeout.is_zero() {
            let what = "is 0: no client would be quick enough";
            faults.push(("handshake_timeout", what.to_owned()));
        }
        faults
    }
}

/// `tls:` of an exporter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClientTls {
    /// Plain text where the endpoint has no scheme. Silence means that too, unless another key here asks for TLS. A
    /// scheme wins.
    pub insecure: Option<bool>,
    /// Takes any certificate: nobody is known to be at the other end.
    pub insecure_skip_verify: bool,
    /// Roots that the backend's certificate must lead to, in PEM; absent: those of the system.
    pub ca_file: Option<String>,
    /// The same, in place.
    pub ca_pem: Option<String>,
    /// Those of the system beside `ca_file`.
    pub include_system_ca_certs_pool: bool,
    /// Our certificate, for backends that want one, in PEM.
    pub cert_file: Option<String>,
    /// The same, in place.
    pub cert_pem: Option<String>,
    /// Its private key, in PEM.
    pub key_file: Option<String>,
    /// The same, in place.
    pub key_pem: Option<Secret>,
    /// The name that the backend's certificate must have, in place of the host of the endpoint.
    pub server_name_override: Option<String>,
    /// Lowest version spoken.
    pub min_version: TlsVersion,
    /// Highest version spoken; absent: the highest there is.
    pub max_version: Option<TlsVersion>,
}

impl ClientTls {
    /// Whether TLS is spoken to an endpoint without a scheme.
    pub fn is_wanted(&self) -> bool {
        match self.insecure {
            Some(insecure) => !insecure,
            None => self.is_used(),
        }
    }

    /// Whether a key is written that means something to TLS alone.
    pub fn is_used(&self) -> bool {
        let silent = Self {
            insecure: self.insecure,
            ..Self::default()
        };
        *self != silent
    }

    /// What would keep it from working: the key, and what is wrong with it.
    pub fn faults(&self) -> Vec<(&'static str, String)> {
        let cert = (self.cert_file.is_some(), self.cert_pem.is_some());
        let key = (self.key_file.is_some(), self.key_pem.is_some());
        let mut faults = pair(cert, key);
        if self.ca_file.is_some() && self.ca_pem.is_some() {
            let what = "stands beside `ca_file`: one of them is enough";
            faults.push(("ca_pem", what.to_owned()));
        }
        if let Some(name) = &self.server_name_override
            && rustls::pki_types::ServerName::try_from(name.as_str()).is_err()
        {
            let what = format!("is `{name}`, which is no name of a host and no address");
            faults.push(("server_name_override", what));
        }
        faults.extend(order(self.min_version, self.max_version));
        faults
    }
}

/// A certificate and its key come together, and each from one place. Pairs say whether there is a file, and whether
/// it stands in place.
fn pair(cert: (bool, bool), key: (bool, bool)) -> Vec<(&'static str, String)> {
    let mut faults = Vec::new();
    let (has_cert, has_key) = (cert.0 || cert.1, key.0 || key.1);
    if has_cert && !has_key {
        let at = if cert.0 { "cert_file" } else { "cert_pem" };
        faults.push((at, "has no `key_file` beside it".to_owned()));
    }
    if has_key && !has_cert {
        let at = if key.0 { "key_file" } else { "key_pem" };
        faults.push((at, "has no `cert_file` beside it".to_owned()));
    }
    for (both, at, other) in [
        (cert, "cert_pem", "cert_file"),
        (key, "key_pem", "key_file"),
    ] {
        if both == (true, true) {
            let what = format!("stands beside `{other}`: one of them is enough");
            faults.push((at, what));
        }
    }
    faults
}

fn order(min: TlsVersion, max: Option<TlsVersion>) -> Option<(&'static str, String)> {
    let below = max.is_some_and(|max| max < min);
    below.then(|| {
        let what = "lies below `min_version`: no version is left";
        ("max_version", what.to_owned())
    })
}

/// `auth:` of a receiver's protocol or an exporter: the extension that decides, or that knows the token.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuthReference {
    /// Its id, as `bearertokenauth` or `bearertokenauth/edge`.
    pub authenticator: String,
}

/// `extensions: bearertokenauth:`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BearerTokenAuth {
    /// What stands before the token; empty: nothing.
    pub scheme: String,
    /// The header that carries the token.
    pub header: String,
    /// The token.
    pub token: Option<Secret>,
    /// Several: a receiver takes each of them, an exporter sends the first.
    pub tokens: Vec<Secret>,
    /// A file of tokens, one a line.
    pub filename: Option<String>,
}

impl Default for BearerTokenAuth {
    fn default() -> Self {
        Self {
            scheme: "Bearer".to_owned(),
            header: "Authorization".to_owned(),
            token: None,
            tokens: Vec::new(),
            filename: None,
        }
    }
}

impl BearerTokenAuth {
    /// What would keep it from working: the key, and what is wrong with it.
    pub fn faults(&self) -> Vec<(&'static str, String)> {
        let mut faults = Vec::new();
        let written = self.token.is_some() || !self.tokens.is_empty();
        match (written, &self.filename) {
            (false, None) => {
                let what = "has no token: write `token`, `tokens` or `filename`";
                faults.push(("", what.to_owned()));
            }
            (true, Some(_)) => {
                let what = "stands beside a token: the file alone, or tokens here";
                faults.push(("filename", what.to_owned()));
            }
            _ => {}
        }
        let one = self.token.iter().map(|token| ("token", token));
        let more = self.tokens.iter().map(|token| ("tokens", token));
        for (key, token) in one.chain(more) {
            if let Err(what) = sendable(token.reveal()) {
                faults.push((key, what.to_owned()));
            }
        }
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if !self.scheme.bytes().all(token) {
            let what = format!("is `{}`: a word is needed, like Bearer", self.scheme);
            faults.push(("scheme", what));
        }
        if self.header.parse::<http::HeaderName>().is_err() {
            let what = format!("is `{}`, which is no name of a header", self.header);
            faults.push(("header", what));
        }
        faults
    }
}

/// Whether a token can stand in a header as it is.
pub(super) fn sendable(token: &str) -> Result<(), &'static str> {
    if token.is_empty() {
        return Err("is empty: everybody would know it");
    }
    if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("holds blanks or letters that no header can carry");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(faults: &[(&'static str, String)]) -> Vec<&'static str> {
        faults.iter().map(|(key, _)| *key).collect()
    }

    #[test]
    fn a_server_needs_a_certificate_and_its_key() {
        let faults = |json: &str| {
            let tls: ServerTls = serde_json::from_str(json).unwrap();
            keys(&tls.faults())
        };
        let good = r#"{"cert_file": "a", "key_file": "b", "max_version": "1.3"}"#;
        assert!(faults(good).is_empty());
        assert_eq!(faults("{}"), [""]);
        assert_eq!(faults(r#"{"cert_file": "a"}"#), ["cert_file"]);
        assert_eq!(faults(r#"{"key_pem": "a"}"#), ["key_pem"]);
        let twice = r#"{"cert_file": "a", "cert_pem": "b", "key_file": "c"}"#;
        assert_eq!(faults(twice), ["cert_pem"]);
        let order = r#"{"cert_file": "a", "key_file": "b", "min_version": "1.3", "max_version": "1.2", "handshake_timeout": "0"}"#;
        assert_eq!(faults(order), ["max_version", "handshake_timeout"]);
    }

    #[test]
    fn any_key_that_needs_tls_asks_for_it() {
        let wanted = |json: &str| {
            let tls: ClientTls = serde_json::from_str(json).unwrap();
            tls.is_wanted()
        };
        assert!(!wanted("{}"));
        assert!(!wanted(r#"{"insecure": true}"#));
        assert!(wanted(r#"{"insecure": false}"#));
        assert!(wanted(r#"{"ca_file": "a"}"#));
        assert!(wanted(r#"{"insecure_skip_verify": true}"#));
        assert!(!wanted(
            r#"{"insecure": true, "insecure_skip_verify": true}"#
        ));
    }

    #[test]
    fn tokens_are_checked_and_never_shown() {
        let read = |json: &str| -> BearerTokenAuth { serde_json::from_str(json).unwrap() };
        let good = read(r#"{"tokens": ["hunter2", "hunter3"], "scheme": ""}"#);
        assert!(good.faults().is_empty());
        assert!(!format!("{good:?}").contains("hunter"));
        assert_eq!(keys(&read("{}").faults()), [""]);
        assert_eq!(keys(&read(r#"{"token": ""}"#).faults()), ["token"]);
        assert_eq!(keys(&read(r#"{"tokens": ["a b"]}"#).faults()), ["tokens"]);
        let both = r#"{"token": "a", "filename": "b", "scheme": "a b", "header": "c d"}"#;
        assert_eq!(keys(&read(both).faults()), ["filename", "scheme", "header"]);
    }
}
