//! The documentation against what is: generated parts, examples, runbooks, links.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use agent_sentinel::detectors::Descriptor;
use agent_sentinel::model::AnomalyType;
use agent_sentinel::runtime::files;
use serde_json::{Value, json};

fn read(path: impl AsRef<Path>) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    files::read_text(&path, 1 << 20).unwrap_or_else(|error| panic!("{error}"))
}

fn sentinel(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_agent-sentinel"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// What stands under a heading, up to the next of the same or a higher level.
fn section<'t>(page: &'t str, heading: &str) -> &'t str {
    let from = page
        .find(&format!("\n{heading}\n"))
        .unwrap_or_else(|| panic!("no `{heading}`"));
    let body = page.get(from + heading.len() + 2..).unwrap();
    let level = heading.split(' ').next().unwrap().len();
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        let hashes = line.bytes().take_while(|b| *b == b'#').count();
        if (1..=level).contains(&hashes) {
            break;
        }
        at += line.len();
    }
    body.get(..at).unwrap()
}

/// The fenced blocks of one kind.
fn blocks(page: &str, kind: &str) -> Vec<String> {
    let fence = format!("\n```{kind}\n");
    let mut rest = page;
    let mut out = Vec::new();
    while let Some((_, after)) = rest.split_once(&fence) {
        let (block, after) = after.split_once("\n```").unwrap();
        out.push(block.to_owned());
        rest = after;
    }
    out
}

#[test]
fn every_type_has_its_section() {
    let page = read("docs/detectors.md");
    for descriptor in &Descriptor::ALL {
        let text = section(&page, &format!("### {}", descriptor.anomaly));
        let facts = descriptor.facts();
        assert!(
            text.contains(&facts),
            "{}: put in\n{facts}",
            descriptor.anomaly
        );
        for label in [
            "**Rule.**",
            "**Will not flag.**",
            "**Cannot see.**",
            "**Example.**",
            "**Tuning.**",
        ] {
            assert!(text.contains(label), "{}: {label}", descriptor.anomaly);
        }
    }
}

#[test]
fn every_type_is_measured_in_one_place() {
    let page = read("docs/measured.md");
    for anomaly in AnomalyType::ALL {
        assert!(page.contains(&format!("\n| {anomaly} | ")), "{anomaly}");
    }
}

/// One span of an example.
fn span(number: usize, attributes: &[(&str, Value)], failed: bool) -> Value {
    let start = (number as u64) * 1_000_000_000;
    let attributes: Vec<Value> = attributes
        .iter()
        .map(|(key, value)| json!({"key": key, "value": {"stringValue": value.as_str().map_or_else(|| value.to_string(), str::to_owned)}}))
        .collect();
    json!({
        "traceId": format!("{:032x}", 1), "spanId": format!("{number:016x}"), "name": "step",
        "startTimeUnixNano": start.to_string(), "endTimeUnixNano": (start + 500_000_000).to_string(),
        "attributes": attributes, "status": if failed { json!({"code": 2}) } else { json!({}) },
    })
}

