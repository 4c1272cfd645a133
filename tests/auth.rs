//! Who may send: tokens at both ends, and browsers. The real binary behind real sockets.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![expect(
    clippy::disallowed_methods,
    reason = "a test opens sockets and files and starts processes itself"
)]

mod support;

use agent_sentinel::otlp::status::Status;
use http::StatusCode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use support::backend::Backend;
use support::certificates::file;
use support::collector::{Collector, config, guarded, show};
use support::http as page;
use support::secure::{Answer, Client, spans};

const AUTH: &str = ", auth: {authenticator: bearertokenauth}";

fn debug() -> [(&'static str, String); 1] {
    [("debug", "{}".to_owned())]
}

/// A collector that lets in who knows one of the tokens of `keys`.
fn guarded_by(keys: &str) -> Collector {
    let extension = format!("bearertokenauth: {{{keys}}}");
    Collector::start(&guarded(AUTH, &extension, &debug()))
}

fn with(value: &str) -> Client {
    Client::plain().header("authorization", value)
}

fn refusal(answer: &Answer) -> Status {
    Status::from_protobuf(&answer.body).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn r_11_who_brings_a_token_is_let_in() {
    let collector = guarded_by("tokens: [hunter2, hunter3]");
    let (grpc, http) = (collector.address("grpc"), collector.address("http"));
    for token in ["Bearer hunter2", "bearer hunter3"] {
        let answer = with(token).grpc(grpc, &spans(1)).await.unwrap();
        assert_eq!(answer.header("grpc-status"), "0");
        let answer = with(token).post(http, &spans(1)).await.unwrap();
        assert_eq!(answer.status, StatusCode::OK);
    }
    let ended = collector.stop();
    assert_eq!(ended.balance("debug").accepted, 4);
    assert!(!show(&ended.log).contains("hunter"));
}

#[tokio::test(flavor = "multi_thread")]
async fn r_11_who_brings_none_or_a_wrong_one_is_not() {
    let mut collector = guarded_by("token: hunter2");
    let (grpc, http) = (collector.address("grpc"), collector.address("http"));
    let refused = [
        Client::plain(),
        with("Bearer hunter22"),
        with("Basic hunter2"),
        with("Bearer"),
        with("Bearer hunter2").header("authorization", "Bearer hunter2"),
    ];
    for client in &refused {
        let answer = client.post(http, &spans(1)).await.unwrap();
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
        assert_eq!(answer.header("www-authenticate"), "Bearer");
        assert_eq!(answer.header("content-type"), "application/x-protobuf");
        assert_eq!(answer.header("retry-after"), "");
        let status = refusal(&answer);
        assert_eq!(status.code, 16);
        assert!(status.message.contains("token"), "{}", status.message);
        assert!(!status.message.contains("hunter"), "{}", status.message);

        let answer = client.grpc(grpc, &spans(1)).await.unwrap();
        assert_eq!(answer.header("grpc-status"), "16");
        assert!(answer.header("grpc-message").contains("token"));
        assert_eq!(answer.header("grpc-status-details-bin"), "", "no RetryInfo");
    }
    // Paths are nobody's business either.
    let answer = Client::plain().bare("GET", http, "/nowhere").await.unwrap();
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);

    collector.wait_for("a request without a valid token was refused");
    let (_, metrics) = page::get(collector.address("metrics"), "/metrics").await;
    for (transport, requests) in [("grpc", 5), ("http", 6)] {
        for name in ["unauthenticated", "failed"] {
            let line = format!(
                "sentinel_receiver_{name}_requests_total{{receiver=\"otlp\",transport=\"{transport}\"}} {requests}\n"
            );
            assert!(metrics.contains(&line), "{line}{metrics}");
        }
    }
    let ended = collector.stop();
    assert_eq!(ended.balance("debug").accepted, 0);
    assert!(!show(&ended.log).contains("hunter"));
}

#[tokio::test(flavor = "multi_thread")]
async fn r_19_a_stranger_is_refused_before_the_body_is_read() {
    let collector = guarded_by("token: hunter2");
    let mut stream = TcpStream::connect(collector.address("http")).await.unwrap();
    // Nothing of the body is ever sent.
    let head = "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 60000000\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    assert!(answer.contains("connection: close"), "{answer}");
    assert!(answer.contains("\"code\":16"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_may_lie_in_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path(), "tokens", "hunter2\nhunter3\n");
    let collector = guarded_by(&format!(
        "scheme: ApiKey, header: x-key, filename: '{}'",
        path.display()
    ));
    let http = collector.address("http");
    let client = |value: &str| Client::plain().header("x-key", value);
    let right = client("ApiKey hunter3")
        .post(http, &spans(1))
        .await
        .unwrap();
    assert_eq!(right.status, StatusCode::OK);
    let wrong = client("Bearer hunter3")
        .post(http, &spans(1))
        .await
        .unwrap();
    assert_eq!(wrong.header("www-authenticate"), "ApiKey");
}

#[test]
fn a_file_without_a_token_opens_no_door() {
    let dir = tempfile::tempdir().unwrap();
    for (text, words) in [("\n \n", "no token"), ("ok\nhun ter2\n", "line 2")] {
        let path = file(dir.path(), "tokens", text);
        let extension = format!("bearertokenauth: {{filename: '{}'}}", path.display());
        let ended = Collector::spawn(&guarded(AUTH, &extension, &debug()), &[]).wait();
        let said = show(&ended.log);
        assert_eq!(ended.status.code(), Some(78), "{said}");
        assert!(
            said.contains("extensions.bearertokenauth.filename"),
            "{said}"
        );
        assert!(said.contains(words) && !said.contains("ter2"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn e_04_exporters_bring_their_token() {
    let backend = Backend::start().await;
    let address = backend.address();
    let auth = "auth: {authenticator: bearertokenauth/out}";
    let exporters = [
        (
            "otlp_grpc",
            format!("{{endpoint: 'http://{address}', {auth}}}"),
        ),
        (
            "otlp_http",
            format!("{{endpoint: 'http://{address}', {auth}}}"),
        ),
    ];
    let extension = "bearertokenauth/out: {tokens: [hunter2, hunter3]}";
    let collector = Collector::start(&guarded("", extension, &exporters));
    let grpc = collector.address("grpc");
    Client::plain().grpc(grpc, &spans(1)).await.unwrap();
    backend.until("both", |got| got.len() == 2).await;
    for got in backend.got() {
        assert_eq!(got.headers["authorization"], "Bearer hunter2");
    }
    let ended = collector.stop();
    assert!(!show(&ended.log).contains("hunter"));
}

/// Where the keys say nothing, everybody is let in, as before.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_guard_nobody_is_asked() {
    let collector = Collector::start(&config(&debug()));
    let http = collector.address("http");
    let answer = with("Bearer anything").post(http, &spans(1)).await.unwrap();
    assert_eq!(answer.status, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn h_15_pages_of_a_browser_are_let_in_by_origin() {
    let debug = debug();
    let config = guarded(AUTH, "bearertokenauth: {token: hunter2}", &debug).replace(
        "http: {",
        "http: {cors: {allowed_origins: ['https://*.example.com'], allowed_headers: [x-team], max_age: 7200}, ",
    );
    let collector = Collector::start(&config);
    let http = collector.address("http");
    let page = |origin: &str| {
        Client::plain()
            .header("origin", origin)
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "authorization")
    };
    // Before anyone is asked for a token: browsers send none with it.
    let ours = page("https://a.example.com");
    let answer = ours.bare("OPTIONS", http, "/v1/traces").await.unwrap();
    assert_eq!(answer.status, StatusCode::NO_CONTENT);
    for (name, value) in [
        ("access-control-allow-origin", "https://a.example.com"),
        ("access-control-allow-methods", "POST"),
        ("access-control-max-age", "7200"),
        ("vary", "Origin"),
    ] {
        assert_eq!(answer.header(name), value, "{name}");
    }
    let headers = answer.header("access-control-allow-headers");
    assert!(headers.contains("x-team") && headers.contains("content-type"));

    let stranger = page("https://evil.org")
        .bare("OPTIONS", http, "/v1/traces")
        .await;
    assert_eq!(stranger.unwrap().header("access-control-allow-origin"), "");

    let sent = with("Bearer hunter2").header("origin", "https://a.example.com");
    let answer = sent.post(http, &spans(1)).await.unwrap();
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(
        answer.header("access-control-allow-origin"),
        "https://a.example.com"
    );
    let refused = Client::plain().header("origin", "https://a.example.com");
    let answer = refused.post(http, &spans(1)).await.unwrap();
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    assert_eq!(
        answer.header("access-control-allow-origin"),
        "https://a.example.com"
    );

    // Without origins there is no such thing.
    let plain = Collector::start(&support::collector::config(&debug));
    let answer = ours.bare("OPTIONS", plain.address("http"), "/v1/traces");
    assert_eq!(answer.await.unwrap().status, StatusCode::METHOD_NOT_ALLOWED);
}
