//! Field cases: small runs with what must be said of them, as spans, and what the engine says of those.
//!
//! A case is turned into [`Span`]s in the order in which an SDK would export them; tests bend cases or
//! spans and ask [`judge`] again. The span id carries the step's index, so that a finding can be mapped
//! back to its step.
#![expect(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "each test file that includes this uses a part of it; fixtures are sound and lie in files"
)]

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use agent_sentinel::config::{self, Purpose, Source};
use agent_sentinel::engine::{Engine, Output};
use agent_sentinel::model::{Severity, Timestamp};
use agent_sentinel::otlp;
use agent_sentinel::steps::Reader;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// When all cases begin, in ms.
const BASE_MS: i64 = 1_790_000_000_000;

/// A small run and what must be said of it.
#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    pub id: String,
    pub kind: Vec<String>,
    pub confidence: String,
    pub task: Option<String>,
    #[serde(rename = "available_tools")]
    pub tools: Option<Vec<String>>,
    pub workspace: Option<String>,
    #[serde(default)]
    pub policy: Policy,
    pub steps: Vec<Step>,
    pub expect: Vec<Expected>,
    pub also_ok: Vec<String>,
    #[serde(default)]
    pub must_not: Vec<String>,
    pub max_alerts: Option<usize>,
    pub why: String,
}

/// What a user would have configured.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Policy {
    pub known_hosts: Option<Vec<String>>,
    pub allow_cidr: Vec<String>,
    pub budget: Budget,
    pub task_by_turn: BTreeMap<String, String>,
}

/// Limits.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Budget {
    pub steps: Option<u64>,
    pub cost_usd: Option<f64>,
    pub wall_ms: Option<u64>,
    pub scope: Option<String>,
}

/// A tool call (`tool`), a model answer (`response`) or the answer of the run (`last`).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Step {
    pub tool: Option<String>,
    /// The arguments as JSON text, members in the order of the case.
    #[serde(deserialize_with = "compact")]
    pub args: String,
    pub result: Option<String>,
    pub error: bool,
    pub exit_code: Option<i64>,
    /// When it ended.
    pub t_ms: i64,
    pub dur_ms: i64,
    pub agent: Option<String>,
    pub turn: Option<i64>,
    pub round: Option<i64>,
    pub call_id: Option<String>,
    pub executed: Option<bool>,
    pub cost_usd: Option<f64>,
    pub usage: BTreeMap<String, i64>,
    pub response: Option<String>,
    pub finish_reason: Option<String>,
    #[serde(rename = "final")]
    pub last: Option<String>,
}

impl Step {
    fn start(&self) -> i64 {
        self.t_ms - self.dur_ms
    }

    fn call(&self, index: usize) -> Call {
        Call {
            id: self
                .call_id
                .clone()
                .unwrap_or_else(|| format!("call-{index}")),
            name: self.tool.clone().unwrap_or_default(),
            args: self.args.clone(),
        }
    }
}

/// One finding that must come.
#[derive(Clone, Debug, Deserialize)]
pub struct Expected {
    #[serde(rename = "type")]
    pub anomaly: String,
    pub window: [i64; 2],
    #[serde(default)]
    pub any_of: Vec<String>,
}

/// JSON text without the white space between its tokens; the order of members stays.
fn compact<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let raw = Box::<RawValue>::deserialize(from)?;
    let (mut out, mut quoted, mut escaped) = (String::new(), false, false);
    for c in raw.get().chars() {
        if !quoted && c.is_ascii_whitespace() {
            continue;
        }
        quoted ^= c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        out.push(c);
    }
    Ok(out)
}

/// The cases of a folder of `tests/fixtures/field`, sorted by id.
pub fn load(folder: &str) -> Vec<Case> {
    let path = format!(
        "{}/tests/fixtures/field/{folder}",
        env!("CARGO_MANIFEST_DIR")
    );
    let mut cases: Vec<Case> = std::fs::read_dir(path)
        .unwrap()
        .map(|entry| {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            serde_json::from_str(&text).unwrap()
        })
        .collect();
    cases.sort_by(|a, b| a.id.cmp(&b.id));
    cases
}

