//! How far a listener is kept from strangers, in words.

use std::fmt;

use super::settings::{AuthReference, ServerTls};

/// What guards a listener, as far as people want to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protection {
    tls: bool,
    clients: bool,
    auth: Option<String>,
}

impl Protection {
    /// Of a receiver's protocol.
    pub fn of(tls: Option<&ServerTls>, auth: Option<&AuthReference>) -> Self {
        Self {
            tls: tls.is_some(),
            clients: tls.is_some_and(|tls| tls.client_ca_file.is_some()),
            auth: auth.map(|auth| auth.authenticator.clone()),
        }
    }

    /// What a stranger who reaches the address could do, and the keys that keep it from them; `None` when nothing.
    pub fn lack(&self) -> Option<(&'static str, &'static str)> {
        let somebody = self.clients || self.auth.is_some();
        match (self.tls, somebody) {
            (true, true) => None,
            (true, false) => Some((
                "everybody there may send",
                "`auth: {authenticator: bearertokenauth}` or `tls.client_ca_file`",
            )),
            (false, true) => Some((
                "tokens and spans travel in plain text",
                "`tls: {cert_file, key_file}`",
            )),
            (false, false) => Some((
                "everybody there may send, and all travels in plain text",
                "`tls: {cert_file, key_file}` and `auth: {authenticator: bearertokenauth}`",
            )),
        }
    }

    /// `plain`, `TLS` or `mutual TLS`.
    pub fn transport(&self) -> &'static str {
        match (self.tls, self.clients) {
            (false, _) => "plain",
            (true, false) => "TLS",
            (true, true) => "mutual TLS",
        }
    }

    /// The authenticator, or `none`.
    pub fn auth(&self) -> &str {
        self.auth.as_deref().unwrap_or("none")
    }
}

impl fmt::Display for Protection {
    /// `TLS, auth bearertokenauth`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.auth {
            Some(auth) => write!(f, "{}, auth {auth}", self.transport()),
            None => write!(f, "{}, no auth", self.transport()),
        }
    }
}
