//! `replay` as people and scripts see it, by the real binary.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const RUNS: &str = "src/cli/demo/runs.jsonl";

fn command(columns: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agent-sentinel"));
    command
        .arg("replay")
        .args(arguments)
        .env("COLUMNS", columns)
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> Output {
    command("100", arguments).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Text of a run that ended as expected.
fn text(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert_eq!(err(&output), "");
    out(&output)
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    agent_sentinel::runtime::files::replace(&path, text.as_bytes()).unwrap();
    path
}

/// One tool call of a recording.
struct Call<'a> {
    tool: &'a str,
    arguments: &'a str,
    result: &'a str,
    agent: &'a str,
}

/// A run of calls, a second apart, as one OTLP/JSON line; span ids count from 1.
fn recorded(trace: u8, session: &str, service: &str, calls: &[Call<'_>]) -> String {
    let value = |text: &str| serde_json::json!({ "stringValue": text });
    let spans: Vec<serde_json::Value> = calls
        .iter()
        .enumerate()
        .map(|(at, call)| {
            let start = (at as u64 + 1) * 1_000_000_000;
            let keys = [
                ("gen_ai.operation.name", "execute_tool"),
                ("gen_ai.conversation.id", session),
                ("gen_ai.agent.name", call.agent),
                ("gen_ai.tool.name", call.tool),
                ("gen_ai.tool.call.arguments", call.arguments),
                ("gen_ai.tool.call.result", call.result),
            ];
            let attributes: Vec<_> = keys
                .iter()
                .filter(|(_, text)| !text.is_empty())
                .map(|(key, text)| serde_json::json!({"key": key, "value": value(text)}))
                .collect();
            serde_json::json!({
                "traceId": format!("{trace:032x}"),
                "spanId": format!("{trace:02x}{:014x}", at + 1),
                "name": "execute_tool",
                "startTimeUnixNano": start.to_string(),
                "endTimeUnixNano": (start + 500_000_000).to_string(),
                "attributes": attributes,
            })
        })
        .collect();
    serde_json::json!({"resourceSpans": [{
        "resource": {"attributes": [{"key": "service.name", "value": value(service)}]},
        "scopeSpans": [{"scope": {"name": "test"}, "spans": spans}],
    }]})
    .to_string()
}

fn call<'a>(tool: &'a str, arguments: &'a str, result: &'a str) -> Call<'a> {
    Call {
        tool,
        arguments,
        result,
        agent: "coder",
    }
}

/// 230 different looks, four equal searches in the midst of them.
fn long_run() -> String {
    let texts: Vec<(String, String)> = (0..230)
        .map(|n| {
            (
                format!("{{\"path\": \"src/file_{n}.rs\"}}"),
                format!("pub fn number_{n}() -> usize {{ {n} }}"),
            )
        })
        .collect();
    let tools = ["read_file", "grep", "list_files"];
    let mut calls: Vec<Call<'_>> = texts
        .iter()
        .zip(tools.iter().cycle())
        .map(|((arguments, result), tool)| call(tool, arguments, result))
        .collect();
    for _ in 0..4 {
        calls.insert(
            120,
            call("search_docs", "{\"query\": \"retry\"}", "3 pages: a, b, c"),
        );
    }
    recorded(7, "long", "shop", &calls)
}

#[test]
fn a_timeline_marks_the_pattern_without_colours() {
    let shown = text(&[RUNS]);
    assert!(!shown.contains('\u{1b}'));
    insta::assert_snapshot!(shown);
}

