//! One finding of every type as a record and as an event, as people and scripts get them.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![expect(
    clippy::disallowed_methods,
    reason = "a test keeps its files and starts the program itself"
)]

#[path = "support/field.rs"]
mod field;

use std::path::Path;
use std::process::Command;

use agent_sentinel::model::AnomalyType;
use field::{Case, Dialect, Shape};
use serde_json::{Map, Value, json};

/// What the binary prints for a case, and the spans it sends on, as JSON.
fn replay(case: &Case) -> (Vec<Value>, Vec<Value>) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    std::fs::write(path("config.yaml"), field::config(case)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_agent-sentinel"));
    command.args([
        "replay",
        "--format",
        "json",
        "--config",
        &path("config.yaml"),
    ]);
    command.args(["--annotated", &path("out.jsonl")]);
    for (at, request) in field::requests(case, Shape::Plain).iter().enumerate() {
        let name = path(&format!("{at:03}.pb"));
        std::fs::write(&name, field::body(case, request, Dialect::GenAi)).unwrap();
        command.arg(name);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let lines = |text: &str| {
        text.lines()
            .map(|l| serde_json::from_str(l).unwrap())
            .collect()
    };
    let records = lines(std::str::from_utf8(&output.stdout).unwrap());
    let sent = std::fs::read_to_string(Path::new(&path("out.jsonl"))).unwrap();
    (records, lines(&sent))
}

/// All events of ours on spans, as plain objects.
fn events(requests: &[Value]) -> Vec<Value> {
    let mut found = Vec::new();
    let each = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    for request in requests {
        for resource in each(request, "resourceSpans") {
            for scope in each(&resource, "scopeSpans") {
                for span in each(&scope, "spans") {
                    found.extend(each(&span, "events").iter().map(plain));
                }
            }
        }
    }
    found
}

fn plain(event: &Value) -> Value {
    let attributes = event["attributes"].as_array().cloned().unwrap_or_default();
    assert!(attributes.len() <= 16, "{event}");
    let mut all = Map::new();
    for attribute in attributes {
        let key = attribute["key"].as_str().unwrap_or_default().to_owned();
        let value = attribute["value"]
            .as_object()
            .and_then(|v| v.values().next());
        let known = all.insert(key, value.cloned().unwrap_or_default());
        assert_eq!(known, None, "a key twice: {event}");
    }
    json!({ "name": event["name"], "timeUnixNano": event["timeUnixNano"], "attributes": all })
}

/// A run of three calls that goes over a budget: at its second call of money, at its third of time.
fn over_budget(cases: &[Case], anomaly: AnomalyType) -> Option<Case> {
    let healthy = cases.iter().find(|case| case.id == "quiet-pv-ci-checks");
    let mut case = healthy?.clone();
    match anomaly {
        AnomalyType::BudgetCost => {
            case.policy.budget.cost_usd = Some(0.5);
            let calls = case.steps.iter_mut().filter(|step| step.tool.is_some());
            calls.for_each(|step| step.cost_usd = Some(0.3));
        }
        AnomalyType::BudgetTime => case.policy.budget.wall_ms = Some(60_000),
        _ => return None,
    }
    Some(case)
}

#[test]
fn one_finding_of_every_type() {
    let cases = field::load("cases");
    for anomaly in AnomalyType::ALL {
        let name = anomaly.name();
        // No case goes over a budget of money, or of time.
        let over_budget = over_budget(&cases, anomaly);
        let expects = |case: &&Case| case.expect.iter().any(|e| e.anomaly == name);
        let (record, requests) = cases
            .iter()
            .filter(expects)
            .chain(&over_budget)
            .chain(&cases)
            .find_map(|case| {
                let (records, sent) = replay(case);
                let of_type = |record: &Value| record["type"] == name;
                Some((records.into_iter().find(of_type)?, sent))
            })
            .unwrap_or_else(|| panic!("no case shows {name}"));
        let event = events(&requests)
            .into_iter()
            .find(|event| event["attributes"]["sentinel.anomaly.type"] == name)
            .unwrap_or_else(|| panic!("no event of {name}"));
        let shown = json!({ "record": record, "event": event });
        let shown = serde_json::to_string_pretty(&shown).unwrap();
        insta::assert_snapshot!(name, shown);
    }
}