/// A call that a model answer asks for.
#[derive(Clone, Debug)]
pub struct Call {
    pub id: String,
    pub name: String,
    pub args: String,
}

/// A span before any convention.
#[derive(Clone, Debug)]
pub struct Span {
    pub trace: u64,
    pub id: u64,
    pub parent: Option<u64>,
    pub start: i64,
    pub end: i64,
    pub agent: Option<String>,
    pub conversation: Option<String>,
    /// Tokens by name, and cost.
    pub usage: BTreeMap<String, i64>,
    pub cost: Option<f64>,
    pub what: What,
}

/// What a span tells.
#[derive(Clone, Debug)]
pub enum What {
    Chat(Chat),
    Tool {
        call: Call,
        result: Option<String>,
        exit_code: Option<i64>,
        failed: bool,
    },
    Agent(Option<String>),
}

/// A model call.
#[derive(Clone, Debug, Default)]
pub struct Chat {
    /// Input messages by role; empty where the emitter sends none.
    pub input: Vec<(&'static str, String)>,
    pub tools: Option<Vec<String>>,
    pub text: Option<String>,
    pub finish: Option<String>,
    pub calls: Vec<Call>,
}

/// Spans that are exported together, and when they arrive, in ms since the case's zero.
#[derive(Clone, Debug)]
pub struct Request {
    pub spans: Vec<Span>,
    pub received: Option<i64>,
    /// Name of the instrumentation.
    pub scope: &'static str,
    /// The process that sends it, where there are several.
    pub process: &'static str,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            spans: Vec::new(),
            received: None,
            scope: "field-cases",
            process: "",
        }
    }
}

/// How an emitter shapes a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Agents are named on every span; requests of 16 spans.
    Plain,
    /// An agent is named only on its own span, which comes after its children; a model span asks for each
    /// call; requests of 3 spans.
    Sdk,
}

/// The convention of attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    GenAi,
    OpenInference,
}

