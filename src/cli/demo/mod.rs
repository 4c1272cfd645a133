//! `demo`: the real collector on free ports of this host, real spans in, marked spans out, shown.
//!
//! Invariant: the findings shown were read from the bytes that came out; success means that those are
//! exactly what should have come out.

mod came;
mod cases;
mod flight;
mod show;
mod spans;

use std::io::Write;
use std::process::ExitCode;

use crate::cli::screen;
use crate::runtime::{loopback, terminal};

use super::arguments::DemoArguments;
use super::failure::Failure;

/// Why the demo could not be given.
#[derive(Debug, thiserror::Error)]
enum DemoError {
    /// The bundled runs, or the bodies that came out, cannot be read.
    #[error("demo: {0}")]
    Data(String),
    /// The collector or an endpoint could not be started or ended.
    #[error("demo: {0}")]
    Start(String),
    /// The SDK could not send.
    #[error("demo: the exporter could not send: {0}")]
    Send(String),
}

/// Sends the bundled runs through a collector and shows what came out.
///
/// # Errors
/// No ports, no runtime, output that cannot be written. What came out wrong is told, and is exit code 1.
pub(super) fn demo(_: &DemoArguments) -> Result<ExitCode, Failure> {
    let columns = screen::columns(terminal::columns());
    let told = loopback::complete(flight::fly(cases::load().map_err(failure)?))?
        .and_then(|flight| show::Told::new(&flight, columns))
        .map_err(failure)?;
    let mut out = anstream::stdout().lock();
    told.write(&mut out)?;
    out.flush()?;
    Ok(ExitCode::from(u8::from(!told.is_right())))
}

fn failure(error: DemoError) -> Failure {
    Failure::Runtime(error.to_string())
}
