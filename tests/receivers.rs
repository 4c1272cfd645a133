//! The receivers over real sockets: every line marked M in sections 1 to 3 of the OTLP checklist that
//! concerns a receiver of traces, and what lies near it. The gRPC client is tonic's, so that our framing is
//! read by somebody else.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "opens its own connections")]

use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use agent_sentinel::model::Pressure;
use agent_sentinel::otlp::status::{PartialSuccess, Status, decode_response, decode_response_json};
use agent_sentinel::receivers::{
    Arrivals, Counters, Desk, GrpcSettings, Guard, HttpSettings, IntakeSettings, intake,
    serve_grpc, serve_http,
};
use agent_sentinel::runtime::net;
use bytes::{Buf, BufMut, Bytes};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use prost::Message;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tonic::Code;
use tonic::codec::{Codec, CompressionEncoding, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::transport::Channel;

const EXPORT: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
const PROTOBUF: &str = "application/x-protobuf";
const JSON: &str = "application/json";

/// Both servers on ports of their own, and the engine's end of the queue.
struct House {
    grpc: SocketAddr,
    http: SocketAddr,
    arrivals: Arrivals,
    grpc_counters: Arc<Counters>,
    http_counters: Arc<Counters>,
    pressure: Pressure,
    stop: Vec<oneshot::Sender<()>>,
    servers: JoinSet<()>,
}

impl House {
    async fn open() -> Self {
        let (grpc, http) = (GrpcSettings::default(), HttpSettings::default());
        Self::with(grpc, http, IntakeSettings::default()).await
    }

    async fn limited(limit: u64) -> Self {
        let grpc = GrpcSettings {
            max_request_size: limit,
            ..GrpcSettings::default()
        };
        let http = HttpSettings {
            max_request_body_size: limit,
            ..HttpSettings::default()
        };
        Self::with(grpc, http, IntakeSettings::default()).await
    }

    async fn with(grpc: GrpcSettings, http: HttpSettings, queue: IntakeSettings) -> Self {
        let pressure = Pressure::default();
        let (intake, arrivals) = intake(&queue, pressure.clone());
        let desk = Arc::new(Desk::new(Arc::default(), intake));
        let (grpc_counters, http_counters) = (Arc::<Counters>::default(), Arc::default());
        let on_grpc = net::bind("grpc", "127.0.0.1:0").await.unwrap();
        let on_http = net::bind("http", "127.0.0.1:0").await.unwrap();
        let (grpc_address, http_address) =
            (on_grpc.local_addr().unwrap(), on_http.local_addr().unwrap());
        let mut servers = JoinSet::new();
        let grace = Duration::from_secs(60);
        let (stop_grpc, stopped) = oneshot::channel::<()>();
        let (theirs, counters) = (Arc::clone(&desk), Arc::clone(&grpc_counters));
        servers.spawn(async move {
            let stop = async { drop(stopped.await) };
            serve_grpc(
                on_grpc,
                &grpc,
                Guard::default(),
                theirs,
                counters,
                stop,
                grace,
            )
            .await;
        });
        let (stop_http, stopped) = oneshot::channel::<()>();
        let counters = Arc::clone(&http_counters);
        servers.spawn(async move {
            let stop = async { drop(stopped.await) };
            serve_http(
                on_http,
                &http,
                Guard::default(),
                desk,
                counters,
                stop,
                grace,
            )
            .await;
        });
        Self {
            grpc: grpc_address,
            http: http_address,
            arrivals,
            grpc_counters,
            http_counters,
            pressure,
            stop: vec![stop_grpc, stop_http],
            servers,
        }
    }

    async fn grpc_client(&self) -> tonic::client::Grpc<Channel> {
        let channel = Channel::from_shared(format!("http://{}", self.grpc)).unwrap();
        tonic::client::Grpc::new(channel.connect().await.unwrap())
            .accept_compressed(CompressionEncoding::Gzip)
    }

    /// One POST to the traces path.
    async fn post(&self, kind: &str, body: impl Into<Bytes>) -> Answer {
        self.request(Method::POST, "/v1/traces", &[("content-type", kind)], body)
            .await
    }

    async fn request(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Answer {
        let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
        let mut request = Request::builder()
            .method(method)
            .uri(format!("http://{}{path}", self.http));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(body.into())).unwrap();
        let response = client.request(request).await.unwrap();
        let (head, body) = response.into_parts();
        Answer {
            status: head.status,
            headers: head.headers,
            body: body.collect().await.unwrap().to_bytes(),
        }
    }

    fn taken(&mut self) -> u32 {
        self.arrivals.try_next().map_or(0, |reading| reading.spans)
    }
}

#[derive(Debug)]
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |v| v.to_str().unwrap())
    }

    /// The Status that every refusal carries, in the writing its content type names.
    fn refusal(&self) -> Status {
        assert!(!self.status.is_success(), "{self:?}");
        let status = match self.header("content-type") {
            PROTOBUF => Status::from_protobuf(&self.body).unwrap(),
            JSON => Status::from_json(&self.body).unwrap(),
            other => panic!("{other}"),
        };
        assert!(!status.message.is_empty());
        status
    }

    fn partial(&self) -> Option<PartialSuccess> {
        assert_eq!(self.status, StatusCode::OK, "{self:?}");
        match self.header("content-type") {
            PROTOBUF => decode_response(&self.body).unwrap(),
            JSON => decode_response_json(&self.body).unwrap(),
            other => panic!("{other}"),
        }
    }
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

