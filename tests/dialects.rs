//! The verdict of the whole engine on every captured scenario of every library, and docs/dialects.md, which shows it.
//!
//! Invariant: what a scenario is about is found, or said to be not assessed with what was lacking; healthy ones are
//! silent. Never neither.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![expect(
    clippy::disallowed_methods,
    reason = "reads fixtures, writes the page when asked to"
)]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent_sentinel::config::{self, Purpose, Source};
use agent_sentinel::engine::{Engine, Output};
use agent_sentinel::model::{Action, AnomalyType, Finish, Lack, Severity, Step, Timestamp};
use agent_sentinel::steps::Reader;

/// Set to write docs/dialects.md in place of comparing it.
const WRITE: &str = "UPDATE_DIALECTS_MD";

/// A captured library: folder, what it is, the convention it is read by.
struct Variant {
    folder: &'static str,
    library: &'static str,
    dialect: &'static str,
}

const fn variant(folder: &'static str, library: &'static str, dialect: &'static str) -> Variant {
    Variant {
        folder,
        library,
        dialect,
    }
}

const GENAI: &str = "GenAI";
const OPENINFERENCE: &str = "OpenInference";

/// All captured libraries, as they were captured (tests/fixtures/captures/README.md).
const VARIANTS: &[Variant] = &[
    variant("pydantic-ai", "pydantic-ai 2.68, format 5", GENAI),
    variant("pydantic-ai-v2", "pydantic-ai 2.68, format 2", GENAI),
    variant(
        "pydantic-ai-nocontent",
        "pydantic-ai 2.68, `include_content=False`",
        GENAI,
    ),
    variant(
        "pydantic-ai-batched",
        "pydantic-ai 2.68, requests of four spans",
        GENAI,
    ),
    variant(
        "langchain-openinference",
        "LangChain 1.5, openinference-langchain 0.1.80",
        OPENINFERENCE,
    ),
    variant(
        "langchain-traceloop",
        "LangChain 1.5, OpenLLMetry 0.62",
        "GenAI, OpenLLMetry",
    ),
    variant(
        "langchain-dual",
        "LangChain 1.5, both of these at once",
        "both",
    ),
    variant(
        "langsmith-otel",
        "LangChain 1.5, langsmith 0.15",
        "LangSmith",
    ),
    variant(
        "openai-agents-openinference",
        "OpenAI Agents 0.24, openinference 2.6",
        OPENINFERENCE,
    ),
    variant(
        "openai-agents-traceloop",
        "OpenAI Agents 0.24, OpenLLMetry 0.62",
        "GenAI, OpenLLMetry",
    ),
    variant(
        "openai-agents-otel-v2",
        "OpenAI Agents 0.24, openai-agents-v2 0.1",
        GENAI,
    ),
    variant("strands", "Strands Agents 1.62", GENAI),
    variant(
        "strands-latest",
        "Strands Agents 1.62, latest conventions",
        GENAI,
    ),
    variant("google-adk", "Google ADK 2.13", GENAI),
    variant(
        "google-adk-semconv",
        "Google ADK 2.13, content on spans",
        GENAI,
    ),
    variant(
        "google-adk-content",
        "Google ADK 2.13, content in log records",
        GENAI,
    ),
    variant("agent-framework", "Microsoft agent-framework 1.23", GENAI),
    variant("autogen", "AutoGen 0.7.5", GENAI),
    variant(
        "smolagents-openinference",
        "smolagents 1.26, openinference 0.1.43",
        OPENINFERENCE,
    ),
    variant(
        "crewai-openinference",
        "CrewAI 1.15, openinference 1.1 and openai 0.1.66",
        OPENINFERENCE,
    ),
    variant(
        "crewai-traceloop",
        "CrewAI 1.15, OpenLLMetry 0.62",
        "GenAI, OpenLLMetry",
    ),
    variant(
        "agno-openinference",
        "agno 3.1, openinference 1.0",
        OPENINFERENCE,
    ),
    variant("vercel-ai-sdk-v6", "Vercel AI SDK 6", "Vercel AI SDK"),
    variant("vercel-ai-sdk-v7", "Vercel AI SDK 7, @ai-sdk/otel", GENAI),
    variant(
        "vercel-ai-sdk-v7legacy",
        "Vercel AI SDK 7, LegacyOpenTelemetry",
        "Vercel AI SDK",
    ),
    variant("fastmcp", "fastmcp 4.2 over mcp 2.3", "MCP"),
    variant("langfuse", "Langfuse SDK 5.0, loop by hand", "Langfuse"),
    variant("mlflow", "MLflow 3.17, loop by hand", "MLflow"),
    variant(
        "openlit-openai",
        "OpenLIT 1.45 on openai 2.54, loop by hand",
        GENAI,
    ),
];