/// An example as a request, its configuration, and the steps at which it says that something is found.
fn example(text: &str) -> (String, String, Vec<(String, String)>) {
    let mut detectors = "{}".to_owned();
    let mut spans = Vec::new();
    let mut marks = Vec::new();
    for line in text.lines() {
        if let Some(config) = line.strip_prefix("config: ") {
            detectors = config.to_owned();
            continue;
        }
        let number = spans.len() + 1;
        let (line, mark) = line
            .rsplit_once(" <- ")
            .map_or((line, None), |(l, m)| (l, Some(m)));
        if let Some(mark) = mark {
            marks.push((mark.to_owned(), format!("{number:016x}")));
        }
        let chat = ("gen_ai.operation.name", json!("chat"));
        if let Some(said) = line.strip_prefix("model:") {
            let message = json!([{"role": "assistant", "finish_reason": "stop",
                "parts": [{"type": "text", "content": said.trim()}]}]);
            let finish = ("gen_ai.response.finish_reasons", json!(["stop"]));
            spans.push(span(
                number,
                &[chat, ("gen_ai.output.messages", message), finish],
                false,
            ));
        } else if let Some(tools) = line.strip_prefix("tools: ") {
            let tools = tools
                .split(", ")
                .map(|name| json!({"type": "function", "name": name}));
            let tools: Value = tools.collect();
            spans.push(span(
                number,
                &[chat, ("gen_ai.tool.definitions", tools)],
                false,
            ));
        } else {
            let (call, result, failed) = match (line.split_once(" -> "), line.split_once(" !> ")) {
                (Some((call, result)), _) => (call, result, false),
                (None, Some((call, result))) => (call, result, true),
                (None, None) => panic!("no call: {line}"),
            };
            let (tool, arguments) = call.split_once(' ').unwrap();
            let mut attributes = vec![
                ("gen_ai.operation.name", json!("execute_tool")),
                ("gen_ai.tool.name", json!(tool)),
                ("gen_ai.tool.call.arguments", json!(arguments)),
                ("gen_ai.tool.call.result", json!(result)),
            ];
            if failed {
                attributes.push(("error.type", json!(result.split(':').next().unwrap())));
            }
            spans.push(span(number, &attributes, failed));
        }
    }
    let request = json!({"resourceSpans": [{
        "resource": {"attributes": [
            {"key": "service.name", "value": {"stringValue": "docs"}},
            {"key": "process.working_directory", "value": {"stringValue": "/srv/app"}},
        ]},
        "scopeSpans": [{"spans": spans}],
    }]});
    let config = format!("yaml:processors: {{anomaly: {{detectors: {detectors}}}}}");
    (request.to_string(), config, marks)
}

/// The types and spans of the findings that replay tells of a request.
fn told(folder: &Path, request: &str, config: &str, text: &str) -> Vec<(String, String)> {
    let path = folder.join("example.jsonl");
    files::replace(&path, request.as_bytes()).unwrap();
    let path = path.to_str().unwrap();
    let output = sentinel(&["replay", "--format", "json", "--config", config, path]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}\n{text}");
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|one| {
            let text = |key: &str| one[key].as_str().unwrap().to_owned();
            (text("type"), text("span_id"))
        })
        .collect()
}

/// What a runbook says mutes a rule does: the run it shows is told without it, and not with it, under no name.
#[test]
fn what_a_runbook_mutes_is_muted() {
    let folder = tempfile::tempdir().unwrap();
    let mut tried = 0;
    for anomaly in AnomalyType::ALL {
        let page = read(format!("docs/runbook/{anomaly}.md"));
        let mute = section(&page, "## How to mute");
        let Some(text) = blocks(mute, "timeline").pop() else {
            continue;
        };
        let (request, config, marks) = example(&text);
        assert_eq!(
            told(folder.path(), &request, &config, &text),
            marks,
            "{anomaly}"
        );
        assert!(
            marks.iter().all(|(name, _)| name == anomaly.name()),
            "{anomaly}"
        );
        let recipe = blocks(mute, "yaml").pop().unwrap();
        assert!(recipe.contains("detectors:"), "{anomaly}: {recipe}");
        let muted = format!("yaml:{recipe}");
        let left = told(folder.path(), &request, &muted, &text);
        let note = recipe.contains("severity: info");
        let expected = if note { marks } else { Vec::new() };
        assert_eq!(left, expected, "{anomaly}: {recipe}");
        tried += 1;
    }
    assert_eq!(
        tried,
        AnomalyType::ALL.len() - 2,
        "all but goal_drift and budget_cost"
    );
}

/// What the documentation shows is found, at the step that it says, and nothing else is.
#[test]
fn the_examples_are_true() {
    let page = read("docs/detectors.md");
    let folder = tempfile::tempdir().unwrap();
    let mut shown = BTreeSet::new();
    for text in blocks(&page, "timeline") {
        let (request, config, marks) = example(&text);
        let found = told(folder.path(), &request, &config, &text);
        assert_eq!(found, marks, "{text}");
        shown.extend(marks.into_iter().map(|(anomaly, _)| anomaly));
    }
    let without = ["goal_drift", "budget_cost"];
    for anomaly in AnomalyType::ALL
        .iter()
        .filter(|a| !without.contains(&a.name()))
    {
        assert!(shown.contains(anomaly.name()), "no example of {anomaly}");
    }
}

