//! `print-config`: what the sources add up to, without secrets.

use std::io::Write;
use std::process::ExitCode;

use super::arguments::PrintConfigArguments;
use super::configuration;
use super::failure::Failure;

/// Prints the merged configuration as YAML.
pub(super) fn print_config(arguments: &PrintConfigArguments) -> Result<ExitCode, Failure> {
    let printed = configuration::effective(&arguments.config)?;
    anstream::stdout().write_all(printed.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
