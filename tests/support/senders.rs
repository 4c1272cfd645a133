//! Spans made and sent by the real SDK.

use std::net::SocketAddr;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, SystemTime};

use opentelemetry::trace::{Span as _, SpanKind, Status, Tracer, TracerProvider as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::{Protocol, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};

/// How spans are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// gRPC.
    Grpc,
    /// HTTP with protobuf.
    HttpProtobuf,
    /// HTTP with JSON.
    HttpJson,
}

/// The resource of all spans made here. One and the same: the order of its attributes is that of a hash
/// table, and so are the bytes of everything sent.
pub fn resource() -> Resource {
    static RESOURCE: LazyLock<Resource> = LazyLock::new(|| {
        Resource::builder_empty()
            .with_attribute(KeyValue::new("service.name", "end-to-end"))
            .with_attribute(KeyValue::new("service.instance.id", "one"))
            .build()
    });
    RESOURCE.clone()
}

/// The SDK's own OTLP exporter towards `address`.
pub fn exporter(how: How, address: SocketAddr) -> opentelemetry_otlp::SpanExporter {
    let builder = opentelemetry_otlp::SpanExporter::builder();
    let timeout = Duration::from_secs(10);
    let mut exporter = match how {
        How::Grpc => builder
            .with_tonic()
            .with_endpoint(format!("http://{address}"))
            .with_timeout(timeout)
            .build(),
        How::HttpProtobuf | How::HttpJson => builder
            .with_http()
            .with_protocol(if how == How::HttpJson {
                Protocol::HttpJson
            } else {
                Protocol::HttpBinary
            })
            .with_endpoint(format!("http://{address}/v1/traces"))
            .with_timeout(timeout)
            .build(),
    }
    .expect("an exporter");
    exporter.set_resource(&resource());
    exporter
}

/// Sends `spans` in one request.
pub async fn send(how: How, address: SocketAddr, spans: Vec<SpanData>) -> OTelSdkResult {
    exporter(how, address).export(spans).await
}

/// Keeps what the SDK has made.
#[derive(Clone, Debug, Default)]
struct Keep(Arc<Mutex<Vec<SpanData>>>);

impl SpanExporter for Keep {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        self.0.lock().unwrap().extend(batch);
        Ok(())
    }
}

/// One call of a tool.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Its arguments as JSON.
    pub arguments: &'a str,
    /// Its answer; `Err` when it failed.
    pub answer: Result<&'a str, &'a str>,
}

/// What the agent answers in the end: nothing is missing from what is captured.
const SAID: &str = r#"[{"role":"assistant","parts":[{"type":"text","content":"Here is what I read."}],"finish_reason":"stop"}]"#;

/// The tools it was given.
const TOOLS: &str = r#"[{"type":"function","name":"read_file","parameters":{"type":"object"}},
{"type":"function","name":"search","parameters":{"type":"object"}}]"#;

/// The spans of one agent run whose calls follow each other 100 ms apart, children before their root, as
/// the SDK ends them.
pub fn run(calls: &[Call<'_>]) -> Vec<SpanData> {
    let keep = Keep::default();
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(keep.clone())
        .with_resource(resource())
        .build();
    let tracer = provider.tracer("end-to-end");
    let start = SystemTime::now() - Duration::from_secs(60);
    let root = tracer
        .span_builder("invoke_agent helper")
        .with_kind(SpanKind::Internal)
        .with_start_time(start)
        .with_attributes([
            KeyValue::new("gen_ai.operation.name", "invoke_agent"),
            KeyValue::new("gen_ai.agent.name", "helper"),
            KeyValue::new("gen_ai.output.messages", SAID),
            KeyValue::new("gen_ai.tool.definitions", TOOLS),
        ])
        .start(&tracer);
    let context = opentelemetry::trace::TraceContextExt::with_span(&Context::new(), root);
    let mut at = start;
    for (number, call) in calls.iter().enumerate() {
        at += Duration::from_millis(100);
        let mut span = tracer
            .span_builder(format!("execute_tool {}", call.tool))
            .with_start_time(at)
            .with_attributes([
                KeyValue::new("gen_ai.operation.name", "execute_tool"),
                KeyValue::new("gen_ai.tool.name", call.tool.to_owned()),
                KeyValue::new("gen_ai.tool.call.id", format!("call_{number}")),
                KeyValue::new("gen_ai.tool.call.arguments", call.arguments.to_owned()),
            ])
            .start_with_context(&tracer, &context);
        let answer = match call.answer {
            Ok(answer) => answer,
            Err(answer) => {
                span.set_attribute(KeyValue::new("error.type", "ToolError"));
                span.set_status(Status::error(answer.to_owned()));
                answer
            }
        };
        span.set_attribute(KeyValue::new("gen_ai.tool.call.result", answer.to_owned()));
        span.end_with_timestamp(at + Duration::from_millis(50));
    }
    let mut answer = tracer
        .span_builder("chat model")
        .with_kind(SpanKind::Client)
        .with_start_time(at + Duration::from_millis(100))
        .with_attributes([
            KeyValue::new("gen_ai.operation.name", "chat"),
            KeyValue::new("gen_ai.output.messages", SAID),
            KeyValue::new("gen_ai.tool.definitions", TOOLS),
        ])
        .start_with_context(&tracer, &context);
    answer.end_with_timestamp(at + Duration::from_millis(150));
    let root = opentelemetry::trace::TraceContextExt::span(&context);
    root.end_with_timestamp(at + Duration::from_millis(200));
    let spans = keep.0.lock().unwrap();
    spans.clone()
}

/// A run in which nothing is wrong: `calls` different reads.
pub fn healthy(calls: usize) -> Vec<SpanData> {
    let texts: Vec<(String, String)> = (0..calls)
        .map(|n| {
            (
                format!(r#"{{"path":"src/{n}.rs"}}"#),
                format!("contents of file number {n}"),
            )
        })
        .collect();
    let calls: Vec<Call<'_>> = texts
        .iter()
        .map(|(arguments, answer)| Call {
            tool: "read_file",
            arguments,
            answer: Ok(answer),
        })
        .collect();
    run(&calls)
}

/// A run that is stuck: the same search with the same answer, `calls` times.
pub fn stuck(calls: usize) -> Vec<SpanData> {
    let call = Call {
        tool: "search",
        arguments: r#"{"query":"weather in Oslo"}"#,
        answer: Ok("no results for this query in the index"),
    };
    run(&vec![call; calls])
}
