//! A configuration of the OpenTelemetry collector, made into one of ours, and what has to stay in a collector.
//!
//! Values are carried over as they are written, references to the environment too. What our own reading of the result
//! does not take is left out and named, so that what comes out is always one that `validate` takes.

mod behind;
mod fit;
mod guard;
mod pipelines;
mod stand;

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

/// Why nothing came of a collector's configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Unmigrated {
    /// What was found on the way, as in [`Migrated`].
    pub notes: Vec<String>,
    /// What is wrong, a line each with its file and line, without what the file says there: whose keys are secrets
    /// is not known of another program's components.
    pub errors: Vec<String>,
}

impl Unmigrated {
    fn new(source: &Source, notes: Notes, problems: Problems) -> Self {
        let text = SourceText {
            name: source.name.clone(),
            text: source.text.clone(),
        };
        let report = Report::new(vec![text], problems.into_list(), &[]);
        Self {
            notes: notes.lines(source),
            errors: report.lines().collect(),
        }
    }
}

/// Makes a collector's configuration into ours. `now` is the time for which it has to be valid.
///
/// # Errors
/// The text is no YAML, or nothing of it can be taken over.
pub fn migrate(source: &Source, now: Timestamp) -> Result<Migrated, Unmigrated> {
    let mut problems = Problems::default();
    let mut notes = Notes::default();
    let tree = if source.text.len() as u64 > TEXT_MAX {
        problems.push(Problem::error(WHOLE, "longer than a configuration may be"));
        None
    } else {
        parse(0, 0, &source.text, &mut problems)
    };
    let broken = problems.errors() > 0;
    let Some(theirs) = tree.filter(|_| !broken) else {
        return Err(Unmigrated::new(source, notes, problems));
    };
    let mut ours = taken_over(&theirs, &mut notes);
    let mut stand_ins = stand::StandIns::default();
    let lost = fit::fit(&mut ours, now, &mut stand_ins, &mut notes);
    guard::shut(&mut ours, &lost, &mut notes);
    let faults = stand_ins.faults(&ours, now);
    if faults.is_empty() {
        return Ok(Migrated {
            text: print::as_written(&ours),
            notes: notes.lines(source),
        });
    }
    let pipelines = ours.at(&["service", "pipelines"]);
    if pipelines.is_some_and(|pipelines| !pipelines.value.entries().is_empty()) {
        for mut fault in faults {
            // What is wrong with what we made ourselves stands nowhere in their file.
            fault.place = fault
                .place
                .map(|place| if place == NOWHERE { WHOLE } else { place });
            fault.help.clear();
            problems.push(fault);
        }
    } else {
        let message = "nothing of it can be taken over: it needs a pipeline of traces \
                       from an `otlp` receiver to an OTLP, `debug` or `file` exporter";
        problems.push(Problem::error(WHOLE, message));
    }
    Err(Unmigrated::new(source, notes, problems))
}

/// What of theirs has a name here, not yet looked at more closely.
fn taken_over(theirs: &Node, notes: &mut Notes) -> Node {
    let mut entries = Vec::new();
    for section in [Section::Receivers, Section::Exporters, Section::Extensions] {
        let taken = components(theirs, section, notes);
        if !taken.value.entries().is_empty() {
            entries.push(taken);
        }
    }
    behind::stays(theirs, notes);
    let service = pipelines::service(theirs, &entries, notes);
    let anomaly = made("processors", vec![made("anomaly", Vec::new())]);
    entries.insert(entries.len().min(1), anomaly);
    entries.extend(service);
    Node {
        place: WHOLE,
        value: Value::Map(entries),
    }
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
            None => notes.add(entry.key_place, behind::component(section, &entry.key)),
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

/// The whole file.
const WHOLE: Place = Place {
    source: 0,
    start: 0,
    end: 0,
};

/// What we made ourselves.
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
