//! What an exporter needs to speak TLS.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::pem::{Pem, TlsError, add_roots, certificates, key};
use super::settings::ClientTls;
use super::{provider, versions};

/// What the files of a [`ClientTls`] hold.
#[derive(Clone, Debug, Default)]
pub struct ClientMaterial {
    /// Roots of backends.
    pub roots: Option<Pem>,
    /// Those of the system, where they are asked for.
    pub system_roots: Vec<CertificateDer<'static>>,
    /// Our certificate and its key.
    pub identity: Option<(Pem, Pem)>,
}

/// Makes an exporter's side of TLS. `place` is where it is configured. What is offered by ALPN is up to the transport.
///
/// # Errors
/// What is no certificate or key, a key of another certificate, no roots at all.
pub fn client(
    settings: &ClientTls,
    material: &ClientMaterial,
    place: &str,
) -> Result<ClientConfig, TlsError> {
    let builder = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&versions(settings.min_version, settings.max_version))
        .map_err(|error| TlsError::new(place, error.to_string()))?;
    let builder = if settings.insecure_skip_verify {
        let anybody = Arc::new(Anybody(provider()));
        builder
            .dangerous()
            .with_custom_certificate_verifier(anybody)
    } else {
        let mut roots = RootCertStore::empty();
        // What the system holds may be old or odd: what cannot be a root there is passed over.
        roots.add_parsable_certificates(material.system_roots.iter().cloned());
        if let Some(pem) = &material.roots {
            add_roots(&mut roots, pem)?;
        }
        if roots.is_empty() {
            let why = "this system has no root certificates; install its package of them (ca-certificates), or write `ca_file`";
            return Err(TlsError::new(place, why));
        }
        builder.with_root_certificates(roots)
    };
    let Some((chain, secret)) = &material.identity else {
        return Ok(builder.with_no_client_auth());
    };
    builder
        .with_client_auth_cert(certificates(chain)?, key(secret)?)
        .map_err(|error| {
            let why = format!(
                "does not go with the certificate of {}: {error}",
                chain.place
            );
            TlsError::new(&secret.place, why)
        })
}

/// `insecure_skip_verify`: whoever answers is believed. Signatures of the handshake are still looked at, so that what
/// is skipped is the certificate alone.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