/// What a column of the matrix asks of a scenario.
struct Column {
    title: &'static str,
    scenario: &'static str,
    /// What must be found; nothing: the scenario is healthy.
    wanted: &'static [AnomalyType],
}

const REPETITION: &[AnomalyType] = &[
    AnomalyType::FailureLoop,
    AnomalyType::Stuck,
    AnomalyType::TransitionRepeat,
];

const COLUMNS: &[Column] = &[
    Column {
        title: "healthy",
        scenario: "healthy",
        wanted: &[],
    },
    Column {
        title: "multiturn",
        scenario: "multiturn",
        wanted: &[],
    },
    Column {
        title: "tool exception",
        scenario: "tool_exception",
        wanted: &[],
    },
    Column {
        title: "stuck",
        scenario: "stuck",
        wanted: REPETITION,
    },
    Column {
        title: "premature",
        scenario: "premature",
        wanted: &[AnomalyType::PrematureVictory],
    },
    Column {
        title: "empty",
        scenario: "empty",
        wanted: &[AnomalyType::EmptyResponse],
    },
    Column {
        title: "unknown tool",
        scenario: "unknown_tool",
        wanted: &[AnomalyType::ToolHallucination],
    },
    Column {
        title: "cut arguments",
        scenario: "unknown_tool",
        wanted: &[AnomalyType::InvalidArgs],
    },
];

/// How content comes to be on the spans, and what of it only a setting switches on.
const SWITCHES: &[(&str, &str)] = &[
    (
        "OpenTelemetry's GenAI instrumentations",
        "`OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT` (`true` in older ones), for newer ones with `OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental`",
    ),
    (
        "pydantic-ai",
        "on unless `InstrumentationSettings(include_content=False)`",
    ),
    (
        "OpenInference",
        "on unless `OPENINFERENCE_HIDE_INPUTS`, `OPENINFERENCE_HIDE_OUTPUTS` or one of their finer kin is set",
    ),
    (
        "OpenLLMetry",
        "on unless `TRACELOOP_TRACE_CONTENT=false` (in JavaScript `traceContent: false`); its CrewAI instrumentation has no spans of tools and models: use OpenInference's",
    ),
    (
        "LangSmith",
        "on unless `LANGSMITH_HIDE_INPUTS` or `LANGSMITH_HIDE_OUTPUTS` is set; exported with `LANGSMITH_OTEL_ENABLED=true`",
    ),
    (
        "Strands Agents",
        "on; definitions of tools with `OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental,gen_ai_tool_definitions`",
    ),
    (
        "Google ADK",
        "`OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental` and `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT`; before version 2 `ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true`",
    ),
    (
        "agent-framework",
        "`ENABLE_SENSITIVE_DATA=true` or `enable_instrumentation(enable_sensitive_data=True)`; in .NET `EnableSensitiveData = true`",
    ),
    (
        "Semantic Kernel",
        "`SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true` (from its documentation; not captured)",
    ),
    (
        "AutoGen",
        "its spans carry none and there are none of models: add an instrumentation of the model's client",
    ),
    (
        "Vercel AI SDK",
        "`experimental_telemetry: {isEnabled: true}`; on unless `recordInputs` or `recordOutputs` is `false`",
    ),
    (
        "fastmcp",
        "its spans carry none: instrument the agent that calls it as well",
    ),
    (
        "Langfuse, MLflow",
        "on (Langfuse unless `LANGFUSE_OBSERVE_DECORATOR_IO_CAPTURE_ENABLED=false`); what a hand-written loop does not hand to its observations is not there",
    ),
    (
        "OpenLIT",
        "on unless `capture_message_content=False`; tools have spans only where the framework is instrumented",
    ),
    (
        "Claude Code",
        "`CLAUDE_CODE_ENHANCED_TELEMETRY_BETA=1` for spans, `OTEL_LOG_TOOL_DETAILS=1` for arguments, `OTEL_LOG_TOOL_CONTENT=1` for results, `OTEL_LOG_ASSISTANT_RESPONSES=1` for answers, `OTEL_LOG_USER_PROMPTS=1` for goals (from its documentation; not captured)",
    ),
    (
        "Codex",
        "`log_user_prompt = true` under `[otel]` for goals (from its sources; not captured)",
    ),
];

