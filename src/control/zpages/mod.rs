//! Pages for whoever has no backend yet: sessions, findings, detectors, pipelines, at `/debug/...`.
//!
//! Invariant: server-rendered, no script, nothing from elsewhere, bounded in rows and bytes, and no word of a stranger
//! is markup. Served to this host only unless the endpoint says otherwise; on a loopback address a request has to name
//! it, so that a page of the internet cannot read ours through a name of its own.

mod anomalies;
mod detectors;
mod html;
mod service;
mod session;
mod sessions;
mod timeline;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, LOCATION, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::Full;

use super::notebook::Notebook;
use crate::engine::{Counters, Status};
use crate::model::{AnomalyType, Timestamp};
use html::Html;

const CSP: &str = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const STYLE: &str = include_str!("style.css");
/// Seconds between two looks of a page that shows what happens.
const REFRESH: u32 = 5;

/// What the engine has counted, as the pages need it.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// The engine's counters.
    pub counters: Counters,
    /// How much is open.
    pub status: Status,
}

/// A detector as it is set.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its type.
    pub anomaly: AnomalyType,
    /// It is looked for.
    pub on: bool,
    /// `aware` or `source`.
    pub rules: &'static str,
    /// What it looks for, in a line.
    pub summary: &'static str,
    /// Its keys with their defaults.
    pub defaults: &'static str,
    /// What the configuration sets of them, as written; empty where nothing.
    pub set: String,
}

/// What does not change while the process runs.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// When everything began, by our clock.
    pub started: Timestamp,
    /// The pipelines as arrows.
    pub pipelines: Vec<String>,
    /// What listens where: what it is, and the address.
    pub listeners: Vec<(String, String)>,
    /// All detectors.
    pub rules: Vec<Rule>,
    /// The address is of loopback: requests have to name a name of this host.
    pub local: bool,
}

/// Reads the engine's counters.
pub type Ask = Box<dyn Fn() -> Figures + Send + Sync>;

/// The pages and what they read from.
pub struct Zpages {
    /// What is kept of runs.
    pub notebook: Arc<Mutex<Notebook>>,
    /// What does not change.
    pub facts: Facts,
    /// The engine's counters.
    pub ask: Ask,
}

impl std::fmt::Debug for Zpages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Zpages").finish_non_exhaustive()
    }
}

/// What one request asks for.
struct Asked<'a> {
    query: &'a str,
    now: Timestamp,
}

impl Asked<'_> {
    fn value(&self, key: &str) -> Option<String> {
        html::query_value(self.query, key)
    }
}

impl Zpages {
    /// Answers a request whose method was looked at already; its body is not read.
    pub fn answer<B>(&self, request: &Request<B>, now: Timestamp) -> Response<Full<Bytes>> {
        if self.facts.local && !names_this_host(request) {
            return plain(
                StatusCode::MISDIRECTED_REQUEST,
                "this page is served under the names of this host only: localhost, 127.0.0.1 or [::1]\n",
            );
        }
        let asked = Asked {
            query: request.uri().query().unwrap_or_default(),
            now,
        };
        match request.uri().path() {
            "/" | "/debug" => moved("/debug/sessionz"),
            "/debug/" => moved("sessionz"),
            "/debug/sessionz" => match asked.value("id") {
                Some(id) => self.session(&id, &asked),
                None => page(&self.sessions(&asked)),
            },
            "/debug/anomalyz" => page(&self.anomalies(&asked)),
            "/debug/detectorz" => page(&self.detectors(&asked)),
            "/debug/servicez" | "/debug/pipelinez" => page(&self.service(&asked)),
            "/debug/style.css" => {
                content(StatusCode::OK, "text/css; charset=utf-8", STYLE.to_owned())
            }
            _ => plain(
                StatusCode::NOT_FOUND,
                "pages are at /debug/sessionz, /debug/anomalyz, /debug/detectorz and /debug/servicez\n",
            ),
        }
    }

