//! The command line as people and scripts see it: what goes where, and which exit code.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::io::{Read, Write};
use std::process::{Command, Output, Stdio};

fn sentinel(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agent-sentinel"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> Output {
    sentinel(arguments).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

const GOOD: &str = "yaml:{receivers: {otlp: {}}, exporters: {debug: {}}, service: {pipelines: \
                    {traces: {receivers: [otlp], processors: [anomaly], exporters: [debug]}}}}";

#[test]
fn help_and_version_go_to_standard_output() {
    let help = run(&["--help"]);
    assert_eq!(help.status.code(), Some(0));
    assert!(help.stderr.is_empty());
    assert!(out(&help).contains("validate"));
    let version = run(&["--version"]);
    assert_eq!(
        out(&version).trim(),
        concat!("agent-sentinel ", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn wrong_use_is_64_and_says_what_to_write() {
    for arguments in [
        &[][..],
        &["run"],
        &["validate"],
        &["validate", "--confg", "x"],
        &["frobnicate"],
        &["replay"],
        &["--config", "https://example.org/c.yaml"],
        &["--config", GOOD, "--set", "a.b"],
    ] {
        let output = run(arguments);
        assert_eq!(
            output.status.code(),
            Some(64),
            "{arguments:?}: {}",
            err(&output)
        );
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?}");
    }
}

/// The three lines that are shown run as they are.
#[test]
fn the_configuration_in_the_message_is_valid() {
    let message = err(&run(&["run"]));
    let (_, minimal) = message.split_once("\n\n").unwrap();
    assert_eq!(minimal.trim().lines().count(), 3);
    let output = run(&["validate", "--config", &format!("yaml:{minimal}")]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
}

#[test]
fn validate_says_everything_and_ends_with_78() {
    let bad = run(&["validate", "--config", "tests/bad-config/wrong-types.yaml"]);
    assert_eq!(bad.status.code(), Some(78));
    assert!(bad.stdout.is_empty());
    let said = err(&bad);
    assert!(
        said.contains("tests/bad-config/wrong-types.yaml:4:15: "),
        "{said}"
    );
    assert!(!said.contains('\u{1b}'), "no colours in a pipe");
    assert!(said.trim_end().ends_with(" errors"), "{said}");

    let good = run(&["validate", "--config", GOOD]);
    assert_eq!(good.status.code(), Some(0));
    assert!(good.stderr.is_empty(), "{}", err(&good));
    assert!(out(&good).contains("traces: otlp -> anomaly -> debug"));
}

#[test]
fn warnings_pass_unless_denied() {
    let open = [
        "--set",
        "receivers.otlp.protocols.grpc.endpoint=0.0.0.0:4317",
    ];
    let passed = run(&["validate", "--config", GOOD, open[0], open[1]]);
    assert_eq!(passed.status.code(), Some(0));
    assert!(err(&passed).contains("can be reached from other hosts"));
    let denied = run(&[
        "validate",
        "--deny-warnings",
        "--config",
        GOOD,
        open[0],
        open[1],
    ]);
    assert_eq!(denied.status.code(), Some(78));
}

#[test]
fn migrate_prints_a_configuration_and_says_the_rest_elsewhere() {
    let good = run(&["migrate", "tests/fixtures/otelcol/quickstart.yaml"]);
    assert_eq!(good.status.code(), Some(0), "{}", err(&good));
    assert!(out(&good).starts_with("# Made of tests/fixtures/otelcol/quickstart.yaml"));
    assert!(err(&good).contains("quickstart.yaml:10: processor `batch`"));
    let nothing = run(&["migrate", "tests/fixtures/otelcol/nothing.yaml"]);
    assert_eq!(nothing.status.code(), Some(78));
    assert!(out(&nothing).is_empty());
    assert!(err(&nothing).contains("nothing.yaml:1: receiver `zipkin` stays behind"));
    let broken = run(&["migrate", "yaml:a: [b: c: d"]);
    assert_eq!(broken.status.code(), Some(78));
    assert!(err(&broken).starts_with("yaml::1:"), "{}", err(&broken));
    assert_eq!(run(&["migrate"]).status.code(), Some(64));
}

#[test]
fn configurations_that_cannot_be_read_are_78() {
    for config in [
        "/no/such/file.yaml",
        "env:AGENT_SENTINEL_SURELY_NOT_SET",
        "src",
    ] {
        let output = run(&["validate", "--config", config]);
        assert_eq!(output.status.code(), Some(78), "{config}");
        assert!(err(&output).starts_with("error: "), "{}", err(&output));
    }
}

#[test]
fn files_environment_and_standard_input() {
    let mut command = sentinel(&["print-config", "--config", "env:BASE", "--config", "-"]);
    command
        .env(
            "BASE",
            "exporters: {otlp: {endpoint: '${env:BACKEND}', headers: {a: '${env:TOKEN}'}}}",
        )
        .env("BACKEND", "jaeger:4317")
        .env("TOKEN", "hunter2")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin
        .write_all(b"exporters: {otlp: {timeout: 7s}}\n")
        .unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let printed = out(&output);
    assert_eq!(
        printed,
        "exporters:\n  otlp:\n    endpoint: jaeger:4317\n    headers:\n      a: \"***\"\n    timeout: \"7s\"\n"
    );
}

#[test]
fn detectors_lists_all_for_people_and_for_programs() {
    let table = out(&run(&["detectors"]));
    assert!(table.starts_with("type "), "{table}");
    assert!(!table.contains('\u{1b}'));
    let lines = out(&run(&["detectors", "--format", "json"]));
    let types: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(types.len(), 18);
    for one in types {
        let name = one["type"].as_str().unwrap();
        assert!(table.contains(name), "{name}");
    }
}

#[test]
fn the_table_of_detectors_fits_the_terminal() {
    for columns in ["60", "80", "100"] {
        let output = sentinel(&["detectors"])
            .env("COLUMNS", columns)
            .output()
            .unwrap();
        let widest = out(&output).lines().map(|line| line.chars().count()).max();
        assert!(
            widest <= columns.parse().ok(),
            "{columns}: {widest:?}\n{}",
            out(&output)
        );
    }
}

/// A file named plainly is the same as one behind `--config`.
#[test]
fn validate_takes_files_as_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        agent_sentinel::runtime::files::replace(&path, text.as_bytes()).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (_, text) = GOOD.split_once(':').unwrap();
    let base = write("base.yaml", text);
    let wrong = write(
        "site.yaml",
        "processors: {anomaly: {detectors: {stuck: {treshold: 4}}}}",
    );
    let good = run(&["validate", &base]);
    assert_eq!(good.status.code(), Some(0), "{}", err(&good));
    assert_eq!(out(&good), out(&run(&["validate", "--config", &base])));
    let bad = run(&["validate", &base, &wrong]);
    assert_eq!(bad.status.code(), Some(78));
    assert!(err(&bad).contains("site.yaml:1:"), "{}", err(&bad));
    let both = run(&["validate", "--config", &base, &wrong]);
    assert_eq!(
        both.status.code(),
        Some(64),
        "which goes first would be a guess"
    );
}

/// `agent-sentinel detectors | head -1` ends quietly.
#[test]
fn a_reader_that_has_had_enough_is_no_failure() {
    let mut child = sentinel(&["detectors"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{said}");
    assert_eq!(said, "");
}

#[test]
fn replay_never_writes_over_what_it_reads() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("recorded.jsonl");
    agent_sentinel::runtime::files::replace(&path, b"{}\n").unwrap();
    let other = directory.path().join(".").join("recorded.jsonl");
    let output = run(&[
        "replay",
        "--annotated",
        other.to_str().unwrap(),
        path.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(64), "{}", err(&output));
    assert!(err(&output).contains("is also an input"));
    let left = agent_sentinel::runtime::files::read_text(&path, 99).unwrap();
    assert_eq!(left, "{}\n");
}