fn captures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/captures")
}

/// What was read and said of one scenario.
struct Played {
    steps: Vec<Step>,
    out: Output,
}

/// Plays the requests of a scenario in order through reader and engine, as replay does. `None` when the library
/// has no such scenario.
fn play(variant: &Variant, scenario: &str) -> Option<Played> {
    let mut files: Vec<PathBuf> = fs::read_dir(captures().join(variant.folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.strip_prefix(scenario)
                .is_some_and(|rest| rest.starts_with('.'))
        })
        .collect();
    files.sort();
    if files.is_empty() {
        return None;
    }
    let text = r#"
receivers: {otlp: {protocols: {http: {endpoint: "localhost:0"}}}}
processors: {anomaly: {}}
exporters: {debug: {}}
service: {pipelines: {traces: {receivers: [otlp], processors: [anomaly], exporters: [debug]}}}
"#;
    let source = Source::file("matrix.yaml", text.to_owned());
    let (settings, _) =
        config::load_for(Purpose::Replay, &[source], &[], &|_| None, Timestamp::ZERO)
            .unwrap_or_else(|report| panic!("{}", report.render(false)));
    let mut reader = Reader::new(Arc::new(settings.steps));
    let mut rules = settings.engine;
    rules.sessions.records = true;
    let mut engine = Engine::new(rules);
    let (mut steps, mut out, mut now) = (Vec::new(), Output::default(), Timestamp::ZERO);
    for file in files {
        let reading = reader.read(fs::read(file).unwrap().into()).unwrap();
        steps.extend(reading.steps.iter().cloned());
        now = reading
            .steps
            .iter()
            .map(|step| step.end)
            .fold(now, Ord::max);
        engine.ingest(reading, now, &mut out);
        engine.advance(now, &mut out);
    }
    // Content that the library sends as log records.
    let logs = captures()
        .with_file_name("captured_logs")
        .join(format!("{}.{scenario}.logs.pb", variant.folder));
    if let Ok(body) = fs::read(logs) {
        let (_, told) = reader.read_records(body.into()).unwrap();
        engine.ingest(told, now, &mut out);
        engine.advance(now, &mut out);
    }
    engine.drain(now, &mut out);
    Some(Played { steps, out })
}

impl Played {
    fn found(&self) -> BTreeSet<AnomalyType> {
        self.out
            .reports
            .iter()
            .map(|report| report.finding.anomaly)
            .collect()
    }

    fn worst(&self, of: &[AnomalyType]) -> Option<(AnomalyType, Severity)> {
        let of_type = self
            .out
            .reports
            .iter()
            .filter(|report| of.contains(&report.finding.anomaly));
        of_type
            .map(|report| (report.finding.anomaly, report.severity))
            .max_by_key(|(_, severity)| severity.number())
    }

    /// What the detectors of these types lacked; of several types all have to lack something.
    fn lacks(&self, of: &[AnomalyType]) -> BTreeSet<Lack> {
        let mut all = BTreeSet::new();
        for anomaly in of {
            let runs = self.out.closed.iter();
            let mut lacks = runs
                .flat_map(|run| &run.not_assessed)
                .filter(|(other, _)| other == anomaly)
                .flat_map(|(_, lacks)| lacks.iter().copied())
                .peekable();
            if lacks.peek().is_none() {
                return BTreeSet::new();
            }
            all.extend(lacks);
        }
        all
    }

