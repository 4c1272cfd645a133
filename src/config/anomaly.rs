//! `processors.anomaly`: keys as they are written, checked and turned into the engine's settings.

use std::collections::BTreeMap;

use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::annotations;
use crate::detectors::{self, Rules};
use crate::engine;
use crate::model::{AnomalyType, Timestamp, units};
use crate::policies;
use crate::sessions;
use crate::steps;

use super::detectors::Written;
use super::dialects;
use super::globs;
use super::ignore;
use super::limits;
use super::overrides::Processor;
use super::places;
use super::problems::Problems;
use super::report::Problem;
use super::tree::{Entry, Node, Value};

/// The keys of the processor. Defaults come from the settings of the modules.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Typed {
    group_by: Vec<String>,
    rules: Rules,
    turn: sessions::Turn,
    settle: sessions::Settle,
    #[serde(with = "units::size")]
    max_state: u64,
    run: sessions::RunLimits,
    conversation: sessions::ConversationLimits,
    /// Read by themselves: they belong to the reading of steps.
    workspace: IgnoredAny,
    tools: IgnoredAny,
    show_signature: IgnoredAny,
    dialects: Vec<IgnoredAny>,
    detectors: detectors::Settings,
    /// Read by themselves: their members know where they stand.
    overrides: Vec<IgnoredAny>,
    ignore: Vec<IgnoredAny>,
    policy: policies::Settings,
    mode: engine::Mode,
    annotate: annotations::Settings,
    #[serde(with = "units::size")]
    max_held: u64,
    #[serde(with = "units::duration")]
    max_clock_skew: Duration,
}

impl Default for Typed {
    fn default() -> Self {
        let sessions = sessions::Settings::default();
        Self {
            group_by: vec![SESSION.to_owned(), TRACE.to_owned()],
            rules: Rules::default(),
            turn: sessions.turn,
            settle: sessions.settle,
            max_state: sessions.max_state,
            run: sessions.run,
            conversation: sessions.conversation,
            workspace: IgnoredAny,
            tools: IgnoredAny,
            show_signature: IgnoredAny,
            dialects: Vec::new(),
            detectors: detectors::Settings::default(),
            overrides: Vec::new(),
            ignore: Vec::new(),
            policy: policies::Settings::default(),
            mode: engine::Mode::default(),
            annotate: annotations::Settings::default(),
            max_held: sessions.max_held,
            max_clock_skew: sessions.max_clock_skew,
        }
    }
}

const SESSION: &str = "session";
const TRACE: &str = "trace";

/// Keys of the processor that the reading of steps wants.
const OF_STEPS: [&str; 3] = ["workspace", "tools", "show_signature"];

/// One `anomaly`: how steps are read and how they are judged.
#[derive(Clone, Debug, Default)]
pub(super) struct Anomaly {
    pub(super) steps: steps::Settings,
    pub(super) engine: engine::Settings,
    /// What is written of each detector, by its name.
    pub(super) written: BTreeMap<String, String>,
}

/// Reads the processor's entry; `now` tells which findings are not ignored any more. `None` when its value is
/// of no use; then that is reported.
pub(super) fn read(entry: &Entry, now: Timestamp, problems: &mut Problems) -> Option<Anomaly> {
    let (audiences, engine) = judging(entry, now, problems)?;
    let source = |anomaly| {
        let tables = engine.overrides.iter().map(|one| &one.settings);
        std::iter::once(&engine.detectors)
            .chain(tables)
            .any(|table| {
                let common = table.common(anomaly);
                common.judged() && common.rules.unwrap_or(engine.rules) == Rules::Source
            })
    };
    let steps = steps::Settings {
        source_answers: source(AnomalyType::TransitionRepeat),
        topics: engine.detectors.goal_drift.enabled,
        watch: steps::Watch {
            allowed_dirs: engine.detectors.scope_escape.allowed_dirs.clone(),
            source_scope: source(AnomalyType::ScopeEscape),
            source_writes: source(AnomalyType::WriteStorm),
            source_hosts: source(AnomalyType::NovelHost),
        },
        audiences,
        dialects: dialects::read(entry.value.entry("dialects"), problems),
        ..reading(entry, problems)
    };
    let detectors = entry.value.get("detectors").map_or(&[][..], Node::entries);
    let written = detectors
        .iter()
        .map(|one| (one.key.clone(), one.value.words()));
    Some(Anomaly {
        steps,
        engine,
        written: written.collect(),
    })
}

fn reading(entry: &Entry, problems: &mut Problems) -> steps::Settings {
    let keys = entry.value.entries().iter();
    let keys = keys.filter(|entry| OF_STEPS.contains(&entry.key.as_str()));
    for tool in entry.value.get("tools").map_or(&[][..], Node::entries) {
        if let Some(problem) = globs::fault(&tool.key, tool.key_place) {
            problems.push(problem);
            problems.drop(tool.key_place);
        }
    }
    let part = Node {
        place: entry.value.place,
        value: Value::Map(keys.cloned().collect()),
    };
    problems.read_node(&part).unwrap_or_default()
}

fn judging(
    entry: &Entry,
    now: Timestamp,
    problems: &mut Problems,
) -> Option<(steps::Audiences, engine::Settings)> {
    let typed: Typed = problems.read_node(&entry.value)?;
    let written = entry.value.entry("detectors");
    Written {
        node: written.map(|written| &written.value),
        own: None,
        place: entry.shown(),
    }
    .check(&typed.detectors, typed.rules, problems);
    let scope = typed.detectors.scope_escape.rules.unwrap_or(typed.rules);
    places::check(entry, scope, problems);
    let processor = Processor {
        entry,
        base: &typed.detectors,
        rules: typed.rules,
    };
    let (audiences, overrides) = processor.overrides(problems);
    let ignore = ignore::read(entry.value.entry("ignore"), now, problems);
    let join_conversations = join_conversations(entry, &typed.group_by, problems);
    let source = typed.rules == Rules::Source;
    let sessions = sessions::Settings {
        join_conversations,
        turn: typed.turn,
        settle: typed.settle,
        source,
        max_state: typed.max_state,
        run: typed.run,
        conversation: typed.conversation,
        max_held: typed.max_held,
        max_clock_skew: typed.max_clock_skew,
        meters: false,
        timers: false,
        records: false,
    };
    limits::check(entry, &sessions, problems);
    let settings = engine::Settings {
        sessions,
        detectors: typed.detectors,
        overrides,
        ignore,
        rules: typed.rules,
        policy: policies::Settings {
            source,
            ..typed.policy
        },
        annotate: typed.annotate,
        mode: typed.mode,
        logs: false,
    };
    Some((audiences, settings))
}

/// Whether runs join conversations.
fn join_conversations(entry: &Entry, keys: &[String], problems: &mut Problems) -> bool {
    let words: Vec<&str> = keys.iter().map(String::as_str).collect();
    match words.as_slice() {
        [SESSION, TRACE] => return true,
        [TRACE] => return false,
        _ => {}
    }
    let written = entry.value.entry("group_by").unwrap_or(entry);
    let other = words.iter().find(|word| ![SESSION, TRACE].contains(*word));
    let message = match other {
        Some(other) => format!("grouping by `{other}` is not in this release"),
        None => "this grouping is not possible".to_owned(),
    };
    problems.push(
        Problem::error(written.shown(), message)
            .help("allowed: [session, trace], and [trace] to let every trace stand alone"),
    );
    true
}