async fn call(
    client: &mut tonic::client::Grpc<Channel>,
    path: &'static str,
    body: impl Into<Bytes>,
) -> Result<tonic::Response<Bytes>, tonic::Status> {
    client.ready().await.unwrap();
    let path = http::uri::PathAndQuery::from_static(path);
    client
        .unary(tonic::Request::new(body.into()), path, Raw)
        .await
}

fn span(n: u8) -> Span {
    Span {
        trace_id: vec![7; 16],
        span_id: vec![n + 1; 8],
        name: format!("span {n}"),
        ..Span::default()
    }
}

fn request(spans: Vec<Span>) -> Vec<u8> {
    ExportTraceServiceRequest {
        resource_spans: vec![ResourceSpans {
            scope_spans: vec![ScopeSpans {
                spans,
                ..ScopeSpans::default()
            }],
            ..ResourceSpans::default()
        }],
    }
    .encode_to_vec()
}

fn spans(n: u8) -> Vec<u8> {
    request((0..n).map(span).collect())
}

/// Ten spans of which two are malformed.
fn eight_and_two() -> Vec<u8> {
    let mut all: Vec<Span> = (0..10).map(span).collect();
    all.get_mut(3).unwrap().trace_id = vec![1; 3];
    all.get_mut(5).unwrap().span_id = vec![0; 8];
    request(all)
}

const ONE_SPAN_IN_JSON: &str = r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"a","kind":1,"startTimeUnixNano":"1","endTimeUnixNano":"2"}]}]}]}"#;

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn r_01_identity_and_gzip_are_taken_alike_on_both() {
    let mut house = House::open().await;
    let body = spans(3);
    let mut client = house.grpc_client().await;
    call(&mut client, EXPORT, body.clone()).await.unwrap();
    let plain = house.arrivals.try_next().unwrap();
    let mut client = client.send_compressed(CompressionEncoding::Gzip);
    call(&mut client, EXPORT, body.clone()).await.unwrap();
    let squeezed = house.arrivals.try_next().unwrap();
    assert_eq!(plain.body, body);
    assert_eq!(squeezed.body, body);

    house.post(PROTOBUF, body.clone()).await.partial();
    for (encoding, squeezed) in [("gzip", gzip(&body)), ("GZIP", gzip(&body))] {
        let headers = [("content-type", PROTOBUF), ("content-encoding", encoding)];
        let answer = house
            .request(Method::POST, "/v1/traces", &headers, squeezed)
            .await;
        assert_eq!(answer.partial(), None);
    }
    for _ in 0..3 {
        assert_eq!(house.arrivals.try_next().unwrap().body, body);
    }
}

#[tokio::test]
async fn r_02_zstd_is_taken_on_both() {
    let mut house = House::open().await;
    let client = house.grpc_client().await;
    let mut client = client.send_compressed(CompressionEncoding::Zstd);
    call(&mut client, EXPORT, spans(3)).await.unwrap();
    assert_eq!(house.taken(), 3);
    let squeezed = zstd::bulk::compress(&spans(4), 1).unwrap();
    let headers = [("content-type", PROTOBUF), ("content-encoding", "zstd")];
    let answer = house
        .request(Method::POST, "/v1/traces", &headers, squeezed)
        .await;
    assert_eq!(answer.partial(), None);
    assert_eq!(house.taken(), 4);
}