#[test]
fn a_narrow_terminal_gets_lines_that_fit() {
    let output = command("44", &[RUNS]).output().unwrap();
    let shown = out(&output);
    for line in shown
        .lines()
        .filter(|line| !line.trim_start().starts_with("- {type"))
    {
        assert!(line.chars().count() <= 44, "{line}");
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn everything_fits_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let many = many(folder.path());
    let many = many.to_str().unwrap();
    for columns in ["60", "80", "100"] {
        for arguments in [
            &[many][..],
            &["--summary", many],
            &["--baseline", "same3", many],
            &["--explain", "0400000000000003", many],
            &["--compare", "/dev/null", many],
        ] {
            let shown = out(&command(columns, arguments).output().unwrap());
            // What is to be pasted is never wrapped.
            let lines = shown.lines().filter(|line| !line.contains("- {type"));
            for line in lines {
                let wide = line.chars().count();
                assert!(
                    wide <= columns.parse().unwrap(),
                    "{arguments:?} {columns}: {line}"
                );
            }
        }
    }
}

#[test]
fn a_terminal_gets_the_same_in_colour_unless_told_not_to() {
    let plain = text(&[RUNS]);
    let coloured = command("100", &[RUNS])
        .env("CLICOLOR_FORCE", "1")
        .env_remove("NO_COLOR")
        .output()
        .unwrap();
    let coloured = out(&coloured);
    assert!(coloured.contains("\u{1b}[4m"), "the pattern is underlined");
    let stripped = anstream::adapter::strip_str(&coloured).to_string();
    assert_eq!(stripped, plain);
    let told = command("100", &[RUNS])
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    assert!(!out(&told).contains('\u{1b}'));
}

#[test]
fn long_runs_are_folded_around_the_finding() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "long.jsonl", &long_run());
    insta::assert_snapshot!(text(&[path.to_str().unwrap()]));
}

#[test]
fn strangers_names_cannot_touch_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let tool = "rm\u{1b}[2J\u{202e}txt\r\n\u{9b}31m";
    let hostile: Vec<Call<'_>> = (0..4)
        .map(|_| Call {
            tool,
            arguments: "{\"a\": 1}",
            result: "\u{1b}]0;owned\u{7} the same answer",
            agent: "eve\u{200b}\u{1b}[31m",
        })
        .collect();
    let line = recorded(9, "s\u{1b}[5m\u{2066}\n", "svc\u{7}\u{1b}c", &hostile);
    let path = write(folder.path(), "hostile.jsonl", &line);
    let path = path.to_str().unwrap();
    let old = write(folder.path(), "old.jsonl", "");
    let old = old.to_str().unwrap();
    for arguments in [
        &[path][..],
        &["--summary", path],
        &["--explain", "0900000000000003", path],
        &["--baseline", "same3", path],
        &["--compare", old, path],
    ] {
        let shown = text(arguments);
        let bad = shown.chars().find(|c| {
            (c.is_control() && *c != '\n')
                || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        });
        assert_eq!(bad, None, "{arguments:?}:\n{shown}");
    }
    let shown = "rm\\x1b[2J\\u{202e}txt\\r\\n\\u{9b}31m";
    assert!(text(&[path]).contains(shown));
    // Records hold nothing of the kind either, and say of names what the timeline says; ids are exact.
    let records = out(&run(&["--format", "json", "--sessions", path]));
    let raw = |c: char| c != '\n' && agent_sentinel::model::is_unseen(c);
    assert_eq!(records.chars().find(|c| raw(*c)), None, "{records}");
    let first: serde_json::Value = serde_json::from_str(records.lines().next().unwrap()).unwrap();
    assert_eq!(first["tool"], shown);
    assert_eq!(first["agent"], "eve\\u{200b}\\x1b[31m");
    assert!(first["message"].as_str().unwrap().contains(shown));
    assert_eq!(first["session"], "s\u{1b}[5m\u{2066}\n");
}

/// A second service without content, so that something is not assessed.
fn many(folder: &Path) -> PathBuf {
    let mut lines = agent_sentinel::runtime::files::read_text(Path::new(RUNS), 1 << 20).unwrap();
    let blind: Vec<Call<'_>> = (0..3).map(|_| call("lookup", "", "")).collect();
    writeln!(lines, "{}", recorded(3, "blind", "kiosk", &blind)).unwrap();
    let failing: Vec<Call<'_>> = (0..7)
        .map(|_| {
            call(
                "lookup",
                "{\"id\": 4}",
                "{\"rows\": [1, 2, 3], \"more\": false}",
            )
        })
        .collect();
    writeln!(lines, "{}", recorded(4, "busy", "kiosk", &failing)).unwrap();
    write(folder, "many.jsonl", &lines)
}

