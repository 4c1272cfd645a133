//! Exporters over real sockets against a backend that answers by script. The backend's gRPC is tonic's, so
//! that our framing is read by somebody else.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "opens its own backend")]

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_sentinel::exporters::{
    self, Balance, Compression, Encoding, Exporter, Feed, OtlpGrpcSettings, OtlpHttpSettings,
    Reason, RetrySettings, Work,
};
use agent_sentinel::model::{Pressure, Release, Selection};
use agent_sentinel::otlp::status::{PartialSuccess, Status, encode_response};
use agent_sentinel::runtime::net;
use bytes::{Buf, BufMut, Bytes};
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use prost::Message;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tonic::codec::{
    Codec, CompressionEncoding, DecodeBuf, Decoder, EnabledCompressionEncodings, EncodeBuf, Encoder,
};

/// What the backend does with a request.
#[derive(Clone, Debug)]
enum Answer {
    Take,
    Partly(u64),
    Grpc(i32, Option<Duration>),
    Http(u16, &'static [(&'static str, &'static str)], Vec<u8>),
    Hang,
    /// INVALID_ARGUMENT or 400 when a span of this name is in it.
    Dislike(&'static str),
}

/// A request as it arrived.
#[derive(Clone, Debug)]
struct Received {
    path: String,
    headers: HeaderMap,
    body: Bytes,
}

struct Backend {
    address: SocketAddr,
    received: mpsc::UnboundedReceiver<Received>,
    _task: JoinSet<()>,
}

impl Backend {
    /// Answers by `script`, and with `after` when that is used up.
    async fn start(script: Vec<Answer>, after: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self::on(listener, script, after)
    }

    fn on(listener: TcpListener, script: Vec<Answer>, after: Answer) -> Self {
        let address = listener.local_addr().unwrap();
        let script = Arc::new(Mutex::new(VecDeque::from(script)));
        let (sender, received) = mpsc::unbounded_channel();
        let mut task = JoinSet::new();
        task.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (script, sender, after) = (Arc::clone(&script), sender.clone(), after.clone());
                let service = service_fn(move |request| {
                    let (script, sender) = (Arc::clone(&script), sender.clone());
                    let after = after.clone();
                    async move { Ok::<_, Infallible>(respond(request, script, sender, after).await) }
                });
                connections.spawn(async move {
                    let _ = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new())
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        Self {
            address,
            received,
            _task: task,
        }
    }

    async fn next(&mut self) -> Received {
        self.received.recv().await.unwrap()
    }

    fn nothing_more(&mut self) -> bool {
        self.received.try_recv().is_err()
    }
}

async fn respond(
    request: Request<hyper::body::Incoming>,
    script: Arc<Mutex<VecDeque<Answer>>>,
    sender: mpsc::UnboundedSender<Received>,
    after: Answer,
) -> Response<tonic::body::Body> {
    let answer = script.lock().unwrap().pop_front().unwrap_or(after);
    let path = request.uri().path().to_owned();
    let headers = request.headers().clone();
    let note = move |body: Bytes| {
        let _ = sender.send(Received {
            path,
            headers,
            body,
        });
    };
    if request.headers().get("content-type").unwrap() == "application/grpc" {
        let mut grpc = tonic::server::Grpc::new(Raw)
            .apply_compression_config(accepted(), EnabledCompressionEncodings::default());
        return grpc.unary(Scripted(answer, note), request).await;
    }
    let body = request.into_body().collect().await.unwrap().to_bytes();
    note(body.clone());
    let (status, headers, body) = match answer {
        Answer::Take => (200, &[][..], Vec::new()),
        Answer::Partly(n) => (200, &[][..], partly(n)),
        Answer::Http(status, headers, body) => (status, headers, body),
        Answer::Dislike(name) if holds(&body, name) => (400, &[][..], Vec::new()),
        Answer::Dislike(_) => (200, &[][..], Vec::new()),
        Answer::Hang => std::future::pending().await,
        Answer::Grpc(..) => panic!("this is HTTP"),
    };
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    response
        .body(tonic::body::Body::new(Full::new(Bytes::from(body))))
        .unwrap()
}

fn accepted() -> EnabledCompressionEncodings {
    let mut accepted = EnabledCompressionEncodings::default();
    accepted.enable(CompressionEncoding::Gzip);
    accepted.enable(CompressionEncoding::Zstd);
    accepted
}

#[derive(Clone)]
struct Scripted<F>(Answer, F);

impl<F: FnOnce(Bytes) + Clone + Send + 'static> tonic::server::UnaryService<Bytes> for Scripted<F> {
    type Response = Bytes;
    type Future = std::pin::Pin<
        Box<dyn Future<Output = Result<tonic::Response<Bytes>, tonic::Status>> + Send>,
    >;

    fn call(&mut self, request: tonic::Request<Bytes>) -> Self::Future {
        let Self(answer, note) = self.clone();
        Box::pin(async move {
            let body = request.into_inner();
            note(body.clone());
            match answer {
                Answer::Take => Ok(tonic::Response::new(Bytes::new())),
                Answer::Partly(n) => Ok(tonic::Response::new(partly(n).into())),
                Answer::Dislike(name) if holds(&body, name) => {
                    Err(tonic::Status::invalid_argument("I do not like it"))
                }
                Answer::Dislike(_) => Ok(tonic::Response::new(Bytes::new())),
                Answer::Hang => std::future::pending().await,
                Answer::Grpc(code, retry_delay) => {
                    let details = Status {
                        code,
                        retry_delay,
                        ..Status::default()
                    };
                    Err(tonic::Status::with_details(
                        tonic::Code::from_i32(code),
                        "by script",
                        details.to_protobuf().into(),
                    ))
                }
                Answer::Http(..) => panic!("this is gRPC"),
            }
        })
    }
}

fn partly(n: u64) -> Vec<u8> {
    encode_response(Some(&PartialSuccess {
        rejected_spans: n,
        message: "some of them are odd".to_owned(),
    }))
}

fn names(body: &[u8]) -> Vec<String> {
    let request = ExportTraceServiceRequest::decode(body).unwrap();
    let scopes = request
        .resource_spans
        .into_iter()
        .flat_map(|r| r.scope_spans);
    scopes.flat_map(|s| s.spans).map(|s| s.name).collect()
}

fn holds(body: &[u8], name: &str) -> bool {
    names(body).iter().any(|n| n == name)
}

#[derive(Clone, Copy, Default)]
struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;
    fn encoder(&mut self) -> Self {
        Self
    }
    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = tonic::Status;
    fn encode(&mut self, item: Bytes, out: &mut EncodeBuf<'_>) -> Result<(), tonic::Status> {
        out.put(item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = tonic::Status;
    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, tonic::Status> {
        Ok(Some(from.copy_to_bytes(from.remaining())))
    }
}

fn release(names: &[&str]) -> Arc<Release> {
    let spans = names
        .iter()
        .enumerate()
        .map(|(n, name)| Span {
            trace_id: vec![7; 16],
            span_id: vec![u8::try_from(n + 1).unwrap(); 8],
            name: (*name).to_owned(),
            ..Span::default()
        })
        .collect();
    let request = ExportTraceServiceRequest {
        resource_spans: vec![ResourceSpans {
            scope_spans: vec![ScopeSpans {
                spans,
                ..ScopeSpans::default()
            }],
            ..ResourceSpans::default()
        }],
    };
    Arc::new(Release {
        body: request.encode_to_vec().into(),
        spans: Selection::All,
        count: u32::try_from(names.len()).unwrap(),
        patches: Vec::new(),
        synthetic: false,
    })
}

fn quick() -> RetrySettings {
    RetrySettings {
        initial_interval: Duration::from_millis(1),
        max_interval: Duration::from_millis(5),
        max_elapsed_time: Duration::ZERO,
        ..RetrySettings::default()
    }
}

fn grpc_settings(address: SocketAddr) -> OtlpGrpcSettings {
    OtlpGrpcSettings {
        endpoint: address.to_string(),
        timeout: Duration::from_secs(60),
        retry_on_failure: quick(),
        ..OtlpGrpcSettings::default()
    }
}

fn http_settings(address: SocketAddr) -> OtlpHttpSettings {
    OtlpHttpSettings {
        endpoint: format!("http://{address}"),
        timeout: Duration::from_secs(60),
        retry_on_failure: quick(),
        ..OtlpHttpSettings::default()
    }
}

/// An exporter whose work runs.
struct Running {
    exporter: Exporter,
    task: JoinSet<()>,
}

impl Running {
    fn start((exporter, work): (Exporter, Work)) -> Self {
        let mut task = JoinSet::new();
        task.spawn(work.run(std::future::pending()));
        Self { exporter, task }
    }

    fn grpc(settings: &OtlpGrpcSettings) -> Self {
        let pressure = Pressure::default();
        Self::start(
            exporters::otlp_grpc(
                "otlp_grpc",
                settings,
                net::connector(),
                Feed::Spans(&pressure),
            )
            .unwrap(),
        )
    }

    fn http(settings: &OtlpHttpSettings) -> Self {
        let pressure = Pressure::default();
        Self::start(
            exporters::otlp_http(
                "otlp_http",
                settings,
                net::connector(),
                Feed::Spans(&pressure),
            )
            .unwrap(),
        )
    }

    fn send(&self, names: &[&str]) {
        self.exporter.enqueue(release(names));
    }

    /// Everything is settled now.
    async fn end(mut self) -> Balance {
        self.exporter.close();
        self.task.join_next().await.unwrap().unwrap();
        let balance = self.exporter.balance();
        assert!(balance.holds(), "{balance:?}");
        assert_eq!((balance.queued, balance.in_flight), (0, 0));
        assert_eq!(self.exporter.queue_bytes(), 0);
        balance
    }
}

#[tokio::test]
async fn one_request_in_is_the_same_request_out() {
    let mut backend = Backend::start(Vec::new(), Answer::Take).await;
    let running = Running::grpc(&grpc_settings(backend.address));
    let sent = release(&["a", "b"]);
    running.exporter.enqueue(Arc::clone(&sent));
    let received = backend.next().await;
    assert_eq!(received.body, sent.body);
    let agent = received
        .headers
        .get("user-agent")
        .unwrap()
        .to_str()
        .unwrap();
    assert!(agent.starts_with("agent-sentinel/"), "{agent}");
    let balance = running.end().await;
    assert_eq!((balance.accepted, balance.sent), (2, 2));

    let mut backend = Backend::start(Vec::new(), Answer::Take).await;
    let mut settings = http_settings(backend.address);
    settings.endpoint.push_str("/base/");
    settings
        .headers
        .insert("x-team".to_owned(), "blue".to_owned());
    let running = Running::http(&settings);
    running.exporter.enqueue(Arc::clone(&sent));
    let received = backend.next().await;
    assert_eq!(received.body, sent.body);
    assert_eq!(received.path, "/base/v1/traces");
    assert_eq!(received.headers.get("x-team").unwrap(), "blue");
    assert_eq!(
        received.headers.get("content-type").unwrap(),
        "application/x-protobuf"
    );
    assert_eq!(running.end().await.sent, 2);
}

#[tokio::test]
async fn e_05_what_is_squeezed_can_be_read_by_others() {
    for compression in [Compression::Gzip, Compression::Zstd, Compression::None] {
        let mut backend = Backend::start(Vec::new(), Answer::Take).await;
        let mut settings = grpc_settings(backend.address);
        settings.compression = Some(compression);
        let running = Running::grpc(&settings);
        let long = "a".repeat(100_000);
        let sent = release(&[&long]);
        running.exporter.enqueue(Arc::clone(&sent));
        assert_eq!(backend.next().await.body, sent.body, "{compression:?}");
        assert_eq!(running.end().await.sent, 1);
    }
    let mut backend = Backend::start(Vec::new(), Answer::Take).await;
    let mut settings = http_settings(backend.address);
    settings.compression = Some(Compression::Gzip);
    let running = Running::http(&settings);
    let sent = release(&["a"]);
    running.exporter.enqueue(Arc::clone(&sent));
    let received = backend.next().await;
    assert_eq!(received.headers.get("content-encoding").unwrap(), "gzip");
    let mut plain = Vec::new();
    let mut decoder = flate2::read::GzDecoder::new(&*received.body);
    std::io::Read::read_to_end(&mut decoder, &mut plain).unwrap();
    assert_eq!(plain, sent.body);
    assert_eq!(running.end().await.sent, 1);
}

#[tokio::test]
async fn what_a_backend_cannot_take_now_it_gets_later() {
    let busy = [
        Answer::Grpc(14, None),
        Answer::Grpc(8, Some(Duration::from_millis(1))),
    ];
    let mut backend = Backend::start(busy.to_vec(), Answer::Take).await;
    let running = Running::grpc(&grpc_settings(backend.address));
    running.send(&["a"]);
    for _ in 0..3 {
        assert_eq!(names(&backend.next().await.body), ["a"]);
    }
    let balance = running.end().await;
    assert_eq!((balance.sent, balance.attempts_failed), (1, 2));

    let busy = [
        Answer::Http(503, &[("retry-after", "0")], Vec::new()),
        Answer::Http(429, &[], Vec::new()),
        Answer::Http(502, &[], Vec::new()),
    ];
    let mut backend = Backend::start(busy.to_vec(), Answer::Take).await;
    let running = Running::http(&http_settings(backend.address));
    running.send(&["a"]);
    for _ in 0..4 {
        assert_eq!(names(&backend.next().await.body), ["a"]);
    }
    assert_eq!(running.end().await.sent, 1);
}

#[tokio::test]
async fn e_16_a_dead_backend_loses_nothing_while_the_queue_has_room() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let running = Running::grpc(&grpc_settings(address));
    for _ in 0..50 {
        running.send(&["a", "b"]);
    }
    while running.exporter.failing().is_none() {
        tokio::task::yield_now().await;
    }
    let listener = TcpListener::bind(address).await.unwrap();
    let _backend = Backend::on(listener, Vec::new(), Answer::Take);
    let balance = running.end().await;
    assert_eq!((balance.accepted, balance.sent), (100, 100));
    assert!(balance.attempts_failed > 0);
}

#[tokio::test]
async fn e_11_a_partial_success_is_counted_and_not_repeated() {
    let mut backend = Backend::start(vec![Answer::Partly(2)], Answer::Take).await;
    let running = Running::grpc(&grpc_settings(backend.address));
    running.send(&["a", "b", "c"]);
    backend.next().await;
    let balance = running.end().await;
    assert!(backend.nothing_more());
    assert_eq!(
        (balance.sent, balance.dropped_for(Reason::Rejected)),
        (1, 2)
    );

    let mut backend = Backend::start(vec![Answer::Partly(0)], Answer::Take).await;
    let running = Running::http(&http_settings(backend.address));
    running.send(&["a", "b", "c"]);
    backend.next().await;
    let balance = running.end().await;
    assert!(backend.nothing_more());
    assert_eq!((balance.sent, balance.dropped_total()), (3, 0));
}

#[tokio::test]
async fn refused_requests_are_halved_until_the_culprits_are_alone() {
    let spans = ["a", "b", "bad", "c", "d", "e", "bad", "f"];
    let mut backend = Backend::start(Vec::new(), Answer::Dislike("bad")).await;
    let running = Running::grpc(&grpc_settings(backend.address));
    running.send(&spans);
    let balance = running.end().await;
    assert_eq!((balance.sent, balance.dropped_for(Reason::Refused)), (6, 2));
    let mut arrived = Vec::new();
    while let Ok(received) = backend.received.try_recv() {
        if !holds(&received.body, "bad") {
            arrived.extend(names(&received.body));
        }
    }
    assert_eq!(arrived, ["a", "b", "c", "d", "e", "f"]);

    let backend = Backend::start(Vec::new(), Answer::Dislike("bad")).await;
    let running = Running::http(&http_settings(backend.address));
    running.send(&spans);
    let balance = running.end().await;
    assert_eq!((balance.sent, balance.dropped_for(Reason::Refused)), (6, 2));
}

#[tokio::test]
async fn a_backend_that_refuses_everything_is_not_asked_for_ever() {
    let mut backend = Backend::start(Vec::new(), Answer::Dislike("bad")).await;
    let running = Running::grpc(&grpc_settings(backend.address));
    running.send(&["bad"; 200]);
    let balance = running.end().await;
    assert_eq!(balance.dropped_for(Reason::Refused), 200);
    let mut requests = 0;
    while backend.received.try_recv().is_ok() {
        requests += 1;
    }
    assert!(requests <= 32, "{requests}");
}

#[tokio::test]
async fn a_refusal_of_the_sender_is_not_divided() {
    let mut backend = Backend::start(vec![Answer::Grpc(7, None)], Answer::Take).await;
    let running = Running::grpc(&grpc_settings(backend.address));
    running.send(&["a", "b"]);
    backend.next().await;
    let balance = running.end().await;
    assert!(backend.nothing_more());
    assert_eq!(balance.dropped_for(Reason::Refused), 2);
}

#[tokio::test]
async fn e_07_large_requests_are_cut_along_spans() {
    let mut backend = Backend::start(Vec::new(), Answer::Take).await;
    let mut settings = grpc_settings(backend.address);
    settings.max_request_size = 1000;
    let running = Running::grpc(&settings);
    let long = "x".repeat(300);
    let huge = "y".repeat(3000);
    running.send(&[&long, &long, &huge, &long, &long, &long]);
    let balance = running.end().await;
    assert_eq!(balance.sent, 6);
    let mut arrived = Vec::new();
    while let Ok(received) = backend.received.try_recv() {
        let names = names(&received.body);
        assert!(received.body.len() <= 1000 || names.len() == 1);
        arrived.extend(names);
    }
    assert_eq!(
        arrived,
        [&long, &long, &huge, &long, &long, &long].map(|s| s.clone())
    );
}

#[tokio::test]
async fn q_03_a_batch_that_waits_does_not_stop_those_behind_it() {
    let wait = Some(Duration::from_secs(3600));
    let mut backend = Backend::start(vec![Answer::Grpc(14, wait)], Answer::Take).await;
    let mut settings = grpc_settings(backend.address);
    settings.sending_queue.num_consumers = 1;
    settings.retry_on_failure.max_interval = Duration::from_secs(3600);
    let (exporter, work) = exporters::otlp_grpc(
        "otlp",
        &settings,
        net::connector(),
        Feed::Spans(&Pressure::default()),
    )
    .unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let mut task = JoinSet::new();
    task.spawn(work.run(async move {
        let _ = stopped.await;
    }));
    exporter.enqueue(release(&["waits"]));
    assert_eq!(names(&backend.next().await.body), ["waits"]);
    for _ in 0..20 {
        exporter.enqueue(release(&["passes"]));
        assert_eq!(names(&backend.next().await.body), ["passes"]);
    }
    // E-18: at the end of the time for shutting down what is left is counted.
    exporter.close();
    stop.send(()).unwrap();
    task.join_next().await.unwrap().unwrap();
    let balance = exporter.balance();
    assert!(balance.holds(), "{balance:?}");
    assert_eq!(balance.dropped_for(Reason::Shutdown), 21 - balance.sent);
    assert!(balance.sent >= 19);
}

#[tokio::test]
async fn what_never_passes_is_given_up_and_counted() {
    let _backend = Backend::start(Vec::new(), Answer::Grpc(14, None)).await;
    let mut settings = grpc_settings(_backend.address);
    settings.retry_on_failure.max_elapsed_time = Duration::from_millis(30);
    let running = Running::grpc(&settings);
    running.send(&["a", "b"]);
    let balance = running.end().await;
    assert_eq!(balance.dropped_for(Reason::RetriesExhausted), 2);
    assert!(balance.attempts_failed > 0);
}

#[tokio::test]
async fn e_06_an_attempt_that_is_not_answered_is_repeated() {
    let mut backend = Backend::start(vec![Answer::Hang], Answer::Take).await;
    let mut settings = http_settings(backend.address);
    settings.timeout = Duration::from_millis(100);
    let running = Running::http(&settings);
    running.send(&["a"]);
    backend.next().await;
    assert_eq!(names(&backend.next().await.body), ["a"]);
    assert!(running.end().await.sent == 1);
}

#[tokio::test]
async fn e_08_answers_are_read_up_to_their_limit() {
    let large = vec![b'x'; 5 << 20];
    let script = vec![
        Answer::Http(200, &[], large.clone()),
        Answer::Http(404, &[], large),
    ];
    let backend = Backend::start(script, Answer::Take).await;
    let mut settings = http_settings(backend.address);
    settings.sending_queue.num_consumers = 1;
    let running = Running::http(&settings);
    running.send(&["a"]);
    running.send(&["b"]);
    let balance = running.end().await;
    assert_eq!((balance.sent, balance.dropped_for(Reason::Refused)), (1, 1));
}

#[tokio::test]
async fn e_17_one_dead_backend_does_not_stall_another() {
    let dead = Backend::start(Vec::new(), Answer::Grpc(14, None)).await;
    let mut alive = Backend::start(Vec::new(), Answer::Take).await;
    let pressure = Pressure::default();
    let mut settings = grpc_settings(dead.address);
    settings.sending_queue.queue_size = 100;
    let (stuck, work) =
        exporters::otlp_grpc("stuck", &settings, net::connector(), Feed::Spans(&pressure)).unwrap();
    let _stuck_task = {
        let mut task = JoinSet::new();
        task.spawn(work.run(std::future::pending()));
        task
    };
    let running = Running::grpc(&grpc_settings(alive.address));
    for _ in 0..10 {
        let release = release(&["a"]);
        stuck.enqueue(Arc::clone(&release));
        running.exporter.enqueue(release);
        assert_eq!(names(&alive.next().await.body), ["a"]);
    }
    assert_eq!(running.end().await.sent, 10);
    // Full, it asks the receivers to stop and still loses nothing.
    assert!(pressure.is_on());
    let balance = stuck.balance();
    assert_eq!((balance.accepted, balance.dropped_total()), (10, 0));
}

#[tokio::test]
async fn e_15_json_on_request() {
    let mut backend = Backend::start(Vec::new(), Answer::Take).await;
    let mut settings = http_settings(backend.address);
    settings.encoding = Encoding::Json;
    let running = Running::http(&settings);
    running.send(&["a"]);
    let received = backend.next().await;
    assert_eq!(
        received.headers.get("content-type").unwrap(),
        "application/json"
    );
    assert!(received.body.starts_with(b"{\"resourceSpans\":["));
    assert_eq!(running.end().await.sent, 1);
}

/// A sink that others can look into.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Seen {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_file_holds_a_request_a_line_in_order() {
    let seen = Seen::default();
    let settings = exporters::FileSettings::default();
    let sink = Box::new(seen.clone());
    let made = exporters::file("file", &settings, sink, Feed::Spans(&Pressure::default())).unwrap();
    let running = Running::start(made);
    for n in 0..50 {
        running.send(&[&format!("span {n}")]);
    }
    let balance = running.end().await;
    assert_eq!(balance.sent, 50);
    let text = String::from_utf8(seen.0.lock().unwrap().clone()).unwrap();
    assert_eq!(text.lines().count(), 50);
    for (n, line) in text.lines().enumerate() {
        let body = agent_sentinel::otlp::transcode(line.as_bytes()).unwrap();
        assert_eq!(names(&body), [format!("span {n}")]);
    }
}

#[tokio::test]
async fn debug_shows_what_passes() {
    let seen = Seen::default();
    let settings = exporters::DebugSettings::default();
    let sink = Box::new(anstream::StripStream::new(
        Box::new(seen.clone()) as exporters::Sink
    ));
    let made =
        exporters::debug("debug", &settings, sink, Feed::Spans(&Pressure::default())).unwrap();
    let running = Running::start(made);
    running.send(&["a", "b"]);
    assert_eq!(running.end().await.sent, 2);
    let text = String::from_utf8(seen.0.lock().unwrap().clone()).unwrap();
    assert!(text.starts_with("2 spans from ?\n"), "{text}");
    assert_eq!(text.lines().count(), 3);
}
