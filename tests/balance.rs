//! Every span accepted is sent or dropped for a counted reason, however the process ends.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![expect(
    clippy::disallowed_methods,
    reason = "a test opens sockets and starts processes itself"
)]

mod support;

use support::backend::{Backend, Reply};
use support::collector::{self, Collector};
use support::senders::{self, How};
use support::wire;

fn exporter(backend: &Backend) -> (&'static str, String) {
    let endpoint = backend.address();
    (
        "otlp_grpc",
        format!(
            "{{endpoint: 'http://{endpoint}', retry_on_failure: {{initial_interval: 20ms, max_interval: 50ms}}}}"
        ),
    )
}

/// SIGTERM in the middle of the load: what was answered with success reaches the backend, once.
#[tokio::test(flavor = "multi_thread")]
async fn stopping_under_load_accounts_for_every_span() {
    let backend = Backend::start().await;
    let collector = Collector::start(&collector::config(&[exporter(&backend)]));
    let address = collector.address("grpc");
    let load = tokio::spawn(async move {
        let mut taken = 0;
        for number in 0..200 {
            let run = if number % 3 == 0 {
                senders::stuck(5)
            } else {
                senders::healthy(5)
            };
            let spans = run.len();
            match senders::send(How::Grpc, address, run).await {
                Ok(()) => taken += spans,
                Err(_) => break,
            }
        }
        taken
    });
    backend.until_spans(60).await;
    let ended = collector.stop();
    let taken = load.await.unwrap() as u64;

    assert_eq!(
        ended.status.code(),
        Some(0),
        "{}",
        collector::show(&ended.log)
    );
    let balance = ended.balance("otlp_grpc");
    assert!(balance.adds_up(), "{balance:?}");
    assert_eq!(balance.dropped, 0, "{balance:?}");
    // A request whose answer was lost with the connection may be accepted and not counted by the client.
    assert!(
        balance.accepted >= taken,
        "{taken} acknowledged, {balance:?}"
    );
    let spans = wire::all_spans(&backend.bodies());
    assert_eq!(spans.len() as u64, balance.sent);
    let mut ids: Vec<_> = spans.iter().map(|span| wire::ids(span)).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), spans.len(), "a span came out twice");
}

/// A backend that is gone for good: the process ends in time, and says what it gave up.
#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_sent_is_counted() {
    let backend = Backend::scripted(|_| Reply::Refuse(14, 503)).await;
    let config = collector::config(&[exporter(&backend)])
        .replace("service:\n", "service:\n  shutdown: {timeout: 1s}\n");
    let collector = Collector::start(&config);
    let run = senders::healthy(7);
    let spans = run.len() as u64;
    senders::send(How::Grpc, collector.address("grpc"), run)
        .await
        .unwrap();
    backend.until("a try", |got| !got.is_empty()).await;
    let ended = collector.stop();
    let balance = ended.balance("otlp_grpc");
    assert!(balance.adds_up(), "{balance:?}");
    assert_eq!((balance.accepted, balance.dropped), (spans, spans));
}

/// Spans that the backend throws away (partial success) are dropped, not sent.
#[tokio::test(flavor = "multi_thread")]
async fn partial_success_is_not_success() {
    let backend = Backend::scripted(|_| Reply::Reject(2)).await;
    let collector = Collector::start(&collector::config(&[exporter(&backend)]));
    let run = senders::healthy(4);
    let spans = run.len() as u64;
    senders::send(How::Grpc, collector.address("grpc"), run)
        .await
        .unwrap();
    backend.until("the request", |got| !got.is_empty()).await;
    let ended = collector.stop();
    let balance = ended.balance("otlp_grpc");
    assert!(balance.adds_up(), "{balance:?}");
    assert_eq!((balance.sent, balance.dropped), (spans - 2, 2));
}
