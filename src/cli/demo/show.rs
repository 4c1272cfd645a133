//! A flight as a person reads it.
//!
//! Invariant: findings, counts and comparisons are read from the bytes that came out; nothing is shown
//! because it was expected.

use std::io::{self, Write};
use std::sync::Arc;

use anstyle::{AnsiColor, Style};

use super::DemoError;
use super::came::{self, Came, Mark};
use super::cases::Case;
use super::flight::{Flight, Ports};
use super::naive;
use crate::cli::timeline::{self, Remark, Timeline};
use crate::exporters::Balance;
use crate::model::{Action, Claim, Step, TraceId};
use crate::runtime::loopback::Transport;
use crate::steps::Reader;

/// Columns that everything fits.
const COLUMNS: usize = 100;
/// What the naive rule is called.
const NAIVE: &str = "same call three times";

/// Everything that is said, and whether all is as it should be.
#[derive(Debug)]
pub(super) struct Told {
    ports: Ports,
    runs: Vec<Run>,
    came: Came,
    accepted: u64,
    books: Option<Balance>,
    wrong: Vec<String>,
}

/// One run.
#[derive(Debug)]
struct Run {
    title: &'static str,
    from: String,
    verdict: Vec<String>,
    /// Whether it should have findings, and whether the naive rule has one.
    guilty: bool,
    naive: bool,
    timeline: Timeline,
    traces: Vec<TraceId>,
}

impl Told {
    /// Reads what came out.
    pub(super) fn new(flight: &Flight) -> Result<Self, DemoError> {
        let sent: Vec<_> = flight.sent.iter().flatten().cloned().collect();
        let mut came = came::compare(&sent, &flight.out)?;
        let mut wrong = flight.wrong.clone();
        wrong.append(&mut came.wrong);
        let mut runs = Vec::new();
        for (case, bodies) in flight.cases.iter().zip(&flight.sent) {
            let mut reader = Reader::new(Arc::default());
            let mut steps = Vec::new();
            for body in bodies {
                let reading = reader
                    .read(body.clone())
                    .map_err(|error| DemoError::Data(error.to_string()))?;
                steps.extend(reading.steps);
            }
            runs.push(run(case, &steps, &came, &mut wrong));
        }
        let balanced = |books: &Balance| {
            books.accepted == flight.accepted
                && books.accepted + books.synthetic == books.sent + books.dropped_total()
        };
        if !flight.books.as_ref().is_some_and(balanced) || flight.accepted != came.sent {
            wrong.push("accepted + synthetic is not sent + dropped".to_owned());
        }
        Ok(Self {
            ports: flight.ports,
            runs,
            came,
            accepted: flight.accepted,
            books: flight.books.clone(),
            wrong,
        })
    }

    /// Whether exactly that came out which should have.
    pub(super) fn is_right(&self) -> bool {
        self.wrong.is_empty()
    }

    /// Writes it.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_head(out)?;
        for (number, run) in self.runs.iter().enumerate() {
            run.write(out, number + 1)?;
        }
        self.write_sums(out)?;
        write_next(out)?;
        if !self.wrong.is_empty() {
            let red = AnsiColor::Red.on_default().bold();
            writeln!(out, "\n{red}This is not what should have come out:{red:#}")?;
            for what in &self.wrong {
                writeln!(out, "  {what}")?;
            }
        }
        Ok(())
    }

    fn write_head(&self, out: &mut dyn Write) -> io::Result<()> {
        let bold = Style::new().bold();
        let dim = Style::new().dimmed();
        let Ports {
            grpc,
            http,
            backend,
        } = self.ports;
        let runs = self.runs.len();
        writeln!(
            out,
            "{bold}agent-sentinel demo{bold:#}: {runs} runs of agents, through a real collector on this host\n\
             {dim}OpenTelemetry SDK -> gRPC {grpc}, HTTP {http} -> collector -> gRPC {backend}{dim:#}\n"
        )
    }

    fn write_sums(&self, out: &mut dyn Write) -> io::Result<()> {
        let bold = Style::new().bold();
        let Came {
            sent,
            equal,
            marked,
            requests,
            requests_equal,
            ..
        } = self.came;
        let (accepted, passed) = (self.accepted, equal + marked);
        let (synthetic, gone, dropped) = match &self.books {
            Some(books) => (books.synthetic, books.sent, books.dropped_total()),
            None => (0, 0, 0),
        };
        let count = |guilty: bool, naive: bool| {
            let runs = self.runs.iter();
            runs.filter(|run| run.guilty == guilty && run.naive == naive)
                .count()
        };
        let (right, missed, false_alarms) =
            (count(true, true), count(true, false), count(false, true));
        let guilty = right + missed;
        let found = self.came.marks.values().flatten().count();
        writeln!(
            out,
            "{bold}What came out{bold:#}\n  \
             bytes     {passed} of {sent} spans unaltered: {equal} equal to the byte, {marked} with sentinel.* after that\n  \
             requests  {requests_equal} of {requests} came out in one piece, equal to the byte\n  \
             counts    accepted {accepted} + synthetic {synthetic} = sent {gone} + dropped {dropped}\n  \
             findings  {found} in {guilty} broken runs; \"{NAIVE}\" finds {right} of them and raises {false_alarms} false alarms\n"
        )
    }
}

