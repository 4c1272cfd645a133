//! Any body of log records, and any text in the events that tell of agents: no panic, passed on as if unread, and the
//! same is read of it again.
#![no_main]

use std::sync::Arc;

use agent_sentinel::model::Signal;
use agent_sentinel::otlp;
use agent_sentinel::steps::{Reader, Settings};
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;

const EVENTS: &[&str] = &[
    "gen_ai.client.inference.operation.details",
    "gen_ai.choice",
    "gen_ai.user.message",
    "claude_code.tool_result",
    "claude_code.api_request",
    "claude_code.assistant_response",
    "claude_code.user_prompt",
    "codex.tool_result",
    "codex.sse_event",
    "codex.user_prompt",
];

/// Attributes that hold something in one event or another.
const CONTENT: &[&str] = &[
    "gen_ai.output.messages",
    "gen_ai.input.messages",
    "gen_ai.tool.definitions",
    "gen_ai.tool.call.arguments",
    "gen_ai.response.finish_reasons",
    "message",
    "content",
    "tool_calls",
    "session.id",
    "conversation.id",
    "request_id",
    "response",
    "tool_name",
    "tool_input",
    "tool_parameters",
    "arguments",
    "output",
    "duration_ms",
    "input_token_count",
    "event.kind",
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

fn read(body: Bytes) {
    let plain = otlp::read_records(body.clone(), |_| {});
    let mut reader = Reader::new(Arc::new(Settings::default()));
    let told = reader.read_records(body.clone());
    match (plain, told) {
        (Ok(plain), Ok((passed, told))) => {
            assert_eq!(plain.body, passed.body);
            assert_eq!(plain.records, passed.records);
            let (_, again) = reader.read_records(body).expect("it was read before");
            assert_eq!(format!("{:?}", told.steps), format!("{:?}", again.steps));
            assert_eq!(
                format!("{:?}", told.contents),
                format!("{:?}", again.contents)
            );
        }
        (plain, told) => assert!(plain.is_err() && told.is_err()),
    }
}

fuzz_target!(|bytes: &[u8]| {
    read(Bytes::copy_from_slice(bytes));
    // The first byte chooses the event, the second where the texts, parted by zero bytes, begin to be put.
    let [event, from, rest @ ..] = bytes else {
        return;
    };
    let name = text(EVENTS[usize::from(*event) % EVENTS.len()]);
    let mut attributes = Vec::new();
    for (place, content) in rest
        .split(|byte| *byte == 0)
        .take(CONTENT.len())
        .enumerate()
    {
        let key = text(CONTENT[(usize::from(*from) + place) % CONTENT.len()]);
        let content = text(&String::from_utf8_lossy(content));
        attributes.push(format!(
            "{{\"key\":{key},\"value\":{{\"stringValue\":{content}}}}}"
        ));
    }
    let body = text(&String::from_utf8_lossy(rest));
    let attributes = attributes.join(",");
    let record = format!(
        "{{\"timeUnixNano\":\"9\",\"eventName\":{name},\"traceId\":\"0102030405060708090a0b0c0d0e0f10\",\
         \"spanId\":\"0102030405060708\",\"body\":{{\"stringValue\":{body}}},\"attributes\":[{attributes}]}}"
    );
    let request = format!(
        "{{\"resourceLogs\":[{{\"scopeLogs\":[{{\"logRecords\":[{record},{record}]}}]}}]}}"
    );
    if let Ok((body, _)) = otlp::transcode_with_hint(Signal::Logs, request.as_bytes()) {
        read(body);
    }
});