/// FNV-1a over words.
fn id(words: &[&str]) -> u64 {
    let bytes = words.iter().flat_map(|word| word.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Bits of the hash of a case's id that begin its spans' ids.
const PREFIX: u64 = 0xffff_ffff;

/// The id under which a second instrumentation tells of a span.
pub fn double(id: u64) -> u64 {
    id ^ 1 << 30
}

/// Turns a case into spans.
struct Converter<'a> {
    case: &'a Case,
    sdk: bool,
    conversation: Option<String>,
    trace: u64,
    root: u64,
    open: Vec<OpenAgent>,
    out: Vec<Span>,
    requests: Vec<Request>,
}

/// An agent whose span has not ended.
struct OpenAgent {
    name: String,
    id: u64,
    start: i64,
    end: i64,
    last: usize,
}

/// The requests of a case, in the order of their export.
pub fn requests(case: &Case, shape: Shape) -> Vec<Request> {
    let turns: HashSet<Option<i64>> = case.steps.iter().map(|step| step.turn).collect();
    let mut converter = Converter {
        case,
        sdk: shape == Shape::Sdk,
        conversation: (turns.len() > 1).then(|| format!("conv-{}", case.id)),
        trace: 0,
        root: 0,
        open: Vec::new(),
        out: Vec::new(),
        requests: Vec::new(),
    };
    let mut seen = Vec::new();
    for step in &case.steps {
        if !seen.contains(&step.turn) {
            seen.push(step.turn);
            converter.turn(seen.len() - 1, step.turn);
        }
    }
    converter.requests
}

impl Converter<'_> {
    fn id(&self, words: &[&str]) -> u64 {
        id(&[&[self.case.id.as_str()], words].concat())
    }

    /// The span of a step; the high bit tells the model span that asked for it.
    fn step_id(&self, index: usize) -> u64 {
        ((self.id(&[]) & PREFIX) << 32) | (index as u64 + 1)
    }

    fn span(&self, id: u64, parent: Option<u64>, start: i64, end: i64, what: What) -> Span {
        Span {
            trace: self.trace,
            id,
            parent,
            start,
            end,
            agent: None,
            conversation: self.conversation.clone(),
            usage: BTreeMap::new(),
            cost: None,
            what,
        }
    }

    fn asks(&self, id: u64, parent: u64, end: i64, calls: Vec<Call>) -> Span {
        let chat = Chat {
            finish: Some("tool_call".to_owned()),
            calls,
            ..Chat::default()
        };
        self.span(id, Some(parent), end - 1, end, What::Chat(chat))
    }

    fn flush(&mut self) {
        if !self.out.is_empty() {
            self.requests.push(Request {
                spans: std::mem::take(&mut self.out),
                ..Request::default()
            });
        }
    }

    fn turn(&mut self, number: usize, turn: Option<i64>) {
        let case = self.case;
        let steps: Vec<(usize, &Step)> = case
            .steps
            .iter()
            .enumerate()
            .filter(|(_, step)| step.turn == turn)
            .collect();
        let name = format!("{turn:?}");
        self.trace = self.id(&["trace", &name]);
        self.root = self.id(&["root", &name]);
        let first = steps[0].1.start() - 5;
        let by_turn = turn.and_then(|turn| case.policy.task_by_turn.get(&turn.to_string()));
        let task = by_turn.or(case.task.as_ref().filter(|_| number == 0));
        let tools = case.tools.as_ref().filter(|_| number == 0);
        if task.is_some() || tools.is_some() {
            let chat = Chat {
                input: task
                    .map(|task| ("user", task.clone()))
                    .into_iter()
                    .collect(),
                tools: tools.cloned(),
                ..Chat::default()
            };
            let opening = self.id(&["opening", &name]);
            let span = self.span(opening, Some(self.root), first, first + 1, What::Chat(chat));
            self.out.push(span);
        }
        self.open = self.agents(&steps, &name);
        let mut asked = None;
        let mut last = None;
        for (index, step) in &steps {
            self.step(*index, step, &steps, &mut asked);
            if step.last.is_some() {
                last = Some((*index, *step));
            }
            for agent in self.open.iter().filter(|agent| agent.last == *index) {
                let mut span = self.span(
                    agent.id,
                    Some(self.root),
                    agent.start,
                    agent.end,
                    What::Agent(None),
                );
                span.agent = Some(agent.name.clone());
                self.out.push(span);
            }
            if self.out.len() >= if self.sdk { 3 } else { 16 } {
                self.flush();
            }
        }
        if let Some((index, step)) = last {
            self.close(index, step, first);
        }
        self.flush();
    }

    /// The run's own span, and its id as the parent of the others.
    fn close(&mut self, index: usize, step: &Step, first: i64) {
        let what = What::Agent(step.last.clone());
        let id = self.step_id(index);
        let mut span = self.span(id, None, first - 1, step.t_ms, what);
        span.agent.clone_from(&step.agent);
        self.out.push(span);
        let root = Some(self.root);
        let sent = self.requests.iter_mut().flat_map(|r| &mut r.spans);
        for span in sent.chain(&mut self.out) {
            if span.parent == root {
                span.parent = Some(id);
            }
        }
    }

    fn agents(&self, steps: &[(usize, &Step)], turn: &str) -> Vec<OpenAgent> {
        let mut open: Vec<OpenAgent> = Vec::new();
        if !self.sdk {
            return open;
        }
        for (index, step) in steps {
            let Some(name) = step.agent.as_ref().filter(|_| step.last.is_none()) else {
                continue;
            };
            match open.iter_mut().find(|agent| agent.name == *name) {
                Some(agent) => (agent.end, agent.last) = (step.t_ms + 1, *index),
                None => open.push(OpenAgent {
                    name: name.clone(),
                    id: self.id(&["agent", turn, name]),
                    start: step.start() - 4,
                    end: step.t_ms + 1,
                    last: *index,
                }),
            }
        }
        open
    }

    fn step(
        &mut self,
        index: usize,
        step: &Step,
        steps: &[(usize, &Step)],
        asked: &mut Option<i64>,
    ) {
        let start = step.start();
        if step.round.is_some() && step.round != *asked {
            *asked = step.round;
            let of_round = steps.iter().filter(|(_, other)| other.round == step.round);
            let calls = of_round.map(|(at, other)| other.call(*at)).collect();
            let round = self.id(&["round", &format!("{asked:?}")]);
            let span = self.asks(round, self.root, start - 2, calls);
            self.out.push(span);
        }
        let parent = self
            .open
            .iter()
            .find(|agent| step.agent.as_ref() == Some(&agent.name) && step.last.is_none())
            .map_or(self.root, |agent| agent.id);
        let executed = step.executed != Some(false);
        let mut span = if step.tool.is_none() {
            let Some(text) = &step.response else {
                return;
            };
            let chat = Chat {
                text: Some(text.clone()),
                finish: step.finish_reason.clone().or(Some("stop".to_owned())),
                calls: following(index, step, steps),
                ..Chat::default()
            };
            let id = self.step_id(index);
            self.span(id, Some(parent), start - 1, step.t_ms, What::Chat(chat))
        } else if executed {
            self.ask_for(index, step, parent);
            let what = What::Tool {
                call: step.call(index),
                result: step.result.clone(),
                exit_code: step.exit_code,
                failed: step.error,
            };
            self.span(self.step_id(index), Some(parent), start, step.t_ms, what)
        } else {
            let mut span = self.asks(
                self.step_id(index),
                self.root,
                step.t_ms,
                vec![step.call(index)],
            );
            span.start = start;
            span
        };
        span.agent = step.agent.clone().filter(|_| !self.sdk);
        span.usage.clone_from(&step.usage);
        span.cost = step.cost_usd;
        self.out.push(span);
    }

    /// The model span that asks for an executed call, where the shape or the case has one.
    fn ask_for(&mut self, index: usize, step: &Step, parent: u64) {
        let end = step.start() - 1;
        let calls = vec![step.call(index)];
        if let Some(tools) = &self.case.tools {
            let fold = |name: &str| name.to_lowercase().replace(['_', '-'], "");
            let tool = fold(step.tool.as_deref().unwrap_or_default());
            // A tool loaded during the run: what that step was offered is not known.
            let grown = !step.error && !tools.iter().any(|name| fold(name) == tool);
            let id = self.step_id(index) | 0x8000_0000;
            let mut span = self.asks(id, self.root, end, calls);
            if let What::Chat(chat) = &mut span.what {
                chat.tools = Some(tools.clone()).filter(|_| !grown);
            }
            span.agent.clone_from(&step.agent);
            self.out.push(span);
        } else if self.sdk && step.round.is_none() {
            let id = self.id(&["ask", &index.to_string()]);
            let span = self.asks(id, parent, end, calls);
            self.out.push(span);
        }
    }
}