#[tokio::test]
async fn r_03_g_02_size_is_limited_before_and_after_inflating_on_grpc() {
    let mut house = House::limited(100_000).await;
    let mut client = house.grpc_client().await;
    let large = vec![0; 100_001];
    let status = call(&mut client, EXPORT, large.clone()).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    // With RetryInfo clients would try again, for ever.
    assert_eq!(
        Status::from_protobuf(status.details()).unwrap().retry_delay,
        None
    );
    for squeeze in [CompressionEncoding::Gzip, CompressionEncoding::Zstd] {
        let mut client = client.clone().send_compressed(squeeze);
        let bomb = vec![0; 4 << 20];
        let status = call(&mut client, EXPORT, bomb).await.unwrap_err();
        assert_eq!(status.code(), Code::ResourceExhausted, "{squeeze:?}");
    }
    // The connection lives on.
    call(&mut client, EXPORT, spans(2)).await.unwrap();
    assert_eq!(house.taken(), 2);
    let failed = Counters::read(&house.grpc_counters.failed_requests);
    assert_eq!(failed, 3);
}

#[tokio::test]
async fn r_03_h_07_size_is_limited_before_and_after_inflating_on_http() {
    let mut house = House::limited(100_000).await;
    let headers = [("content-type", PROTOBUF), ("content-encoding", "gzip")];
    let bomb = gzip(&vec![0; 2 << 20]);
    assert!(bomb.len() < 100_000);
    let answer = house
        .request(Method::POST, "/v1/traces", &headers, bomb)
        .await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    answer.refusal();
    // Too large as said: refused without waiting for the body, and the connection ends.
    let mut stream = TcpStream::connect(house.http).await.unwrap();
    let head = "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\nContent-Length: 100001\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8_lossy(&answer).to_lowercase();
    assert!(answer.starts_with("http/1.1 413"), "{answer}");
    assert!(answer.contains("connection: close"), "{answer}");
    // Too large without saying so.
    let mut stream = TcpStream::connect(house.http).await.unwrap();
    let head = "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-protobuf\r\nTransfer-Encoding: chunked\r\n\r\n186A1\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&vec![0; 100_001]).await.unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
    assert_eq!(house.taken(), 0);
}

#[tokio::test]
async fn r_04_an_empty_request_succeeds_and_touches_nothing() {
    let mut house = House::open().await;
    let mut client = house.grpc_client().await;
    for empty in [Vec::new(), request(Vec::new())] {
        let response = call(&mut client, EXPORT, empty.clone()).await.unwrap();
        assert_eq!(response.into_inner(), Bytes::new());
        assert_eq!(house.post(PROTOBUF, empty).await.partial(), None);
    }
    for empty in ["", "{}", r#"{"resourceSpans":[]}"#] {
        assert_eq!(house.post(JSON, empty).await.partial(), None, "{empty}");
    }
    assert!(house.arrivals.try_next().is_none());
}

#[tokio::test]
async fn r_05_full_success_leaves_partial_success_unset() {
    let mut house = House::open().await;
    let mut client = house.grpc_client().await;
    let response = call(&mut client, EXPORT, spans(1)).await.unwrap();
    assert_eq!(response.into_inner(), Bytes::new());
    assert_eq!(house.post(PROTOBUF, spans(1)).await.body, "");
    assert_eq!(house.post(JSON, ONE_SPAN_IN_JSON).await.body, "{}");
    assert_eq!(house.taken() + house.taken() + house.taken(), 3);
    assert_eq!(Counters::read(&house.grpc_counters.spans.accepted), 1);
    assert_eq!(Counters::read(&house.http_counters.spans.accepted), 2);
}