#[test]
fn every_type_has_a_runbook_whose_yaml_loads() {
    for anomaly in AnomalyType::ALL {
        let page = read(format!("docs/runbook/{anomaly}.md"));
        assert!(page.starts_with(&format!("# {anomaly}\n")), "{anomaly}");
        for heading in [
            "## What it means",
            "## First three checks",
            "## How to mute",
            "## In a backend",
        ] {
            assert!(
                !section(&page, heading).trim().is_empty(),
                "{anomaly}: {heading}"
            );
        }
        let checks = section(&page, "## First three checks");
        for number in ["\n1. ", "\n2. ", "\n3. "] {
            assert!(checks.contains(number), "{anomaly}: {number}");
        }
        assert!(
            page.contains(&format!("{{type: {anomaly}, fingerprint: ")),
            "{anomaly}"
        );
        for block in blocks(&page, "yaml") {
            // Loading is what replay does with it; nothing is read from an empty recording.
            let output = sentinel(&["replay", "--config", &format!("yaml:{block}"), "/dev/null"]);
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(0), "{anomaly}: {said}\n{block}");
        }
    }
}

/// What a newcomer copies first: each is a whole configuration, and nothing is wrong with it.
#[test]
fn every_configuration_of_the_readme_is_valid() {
    let shown = blocks(&read("README.md"), "yaml");
    assert!(shown.len() >= 3, "{}", shown.len());
    for block in shown {
        let config = format!("yaml:{block}");
        let output = sentinel(&["validate", "--deny-warnings", "--config", &config]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{said}\n{block}");
    }
}

#[test]
fn what_detectors_md_configures_loads() {
    let shown = blocks(&read("docs/detectors.md"), "yaml");
    assert!(!shown.is_empty());
    for block in shown {
        // What is shown of the processor's inside alone is put into it.
        let inside = block.starts_with("detectors:");
        let config = if inside {
            let indented: Vec<String> = block.lines().map(|l| format!("    {l}")).collect();
            format!("yaml:processors:\n  anomaly:\n{}", indented.join("\n"))
        } else {
            format!("yaml:{block}")
        };
        let output = sentinel(&["replay", "--config", &config, "/dev/null"]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{said}\n{block}");
    }
}

/// GitHub's anchor of a heading.
fn anchor(heading: &str) -> String {
    heading
        .trim_start_matches('#')
        .trim()
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

/// Links to files and headings of ours, as `](target)`.
fn links(page: &str) -> impl Iterator<Item = &str> {
    page.split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')').map(|(link, _)| link))
}

#[test]
fn every_link_leads_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages: Vec<PathBuf> = [
        "README.md",
        "docs/detectors.md",
        "docs/dialects.md",
        "docs/measured.md",
        "docs/operations.md",
        "docs/configuration.md",
        "docs/contributing.md",
        "docs/interop.md",
        "docs/source-rules.md",
    ]
    .iter()
    .map(PathBuf::from)
    .collect();
    pages.extend(
        AnomalyType::ALL
            .iter()
            .map(|a| PathBuf::from(format!("docs/runbook/{a}.md"))),
    );
    for page in pages {
        let text = read(&page);
        for link in links(&text).filter(|link| !link.contains("://")) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() {
                page.clone()
            } else {
                page.parent().unwrap().join(file)
            };
            assert!(root.join(&target).exists(), "{}: {link}", page.display());
            if !heading.is_empty() {
                let there = read(&target);
                let found = there
                    .lines()
                    .any(|l| l.starts_with('#') && anchor(l) == heading);
                assert!(found, "{}: {link}", page.display());
            }
        }
    }
}