/// The calls that an answer which finished for tool calls asks for: those that follow it.
fn following(index: usize, step: &Step, steps: &[(usize, &Step)]) -> Vec<Call> {
    if step.finish_reason.as_deref() != Some("tool_calls") {
        return Vec::new();
    }
    steps
        .iter()
        .filter(|(at, _)| *at > index)
        .take_while(|(_, next)| next.tool.is_some())
        .map(|(at, next)| next.call(*at))
        .collect()
}

/// The configuration of a case: defaults and its policy.
pub fn config(case: &Case) -> String {
    let policy = &case.policy;
    let mut anomaly = json!({ "group_by": ["session", "trace"], "detectors": {} });
    if let Some(root) = &case.workspace {
        anomaly["workspace"] = json!({ "root": root });
    }
    let detectors = &mut anomaly["detectors"];
    if let Some(hosts) = &policy.known_hosts {
        detectors["novel_host"] =
            json!({ "enabled": true, "known_hosts": hosts, "allow_cidrs": policy.allow_cidr });
    }
    if case.kind.iter().any(|kind| kind == "goal_drift") {
        detectors["goal_drift"] = json!({ "enabled": true });
    }
    let budget = &policy.budget;
    let scope = budget.scope.as_deref().unwrap_or("session");
    if let Some(max) = budget.steps {
        detectors["budget_steps"] = json!({ "max": max, "scope": scope });
    }
    if let Some(max) = budget.cost_usd {
        detectors["budget_cost"] = json!({ "max_usd": max, "scope": scope });
    }
    if let Some(max) = budget.wall_ms {
        detectors["budget_time"] = json!({ "max": format!("{max}ms"), "scope": scope });
    }
    json!({
        "receivers": { "otlp": { "protocols": { "http": { "endpoint": "localhost:0" } } } },
        "exporters": { "debug": {} },
        "processors": { "anomaly": anomaly },
        "service": { "pipelines": { "traces":
            { "receivers": ["otlp"], "processors": ["anomaly"], "exporters": ["debug"] } } },
    })
    .to_string()
}