    /// Whether the run went beyond the unknown tool: some end there.
    fn goes_on(&self) -> bool {
        let reads = |name: &str| name == "read_file";
        let seen = |step: &Step| !matches!(step.action, Action::AgentRun(_));
        !self.steps.iter().any(seen)
            || self.steps.iter().any(|step| match &step.action {
                Action::ToolCall(call) => reads(&call.tool),
                Action::ModelCall(call) => {
                    let hidden = call.requested.is_empty() && call.finish == Finish::ToolCalls;
                    hidden || call.requested.iter().any(|asked| reads(&asked.tool))
                }
                Action::AgentRun(_) => false,
            })
    }
}

/// The cell of a scenario, and what is wrong with it.
fn verdict(column: &Column, played: &Played) -> (String, Option<String>) {
    let found = played.found();
    if column.wanted.is_empty() {
        return match found.is_empty() {
            true if played.steps.is_empty() => ("no step".to_owned(), None),
            true => ("silent".to_owned(), None),
            false => (format!("{found:?}"), Some(format!("false alarm {found:?}"))),
        };
    }
    let kin = COLUMNS
        .iter()
        .filter(|other| other.scenario == column.scenario);
    let fine: Vec<AnomalyType> = kin.flat_map(|other| other.wanted).copied().collect();
    let others: Vec<_> = found.iter().filter(|one| !fine.contains(one)).collect();
    let wrong = (!others.is_empty()).then(|| format!("also says {others:?}"));
    if let Some((anomaly, severity)) = played.worst(column.wanted) {
        return (format!("**{}** {}", anomaly.name(), severity.name()), wrong);
    }
    if played.steps.is_empty() {
        return ("no step".to_owned(), wrong);
    }
    if column.title == "cut arguments" && !played.goes_on() {
        return ("run ended before".to_owned(), wrong);
    }
    let lacks = match column.wanted {
        REPETITION => played.lacks(&[AnomalyType::Stuck, AnomalyType::FailureLoop]),
        wanted => played.lacks(wanted),
    };
    if lacks.is_empty() {
        return (
            "MISSED".to_owned(),
            Some("neither found nor not assessed".to_owned()),
        );
    }
    let words: Vec<&str> = lacks.iter().map(|lack| lack.words()).collect();
    (words.join(", "), wrong)
}

