//! A configuration of the OpenTelemetry collector, made into one of ours, and what has to stay in a collector.
//!
//! Values are carried over as they are written, references to the environment too. What our own reading of the result
//! does not take is left out and named, so that what comes out is always one that `validate` takes.

mod fit;
mod pipelines;

use super::components::{Section, kind_of};
use super::parse::parse;
use super::print;
use super::problems::Problems;
use super::report::{Problem, Report, SourceText};
use super::tree::{Entry, Node, Place, Scalar, Value};
use super::{Source, TEXT_MAX};
use crate::model::Timestamp;

/// What came of a collector's configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migrated {
    /// Ours, as YAML.
    pub text: String,
    /// What stays behind or changes, by line, each with its file and line.
    pub notes: Vec<String>,
}

/// A remark about a place of the collector's file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Note {
    place: Place,
    words: String,
}

/// Notes under way.
#[derive(Debug, Default)]
struct Notes(Vec<Note>);

impl Notes {
    fn add(&mut self, place: Place, words: impl Into<String>) {
        let words = words.into();
        self.0.push(Note { place, words });
    }

    /// By line, with the file's name and the line in front.
    fn lines(mut self, source: &Source) -> Vec<String> {
        self.0.sort();
        self.0.dedup();
        let line = |note: &Note| {
            let before = source.text.get(..note.place.start).unwrap_or_default();
            let number = before.matches('\n').count() + 1;
            format!("{}:{number}: {}", source.name, note.words)
        };
        self.0.iter().map(line).collect()
    }
}

/// Makes a collector's configuration into ours. `now` is the time for which it has to be valid.
///
/// # Errors
/// The text is no YAML, or nothing of it can be taken over.
pub fn migrate(source: &Source, now: Timestamp) -> Result<Migrated, Report> {
    let mut problems = Problems::default();
    let whole = Place {
        source: 0,
        start: 0,
        end: 0,
    };
    let tree = if source.text.len() as u64 > TEXT_MAX {
        problems.push(Problem::error(whole, "longer than a configuration may be"));
        None
    } else {
        parse(0, 0, &source.text, &mut problems)
    };
    let broken = problems.errors() > 0;
    let Some(theirs) = tree.filter(|_| !broken) else {
        return Err(report(source, problems));
    };
    let mut notes = Notes::default();
    let mut ours = Node::empty_map(whole);
    let mut entries = Vec::new();
    for section in [Section::Receivers, Section::Exporters, Section::Extensions] {
        let taken = components(&theirs, section, &mut notes);
        if !taken.value.entries().is_empty() {
            entries.push(taken);
        }
    }
    stays(&theirs, &mut notes);
    entries.insert(
        entries.len().min(1),
        made("processors", vec![made("anomaly", Vec::new())]),
    );
    if let Some(service) = pipelines::service(&theirs, &entries, &mut notes) {
        entries.push(service);
    }
    ours.value = Value::Map(entries);
    fit::fit(&mut ours, now, &mut notes);
    if let Some(faults) = fit::faults(&ours, now) {
        if ours.at(&["service", "pipelines"]).is_some() {
            faults.into_iter().for_each(|fault| problems.push(fault));
            return Err(report(source, problems));
        }
        let message = "nothing of it can be taken over: it needs a pipeline of traces, logs or metrics \
                       from an `otlp` receiver to an OTLP, `debug` or `file` exporter";
        problems.push(Problem::error(whole, message));
        return Err(report(source, problems));
    }
    Ok(Migrated {
        text: print::as_written(&ours),
        notes: notes.lines(source),
    })
}

fn report(source: &Source, problems: Problems) -> Report {
    let text = SourceText {
        name: source.name.clone(),
        text: source.text.clone(),
    };
    Report::new(vec![text], problems.into_list(), &[])
}

