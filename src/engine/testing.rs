//! Steps by hand, for tests of the engine: a clock in milliseconds, names instead of hashes.

use bytes::Bytes;

use crate::model::{
    Action, AgentRun, Answer, Arguments, Claim, Finish, ModelCall, Name, Outcome, Requested, Role,
    Service, SpanId, Step, TextFacts, Timestamp, ToolCall, TraceId, Usage,
};
use crate::otlp::Malformed;
use crate::steps::Reading;

use super::{Engine, Output, Settings};

/// Milliseconds as a moment.
pub(crate) fn ms(at: u64) -> Timestamp {
    Timestamp::from_nanos(1_790_000_000_000_000_000 + at * 1_000_000)
}

pub(crate) fn trace(n: u8) -> TraceId {
    TraceId::from_slice(&[n; 16]).unwrap()
}

pub(crate) fn span(n: u32) -> SpanId {
    SpanId::from_slice(&(u64::from(n) | 1 << 40).to_be_bytes()).unwrap()
}

fn hash(text: &str) -> u64 {
    use std::hash::BuildHasher;
    foldhash::quality::FixedState::with_seed(7).hash_one(text)
}

/// A step without an action worth the name.
fn bare(trace_n: u8, span_n: u32, start: u64, end: u64, action: Action) -> Step {
    Step {
        index: 0,
        trace: trace(trace_n),
        span: span(span_n),
        parent: Some(span(9_999)),
        start: ms(start),
        end: ms(end),
        resource: 1,
        audience: 0,
        scope: 1,
        service: Service {
            namespace: Name::default(),
            name: "svc".into(),
        },
        agent: None,
        conversation: None,
        working_directory: None,
        already_marked: false,
        status_unset: true,
        usage: Usage::default(),
        action,
    }
}

/// A successful call that ends at `end` and took 10 ms.
pub(crate) fn call(trace_n: u8, span_n: u32, end: u64, key: &str, answer: &str) -> Step {
    let tool = ToolCall {
        tool: key.into(),
        call_id: None,
        key: Some(hash(key)),
        exact: Some(hash(key)),
        signature: None,
        answer: Answer {
            known: true,
            raw: hash(answer),
            digest: hash(answer),
            canonical: hash(answer),
            informs: true,
            ..Answer::default()
        },
        outcome: Outcome::Succeeded,
        role: Role::Read,
        effects: Default::default(),
        reach: Default::default(),
        identity: Default::default(),
        unknown_tool: false,
        sketch: [0; 32],
        arguments: Arguments::Valid,
        given: None,
        hints: Default::default(),
        truncated: false,
        unparsed: false,
        ignored: Default::default(),
        nameless: false,
        topics: None,
    };
    bare(
        trace_n,
        span_n,
        end - 10,
        end,
        Action::ToolCall(Box::new(tool)),
    )
}

/// A source edit by a tool of its own.
pub(crate) fn edit(trace_n: u8, span_n: u32, end: u64, key: &str) -> Step {
    let mut step = call(trace_n, span_n, end, key, "ok");
    if let Action::ToolCall(call) = &mut step.action {
        call.role = Role::Edit;
        call.effects.edits_source = true;
        call.effects.changes.unknown = true;
    }
    step
}

/// A test run that passes.
pub(crate) fn test_run(trace_n: u8, span_n: u32, start: u64, end: u64) -> Step {
    use crate::model::{CheckKind, Verdict, Verification};
    let mut step = call(trace_n, span_n, end, "pytest", "3 passed");
    step.start = ms(start);
    if let Action::ToolCall(call) = &mut step.action {
        call.role = Role::Verify;
        call.effects.verification = Some(Box::new(Verification {
            runner: "pytest".into(),
            cwd: None,
            kind: CheckKind::Tests,
            verdict: Verdict::Passed,
            passed: Some(3),
            failed: Some(0),
            masked: false,
            background: false,
            partial: false,
            aside: false,
        }));
    }
    step
}

fn text(words: &str, claim: Claim) -> TextFacts {
    TextFacts {
        hash: hash(words),
        chars: words.len() as u32,
        visible: !words.trim().is_empty(),
        meaningful: !words.trim().is_empty(),
        claim,
        words: words.split(' ').count() as u32,
        ..TextFacts::default()
    }
}

