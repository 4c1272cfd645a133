//! Certificates, keys and tokens, read from their files at start.
//!
//! Invariant: an error names the key of the configuration and the file, and nothing of what is in it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::ServerName;

use super::files::{self, FileError};
use super::net;
use crate::config;
use crate::exporters::{self, Connector};
use crate::model::Signal;
use crate::receivers::{Guard, TlsGuard};
use crate::security::{
    self, AuthReference, Authenticator, ClientMaterial, ClientTls, Pem, Secret, ServerMaterial,
    ServerTls, TlsError, TokenError,
};

/// Larger than any chain of certificates, bundle of roots or list of tokens.
const FILE_MAX: u64 = 4 << 20;

/// Why nobody could be kept out, or we would not be let in.
#[derive(Debug, thiserror::Error)]
pub enum SecurityError {
    /// A file cannot be read.
    #[error("{key}: {source}")]
    File {
        /// The key that names it.
        key: String,
        /// What is wrong.
        source: FileError,
    },
    /// A certificate or a key is of no use.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// A token is of no use.
    #[error(transparent)]
    Token(#[from] TokenError),
}

/// The extensions that know tokens, by id.
#[derive(Debug, Default)]
pub(super) struct Authenticators(BTreeMap<String, Arc<Authenticator>>);

impl Authenticators {
    /// Reads all that `settings` have.
    pub(super) fn read(settings: &config::Settings) -> Result<Self, SecurityError> {
        let mut all = BTreeMap::new();
        for (id, settings) in &settings.authenticators {
            let text = match &settings.filename {
                None => None,
                Some(name) => {
                    let read = files::read_text(Path::new(name), FILE_MAX);
                    let key = format!("extensions.{id}.filename");
                    Some((
                        name,
                        read.map_err(|source| SecurityError::File { key, source })?,
                    ))
                }
            };
            let file = text
                .as_ref()
                .map(|(name, text)| (name.as_str(), text.as_str()));
            let auth = Authenticator::new(id, settings, file)?;
            all.insert(id.clone(), Arc::new(auth));
        }
        Ok(Self(all))
    }

    fn find(
        &self,
        reference: Option<&AuthReference>,
        key: &str,
    ) -> Result<Option<Arc<Authenticator>>, SecurityError> {
        let Some(AuthReference { authenticator }) = reference else {
            return Ok(None);
        };
        // The configuration was checked: without this, a gap there would be an open door.
        let found = self.0.get(authenticator).cloned().ok_or_else(|| {
            let key = format!("{key}.auth.authenticator");
            TokenError::new(
                key,
                format!("`{authenticator}` is not in service.extensions"),
            )
        })?;
        Ok(Some(found))
    }
}

/// What guards a receiver's protocol; `key` is the way to it in the configuration.
pub(super) fn guard(
    tls: Option<&ServerTls>,
    auth: Option<&AuthReference>,
    authenticators: &Authenticators,
    key: &str,
) -> Result<Guard, SecurityError> {
    Ok(Guard {
        tls: tls
            .map(|tls| server(tls, &format!("{key}.tls")))
            .transpose()?,
        auth: authenticators.find(auth, key)?,
    })
}

fn server(settings: &ServerTls, key: &str) -> Result<TlsGuard, SecurityError> {
    let material = ServerMaterial {
        certificates: required(
            key,
            ("cert_file", &settings.cert_file),
            ("cert_pem", settings.cert_pem.as_deref()),
        )?,
        key: required(
            key,
            ("key_file", &settings.key_file),
            ("key_pem", settings.key_pem.as_ref().map(Secret::reveal)),
        )?,
        client_roots: pem(
            key,
            ("client_ca_file", &settings.client_ca_file),
            ("", None),
        )?,
    };
    Ok(TlsGuard {
        config: security::server(settings, &material)?,
        handshake: settings.handshake_timeout,
    })
}

/// What opens an exporter's connections for `signal`; `key` is the way to it in the configuration.
pub(super) fn connector(
    settings: &exporters::Settings,
    signal: Signal,
    authenticators: &Authenticators,
    key: &str,
) -> Result<Connector, SecurityError> {
    let mut connector = net::connector();
    let auth = authenticators.find(settings.auth(), key)?;
    if let Some(header) = auth.and_then(|auth| auth.credentials()) {
        connector = connector.with_credentials(header);
    }
    let secure = matches!(settings.check(signal), Ok(Some(target)) if target.secure);
    let (true, Some(tls)) = (secure, settings.tls()) else {
        return Ok(connector);
    };
    let key = format!("{key}.tls");
    let config = client(tls, &key)?;
    let name = tls.server_name_override.clone().map(|name| {
        ServerName::try_from(name).map_err(|error| {
            TlsError::new(format!("{key}.server_name_override"), error.to_string())
        })
    });
    Ok(connector.with_tls(config, name.transpose()?))
}

fn client(settings: &ClientTls, key: &str) -> Result<rustls::ClientConfig, SecurityError> {
    let roots = pem(
        key,
        ("ca_file", &settings.ca_file),
        ("ca_pem", settings.ca_pem.as_deref()),
    )?;
    let of_system = roots.is_none() || settings.include_system_ca_certs_pool;
    let system_roots = if of_system && !settings.insecure_skip_verify {
        let found = rustls_native_certs::load_native_certs();
        for error in found.errors {
            tracing::warn!(%error, "a root certificate of this system cannot be read");
        }
        found.certs
    } else {
        Vec::new()
    };
    let chain = pem(
        key,
        ("cert_file", &settings.cert_file),
        ("cert_pem", settings.cert_pem.as_deref()),
    )?;
    let secret = pem(
        key,
        ("key_file", &settings.key_file),
        ("key_pem", settings.key_pem.as_ref().map(Secret::reveal)),
    )?;
    let material = ClientMaterial {
        roots,
        system_roots,
        identity: chain.zip(secret),
    };
    Ok(security::client(settings, &material, key)?)
}

/// A text from a file or from its place in the configuration.
fn pem(
    key: &str,
    (file_key, file): (&str, &Option<String>),
    (text_key, text): (&str, Option<&str>),
) -> Result<Option<Pem>, SecurityError> {
    if let Some(name) = file {
        let key = format!("{key}.{file_key}");
        let read = files::read(Path::new(name), FILE_MAX);
        let place = format!("{key} ({name})");
        let text = read.map_err(|source| SecurityError::File { key, source })?;
        return Ok(Some(Pem { place, text }));
    }
    Ok(text.map(|text| Pem {
        place: format!("{key}.{text_key}"),
        text: text.as_bytes().to_vec(),
    }))
}

fn required(
    key: &str,
    file: (&str, &Option<String>),
    text: (&str, Option<&str>),
) -> Result<Pem, SecurityError> {
    let missing = || TlsError::new(format!("{key}.{}", file.0), "is missing");
    Ok(pem(key, file, text)?.ok_or_else(missing)?)
}
