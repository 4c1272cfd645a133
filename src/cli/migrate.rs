//! `migrate`: a collector's configuration in, ours out, and what stays behind said line by line.

use std::io::Write;
use std::process::ExitCode;

use crate::config;
use crate::runtime::clock;

use super::arguments::MigrateArguments;
use super::configuration;
use super::failure::Failure;

/// Prints our configuration on standard output and what stays behind on standard error.
pub(super) fn migrate(arguments: &MigrateArguments) -> Result<ExitCode, Failure> {
    let source = configuration::source(&arguments.file)?;
    let migrated = config::migrate(&source, clock::now())?;
    let mut out = anstream::stdout().lock();
    writeln!(
        out,
        "# Made of {} by `agent-sentinel migrate`. It listens where that one does: move one of them, or stop it.",
        source.name
    )?;
    out.write_all(migrated.text.as_bytes())?;
    let mut err = anstream::stderr().lock();
    for note in &migrated.notes {
        writeln!(err, "{note}")?;
    }
    Ok(ExitCode::SUCCESS)
}
