//! `service`: pipelines with what is left of them.

use super::super::components::kind_of;
use super::super::tree::{Entry, Node, Value};
use super::{Notes, made, scalar};

/// The service over the components taken over; `None` where no pipeline is left.
pub(super) fn service(theirs: &Node, ours: &[Entry], notes: &mut Notes) -> Option<Entry> {
    let service = theirs.get("service")?;
    let mut entries = Vec::new();
    if let Some(extensions) = service.entry("extensions") {
        entries.extend(list("extensions", extensions, ours, "extensions"));
    }
    entries.extend(service.entry("telemetry").cloned());
    let mut pipelines = Vec::new();
    for pipeline in service.get("pipelines").map_or(&[][..], Node::entries) {
        match pipeline_of(pipeline, ours) {
            Some(left) => pipelines.push(left),
            None => notes.add(
                pipeline.key_place,
                format!(
                    "pipeline `{}` stays behind: none of its receivers, or none of its exporters, is here",
                    pipeline.key
                ),
            ),
        }
    }
    for entry in service.entries() {
        if !matches!(entry.key.as_str(), "extensions" | "telemetry" | "pipelines") {
            let words = format!("`service.{}` is not known here", entry.key);
            notes.add(entry.key_place, words);
        }
    }
    if pipelines.is_empty() {
        return None;
    }
    entries.push(made("pipelines", pipelines));
    Some(made("service", entries))
}

/// What is left of a pipeline; `None` where it has no way in or no way out.
fn pipeline_of(pipeline: &Entry, ours: &[Entry]) -> Option<Entry> {
    if !matches!(kind_of(&pipeline.key), "traces" | "logs" | "metrics") {
        return None;
    }
    let receivers = list(
        "receivers",
        pipeline.value.entry("receivers")?,
        ours,
        "receivers",
    )?;
    let exporters = list(
        "exporters",
        pipeline.value.entry("exporters")?,
        ours,
        "exporters",
    )?;
    let mut entries = vec![receivers];
    if kind_of(&pipeline.key) == "traces" {
        let mut processors = made("processors", Vec::new());
        processors.value.value = Value::List(vec![scalar("anomaly")]);
        entries.push(processors);
    }
    entries.push(exporters);
    Some(Entry {
        key: pipeline.key.clone(),
        key_place: pipeline.key_place,
        value: made("", entries).value,
    })
}

/// The references of a list that lead to what was taken over, under our names.
fn list(key: &str, written: &Entry, ours: &[Entry], section: &str) -> Option<Entry> {
    let defined = ours.iter().find(|entry| entry.key == section)?;
    let reference = |node: &Node| {
        let text = node.text()?;
        let kind = kind_of(text);
        let name = match (section, kind) {
            ("exporters", "logging") => text.replacen(kind, "debug", 1),
            _ => text.to_owned(),
        };
        defined.value.entry(&name)?;
        Some(Node {
            place: node.place,
            ..scalar(&name)
        })
    };
    let members: Vec<Node> = written
        .value
        .members()
        .iter()
        .filter_map(reference)
        .collect();
    if members.is_empty() {
        return None;
    }
    let mut entry = made(key, Vec::new());
    entry.value.value = Value::List(members);
    Some(entry)
}