/// A model answer that asks for nothing.
pub(crate) fn answer(trace_n: u8, span_n: u32, end: u64, words: &str, claim: Claim) -> Step {
    let model = ModelCall {
        text: Some(text(words, claim)),
        finish: Finish::Stop,
        ..ModelCall::default()
    };
    bare(
        trace_n,
        span_n,
        end - 10,
        end,
        Action::ModelCall(Box::new(model)),
    )
}

/// A model answer that asks for a call of a tool in this role, by an id.
pub(crate) fn asking(trace_n: u8, span_n: u32, end: u64, call_id: u64, role: Role) -> Step {
    let mut step = answer(trace_n, span_n, end, "Let me see.", Claim::None);
    if let Action::ModelCall(model) = &mut step.action {
        model.finish = Finish::ToolCalls;
        model.requested.push(Requested {
            call_id: Some(call_id),
            tool: "run_it".into(),
            identity: Default::default(),
            key: None,
            arguments: Arguments::Valid,
            role,
            fit: Default::default(),
            breach: None,
            given: None,
            silent: false,
        });
    }
    step
}

/// The root: an agent's run, with its output.
pub(crate) fn root(
    trace_n: u8,
    span_n: u32,
    start: u64,
    end: u64,
    words: &str,
    claim: Claim,
) -> Step {
    let run = AgentRun {
        output: Some(text(words, claim)),
        ..AgentRun::default()
    };
    let mut step = bare(trace_n, span_n, start, end, Action::AgentRun(Box::new(run)));
    step.parent = None;
    step
}

/// A request of these steps; each is a span of its own.
pub(crate) fn reading(steps: &[Step]) -> Reading {
    let mut steps = steps.to_vec();
    for (index, step) in steps.iter_mut().enumerate() {
        step.index = index as u32;
    }
    Reading {
        body: Bytes::from(vec![0; 100 * steps.len()]),
        spans: steps.len() as u32,
        already_marked: steps.iter().filter(|step| step.already_marked).count() as u32,
        steps,
        told: Vec::new(),
        links: Vec::new(),
        malformed: Malformed::default(),
        resources: Vec::new(),
        coverage: Vec::new(),
        contents: Vec::new(),
        prompts: Vec::new(),
        sessions: Vec::new(),
    }
}

/// An engine with its clock and all that has come out of it.
pub(crate) struct Bench {
    pub(crate) engine: Engine,
    pub(crate) out: Output,
}

impl Bench {
    pub(crate) fn new(change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings::default();
        change(&mut settings);
        Self {
            engine: Engine::new(settings),
            out: Output::default(),
        }
    }

    /// Sends a request that arrives at `now`, then lets the timers run.
    pub(crate) fn send(&mut self, now: u64, steps: &[Step]) -> &mut Self {
        self.engine.ingest(reading(steps), ms(now), &mut self.out);
        self.engine.advance(ms(now), &mut self.out);
        self
    }

    pub(crate) fn advance(&mut self, now: u64) -> &mut Self {
        self.engine.advance(ms(now), &mut self.out);
        self
    }

    pub(crate) fn drain(&mut self, now: u64) -> &mut Self {
        self.engine.drain(ms(now), &mut self.out);
        self
    }

    /// What was reported: type, state, and the number of the judged span.
    pub(crate) fn reports(&self) -> Vec<String> {
        self.out
            .reports
            .iter()
            .map(|report| {
                let judged = report.finding.judged().unwrap().span;
                let number = u64::from_be_bytes(*judged.as_bytes()) & 0xff_ffff;
                format!(
                    "{} {} @{number}",
                    report.finding.anomaly,
                    report.state.name()
                )
            })
            .collect()
    }

    /// Spans of others that came out.
    pub(crate) fn released(&self) -> u32 {
        let releases = self.out.releases.iter();
        releases.filter(|r| !r.synthetic).map(|r| r.count).sum()
    }

    /// Spans of our own that came out.
    pub(crate) fn synthetic(&self) -> u32 {
        let releases = self.out.releases.iter();
        releases.filter(|r| r.synthetic).map(|r| r.count).sum()
    }

    pub(crate) fn patched(&self) -> usize {
        self.out
            .releases
            .iter()
            .map(|release| release.patches.len())
            .sum()
    }
}