#[test]
fn a_summary_counts_by_service_agent_and_type() {
    let folder = tempfile::tempdir().unwrap();
    let path = many(folder.path());
    insta::assert_snapshot!(text(&["--summary", path.to_str().unwrap()]));
}

#[test]
fn a_baseline_stands_beside_ours() {
    let folder = tempfile::tempdir().unwrap();
    let path = many(folder.path());
    insta::assert_snapshot!(text(&["--baseline", "same3", path.to_str().unwrap()]));
}

#[test]
fn a_span_is_explained_where_it_fired_and_where_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = many(folder.path());
    let path = path.to_str().unwrap();
    for (name, span) in [
        ("fired", "0400000000000003"),
        ("kept", "0400000000000004"),
        ("not_yet", "0400000000000002"),
        ("blind", "0300000000000003"),
    ] {
        insta::assert_snapshot!(format!("explain_{name}"), text(&["--explain", span, path]));
    }
}

#[test]
fn a_prefix_must_name_one_span() {
    let folder = tempfile::tempdir().unwrap();
    let path = many(folder.path());
    let path = path.to_str().unwrap();
    for (span, what) in [
        ("0400", "7 spans begin so, write more digits: "),
        ("ffffffff", "no step that was read has such a span id"),
        ("04", "7 spans begin so, write more digits: "),
        ("0", "spans begin so, write more digits: "),
        ("04000000000000031", "16 hex digits"),
        ("", "16 hex digits"),
        ("wxyz", "16 hex digits"),
    ] {
        let output = run(&["--explain", span, path]);
        assert_eq!(output.status.code(), Some(64), "{span}");
        assert!(err(&output).contains(what), "{span}: {}", err(&output));
        assert_eq!(out(&output), "");
    }
    assert!(
        text(&[
            "--explain",
            "04000000000000 03".replace(' ', "").as_str(),
            path
        ])
        .contains("stuck")
    );
}

#[test]
fn an_earlier_output_is_compared_and_only_what_is_new_fails() {
    let folder = tempfile::tempdir().unwrap();
    let path = many(folder.path());
    let path = path.to_str().unwrap();
    let before = text(&["--format", "json", path]);
    let same = write(folder.path(), "same.jsonl", &before);
    let same = same.to_str().unwrap();
    let output = run(&["--compare", same, "--fail-on", "info", path]);
    assert_eq!(
        output.status.code(),
        Some(0),
        "nothing is new: {}",
        out(&output)
    );
    // One finding less, one more, one elsewhere.
    let mut lines: Vec<String> = before.lines().map(str::to_owned).collect();
    let dropped = lines.iter().position(|l| l.contains("ping_pong")).unwrap();
    lines.remove(dropped);
    let stuck = lines
        .iter()
        .position(|l| l.contains("docs-search"))
        .unwrap();
    let mut moved: serde_json::Value = serde_json::from_str(&lines[stuck]).unwrap();
    moved["step"] = 3.into();
    moved["span_id"] = "00000000000000aa".into();
    lines[stuck] = moved.to_string();
    moved["session"] = "no longer there".into();
    lines.push(moved.to_string());
    let old = write(folder.path(), "old.jsonl", &lines.join("\n"));
    let old = old.to_str().unwrap();
    let output = run(&["--compare", old, "--fail-on", "warning", path]);
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(out(&output).replace(old, "OLD"));
    let output = run(&["--compare", old, "--fail-on", "error", path]);
    assert_eq!(output.status.code(), Some(0), "the new one is a warning");
    let json = text(&["--format", "json", "--compare", old, path]);
    let changes: Vec<serde_json::Value> = json
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|line: &serde_json::Value| line["record"] == "change")
        .collect();
    let kinds: Vec<&str> = changes
        .iter()
        .map(|c| c["change"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["new", "gone", "moved"]);
    assert_eq!(changes[2]["from_step"], 3);
}

