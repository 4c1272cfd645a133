//! `service.pipelines`: one engine stands in the middle, so pipelines may differ at one end only.

use super::build::Purpose;
use super::components::kind_of;
use super::problems::Problems;
use super::report::Problem;
use super::tree::{Entry, Place, Value};

/// A component named in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) id: String,
    pub(super) place: Place,
}

/// A pipeline as it is written.
#[derive(Clone, Debug)]
pub(super) struct Typed {
    pub(super) name: String,
    pub(super) place: Place,
    /// Something in it was wrong and reported, so that what is missing may only seem so.
    pub(super) broken: bool,
    pub(super) receivers: Vec<Reference>,
    pub(super) processors: Vec<Reference>,
    pub(super) exporters: Vec<Reference>,
}

/// One of the three lists of a pipeline.
pub(super) type Pick = fn(&Typed) -> &Vec<Reference>;

/// Reads all pipelines of traces; the others are reported.
pub(super) fn read(
    service: Option<&Entry>,
    purpose: Purpose,
    problems: &mut Problems,
) -> Vec<Typed> {
    let pipelines = service.and_then(|service| service.value.entry("pipelines"));
    let mut typed = Vec::new();
    for entry in pipelines.map_or(&[][..], |p| p.value.entries()) {
        let name = entry.key.as_str();
        let signal = kind_of(name);
        if signal != "traces" || name.ends_with('/') {
            problems.push(other_signal(entry, signal));
            continue;
        }
        let keys = ["receivers", "processors", "exporters"];
        if !matches!(entry.value.value, Value::Map(_)) && !entry.value.is_null() {
            problems.push(Problem::error(entry.key_place, "a pipeline is a map").help(
                "write traces: {receivers: [otlp], processors: [anomaly], exporters: [debug]}",
            ));
            continue;
        }
        let before = problems.errors();
        problems.only_keys(&entry.value, &keys);
        let mut list = |key| references(entry.value.entry(key), problems);
        let (receivers, processors, exporters) =
            (list("receivers"), list("processors"), list("exporters"));
        typed.push(Typed {
            name: name.to_owned(),
            place: entry.key_place,
            broken: problems.errors() > before,
            receivers,
            processors,
            exporters,
        });
    }
    if typed.is_empty() && purpose == Purpose::Run && problems.errors() == 0 {
        let problem = match pipelines.or(service) {
            Some(entry) => Problem::error(entry.key_place, "there is no pipeline"),
            None => Problem::missing("there is no pipeline"),
        };
        problems.push(problem.help(
            "write service: {pipelines: {traces: {receivers: [otlp], processors: [anomaly], exporters: [debug]}}}",
        ));
    }
    typed
}

fn other_signal(entry: &Entry, signal: &str) -> Problem {
    let known = ["metrics", "logs", "profiles"].contains(&signal);
    let message = if known {
        format!("only traces are taken here, no {signal}")
    } else {
        format!("`{}` is no name of a pipeline", entry.key)
    };
    let problem = Problem::error(entry.key_place, message);
    if known {
        problem.help("keep this pipeline in a collector in front")
    } else {
        problem.help("write traces or traces/name")
    }
}

/// The ids of a list, each once.
pub(super) fn references(entry: Option<&Entry>, problems: &mut Problems) -> Vec<Reference> {
    let Some(entry) = entry else {
        return Vec::new();
    };
    if problems.is_dropped(entry.key_place) {
        return Vec::new();
    }
    if !matches!(entry.value.value, Value::List(_)) && !entry.value.is_null() {
        problems.push(
            Problem::error(entry.shown(), format!("`{}` has to be a list", entry.key))
                .help(format!("write {}: [name]", entry.key)),
        );
        problems.drop(entry.key_place);
        return Vec::new();
    }
    let mut found: Vec<Reference> = Vec::new();
    for member in entry.value.members() {
        if problems.is_dropped(member.place) {
            continue;
        }
        let Some(id) = member.text() else {
            problems.push(Problem::error(
                member.place,
                "here the name of a component is expected",
            ));
            continue;
        };
        match found.iter().find(|known| known.id == id) {
            Some(known) => problems.push(
                Problem::error(member.place, format!("`{id}` is listed twice"))
                    .also(known.place, "first here"),
            ),
            None => found.push(Reference {
                id: id.to_owned(),
                place: member.place,
            }),
        }
    }
    found
}

/// Whether the pipelines are complete, and whether one engine can serve them.
pub(super) fn check(typed: &[Typed], purpose: Purpose, problems: &mut Problems) {
    if purpose == Purpose::Replay {
        return;
    }
    for pipeline in typed.iter().filter(|pipeline| !pipeline.broken) {
        for (key, references, example) in [
            ("receivers", &pipeline.receivers, "[otlp]"),
            ("exporters", &pipeline.exporters, "[debug]"),
        ] {
            if references.is_empty() {
                let message = format!("pipeline `{}` has no {key}", pipeline.name);
                let problem = Problem::error(pipeline.place, message);
                problems.push(problem.help(format!("write {key}: {example}")));
            }
        }
        if pipeline.processors.is_empty() {
            problems.push(
                Problem::error(
                    pipeline.place,
                    format!(
                        "pipeline `{}` has no processor: nothing would be judged",
                        pipeline.name
                    ),
                )
                .help("write processors: [anomaly]"),
            );
        }
        if let Some(second) = pipeline.processors.get(1) {
            problems.push(Problem::error(
                second.place,
                "one processor is all there is: `anomaly`, once",
            ));
        }
    }
    if typed.iter().all(|pipeline| !pipeline.broken) {
        one_engine(typed, problems);
    }
}

/// Several pipelines: the same processor, and the same receivers or the same exporters.
fn one_engine(typed: &[Typed], problems: &mut Problems) {
    let Some((first, others)) = typed.split_first() else {
        return;
    };
    let same = |pick: Pick| {
        let ids = |pipeline| {
            let mut ids: Vec<String> = pick(pipeline)
                .iter()
                .map(|r: &Reference| r.id.clone())
                .collect();
            ids.sort();
            ids
        };
        others.iter().all(|other| ids(other) == ids(first))
    };
    let (receivers, processors, exporters) = (
        same(|p| &p.receivers),
        same(|p| &p.processors),
        same(|p| &p.exporters),
    );
    if processors && (receivers || exporters) {
        return;
    }
    for other in others {
        problems.push(
            Problem::error(
                other.place,
                format!(
                    "pipelines `{}` and `{}` cannot share one engine",
                    first.name, other.name
                ),
            )
            .also(first.place, "the other one")
            .help("pipelines need the same processor, and the same receivers or the same exporters; else run two processes"),
        );
    }
}
