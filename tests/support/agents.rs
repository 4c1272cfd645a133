//! Requests of agents at work, as OpenTelemetry's GenAI conventions tell them: runs of an agent with answers of a model
//! (1 to 4 KiB of text) and calls of tools (arguments and results of 100 to 2,000 bytes), about 2 kB a span, two hundred
//! spans a request, several runs interleaved.
//!
//! Invariant: a function of its options; no two texts are equal but where a run repeats itself.

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue, any_value};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
use serde_json::json;

/// Spans of one request.
pub const REQUEST: usize = 200;
/// Runs under way at a time.
const INTERLEAVED: usize = 8;
/// Answers and calls of a run, one after the other.
const ROUNDS: u64 = 6;
/// Every so many runs one repeats the same call.
const ANOMALOUS: u64 = 10;
/// When the first run begins.
const START: u64 = 1_790_000_000_000_000_000;
/// From one life of all runs to the next: long enough for all to be over.
const LIFE: u64 = 3_600_000_000_000;
/// From one step of a run to the next.
const STEP: u64 = 20_000_000;

const TOOLS: [&str; 6] = [
    "read_file",
    "search",
    "grep",
    "fetch_page",
    "list_dir",
    "query",
];
const WORDS: [&str; 24] = [
    "parser", "the", "value", "of", "request", "module", "is", "read", "before", "handler", "and",
    "returns", "list", "from", "cache", "when", "no", "entry", "was", "found", "in", "table",
    "next", "column",
];

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ (mixed >> 27)
    }

    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.roll() % (high - low)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        let at = self.roll() % from.len() as u64;
        from[usize::try_from(at).unwrap_or(0)]
    }

    /// Prose of about so many bytes.
    fn prose(&mut self, bytes: u64) -> String {
        let mut text = String::new();
        while (text.len() as u64) < bytes {
            for _ in 0..self.between(6, 14) {
                text.push_str(self.pick(&WORDS));
                text.push(' ');
            }
            text.pop();
            text.push_str(if self.roll().is_multiple_of(5) {
                ".\n"
            } else {
                ". "
            });
        }
        text
    }
}

fn attribute(key: &str, value: impl Into<String>) -> KeyValue {
    let value = any_value::Value::StringValue(value.into());
    KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue { value: Some(value) }),
        ..KeyValue::default()
    }
}

fn number(key: &str, value: u64) -> KeyValue {
    let value = any_value::Value::IntValue(value.cast_signed());
    KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue { value: Some(value) }),
        ..KeyValue::default()
    }
}

fn message(role: &str, text: &str) -> String {
    json!([{ "role": role, "parts": [{ "type": "text", "content": text }] }]).to_string()
}

/// An answer of the model to what the user asked for.
fn chat(round: u64, goal: &str, answer: &str) -> Vec<KeyValue> {
    vec![
        attribute("gen_ai.operation.name", "chat"),
        attribute("gen_ai.provider.name", "acme"),
        attribute("gen_ai.agent.name", "coder"),
        attribute("gen_ai.request.model", "large-model"),
        number("gen_ai.usage.input_tokens", 1000 + 200 * round),
        number("gen_ai.usage.output_tokens", 300),
        attribute("gen_ai.input.messages", message("user", goal)),
        attribute("gen_ai.output.messages", message("assistant", answer)),
    ]
}

/// A call of a tool.
fn call(id: String, tool: &str, (given, back): (String, String)) -> Vec<KeyValue> {
    vec![
        attribute("gen_ai.operation.name", "execute_tool"),
        attribute("gen_ai.agent.name", "coder"),
        attribute("gen_ai.tool.name", tool),
        attribute("gen_ai.tool.call.id", id),
        attribute("gen_ai.tool.call.arguments", given),
        attribute("gen_ai.tool.call.result", back),
    ]
}

/// Arguments and result of a call.
fn content(dice: &mut Dice) -> (String, String) {
    let pattern = dice.prose(120);
    let path = format!("src/{}.rs", dice.roll());
    let given = json!({ "path": path, "pattern": pattern, "limit": dice.between(1, 99) });
    let length = dice.between(100, 2000);
    (given.to_string(), dice.prose(length))
}

/// The spans of one run in the order in which they end: its own comes last.
fn run(index: u64, at: u64, seed: u64, life: u64) -> Vec<Span> {
    let mut dice = Dice(seed ^ index.wrapping_mul(0xd6e8_feb8_6659_fd93));
    let trace = [index.to_be_bytes(), (seed << 8 | life).to_be_bytes()].concat();
    let id = |n: u64| (index << 8 | n).to_be_bytes().to_vec();
    let span = |n: u64, name: String, attributes: Vec<KeyValue>| Span {
        trace_id: trace.clone(),
        span_id: id(n),
        parent_span_id: if n == 0 { Vec::new() } else { id(0) },
        name,
        start_time_unix_nano: at + n.saturating_sub(1) * STEP,
        end_time_unix_nano: at + if n == 0 { 13 * STEP } else { n * STEP },
        attributes,
        ..Span::default()
    };
    let repeats = index.is_multiple_of(ANOMALOUS);
    let goal = dice.prose(300);
    let same = content(&mut dice);
    let mut spans = Vec::new();
    let mut answer = String::new();
    for round in 0..ROUNDS {
        let length = dice.between(1024, 4096);
        answer = dice.prose(length);
        let asked = chat(round, &goal, &answer);
        spans.push(span(2 * round + 1, "chat large-model".to_owned(), asked));
        let (tool, content) = match repeats {
            true => (TOOLS[0], same.clone()),
            false => (dice.pick(&TOOLS), content(&mut dice)),
        };
        let called = call(format!("call_{life}_{index}_{round}"), tool, content);
        spans.push(span(2 * round + 2, format!("execute_tool {tool}"), called));
    }
    let ended = vec![
        attribute("gen_ai.operation.name", "invoke_agent"),
        attribute("gen_ai.agent.name", "coder"),
        attribute("gen_ai.output.messages", message("assistant", &answer)),
    ];
    spans.push(span(0, "invoke_agent coder".to_owned(), ended));
    spans
}

/// `count` requests, and when the last span of each ends. Texts differ from those of any other `seed`; other runs that say
/// the same, later, are those of another `life`.
pub fn requests(count: usize, seed: u64, life: u64) -> Vec<(ExportTraceServiceRequest, u64)> {
    let mut next = 0;
    let mut fresh = || {
        next += 1;
        run(next, START + life * LIFE + next * STEP, seed, life).into_iter()
    };
    let mut open: Vec<_> = (0..INTERLEAVED).map(|_| fresh()).collect();
    let mut requests = Vec::new();
    let mut turn = 0;
    for _ in 0..count {
        let mut spans = Vec::with_capacity(REQUEST);
        while spans.len() < REQUEST {
            turn = (turn + 1) % INTERLEAVED;
            match open[turn].next() {
                Some(span) => spans.push(span),
                None => open[turn] = fresh(),
            }
        }
        let end = spans.iter().map(|span| span.end_time_unix_nano).max();
        let scope = ScopeSpans {
            scope: Some(InstrumentationScope {
                name: "bench".to_owned(),
                ..InstrumentationScope::default()
            }),
            spans,
            ..ScopeSpans::default()
        };
        let resource = ResourceSpans {
            resource: Some(Resource {
                attributes: vec![attribute("service.name", "bench")],
                ..Resource::default()
            }),
            scope_spans: vec![scope],
            ..ResourceSpans::default()
        };
        let request = ExportTraceServiceRequest {
            resource_spans: vec![resource],
        };
        requests.push((request, end.unwrap_or(START)));
    }
    requests
}
