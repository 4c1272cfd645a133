//! What keeps slow, greedy and too many clients from everybody else: over real sockets.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![expect(
    clippy::disallowed_methods,
    reason = "a test opens sockets and starts processes itself"
)]

mod support;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use agent_sentinel::model::Pressure;
use agent_sentinel::otlp::status::Status;
use agent_sentinel::receivers::{
    Counters, Desk, Guard, HttpSettings, IntakeSettings, Limited, intake, serve_http,
};
use agent_sentinel::runtime::net;
use bytes::Bytes;
use http::StatusCode;
use http_body_util::Full;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

use support::collector::{Collector, guarded, show};
use support::http as page;
use support::secure::{Client, padded, spans};

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// A frame of settings that sets nothing.
const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];

/// A collector with these keys for both protocols.
fn with(keys: &str) -> Collector {
    let debug = [("debug", "{}".to_owned())];
    Collector::start(&guarded(&format!(", {keys}"), "", &debug))
}

/// A metric's value: the line that begins with `series`.
async fn metric(collector: &Collector, series: &str) -> u64 {
    let (_, text) = page::get(collector.address("metrics"), "/metrics").await;
    let line = text.lines().find_map(|line| line.strip_prefix(series));
    let Some(line) = line else {
        panic!("no {series}:\n{text}");
    };
    line.trim().parse().unwrap()
}

async fn closed(collector: &Collector, transport: &str, reason: &str) -> u64 {
    let series = format!(
        "sentinel_receiver_closed_connections_total{{receiver=\"otlp\",transport=\"{transport}\",reason=\"{reason}\"}}"
    );
    metric(collector, &series).await
}

async fn limited(collector: &Collector, transport: &str, limit: &str) -> u64 {
    let series = format!(
        "sentinel_receiver_limited_requests_total{{receiver=\"otlp\",transport=\"{transport}\",limit=\"{limit}\"}}"
    );
    metric(collector, &series).await
}

/// Asks until it is so.
async fn until(what: &str, mut so: impl AsyncFnMut() -> bool) {
    let asking = async {
        while !so().await {
            tokio::task::yield_now().await;
        }
    };
    assert!(timeout(PATIENCE, asking).await.is_ok(), "never {what}");
}

/// Whether the other end closes it.
async fn is_ended(stream: &mut TcpStream) -> bool {
    let mut rest = Vec::new();
    timeout(PATIENCE, stream.read_to_end(&mut rest))
        .await
        .is_ok()
}

/// A connection from an address of this host.
async fn from(address: &str, to: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket
        .bind(format!("{address}:0").parse().unwrap())
        .unwrap();
    socket.connect(to).await.unwrap()
}

/// The head of a POST, with these many bytes to follow.
fn head(length: usize) -> Vec<u8> {
    format!(
        "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\nContent-Length: {length}\r\n\r\n"
    )
    .into_bytes()
}

/// Posts on a connection that stays open; status and head of the answer.
async fn post_on(stream: &mut TcpStream, body: &[u8]) -> (u16, String) {
    stream.write_all(&head(body.len())).await.unwrap();
    // What refuses early may not wait for it.
    let _ = stream.write_all(body).await;
    let mut answer = Vec::new();
    while !answer.windows(4).any(|part| part == b"\r\n\r\n") {
        let mut piece = [0; 1024];
        let read = stream.read(&mut piece).await.unwrap_or(0);
        if read == 0 {
            break;
        }
        answer.extend_from_slice(&piece[..read]);
    }
    let text = String::from_utf8_lossy(&answer).into_owned();
    let status = text.split(' ').nth(1).and_then(|word| word.parse().ok());
    (status.unwrap_or(0), text)
}

#[tokio::test(flavor = "multi_thread")]
async fn f16_slow_heads_are_ended_and_stop_nobody() {
    let collector = with("read_header_timeout: 1s");
    let (grpc, http) = (collector.address("grpc"), collector.address("http"));
    let mut slow = Vec::new();
    for n in 0..60 {
        let to = if n % 3 == 0 { grpc } else { http };
        let mut stream = TcpStream::connect(to).await.unwrap();
        let begin: &[u8] = match n % 3 {
            0 => PREFACE,
            1 => b"POST /v1/traces HTTP/1.1\r\nHost: ",
            _ => b"",
        };
        stream.write_all(begin).await.unwrap();
        if n % 6 == 0 {
            stream.write_all(SETTINGS).await.unwrap();
        }
        slow.push(stream);
    }
    let answer = Client::plain().post(http, &spans(1)).await.unwrap();
    assert_eq!(answer.status, StatusCode::OK);
    let answer = Client::plain().grpc(grpc, &spans(1)).await.unwrap();
    assert_eq!(answer.header("grpc-status"), "0");
    for mut stream in slow {
        assert!(is_ended(&mut stream).await, "still open");
    }
    assert_eq!(closed(&collector, "grpc", "silent").await, 20);
    assert_eq!(closed(&collector, "http", "silent").await, 40);
}