/// The components of a section that we have.
fn components(theirs: &Node, section: Section, notes: &mut Notes) -> Entry {
    let mut taken = Vec::new();
    let written = theirs.get(section.key()).map_or(&[][..], Node::entries);
    for entry in written {
        let kind = kind_of(&entry.key);
        match renamed(section, kind) {
            Some(name) => {
                let mut entry = entry.clone();
                entry.key = entry.key.replacen(kind, name, 1);
                if section == Section::Exporters {
                    exporter(&mut entry, notes);
                }
                taken.push(entry);
            }
            None => {
                let advice = section.advice(kind);
                let advice = advice.unwrap_or("keep it in a collector in front or behind");
                let one = section.one();
                let words = match advice.split_once("; remove it") {
                    Some((reason, _)) => format!("{one} `{}` is left out: {reason}", entry.key),
                    None => format!("{one} `{}` stays behind: {advice}", entry.key),
                };
                notes.add(entry.key_place, words);
            }
        }
    }
    made(section.key(), taken)
}

/// Our name for a type of the collector's; `None` where we have none.
fn renamed(section: Section, kind: &str) -> Option<&str> {
    match (section, kind) {
        (Section::Exporters, "logging") => Some("debug"),
        (section, kind) => section.kinds().contains(&kind).then_some(kind),
    }
}

/// What means something else there: sizes of queues, and TLS where an endpoint does not say.
fn exporter(entry: &mut Entry, notes: &mut Notes) {
    if let Some(queue) = entry.value.get("sending_queue") {
        let bytes = queue.get("sizer").and_then(Node::text) == Some("bytes");
        if let (Some(size), false) = (queue.entry("queue_size"), bytes) {
            let words = "`queue_size` counts requests there and bytes here: left at 256MiB";
            notes.add(size.key_place, words);
            entry.value.remove(&["sending_queue", "queue_size"]);
        }
        entry.value.remove(&["sending_queue", "sizer"]);
    }
    let kind = kind_of(&entry.key);
    let endpoint = entry.value.get("endpoint").and_then(Node::text);
    let bare = endpoint.is_some_and(|endpoint| !endpoint.contains("://"));
    let silent = entry.value.at(&["tls", "insecure"]).is_none();
    if matches!(kind, "otlp" | "otlp_grpc") && bare && silent {
        // The collector speaks TLS unless told not to.
        let insecure = Entry {
            value: scalar("false"),
            ..made("insecure", Vec::new())
        };
        match &mut entry.value.value {
            Value::Map(entries) => match entries.iter_mut().find(|one| one.key == "tls") {
                Some(Entry {
                    value:
                        Node {
                            value: Value::Map(tls),
                            ..
                        },
                    ..
                }) => tls.push(insecure),
                Some(tls) => *tls = made("tls", vec![insecure]),
                None => entries.push(made("tls", vec![insecure])),
            },
            Value::Scalar(_) | Value::List(_) => {}
        }
    }
}

/// Sections and processors that have no place here.
fn stays(theirs: &Node, notes: &mut Notes) {
    for entry in theirs.get("processors").map_or(&[][..], Node::entries) {
        let kind = kind_of(&entry.key);
        let advice = match Section::Processors.advice(kind) {
            Some(advice) => advice,
            None if kind == "anomaly" => continue,
            None => "keep it in a collector in front of or behind this one",
        };
        let words = match advice.strip_prefix("not needed: ") {
            Some(reason) => format!("processor `{}` is not needed: {reason}", entry.key),
            None if kind == "tail_sampling" => format!(
                "processor `{}` stays behind: keep it in a collector behind this one, where it can sample by \
                 sentinel.anomaly.detected",
                entry.key
            ),
            None => format!("processor `{}` stays behind: {advice}", entry.key),
        };
        notes.add(entry.key_place, words.replace("; remove it", ""));
    }
    for entry in theirs.get("connectors").map_or(&[][..], Node::entries) {
        let words = format!(
            "connector `{}` stays behind: keep it in a collector in front or behind",
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
            notes.add(
                entry.key_place,
                format!("`{}` is not known here", entry.key),
            );
        }
    }
}

const NOWHERE: Place = Place {
    source: usize::MAX,
    start: 0,
    end: 0,
};

/// An entry of our own.
fn made(key: &str, entries: Vec<Entry>) -> Entry {
    Entry {
        key: key.to_owned(),
        key_place: NOWHERE,
        value: Node {
            place: NOWHERE,
            value: Value::Map(entries),
        },
    }
}

fn scalar(text: &str) -> Node {
    Node {
        place: NOWHERE,
        value: Value::Scalar(Scalar {
            text: text.to_owned(),
            plain: true,
            typed: None,
        }),
    }
}
