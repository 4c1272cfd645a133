//! `processors.anomaly.overrides`: other settings of the detectors for some services, agents or tools.
//!
//! Invariant: an override's settings are the processor's with its own laid over them, and checked like them.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::detectors::{self, Override, Rules};
use crate::model::{AnomalyType, Emit};
use crate::steps::Audiences;

use super::detectors::Written;
use super::merge;
use super::problems::Problems;
use super::report::Problem;
use super::tree::{Entry, Node, Place, Value};
use super::whom::{is_of_match, whom};

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
        for (at, member) in members.iter().enumerate().take(Audiences::MAX) {
            misplaced(member, problems);
            let Some(_) = problems.read_node::<Typed>(member) else {
                continue;
            };
            let errors = problems.errors();
            let meant = whom(member, problems);
            let reached = everything.is_none();
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
            // With entries behind it, an entry without changes keeps them from those it means.
            let same = settings.as_ref() == Some(self.base) && at + 1 == members.len();
            if same && problems.errors() == errors && reached {
                problems.push(
                    Problem::error(shown(member), "this entry changes nothing").help(
                        "leave it out, or say what is other here under `detectors` or `emit`",
                    ),
                );
            }
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
        if by_tool {
            of_replies(own, &settings, problems);
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

/// Detectors that look at answers of models only, under an entry for the calls of some tools.
fn of_replies(own: Option<&Entry>, settings: &detectors::Settings, problems: &mut Problems) {
    for entry in own.map_or(&[][..], |own| own.value.entries()) {
        let anomaly = AnomalyType::ALL
            .into_iter()
            .find(|one| one.name() == entry.key);
        if anomaly.is_some_and(|anomaly| !detectors::judges_calls(anomaly, settings)) {
            let message = format!(
                "`{}` judges answers, which are of no tool: this never applies",
                entry.key
            );
            problems.push(
                Problem::error(entry.key_place, message)
                    .help("match a service or an agent instead of a tool, or leave it out"),
            );
        }
    }
}

/// Keys that stand right below an entry and belong somewhere else in it.
fn misplaced(member: &Node, problems: &mut Problems) {
    for entry in member.entries() {
        let key = entry.key.as_str();
        let detector = AnomalyType::ALL.iter().any(|one| one.name() == key);
        let help = if ["match", "detectors", "emit"].contains(&key) {
            continue;
        } else if detector {
            format!("it stands under `detectors`: detectors: {{{key}: ...}}")
        } else if is_of_match(key) {
            format!("it stands under `match`: match: {{{key}: ...}}")
        } else if ["enabled", "severity", "rules", "tools"].contains(&key)
            || detectors::keys().any(|one| one.key == key)
        {
            format!("it stands under a detector: detectors: {{stuck: {{{key}: ...}}}}")
        } else {
            continue;
        };
        problems.push(
            Problem::error(entry.key_place, format!("`{key}` is no key of an override"))
                .help(help)
                .help("allowed: match, detectors, emit"),
        );
        problems.drop(entry.key_place);
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
