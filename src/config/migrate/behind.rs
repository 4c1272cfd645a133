//! What stays in a collector, and where to keep it.

use super::super::components::{Section, kind_of};
use super::super::tree::Node;
use super::Notes;

/// Processors that say more about where to keep them than the others.
const PROCESSORS: [(&str, &str); 3] = [
    (
        "tail_sampling",
        "keep it in a collector behind this one, where it can sample by sentinel.anomaly.detected",
    ),
    (
        "probabilistic_sampler",
        "keep it in a collector behind this one: of a run with holes less can be judged",
    ),
    (
        "k8sattributes",
        "keep it in a collector in front of this one: it knows pods by the address they send from",
    ),
];

/// What is said of a component that we do not have.
pub(super) fn component(section: Section, id: &str) -> String {
    let one = section.one();
    let general = match section {
        Section::Receivers => "keep it in a collector in front that sends OTLP here",
        Section::Exporters => "keep it in a collector behind this one, and send OTLP there",
        Section::Processors | Section::Extensions => "keep it in a collector in front or behind",
    };
    let advice = section.advice(kind_of(id)).unwrap_or(general);
    match advice.split_once("; remove it") {
        Some((reason, _)) => format!("{one} `{id}` is left out: {reason}"),
        None => format!("{one} `{id}` stays behind: {advice}"),
    }
}

/// Whether a processor is one that somebody has to do without, for lack of it here.
pub(super) fn is_missed(id: &str) -> bool {
    let advice = Section::Processors.advice(kind_of(id));
    kind_of(id) != "anomaly" && !advice.is_some_and(|advice| advice.starts_with("not needed: "))
}

/// Sections and processors that have no place here.
pub(super) fn stays(theirs: &Node, notes: &mut Notes) {
    for entry in theirs.get("processors").map_or(&[][..], Node::entries) {
        notes.add(entry.key_place, processor(&entry.key));
    }
    for entry in theirs.get("connectors").map_or(&[][..], Node::entries) {
        let words = format!(
            "connector `{}` stays behind: keep it in a collector behind this one",
            entry.key
        );
        notes.add(entry.key_place, words);
    }
    let known = [
        "receivers",
        "processors",
        "exporters",
        "extensions",
        "connectors",
        "service",
    ];
    for entry in theirs.entries() {
        if !known.contains(&entry.key.as_str()) {
            let words = format!("`{}` is not known here", entry.key);
            notes.add(entry.key_place, words);
        }
    }
}

fn processor(id: &str) -> String {
    let kind = kind_of(id);
    let special = PROCESSORS.iter().find(|(name, _)| *name == kind);
    let advice = special.map(|(_, advice)| *advice);
    let advice = advice.or_else(|| Section::Processors.advice(kind));
    let advice = advice.unwrap_or("keep it in a collector in front of or behind this one");
    match advice.strip_prefix("not needed: ") {
        Some(reason) => {
            let reason = reason.replace("; remove it", "");
            format!("processor `{id}` is not needed: {reason}")
        }
        None if kind == "anomaly" => {
            format!("processor `{id}` is made anew: its own keys are not a collector's")
        }
        None => format!("processor `{id}` stays behind: {advice}"),
    }
}