fn write_next(out: &mut dyn Write) -> io::Result<()> {
    let bold = Style::new().bold();
    let code = AnsiColor::Cyan.on_default();
    writeln!(
        out,
        "{bold}With your own data{bold:#}\n  \
         {code}agent-sentinel replay traces.jsonl{code:#}                             recorded OTLP, from any collector\n  \
         {code}agent-sentinel run --config collector-config/quickstart.yaml{code:#}   between agents and backend"
    )
}

impl Run {
    fn write(&self, out: &mut dyn Write, number: usize) -> io::Result<()> {
        let bold = Style::new().bold();
        let dim = Style::new().dimmed();
        let verdict = if self.verdict.is_empty() {
            format!("{0}silent{0:#}", AnsiColor::Green.on_default())
        } else {
            let yellow = AnsiColor::Yellow.on_default();
            format!("{yellow}{}{yellow:#}", self.verdict.join(", "))
        };
        let from = &self.from;
        writeln!(
            out,
            "{bold}{number}. {}{bold:#}  {verdict}  {dim}{from}{dim:#}",
            self.title
        )?;
        for trace in &self.traces {
            self.timeline.write_run(out, *trace)?;
        }
        writeln!(out)
    }
}

/// Reads one run, and says where it differs from what should be.
fn run(case: &Case, steps: &[Step], came: &Came, wrong: &mut Vec<String>) -> Run {
    let mut timeline = Timeline::brief(COLUMNS);
    let mut traces: Vec<TraceId> = Vec::new();
    for step in steps {
        timeline.see(step);
        if !traces.contains(&step.trace) {
            traces.push(step.trace);
        }
    }
    let found = traces.iter().filter_map(|trace| came.marks.get(trace));
    let found: Vec<&Mark> = found.flatten().collect();
    let fires = naive::fires(steps);
    for step in steps {
        let marks = found.iter().filter(|mark| mark.span == step.span);
        for mark in marks.clone() {
            let reason = mark.reason.as_deref();
            timeline.remark(
                step.trace,
                timeline::found(
                    step.span,
                    &mark.severity,
                    &mark.anomaly,
                    reason,
                    &mark.message,
                ),
            );
        }
        if claims(step) {
            timeline.remark(step.trace, verdict(step, marks.count() == 0));
        }
        if case.expected.is_empty() && fires == Some(step.span) {
            timeline.remark(step.trace, false_alarm(step));
        }
    }
    differences(case, steps, &found, wrong);
    let transport = match case.transport {
        Transport::Grpc => "gRPC",
        Transport::Http => "HTTP",
    };
    let from = match case.sdk {
        Some(sdk) => format!("captured from {sdk}; {transport}"),
        None => format!("bundled; {transport}"),
    };
    Run {
        title: case.title,
        from,
        verdict: found.iter().map(|mark| mark.anomaly.clone()).collect(),
        guilty: !case.expected.is_empty(),
        naive: fires.is_some(),
        timeline,
        traces,
    }
}

