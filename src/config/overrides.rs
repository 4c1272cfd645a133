//! `processors.anomaly.overrides`: other settings of the detectors for some services, agents or tools.
//!
//! Invariant: an override's settings are the processor's with its own laid over them, and checked like them.

use globset::GlobMatcher;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::detectors::{self, Override, Rules};
use crate::model::{AnomalyType, Emit};
use crate::steps::{Audiences, Condition};

use super::detectors::Written;
use super::globs;
use super::merge;
use super::problems::Problems;
use super::report::Problem;
use super::suggest;
use super::tree::{Entry, Node, Place, Value};

/// One entry as written; what has an inside of its own is read by itself.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Typed {
    #[serde(rename = "match")]
    _match: IgnoredAny,
    #[serde(default, rename = "detectors")]
    _detectors: IgnoredAny,
    #[serde(default, rename = "emit")]
    _emit: Option<Emit>,
}

/// Whom an entry means.
#[derive(Debug, Default)]
struct Match {
    resource: Vec<Condition>,
    agent: Option<GlobMatcher>,
    tool: Option<GlobMatcher>,
    /// Something of it could not be read.
    broken: bool,
}

impl Match {
    fn is_everything(&self) -> bool {
        !self.broken && self.resource.is_empty() && self.agent.is_none() && self.tool.is_none()
    }
}

/// Resource attributes that people match on: for a nearest word, nothing else is refused.
const KNOWN: [&str; 12] = [
    "service.name",
    "service.namespace",
    "service.version",
    "service.instance.id",
    "deployment.environment.name",
    "deployment.environment",
    "host.name",
    "k8s.namespace.name",
    "k8s.deployment.name",
    "k8s.cluster.name",
    "cloud.region",
    "process.working_directory",
];

/// What the reading of steps decides, before it is known by whom they are judged: an override comes too late.
const BEFORE: [(&str, &[&str]); 3] = [
    ("scope_escape", &["allowed_dirs", "rules"]),
    ("write_storm", &["rules"]),
    ("novel_host", &["rules"]),
];

/// The processor whose overrides are read.
pub(super) struct Processor<'a> {
    /// Its entry.
    pub(super) entry: &'a Entry,
    /// Its own detectors.
    pub(super) base: &'a detectors::Settings,
    /// Its choice.
    pub(super) rules: Rules,
}

impl Processor<'_> {
    /// Reads all entries, in order: which steps they mean by their resource, and the rest.
    pub(super) fn overrides(&self, problems: &mut Problems) -> (Audiences, Vec<Override>) {
        let Some(entry) = self.entry.value.entry("overrides") else {
            return Default::default();
        };
        let members = entry.value.members();
        if members.len() > Audiences::MAX {
            let message = format!("{} overrides, {} at most", members.len(), Audiences::MAX);
            problems.push(Problem::error(entry.key_place, message));
        }
        let mut everything: Option<Place> = None;
        let (mut conditions, mut overrides) = (Vec::new(), Vec::new());
        for member in members.iter().take(Audiences::MAX) {
            let Some(_) = problems.read_node::<Typed>(member) else {
                continue;
            };
            let meant = whom(member, problems);
            if let Some(earlier) = everything {
                problems.push(
                    Problem::warning(shown(member), "this entry is never reached").also(
                        earlier,
                        "this one means everything, and the first that matches wins",
                    ),
                );
            } else if meant.is_everything() {
                everything = Some(shown(member));
            }
            let settings = self.settings(member, meant.tool.is_some(), problems);
            conditions.push(meant.resource);
            overrides.push(Override {
                agent: meant.agent,
                tool: meant.tool,
                settings: settings.unwrap_or_else(|| self.base.clone()),
            });
        }
        (Audiences::new(conditions), overrides)
    }

    /// The processor's settings with an entry's own over them.
    fn settings(
        &self,
        member: &Node,
        by_tool: bool,
        problems: &mut Problems,
    ) -> Option<detectors::Settings> {
        let own = member.entry("detectors");
        let mut merged = self
            .entry
            .value
            .get("detectors")
            .filter(|node| !node.is_null())
            .cloned()
            .unwrap_or_else(|| Node::empty_map(member.place));
        if let Some(own) = own.filter(|own| !own.value.is_null()) {
            merge::merge(&mut merged, own.value.clone(), problems);
        }
        if let Some(emit) = member.entry("emit").filter(|emit| !emit.value.is_null()) {
            tell_all(&mut merged, own.map(|own| &own.value), emit);
        }
        let settings = problems.read_node(&merged)?;
        let written = Written {
            node: Some(&merged),
            own: own.map(|own| &own.value),
            place: own.map_or(member.place, |own| own.key_place),
        };
        let one_world = written.check(&settings, self.rules, problems);
        if let Some(own) = own {
            self.too_late(&own.value, problems);
        }
        if by_tool && one_world {
            self.one_family(own, &settings, problems);
        }
        Some(settings)
    }

    fn too_late(&self, own: &Node, problems: &mut Problems) {
        for (detector, keys) in BEFORE {
            for key in keys {
                if let Some(entry) = own.at(&[detector, key]) {
                    problems.push(
                        Problem::error(
                            entry.key_place,
                            format!("an override cannot change `{key}` of `{detector}`"),
                        )
                        .help(format!(
                            "it decides how spans are read, before it is known whose they are; set detectors.{detector}.{key} of the processor"
                        )),
                    );
                }
            }
        }
    }

    /// The calls of one lane look back at one another: some of them cannot follow other rules of the family.
    fn one_family(
        &self,
        own: Option<&Entry>,
        settings: &detectors::Settings,
        problems: &mut Problems,
    ) {
        let in_force = |settings: &detectors::Settings, anomaly| {
            settings.common(anomaly).rules.unwrap_or(self.rules)
        };
        let family = AnomalyType::ALL
            .into_iter()
            .filter(|a| a.family_rank().is_some());
        for anomaly in family {
            if in_force(settings, anomaly) == in_force(self.base, anomaly) {
                continue;
            }
            let place = own.and_then(|own| own.value.at(&[anomaly.name(), "rules"]));
            if let Some(entry) = place {
                problems.push(
                    Problem::error(
                        entry.shown(),
                        format!("`{anomaly}` cannot follow other rules for some tools only"),
                    )
                    .help("the calls of an agent are looked at together; match a service or an agent, or leave `rules` out"),
                );
                return;
            }
        }
    }
}

