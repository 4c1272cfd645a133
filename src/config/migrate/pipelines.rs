//! `service`: pipelines with what is left of them.

use super::super::components::kind_of;
use super::super::tree::{Entry, Node, Value};
use super::{Notes, behind, made, scalar};

const SIGNALS: [&str; 3] = ["traces", "logs", "metrics"];

/// The service over the components taken over; `None` where no pipeline is left.
pub(super) fn service(theirs: &Node, ours: &[Entry], notes: &mut Notes) -> Option<Entry> {
    let service = theirs.get("service")?;
    let mut entries = Vec::new();
    if let Some(extensions) = service.entry("extensions") {
        entries.extend(list("extensions", extensions, ours, "extensions"));
    }
    entries.extend(service.entry("telemetry").cloned());
    let mut pipelines = Vec::new();
    let written = service.entry("pipelines");
    for pipeline in written.map_or(&[][..], |pipelines| pipelines.value.entries()) {
        let kind = kind_of(&pipeline.key);
        let left = pipeline_of(pipeline, ours);
        let words = match &left {
            None if !SIGNALS.contains(&kind) => {
                format!("stays behind: `{kind}` is no signal that is taken here")
            }
            None => "stays behind: none of its receivers, or none of its exporters, is here".into(),
            Some(_) => without(pipeline).unwrap_or_default(),
        };
        if !words.is_empty() {
            let words = format!("pipeline `{}` {words}", pipeline.key);
            notes.add(pipeline.key_place, words);
        }
        pipelines.extend(left);
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

/// What a pipeline that is taken over does without. It leads to where it led before, with nothing between.
fn without(pipeline: &Entry) -> Option<String> {
    let processors = pipeline.value.get("processors")?.members().iter();
    let ids = processors.filter_map(Node::text);
    let missed: Vec<String> = ids
        .filter(|id| behind::is_missed(id))
        .map(|id| format!("`{id}`"))
        .collect();
    (!missed.is_empty()).then(|| {
        let missed = missed.join(", ");
        format!(
            "goes on without {missed}: nothing does their work until a collector in front or behind has them"
        )
    })
}

/// What is left of a pipeline; `None` where it has no way in or no way out.
fn pipeline_of(pipeline: &Entry, ours: &[Entry]) -> Option<Entry> {
    if !SIGNALS.contains(&kind_of(&pipeline.key)) {
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
    Some(Entry {
        key: key.to_owned(),
        key_place: written.key_place,
        value: Node {
            place: written.value.place,
            value: Value::List(members),
        },
    })
}