/// Compares findings with the table, type by type and step by step.
fn differences(case: &Case, steps: &[Step], found: &[&Mark], wrong: &mut Vec<String>) {
    let expected = case.expected.iter();
    let expected: Vec<String> = expected
        .map(|one| format!("{} at #{}", one.anomaly, one.step))
        .collect();
    let found: Vec<String> = found
        .iter()
        .map(|mark| {
            let place = steps.iter().position(|step| step.span == mark.span);
            let place = place.map_or_else(|| "no step".to_owned(), |at| format!("#{at}"));
            format!("{} at {place}", mark.anomaly)
        })
        .collect();
    if expected != found {
        let list = |items: &[String]| match items {
            [] => "nothing".to_owned(),
            items => items.join(", "),
        };
        wrong.push(format!(
            "{}: {} should have been found, but {} was",
            case.title,
            list(&expected),
            list(&found)
        ));
    }
}

fn claims(step: &Step) -> bool {
    match &step.action {
        Action::ModelCall(model) => model.text.is_some_and(|text| text.claim != Claim::None),
        Action::ToolCall(_) | Action::AgentRun(_) => false,
    }
}

/// What a claim is worth.
fn verdict(step: &Step, accepted: bool) -> Remark {
    let (colour, head) = if accepted {
        (AnsiColor::Green, "accepted")
    } else {
        (AnsiColor::Red, "rejected")
    };
    Remark {
        span: step.span,
        style: colour.on_default(),
        head: head.to_owned(),
        text: String::new(),
        notes: Vec::new(),
        breaks: false,
    }
}

fn false_alarm(step: &Step) -> Remark {
    Remark {
        span: step.span,
        style: AnsiColor::Magenta.on_default(),
        head: NAIVE.to_owned(),
        text: "would raise a false alarm here".to_owned(),
        notes: Vec::new(),
        breaks: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::demo::cases;
    use crate::model::SpanId;

    fn differs(found: &[(&str, usize)]) -> Vec<String> {
        let case = cases::load().unwrap().swap_remove(3);
        let mut reader = Reader::new(Arc::default());
        let steps = reader.read(case.bodies[0].clone()).unwrap().steps;
        let marks: Vec<Mark> = found
            .iter()
            .map(|(anomaly, at)| Mark {
                span: steps
                    .get(*at)
                    .map_or(SpanId::from_slice(&[9; 8]).unwrap(), |step| step.span),
                anomaly: (*anomaly).to_owned(),
                severity: "warning".to_owned(),
                reason: None,
                message: String::new(),
            })
            .collect();
        let mut wrong = Vec::new();
        differences(&case, &steps, &marks.iter().collect::<Vec<_>>(), &mut wrong);
        wrong
    }

    #[test]
    fn every_difference_is_told() {
        assert!(differs(&[("stuck", 5)]).is_empty());
        assert_eq!(
            differs(&[]),
            [
                "The same search again and again: stuck at #5 should have been found, but nothing was"
            ]
        );
        assert!(differs(&[("stuck", 7)])[0].contains("but stuck at #7 was"));
        assert!(
            differs(&[("stuck", 5), ("loop", 999)])[0].contains("stuck at #5, loop at no step")
        );
    }

    #[test]
    fn a_flight_that_brings_no_marks_is_not_right() {
        let cases = cases::load().unwrap();
        let sent: Vec<_> = cases.iter().map(|case| case.bodies.clone()).collect();
        let address = std::net::SocketAddr::from(([127, 0, 0, 1], 4317));
        let flight = Flight {
            out: sent.iter().flatten().skip(1).cloned().collect(),
            sent,
            cases,
            ports: Ports {
                grpc: address,
                http: address,
                backend: address,
            },
            accepted: 100,
            books: None,
            wrong: Vec::new(),
        };
        let told = Told::new(&flight).unwrap();
        assert!(!told.is_right());
        let mut text = Vec::new();
        told.write(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        for what in [
            "did not come out",
            "stuck at #5 should have been found, but nothing was",
            "accepted + synthetic is not sent + dropped",
        ] {
            assert!(text.contains(what), "{what} is not in\n{text}");
        }
    }

    #[test]
    fn the_naive_rule_is_computed() {
        let cases = cases::load().unwrap();
        let fires: Vec<bool> = cases
            .iter()
            .map(|case| {
                let mut reader = Reader::new(Arc::default());
                let bodies = case.bodies.iter().cloned();
                let steps: Vec<Step> = bodies
                    .flat_map(|body| reader.read(body).unwrap().steps)
                    .collect();
                naive::fires(&steps).is_some()
            })
            .collect();
        assert_eq!(fires, [false, true, true, true, true, true, false, false]);
    }
}
