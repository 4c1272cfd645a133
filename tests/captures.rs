//! Real requests of 29 library variants and what is read of them, one line a step, reviewed by a person against
//! the script that the agents followed (tests/fixtures/captures/README.md).
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "reads fixtures")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent_sentinel::model::{
    Action, Arguments, Claim, Outcome, Step, TextFacts, ToolCall, Verification,
};
use agent_sentinel::steps::{Reader, Reading, Settings};

/// Small numbers in place of hashes, by order of appearance.
#[derive(Default)]
struct Labels(
    BTreeMap<(&'static str, u64), usize>,
    BTreeMap<&'static str, usize>,
);

impl Labels {
    fn of(&mut self, kind: &'static str, hash: u64) -> String {
        let Self(known, counts) = self;
        let number = *known.entry((kind, hash)).or_insert_with(|| {
            let count = counts.entry(kind).or_default();
            *count += 1;
            *count
        });
        format!("{kind}{number}")
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/captures")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

fn read(path: &Path) -> Reading {
    let body = fs::read(path).unwrap();
    let reading = Reader::new(Arc::new(Settings::default()))
        .read(body.clone().into())
        .unwrap();
    assert_eq!(reading.body, body, "nothing is cut from a good body");
    assert_eq!(reading.malformed.total(), 0);
    reading
}

#[test]
fn every_capture_reads_as_reviewed() {
    for library in files(&folder()).iter().filter(|path| path.is_dir()) {
        let name = library.file_name().unwrap().to_str().unwrap();
        let mut out = String::new();
        let mut labels = Labels::default();
        let mut scenario = String::new();
        for file in files(library) {
            let stem = file.file_stem().unwrap().to_str().unwrap().to_owned();
            let of = stem.split('.').next().unwrap().to_owned();
            if of != scenario {
                // The requests of one scenario share their labels: spans of one run come in several.
                labels = Labels::default();
                scenario = of;
            }
            let reading = read(&file);
            let _ = writeln!(out, "== {stem}: {} spans", reading.spans);
            for step in &reading.steps {
                line(step, &mut labels, &mut out);
            }
            let links = reading.links.len();
            let _ = writeln!(out, "   {links} links");
        }
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(name, out);
        });
    }
}

fn line(step: &Step, labels: &mut Labels, out: &mut String) {
    let trace = u64::from_be_bytes(step.trace.as_bytes()[..8].try_into().unwrap());
    let _ = write!(out, "{:>3} {} ", step.index, labels.of("r", trace));
    let _ = write!(out, "{}", if step.parent.is_some() { "" } else { "ROOT " });
    match &step.action {
        Action::ToolCall(call) => tool(call, labels, out),
        Action::ModelCall(call) => {
            let _ = write!(out, "MODEL {:?}", call.finish);
            text("text", call.text.as_ref(), labels, out);
            if call.reasoning.is_some() {
                text("reasoning", call.reasoning.as_ref(), labels, out);
            }
            for asked in &call.requested {
                let id = asked.call_id.map_or("-".into(), |id| labels.of("#", id));
                let key = asked.key.map_or("-".into(), |key| labels.of("K", key));
                let _ = write!(
                    out,
                    " asks:{}({key}{}){id}",
                    asked.tool,
                    state(asked.arguments)
                );
            }
            if let Some(users) = call.user_messages {
                let _ = write!(out, " users={users}");
            }
            if let Some(tools) = &call.tools {
                let _ = write!(out, " tools={}", tools.names.join(","));
            }
            if let Some(goal) = call.goal {
                let tests = if goal.asks_for_tests { "+tests" } else { "" };
                let _ = write!(out, " goal={}{tests}", labels.of("G", goal.hash));
            }
            let _ = write!(out, "{}", if call.failed { " FAILED" } else { "" });
        }
        Action::AgentRun(run) => {
            let _ = write!(out, "RUN");
            text("output", run.output.as_ref(), labels, out);
            if let Some(tools) = &run.tools {
                let _ = write!(out, " tools={}", tools.names.len());
            }
            if let Some(goal) = run.goal {
                let _ = write!(out, " goal={}", labels.of("G", goal.hash));
            }
            let _ = write!(out, "{}", if run.failed { " FAILED" } else { "" });
            let _ = write!(out, "{}", if run.handoff { " handoff" } else { "" });
        }
    }
    let usage = step.usage;
    if usage.input_tokens.is_some() || usage.cost_usd.is_some() {
        let _ = write!(
            out,
            " in={:?} out={:?}",
            usage.input_tokens.unwrap_or(0),
            usage.output_tokens.unwrap_or(0)
        );
    }
    let _ = write!(out, " @{}", step.agent.as_deref().unwrap_or("-"));
    if let Some(conversation) = step.conversation.as_deref() {
        let shown = conversation.get(..12).unwrap_or(conversation);
        let _ = write!(out, " in {shown}");
    }
    let _ = writeln!(out);
}

fn state(arguments: Arguments) -> &'static str {
    match arguments {
        Arguments::Unknown => " unknown",
        Arguments::Valid => "",
        Arguments::NotJson => " NOT JSON",
        Arguments::Refused => " REFUSED",
    }
}

fn tool(call: &ToolCall, labels: &mut Labels, out: &mut String) {
    let id = call.call_id.map_or("-".into(), |id| labels.of("#", id));
    let key = call.key.map_or("-".into(), |key| labels.of("K", key));
    let _ = write!(
        out,
        "CALL {}({key}{}){id} {:?}",
        call.tool,
        state(call.arguments),
        call.role
    );
    if call.answer.known {
        let _ = write!(out, " -> {}", labels.of("A", call.answer.digest));
    }
    let _ = match call.outcome {
        Outcome::Failed(failure) => {
            let code = failure
                .exit_code
                .map_or(String::new(), |code| format!(" exit {code}"));
            let soft = if failure.soft { " soft" } else { "" };
            let answer = if failure.is_answer { " answer" } else { "" };
            write!(
                out,
                " FAILED{code}{soft}{answer} {}",
                labels.of("E", failure.class)
            )
        }
        other => write!(out, " {other:?}"),
    };
    let effects = &call.effects;
    for write in &effects.writes {
        let _ = write!(out, " writes:{}", write.path);
    }
    if effects.edits_source {
        let _ = write!(out, " edits-source");
    }
    if let Some(check) = &effects.verification {
        let Verification {
            runner,
            verdict,
            passed,
            failed,
            ..
        } = check.as_ref();
        let _ = write!(out, " checks:{runner}={verdict:?} {passed:?}/{failed:?}");
    }
    if call.unparsed {
        let _ = write!(out, " unparsed");
    }
}

fn text(name: &str, facts: Option<&TextFacts>, labels: &mut Labels, out: &mut String) {
    let Some(facts) = facts else {
        let _ = write!(out, " {name}=?");
        return;
    };
    if facts.chars == 0 {
        let _ = write!(out, " {name}=EMPTY");
        return;
    }
    let claim = match facts.claim {
        Claim::None => "",
        Claim::Done => "!done",
        Claim::ChecksPassed => "!checks",
    };
    let _ = write!(
        out,
        " {name}={}:{}{claim}",
        labels.of("T", facts.hash),
        facts.chars
    );
}
