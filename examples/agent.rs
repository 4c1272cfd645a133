//! An agent of one's own, told in the GenAI conventions of OpenTelemetry: a tool that fails in the same way until the agent gives up.
//!
//!     agent-sentinel --config collector-config/quickstart.yaml      # in another terminal
//!     cargo run --example agent
//!
//! `OTEL_EXPORTER_OTLP_ENDPOINT` moves the receiver (gRPC, `http://localhost:4317`). Then look at
//! http://localhost:55679/debug/sessionz.
#![expect(clippy::print_stdout, reason = "its output is what an example is for")]

use opentelemetry::trace::{Span, SpanKind, Status, TraceContextExt, Tracer, TracerProvider};
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let exporter = SpanExporter::builder().with_tonic().build()?;
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_resource(Resource::builder().with_service_name("rust-agent").build())
        .build();
    let tracer = provider.tracer("my-agent");

    // One span for the run, with what the user wants; calls and model requests hang under it.
    let run = tracer
        .span_builder("invoke_agent coder")
        .with_attributes([
            KeyValue::new("gen_ai.operation.name", "invoke_agent"),
            KeyValue::new("gen_ai.agent.name", "coder"),
            KeyValue::new("gen_ai.conversation.id", "rust-example"),
        ])
        .start(&tracer);
    let run = Context::current_with_span(run);
    for attempt in 1..=4 {
        call(
            &tracer,
            &run,
            attempt,
            "read_file",
            r#"{"path":"src/missing.rs"}"#,
        );
    }
    run.span().end();

    // What is not flushed is lost.
    tokio::task::spawn_blocking(move || provider.shutdown()).await??;
    println!("sent: one run, four calls that fail alike");
    Ok(())
}

/// A call of a tool: its name, its id, its arguments as the tool got them, and how it ended.
fn call(
    tracer: &impl Tracer,
    run: &Context,
    attempt: u32,
    tool: &'static str,
    arguments: &'static str,
) {
    let mut span = tracer
        .span_builder(format!("execute_tool {tool}"))
        .with_kind(SpanKind::Internal)
        .with_attributes([
            KeyValue::new("gen_ai.operation.name", "execute_tool"),
            KeyValue::new("gen_ai.tool.name", tool),
            KeyValue::new("gen_ai.tool.call.id", format!("call-{attempt}")),
            KeyValue::new("gen_ai.tool.call.arguments", arguments),
        ])
        .start_with_context(tracer, run);
    let error = "No such file or directory (os error 2)";
    span.set_attribute(KeyValue::new("gen_ai.tool.call.result", error));
    span.set_status(Status::error(error));
    span.end();
}