#[tokio::test]
async fn r_06_malformed_spans_are_counted_exactly_and_their_neighbours_live() {
    let mut house = House::open().await;
    let check = |partial: Option<PartialSuccess>| {
        let partial = partial.unwrap();
        assert_eq!(partial.rejected_spans, 2);
        let place = "resourceSpans[0].scopeSpans[0].spans[3].traceId";
        assert!(partial.message.contains(place), "{}", partial.message);
    };
    let mut client = house.grpc_client().await;
    let response = call(&mut client, EXPORT, eight_and_two()).await.unwrap();
    check(decode_response(&response.into_inner()).unwrap());
    check(house.post(PROTOBUF, eight_and_two()).await.partial());
    for _ in 0..2 {
        let reading = house.arrivals.try_next().unwrap();
        assert_eq!(reading.spans, 8);
        let request = ExportTraceServiceRequest::decode(reading.body).unwrap();
        let kept = &request.resource_spans.first().unwrap().scope_spans;
        assert_eq!(kept.first().unwrap().spans.len(), 8);
    }
    assert_eq!(Counters::read(&house.http_counters.spans.failed), 2);
    assert_eq!(Counters::read(&house.http_counters.spans.accepted), 8);
}

#[tokio::test]
async fn r_08_what_is_wrong_is_told_in_few_words() {
    let house = House::open().await;
    let mut bad = span(0);
    bad.trace_id = vec![1; 1 << 20];
    let answer = house.post(PROTOBUF, request(vec![bad])).await;
    assert_eq!(answer.partial().unwrap().rejected_spans, 1);
    assert!(answer.body.len() < 2000);
    let path = format!("/{}", "x".repeat(5000));
    let answer = house.request(Method::POST, &path, &[], "").await;
    assert!(answer.body.len() < 2000);
}

#[tokio::test]
async fn r_09_h_09_a_full_queue_refuses_whole_and_retryably() {
    let queue = IntakeSettings {
        max_requests: 1,
        wait_for_room: Duration::ZERO,
        retry_after: Duration::from_millis(1500),
        ..IntakeSettings::default()
    };
    let (grpc, http) = (GrpcSettings::default(), HttpSettings::default());
    let mut house = House::with(grpc, http, queue).await;
    let mut client = house.grpc_client().await;
    call(&mut client, EXPORT, spans(1)).await.unwrap();

    let status = call(&mut client, EXPORT, spans(3)).await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable);
    let details = Status::from_protobuf(status.details()).unwrap();
    assert_eq!(details.retry_delay, Some(Duration::from_millis(1500)));
    for (kind, body) in [
        (PROTOBUF, Bytes::from(spans(1))),
        (JSON, ONE_SPAN_IN_JSON.into()),
    ] {
        let answer = house.post(kind, body).await;
        assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(answer.header("retry-after"), "2");
        answer.refusal();
    }
    assert_eq!(Counters::read(&house.grpc_counters.spans.refused), 3);
    assert_eq!(Counters::read(&house.http_counters.spans.refused), 2);
    // With room again the same requests pass.
    assert_eq!(house.taken(), 1);
    call(&mut client, EXPORT, spans(3)).await.unwrap();
    assert_eq!(house.taken(), 3);
}

#[tokio::test]
async fn r_09_a_backend_without_room_is_felt_at_the_door() {
    let mut house = House::open().await;
    house.pressure.raise();
    let answer = house.post(PROTOBUF, spans(1)).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer.refusal().message.contains("backend"));
    house.pressure.release();
    assert_eq!(house.post(PROTOBUF, spans(1)).await.partial(), None);
    assert_eq!(house.taken(), 1);
}

#[tokio::test]
async fn r_10_g_05_a_malformed_body_is_refused_for_good() {
    let mut house = House::open().await;
    let mut client = house.grpc_client().await;
    let status = call(&mut client, EXPORT, vec![0x0a, 0xff, 0xff])
        .await
        .unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    assert!(!status.message().is_empty());
    let details = Status::from_protobuf(status.details()).unwrap();
    assert_eq!(details.violations.len(), 1);
    assert_eq!(details.retry_delay, None);
    assert_eq!(house.taken(), 0);
}

#[tokio::test]
async fn h_08_a_malformed_body_gets_400_and_why() {
    let mut house = House::open().await;
    for (kind, body) in [
        (PROTOBUF, &[0x0a, 0xff, 0xff][..]),
        (JSON, b"{"),
        (JSON, b"[]"),
        (
            JSON,
            br#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":7}]}]}]}"#,
        ),
    ] {
        let answer = house.post(kind, Bytes::copy_from_slice(body)).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{body:?}");
        assert_eq!(answer.header("retry-after"), "");
        assert_eq!(answer.refusal().code, 3);
    }
    assert_eq!(house.taken(), 0);
}