fn attribute(key: &str, value: Value) -> Value {
    let value = match value {
        Value::String(text) => json!({ "stringValue": text }),
        Value::Number(number) if number.is_i64() => json!({ "intValue": number.to_string() }),
        Value::Number(number) => json!({ "doubleValue": number }),
        other => json!({ "stringValue": other.to_string() }),
    };
    json!({ "key": key, "value": value })
}

/// Arguments as a part of a message: a value, or text where they are no JSON.
fn embedded(args: &str) -> String {
    match serde_json::from_str::<&RawValue>(args) {
        Ok(_) => args.to_owned(),
        Err(_) => Value::from(args).to_string(),
    }
}

fn definitions(tools: &[String]) -> Vec<Value> {
    tools
        .iter()
        .map(|name| json!({ "type": "function", "name": name }))
        .collect()
}

fn genai(span: &Span) -> Vec<(String, Value)> {
    let mut out: Vec<(String, Value)> = Vec::new();
    let mut put = |key: &str, value: Option<Value>| out.extend(value.map(|v| (key.to_owned(), v)));
    let text = |text: &Option<String>| text.clone().map(Value::from);
    put("gen_ai.conversation.id", text(&span.conversation));
    put("gen_ai.agent.name", text(&span.agent));
    put("gen_ai.usage.cost", span.cost.map(Value::from));
    for (name, tokens) in &span.usage {
        let key = match name.as_str() {
            "input" => "gen_ai.usage.input_tokens",
            "output" => "gen_ai.usage.output_tokens",
            "cached_input" => "gen_ai.usage.cache_read.input_tokens",
            other => other,
        };
        put(key, Some((*tokens).into()));
    }
    match &span.what {
        What::Chat(chat) => {
            put("gen_ai.operation.name", Some("chat".into()));
            if !chat.input.is_empty() {
                let messages: Vec<Value> = chat.input.iter().map(message).collect();
                put(
                    "gen_ai.input.messages",
                    Some(Value::from(messages).to_string().into()),
                );
            }
            if let Some(tools) = &chat.tools {
                let tools = Value::from(definitions(tools)).to_string();
                put("gen_ai.tool.definitions", Some(tools.into()));
            }
            if chat.finish.is_some() {
                put("gen_ai.output.messages", Some(answer(chat).into()));
            }
        }
        What::Tool {
            call,
            result,
            exit_code,
            failed,
        } => {
            put("gen_ai.operation.name", Some("execute_tool".into()));
            put("gen_ai.tool.name", Some(call.name.clone().into()));
            put("gen_ai.tool.type", Some("function".into()));
            put("gen_ai.tool.call.id", Some(call.id.clone().into()));
            put("gen_ai.tool.call.arguments", Some(call.args.clone().into()));
            put("gen_ai.tool.call.result", text(result));
            put("process.exit.code", exit_code.map(Value::from));
            put("error.type", failed.then(|| "tool_error".into()));
        }
        What::Agent(said) => {
            put("gen_ai.operation.name", Some("invoke_agent".into()));
            if said.is_some() {
                let chat = Chat {
                    text: said.clone(),
                    finish: Some("stop".to_owned()),
                    ..Chat::default()
                };
                put("gen_ai.output.messages", Some(answer(&chat).into()));
            }
        }
    }
    out
}