/// A field, and whether a step carries it.
type Carries = (&'static str, fn(&Step) -> bool);

/// What a library's spans can carry, and how a step shows it.
const FIELDS: &[Carries] = &[
    ("agent", |step| step.agent.is_some()),
    ("session", |step| step.conversation.is_some()),
    ("goal", |step| match &step.action {
        Action::ModelCall(call) => call.goal.is_some(),
        Action::AgentRun(run) => run.goal.is_some(),
        Action::ToolCall(_) => false,
    }),
    ("model", |step| matches!(step.action, Action::ModelCall(_))),
    ("text", |step| match &step.action {
        Action::ModelCall(call) => call.text.is_some(),
        Action::AgentRun(run) => run.output.is_some(),
        Action::ToolCall(_) => false,
    }),
    (
        "reasoning",
        |step| matches!(&step.action, Action::ModelCall(call) if call.reasoning.is_some()),
    ),
    (
        "asks",
        |step| matches!(&step.action, Action::ModelCall(call) if !call.requested.is_empty()),
    ),
    (
        "finish",
        |step| matches!(&step.action, Action::ModelCall(call) if !call.handed_over && call.finish != Finish::Unknown),
    ),
    ("tokens", |step| step.usage.input_tokens.is_some()),
    ("cost", |step| step.usage.cost_usd.is_some()),
    ("tools", |step| match &step.action {
        Action::ModelCall(call) => call.tools.is_some(),
        Action::AgentRun(run) => run.tools.is_some(),
        Action::ToolCall(_) => false,
    }),
    ("schemas", |step| {
        let tools = match &step.action {
            Action::ModelCall(call) => call.tools.as_ref(),
            Action::AgentRun(run) => run.tools.as_ref(),
            Action::ToolCall(_) => None,
        };
        tools.is_some_and(|tools| tools.definitions().iter().any(|one| one.shape.is_some()))
    }),
    ("call", |step| matches!(step.action, Action::ToolCall(_))),
    (
        "call id",
        |step| matches!(&step.action, Action::ToolCall(call) if call.call_id.is_some()),
    ),
    (
        "arguments",
        |step| matches!(&step.action, Action::ToolCall(call) if call.key.is_some()),
    ),
    (
        "result",
        |step| matches!(&step.action, Action::ToolCall(call) if call.answer.known),
    ),
    (
        "failure",
        |step| matches!(&step.action, Action::ToolCall(call) if call.outcome.failed()),
    ),
];

fn row(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

fn page(wrong: &mut Vec<String>) -> String {
    let mut carried = String::new();
    let mut verdicts = String::new();
    for variant in VARIANTS {
        let mut cells = vec![variant.library.to_owned(), variant.dialect.to_owned()];
        let mut steps = Vec::new();
        for column in COLUMNS {
            let Some(played) = play(variant, column.scenario) else {
                cells.push("-".to_owned());
                continue;
            };
            let (cell, mistake) = verdict(column, &played);
            cells.push(cell);
            wrong.extend(mistake.map(|m| format!("{} {}: {m}", variant.folder, column.title)));
            steps.extend(played.steps);
        }
        verdicts += &row(&cells);
        let mut cells = vec![variant.library.to_owned()];
        cells.extend(FIELDS.iter().map(|(_, carries)| {
            let carries = steps.iter().any(carries);
            (if carries { "x" } else { "" }).to_owned()
        }));
        carried += &row(&cells);
    }
    let mut out = String::from(HEAD);
    let titles = |first: &[&str], rest: Vec<&str>| {
        let all: Vec<String> = first.iter().chain(&rest).map(|t| (*t).to_owned()).collect();
        let rule = "|---".repeat(all.len()) + "|\n";
        row(&all) + &rule
    };
    out += &titles(
        &["library", "read as"],
        COLUMNS.iter().map(|c| c.title).collect(),
    );
    out += &verdicts;
    out += CARRIED;
    out += &titles(&["library"], FIELDS.iter().map(|(name, _)| *name).collect());
    out += &carried;
    out += SWITCHED;
    for (library, switch) in SWITCHES {
        let _ = writeln!(out, "| {library} | {switch} |");
    }
    out
}

const HEAD: &str = "# Dialects

Which libraries are read, what their spans carry, and what is found with it. The tables are written by
`tests/dialects.rs`, which plays requests captured from each library through the whole engine and fails when this page
says anything else (`UPDATE_DIALECTS_MD=1 cargo test --test dialects` writes it anew). The agents all followed one
script (tests/fixtures/captures/README.md).

## What is found

A cell says what was found and how severe, or what was lacking to judge: then the type is reported as *not assessed* with
that reason, never as healthy. `silent`: nothing was said, as it should be. `no step`: the capture holds no step of an agent. `-`: not
captured. `run ended before`: the framework gave up at the unknown tool.

";

const CARRIED: &str = "
## What the spans carry

`asks`: the calls that a model asked for. `tools`, `schemas`: the tools that it was given, and the schemas of their arguments. A call id may
stand on its span, or in its result.

";

const SWITCHED: &str = "
## Switching content on

| library | setting |
|---|---|
";

#[test]
fn every_scenario_of_every_library_has_a_verdict() {
    let mut wrong = Vec::new();
    let page = page(&mut wrong);
    assert!(
        wrong.is_empty(),
        "{}:\n{}\n{page}",
        wrong.len(),
        wrong.join("\n")
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/dialects.md");
    if std::env::var_os(WRITE).is_some() {
        fs::write(&path, &page).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    let differs = committed
        .lines()
        .zip(page.lines())
        .find(|(old, new)| old != new);
    assert!(
        committed == page,
        "docs/dialects.md is not what is true; {WRITE}=1 writes it. First difference: {differs:?}"
    );
}

#[test]
fn every_capture_stands_in_the_matrix() {
    let folders: BTreeSet<String> = fs::read_dir(captures())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    let known: BTreeSet<String> = VARIANTS.iter().map(|v| v.folder.to_owned()).collect();
    assert_eq!(folders, known);
}