/// Writes an entry's `emit` into each detector that has none of its own in the same entry.
fn tell_all(merged: &mut Node, own: Option<&Node>, emit: &Entry) {
    let place = merged.place;
    let Value::Map(entries) = &mut merged.value else {
        return;
    };
    for anomaly in AnomalyType::ALL {
        let name = anomaly.name();
        if own.is_some_and(|own| own.at(&[name, "emit"]).is_some()) {
            continue;
        }
        if !entries.iter().any(|entry| entry.key == name) {
            entries.push(Entry {
                key: name.to_owned(),
                key_place: emit.key_place,
                value: Node::empty_map(place),
            });
        }
        let Some(detector) = entries.iter_mut().find(|entry| entry.key == name) else {
            continue;
        };
        if detector.value.is_null() {
            detector.value = Node::empty_map(place);
        }
        if let Value::Map(keys) = &mut detector.value.value {
            keys.retain(|entry| entry.key != "emit");
            keys.push(emit.clone());
        }
    }
}

/// Where to point for an entry: its first key.
fn shown(member: &Node) -> Place {
    member
        .entries()
        .first()
        .map_or(member.place, |entry| entry.key_place)
}

fn whom(member: &Node, problems: &mut Problems) -> Match {
    let mut meant = Match::default();
    let Some(node) = member.get("match") else {
        meant.broken = true;
        return meant;
    };
    if !matches!(node.value, Value::Map(_)) {
        problems.push(
            Problem::error(node.place, "expected a map of keys and globs")
                .help("write {service.name: \"etl-*\"}, and {} for everything"),
        );
        meant.broken = true;
        return meant;
    }
    let errors = problems.errors();
    for entry in node.entries() {
        if problems.is_dropped(entry.key_place) || !is_key(entry, problems) {
            continue;
        }
        if entry.value.text().is_none() {
            problems.push(
                Problem::error(
                    entry.key_place,
                    format!("expected a glob for `{}`", entry.key),
                )
                .help("one text, as \"etl-*\"; for several write \"{etl,batch}-*\""),
            );
            continue;
        }
        let glob = globs::read(&entry.value, problems);
        match entry.key.as_str() {
            "agent" => meant.agent = glob,
            "tool" => meant.tool = glob,
            key => meant.resource.extend(glob.map(|value| Condition {
                key: key.to_owned(),
                value,
            })),
        }
    }
    meant.broken = problems.errors() > errors;
    meant
}

/// Whether a key of `match` is one: `agent`, `tool`, or anything that may be a resource attribute.
fn is_key(entry: &Entry, problems: &mut Problems) -> bool {
    let key = entry.key.as_str();
    if ["agent", "tool"].contains(&key) || KNOWN.contains(&key) {
        return true;
    }
    let allowed = [
        "agent",
        "tool",
        "any resource attribute (service.name, ...)",
    ];
    if !key.contains('.') {
        problems.push(suggest::unknown_key(entry.key_place, key, &allowed));
        return false;
    }
    if key.ends_with("agent.name") || key.ends_with("tool.name") {
        let problem = Problem::error(
            entry.key_place,
            format!("`{key}` is an attribute of spans, not of resources"),
        );
        let word = if key.ends_with("agent.name") {
            "agent"
        } else {
            "tool"
        };
        problems.push(problem.help(format!("write `{word}`")));
        return false;
    }
    if let Some(near) = suggest::nearest(key, &KNOWN) {
        problems.push(
            Problem::warning(
                entry.key_place,
                format!("no well-known resource attribute is called `{key}`"),
            )
            .help(format!("did you mean `{near}`?")),
        );
    }
    true
}
