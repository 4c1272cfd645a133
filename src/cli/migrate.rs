//! `migrate`: a collector's configuration in, ours out, and what stays behind said line by line.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::config;
use crate::runtime::clock;

use super::arguments::MigrateArguments;
use super::configuration;
use super::failure::{self, Failure};

/// Prints our configuration on standard output and what stays behind on standard error.
pub(super) fn migrate(arguments: &MigrateArguments) -> Result<ExitCode, Failure> {
    let source = configuration::source(&arguments.file)?;
    match config::migrate(&source, clock::now()) {
        Ok(migrated) => {
            let mut out = anstream::stdout().lock();
            writeln!(
                out,
                "# Made of {} by `agent-sentinel migrate`. It listens where that one does: move one of them, or stop it.",
                source.name.escape_debug()
            )?;
            out.write_all(migrated.text.as_bytes())?;
            say(&migrated.notes)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(unmigrated) => {
            say(&unmigrated.notes)?;
            say(&unmigrated.errors)?;
            Err(Failure::Told(failure::CONFIGURATION))
        }
    }
}

fn say(lines: &[String]) -> io::Result<()> {
    let mut err = anstream::stderr().lock();
    lines.iter().try_for_each(|line| writeln!(err, "{line}"))
}