/// Four equal searches, in a run of some trace, session and service.
fn searches(trace: u8, session: &str, before: usize) -> String {
    let others: Vec<String> = (0..before).map(|n| format!("{{\"n\": {n}}}")).collect();
    let mut calls: Vec<Call<'_>> = others
        .iter()
        .map(|arguments| call("open", arguments, arguments))
        .collect();
    for _ in 0..4 {
        calls.push(call("search", "{\"q\": 1}", "3 pages: a, b, c"));
    }
    recorded(trace, session, "shop", &calls)
}

/// Yesterday's and today's test run: other traces, other conversations, the same findings.
#[test]
fn the_same_runs_recorded_again_are_compared_by_what_they_hold() {
    let folder = tempfile::tempdir().unwrap();
    let yesterday = [searches(1, "", 0), searches(2, "monday", 2)].join("\n");
    let yesterday = write(folder.path(), "yesterday.jsonl", &yesterday);
    let before = text(&[
        "--format",
        "json",
        "--sessions",
        yesterday.to_str().unwrap(),
    ]);
    let old = write(folder.path(), "old.jsonl", &before);
    let old = old.to_str().unwrap();
    let compared = |today: &[String], code: i32| {
        let today = write(folder.path(), "today.jsonl", &today.join("\n"));
        let today = today.to_str().unwrap();
        let compare = &["--compare", old, "--fail-on", "info", today];
        let output = command("160", compare).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", out(&output));
        out(&output).replace(old, "OLD")
    };
    let same = compared(&[searches(11, "", 0), searches(12, "tuesday", 2)], 0);
    assert!(
        same.contains("0 new, 0 gone, 0 moved, 2 as before (2 of them in sessions with other ids)"),
        "{same}"
    );
    let kept = compared(&[searches(11, "", 0), searches(12, "monday", 2)], 0);
    assert!(kept.contains("2 as before (1 of them"), "{kept}");
    let differs = compared(
        &[
            searches(11, "", 1),
            searches(12, "tuesday", 2),
            searches(13, "wednesday", 2),
        ],
        1,
    );
    insta::assert_snapshot!(differs);
}

/// A gate cannot be green because nothing could be seen.
#[test]
fn what_could_not_be_assessed_can_fail() {
    let folder = tempfile::tempdir().unwrap();
    let many = many(folder.path());
    let many = many.to_str().unwrap();
    let output = run(&["--fail-on-blind", many]);
    assert_eq!(output.status.code(), Some(1));
    let said = err(&output);
    assert!(
        said.starts_with(
            "--fail-on-blind: in 1 of 7 sessions not assessed (no arguments, no results): "
        ),
        "{said}"
    );
    // The demo's runs hold all content; what they lack is no content.
    for (arguments, code) in [
        (&["--fail-on-blind", RUNS][..], 0),
        (&["--fail-on-blind=scope_escape", RUNS], 1),
        (&["--fail-on-blind=stuck,loop", RUNS], 0),
        (&["--fail-on-blind=stuck", many], 1),
        (&["--fail-on-blind=stuck", "--format", "json", many], 1),
        (&["--fail-on-blind=budget_cost", RUNS], 64),
        (&["--fail-on-blind=stick", RUNS], 64),
        (&["--fail-on-blind", "/dev/null"], 1),
    ] {
        let output = run(arguments);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?}: {}",
            err(&output)
        );
    }
}