#[tokio::test(flavor = "multi_thread")]
async fn f16_slow_bodies_are_refused_in_time() {
    let collector = with("read_timeout: 200ms");
    let mut stream = TcpStream::connect(collector.address("http")).await.unwrap();
    stream.write_all(&head(1000)).await.unwrap();
    stream.write_all(b"a").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    assert_eq!(limited(&collector, "http", "read_timeout").await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn f17_more_connections_than_may_be_are_closed_at_once() {
    let mut collector = with("max_connections: 2");
    let http = collector.address("http");
    let mut first = TcpStream::connect(http).await.unwrap();
    let mut second = TcpStream::connect(http).await.unwrap();
    for stream in [&mut first, &mut second] {
        assert_eq!(post_on(stream, &spans(1)).await.0, 200);
    }
    let mut third = TcpStream::connect(http).await.unwrap();
    assert!(is_ended(&mut third).await);
    assert_eq!(closed(&collector, "http", "too_many").await, 1);
    let line = collector.wait_for("a connection was refused");
    assert!(
        line["message"]
            .as_str()
            .unwrap()
            .contains("max_connections")
    );
    // Those that are open go on, and who leaves makes room.
    assert_eq!(post_on(&mut first, &spans(1)).await.0, 200);
    drop(second);
    until("room", async || {
        let mut again = TcpStream::connect(http).await.unwrap();
        post_on(&mut again, &spans(1)).await.0 == 200
    })
    .await;
    let open = "sentinel_receiver_open_connections{receiver=\"otlp\",transport=\"http\"}";
    assert!(metric(&collector, open).await <= 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_are_shared_by_clients() {
    let collector = with("max_connections: 4");
    let http = collector.address("http");
    let mut held = Vec::new();
    for address in ["127.0.0.2", "127.0.0.1", "127.0.0.1"] {
        let mut stream = from(address, http).await;
        assert_eq!(post_on(&mut stream, &spans(1)).await.0, 200);
        held.push(stream);
    }
    let mut greedy = from("127.0.0.1", http).await;
    assert!(is_ended(&mut greedy).await);
    assert_eq!(closed(&collector, "http", "share").await, 1);
    let mut other = from("127.0.0.2", http).await;
    assert_eq!(post_on(&mut other, &spans(1)).await.0, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn g_09_heads_have_their_size() {
    let collector = with("max_header_bytes: 2KiB");
    let (grpc, http) = (collector.address("grpc"), collector.address("http"));
    let large = Client::plain().header("x-large", "x".repeat(3000));
    let answer = large.post(http, &spans(1)).await.unwrap();
    assert_eq!(answer.status, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
    let status = Status::from_protobuf(&answer.body).unwrap();
    assert_eq!(status.code, 8);
    assert!(
        status.message.contains("max_header_bytes"),
        "{}",
        status.message
    );
    let answer = large.grpc(grpc, &spans(1)).await.unwrap();
    assert_eq!(answer.header("grpc-status"), "8");
    for transport in ["http", "grpc"] {
        assert_eq!(limited(&collector, transport, "headers").await, 1);
    }
    // What is far too large does not come as far as to be counted.
    let huge = Client::plain().header("x-large", "x".repeat(100_000));
    let answer = huge.post(http, &spans(1)).await;
    assert!(answer.is_err() || answer.unwrap().status.is_client_error());
    let answer = huge.grpc(grpc, &spans(1)).await;
    assert!(answer.is_err() || answer.unwrap().header("grpc-status") != "0");
    let small = Client::plain().header("x-small", "x".repeat(1000));
    let answer = small.post(http, &spans(1)).await.unwrap();
    assert_eq!(answer.status, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn g_09_streams_of_a_connection_are_counted() {
    let collector = with("max_concurrent_streams: 7");
    let mut stream = TcpStream::connect(collector.address("grpc")).await.unwrap();
    stream.write_all(PREFACE).await.unwrap();
    stream.write_all(SETTINGS).await.unwrap();
    let mut frame = [0; 9];
    stream.read_exact(&mut frame).await.unwrap();
    assert_eq!(frame[3], 4, "its settings come first");
    let mut settings = vec![0; usize::from(frame[2])];
    stream.read_exact(&mut settings).await.unwrap();
    let most = settings.chunks(6).find(|one| one[..2] == [0, 3]).unwrap();
    assert_eq!(most[2..], [0, 0, 0, 7]);
}

/// An HTTP/2 connection that is told when its other end has enough.
async fn http2(
    to: SocketAddr,
) -> (
    hyper::client::conn::http2::SendRequest<Full<Bytes>>,
    tokio::task::JoinHandle<()>,
) {
    let stream = TokioIo::new(TcpStream::connect(to).await.unwrap());
    let (send, connection) = hyper::client::conn::http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .handshake(stream)
        .await
        .unwrap();
    let ended = tokio::spawn(async move { drop(connection.await) });
    (send, ended)
}

#[tokio::test(flavor = "multi_thread")]
async fn h_16_idle_connections_are_ended() {
    let collector = with_protocols(
        "keepalive: {server_parameters: {max_connection_idle: 200ms}}, read_header_timeout: 1s",
        "idle_timeout: 200ms, read_header_timeout: 1s",
    );
    let (mut send, ended) = http2(collector.address("grpc")).await;
    let request = http::Request::post("http://x/nothing").body(Full::default());
    let answer = send.send_request(request.unwrap()).await;
    assert!(answer.is_ok());
    assert!(timeout(PATIENCE, ended).await.is_ok(), "still open");
    until("counted", async || {
        closed(&collector, "grpc", "idle").await == 1
    })
    .await;
    let mut stream = TcpStream::connect(collector.address("http")).await.unwrap();
    assert_eq!(post_on(&mut stream, &spans(1)).await.0, 200);
    assert!(is_ended(&mut stream).await);
    until("counted", async || {
        closed(&collector, "http", "idle").await == 1
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn g_08_connections_have_their_age() {
    let keepalive = "keepalive: {server_parameters: {max_connection_age: 1s, max_connection_age_grace: 1s, max_connection_idle: 0}}";
    let collector = with_protocols(keepalive, "");
    let (mut send, ended) = http2(collector.address("grpc")).await;
    let request = http::Request::post("http://x/nothing").body(Full::default());
    assert!(send.send_request(request.unwrap()).await.is_ok());
    assert!(timeout(PATIENCE, ended).await.is_ok(), "still open");
    until("counted", async || {
        closed(&collector, "grpc", "age").await == 1
    })
    .await;
}

/// A collector with keys for each protocol.
fn with_protocols(grpc: &str, http: &str) -> Collector {
    let comma = |keys: &str| match keys {
        "" => String::new(),
        keys => format!(", {keys}"),
    };
    let debug = [("debug", "{}".to_owned())];
    let config = guarded("", "", &debug)
        .replace(
            "grpc: {endpoint: '127.0.0.1:0'}",
            &format!("grpc: {{endpoint: '127.0.0.1:0'{}}}", comma(grpc)),
        )
        .replace(
            "http: {endpoint: '127.0.0.1:0'}",
            &format!("http: {{endpoint: '127.0.0.1:0'{}}}", comma(http)),
        );
    Collector::start(&config)
}

/// A collector in which these many bytes may be under way.
fn arriving(most: &str) -> Collector {
    let debug = [("debug", "{verbosity: basic}".to_owned())];
    let intake = format!("service:\n  intake: {{max_arriving_bytes: {most}}}\n");
    Collector::start(&guarded("", "", &debug).replace("service:\n", &intake))
}

/// Sends a head and a part of its body, and waits until that counts.
async fn half(collector: &Collector, stream: &mut TcpStream, length: usize, sent: usize) {
    let before = metric(collector, "sentinel_intake_arriving_bytes").await;
    stream.write_all(&head(length)).await.unwrap();
    stream.write_all(&vec![0; sent]).await.unwrap();
    until("arriving", async || {
        metric(collector, "sentinel_intake_arriving_bytes").await == before + sent as u64
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f16_bodies_under_way_are_bounded_over_all_connections() {
    let collector = arriving("1MiB");
    let (grpc, http) = (collector.address("grpc"), collector.address("http"));
    let mut slow = TcpStream::connect(http).await.unwrap();
    half(&collector, &mut slow, 2_000_000, 900_000).await;
    let body = padded(1, 400_000);
    let mut quick = TcpStream::connect(http).await.unwrap();
    let (status, answer) = post_on(&mut quick, &body).await;
    assert_eq!(status, 503, "{answer}");
    assert!(answer.contains("retry-after: 1"), "{answer}");
    let answer = Client::plain().grpc(grpc, &body).await.unwrap();
    assert_eq!(answer.header("grpc-status"), "14");
    assert_ne!(answer.header("grpc-status-details-bin"), "", "RetryInfo");
    assert_eq!(limited(&collector, "http", "arriving").await, 1);
    assert_eq!(limited(&collector, "grpc", "arriving").await, 1);
    let small = Client::plain().post(http, &spans(1)).await.unwrap();
    assert_eq!(small.status, StatusCode::OK);
    // Who goes gives back what it held.
    drop(slow);
    until("room", async || {
        let answer = Client::plain().grpc(grpc, &body).await.unwrap();
        answer.header("grpc-status") == "0"
    })
    .await;
    until("given back", async || {
        metric(&collector, "sentinel_intake_arriving_bytes").await == 0
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_under_way_are_shared_by_clients() {
    let collector = arriving("1MiB");
    let http = collector.address("http");
    let mut greedy = from("127.0.0.1", http).await;
    half(&collector, &mut greedy, 2_000_000, 500_000).await;
    let mut other = from("127.0.0.2", http).await;
    half(&collector, &mut other, 2_000_000, 100_000).await;
    let mut more = from("127.0.0.1", http).await;
    let (status, answer) = post_on(&mut more, &padded(1, 200_000)).await;
    assert_eq!(status, 503, "{answer}");
    assert_eq!(limited(&collector, "http", "share").await, 1);
    // There is room, and the other one has it.
    let mut more = from("127.0.0.2", http).await;
    let (status, answer) = post_on(&mut more, &padded(1, 200_000)).await;
    assert_eq!(status, 200, "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_queue_to_the_engine_is_shared_by_clients() {
    let settings = IntakeSettings {
        max_requests: 6,
        wait_for_room: Duration::ZERO,
        ..IntakeSettings::default()
    };
    let (intake, mut arrivals) = intake(&settings, Pressure::default());
    let desk = Arc::new(Desk::new(Arc::default(), intake));
    let counters = Arc::<Counters>::default();
    let listener = net::bind("http", "127.0.0.1:0").await.unwrap();
    let http = listener.local_addr().unwrap();
    let theirs = Arc::clone(&counters);
    let server = tokio::spawn(async move {
        let settings = HttpSettings::default();
        let never = std::future::pending();
        serve_http(
            listener,
            &settings,
            Guard::default(),
            desk,
            theirs,
            never,
            PATIENCE,
        )
        .await;
    });
    let post = async |address: &str| {
        let mut stream = from(address, http).await;
        post_on(&mut stream, &spans(1)).await
    };
    // Nobody takes anything out: one client fills the queue.
    for _ in 0..6 {
        assert_eq!(post("127.0.0.1").await.0, 200);
    }
    let (status, answer) = post("127.0.0.2").await;
    assert_eq!(status, 503, "{answer}");
    assert!(arrivals.next().await.is_some());
    // One place is free, and it is not for the greedy one.
    let (status, answer) = post("127.0.0.1").await;
    assert_eq!(status, 503, "{answer}");
    assert!(answer.contains("retry-after: 1"), "{answer}");
    assert_eq!(counters.limited(Limited::Share), 1);
    assert_eq!(post("127.0.0.2").await.0, 200);
    while arrivals.try_next().is_some() {}
    // Nobody waits any more.
    for _ in 0..6 {
        assert_eq!(post("127.0.0.1").await.0, 200);
    }
    server.abort();
}

#[test]
fn an_open_door_is_said_with_the_keys_that_close_it() {
    let debug = [("debug", "{}".to_owned())];
    let config = guarded("", "", &debug).replace(
        "grpc: {endpoint: '127.0.0.1:0'}",
        "grpc: {endpoint: '0.0.0.0:0'}",
    );
    let log = show(&Collector::start(&config).stop().log);
    let line = |part: &str| {
        let found = log.lines().find(|line| line.contains(part));
        found.unwrap_or_else(|| panic!("{part}:\n{log}")).to_owned()
    };
    let open = line("listening on 0.0.0.0:");
    assert!(open.contains("every host that reaches it"), "{open}");
    assert!(
        open.contains("receivers.otlp.protocols.grpc.endpoint"),
        "{open}"
    );
    let closed = line("receivers.otlp.protocols.http.endpoint");
    assert!(closed.contains("only this host"), "{closed}");
    let warning = line("can be reached from other hosts");
    for part in ["WARN", "tls: {cert_file, key_file}", "bearertokenauth"] {
        assert!(warning.contains(part), "{part}: {warning}");
    }
}
