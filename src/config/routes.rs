//! Pipelines of logs and metrics: what comes from where and goes to whom. A pipeline of logs passes on what its
//! receivers take, and takes findings where the processor is among its receivers (as a connector of the collector
//! is) or stands in it. A pipeline of metrics passes on.

use super::build::Purpose;
use super::components::{Section, kind_of};
use super::pipelines::{Reference, Typed};
use super::problems::Problems;
use super::report::Problem;
use super::settings::{Pipeline, Takes};
use super::suggest;
use super::tree::{Entry, Node};
use crate::annotations::LatePolicy;
use crate::engine;
use crate::model::Signal;

/// Whether a reference names a processor; else it names a receiver.
fn is_processor(reference: &Reference) -> bool {
    Section::Processors
        .kinds()
        .contains(&kind_of(&reference.id))
}

impl Typed {
    /// Whether findings go out here as log records.
    pub(super) fn takes_findings(&self) -> bool {
        self.signal == Signal::Logs
            && (!self.processors.is_empty() || self.receivers.iter().any(is_processor))
    }

    /// Whether log records that pass here are read for what they tell of agents.
    pub(super) fn reads_logs(&self) -> bool {
        self.signal == Signal::Logs && !self.processors.is_empty()
    }

    /// Its receivers, without the processor among those of a pipeline of logs.
    pub(super) fn sources(&self) -> impl Iterator<Item = &Reference> {
        let findings = self.signal == Signal::Logs;
        let receivers = self.receivers.iter();
        receivers.filter(move |reference| !(findings && is_processor(reference)))
    }

    /// As it is shown.
    pub(super) fn names(&self) -> Pipeline {
        let ids = |references: &[Reference]| -> Vec<String> {
            references.iter().map(|r| r.id.clone()).collect()
        };
        Pipeline {
            name: self.name.clone(),
            receivers: ids(&self.receivers),
            processors: ids(&self.processors),
            exporters: ids(&self.exporters),
        }
    }
}

/// What the pipelines have a receiver take, and the exporters that get it.
pub(super) fn takes(typed: &[Typed], receiver: &str) -> Takes {
    let of = |signal| {
        let mut pipelines = typed.iter().filter(move |p| p.signal == signal);
        let mut exporters: Vec<String> = Vec::new();
        let mut named = false;
        for pipeline in pipelines.by_ref() {
            if pipeline.sources().any(|source| source.id == receiver) {
                named = true;
                for exporter in &pipeline.exporters {
                    if !exporters.contains(&exporter.id) {
                        exporters.push(exporter.id.clone());
                    }
                }
            }
        }
        (named, exporters)
    };
    Takes {
        traces: of(Signal::Traces).0,
        logs: of(Signal::Logs).1,
        reads_logs: typed
            .iter()
            .any(|one| one.reads_logs() && one.sources().any(|source| source.id == receiver)),
        metrics: of(Signal::Metrics).1,
    }
}

/// Whether pipelines of logs and metrics can be served. `receivers` are those defined.
pub(super) fn check(typed: &[Typed], receivers: &[&str], problems: &mut Problems) {
    // Whose findings and whose processor they may name: the first there is, so that all are of one engine.
    let processor = typed
        .iter()
        .filter(|pipeline| pipeline.signal == Signal::Traces)
        .chain(typed.iter().filter(|p| p.signal == Signal::Logs))
        .flat_map(|pipeline| &pipeline.processors)
        .map(|reference| reference.id.as_str())
        .next();
    for pipeline in typed.iter().filter(|pipeline| !pipeline.broken) {
        match pipeline.signal {
            Signal::Traces => {}
            Signal::Logs => {
                processors_of_logs(pipeline, processor, problems);
                receivers_of(pipeline, receivers, processor, problems);
            }
            Signal::Metrics => {
                if let Some(first) = pipeline.processors.first() {
                    let message =
                        "a pipeline of metrics has no processors: they are passed on unread";
                    let problem = Problem::error(first.place, message);
                    problems.push(problem.help("remove processors"));
                }
                receivers_of(pipeline, receivers, None, problems);
            }
        }
    }
}

fn processors_of_logs(pipeline: &Typed, processor: Option<&str>, problems: &mut Problems) {
    if let Some(second) = pipeline.processors.get(1) {
        problems.push(Problem::error(
            second.place,
            "one processor is all there is: `anomaly`, once",
        ));
    }
    let Some(first) = pipeline.processors.first() else {
        return;
    };
    if processor.is_some_and(|processor| processor != first.id) {
        let message = format!("`{}` is not the processor of the other pipelines", first.id);
        let problem = Problem::error(first.place, message);
        let processor = processor.unwrap_or_default();
        problems.push(problem.help(format!("one engine judges all: write [{processor}]")));
    } else if pipeline.sources().next().is_none() && !pipeline.receivers.is_empty() {
        let message = "findings are not judged again: there is nothing else in this pipeline";
        let problem = Problem::error(first.place, message);
        problems.push(problem.help("remove processors, or add a receiver"));
    }
}

fn receivers_of(
    pipeline: &Typed,
    receivers: &[&str],
    processor: Option<&str>,
    problems: &mut Problems,
) {
    let known: Vec<&str> = receivers.iter().copied().chain(processor).collect();
    for reference in &pipeline.receivers {
        let id = reference.id.as_str();
        // Where nothing judges, that is what is said.
        let unjudged = pipeline.signal == Signal::Logs && processor.is_none();
        if known.contains(&id) || (unjudged && is_processor(reference)) {
            continue;
        }
        let message = match (pipeline.signal, is_processor(reference)) {
            (Signal::Metrics, true) => format!("`{id}` makes no metrics of its own here"),
            (_, true) => format!("`{id}` is not the processor of a pipeline of traces"),
            _ => format!("receiver `{id}` is not defined"),
        };
        let help = match suggest::nearest(id, &known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => match known.first() {
                Some(first) => format!("write receivers: [{first}]"),
                None => "define a receiver under receivers:".to_owned(),
            },
        };
        problems.push(Problem::error(reference.place, message).help(help));
    }
}

/// Late findings that are to go out as log records have somewhere to go. `id` is the processor's.
pub(super) fn findings_arrive(
    root: &Node,
    purpose: Purpose,
    id: &str,
    engine: &engine::Settings,
    problems: &mut Problems,
) {
    let arrive = engine.logs || engine.annotate.late != LatePolicy::Log;
    if arrive || purpose == Purpose::Replay {
        return;
    }
    let processors = root.get(Section::Processors.key());
    let written = processors
        .and_then(|processors| processors.entry(id))
        .and_then(|entry| entry.value.at(&["annotate", "late"]));
    let message = "late findings are to go out as log records, and no pipeline of logs takes them";
    let problem = match written {
        Some(written) => Problem::error(Entry::shown(written), message),
        None => Problem::missing(message),
    };
    problems.push(problem.help(format!(
        "add to service.pipelines: logs: {{receivers: [{id}], exporters: [debug]}}"
    )));
}
