//! Who may send: bearer tokens, compared so that the time taken tells nothing of them.

use std::fmt;

use http::header::{HeaderMap, HeaderName, HeaderValue};
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

use super::settings::{BearerTokenAuth, Secret, sendable};

/// Why an extension with tokens cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {why}")]
pub struct TokenError {
    place: String,
    why: String,
}

impl TokenError {
    /// `why` what stands at `place` is of no use.
    pub fn new(place: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            why: why.into(),
        }
    }
}

/// An extension `bearertokenauth`, ready for use.
pub struct Authenticator {
    id: String,
    header: HeaderName,
    scheme: String,
    tokens: Vec<Secret>,
    /// Of equal length, so that comparing them takes equal time.
    digests: Vec<[u8; 32]>,
}

impl fmt::Debug for Authenticator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authenticator")
            .field("id", &self.id)
            .field("tokens", &self.tokens.len())
            .finish_non_exhaustive()
    }
}

impl Authenticator {
    /// The extension `id` with `settings`; `file` is what their file holds, and its name.
    ///
    /// # Errors
    /// No token, or one that no header can carry. The message holds nothing of it.
    pub fn new(
        id: &str,
        settings: &BearerTokenAuth,
        file: Option<(&str, &str)>,
    ) -> Result<Self, TokenError> {
        let place = format!("extensions.{id}");
        let mut tokens: Vec<Secret> = settings.tokens.clone();
        tokens.splice(0..0, settings.token.clone());
        if let Some((name, text)) = file {
            let place = format!("{place}.filename ({name})");
            for (number, line) in text.lines().enumerate() {
                let token = line.trim();
                if token.is_empty() {
                    continue;
                }
                sendable(token).map_err(|why| {
                    TokenError::new(&place, format!("the token of line {} {why}", number + 1))
                })?;
                tokens.push(Secret::new(token));
            }
            if tokens.is_empty() {
                return Err(TokenError::new(place, "the file holds no token"));
            }
        }
        for token in &tokens {
            sendable(token.reveal())
                .map_err(|why| TokenError::new(&place, format!("a token {why}")))?;
        }
        if tokens.is_empty() {
            return Err(TokenError::new(place, "there is no token"));
        }
        let header = settings.header.parse().map_err(|_| {
            let why = format!("`{}` is no name of a header", settings.header);
            TokenError::new(&place, why)
        })?;
        Ok(Self {
            id: id.to_owned(),
            header,
            scheme: settings.scheme.clone(),
            digests: tokens.iter().map(|token| digest(token.reveal())).collect(),
            tokens,
        })
    }

    /// Its id in the configuration.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Who sends a request: a part of the hash of its token, the same wherever that token is known. `None` when it is
    /// not to be let in.
    pub fn admits(&self, headers: &HeaderMap) -> Option<u64> {
        let mut values = headers.get_all(&self.header).iter();
        let (value, None) = (values.next()?, values.next()) else {
            // Two of them are two claims: none is believed.
            return None;
        };
        let given = self.without_scheme(value.to_str().ok()?)?;
        let given = digest(given);
        let mut found = Choice::from(0);
        for known in &self.digests {
            // All are looked at, whichever it is.
            found |= known.ct_eq(&given);
        }
        let who = given.first_chunk().copied().map(u64::from_le_bytes);
        who.filter(|_| bool::from(found))
    }

    fn without_scheme<'a>(&self, value: &'a str) -> Option<&'a str> {
        if self.scheme.is_empty() {
            return Some(value);
        }
        let (scheme, token) = value.split_once(' ')?;
        let token = token.trim_start_matches(' ');
        scheme.eq_ignore_ascii_case(&self.scheme).then_some(token)
    }

    /// What stands before the token. Where that is nothing, the name that HTTP has for it.
    pub fn scheme(&self) -> &str {
        match self.scheme.as_str() {
            "" => "Bearer",
            scheme => scheme,
        }
    }

    /// What a refused client is told to bring (`WWW-Authenticate`).
    pub fn challenge(&self) -> HeaderValue {
        let challenge = HeaderValue::from_str(self.scheme());
        challenge.unwrap_or_else(|_| HeaderValue::from_static("Bearer"))
    }

    /// The header that lets us in elsewhere: the first token.
    pub fn credentials(&self) -> Option<(HeaderName, HeaderValue)> {
        let token = self.tokens.first()?.reveal();
        let text = match self.scheme.as_str() {
            "" => token.to_owned(),
            scheme => format!("{scheme} {token}"),
        };
        let mut value = HeaderValue::from_str(&text).ok()?;
        value.set_sensitive(true);
        Some((self.header.clone(), value))
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(json: &str) -> Authenticator {
        let settings = serde_json::from_str(json).unwrap();
        Authenticator::new("bearertokenauth", &settings, None).unwrap()
    }

    fn headers(values: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in values {
            let name: HeaderName = name.parse().unwrap();
            headers.append(name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn the_right_token_and_nothing_else() {
        let auth = made(r#"{"tokens": ["hunter2", "hunter3"]}"#);
        let with = |value| auth.admits(&headers(&[("authorization", value)]));
        assert!(with("Bearer hunter2").is_some());
        assert!(with("bearer  hunter3").is_some());
        assert_ne!(with("Bearer hunter2"), with("Bearer hunter3"));
        for wrong in [
            "",
            "Bearer",
            "Bearer ",
            "hunter2",
            "Bearer hunter",
            "Bearer hunter22",
            "Basic hunter2",
            "Bearer hunter2 ,",
            "Bearer Hunter2",
        ] {
            assert_eq!(with(wrong), None, "{wrong}");
        }
        assert_eq!(auth.admits(&HeaderMap::new()), None);
        let twice = [
            ("authorization", "Bearer hunter2"),
            ("authorization", "Bearer hunter2"),
        ];
        assert_eq!(auth.admits(&headers(&twice)), None);
    }

    #[test]
    fn header_and_scheme_of_ones_own() {
        let auth = made(r#"{"token": "k", "header": "X-Api-Key", "scheme": ""}"#);
        assert!(auth.admits(&headers(&[("x-api-key", "k")])).is_some());
        let (name, value) = auth.credentials().unwrap();
        assert_eq!((name.as_str(), value.to_str().unwrap()), ("x-api-key", "k"));
        assert!(value.is_sensitive());
        assert_eq!(auth.challenge(), "Bearer");
    }

    #[test]
    fn a_file_holds_one_a_line() {
        let settings = BearerTokenAuth::default();
        let read = |text| Authenticator::new("a", &settings, Some(("/etc/tokens", text)));
        let auth = read("hunter2\n\n  hunter3\r\n").unwrap();
        assert_eq!(auth.digests.len(), 2);
        assert_eq!(auth.credentials().unwrap().1, "Bearer hunter2");
        let error = read("hunter2\nhun ter3\n").unwrap_err().to_string();
        assert!(
            error.contains("line 2") && error.contains("/etc/tokens"),
            "{error}"
        );
        assert!(!error.contains("ter3"), "{error}");
        assert!(read(" \n").unwrap_err().to_string().contains("no token"));
    }
}
