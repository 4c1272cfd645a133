//! `match` of an override: whom it means.

use globset::GlobMatcher;

use crate::steps::Condition;

use super::globs;
use super::problems::Problems;
use super::report::Problem;
use super::suggest;
use super::tree::{Entry, Node, Value};

/// Whom an entry means.
#[derive(Debug, Default)]
pub(super) struct Match {
    pub(super) resource: Vec<Condition>,
    pub(super) agent: Option<GlobMatcher>,
    pub(super) tool: Option<GlobMatcher>,
    /// Something of it could not be read.
    broken: bool,
}

impl Match {
    /// Whether it leaves nobody out.
    pub(super) fn is_everything(&self) -> bool {
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

/// Reads whom an entry means; what is wrong with it is reported.
pub(super) fn whom(member: &Node, problems: &mut Problems) -> Match {
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
    if !key.contains('.') {
        let problem = Problem::error(entry.key_place, format!("unknown key `{key}`"));
        let near = near(key).map(|name| format!("did you mean `{name}`?"));
        problems.push(
            problem
                .helps(near)
                .help("allowed: agent, tool, any resource attribute (service.name, ...)"),
        );
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

/// The key that may have been meant: near as a word, or a part of its name alone (`service`, `environment`).
fn near(key: &str) -> Option<&'static str> {
    let part = KNOWN
        .iter()
        .find(|known| known.split('.').any(|part| part == key));
    let all: Vec<&'static str> = ["agent", "tool"].into_iter().chain(KNOWN).collect();
    part.copied().or_else(|| suggest::nearest(key, &all))
}

/// Whether a key, found at another place, belongs under `match`.
pub(super) fn is_of_match(key: &str) -> bool {
    ["agent", "tool"].contains(&key) || KNOWN.contains(&key) || key.contains('.')
}
