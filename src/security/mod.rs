//! TLS and tokens, for receivers and exporters alike: what can be set, and what is made of it.
//!
//! Invariant: nothing here opens a file or a socket, and nothing here shows a key or a token: `Debug` of what holds one
//! says `***`. The cryptography is named in one place, `provider`.

mod client;
mod pem;
mod protection;
mod server;
mod settings;
mod tokens;

use std::sync::Arc;

use rustls::SupportedProtocolVersion;
use rustls::crypto::CryptoProvider;

pub use client::{ClientMaterial, client};
pub use pem::{Pem, TlsError};
pub use protection::Protection;
pub use server::{ServerMaterial, server};
pub use settings::{AuthReference, BearerTokenAuth, ClientTls, Secret, ServerTls, TlsVersion};
pub use tokens::{Authenticator, TokenError};

/// Who does the cryptography.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// The versions of TLS from `min` to `max`.
fn versions(min: TlsVersion, max: Option<TlsVersion>) -> Vec<&'static SupportedProtocolVersion> {
    [
        (TlsVersion::V1_2, &rustls::version::TLS12),
        (TlsVersion::V1_3, &rustls::version::TLS13),
    ]
    .into_iter()
    .filter(|(version, _)| *version >= min && max.is_none_or(|max| *version <= max))
    .map(|(_, supported)| supported)
    .collect()
}
