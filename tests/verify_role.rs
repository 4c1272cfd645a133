//! Tools that the user declares to verify, by name or glob: their outcome is what a claim stands on.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![expect(
    clippy::disallowed_methods,
    reason = "a test keeps its files and starts the program itself"
)]

#[path = "support/field.rs"]
mod field;
#[expect(dead_code, reason = "only single steps are taken from it here")]
#[path = "support/scripts.rs"]
mod scripts;

use std::process::Command;

use field::{Case, Dialect, Shape, Step};
use serde_json::{Value, json};

/// Reason and severity of what is said of a claim, and whether it could not be assessed, where `tools` are
/// declared.
fn judged(tools: &Value, steps: &[Step], claim: &str) -> (Option<(String, String)>, bool) {
    let last = Step {
        last: Some(claim.to_owned()),
        ..Step::default()
    };
    let mut steps = steps.to_vec();
    steps.push(last);
    for (at, step) in (1..).zip(&mut steps) {
        step.t_ms = at * 3_000;
    }
    let case: Case = scripts::silent("verify-role", steps);
    let mut config: Value = serde_json::from_str(&field::config(&case)).unwrap();
    config["processors"]["anomaly"]["tools"] = tools.clone();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("config.yaml"), config.to_string()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_agent-sentinel"));
    command.args(["replay", "--format", "json", "--sessions", "--config"]);
    command.arg(path("config.yaml"));
    for (at, request) in field::requests(&case, Shape::Plain).iter().enumerate() {
        let name = path(&format!("{at:03}.pb"));
        std::fs::write(&name, field::body(&case, request, Dialect::GenAi)).unwrap();
        command.arg(name);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let printed = String::from_utf8(output.stdout).unwrap();
    let records: Vec<Value> = printed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let found = records
        .iter()
        .find(|record| record["type"] == "premature_victory")
        .map(|record| (word(&record["reason"]), word(&record["severity"])));
    let blind = records
        .iter()
        .any(|record| !record["not_assessed"]["premature_victory"].is_null());
    (found, blind)
}

fn edit() -> Step {
    scripts::tool(
        "edit_file",
        r#"{"path":"src/price.py","old":"a","new":"b"}"#,
        "ok: 1 replacement",
    )
}

fn gate(exit_code: Option<i64>, result: &str) -> Step {
    let mut step = scripts::tool("acme_gate_run", r#"{"suite":"all"}"#, result);
    step.exit_code = exit_code;
    step.error = exit_code.is_some_and(|code| code != 0);
    step
}

const CHECKED: &str = "All tests pass.";
const DONE: &str = "Done. The price is fixed.";

/// What is said where every tool of the gate is declared to verify.
fn says(name: &str, steps: &[Step], claim: &str, want: &str) {
    let (found, blind) = judged(&json!({ "acme_gate_*": "verify" }), steps, claim);
    let got = match (found, blind) {
        (Some((reason, severity)), _) => format!("{reason} {severity}"),
        (None, true) => "not assessed".to_owned(),
        (None, false) => String::new(),
    };
    assert_eq!(got, want, "{name}");
}

#[test]
fn a_declared_verifier_that_passed_is_proof() {
    let closed = || gate(Some(0), "gate closed");
    says("by its exit code", &[edit(), closed()], CHECKED, "");
    says("the text says less", &[edit(), closed()], DONE, "");
    let printed = gate(None, "12 passed, 0 failed");
    says("by what it prints", &[edit(), printed], CHECKED, "");
    let open = gate(Some(1), "gate open");
    let again = [edit(), open, edit(), closed()];
    says("failed before", &again, CHECKED, "");
}

#[test]
fn a_declared_verifier_that_failed_speaks_against_the_claim() {
    let open = || gate(Some(1), "gate open");
    says("exit code", &[edit(), open()], CHECKED, "failed error");
    says("says less", &[edit(), open()], DONE, "failed warning");
    let printed = gate(None, "2 failed, 10 passed");
    says("printed", &[edit(), printed], CHECKED, "failed error");
}

#[test]
fn a_declared_verifier_that_shows_nothing_is_no_proof() {
    let none = gate(Some(0), "no tests ran in 0.01s");
    says("ran none", &[edit(), none], CHECKED, "zero_tests error");
    let before = [gate(Some(0), "gate closed"), edit()];
    says("before the edit", &before, CHECKED, "stale warning");
    says("not run", &[edit()], CHECKED, "invented error");
    let silent = gate(None, "gate was asked");
    says("says nothing", &[edit(), silent], CHECKED, "not assessed");
}

#[test]
fn an_exact_name_and_no_declaration() {
    let steps = [edit(), gate(Some(0), "gate closed")];
    let (exact, _) = judged(&json!({ "acme_gate_run": "verify" }), &steps, CHECKED);
    assert_eq!(exact, None);
    let (other, _) = judged(&json!({ "other_*": "verify" }), &steps, CHECKED);
    let (reason, severity) = other.unwrap();
    assert_eq!((&*reason, &*severity), ("invented", "error"));
}
