//! `run`: receive, judge, pass on.

use std::process::ExitCode;

use super::arguments::RunArguments;
use super::configuration;
use super::failure::Failure;

/// Runs until it is told to stop.
pub(super) fn run(arguments: &RunArguments) -> Result<ExitCode, Failure> {
    let (_settings, _warnings) = configuration::load(&arguments.config)?;
    Err(Failure::Software("`run` is not in this build".to_owned()))
}