    fn read<T>(&self, question: impl FnOnce(&Notebook) -> T) -> T {
        let notebook = self.notebook.lock();
        question(&notebook.unwrap_or_else(PoisonError::into_inner))
    }

    /// The head of every page; `live` ones look again by themselves.
    fn begin(&self, title: &'static str, here: &str, live: bool, asked: &Asked<'_>) -> Html {
        let mut html = Html::default();
        html.raw("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">")
            .raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
        let still = asked.value("refresh").as_deref() == Some("0");
        if live && !still {
            html.raw("<meta http-equiv=\"refresh\" content=\"")
                .value(REFRESH)
                .raw("\">");
        }
        html.raw("<title>")
            .raw(title)
            .raw(" - agent-sentinel</title><link rel=\"stylesheet\" href=\"style.css\"></head><body>")
            .raw("<header><b>agent-sentinel</b><nav>");
        for (path, name) in [
            ("sessionz", "sessions"),
            ("anomalyz", "anomalies"),
            ("detectorz", "detectors"),
            ("servicez", "service"),
        ] {
            let class = if path == here { "here" } else { "" };
            html.raw("<a class=\"")
                .raw(class)
                .raw("\" href=\"")
                .raw(path)
                .raw("\">");
            html.raw(name).raw("</a> &nbsp;");
        }
        html.raw("</nav><span class=\"now\">")
            .value(clock(asked.now));
        if live {
            html.raw(match still {
                true => " - <a href=\"?\">follow</a>",
                false => " - every 5 s, <a href=\"?refresh=0\">hold</a>",
            });
        }
        html.raw("</span></header><main><h1>")
            .raw(title)
            .raw("</h1>");
        html
    }
}

fn end(mut html: Html) -> String {
    if html.is_full() {
        html.raw("<p class=\"warning\">The page was cut: it became too long.</p>");
    }
    html.raw("</main></body></html>\n");
    html.take()
}

/// Whether a request names loopback: its target or its Host, without the port.
fn names_this_host<B>(request: &Request<B>) -> bool {
    let named = request
        .headers()
        .get(HOST)
        .and_then(|host| host.to_str().ok());
    let named = named.or_else(|| request.uri().authority().map(http::uri::Authority::as_str));
    let Some(named) = named else { return false };
    let host = match named.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => named,
    };
    ["localhost", "127.0.0.1", "[::1]"]
        .iter()
        .any(|own| host.eq_ignore_ascii_case(own))
}

fn page(text: &str) -> Response<Full<Bytes>> {
    content(StatusCode::OK, "text/html; charset=utf-8", text.to_owned())
}

fn plain(status: StatusCode, words: &'static str) -> Response<Full<Bytes>> {
    content(status, "text/plain; charset=utf-8", words.to_owned())
}

fn moved(to: &'static str) -> Response<Full<Bytes>> {
    let mut response = plain(StatusCode::FOUND, "see /debug/sessionz\n");
    let headers = response.headers_mut();
    headers.insert(LOCATION, HeaderValue::from_static(to));
    response
}

fn content(status: StatusCode, kind: &'static str, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_TYPE, kind),
        (CACHE_CONTROL, "no-store"),
        (CONTENT_SECURITY_POLICY, CSP),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// The time of day, in UTC.
fn clock(at: Timestamp) -> String {
    let second = at.nanos() / 1_000_000_000 % 86_400;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{hour:02}:{minute:02}:{second:02} UTC")
}

/// A length of time in the unit that suits it.
fn length(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0 => format!("{} ms", span.as_millis()),
        1..120 => format!("{:.1} s", span.as_secs_f64()),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// How long ago something was, in whole seconds at least.
fn ago(at: Timestamp, now: Timestamp) -> String {
    match now.since(at).as_secs() {
        seconds @ 0..120 => format!("{seconds} s ago"),
        _ => format!("{} ago", length(now.since(at))),
    }
}

/// Address of the page of a session.
fn session_page(session: &str, service: &str) -> String {
    let (session, service) = (html::encoded(session), html::encoded(service));
    format!("sessionz?id={session}&service={service}")
}