#[test]
fn what_is_ignored_is_shown_counted_and_does_not_fail() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "in.jsonl", &searches(1, "known", 0));
    let path = path.to_str().unwrap();
    let found = text(&["--format", "json", path]);
    let found: serde_json::Value = serde_json::from_str(found.lines().next().unwrap()).unwrap();
    let fingerprint = found["fingerprint"].as_str().unwrap();
    let config = format!(
        "yaml:processors: {{anomaly: {{ignore: [{{type: loop, fingerprint: '0000000000000001'}}, \
         {{type: stuck, fingerprint: '{fingerprint}', reason: known poller}}]}}}}"
    );
    let output = run(&["--config", &config, "--fail-on", "info", path]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    insta::assert_snapshot!(out(&output));
    assert_eq!(text(&["--config", &config, "--format", "json", path]), "");
}

/// A finding leads to the trace wherever it is shown, where a page for that is configured.
#[test]
fn a_finding_leads_to_its_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "run.jsonl", &long_run());
    let path = path.to_str().unwrap();
    let config = "yaml:processors: {anomaly: {annotate: {trace_url: 'https://j.example/t/{trace_id}?s={span_id}'}}}";
    let shown = text(&["--config", config, path]);
    assert!(shown.contains("https://j.example/t/"), "{shown}");
    let records = text(&["--config", config, "--format", "json", path]);
    let record: serde_json::Value = serde_json::from_str(records.lines().next().unwrap()).unwrap();
    let (trace, span) = (&record["trace_id"], &record["span_id"]);
    let url = format!(
        "https://j.example/t/{}?s={}",
        trace.as_str().unwrap(),
        span.as_str().unwrap()
    );
    assert_eq!(record["trace_url"], url);
    assert!(!text(&["--format", "json", path]).contains("trace_url"));
}

/// One episode is one finding, however often it is raised.
#[test]
fn a_raised_episode_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let calls: Vec<Call<'_>> = (0..13)
        .map(|_| call("search", "{\"q\": 1}", "3 pages: a, b, c"))
        .collect();
    let path = write(
        folder.path(),
        "in.jsonl",
        &recorded(1, "long", "shop", &calls),
    );
    let path = path.to_str().unwrap();
    let shown = text(&[path]);
    let head = shown.lines().next().unwrap();
    assert_eq!(head, "long  shop  13 steps  1 finding, raised 2 times");
    let total =
        "1 session (1 not wholly assessed), 1 finding in 1 of them (1 error), raised 2 times";
    assert!(shown.contains(total), "{shown}");
    let summary = text(&["--summary", path]);
    assert!(
        summary.contains("1 session: 1 with findings, 0 without"),
        "{summary}"
    );
    assert_eq!(
        text(&["--format", "json", path]).lines().count(),
        3,
        "records are as they were"
    );
}

/// What was found before the run was known to belong to a conversation is counted with the conversation.
#[test]
fn a_run_that_joins_late_is_one_session() {
    let folder = tempfile::tempdir().unwrap();
    let late = searches(1, "late", 4);
    let mut early: serde_json::Value = serde_json::from_str(&searches(1, "", 0)).unwrap();
    let spans = early["resourceSpans"][0]["scopeSpans"][0]["spans"]
        .as_array_mut()
        .unwrap();
    for (at, span) in spans.iter_mut().enumerate() {
        span["spanId"] = format!("aa{at:014x}").into();
    }
    let path = write(folder.path(), "in.jsonl", &format!("{early}\n{late}"));
    let shown = text(&["--summary", path.to_str().unwrap()]);
    assert!(
        shown.contains("1 session: 1 with findings, 0 without"),
        "{shown}"
    );
}

#[test]
fn spans_on_standard_output_leave_the_words_to_the_other() {
    let output = run(&["--annotated", "-", RUNS]);
    assert_eq!(output.status.code(), Some(0));
    for line in out(&output).lines() {
        let request: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(request["resourceSpans"].is_array(), "{line}");
    }
    assert!(out(&output).lines().count() > 1);
    assert_eq!(err(&output), text(&[RUNS]));
}

