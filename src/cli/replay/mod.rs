//! `replay`: the same engine, fed from a recording (DESIGN 9). Scripts depend on its output.

mod driver;
mod input;
mod record;
mod wrappers;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::sync::Arc;

use crate::config::Purpose;
use crate::engine::{Output, Quiet, Why};
use crate::model::Severity;
use crate::otlp;
use crate::runtime::files;
use crate::steps::Reader;

use super::arguments::{Format, ReplayArguments};
use super::configuration;
use super::failure::{self, Failure};
use super::timeline::Timeline;

pub(super) use driver::Driver;

/// Judges recorded spans.
///
/// # Errors
/// A wrong configuration; output that cannot be written. Unreadable records and inputs are told on standard
/// error and counted in the exit code.
pub(super) fn replay(arguments: &ReplayArguments) -> Result<ExitCode, Failure> {
    let (settings, warnings) = configuration::load_for(Purpose::Replay, &arguments.config)?;
    if warnings.warnings() > 0 {
        complain(&failure::told(&warnings))?;
    }
    if let Some(path) = &arguments.annotated
        && arguments.inputs.iter().any(|i| files::same(i, path))
    {
        return Err(Failure::Usage(format!(
            "--annotated {} is also an input, and would be emptied before it is read; write to another file",
            path.display()
        )));
    }
    let mut replay = Replay {
        driver: Driver::new(settings.engine, Reader::new(Arc::new(settings.steps))),
        printer: Printer::new(arguments)?,
        out: Output::default(),
        unreadable: 0,
        spans: 0,
        malformed: 0,
    };
    for path in &arguments.inputs {
        replay.read(path)?;
    }
    replay.finish(arguments)
}

struct Replay {
    driver: Driver,
    printer: Printer,
    out: Output,
    unreadable: u64,
    spans: u64,
    malformed: u64,
}

impl Replay {
    fn read(&mut self, path: &std::path::Path) -> Result<(), Failure> {
        let name = if path == std::path::Path::new("-") {
            "stdin".to_owned()
        } else {
            path.display().to_string()
        };
        let mut failed: Result<(), Failure> = Ok(());
        let read = input::read(path, |item| {
            if failed.is_ok() {
                failed = self.record(&name, item);
            }
        });
        failed?;
        if let Err(what) = read {
            self.unreadable += 1;
            complain(&format!("{name}: {what}"))?;
        }
        Ok(())
    }

    fn record(
        &mut self,
        name: &str,
        item: Result<input::Recorded, input::Unreadable>,
    ) -> Result<(), Failure> {
        let recorded = match item {
            Ok(recorded) => recorded,
            Err(input::Unreadable { line, what }) => {
                self.unreadable += 1;
                complain(&format!("{name}:{line}: {what}; skipped"))?;
                return Ok(());
            }
        };
        let printer = &mut self.printer;
        let fed = self.driver.feed(
            recorded.body,
            recorded.received,
            |step| printer.see(step),
            &mut self.out,
        );
        match fed {
            Ok(fed) => {
                self.spans += u64::from(fed.spans);
                self.malformed += fed.malformed;
                if let Some(first) = fed.first_malformed {
                    let line = recorded.line;
                    self.unreadable += 1;
                    complain(&format!(
                        "{name}:{line}: {} malformed: {first}",
                        fed.malformed
                    ))?;
                }
            }
            Err(error) => {
                self.unreadable += 1;
                complain(&format!("{name}:{}: {error}; skipped", recorded.line))?;
            }
        }
        self.printer.print(&mut self.out)?;
        Ok(())
    }

    fn finish(mut self, arguments: &ReplayArguments) -> Result<ExitCode, Failure> {
        self.driver.finish(&mut self.out);
        self.printer.print(&mut self.out)?;
        let worst = self.printer.worst;
        self.printer.finish(self.spans, self.malformed)?;
        if self.unreadable > 0 {
            return Ok(ExitCode::from(failure::DATA));
        }
        let limit = arguments.fail_on.map(|severity| severity.severity());
        let failed = limit.is_some_and(|limit| worst >= Some(limit));
        Ok(ExitCode::from(u8::from(failed)))
    }
}

fn complain(text: &str) -> io::Result<()> {
    writeln!(anstream::stderr().lock(), "{text}")
}

