//! The pages for whoever has no backend yet, asked as a browser asks them.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![expect(
    clippy::disallowed_methods,
    reason = "opens sockets and starts the binary itself"
)]

#[path = "support/spans.rs"]
mod spans;
mod support;

use serde_json::json;

use spans::{Span, body};
use support::collector::{self, Collector};
use support::http;

const EXTENSION: &str = "zpages: {endpoint: '127.0.0.1:0'}";

/// Starts a collector with pages, and sends it one request.
async fn shown(spans: &[Span]) -> Collector {
    let exporters = [("file", "{path: /dev/null}".to_owned())];
    let collector = Collector::start(&collector::guarded("", EXTENSION, &exporters));
    let (status, _) = http::post(
        collector.address("http"),
        "/v1/traces",
        "application/x-protobuf",
        &body("test", spans),
    )
    .await;
    assert_eq!(status, 200);
    collector
}

/// Asks for a page until it holds `words`.
async fn page_with(collector: &Collector, path: &str, words: &str) -> String {
    for _ in 0..3000 {
        let (_, page) = http::get(collector.address("zpages"), path).await;
        if page.contains(words) {
            return page;
        }
        tokio::task::yield_now().await;
    }
    panic!("{path} never holds {words}");
}

fn call(id: u64, tool: &str) -> Span {
    let span = Span::new(
        id,
        "execute_tool",
        json!({
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool,
            "gen_ai.conversation.id": "talk <1>",
            "gen_ai.tool.call.arguments": "{\"path\": \"/w/secret\"}",
            "gen_ai.tool.call.result": "ENOENT: confidential",
        }),
    );
    span.under(99).failed("ENOENT: confidential")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_shows_where_it_broke_and_why() {
    let spans: Vec<Span> = (1..=4).map(|id| call(id, "read_file")).collect();
    let collector = shown(&spans).await;
    let list = page_with(&collector, "/debug/anomalyz", "failure_loop").await;
    assert!(
        list.contains("href=\"sessionz?id=talk%20%3C1%3E&amp;service=s\""),
        "{list}"
    );

    let sessions = page_with(&collector, "/debug/sessionz", "1 warning").await;
    assert!(sessions.contains("talk &lt;1&gt;"), "{sessions}");

    let path = "/debug/sessionz?id=talk%20%3C1%3E&service=s";
    let page = page_with(&collector, path, "class=\"finding\"").await;
    let table = page.split("<tbody>").nth(1).unwrap();
    insta::assert_snapshot!(table.replace("<tr", "\n<tr"));
    assert!(
        !page.contains("confidential"),
        "no text that was judged is kept"
    );
    assert!(!page.contains("secret"), "nor an argument");

    let detectors = page_with(&collector, "/debug/detectorz", "failure_loop").await;
    assert!(detectors.contains("threshold: 3"), "{detectors}");
    let service = page_with(&collector, "/debug/servicez", "otlp").await;
    assert!(service.contains("OTLP over grpc"), "{service}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_strangers_write_is_never_markup() {
    let hostile = "<script>alert(1)</script>\"'\u{202e}\u{7}";
    let mut spans: Vec<Span> = (1..=4).map(|id| call(id, hostile)).collect();
    for span in &mut spans {
        span.attributes["gen_ai.agent.name"] = "<img src=x onerror=alert(1)>".into();
        span.attributes["gen_ai.conversation.id"] = "\"><svg onload=alert(1)>".into();
    }
    let collector = shown(&spans).await;
    let link = page_with(&collector, "/debug/anomalyz", "failure_loop").await;
    let link = link.split("href=\"sessionz?").nth(1).unwrap();
    let query = link.split('"').next().unwrap().replace("&amp;", "&");
    let path = format!("/debug/sessionz?{query}");
    let pages = [
        page_with(&collector, &path, "class=\"finding\"").await,
        page_with(&collector, "/debug/sessionz", "warning").await,
        page_with(&collector, "/debug/anomalyz", "failure_loop").await,
        // What is asked for is shown again.
        http::get(
            collector.address("zpages"),
            "/debug/anomalyz?type=%3Cscript%3E",
        )
        .await
        .1,
        http::get(
            collector.address("zpages"),
            "/debug/sessionz?id=%22%3E%3Cscript%3E",
        )
        .await
        .1,
    ];
    for page in pages {
        for markup in ["<script", "<img", "<svg onload", "\u{202e}", "\u{7}"] {
            assert!(!page.contains(markup), "{markup} in {page}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_this_host_is_answered_and_only_what_is_there() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let collector = shown(&[call(1, "x")]).await;
    let address = collector.address("zpages");
    assert_eq!(http::get(address, "/debug/nothing").await.0, 404);
    assert_eq!(
        http::get(address, "/debug/sessionz?id=unknown").await.0,
        404
    );
    assert_eq!(http::get(address, "/").await.0, 302);
    assert_eq!(
        http::post(address, "/debug/sessionz", "text/plain", b"")
            .await
            .0,
        405
    );
    let (status, style) = http::get(address, "/debug/style.css").await;
    assert_eq!(status, 200);
    assert!(style.contains("prefers-color-scheme: dark"));

    // A page of the internet whose name was made to mean this host.
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let request =
        "GET /debug/sessionz HTTP/1.1\r\nHost: evil.example:55679\r\nConnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 421"), "{answer}");
    assert!(
        answer.contains("content-security-policy: default-src 'none'"),
        "{answer}"
    );
}