#[tokio::test]
async fn h_12_broken_gzip_gets_400() {
    let house = House::open().await;
    let whole = gzip(&spans(3));
    let cut = whole.get(..whole.len() - 9).unwrap().to_vec();
    let mut long = whole;
    long.extend(b"garbage");
    for body in [cut, long, b"not gzip".to_vec()] {
        let headers = [("content-type", PROTOBUF), ("content-encoding", "gzip")];
        let answer = house
            .request(Method::POST, "/v1/traces", &headers, body)
            .await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST);
        answer.refusal();
    }
}

/// A body that begins and never ends.
struct Endless(Option<Bytes>);

impl http_body::Body for Endless {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        match self.0.take() {
            Some(data) => std::task::Poll::Ready(Some(Ok(http_body::Frame::data(data)))),
            None => std::task::Poll::Pending,
        }
    }
}

type AnyBody = http_body_util::combinators::BoxBody<Bytes, std::convert::Infallible>;

/// One HTTP/2 connection by hand, and the task that keeps it going.
async fn http2(
    address: SocketAddr,
) -> (
    hyper::client::conn::http2::SendRequest<AnyBody>,
    JoinSet<()>,
) {
    let stream = hyper_util::rt::TokioIo::new(TcpStream::connect(address).await.unwrap());
    let (sender, connection) = hyper::client::conn::http2::handshake(TokioExecutor::new(), stream)
        .await
        .unwrap();
    let mut task = JoinSet::new();
    task.spawn(async move { drop(connection.await) });
    (sender, task)
}

