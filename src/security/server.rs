//! What a listener needs to speak TLS.

use std::sync::Arc;

use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

use super::pem::{Pem, TlsError, add_roots, certificates, key};
use super::settings::ServerTls;
use super::{provider, versions};

/// What the files of a [`ServerTls`] hold.
#[derive(Clone, Debug)]
pub struct ServerMaterial {
    /// Our certificate and those between it and the root.
    pub certificates: Pem,
    /// The key of the first.
    pub key: Pem,
    /// Roots of clients.
    pub client_roots: Option<Pem>,
}

/// Makes a listener's side of TLS: HTTP/2 and HTTP/1.1 are offered by ALPN.
///
/// # Errors
/// What is no certificate or key, or a key of another certificate.
pub fn server(
    settings: &ServerTls,
    material: &ServerMaterial,
) -> Result<Arc<ServerConfig>, TlsError> {
    let certificates_place = &material.certificates.place;
    let builder = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&versions(settings.min_version, settings.max_version))
        .map_err(|error| TlsError::new(certificates_place, error.to_string()))?;
    let builder = match &material.client_roots {
        None => builder.with_no_client_auth(),
        Some(pem) => {
            let mut roots = RootCertStore::empty();
            add_roots(&mut roots, pem)?;
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider())
                .build()
                .map_err(|error| TlsError::new(&pem.place, error.to_string()))?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let chain = certificates(&material.certificates)?;
    let mut config = builder
        .with_single_cert(chain, key(&material.key)?)
        .map_err(|error| {
            let why = format!("does not go with the certificate of {certificates_place}: {error}");
            TlsError::new(&material.key.place, why)
        })?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
