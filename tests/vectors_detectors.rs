//! The source systems' vectors against the detectors with `rules: source`: each firing at its step, each
//! silence kept, the source's cooldown played by the test.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::HashMap;
use std::time::Duration;

use agent_sentinel::detectors::{Judgement, Rules, Settings, Table};
use agent_sentinel::fingerprints::{agentbudget_digest, digest, exact};
use agent_sentinel::lanes::{
    At, Call, Lane, Ledger, More, Names, Order, Reply, RunFacts, RunOutcome, View,
};
use agent_sentinel::model::{
    Answer, Arguments, Claim, Failure, Finish, Name, Outcome, Role, SpanId, Targets, TextFacts,
    Timestamp, TraceId,
};
use agent_sentinel::texts;
use serde_json::{Value, json};

const CAPACITY: usize = 20_000;

/// The vectors of one file, and the settings that its configurations stand for.
fn check(text: &str, settings: impl Fn(&Value) -> Value) {
    let file: Value = serde_json::from_str(text).unwrap();
    let mut wrong = Vec::new();
    let cases = file["cases"].as_array().unwrap();
    for case in cases {
        let config = &case["config"];
        let settings: Settings = serde_json::from_value(settings(config)).unwrap();
        let cooldown = match file["system"].as_str() {
            Some(system) if system.contains("romptise") => {
                Duration::from_secs_f64(config["cooldown"].as_f64().unwrap_or(300.0))
            }
            _ => Duration::ZERO,
        };
        let got = Session::default().play(case, &Table::new(&settings, Rules::Source), cooldown);
        let want = expected(case);
        if got != want {
            wrong.push(format!(
                "{} ({}): want {want:?}, got {got:?}",
                case["id"], case["title"]
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} cases:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

fn expected(case: &Value) -> Vec<(usize, String)> {
    let name = |kind: &str| {
        match kind {
            "high_error_rate" => "error_rate",
            "direct_loop" => "failure_loop",
            "loop_detected" => "transition_repeat",
            other => other,
        }
        .to_owned()
    };
    let expect = case["expect"].as_array().unwrap();
    expect
        .iter()
        .map(|one| {
            (
                usize::try_from(one["at_step"].as_u64().unwrap()).unwrap(),
                name(one["type"].as_str().unwrap()),
            )
        })
        .collect()
}

#[derive(Default)]
struct Session {
    lane: Lane,
    run: RunFacts,
    ledger: Ledger,
    names: Names,
    arrival: u32,
}

impl Session {
    fn play(mut self, case: &Value, table: &Table, cooldown: Duration) -> Vec<(usize, String)> {
        let mut fired = Vec::new();
        let mut last: HashMap<&'static str, Timestamp> = HashMap::new();
        for (index, step) in case["steps"].as_array().unwrap().iter().enumerate() {
            let ms = step["t_ms"].as_f64().unwrap_or(0.0).max(0.0);
            let now = Timestamp::ZERO.plus(Duration::from_secs_f64(ms / 1000.0));
            let Some(at) = self.take(step, now) else {
                continue;
            };
            let view = View {
                at,
                lane: &self.lane,
                run: &self.run,
                ledger: &self.ledger,
                names: &self.names,
                reach: table.window_max(),
            };
            for (anomaly, judgement) in table.judge(&view) {
                let due = last
                    .get(anomaly.name())
                    .is_none_or(|last| now.since(*last) >= cooldown);
                if matches!(judgement, Judgement::Found(_)) && due {
                    last.insert(anomaly.name(), now);
                    fired.push((index, anomaly.name().to_owned()));
                }
            }
        }
        fired
    }

    fn order(&mut self) -> Order {
        self.arrival += 1;
        Order {
            arrival: self.arrival,
            ..Order::default()
        }
    }

    fn span(&self) -> SpanId {
        let mut bytes = [1; 8];
        bytes[..4].copy_from_slice(&self.arrival.to_be_bytes());
        SpanId::from_slice(&bytes).unwrap()
    }

    fn take(&mut self, step: &Value, now: Timestamp) -> Option<At> {
        if step.get("control").is_some() {
            return None;
        }
        let text = step.get("claim").or(step.get("response"));
        match text.and_then(Value::as_str) {
            Some(text) => Some(self.reply(text, step.get("claim").is_some(), now)),
            None => Some(self.call(step, now)),
        }
    }

    fn reply(&mut self, text: &str, of_run: bool, now: Timestamp) -> At {
        let order = self.order();
        let reply = Reply {
            order,
            trace: TraceId::from_slice(&[1; 16]).unwrap(),
            span: self.span(),
            parent: None,
            step: self.arrival,
            start: now,
            end: now,
            resource: 0,
            audience: 0,
            text: Some(TextFacts {
                claim: if of_run { Claim::Done } else { Claim::None },
                ..texts::read(text)
            }),
            reasoning: None,
            finish: Finish::Stop,
            asks_for_calls: false,
            failed: false,
            of_run,
            turn: 0,
        };
        self.lane.insert_reply(reply);
        self.ledger.add_reply(reply);
        At::Reply(self.lane.replies().len() - 1)
    }

    fn call(&mut self, step: &Value, now: Timestamp) -> At {
        let order = self.order();
        let tool = step["tool"].as_str().unwrap_or("call");
        let arguments = match (step["args_json"].as_str(), step.get("args")) {
            (Some(text), _) => text.to_owned(),
            (None, Some(arguments)) => arguments.to_string(),
            (None, None) if step.get("tool").is_some() => "{}".to_owned(),
            (None, None) => format!("{{\"i\":{}}}", self.arrival),
        };
        let failed = match step["exit_code"].as_i64() {
            Some(code) => code != 0,
            None => step["error"].as_bool().unwrap_or(false),
        };
        let outcome = match failed {
            true => Outcome::Failed(Failure {
                exit_code: step["exit_code"]
                    .as_i64()
                    .map(|code| i32::try_from(code).unwrap()),
                ..Failure::default()
            }),
            false => Outcome::Succeeded,
        };
        let answer = step["result"]
            .as_str()
            .map_or_else(Answer::default, |text| Answer {
                known: true,
                raw: digest::raw(text),
                canonical: agentbudget_digest(text),
                ..Answer::default()
            });
        let exact = exact(tool, &arguments);
        self.run.outcomes.push(RunOutcome {
            order,
            outcome,
            key: exact,
        });
        self.run.calls += 1;
        let call = Call {
            order,
            trace: TraceId::from_slice(&[1; 16]).unwrap(),
            span: self.span(),
            parent: None,
            scope: 0,
            audience: 0,
            call_id: None,
            step: self.arrival,
            start: now,
            end: now,
            tool: self.names.id(&Name::from(tool)),
            key: Some(exact),
            exact: Some(exact),
            answer,
            outcome,
            role: Role::Other,
            reads: Targets::default(),
            changes: Targets::default(),
            arguments: Arguments::Valid,
            asked_by: 0,
            turn: 0,
            poll: false,
            void: false,
            waits: false,
            lane_unknown: false,
            sketch: [0; 32],
            ignored: Default::default(),
            more: More::default(),
            fired: 0,
        };
        self.lane.insert_call(call, CAPACITY);
        At::Call(self.lane.calls().len() - 1)
    }
}

/// Settings with only these types on.
fn only(on: &Value) -> Value {
    let mut all = serde_json::Map::new();
    for anomaly in agent_sentinel::model::AnomalyType::ALL {
        let name = anomaly.name();
        let config = on.get(name).cloned().unwrap_or(json!({"enabled": false}));
        all.insert(name.to_owned(), config);
    }
    Value::Object(all)
}

fn number(config: &Value, key: &str, default: u64) -> u64 {
    config[key].as_u64().unwrap_or(default)
}

fn promptise(config: &Value) -> Value {
    only(&json!({
        "stuck": {"threshold": number(config, "stuck_threshold", 3)},
        "loop": {
            "window": number(config, "loop_window", 20),
            "min_repeats": number(config, "loop_min_repeats", 2),
        },
        "empty_response": {
            "threshold": number(config, "empty_threshold", 3),
            "max_chars": number(config, "empty_max_chars", 10),
        },
    }))
}

fn error_rate(config: &Value) -> Value {
    only(&json!({"error_rate": {
        "window": number(config, "error_window", 10),
        "threshold": config["error_rate_threshold"].as_f64().unwrap_or(0.5),
    }}))
}

fn agentbudget(config: &Value, neutralize: bool) -> Value {
    only(&json!({"transition_repeat": {
        "window": number(config, "loop_window", 9),
        "repeats": number(config, "loop_repeat_threshold", 3),
        "neutralize_volatile": neutralize,
    }}))
}

fn sentinel(config: &Value) -> Value {
    only(&json!({
        "failure_loop": {"threshold": number(config, "loop_threshold", 3)},
        "ping_pong": {},
    }))
}

#[test]
fn promptise_stuck() {
    check(
        include_str!("fixtures/vectors/promptise_stuck.json"),
        promptise,
    );
}

#[test]
fn promptise_loop() {
    check(
        include_str!("fixtures/vectors/promptise_loop.json"),
        promptise,
    );
}

#[test]
fn promptise_empty_response() {
    check(
        include_str!("fixtures/vectors/promptise_empty_response.json"),
        promptise,
    );
}

#[test]
fn promptise_high_error_rate() {
    check(
        include_str!("fixtures/vectors/promptise_high_error_rate.json"),
        error_rate,
    );
}

#[test]
fn agentbudget_loop_exact() {
    check(
        include_str!("fixtures/vectors/agentbudget_loop_exact.json"),
        |config| agentbudget(config, false),
    );
}

#[test]
fn agentbudget_loop_canonical() {
    check(
        include_str!("fixtures/vectors/agentbudget_loop_canonical.json"),
        |config| agentbudget(config, true),
    );
}

#[test]
fn sentinel_direct_loop() {
    check(
        include_str!("fixtures/vectors/sentinel_direct_loop.json"),
        sentinel,
    );
}

#[test]
fn sentinel_ping_pong() {
    check(
        include_str!("fixtures/vectors/sentinel_ping_pong.json"),
        sentinel,
    );
}

#[test]
fn sentinel_premature_victory() {
    check(
        include_str!("fixtures/vectors/sentinel_premature_victory.json"),
        |_| only(&json!({"premature_victory": {}})),
    );
}
