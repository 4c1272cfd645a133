//! HTTP for health, metrics and people: a request in, an answer out. Sockets and tasks belong to `runtime`.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;

use super::health::{Answer, Health};
use super::metrics::{self, Page};
use super::zpages::Zpages;
use crate::model::Timestamp;

/// What is served at one address.
#[derive(Clone, Debug)]
pub enum Site {
    /// The health check: its path, `/live`, `/ready`.
    Health {
        /// What is asked.
        health: Arc<Health>,
        /// Path of the readiness answer.
        path: String,
    },
    /// `/metrics`.
    Metrics(Arc<Page>),
    /// Pages for people.
    Zpages(Arc<Zpages>),
}

impl Site {
    /// Answers `request`; its body is not read.
    pub fn answer<B>(&self, request: &Request<B>, now: Timestamp) -> Response<Full<Bytes>> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let mut response = text(
                StatusCode::METHOD_NOT_ALLOWED,
                "only GET is answered here\n",
            );
            response
                .headers_mut()
                .insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        let path = request.uri().path();
        match self {
            Self::Health { health, path: own } => match path {
                "/live" => probe(health.live(now)),
                "/ready" => probe(health.ready(now)),
                _ if path == own => probe(health.ready(now)),
                _ => text(
                    StatusCode::NOT_FOUND,
                    "health is answered at /, /live and /ready\n",
                ),
            },
            Self::Metrics(page) => match path {
                "/metrics" => body(StatusCode::OK, metrics::CONTENT_TYPE, page.text()),
                _ => text(StatusCode::NOT_FOUND, "metrics are at /metrics\n"),
            },
            Self::Zpages(pages) => pages.answer(request, now),
        }
    }
}

fn probe(answer: Answer) -> Response<Full<Bytes>> {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    body(status, "application/json", answer.body)
}

fn text(status: StatusCode, words: &'static str) -> Response<Full<Bytes>> {
    body(status, "text/plain; charset=utf-8", words.to_owned())
}

fn body(status: StatusCode, content_type: &'static str, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::health::Phase;
    use crate::control::metrics::Catalogue;

    const NOW: Timestamp = Timestamp::from_nanos(1_700_000_000_000_000_000);

    fn ask(site: &Site, method: Method, path: &str) -> (u16, String) {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .body(())
            .expect("request");
        let response = site.answer(&request, NOW);
        let kind = response.headers()[CONTENT_TYPE]
            .to_str()
            .expect("ascii")
            .to_owned();
        (response.status().as_u16(), kind)
    }

    #[test]
    fn routes() {
        let health = Arc::new(Health::new(NOW));
        health.enter(Phase::Running, NOW);
        let site = Site::Health {
            health,
            path: "/healthz".to_owned(),
        };
        for path in ["/healthz", "/live", "/ready", "/ready?verbose"] {
            assert_eq!(
                ask(&site, Method::GET, path),
                (200, "application/json".to_owned()),
                "{path}"
            );
        }
        assert_eq!(ask(&site, Method::GET, "/").0, 404);
        assert_eq!(ask(&site, Method::POST, "/healthz").0, 405);

        let page = Site::Metrics(Arc::new(Page::new(Arc::new(Catalogue::default()))));
        assert_eq!(ask(&page, Method::GET, "/metrics").0, 200);
        assert_eq!(ask(&page, Method::HEAD, "/metrics").0, 200);
        assert_eq!(ask(&page, Method::GET, "/").0, 404);
    }
}
