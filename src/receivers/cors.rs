//! Which pages in a browser may send over HTTP.
//!
//! Invariant: off unless origins are named; a preflight is answered before anyone asks for a token, since browsers send
//! none with it.

use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
    ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, HeaderName, HeaderValue, ORIGIN,
    VARY,
};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use serde::Deserialize;

use super::reply::Reply;

/// Headers that are allowed without being named: what OTLP in a browser needs.
const ALWAYS: &str = "accept, content-type, content-encoding, x-requested-with";

/// `cors:` of a receiver over HTTP.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CorsSettings {
    /// Origins of pages that may send, as `https://*.example.com`; `*` is every page.
    pub allowed_origins: Vec<String>,
    /// Headers that pages may send beside the usual ones; `*` is every header.
    pub allowed_headers: Vec<String>,
    /// Headers of answers that pages may read beside the usual ones.
    pub exposed_headers: Vec<String>,
    /// How long a browser may remember the answer, in seconds; 0 = its own default.
    pub max_age: u32,
}

impl CorsSettings {
    /// What would keep it from working: the key, and what is wrong with it.
    pub fn faults(&self) -> Vec<(&'static str, String)> {
        let mut faults = Vec::new();
        for origin in &self.allowed_origins {
            let known = origin == "*" || origin.contains("://");
            let path = origin.split_once("://").map_or("", |(_, host)| host);
            if !known || path.contains('/') || origin.matches('*').count() > 1 {
                let what = format!(
                    "holds `{origin}`, which is no origin; write https://host, with one * at most"
                );
                faults.push(("allowed_origins", what));
            }
        }
        let lists = [
            ("allowed_headers", &self.allowed_headers),
            ("exposed_headers", &self.exposed_headers),
        ];
        for (key, names) in lists {
            for name in names {
                if name != "*" && name.parse::<HeaderName>().is_err() {
                    faults.push((key, format!("holds `{name}`, which is no name of a header")));
                }
            }
        }
        faults
    }

    /// What is answered to the origin of a request; `None` when the request has none, or its page may not send.
    pub(super) fn admits(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let origin = headers.get(ORIGIN)?;
        let text = origin.to_str().ok()?.to_ascii_lowercase();
        let allowed = |pattern: &&String| matches(&pattern.to_ascii_lowercase(), &text);
        let pattern = self.allowed_origins.iter().find(allowed)?;
        Some(match pattern.as_str() {
            "*" => HeaderValue::from_static("*"),
            _ => origin.clone(),
        })
    }

    /// The answer to a preflight, if that is what a request is.
    pub(super) fn preflight<B>(&self, request: &Request<B>) -> Option<Response<Reply>> {
        let asked = request.headers();
        let asks = request.method() == Method::OPTIONS
            && asked.contains_key(ORIGIN)
            && asked.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        if !asks || self.allowed_origins.is_empty() {
            return None;
        }
        let mut response = Response::new(Reply::default());
        *response.status_mut() = StatusCode::NO_CONTENT;
        let admitted = self.admits(asked);
        self.mark(admitted.as_ref(), &mut response);
        if admitted.is_some() {
            let headers = response.headers_mut();
            let post = HeaderValue::from_static("POST");
            headers.insert(ACCESS_CONTROL_ALLOW_METHODS, post);
            headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, self.headers(asked));
            if self.max_age > 0 {
                headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from(self.max_age));
            }
        }
        Some(response)
    }

    /// Says in an answer that the page may read it. `admitted` is what [`CorsSettings::admits`] said.
    pub(super) fn mark(&self, admitted: Option<&HeaderValue>, response: &mut Response<Reply>) {
        if self.allowed_origins.is_empty() {
            return;
        }
        let headers = response.headers_mut();
        // What is kept on the way must not be given to another page.
        headers.append(VARY, HeaderValue::from_static("Origin"));
        let Some(origin) = admitted else { return };
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        if origin != "*" {
            // Browsers refuse cookies and tokens together with a bare star, and rightly so.
            let yes = HeaderValue::from_static("true");
            headers.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, yes);
        }
        if !self.exposed_headers.is_empty()
            && let Ok(names) = HeaderValue::from_str(&self.exposed_headers.join(", "))
        {
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, names);
        }
    }

    fn headers(&self, asked: &HeaderMap) -> HeaderValue {
        if self.allowed_headers.iter().any(|name| name == "*") {
            let asked = asked.get(ACCESS_CONTROL_REQUEST_HEADERS).cloned();
            return asked.unwrap_or(HeaderValue::from_static(ALWAYS));
        }
        let names = [ALWAYS]
            .into_iter()
            .chain(self.allowed_headers.iter().map(String::as_str));
        let names: Vec<&str> = names.collect();
        HeaderValue::from_str(&names.join(", ")).unwrap_or(HeaderValue::from_static(ALWAYS))
    }
}

/// Whether `text` is `pattern`, in which one `*` stands for anything.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, after)) => {
            text.len() >= before.len() + after.len()
                && text.starts_with(before)
                && text.ends_with(after)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cors(origins: &[&str]) -> CorsSettings {
        CorsSettings {
            allowed_origins: origins.iter().map(|origin| (*origin).to_owned()).collect(),
            ..CorsSettings::default()
        }
    }

    fn admits(cors: &CorsSettings, origin: &'static str) -> Option<HeaderValue> {
        let mut headers = HeaderMap::new();
        headers.insert(ORIGIN, HeaderValue::from_static(origin));
        cors.admits(&headers)
    }

    #[test]
    fn h_15_origins_and_their_wildcards() {
        let some = cors(&["https://*.example.com", "http://localhost:3000"]);
        for good in [
            "https://a.example.com",
            "https://A.Example.com",
            "https://a.b.example.com",
            "http://localhost:3000",
        ] {
            assert_eq!(admits(&some, good).unwrap(), good);
        }
        for bad in [
            "https://example.com",
            "http://a.example.com",
            "https://a.example.com.evil.org",
            "http://localhost:3001",
            "null",
        ] {
            assert_eq!(admits(&some, bad), None, "{bad}");
        }
        assert_eq!(admits(&cors(&["*"]), "https://any.where").unwrap(), "*");
        assert_eq!(admits(&cors(&[]), "https://any.where"), None);
        assert_eq!(some.admits(&HeaderMap::new()), None);
    }

    #[test]
    fn h_15_what_is_no_origin_is_said() {
        assert!(cors(&["*", "https://*.example.com"]).faults().is_empty());
        for wrong in ["example.com", "https://a/b", "https://*.*.com"] {
            assert_eq!(cors(&[wrong]).faults().len(), 1, "{wrong}");
        }
        let named = CorsSettings {
            allowed_headers: vec!["x-good".into(), "bad name".into()],
            ..CorsSettings::default()
        };
        assert_eq!(named.faults().len(), 1);
    }
}
