//! Whether an exporter could be built, asked before anything is opened.

use std::collections::BTreeMap;

use crate::model::Signal;
use crate::security::{AuthReference, ClientTls};

use super::endpoint::{BuildError, Destination};
use super::settings::Settings;

/// Where an exporter sends to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Host, as it is written.
    pub host: String,
    /// Port, also where none is written.
    pub port: u16,
    /// TLS is spoken.
    pub secure: bool,
    /// Only this host hears it.
    pub near: bool,
    /// A scheme or `tls.insecure` says what is spoken.
    pub said: bool,
}

impl Settings {
    /// Where it would send `signal` to, if that can be understood and its headers can be sent; `None` where nothing is
    /// sent over a network.
    ///
    /// # Errors
    /// The first thing that would keep it from being built. Retry settings are checked by
    /// [`RetrySettings::check`](super::RetrySettings::check).
    pub fn check(&self, signal: Signal) -> Result<Option<Target>, BuildError> {
        let (destination, written) = match self {
            Self::OtlpGrpc(settings) => (
                Destination::grpc(settings, signal)?,
                settings.endpoint.as_str(),
            ),
            Self::OtlpHttp(settings) => (
                Destination::http(settings, signal)?,
                settings.whole(signal).unwrap_or(&settings.endpoint),
            ),
            Self::Debug(_) | Self::File(_) => return Ok(None),
        };
        let (secure, near) = (destination.is_secure(), destination.is_near());
        let uri = destination.uri;
        let scheme = written.contains("://") && !written.starts_with("dns:");
        let insecure = self.tls().is_some_and(|tls| tls.insecure.is_some());
        Ok(Some(Target {
            host: uri.host().unwrap_or_default().to_owned(),
            port: uri.port_u16().unwrap_or(if secure { 443 } else { 80 }),
            secure,
            near,
            said: secure || scheme || insecure,
        }))
    }

    /// Its transport security, where it sends over a network.
    pub fn tls(&self) -> Option<&ClientTls> {
        match self {
            Self::OtlpGrpc(settings) => Some(&settings.tls),
            Self::OtlpHttp(settings) => Some(&settings.tls),
            Self::Debug(_) | Self::File(_) => None,
        }
    }

    /// What is sent with every request.
    pub fn headers(&self) -> Option<&BTreeMap<String, String>> {
        match self {
            Self::OtlpGrpc(settings) => Some(&settings.headers),
            Self::OtlpHttp(settings) => Some(&settings.headers),
            Self::Debug(_) | Self::File(_) => None,
        }
    }

    /// The extension whose token goes with every request.
    pub fn auth(&self) -> Option<&AuthReference> {
        match self {
            Self::OtlpGrpc(settings) => settings.auth.as_ref(),
            Self::OtlpHttp(settings) => settings.auth.as_ref(),
            Self::Debug(_) | Self::File(_) => None,
        }
    }
}
