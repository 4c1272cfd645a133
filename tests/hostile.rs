//! Texts made to be dear: what is read of one is bounded, and reading it costs what it is long, whatever it
//! repeats. Each would take minutes here were anything in the way through worse than linear.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agent_sentinel::otlp;
use agent_sentinel::steps::Reader;

/// Pieces that scanners of times, ids, paths, prose, shells and JSON look for, each repeated to 80 KB.
const PIECES: &[&str] = &[
    "1.",
    "1,111",
    "1:",
    "-1",
    "0x+",
    "~_-",
    "passed+",
    "-Error",
    "2026-01-01_",
    "a.b-",
    "tmp.",
    "/tmp/",
    "timestamp:",
    "timestamp=\"",
    "request id: ",
    "request-id-",
    "pid ",
    "attempt ",
    "1h ",
    "1h1m",
    "12:12:12.",
    "+02:00",
    "[",
    "{\"a\":",
    "\"",
    "\\",
    "$(",
    "(",
    "`",
    "cat <<A\n",
    "All tests pass. ",
    "not ",
    "> ",
    "```\n",
    "| a ",
    "<think>",
    "http://a.b/",
    "../",
    "Error: ",
    "exit code ",
    "1 passed, ",
    "=",
    "\u{b5}s",
    "\u{5b8c}\u{6210}",
    "a@b.c ",
    "\u{200b}",
];

/// Debug builds on busy machines stay far below it (7.7 s once, with two cores shared by others); a square of 80,000 does not.
const BOUND: Duration = Duration::from_secs(60);

fn request(text: &str) -> String {
    let text = serde_json::Value::from(text).to_string();
    let output = serde_json::json!([{
        "role": "assistant", "finish_reason": "stop",
        "parts": [{"type": "text", "content": "@"}],
    }]);
    let output = output.to_string().replace("\"@\"", &text);
    let span = |id: &str, operation: &str, attributes: &[(&str, &str)]| {
        let mut span = format!(
            r#"{{"traceId":"0102030405060708090a0b0c0d0e0f10","spanId":"{id}","name":"x","startTimeUnixNano":"1","endTimeUnixNano":"2",
            "status":{{"code":2,"message":{text}}},"attributes":[{{"key":"gen_ai.operation.name","value":{{"stringValue":"{operation}"}}}}"#
        );
        for (key, value) in attributes {
            span.push_str(&format!(
                r#",{{"key":"{key}","value":{{"stringValue":{value}}}}}"#
            ));
        }
        span.push_str("]}");
        span
    };
    let command = serde_json::Value::from(format!("{{\"command\":{text}}}")).to_string();
    let output = serde_json::Value::from(output).to_string();
    let spans = [
        span(
            "0000000000000001",
            "execute_tool",
            &[
                ("gen_ai.tool.name", "\"bash\""),
                ("gen_ai.tool.call.arguments", &command),
                ("gen_ai.tool.call.result", &text),
            ],
        ),
        span(
            "0000000000000002",
            "execute_tool",
            &[
                ("gen_ai.tool.name", "\"lookup\""),
                ("gen_ai.tool.call.arguments", &text),
                ("gen_ai.tool.call.result", "\"x\""),
            ],
        ),
        span(
            "0000000000000003",
            "chat",
            &[("gen_ai.output.messages", &output)],
        ),
    ];
    format!(
        r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{}]}}]}}]}}"#,
        spans.join(",")
    )
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test is about time")]
fn no_text_is_dearer_than_it_is_long() {
    let mut reader = Reader::new(Arc::default());
    for piece in PIECES {
        let body = otlp::transcode(request(&piece.repeat(80_000 / piece.len())).as_bytes());
        let started = Instant::now();
        let reading = reader.read(body.unwrap()).unwrap();
        let took = started.elapsed();
        assert_eq!(reading.steps.len(), 3, "{piece:?}");
        assert!(took < BOUND, "{piece:?} took {took:?}");
    }
}
