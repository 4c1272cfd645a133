//! `print-config`: what the sources add up to, without secrets.

use std::io::Write;
use std::process::ExitCode;

use crate::config::Printing;

use super::arguments::{ConfigFormat, PrintConfigArguments};
use super::configuration;
use super::failure::Failure;

/// Prints the merged configuration.
pub(super) fn print_config(arguments: &PrintConfigArguments) -> Result<ExitCode, Failure> {
    let printing = Printing {
        defaults: arguments.defaults,
        origin: arguments.origin,
        json: arguments.format == ConfigFormat::Json,
    };
    let printed = configuration::effective(&arguments.config, printing)?;
    anstream::stdout().write_all(printed.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
