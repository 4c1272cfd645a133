//! TLS at both ends, with certificates made for the test: the real binary behind real sockets.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![expect(
    clippy::disallowed_methods,
    reason = "a test opens sockets and files and starts processes itself"
)]

mod support;

use std::path::Path;
use std::time::Duration;

use http::StatusCode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use support::certificates::{Authority, Identity, file};
use support::collector::{Collector, Ended, guarded, show};
use support::http as page;
use support::secure::{Client, spans};

const HERE: &str = "127.0.0.1";

/// Certificate and key as files, and the keys of a receiver's `tls` that name them.
fn server_files(dir: &Path, identity: &Identity) -> String {
    let certificate = file(dir, "server.pem", &identity.certificate);
    let key = file(dir, "server.key", &identity.key);
    format!(
        "cert_file: '{}', key_file: '{}'",
        certificate.display(),
        key.display()
    )
}

fn debug() -> [(&'static str, String); 1] {
    [("debug", "{}".to_owned())]
}

/// A collector that speaks TLS with `keys`.
fn backend(keys: &str) -> Collector {
    Collector::start(&guarded(&format!(", tls: {{{keys}}}"), "", &debug()))
}

/// A collector that sends to `https` of a backend with these keys of `tls`.
fn sender(kind: &str, backend: &Collector, tls: &str) -> Collector {
    let port = if kind == "otlp_grpc" { "grpc" } else { "http" };
    let settings = format!(
        "{{endpoint: 'https://{}', tls: {{{tls}}}, retry_on_failure: {{enabled: false}}}}",
        backend.address(port)
    );
    Collector::start(&guarded("", "", &[(kind, settings)]))
}

/// Sends one span through `sender` and ends it.
async fn through(sender: Collector) -> Ended {
    let address = sender.address("grpc");
    let answer = Client::plain().grpc(address, &spans(1)).await.unwrap();
    assert_eq!(answer.header("grpc-status"), "0");
    sender.stop()
}

fn says(ended: &Ended, words: &str) -> bool {
    show(&ended.log).contains(words)
}

#[tokio::test(flavor = "multi_thread")]
async fn r_18_both_protocols_speak_tls() {
    let (dir, ours) = (tempfile::tempdir().unwrap(), Authority::new("ours"));
    let files = server_files(dir.path(), &ours.server(&[HERE]));
    let collector = backend(&files);
    for versions in [[&rustls::version::TLS12], [&rustls::version::TLS13]] {
        let client = Client::with(&ours, None, &versions);
        let answer = client.grpc(collector.address("grpc"), &spans(1)).await;
        assert_eq!(answer.unwrap().header("grpc-status"), "0");
        for http2 in [false, true] {
            let address = collector.address("http");
            let answer = client.post_over(address, &spans(1), http2).await;
            assert_eq!(answer.unwrap().status, StatusCode::OK, "{http2}");
        }
    }
    assert_eq!(collector.stop().balance("debug").accepted, 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_know_us_goes_away() {
    let (dir, ours) = (tempfile::tempdir().unwrap(), Authority::new("ours"));
    let files = server_files(dir.path(), &ours.server(&[HERE]));
    let mut collector = backend(&files);
    let stranger = Client::trusting(&Authority::new("theirs"));
    let error = stranger
        .grpc(collector.address("grpc"), &spans(1))
        .await
        .unwrap_err();
    assert!(error.contains("UnknownIssuer"), "{error}");
    collector.wait_for("a TLS handshake failed");
    let (_, metrics) = page::get(collector.address("metrics"), "/metrics").await;
    let counted = r#"sentinel_receiver_closed_connections_total{receiver="otlp",transport="grpc",reason="handshake"} 1"#;
    assert!(metrics.contains(counted), "{metrics}");
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_text_is_not_taken_for_tls() {
    let (dir, ours) = (tempfile::tempdir().unwrap(), Authority::new("ours"));
    let files = server_files(dir.path(), &ours.server(&[HERE]));
    let mut collector = backend(&files);
    let address = collector.address("http");
    assert!(Client::plain().post(address, &spans(1)).await.is_err());
    let line = collector.wait_for("a TLS handshake failed");
    assert!(line["message"].as_str().unwrap().contains("plain text"));
    assert_eq!(collector.stop().balance("debug").accepted, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn r_18_clients_show_a_certificate_where_it_is_asked_for() {
    let (dir, ours) = (tempfile::tempdir().unwrap(), Authority::new("ours"));
    let theirs = Authority::new("theirs");
    let clients = file(dir.path(), "clients.pem", theirs.pem());
    let files = server_files(dir.path(), &ours.server(&[HERE]));
    let collector = backend(&format!("{files}, client_ca_file: '{}'", clients.display()));
    let (grpc, http) = (collector.address("grpc"), collector.address("http"));
    let known = theirs.client("agent");
    let with = |identity: Option<&Identity>| Client::with(&ours, identity, rustls::ALL_VERSIONS);
    let answer = with(Some(&known)).grpc(grpc, &spans(1)).await.unwrap();
    assert_eq!(answer.header("grpc-status"), "0");
    let answer = with(Some(&known)).post(http, &spans(1)).await.unwrap();
    assert_eq!(answer.status, StatusCode::OK);
    let stranger = ours.client("agent");
    for refused in [with(None), with(Some(&stranger))] {
        assert!(refused.grpc(grpc, &spans(1)).await.is_err());
        assert!(refused.post(http, &spans(1)).await.is_err());
    }
    assert_eq!(collector.stop().balance("debug").accepted, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_below_the_lowest_are_refused() {
    let (dir, ours) = (tempfile::tempdir().unwrap(), Authority::new("ours"));
    let files = server_files(dir.path(), &ours.server(&[HERE]));
    let collector = backend(&format!("{files}, min_version: 1.3"));
    let address = collector.address("http");
    let old = Client::with(&ours, None, &[&rustls::version::TLS12]);
    assert!(old.post(address, &spans(1)).await.is_err());
    let new = Client::with(&ours, None, &[&rustls::version::TLS13]);
    assert!(new.post(address, &spans(1)).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn f16_half_a_handshake_ends_and_stops_nobody() {
    let (dir, ours) = (tempfile::tempdir().unwrap(), Authority::new("ours"));
    let files = server_files(dir.path(), &ours.server(&[HERE]));
    let mut collector = backend(&format!("{files}, handshake_timeout: 1s"));
    let address = collector.address("http");
    let mut half = Vec::new();
    for _ in 0..50 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        // The head of a record that never comes.
        stream.write_all(&[0x16, 3, 1, 2, 0]).await.unwrap();
        half.push(stream);
    }
    let client = Client::trusting(&ours);
    let answer = client.post(address, &spans(1)).await.unwrap();
    assert_eq!(answer.status, StatusCode::OK);
    for mut stream in half {
        let mut rest = Vec::new();
        let ended = stream.read_to_end(&mut rest);
        let ended = tokio::time::timeout(Duration::from_secs(20), ended).await;
        assert!(ended.is_ok(), "still open");
    }
    let line = collector.wait_for("a TLS handshake failed");
    assert!(line["why"].as_str().unwrap().contains("1s"), "{line}");
}

#[tokio::test(flavor = "multi_thread")]
async fn e_14_exporters_speak_tls_to_whom_they_can_know() {
    let (dir, ours) = (tempfile::tempdir().unwrap(), Authority::new("ours"));
    let theirs = Authority::new("theirs");
    let roots = file(dir.path(), "roots.pem", ours.pem());
    let clients = file(dir.path(), "clients.pem", theirs.pem());
    let own = theirs.client("sentinel");
    let certificate = file(dir.path(), "own.pem", &own.certificate);
    let key = file(dir.path(), "own.key", &own.key);
    let files = server_files(dir.path(), &ours.server(&[HERE]));
    let (roots, clients) = (roots.display(), clients.display());
    let (certificate, key) = (certificate.display(), key.display());
    let identity = format!("cert_file: '{certificate}', key_file: '{key}'");

    let open = backend(&files);
    let mutual = backend(&format!("{files}, client_ca_file: '{clients}'"));
    for kind in ["otlp_grpc", "otlp_http"] {
        let good = sender(kind, &open, &format!("ca_file: '{roots}'"));
        assert_eq!(through(good).await.balance(kind).sent, 1, "{kind}");
        let both = format!("ca_file: '{roots}', {identity}");
        let known = through(sender(kind, &mutual, &both)).await;
        assert_eq!(known.balance(kind).sent, 1, "{kind}");
        let nobody = through(sender(kind, &mutual, &format!("ca_file: '{roots}'"))).await;
        assert_eq!(nobody.balance(kind).dropped, 1, "{kind}");

        let stranger = through(sender(kind, &open, &format!("ca_file: '{clients}'"))).await;
        assert_eq!(stranger.balance(kind).dropped, 1, "{kind}");
        assert!(says(&stranger, "UnknownIssuer"), "{}", show(&stranger.log));
        let anybody = through(sender(kind, &open, "insecure_skip_verify: true")).await;
        assert_eq!(anybody.balance(kind).sent, 1, "{kind}");
    }
    assert_eq!(open.stop().balance("debug").accepted, 4);
    assert_eq!(mutual.stop().balance("debug").accepted, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn e_14_a_certificate_has_its_time_and_its_name() {
    let (dir, ours) = (tempfile::tempdir().unwrap(), Authority::new("ours"));
    let roots = file(dir.path(), "roots.pem", ours.pem());
    let roots = format!("ca_file: '{}'", roots.display());
    let kind = "otlp_grpc";

    let expired = backend(&server_files(dir.path(), &ours.expired(&[HERE])));
    let ended = through(sender(kind, &expired, &roots)).await;
    assert_eq!(ended.balance(kind).dropped, 1);
    assert!(says(&ended, "xpired"), "{}", show(&ended.log));

    let other = backend(&server_files(
        dir.path(),
        &ours.server(&["collector.example"]),
    ));
    let ended = through(sender(kind, &other, &roots)).await;
    assert_eq!(ended.balance(kind).dropped, 1);
    assert!(says(&ended, "not valid for name"), "{}", show(&ended.log));
    let named = format!("{roots}, server_name_override: collector.example");
    let ended = through(sender(kind, &other, &named)).await;
    assert_eq!(ended.balance(kind).sent, 1);
}

/// What a start that fails says, and its exit code.
fn failing(tls: &str) -> (String, Option<i32>) {
    let config = guarded(&format!(", tls: {{{tls}}}"), "", &debug());
    let ended = Collector::spawn(&config, &[]).wait();
    (show(&ended.log), ended.status.code())
}

#[test]
fn what_is_no_certificate_is_named_with_key_and_file() {
    let (dir, ours) = (tempfile::tempdir().unwrap(), Authority::new("ours"));
    let (one, two) = (ours.server(&[HERE]), ours.server(&[HERE]));
    let files = server_files(dir.path(), &one);
    let empty = file(dir.path(), "empty.pem", "nothing");
    let secret = file(
        dir.path(),
        "locked.key",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nhunter2\n-----END ENCRYPTED PRIVATE KEY-----\n",
    );
    let certificate = file(dir.path(), "one.pem", &one.certificate);
    let other = file(dir.path(), "two.key", &two.key);
    let pair = |certificate: &Path, key: &Path| {
        let (certificate, key) = (certificate.display(), key.display());
        format!("cert_file: '{certificate}', key_file: '{key}'")
    };
    let tls = "receivers.otlp.protocols.grpc.tls";
    for (keys, key, file, words) in [
        (
            pair(Path::new("/no/such.pem"), &other),
            "cert_file",
            "/no/such.pem",
            "No such file",
        ),
        (
            pair(&empty, &other),
            "cert_file",
            "empty.pem",
            "holds no certificate",
        ),
        (
            pair(&certificate, &empty),
            "key_file",
            "empty.pem",
            "holds no private key",
        ),
        (
            pair(&certificate, &secret),
            "key_file",
            "locked.key",
            "passphrase",
        ),
        (
            pair(&certificate, &other),
            "key_file",
            "two.key",
            "does not go with",
        ),
        (
            format!("{files}, client_ca_file: '{}'", empty.display()),
            "client_ca_file",
            "empty.pem",
            "holds no certificate",
        ),
    ] {
        let (said, code) = failing(&keys);
        assert_eq!(code, Some(78), "{said}");
        for part in [&format!("{tls}.{key}"), file, words] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(!said.contains("hunter2"), "{said}");
    }
}
