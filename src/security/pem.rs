//! PEM texts -> certificates and keys, with words for those that are none.

use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// A PEM text and where it came from.
#[derive(Clone)]
pub struct Pem {
    /// For messages: the key of the configuration, and the file if it is one.
    pub place: String,
    /// The text.
    pub text: Vec<u8>,
}

impl std::fmt::Debug for Pem {
    /// Without the text: it may be a key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pem")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

/// Why TLS cannot be spoken as it is set.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {why}")]
pub struct TlsError {
    place: String,
    why: String,
}

impl TlsError {
    /// `why` what stands at `place` is of no use.
    pub fn new(place: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            why: why.into(),
        }
    }
}

/// All certificates, at least one.
pub(super) fn certificates(pem: &Pem) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem.text).collect();
    let found = read.map_err(|error| TlsError::new(&pem.place, format!("no PEM: {error}")))?;
    if found.is_empty() {
        let why = "holds no certificate in PEM (-----BEGIN CERTIFICATE-----)";
        return Err(TlsError::new(&pem.place, why));
    }
    Ok(found)
}

/// The first private key.
pub(super) fn key(pem: &Pem) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_slice(&pem.text).map_err(|_| {
        // Whatever it holds instead, it may be near to a secret: it is not quoted.
        let why = if pem.text.windows(9).any(|part| part == b"ENCRYPTED") {
            "holds a key under a passphrase; take that off, with `openssl pkey -in KEY -out KEY.plain`"
        } else {
            "holds no private key in PEM (-----BEGIN PRIVATE KEY-----)"
        };
        TlsError::new(&pem.place, why)
    })
}

/// Adds all certificates as roots.
pub(super) fn add_roots(roots: &mut RootCertStore, pem: &Pem) -> Result<(), TlsError> {
    for certificate in certificates(pem)? {
        roots.add(certificate).map_err(|error| {
            TlsError::new(
                &pem.place,
                format!("a certificate that cannot be a root: {error}"),
            )
        })?;
    }
    Ok(())
}
