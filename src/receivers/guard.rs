//! What stands between a listener and what it takes.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderValue};
use rustls::ServerConfig;

use crate::security::Authenticator;

use super::refusal::Refusal;
use super::shares::Client;

/// TLS and tokens of one listener. The default lets everybody in, in plain text.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// TLS is spoken, and nothing else.
    pub tls: Option<TlsGuard>,
    /// Only who brings a token of this one is let in.
    pub auth: Option<Arc<Authenticator>>,
}

/// Our side of TLS.
#[derive(Clone, Debug)]
pub struct TlsGuard {
    /// Certificate and key, made in `runtime`.
    pub config: Arc<ServerConfig>,
    /// How long a handshake may take.
    pub handshake: Duration,
}

impl Guard {
    /// Who sends a request, or why it is not let in. `peer` is who is at the other end.
    pub(super) fn admit(&self, headers: &HeaderMap, peer: Client) -> Result<Client, Refusal> {
        let Some(auth) = &self.auth else {
            return Ok(peer);
        };
        let admitted = auth.admits(headers).map(Client::Token);
        admitted.ok_or_else(|| Refusal::unauthenticated(auth.scheme()))
    }

    /// What a refused client is told to bring.
    pub(super) fn challenge(&self) -> Option<HeaderValue> {
        self.auth.as_ref().map(|auth| auth.challenge())
    }
}