fn message((role, text): &(&str, String)) -> Value {
    let part = match *role {
        "tool" => json!({ "type": "tool_call_response", "id": "x", "response": text }),
        _ => json!({ "type": "text", "content": text }),
    };
    json!({ "role": role, "parts": [part] })
}

/// Output messages, written by hand: the members of arguments keep their order.
fn answer(chat: &Chat) -> String {
    let text = chat.text.iter().map(|text| {
        let text = Value::from(text.as_str());
        format!(r#"{{"type": "text", "content": {text}}}"#)
    });
    let calls = chat.calls.iter().map(|call| {
        let (id, name) = (
            Value::from(call.id.as_str()),
            Value::from(call.name.as_str()),
        );
        let args = embedded(&call.args);
        format!(r#"{{"type": "tool_call", "id": {id}, "name": {name}, "arguments": {args}}}"#)
    });
    let parts: Vec<String> = text.chain(calls).collect();
    let finish = Value::from(chat.finish.clone());
    format!(
        r#"[{{"role": "assistant", "parts": [{}], "finish_reason": {finish}}}]"#,
        parts.join(", ")
    )
}

fn openinference(span: &Span) -> Vec<(String, Value)> {
    let mut out: Vec<(String, Value)> = Vec::new();
    let mut put = |key: &str, value: Option<Value>| out.extend(value.map(|v| (key.to_owned(), v)));
    let text = |text: &Option<String>| text.clone().map(Value::from);
    put("session.id", text(&span.conversation));
    put("agent.name", text(&span.agent));
    put("llm.cost.total", span.cost.map(Value::from));
    put(
        "llm.token_count.prompt",
        span.usage.get("input").map(|n| (*n).into()),
    );
    put(
        "llm.token_count.completion",
        span.usage.get("output").map(|n| (*n).into()),
    );
    match &span.what {
        What::Chat(chat) => flattened(chat, &mut put),
        What::Tool {
            call,
            result,
            exit_code,
            failed,
        } => {
            put("openinference.span.kind", Some("TOOL".into()));
            put("tool.name", Some(call.name.clone().into()));
            put("tool_call.id", Some(call.id.clone().into()));
            put("input.value", Some(call.args.clone().into()));
            put("output.value", text(result));
            put("process.exit.code", exit_code.map(Value::from));
            put("error.type", failed.then(|| "tool_error".into()));
        }
        What::Agent(said) => {
            put("openinference.span.kind", Some("AGENT".into()));
            put("output.value", text(said));
        }
    }
    out
}

/// A model call in OpenInference's flattened lists.
fn flattened(chat: &Chat, put: &mut impl FnMut(&str, Option<Value>)) {
    let text = |text: &Option<String>| text.clone().map(Value::from);
    put("openinference.span.kind", Some("LLM".into()));
    for (at, (role, text)) in chat.input.iter().enumerate() {
        let key = format!("llm.input_messages.{at}.message");
        put(&format!("{key}.role"), Some((*role).into()));
        put(&format!("{key}.content"), Some(text.clone().into()));
    }
    for (at, tool) in definitions(chat.tools.as_deref().unwrap_or_default())
        .iter()
        .enumerate()
    {
        let schema = json!({ "type": "function", "function": tool });
        put(
            &format!("llm.tools.{at}.tool.json_schema"),
            Some(schema.to_string().into()),
        );
    }
    let key = "llm.output_messages.0.message";
    if chat.finish.is_some() {
        put(&format!("{key}.role"), Some("assistant".into()));
    }
    put(&format!("{key}.content"), text(&chat.text));
    for (at, call) in chat.calls.iter().enumerate() {
        let key = format!("{key}.tool_calls.{at}.tool_call");
        put(&format!("{key}.id"), Some(call.id.clone().into()));
        put(
            &format!("{key}.function.name"),
            Some(call.name.clone().into()),
        );
        put(
            &format!("{key}.function.arguments"),
            Some(call.args.clone().into()),
        );
    }
    put("llm.finish_reason", text(&chat.finish));
}

fn otlp_span(span: &Span, dialect: Dialect) -> Value {
    let attributes = match dialect {
        Dialect::GenAi => genai(span),
        Dialect::OpenInference => openinference(span),
    };
    let attributes: Vec<Value> = attributes
        .into_iter()
        .map(|(key, value)| attribute(&key, value))
        .collect();
    let (name, kind) = match &span.what {
        What::Chat(_) => ("chat m".to_owned(), 3),
        What::Tool { call, .. } => (format!("execute_tool {}", call.name), 1),
        What::Agent(_) => (
            format!("invoke_agent {}", span.agent.as_deref().unwrap_or("a")),
            1,
        ),
    };
    let failed = matches!(&span.what, What::Tool { failed: true, .. });
    let nanos = |ms: i64| ((BASE_MS + ms) * 1_000_000).to_string();
    let mut out = json!({
        "traceId": format!("{:032x}", span.trace),
        "spanId": format!("{:016x}", span.id),
        "name": name,
        "kind": kind,
        "startTimeUnixNano": nanos(span.start),
        "endTimeUnixNano": nanos(span.end),
        "attributes": attributes,
        "status": if failed { json!({ "code": 2 }) } else { json!({}) },
    });
    if let Some(parent) = span.parent {
        out["parentSpanId"] = format!("{parent:016x}").into();
    }
    out
}

/// A request as bytes.
pub fn body(case: &Case, request: &Request, dialect: Dialect) -> bytes::Bytes {
    let document = document(case, request, dialect);
    otlp::transcode(document.to_string().as_bytes()).unwrap()
}

/// A request as OTLP/JSON.
pub fn document(case: &Case, request: &Request, dialect: Dialect) -> Value {
    let mut resource = vec![attribute("service.name", "field-case".into())];
    if let Some(root) = &case.workspace {
        resource.push(attribute("process.working_directory", root.clone().into()));
    }
    if !request.process.is_empty() {
        resource.push(attribute("service.instance.id", request.process.into()));
    }
    let spans: Vec<Value> = request
        .spans
        .iter()
        .map(|s| otlp_span(s, dialect))
        .collect();
    json!({ "resourceSpans": [{
        "resource": { "attributes": resource },
        "scopeSpans": [{ "scope": { "name": request.scope, "version": "1" }, "spans": spans }],
    }]})
}

/// A finding, mapped back to the case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// Its type.
    pub anomaly: &'static str,
    /// Index of the step judged; -1 for a span that is none of the case's steps.
    pub step: i64,
    /// The number of the severity.
    pub severity: i64,
    /// The branch of the rule.
    pub reason: Option<&'static str>,
    /// Steps of the proof.
    pub members: Vec<i64>,
    /// The sentence for people.
    pub message: String,
}

impl Found {
    /// More than a note.
    pub fn alarms(&self) -> bool {
        self.severity >= Severity::Warning.number()
    }
}

/// What the engine says of requests under the configuration of a case, in the order of its reports.
pub fn judge(case: &Case, requests: &[Request], dialect: Dialect) -> Vec<Found> {
    let out = run(case, requests, |request| body(case, request, dialect));
    found(case, &out)
}

/// All that the engine gives out for requests, each made into bytes by `bytes`.
pub fn run(case: &Case, requests: &[Request], bytes: impl Fn(&Request) -> bytes::Bytes) -> Output {
    let source = Source::file(case.id.as_str(), config(case));
    let (settings, _) =
        config::load_for(Purpose::Replay, &[source], &[], &|_| None, Timestamp::ZERO)
            .unwrap_or_else(|report| panic!("{}: {}", case.id, report.render(false)));
    let mut reader = Reader::new(Arc::new(settings.steps));
    let mut engine = Engine::new(settings.engine);
    let mut out = Output::default();
    let mut now = Timestamp::ZERO;
    for request in requests {
        let reading = reader.read(bytes(request)).unwrap();
        let latest = request.spans.iter().map(|span| span.end).max();
        let ms = BASE_MS + request.received.or(latest).unwrap_or_default();
        now = now.max(Timestamp::from_nanos(
            u64::try_from(ms).unwrap() * 1_000_000,
        ));
        if request.received.is_some() {
            engine.arrive(reading, now, &mut out);
        } else {
            engine.ingest(reading, now, &mut out);
            engine.advance(now, &mut out);
        }
    }
    engine.drain(now, &mut out);
    out
}

/// The findings in what the engine gave out, mapped back to the case.
pub fn found(case: &Case, out: &Output) -> Vec<Found> {
    let prefix = id(&[&case.id]) & PREFIX;
    let step = |span: agent_sentinel::model::SpanId| {
        let span = u64::from_str_radix(&span.to_string(), 16).unwrap();
        if span >> 32 & PREFIX == prefix {
            i64::try_from(span & 0x3fff_ffff).unwrap() - 1
        } else {
            -1
        }
    };
    out.reports
        .iter()
        .map(|report| Found {
            anomaly: report.finding.anomaly.name(),
            step: report
                .finding
                .judged()
                .map_or(-1, |member| step(member.span)),
            severity: report.severity.number(),
            reason: report.finding.reason,
            members: report
                .finding
                .members
                .iter()
                .map(|m| step(m.span))
                .collect(),
            message: report.finding.message.clone(),
        })
        .collect()
}

/// What a shape of a case gives in the GenAI conventions.
pub fn play(case: &Case, shape: Shape) -> Vec<Found> {
    judge(case, &requests(case, shape), Dialect::GenAi)
}

/// What is wrong with findings: expected ones that did not come, and alarms that must not.
pub fn wrong(case: &Case, found: &[Found]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut fine: HashSet<&str> = case.also_ok.iter().map(String::as_str).collect();
    for expected in &case.expect {
        let mut types: Vec<&str> = expected.any_of.iter().map(String::as_str).collect();
        types.push(&expected.anomaly);
        let [from, to] = expected.window;
        let hit = found
            .iter()
            .any(|f| types.contains(&f.anomaly) && (from..=to).contains(&f.step));
        if !hit {
            wrong.push(format!("missed {types:?} in steps {from} to {to}"));
        }
        fine.extend(types);
    }
    for f in found {
        let forbidden = f.anomaly != "*" && case.must_not.iter().any(|t| t == f.anomaly);
        if forbidden || !fine.contains(f.anomaly) {
            wrong.push(format!(
                "false alarm {} at step {}: {}",
                f.anomaly, f.step, f.message
            ));
        }
    }
    if case.max_alerts.is_some_and(|max| found.len() > max) {
        wrong.push(format!("{} alerts", found.len()));
    }
    wrong
}
