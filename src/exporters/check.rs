//! Whether an exporter could be built, asked before anything is opened.

use crate::model::Signal;

use super::endpoint::{BuildError, Destination};
use super::settings::Settings;

impl Settings {
    /// Where it would send `signal` to can be understood, and its headers can be sent; host and port of that, `None`
    /// where nothing is sent over a network.
    ///
    /// # Errors
    /// The first thing that would keep it from being built. Retry settings are checked by
    /// [`RetrySettings::check`](super::RetrySettings::check).
    pub fn check(&self, signal: Signal) -> Result<Option<(String, u16)>, BuildError> {
        let destination = match self {
            Self::OtlpGrpc(settings) => Destination::grpc(settings, signal)?,
            Self::OtlpHttp(settings) => Destination::http(settings, signal)?,
            Self::Debug(_) | Self::File(_) => return Ok(None),
        };
        let uri = destination.uri;
        let host = uri.host().unwrap_or_default().to_owned();
        Ok(Some((host, uri.port_u16().unwrap_or(80))))
    }
}
