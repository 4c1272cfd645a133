//! Whether an exporter could be built, asked before anything is opened.

use crate::model::Signal;

use super::endpoint::{BuildError, Destination};
use super::settings::Settings;

impl Settings {
    /// Where it would send `signal` to can be understood, and its headers can be sent.
    ///
    /// # Errors
    /// The first thing that would keep it from being built. Retry settings are checked by
    /// [`RetrySettings::check`](super::RetrySettings::check).
    pub fn check(&self, signal: Signal) -> Result<(), BuildError> {
        match self {
            Self::OtlpGrpc(settings) => Destination::grpc(settings, signal).map(drop),
            Self::OtlpHttp(settings) => Destination::http(settings, signal).map(drop),
            Self::Debug(_) | Self::File(_) => Ok(()),
        }
    }
}
