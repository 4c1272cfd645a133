//! A flight as a person reads it.
//!
//! Invariant: findings, counts and comparisons are read from the bytes that came out; nothing is shown
//! because it was expected.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use anstyle::{AnsiColor, Style};

use super::DemoError;
use super::came::{self, Came, Mark};
use super::cases::Case;
use super::flight::{Flight, Ports};
use crate::cli::plain::{self, Seen};
use crate::cli::screen;
use crate::cli::timeline::{self, Remark, Timeline};
use crate::exporters::Balance;
use crate::model::{Action, Claim, SpanId, Step, TraceId};
use crate::runtime::loopback::Transport;
use crate::steps::Reader;

/// What the plain rule is called: `--baseline same3` of `replay`.
const NAIVE: &str = "same call three times in a row";
/// Columns before what the sums say.
const SUMS: usize = 12;

/// Everything that is said, and whether all is as it should be.
#[derive(Debug)]
pub(super) struct Told {
    ports: Ports,
    columns: usize,
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
    /// Reads what came out, to be shown in at most `columns`.
    pub(super) fn new(flight: &Flight, columns: usize) -> Result<Self, DemoError> {
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
            runs.push(run(case, &steps, &came, columns, &mut wrong));
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
            columns,
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
            run.write(out, number + 1, self.columns)?;
        }
        self.write_sums(out)?;
        write_next(out, self.columns)?;
        if !self.wrong.is_empty() {
            let red = AnsiColor::Red.on_default().bold();
            writeln!(out, "\n{red}This is not what should have come out:{red:#}")?;
            for what in &self.wrong {
                write!(out, " ")?;
                screen::wrap(out, what, 1, 4, self.columns)?;
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
        write!(out, "{bold}agent-sentinel demo{bold:#}:")?;
        let what = format!("{runs} runs of agents, through a real collector on this host");
        screen::wrap(out, &what, 20, 2, self.columns)?;
        write!(out, "{dim}OpenTelemetry")?;
        let way = format!("SDK -> gRPC {grpc}, HTTP {http} -> collector -> gRPC {backend}");
        screen::wrap(out, &way, 13, 2, self.columns)?;
        writeln!(out, "{dim:#}")
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
        writeln!(out, "{bold}What came out{bold:#}")?;
        let sums = [
            (
                "bytes",
                format!(
                    "{passed} of {sent} spans unaltered: {equal} equal to the byte, {marked} with sentinel.* after that"
                ),
            ),
            (
                "requests",
                format!("{requests_equal} of {requests} came out in one piece, equal to the byte"),
            ),
            (
                "counts",
                format!(
                    "accepted {accepted} + synthetic {synthetic} = sent {gone} + dropped {dropped}"
                ),
            ),
            (
                "findings",
                format!(
                    "{found} in {guilty} broken runs; \"{NAIVE}\" finds {right} of them and raises {}",
                    screen::count(false_alarms as u64, "false alarm")
                ),
            ),
        ];
        for (name, text) in sums {
            write!(out, "  {name:<9}")?;
            screen::wrap(out, &text, SUMS - 1, SUMS - 1, self.columns)?;
        }
        writeln!(out)
    }
}

fn write_next(out: &mut dyn Write, columns: usize) -> io::Result<()> {
    let bold = Style::new().bold();
    let code = AnsiColor::Cyan.on_default();
    writeln!(out, "{bold}With your own data{bold:#}")?;
    let next = [
        (
            "agent-sentinel replay traces.jsonl",
            "recorded OTLP, from any collector",
        ),
        (
            "agent-sentinel run --config collector-config/quickstart.yaml",
            "between agents and backend",
        ),
    ];
    let widest = next.iter().map(|(command, _)| command.len()).max();
    let wide = widest.unwrap_or(0);
    for (command, what) in next {
        write!(out, "  {code}{command}{code:#}")?;
        // Below, where there is no room beside all of them.
        if wide + 38 > columns {
            writeln!(out, "\n      {what}")?;
        } else {
            writeln!(out, "{:1$}{what}", "", wide + 3 - command.len())?;
        }
    }
    Ok(())
}

impl Run {
    fn write(&self, out: &mut dyn Write, number: usize, columns: usize) -> io::Result<()> {
        let bold = Style::new().bold();
        let dim = Style::new().dimmed();
        let (style, verdict) = if self.verdict.is_empty() {
            (AnsiColor::Green.on_default(), "silent".to_owned())
        } else {
            (AnsiColor::Yellow.on_default(), self.verdict.join(", "))
        };
        let title = format!("{number}. {}", self.title);
        let from = &self.from;
        // What does not fit beside goes below.
        let mut used = title.len();
        write!(out, "{bold}{title}{bold:#}")?;
        for (style, text) in [(style, &verdict), (dim, from)] {
            used += text.len() + 2;
            if used > columns {
                used = text.len() + 3;
                write!(out, "\n ")?;
            }
            write!(out, "  {style}{text}{style:#}")?;
        }
        writeln!(out)?;
        for trace in &self.traces {
            self.timeline.write_run(out, *trace)?;
        }
        writeln!(out)
    }
}

/// Reads one run, and says where it differs from what should be.
fn run(case: &Case, steps: &[Step], came: &Came, columns: usize, wrong: &mut Vec<String>) -> Run {
    let mut timeline = Timeline::brief(columns);
    let mut traces: Vec<TraceId> = Vec::new();
    for step in steps {
        timeline.see(step);
        if !traces.contains(&step.trace) {
            traces.push(step.trace);
        }
    }
    let found = traces.iter().filter_map(|trace| came.marks.get(trace));
    let found: Vec<&Mark> = found.flatten().collect();
    let fires = fires(steps);
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

/// Where the plain rule fires first, if it does.
fn fires(steps: &[Step]) -> Option<SpanId> {
    let mut runs: BTreeMap<TraceId, Vec<Seen>> = BTreeMap::new();
    for (number, step) in steps.iter().enumerate() {
        runs.entry(step.trace)
            .or_default()
            .extend(Seen::of(step, number));
    }
    let rows = runs.into_values().flat_map(plain::rows);
    let first = rows.min_by_key(|row| row.fires_at.0);
    first.map(|row| row.fires_at.1)
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
        let told = Told::new(&flight, 100).unwrap();
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
    fn the_plain_rule_is_computed() {
        let cases = cases::load().unwrap();
        let fires: Vec<bool> = cases
            .iter()
            .map(|case| {
                let mut reader = Reader::new(Arc::default());
                let bodies = case.bodies.iter().cloned();
                let steps: Vec<Step> = bodies
                    .flat_map(|body| reader.read(body).unwrap().steps)
                    .collect();
                fires(&steps).is_some()
            })
            .collect();
        assert_eq!(fires, [false, true, false, true, true, false, false, false]);
    }
}
