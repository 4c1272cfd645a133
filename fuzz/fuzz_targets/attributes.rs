//! Any text in the attributes that hold content (nested JSON, Python literals, printed objects), in every dialect: no
//! panic, one step a span at most, and the same step when it is read again.
#![no_main]

use std::sync::Arc;

use agent_sentinel::otlp;
use agent_sentinel::steps::{Reader, Settings};
use libfuzzer_sys::fuzz_target;

/// What makes a span one of a dialect.
const MARKERS: &[(&str, &str)] = &[
    ("gen_ai.operation.name", "chat"),
    ("gen_ai.operation.name", "execute_tool"),
    ("gen_ai.operation.name", "invoke_agent"),
    ("gen_ai.operation.name", "unknown"),
    ("openinference.span.kind", "LLM"),
    ("openinference.span.kind", "TOOL"),
    ("openinference.span.kind", "CHAIN"),
    ("langsmith.span.kind", "llm"),
    ("langsmith.span.kind", "tool"),
    ("langfuse.observation.type", "generation"),
    ("langfuse.observation.type", "agent"),
    ("mlflow.spanType", "\"CHAT_MODEL\""),
    ("mlflow.spanType", "\"TOOL\""),
    ("ai.operationId", "ai.generateText.doGenerate"),
    ("ai.operationId", "ai.toolCall"),
    ("traceloop.span.kind", "tool"),
    ("traceloop.span.kind", "agent"),
    ("llm.request.type", "chat"),
    ("mcp.method.name", "tools/call"),
];

/// Attributes that hold content in one dialect or another.
const CONTENT: &[&str] = &[
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
    "gen_ai.tool.definitions",
    "gen_ai.response.finish_reasons",
    "gen_ai.prompt",
    "gen_ai.completion",
    "gen_ai.completion.0.content",
    "gen_ai.completion.0.tool_calls.0.arguments",
    "input.value",
    "output.value",
    "metadata",
    "llm.output_messages.0.message.content",
    "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments",
    "llm.tools.0.tool.json_schema",
    "langfuse.observation.input",
    "langfuse.observation.output",
    "langfuse.observation.usage_details",
    "mlflow.spanInputs",
    "mlflow.spanOutputs",
    "mlflow.chat.tools",
    "mlflow.chat.tokenUsage",
    "ai.prompt.messages",
    "ai.response.text",
    "ai.response.toolCalls",
    "ai.toolCall.args",
    "ai.toolCall.result",
    "traceloop.entity.input",
    "traceloop.entity.output",
    "final_result",
];

fn text(value: &str) -> String {
    let mut out = String::from("\"");
    for c in value.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if u32::from(c) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fuzz_target!(|bytes: &[u8]| {
    // The first byte chooses the dialect, the second where the texts, parted by zero bytes, begin to be put.
    let [dialect, from, rest @ ..] = bytes else {
        return;
    };
    let (marker, value) = MARKERS[usize::from(*dialect) % MARKERS.len()];
    let mut attributes = vec![
        (marker, value.to_owned()),
        ("gen_ai.tool.name", "t".to_owned()),
    ];
    let texts = rest.split(|byte| *byte == 0).take(CONTENT.len());
    for (place, content) in texts.enumerate() {
        let key = CONTENT[(usize::from(*from) + place) % CONTENT.len()];
        attributes.push((key, String::from_utf8_lossy(content).into_owned()));
    }
    // A single text goes everywhere.
    if !rest.contains(&0) {
        let content = String::from_utf8_lossy(rest).into_owned();
        attributes.extend(CONTENT.iter().map(|key| (*key, content.clone())));
    }
    let status = attributes
        .last()
        .map(|(_, value)| text(value))
        .unwrap_or_default();
    let attributes: Vec<String> = attributes
        .iter()
        .map(|(key, value)| {
            format!(
                "{{\"key\":{},\"value\":{{\"stringValue\":{}}}}}",
                text(key),
                text(value)
            )
        })
        .collect();
    let request = format!(
        "{{\"resourceSpans\":[{{\"scopeSpans\":[{{\"spans\":[{{\"traceId\":\"0102030405060708090a0b0c0d0e0f10\",\
         \"spanId\":\"0102030405060708\",\"name\":\"x\",\"startTimeUnixNano\":\"1\",\"endTimeUnixNano\":\"2\",\
         \"status\":{{\"code\":2,\"message\":{status}}},\"attributes\":[{}]}}]}}]}}]}}",
        attributes.join(",")
    );
    let Ok(body) = otlp::transcode(request.as_bytes()) else {
        return;
    };
    let mut reader = Reader::new(Arc::new(Settings::default()));
    let first = reader.read(body.clone()).expect("we wrote it");
    assert!(first.steps.len() <= 1);
    let again = reader.read(body).expect("we wrote it");
    assert_eq!(format!("{:?}", first.steps), format!("{:?}", again.steps));
});