/// Where results go.
struct Printer {
    format: Format,
    stdout: Box<dyn Write>,
    sessions: Option<record::Sessions>,
    timeline: Timeline,
    annotated: Option<Box<dyn Write>>,
    worst: Option<Severity>,
    findings: u64,
    on_trial: u64,
    ignored: u64,
}

impl Printer {
    fn new(arguments: &ReplayArguments) -> Result<Self, Failure> {
        let annotated: Option<Box<dyn Write>> = match &arguments.annotated {
            None => None,
            Some(path) if path == std::path::Path::new("-") => {
                Some(Box::new(BufWriter::new(io::stdout())))
            }
            Some(path) => {
                let file = files::create(path).map_err(|e| Failure::Runtime(e.to_string()))?;
                Some(Box::new(BufWriter::new(file)))
            }
        };
        Ok(Self {
            format: arguments.format,
            stdout: Box::new(BufWriter::new(anstream::stdout())),
            sessions: arguments.sessions.then(record::Sessions::default),
            timeline: Timeline::default(),
            annotated,
            worst: None,
            findings: 0,
            on_trial: 0,
            ignored: 0,
        })
    }

    fn see(&mut self, step: &crate::model::Step) {
        if self.format == Format::Text {
            self.timeline.see(step);
        }
    }

    fn print(&mut self, out: &mut Output) -> Result<(), Failure> {
        for report in out.reports.drain(..) {
            self.worst = self.worst.max(Some(report.severity));
            self.findings += 1;
            match self.format {
                Format::Json => {
                    let line = record::finding(&report)
                        .map_err(|error| Failure::Software(error.to_string()))?;
                    writeln!(self.stdout, "{line}")?;
                }
                Format::Text => self.timeline.report(&report),
            }
        }
        for quiet in out.quiet.drain(..) {
            self.quiet(&quiet)?;
        }
        for closed in out.closed.drain(..) {
            if let Some(sessions) = &mut self.sessions {
                sessions.add(&closed);
            }
            if self.format == Format::Text {
                self.timeline.close(&closed);
            }
        }
        for release in out.releases.drain(..) {
            if let Some(annotated) = &mut self.annotated {
                let line = otlp::to_json(&otlp::pack(&release))
                    .map_err(|error| Failure::Software(error.to_string()))?;
                writeln!(annotated, "{line}")?;
            }
        }
        Ok(())
    }

    /// What stands on no span: a rule on trial is told as such, what was accepted to people only.
    fn quiet(&mut self, quiet: &Quiet) -> Result<(), Failure> {
        match quiet.why {
            Why::Trial => self.on_trial += 1,
            Why::Ignored(_) => self.ignored += 1,
        }
        match (self.format, &quiet.why) {
            (Format::Text, _) => self.timeline.quiet(quiet),
            (Format::Json, Why::Ignored(_)) => {}
            (Format::Json, Why::Trial) => {
                let line = record::on_trial(&quiet.report)
                    .map_err(|error| Failure::Software(error.to_string()))?;
                writeln!(self.stdout, "{line}")?;
            }
        }
        Ok(())
    }

    fn finish(mut self, spans: u64, malformed: u64) -> Result<(), Failure> {
        if let Some(annotated) = &mut self.annotated {
            annotated.flush()?;
        }
        match self.format {
            Format::Json => {
                if let Some(sessions) = &self.sessions {
                    for line in sessions.lines() {
                        let line = line.map_err(|error| Failure::Software(error.to_string()))?;
                        writeln!(self.stdout, "{line}")?;
                    }
                }
            }
            Format::Text => {
                self.timeline.write(&mut self.stdout, false)?;
                let (sessions, found) = self.timeline.totals();
                let cut = if malformed > 0 {
                    format!(", {malformed} malformed")
                } else {
                    String::new()
                };
                write!(
                    self.stdout,
                    "{spans} spans{cut}, {sessions} sessions, {} findings in {found} of them",
                    self.findings
                )?;
                for (count, what) in [
                    (self.on_trial, "for metrics only"),
                    (self.ignored, "ignored"),
                ] {
                    if count > 0 {
                        write!(self.stdout, ", {count} {what}")?;
                    }
                }
                writeln!(self.stdout)?;
            }
        }
        self.stdout.flush()?;
        Ok(())
    }
}