fn by_hand(
    address: SocketAddr,
    path: &str,
    headers: &[(&str, &str)],
    body: AnyBody,
) -> Request<AnyBody> {
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(format!("http://{address}{path}"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(body).unwrap()
}

fn whole(body: impl Into<Bytes>) -> AnyBody {
    Full::new(body.into()).boxed()
}

/// A gRPC frame.
fn framed(flag: u8, message: &[u8]) -> Vec<u8> {
    let mut framed = vec![flag];
    framed.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
    framed.extend(message);
    framed
}

const GRPC: (&str, &str) = ("content-type", "application/grpc");

#[tokio::test]
async fn r_13_requests_share_a_connection_and_do_not_wait_for_each_other() {
    let mut house = House::open().await;
    let (mut sender, _task) = http2(house.grpc).await;
    let endless = Endless(Some(Bytes::from_static(&[0, 0, 0, 1, 0]))).boxed();
    let slow = sender.send_request(by_hand(house.grpc, EXPORT, &[GRPC], endless));
    for _ in 0..20 {
        let body = whole(framed(0, &spans(1)));
        let quick = sender.send_request(by_hand(house.grpc, EXPORT, &[GRPC], body));
        assert_eq!(quick.await.unwrap().status(), StatusCode::OK);
    }
    drop(slow);
    assert_eq!((0..20).map(|_| house.taken()).sum::<u32>(), 20);
}

#[tokio::test]
async fn r_14_unknown_fields_pass_with_the_very_bytes() {
    let mut house = House::open().await;
    let mut body = spans(2);
    // Field 999 of the request, a text.
    body.extend([0xba, 0x3e, 3, b'n', b'e', b'w']);
    house.post(PROTOBUF, body.clone()).await.partial();
    assert_eq!(house.arrivals.try_next().unwrap().body, body);
    let json = ONE_SPAN_IN_JSON.replacen('{', r#"{"future":{"a":[1]},"#, 1);
    assert_eq!(house.post(JSON, json).await.partial(), None);
    assert_eq!(house.taken(), 1);
}

#[tokio::test]
async fn r_07_a_body_that_holds_nothing_known_is_taken_with_a_warning() {
    let house = House::open().await;
    let json = ONE_SPAN_IN_JSON.replacen("resourceSpans", "resource_spans", 1);
    let answer = house.post(JSON, json).await;
    assert_eq!(answer.status, StatusCode::OK);
    let partial = answer.partial().unwrap();
    assert_eq!(partial.rejected_spans, 0);
    assert_eq!(
        partial.message,
        "body has no `resourceSpans`: `resource_spans` is spelled `resourceSpans` in OTLP/JSON"
    );
    assert_eq!(house.post(JSON, "{}").await.partial(), None);
    let misspelt = |counters: &Counters| Counters::read(&counters.misspelt_requests);
    assert_eq!(misspelt(&house.http_counters), 1);
    assert_eq!(misspelt(&house.grpc_counters), 0);
}

#[tokio::test]
async fn r_15_metrics_and_logs_are_refused_so_that_clients_stop() {
    let house = House::open().await;
    for path in ["/v1/metrics", "/v1/logs"] {
        let headers = [("content-type", PROTOBUF)];
        let answer = house.request(Method::POST, path, &headers, "x").await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND);
        assert!(answer.refusal().message.contains("/v1/traces"));
    }
    let mut client = house.grpc_client().await;
    let metrics = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";
    let status = call(&mut client, metrics, "").await.unwrap_err();
    assert_eq!(status.code(), Code::Unimplemented);
    assert!(status.message().contains(EXPORT));
}

#[tokio::test]
async fn grpc_on_the_port_of_http_is_told_where_its_own_is() {
    let house = House::open().await;
    let headers = [("content-type", "application/grpc+proto")];
    let answer = house.request(Method::POST, EXPORT, &headers, "x").await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    let body = String::from_utf8_lossy(&answer.body).into_owned();
    assert!(body.contains("4317 by default"), "{body}");
}

#[tokio::test]
async fn g_01_the_default_port_is_4317() {
    assert_eq!(GrpcSettings::default().endpoint, "localhost:4317");
    assert_eq!(HttpSettings::default().endpoint, "localhost:4318");
}

#[tokio::test]
async fn g_03_g_04_compression_is_offered_and_an_unknown_one_refused() {
    let house = House::open().await;
    let (mut sender, _task) = http2(house.grpc).await;
    let body = whole(framed(0, &spans(1)));
    let response = sender
        .send_request(by_hand(house.grpc, EXPORT, &[GRPC], body))
        .await
        .unwrap();
    let offered = response.headers().get("grpc-accept-encoding").unwrap();
    assert_eq!(offered, "identity,gzip,zstd");
    assert!(response.headers().get("grpc-encoding").is_none());
    let headers = [GRPC, ("grpc-encoding", "deflate")];
    let body = whole(framed(1, &spans(1)));
    let response = sender
        .send_request(by_hand(house.grpc, EXPORT, &headers, body))
        .await
        .unwrap();
    assert_eq!(response.headers().get("grpc-status").unwrap(), "12");
    let offered = response.headers().get("grpc-accept-encoding").unwrap();
    assert_eq!(offered, "identity,gzip,zstd");
}

#[tokio::test]
async fn g_06_retry_info_survives_the_way() {
    // The whole way is walked in r_09; here the writing itself.
    let status = Status {
        code: 14,
        retry_delay: Some(Duration::from_secs(3)),
        ..Status::default()
    };
    assert_eq!(Status::from_protobuf(&status.to_protobuf()), Ok(status));
}

#[tokio::test]
async fn g_07_a_deadline_is_kept() {
    let house = House::open().await;
    let (mut sender, _task) = http2(house.grpc).await;
    let endless = Endless(Some(Bytes::from_static(&[0, 0, 0, 1, 0]))).boxed();
    let headers = [GRPC, ("grpc-timeout", "20m")];
    let request = by_hand(house.grpc, EXPORT, &headers, endless);
    let response = sender.send_request(request).await.unwrap();
    assert_eq!(response.headers().get("grpc-status").unwrap(), "4");
}

#[tokio::test]
async fn g_12_what_is_no_export_is_told_so() {
    let house = House::open().await;
    let mut client = house.grpc_client().await;
    let status = call(&mut client, "/some.Other/Method", spans(1))
        .await
        .unwrap_err();
    assert_eq!(status.code(), Code::Unimplemented);
    // Plain HTTP on the port of gRPC, the commonest mistake.
    let mut stream = TcpStream::connect(house.grpc).await.unwrap();
    let head = "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(answer.contains("4318"), "{answer}");
}

#[tokio::test]
async fn g_frames_that_are_none_are_refused_for_good() {
    let mut house = House::open().await;
    let (mut sender, _task) = http2(house.grpc).await;
    let cut = framed(0, &spans(1)).get(..9).unwrap().to_vec();
    let two = [framed(0, &spans(1)), framed(0, &spans(1))].concat();
    for (body, code) in [
        (Vec::new(), "3"),
        (vec![0, 0], "3"),
        (cut, "3"),
        (two, "3"),
        (framed(1, b"x"), "3"),
        (framed(7, b"x"), "3"),
    ] {
        let request = by_hand(house.grpc, EXPORT, &[GRPC], whole(body.clone()));
        let response = sender.send_request(request).await.unwrap();
        assert_eq!(
            response.headers().get("grpc-status").unwrap(),
            code,
            "{body:?}"
        );
    }
    assert_eq!(house.taken(), 0);
}

#[tokio::test]
async fn h_01_traces_are_taken_over_http_1_and_2() {
    let mut house = House::open().await;
    assert_eq!(house.post(PROTOBUF, spans(1)).await.partial(), None);
    let (mut sender, _task) = http2(house.http).await;
    let headers = [("content-type", PROTOBUF)];
    let request = by_hand(house.http, "/v1/traces", &headers, whole(spans(2)));
    let response = sender.send_request(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!((house.taken(), house.taken()), (1, 2));
}

#[tokio::test]
async fn h_02_the_writing_is_chosen_by_content_type() {
    let mut house = House::open().await;
    for kind in [
        PROTOBUF,
        "Application/X-Protobuf",
        "application/x-protobuf; v=1",
    ] {
        house.post(kind, spans(1)).await.partial();
        assert_eq!(house.taken(), 1, "{kind}");
    }
    for kind in [
        JSON,
        "application/json; charset=utf-8",
        "APPLICATION/JSON;charset=UTF-8",
    ] {
        house.post(kind, ONE_SPAN_IN_JSON).await.partial();
        assert_eq!(house.taken(), 1, "{kind}");
    }
}

#[tokio::test]
async fn h_03_h_04_answers_are_written_as_the_request_was() {
    let house = House::open().await;
    for (kind, other, good, bad) in [
        (
            PROTOBUF,
            JSON,
            Bytes::from(spans(1)),
            Bytes::from_static(&[0xff]),
        ),
        (
            JSON,
            PROTOBUF,
            ONE_SPAN_IN_JSON.into(),
            Bytes::from_static(b"{"),
        ),
    ] {
        for (body, status) in [(good, StatusCode::OK), (bad, StatusCode::BAD_REQUEST)] {
            let headers = [("content-type", kind), ("accept", other)];
            let answer = house
                .request(Method::POST, "/v1/traces", &headers, body)
                .await;
            assert_eq!(
                (answer.status, answer.header("content-type")),
                (status, kind)
            );
        }
    }
}

#[tokio::test]
async fn h_05_h_06_every_refusal_is_a_status_with_words() {
    let house = House::open().await;
    for kind in [PROTOBUF, JSON] {
        let headers = [("content-type", kind)];
        let answer = house.request(Method::GET, "/v1/traces", &headers, "").await;
        assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(answer.header("allow"), "POST");
        assert_eq!(answer.header("content-type"), kind);
        answer.refusal();
        let answer = house.request(Method::POST, "/v1/trace", &headers, "").await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND);
        assert!(answer.refusal().message.contains("/v1/traces"));
    }
    for kind in ["text/plain", "application/x-www-form-urlencoded", ""] {
        let answer = house.post(kind, "x").await;
        assert_eq!(answer.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
        assert!(answer.refusal().message.contains("application/json"));
    }
}

#[tokio::test]
async fn h_11_an_unknown_content_encoding_is_refused_for_good() {
    let house = House::open().await;
    for encoding in ["deflate", "br", "gzip, gzip"] {
        let headers = [("content-type", JSON), ("content-encoding", encoding)];
        let answer = house
            .request(Method::POST, "/v1/traces", &headers, "{}")
            .await;
        assert_eq!(answer.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
        assert!(answer.refusal().message.contains(encoding));
        assert_eq!(answer.header("accept-encoding"), "identity,gzip,zstd");
    }
    let headers = [("content-type", JSON), ("content-encoding", "Identity")];
    let answer = house
        .request(Method::POST, "/v1/traces", &headers, "{}")
        .await;
    assert_eq!(answer.partial(), None);
}

#[tokio::test]
async fn h_14_chunks_expectations_and_kept_connections() {
    let mut house = House::open().await;
    let mut stream = TcpStream::connect(house.http).await.unwrap();
    let half = ONE_SPAN_IN_JSON.len() / 2;
    let (first, second) = ONE_SPAN_IN_JSON.split_at(half);
    let chunked = format!(
        "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{first}\r\n{:x}\r\n{second}\r\n0\r\n\r\n",
        first.len(),
        second.len(),
    );
    stream.write_all(chunked.as_bytes()).await.unwrap();
    let answer = one_answer(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    // The same connection, and a client that asks before it sends.
    let head = format!(
        "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n",
        ONE_SPAN_IN_JSON.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut go = [0; 25];
    stream.read_exact(&mut go).await.unwrap();
    assert_eq!(&go, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(ONE_SPAN_IN_JSON.as_bytes()).await.unwrap();
    let answer = one_answer(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!((house.taken(), house.taken()), (1, 1));
}

/// Reads an answer whose body is `{}`.
async fn one_answer(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    while !answer.ends_with(b"{}") {
        answer.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(answer).unwrap()
}

/// What is refused before it is read is read all the same: a connection that ends while its client writes takes some SDKs
/// along. Both parts of the request come apart, as Node sends them.
#[tokio::test]
async fn a_refusal_leaves_the_connection_whole() {
    let mut house = House::open().await;
    let mut stream = TcpStream::connect(house.http).await.unwrap();
    for (path, status) in [("/v1/nothing", "404"), ("/v1/traces", "415")] {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 50000\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        // Nothing comes before the body is there.
        let early = tokio::time::timeout(Duration::from_millis(50), stream.read_u8()).await;
        assert!(early.is_err(), "answered before the body");
        stream.write_all(&[b'x'; 50_000]).await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"\"}") {
            answer.push(stream.read_u8().await.unwrap());
        }
        let answer = String::from_utf8(answer).unwrap();
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{answer}"
        );
    }
    let head = format!(
        "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{ONE_SPAN_IN_JSON}",
        ONE_SPAN_IN_JSON.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let answer = one_answer(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(house.taken(), 1);
}

#[tokio::test]
async fn h_16_bodies_and_heads_have_their_time() {
    let http = HttpSettings {
        read_timeout: Duration::from_millis(20),
        read_header_timeout: Duration::from_millis(20),
        ..HttpSettings::default()
    };
    let house = House::with(GrpcSettings::default(), http, IntakeSettings::default()).await;
    let mut stream = TcpStream::connect(house.http).await.unwrap();
    let head = "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 503"));
    for silence in ["", "POST /v1/traces HTTP/1.1\r\nHost:"] {
        let mut stream = TcpStream::connect(house.http).await.unwrap();
        stream.write_all(silence.as_bytes()).await.unwrap();
        // The end of the connection ends the wait.
        let _ = stream.read_to_end(&mut Vec::new()).await;
    }
}

#[tokio::test]
async fn h_17_one_slash_at_the_end_and_a_path_of_ones_own() {
    let http = HttpSettings {
        traces_url_path: "/otlp/traces/".to_owned(),
        ..HttpSettings::default()
    };
    let mut house = House::with(GrpcSettings::default(), http, IntakeSettings::default()).await;
    for path in ["/otlp/traces", "/otlp/traces/", "/otlp/traces?token=x"] {
        let headers = [("content-type", PROTOBUF)];
        house
            .request(Method::POST, path, &headers, spans(1))
            .await
            .partial();
        assert_eq!(house.taken(), 1, "{path}");
    }
    assert_eq!(
        house.post(PROTOBUF, spans(1)).await.status,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn r_12_an_answer_that_is_under_way_is_given_before_the_end() {
    let mut house = House::open().await;
    let mut stream = TcpStream::connect(house.http).await.unwrap();
    let head = format!(
        "POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n",
        ONE_SPAN_IN_JSON.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut go = [0; 25];
    stream.read_exact(&mut go).await.unwrap();
    // The request is being served; now the house closes.
    for stop in house.stop.drain(..) {
        stop.send(()).unwrap();
    }
    while TcpStream::connect(house.http).await.is_ok() {
        tokio::task::yield_now().await;
    }
    stream.write_all(ONE_SPAN_IN_JSON.as_bytes()).await.unwrap();
    let answer = one_answer(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    while let Some(server) = house.servers.join_next().await {
        server.unwrap();
    }
    assert_eq!(house.taken(), 1);
}
