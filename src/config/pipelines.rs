//! `service.pipelines`: one engine stands in the middle, so pipelines of traces may differ at one end only. Those
//! of logs and metrics are free.

use super::build::Purpose;
use super::components::kind_of;
use super::problems::Problems;
use super::report::Problem;
use super::routes;
use super::suggest;
use super::tree::{Entry, Node, Place, Value};
use crate::model::Signal;

/// A component named in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) id: String,
    pub(super) place: Place,
}

/// A pipeline as it is written.
#[derive(Clone, Debug)]
pub(super) struct Typed {
    pub(super) signal: Signal,
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

/// What an exporter is to send: the signals of the pipelines that name it, spans where none does.
pub(super) fn signals_of(service: Option<&Entry>, exporter: &str) -> Vec<Signal> {
    let pipelines = service.and_then(|service| service.value.entry("pipelines"));
    let mut signals = Vec::new();
    for entry in pipelines.map_or(&[][..], |p| p.value.entries()) {
        let list = entry.value.entry("exporters");
        let members = list.map_or(&[][..], |list| list.value.members());
        let named = |node: &Node| node.text() == Some(exporter);
        let signal = signal_of(kind_of(&entry.key));
        let new = signal.filter(|signal| !signals.contains(signal));
        signals.extend(new.filter(|_| members.iter().any(named)));
    }
    if signals.is_empty() {
        signals.push(Signal::Traces);
    }
    signals
}

fn signal_of(kind: &str) -> Option<Signal> {
    Signal::ALL.into_iter().find(|signal| signal.name() == kind)
}

/// Reads all pipelines; those of other signals are reported.
pub(super) fn read(
    service: Option<&Entry>,
    purpose: Purpose,
    problems: &mut Problems,
) -> Vec<Typed> {
    let pipelines = service.and_then(|service| service.value.entry("pipelines"));
    let mut typed = Vec::new();
    for entry in pipelines.map_or(&[][..], |p| p.value.entries()) {
        let name = entry.key.as_str();
        let kind = kind_of(name);
        let Some(signal) = signal_of(kind).filter(|_| !name.ends_with('/')) else {
            problems.push(other_signal(entry, kind));
            continue;
        };
        let keys = ["receivers", "processors", "exporters"];
        if !matches!(entry.value.value, Value::Map(_)) && !entry.value.is_null() {
            let example = match signal {
                Signal::Traces => {
                    "write traces: {receivers: [otlp], processors: [anomaly], exporters: [debug]}"
                }
                Signal::Logs => "write logs: {receivers: [otlp, anomaly], exporters: [debug]}",
                Signal::Metrics => "write metrics: {receivers: [otlp], exporters: [debug]}",
            };
            problems.push(Problem::error(entry.key_place, "a pipeline is a map").help(example));
            continue;
        }
        let before = problems.errors();
        problems.only_keys(&entry.value, &keys);
        let mut list = |key| references(entry.value.entry(key), problems);
        let (receivers, processors, exporters) =
            (list("receivers"), list("processors"), list("exporters"));
        typed.push(Typed {
            signal,
            name: name.to_owned(),
            place: entry.key_place,
            broken: problems.errors() > before,
            receivers,
            processors,
            exporters,
        });
    }
    let judges = |typed: &Typed| typed.signal == Signal::Traces || !typed.processors.is_empty();
    if !typed.iter().any(judges) && purpose == Purpose::Run && problems.errors() == 0 {
        let message = if typed.is_empty() {
            "there is no pipeline"
        } else {
            "there is no pipeline of traces: nothing would be judged"
        };
        let problem = match pipelines.or(service) {
            Some(entry) => Problem::error(entry.key_place, message),
            None => Problem::missing(message),
        };
        problems.push(problem.help(
            "write service: {pipelines: {traces: {receivers: [otlp], processors: [anomaly], exporters: [debug]}}}",
        ));
    }
    typed
}

fn other_signal(entry: &Entry, signal: &str) -> Problem {
    let known = signal == "profiles";
    let message = if known {
        "only traces, logs and metrics are taken here, no profiles".to_owned()
    } else {
        format!("`{}` is no name of a pipeline", entry.key)
    };
    let problem = Problem::error(entry.key_place, message);
    if known {
        problem.help("keep this pipeline in a collector in front")
    } else {
        match suggest::nearest(signal, &["traces", "logs", "metrics"]) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem
                .help("write traces, logs or metrics, or one of them with a name: traces/name"),
        }
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
pub(super) fn check(
    typed: &[Typed],
    receivers: &[&str],
    purpose: Purpose,
    problems: &mut Problems,
) {
    if purpose == Purpose::Replay {
        return;
    }
    let of_traces = |pipeline: &&Typed| pipeline.signal == Signal::Traces;
    let traces: Vec<&Typed> = typed.iter().filter(of_traces).collect();
    for pipeline in typed.iter().filter(|pipeline| !pipeline.broken) {
        let receiver = match pipeline.signal {
            Signal::Logs => "[otlp], or [anomaly] for findings",
            Signal::Traces | Signal::Metrics => "[otlp]",
        };
        for (key, references, example) in [
            ("receivers", &pipeline.receivers, receiver),
            ("exporters", &pipeline.exporters, "[debug]"),
        ] {
            if references.is_empty() {
                let message = format!("pipeline `{}` has no {key}", pipeline.name);
                let problem = Problem::error(pipeline.place, message);
                problems.push(problem.help(format!("write {key}: {example}")));
            }
        }
    }
    for pipeline in traces.iter().filter(|pipeline| !pipeline.broken) {
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
    if traces.iter().all(|pipeline| !pipeline.broken) {
        one_engine(&traces, problems);
    }
    routes::check(typed, receivers, problems);
}

/// Several pipelines: the same processor, and the same receivers or the same exporters.
fn one_engine(typed: &[&Typed], problems: &mut Problems) {
    let Some((first, others)) = typed.split_first() else {
        return;
    };
    let same = |pick: Pick| {
        let ids = |pipeline: &Typed| {
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
