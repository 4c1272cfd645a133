//! Reading, annotating and packing a request, beside prost doing the same. Time is a request of 200 spans of
//! 2.1 KB on average, half of them tool calls: 1 ms there is 5 us a span.
#![expect(clippy::unwrap_used, reason = "a bench may stop at the first surprise")]

use std::hint::black_box;

use agent_sentinel::model::{Patch, Release, Selection, Timestamp};
use agent_sentinel::otlp::{
    AttributeValue, PatchWriter, count_spans, pack, pack_within, read, to_json, transcode,
};
use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{
    AnyValue, InstrumentationScope, KeyValue, any_value::Value,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status};
use prost::Message;

const SPANS: u32 = 200;

fn attribute(key: &str, value: Value) -> KeyValue {
    KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue { value: Some(value) }),
        ..KeyValue::default()
    }
}

fn text(key: &str, value: &str) -> KeyValue {
    attribute(key, Value::StringValue(value.to_owned()))
}

fn span(number: u32) -> Span {
    let tool = number.is_multiple_of(2);
    let prose = "The answer explains, in a few plain words, what was found. ";
    let mut attributes = vec![
        text(
            "gen_ai.operation.name",
            if tool { "execute_tool" } else { "chat" },
        ),
        text("gen_ai.agent.name", "researcher"),
        text("gen_ai.conversation.id", "conversation-0123456789abcdef"),
        text("server.address", "api.example.com"),
        attribute("server.port", Value::IntValue(443)),
        attribute("sampled", Value::BoolValue(true)),
    ];
    if tool {
        attributes.extend([
            text("gen_ai.tool.name", "search_documents"),
            text("gen_ai.tool.call.id", &format!("call_{number:024}")),
            text("gen_ai.tool.type", "function"),
            text(
                "gen_ai.tool.call.arguments",
                &format!(
                    r#"{{"query":"{}","limit":10,"offset":{number}}}"#,
                    prose.repeat(2)
                ),
            ),
            text("gen_ai.tool.call.result", &prose.repeat(4)),
        ]);
    } else {
        attributes.extend([
            text("gen_ai.request.model", "model-large-2026"),
            text("gen_ai.response.id", &format!("response_{number:024}")),
            attribute("gen_ai.usage.input_tokens", Value::IntValue(18_123)),
            attribute("gen_ai.usage.output_tokens", Value::IntValue(412)),
            attribute("gen_ai.request.temperature", Value::DoubleValue(0.7)),
            text("gen_ai.input.messages", &prose.repeat(36)),
            text("gen_ai.output.messages", &prose.repeat(12)),
        ]);
    }
    Span {
        trace_id: vec![1 + (number % 7) as u8; 16],
        span_id: u64::from(number + 1).to_be_bytes().to_vec(),
        parent_span_id: vec![9; 8],
        name: if tool {
            "execute_tool search_documents"
        } else {
            "chat model-large-2026"
        }
        .to_owned(),
        kind: if tool { 1 } else { 3 },
        start_time_unix_nano: 1_790_000_000_000_000_000,
        end_time_unix_nano: 1_790_000_001_000_000_000,
        flags: 0x101,
        attributes,
        status: Some(Status {
            code: 1,
            message: String::new(),
        }),
        ..Span::default()
    }
}

fn request() -> ExportTraceServiceRequest {
    ExportTraceServiceRequest {
        resource_spans: vec![ResourceSpans {
            resource: Some(Resource {
                attributes: vec![
                    text("service.name", "research-agent"),
                    text("telemetry.sdk.language", "python"),
                ],
                ..Resource::default()
            }),
            scope_spans: vec![ScopeSpans {
                scope: Some(InstrumentationScope {
                    name: "bench".to_owned(),
                    version: "1.0.0".to_owned(),
                    ..InstrumentationScope::default()
                }),
                spans: (0..SPANS).map(span).collect(),
                schema_url: "https://opentelemetry.io/schemas/1.37.0".to_owned(),
            }],
            ..ResourceSpans::default()
        }],
    }
}

fn patch() -> Bytes {
    PatchWriter::new()
        .attribute("sentinel.anomaly.detected", AttributeValue::Bool(true))
        .attribute("sentinel.anomaly.type", AttributeValue::Str("stuck"))
        .attribute("sentinel.anomaly.count", AttributeValue::Int(4))
        .event(
            "sentinel.anomaly",
            Timestamp::from_nanos(1_790_000_001_000_000_000),
            &[("sentinel.anomaly.rule", AttributeValue::Str("stuck/1"))],
        )
        .finish()
}

fn release(body: &Bytes, every: usize) -> Release {
    let patches = (0..SPANS).step_by(every).map(|span| Patch {
        span,
        bytes: patch(),
    });
    Release {
        body: body.clone(),
        spans: Selection::All,
        count: SPANS,
        patches: patches.collect(),
        synthetic: false,
    }
}

fn annotate_by_prost(body: &Bytes) -> Vec<u8> {
    let mut request = ExportTraceServiceRequest::decode(body.clone()).unwrap();
    for resource in &mut request.resource_spans {
        for scope in &mut resource.scope_spans {
            for span in &mut scope.spans {
                span.attributes.extend([
                    attribute("sentinel.anomaly.detected", Value::BoolValue(true)),
                    text("sentinel.anomaly.type", "stuck"),
                    attribute("sentinel.anomaly.count", Value::IntValue(4)),
                ]);
            }
        }
    }
    request.encode_to_vec()
}

fn wire(criterion: &mut Criterion) {
    let request = request();
    let body = Bytes::from(request.encode_to_vec());
    let json = to_json(&body).unwrap();
    let mut group = criterion.benchmark_group("wire");
    group.throughput(Throughput::Elements(u64::from(SPANS)));
    group.bench_function("memcpy", |b| b.iter(|| black_box(body.to_vec())));
    group.bench_function("count", |b| b.iter(|| count_spans(black_box(&body))));
    group.bench_function("read", |b| {
        b.iter(|| {
            read(black_box(body.clone()), |seen| {
                black_box(seen.span.name());
            })
        });
    });
    group.bench_function("pack, a tenth annotated", |b| {
        let release = release(&body, 10);
        b.iter(|| pack(black_box(&release)));
    });
    group.bench_function("pack, all annotated", |b| {
        let release = release(&body, 1);
        b.iter(|| pack(black_box(&release)));
    });
    group.bench_function("pack in pieces of 64 KiB", |b| {
        let release = release(&body, 10);
        b.iter(|| pack_within(black_box(&release), 64 << 10));
    });
    group.bench_function("read, annotate all, pack", |b| {
        b.iter(|| {
            read(black_box(body.clone()), |_| {}).unwrap();
            pack(&release(&body, 1))
        });
    });
    group.bench_function("prost: decode", |b| {
        b.iter(|| ExportTraceServiceRequest::decode(black_box(body.clone())).unwrap());
    });
    group.bench_function("prost: decode, encode", |b| {
        b.iter(|| {
            let request = ExportTraceServiceRequest::decode(black_box(body.clone())).unwrap();
            request.encode_to_vec()
        });
    });
    group.bench_function("prost: decode, annotate all, encode", |b| {
        b.iter(|| annotate_by_prost(black_box(&body)));
    });
    group.bench_function("json: transcode", |b| {
        b.iter(|| transcode(black_box(json.as_bytes())));
    });
    group.bench_function("json: write", |b| b.iter(|| to_json(black_box(&body))));
    group.finish();
}

criterion_group!(benches, wire);
criterion_main!(benches);
