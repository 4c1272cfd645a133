//! What stands between a listener and what it takes.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use http::{HeaderMap, HeaderValue};
use rustls::ServerConfig;

use crate::security::Authenticator;

use super::counters::{Counters, add};
use super::refusal::Refusal;

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
    /// Which token a request carries (0 where none is asked for), or why it is not let in.
    pub(super) fn admit(&self, headers: &HeaderMap, counters: &Counters) -> Result<u32, Refusal> {
        let Some(auth) = &self.auth else {
            return Ok(0);
        };
        auth.admits(headers).ok_or_else(|| {
            add(&counters.failed_requests, 1);
            let refused = counters.unauthenticated.fetch_add(1, Ordering::Relaxed) + 1;
            // The first, second, fourth, eighth, ... of them: one client cannot fill the log.
            if refused.is_power_of_two() {
                let auth = auth.id();
                tracing::warn!(auth, refused, "a request without a valid token was refused");
            }
            Refusal::unauthenticated(auth.scheme())
        })
    }

    /// What a refused client is told to bring.
    pub(super) fn challenge(&self) -> Option<HeaderValue> {
        self.auth.as_ref().map(|auth| auth.challenge())
    }
}
