//! What cannot be seen is said (DESIGN 6.3): with arguments, results, definitions or texts taken off the
//! spans, a finding turns into `not assessed` or into a weaker one, never into silence, and nothing new is found.

#[path = "support/field.rs"]
mod field;

use std::collections::{BTreeMap, BTreeSet};

use agent_sentinel::engine::Output;
use agent_sentinel::model::Severity;
use agent_sentinel::otlp;
use field::{Case, Dialect, Shape};
use serde_json::Value;

/// What an emitter leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strip {
    Arguments,
    Results,
    Definitions,
    Texts,
}

impl Strip {
    const ALL: [Self; 4] = [
        Self::Arguments,
        Self::Results,
        Self::Definitions,
        Self::Texts,
    ];

    /// Whether an attribute stays; messages lose what is in them.
    fn keeps(self, attribute: &mut Value) -> bool {
        let key = attribute["key"].as_str().unwrap_or_default().to_owned();
        match (self, key.as_str()) {
            (Self::Arguments, "gen_ai.tool.call.arguments")
            | (Self::Results, "gen_ai.tool.call.result")
            | (Self::Definitions, "gen_ai.tool.definitions")
            | (Self::Texts, "gen_ai.input.messages") => false,
            (Self::Arguments | Self::Texts, "gen_ai.output.messages") => {
                let value = &mut attribute["value"]["stringValue"];
                let text = value.as_str().unwrap_or_default();
                let mut messages: Value = serde_json::from_str(text).unwrap_or_default();
                for message in messages.as_array_mut().into_iter().flatten() {
                    let parts = message["parts"].as_array_mut();
                    for part in parts.into_iter().flatten().filter_map(Value::as_object_mut) {
                        part.remove(match self {
                            Self::Arguments => "arguments",
                            _ => "content",
                        });
                    }
                }
                *value = messages.to_string().into();
                true
            }
            _ => true,
        }
    }

    fn from(self, document: &mut Value) {
        let spans = &mut document["resourceSpans"][0]["scopeSpans"][0]["spans"];
        for span in spans.as_array_mut().into_iter().flatten() {
            if let Some(attributes) = span["attributes"].as_array_mut() {
                attributes.retain_mut(|attribute| self.keeps(attribute));
            }
        }
    }
}

fn play(case: &Case, shape: Shape, strip: Option<Strip>) -> Output {
    field::run(case, &field::requests(case, shape), |request| {
        let mut document = field::document(case, request, Dialect::GenAi);
        if let Some(strip) = strip {
            strip.from(&mut document);
        }
        otlp::transcode(document.to_string().as_bytes()).unwrap_or_default()
    })
}

/// Findings that a case shows only where something else of it is not captured. Unknown answers make a note of twice the
/// repeats (A2): that is said beside `not assessed`, and is no alarm.
fn is_note_without_results(out: &Output, anomaly: &str) -> bool {
    let of_type = |name: &str| name == anomaly;
    out.reports
        .iter()
        .filter(|report| of_type(report.finding.anomaly.name()))
        .all(|report| {
            report.severity == Severity::Info && report.finding.reason == Some("no_results")
        })
}

/// The worst severity of each type found.
fn worst(out: &Output) -> BTreeMap<&'static str, i64> {
    let mut worst = BTreeMap::new();
    for report in &out.reports {
        let number = worst.entry(report.finding.anomaly.name()).or_default();
        *number = report.severity.number().max(*number);
    }
    worst
}

fn lacking(out: &Output) -> BTreeSet<&'static str> {
    let closed = out.closed.iter();
    closed
        .flat_map(|run| run.not_assessed.iter().map(|(anomaly, _)| anomaly.name()))
        .collect()
}

fn check(shape: Shape) {
    let mut wrong = Vec::new();
    let mut turned = 0;
    for case in field::load("cases") {
        let whole = worst(&play(&case, shape, None));
        for strip in Strip::ALL {
            let out = play(&case, shape, Some(strip));
            let (left, lacking) = (worst(&out), lacking(&out));
            for (anomaly, severity) in &left {
                match whole.get(anomaly) {
                    None if is_note_without_results(&out, anomaly) && lacking.contains(anomaly) => {
                    }
                    None => wrong.push(format!("{} {strip:?}: new {anomaly}", case.id)),
                    Some(before) if before < severity => wrong.push(format!(
                        "{} {strip:?}: {anomaly} {before} became {severity}",
                        case.id
                    )),
                    Some(_) => {}
                }
            }
            for anomaly in whole.keys().filter(|one| !left.contains_key(*one)) {
                turned += 1;
                if !lacking.contains(anomaly) {
                    wrong.push(format!("{} {strip:?}: {anomaly} fell silent", case.id));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(turned > 100, "only {turned} findings could not be assessed");
}

#[test]
fn what_is_taken_away_is_missed_aloud_with_agents_named_on_every_span() {
    check(Shape::Plain);
}

#[test]
fn what_is_taken_away_is_missed_aloud_in_the_shape_of_an_sdk() {
    check(Shape::Sdk);
}
