//! `processors.anomaly`: keys as they are written, checked and turned into the engine's settings.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::annotations;
use crate::detectors::{self, Rules, descriptor};
use crate::engine;
use crate::model::{AnomalyType, units};
use crate::policies;
use crate::sessions;
use crate::steps;

use super::problems::Problems;
use super::report::Problem;
use super::suggest;
use super::tree::{Entry, Node, Place, Value};

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
    detectors: detectors::Settings,
    overrides: Vec<Override>,
    ignore: Vec<Ignored>,
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

/// Other thresholds for some services, agents or tools.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Override {
    r#match: BTreeMap<String, String>,
    detectors: detectors::Settings,
    emit: Emit,
}

/// Where findings go.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Emit {
    #[default]
    Span,
    Metric,
    Off,
}

/// A finding somebody has looked at and accepted.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Ignored {
    r#type: String,
    fingerprint: Option<String>,
    until: Option<String>,
    reason: Option<String>,
}

/// Keys of the processor that the reading of steps wants.
const OF_STEPS: [&str; 3] = ["workspace", "tools", "show_signature"];

/// One `anomaly`: how steps are read and how they are judged.
#[derive(Clone, Debug, Default)]
pub(super) struct Anomaly {
    pub(super) steps: steps::Settings,
    pub(super) engine: engine::Settings,
}

/// Reads the processor's entry. `None` when its value is of no use; then that is reported.
pub(super) fn read(entry: &Entry, problems: &mut Problems) -> Option<Anomaly> {
    let engine = judging(entry, problems)?;
    let source = |anomaly| {
        let common = engine.detectors.common(anomaly);
        common.enabled && common.rules.unwrap_or(engine.rules) == Rules::Source
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
        ..reading(entry, problems)
    };
    Some(Anomaly { steps, engine })
}

fn reading(entry: &Entry, problems: &mut Problems) -> steps::Settings {
    let keys = entry.value.entries().iter();
    let keys = keys.filter(|entry| OF_STEPS.contains(&entry.key.as_str()));
    let part = Node {
        place: entry.value.place,
        value: Value::Map(keys.cloned().collect()),
    };
    problems.read_node(&entry.key, &part).unwrap_or_default()
}

fn judging(entry: &Entry, problems: &mut Problems) -> Option<engine::Settings> {
    let typed: Typed = problems.read(entry)?;
    let check = Check { entry };
    check.detectors(&typed, problems);
    check.later(&typed, problems);
    let join_conversations = check.group_by(&typed.group_by, problems);
    let source = typed.rules == Rules::Source;
    Some(engine::Settings {
        sessions: sessions::Settings {
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
        },
        detectors: typed.detectors,
        rules: typed.rules,
        policy: policies::Settings {
            source,
            ..typed.policy
        },
        annotate: typed.annotate,
        mode: typed.mode,
    })
}

/// Checks across keys, with the places of the keys.
struct Check<'a> {
    entry: &'a Entry,
}

impl Check<'_> {
    /// Where a path of keys stands, or the longest part of it that is written.
    fn place(&self, path: &[&str]) -> Place {
        (1..=path.len())
            .rev()
            .find_map(|depth| self.entry.value.at(path.get(..depth)?))
            .unwrap_or(self.entry)
            .shown()
    }

    fn detectors(&self, typed: &Typed, problems: &mut Problems) {
        let mut lacking = Vec::new();
        let mut mixed = None;
        for problem in typed.detectors.check(typed.rules) {
            let keys: Vec<&str> = problem.key.split('.').collect();
            match keys.as_slice() {
                [anomaly, "enabled"] => {
                    lacking.push((*anomaly).to_owned());
                    continue;
                }
                // One family, one problem, however many of its members differ.
                [_, "rules"] => {
                    mixed.get_or_insert(problem.message);
                    continue;
                }
                _ => {}
            }
            let path: Vec<&str> = std::iter::once("detectors")
                .chain(keys.iter().copied())
                .collect();
            // "is 1, must be at least 2" needs its key in front.
            let message = if problem.message.starts_with("is ") {
                format!("`{}` {}", keys.last().unwrap_or(&""), problem.message)
            } else {
                problem.message
            };
            problems.push(Problem::error(self.place(&path), message));
        }
        self.lacking(&lacking, problems);
        if let Some(message) = mixed {
            self.mixed(message, problems);
        }
    }

    /// Types that this build lacks and that somebody wants: by their thresholds, or in so many words.
    fn lacking(&self, by_threshold: &[String], problems: &mut Problems) {
        for anomaly in AnomalyType::ALL {
            let name = anomaly.name();
            let enabled = self.entry.value.at(&["detectors", name, "enabled"]);
            let in_words = enabled.is_some_and(|entry| {
                !problems.is_dropped(entry.key_place) && entry.value.text() == Some("true")
            });
            let wanted = in_words || by_threshold.iter().any(|other| other == name);
            if wanted && !descriptor(anomaly).available {
                problems.push(
                    Problem::error(
                        self.place(&["detectors", name, "enabled"]),
                        format!("this build has no detector `{name}`"),
                    )
                    .help("set `enabled: false`, or leave it out; `agent-sentinel detectors` lists what there is"),
                );
            }
        }
    }

    fn mixed(&self, message: String, problems: &mut Problems) {
        let family: Vec<&str> = AnomalyType::ALL
            .iter()
            .filter(|anomaly| anomaly.family_rank().is_some())
            .map(|anomaly| anomaly.name())
            .collect();
        let mut written = family
            .iter()
            .filter_map(|name| self.entry.value.at(&["detectors", name, "rules"]));
        let place = written.next().map_or(self.entry.key_place, Entry::shown);
        problems.push(Problem::error(place, message).help(format!(
            "give {} the same rules, or set `rules` on the processor",
            family.join(", ")
        )));
    }

    /// Whether runs join conversations.
    fn group_by(&self, keys: &[String], problems: &mut Problems) -> bool {
        let words: Vec<&str> = keys.iter().map(String::as_str).collect();
        match words.as_slice() {
            [SESSION, TRACE] => return true,
            [TRACE] => return false,
            _ => {}
        }
        let place = self.place(&["group_by"]);
        let other = words.iter().find(|word| ![SESSION, TRACE].contains(*word));
        let message = match other {
            Some(other) => format!("grouping by `{other}` is not in this release"),
            None => "this grouping is not possible".to_owned(),
        };
        problems.push(
            Problem::error(place, message)
                .help("allowed: [session, trace], and [trace] to let every trace stand alone"),
        );
        true
    }

    /// Keys that are known and checked, but not applied by this release: better refused than ignored.
    fn later(&self, typed: &Typed, problems: &mut Problems) {
        let names: Vec<&str> = AnomalyType::ALL.iter().map(|a| a.name()).collect();
        for ignored in &typed.ignore {
            if !names.contains(&ignored.r#type.as_str()) {
                let message = format!("`{}` is no type of anomaly", ignored.r#type);
                let problem = Problem::error(self.place(&["ignore"]), message);
                problems.push(suggest::advise(problem, &ignored.r#type, &names));
            }
        }
        for (key, used) in [
            ("overrides", !typed.overrides.is_empty()),
            ("ignore", !typed.ignore.is_empty()),
        ] {
            if used {
                problems.push(
                    Problem::error(
                        self.place(&[key]),
                        format!("`{key}` is not in this release"),
                    )
                    .help("remove it: it would have no effect"),
                );
            }
        }
    }
}
