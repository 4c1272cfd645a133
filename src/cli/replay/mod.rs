//! `replay`: the same engine, fed from a recording (DESIGN 9). Scripts depend on its output.

mod baseline;
mod blind;
mod compare;
mod content;
mod costs;
mod driver;
mod explain;
mod frames;
mod input;
mod jaeger;
mod printer;
mod record;
mod summary;
mod table;
mod totals;
mod wrappers;

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use crate::config::Purpose;
use crate::engine::Output;
use crate::model::{AnomalyType, Signal};
use crate::runtime::files;
use crate::steps::Reader;

use super::arguments::ReplayArguments;
use super::configuration;
use super::failure::{self, Failure};
use blind::Demand;
use printer::Printer;
use totals::Read;

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
    if let Some(path) = &arguments.annotated {
        never_over_what_is_read(path, arguments)?;
    }
    let mut driver = Driver::new(settings.engine, Reader::new(Arc::new(settings.steps)));
    let demand = arguments.fail_on_blind.as_deref().map(demand);
    if let Some(Demand::Types(types)) = &demand {
        must_be_on(types, &driver)?;
    }
    if let Some(span) = &arguments.explain {
        driver.watch(span.watch);
    }
    let mut replay = Replay {
        driver,
        printer: Printer::new(arguments)?,
        out: Output::default(),
        read: Read::default(),
        looked_ahead: false,
    };
    replay.look_ahead(&arguments.inputs);
    for path in &arguments.inputs {
        replay.read(path)?;
    }
    replay.finish(arguments, demand)
}

/// What `--fail-on-blind` asks for.
fn demand(types: &[AnomalyType]) -> Demand {
    match types {
        [] => Demand::Content,
        types => Demand::Types(types.to_vec()),
    }
}

/// A type that is off is never assessed: that nothing failed would mean nothing.
fn must_be_on(types: &[AnomalyType], driver: &Driver) -> Result<(), Failure> {
    let on: Vec<AnomalyType> = driver.types().collect();
    match types.iter().find(|anomaly| !on.contains(anomaly)) {
        None => Ok(()),
        Some(off) => Err(Failure::Usage(format!(
            "--fail-on-blind: `{off}` is off, so it is never assessed; switch it on in the configuration"
        ))),
    }
}

/// Spans are written from the first request on: what is still to be read would be lost.
fn never_over_what_is_read(
    path: &std::path::Path,
    arguments: &ReplayArguments,
) -> Result<(), Failure> {
    let role = if arguments.inputs.iter().any(|i| files::same(i, path)) {
        "an input"
    } else if arguments.compare.iter().any(|old| files::same(old, path)) {
        "the file to compare with"
    } else {
        return Ok(());
    };
    Err(Failure::Usage(format!(
        "--annotated {} is also {role}, and would be emptied before it is read; write to another file",
        path.display()
    )))
}

struct Replay {
    driver: Driver,
    printer: Printer,
    out: Output,
    read: Read,
    /// The inputs that are files were gone through for their log records.
    looked_ahead: bool,
}

impl Replay {
    /// Log records may stand in another input than the spans that they tell of. What cannot be read is told when its
    /// turn comes; what comes in by a pipe can be read but once.
    fn look_ahead(&mut self, inputs: &[std::path::PathBuf]) {
        let files = inputs.iter().filter(|path| files::is_regular(path));
        for path in files.filter(|_| inputs.len() > 1) {
            let driver = &mut self.driver;
            let _ = input::read_ahead(path, |item| match item {
                Ok(recorded) if recorded.signal == Signal::Logs => {
                    driver.foresee_records(recorded.body, recorded.received);
                }
                _ => {}
            });
        }
        self.looked_ahead = inputs.len() > 1;
    }

    fn read(&mut self, path: &std::path::Path) -> Result<(), Failure> {
        let name = if path == std::path::Path::new("-") {
            "stdin".to_owned()
        } else {
            path.display().to_string()
        };
        let looked_ahead = self.looked_ahead && files::is_regular(path);
        let mut failed: Result<(), Failure> = Ok(());
        let read = input::read(path, |pass, item| match (pass, item) {
            (input::Pass::Ahead, Ok(recorded)) => match recorded.signal {
                Signal::Traces | Signal::Metrics => self.driver.foresee(recorded.body),
                Signal::Logs if looked_ahead => {}
                Signal::Logs => (self.driver).foresee_records(recorded.body, recorded.received),
            },
            // It is told when its turn comes.
            (input::Pass::Ahead, Err(_)) => {}
            (input::Pass::Judge, item) if failed.is_ok() => failed = self.record(&name, item),
            (input::Pass::Judge, _) => {}
        });
        failed?;
        if let Err(what) = read {
            self.read.unreadable += 1;
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
                self.read.unreadable += 1;
                complain(&format!("{name}:{line}: {what}; skipped"))?;
                return Ok(());
            }
        };
        let printer = &mut self.printer;
        let (body, received) = (recorded.body, recorded.received);
        let see = |step: &crate::model::Step| printer.see(step);
        let fed = match recorded.signal {
            Signal::Logs => (self.driver).feed_records(body, received, see, &mut self.out),
            _ => self.driver.feed(body, received, see, &mut self.out),
        };
        match fed {
            Ok(fed) => {
                self.read.spans += u64::from(fed.spans);
                self.read.malformed += fed.malformed;
                if let Some(first) = fed.first_malformed {
                    let line = recorded.line;
                    self.read.unreadable += 1;
                    complain(&format!(
                        "{name}:{line}: {} malformed: {first}",
                        fed.malformed
                    ))?;
                }
            }
            Err(error) => {
                self.read.unreadable += 1;
                complain(&format!("{name}:{}: {error}; skipped", recorded.line))?;
            }
        }
        self.printer.print(&mut self.out)?;
        Ok(())
    }

    fn finish(
        mut self,
        arguments: &ReplayArguments,
        demand: Option<Demand>,
    ) -> Result<ExitCode, Failure> {
        self.driver.finish(&mut self.out);
        self.printer.print(&mut self.out)?;
        let blind = demand.and_then(|demand| self.printer.blind(&demand));
        let (worst, unreadable) = self.printer.finish(self.read)?;
        if self.read.unreadable + unreadable > 0 {
            return Ok(ExitCode::from(failure::DATA));
        }
        let limit = arguments.fail_on.map(|severity| severity.severity());
        let failed = limit.is_some_and(|limit| worst >= Some(limit));
        if let Some(words) = &blind {
            complain(words)?;
        }
        Ok(ExitCode::from(u8::from(failed || blind.is_some())))
    }
}

fn complain(text: &str) -> io::Result<()> {
    writeln!(anstream::stderr().lock(), "{text}")
}
