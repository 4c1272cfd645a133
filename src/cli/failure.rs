//! How a command fails, and the exit code of each way (sysexits, as far as they fit).

use std::io::{self, Write};
use std::process::ExitCode;

use crate::config::Report;

/// The arguments make no sense, or something needed was not given.
pub const USAGE: u8 = 64;
/// Input that could not be read, the rest of it done.
pub const DATA: u8 = 65;
/// A mistake of this program.
pub const SOFTWARE: u8 = 70;
/// A port that somebody else has.
pub const BUSY: u8 = 75;
/// A configuration that cannot be.
pub const CONFIGURATION: u8 = 78;

/// Why a command did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Wrong use; the message says what right use is.
    #[error("{0}")]
    Usage(String),
    /// The configuration is wrong.
    #[error(transparent)]
    Configuration(#[from] Report),
    /// The configuration could not be read at all.
    #[error("{0}")]
    NoConfiguration(String),
    /// A port is taken.
    #[error("{0}")]
    Busy(String),
    /// Something went wrong while it ran.
    #[error("{0}")]
    Runtime(String),
    /// A mistake of this program.
    #[error("{0}")]
    Software(String),
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// All is said already; only the exit code is left.
    #[error("exit code {0}")]
    Told(u8),
}

impl Failure {
    /// Says it on standard error and gives the exit code.
    pub fn report(self) -> ExitCode {
        let mut stderr = anstream::stderr().lock();
        let (text, code) = match &self {
            // Whoever read our output has had enough: `agent-sentinel detectors | head -3`.
            Self::Io(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                return ExitCode::SUCCESS;
            }
            Self::Told(code) => return ExitCode::from(*code),
            Self::Configuration(report) => (told(report), CONFIGURATION),
            Self::Usage(text) => (error(text), USAGE),
            Self::NoConfiguration(text) => (error(text), CONFIGURATION),
            Self::Busy(text) => (error(text), BUSY),
            Self::Runtime(text) => (error(text), 1),
            Self::Software(text) => (error(text), SOFTWARE),
            Self::Io(failed) => (error(&failed.to_string()), 1),
        };
        // Nobody is left to tell when even standard error is closed.
        let _ = writeln!(stderr, "{text}");
        ExitCode::from(code)
    }
}

/// A message with its `error:` in front, in red where colours are shown.
fn error(text: &str) -> String {
    let red = anstyle::AnsiColor::BrightRed.on_default().bold();
    format!("{red}error:{red:#} {text}")
}

/// A report with its totals.
pub fn told(report: &Report) -> String {
    let count = |number: usize, word: &str| {
        let s = if number == 1 { "" } else { "s" };
        format!("{number} {word}{s}")
    };
    let mut totals = vec![count(report.errors(), "error")];
    if report.warnings() > 0 {
        totals.push(count(report.warnings(), "warning"));
    }
    format!("{}\n\n{}", report.render(true), totals.join(", "))
}