#[test]
fn what_is_compared_with_is_an_earlier_output_and_stays_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = many(folder.path());
    let path = path.to_str().unwrap();
    // The recording in place of what was found in it.
    let output = run(&["--compare", path, path]);
    assert_eq!(output.status.code(), Some(65), "{}", err(&output));
    assert!(
        err(&output).contains("no record of replay"),
        "{}",
        err(&output)
    );
    // An earlier run may have found nothing.
    let nothing = write(folder.path(), "nothing.jsonl", "");
    assert_eq!(
        run(&["--compare", nothing.to_str().unwrap(), path])
            .status
            .code(),
        Some(0)
    );
    let before = text(&["--format", "json", "--sessions", path]);
    let old = write(folder.path(), "old.jsonl", &before);
    let name = old.to_str().unwrap();
    text(&["--compare", name, path]);
    let output = run(&["--compare", name, "--annotated", name, path]);
    assert_eq!(output.status.code(), Some(64), "{}", err(&output));
    assert!(
        err(&output).contains("the file to compare with"),
        "{}",
        err(&output)
    );
    let left = agent_sentinel::runtime::files::read_text(&old, 1 << 20).unwrap();
    assert_eq!(left, before);
}

#[test]
fn exit_codes() {
    let folder = tempfile::tempdir().unwrap();
    let path = many(folder.path());
    let path = path.to_str().unwrap();
    let broken = write(folder.path(), "broken.jsonl", "{\"resourceSpans\": [}\n");
    let broken = broken.to_str().unwrap();
    let no_record = write(folder.path(), "no.jsonl", "nonsense\n");
    let no_record = no_record.to_str().unwrap();
    let bad = "yaml:processors: {anomaly: {detectors: {stuck: {treshold: 4}}}}";
    for (arguments, code) in [
        (&[path][..], 0),
        (&["--fail-on", "critical", path], 0),
        (&["--fail-on", "error", path], 1),
        (&["--summary", "--fail-on", "warning", path], 1),
        (&["--summary", "--format", "json", path], 64),
        (
            &["--explain", "0400000000000003", "--format", "json", path],
            64,
        ),
        (&["--baseline", "same3", "--format", "json", path], 64),
        (&["--baseline", "same4", path], 64),
        (&["--compare", "/no/such/file", path], 64),
        (&["--compare", no_record, path], 65),
        (&[broken], 65),
        (&["--fail-on", "info", broken, path], 65),
        (&["--config", bad, path], 78),
    ] {
        let output = run(arguments);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?}: {}",
            err(&output)
        );
    }
}

#[test]
fn an_input_without_spans_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [
        ("empty.jsonl", ""),
        ("none.json", "{\"resourceSpans\": []}"),
    ] {
        let path = write(folder.path(), name, content);
        let path = path.to_str().unwrap();
        assert_eq!(text(&[path]), "no spans were read: nothing to judge\n");
        assert_eq!(text(&["--summary", path]), text(&[path]));
        assert_eq!(text(&["--format", "json", path]), "");
    }
    let plain = r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0102030405060708090a0b0c0d0e0f10",
        "spanId":"0102030405060708","name":"GET /","startTimeUnixNano":"1","endTimeUnixNano":"2"}]}]}]}"#;
    let path = write(folder.path(), "plain.json", plain);
    let said = text(&[path.to_str().unwrap()]);
    assert!(
        said.starts_with("1 span, none of them a step of an agent"),
        "{said}"
    );
}

#[test]
fn a_directory_is_named_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let output = run(&[path]);
    assert_eq!(output.status.code(), Some(65));
    assert_eq!(
        err(&output),
        format!("{path}: it is a directory; name the files in it\n")
    );
    let missing = format!("{path}/no.jsonl");
    let said = err(&run(&[&missing]));
    assert!(
        said.starts_with(&format!("{missing}: cannot open it: ")),
        "{said}"
    );
}

#[test]
fn the_help_names_everything() {
    let help = text(&["--help"]);
    for what in [
        "--summary",
        "--explain",
        "--compare",
        "--baseline",
        "same3",
        "--fail-on",
        "--fail-on-blind",
    ] {
        assert!(help.contains(what), "{what}");
    }
}
