//! `run`: receive, judge, pass on.

use std::process::ExitCode;

use crate::runtime::assemble::StartError;
use crate::runtime::net::BindError;
use crate::runtime::run;
use crate::runtime::shutdown::End;

use super::arguments::RunArguments;
use super::configuration;
use super::failure::Failure;

/// Runs until it is told to stop. Ends well when every span is accounted for.
pub(super) fn run(arguments: &RunArguments) -> Result<ExitCode, Failure> {
    let (settings, warnings) = configuration::load(&arguments.config)?;
    run::install_log(&settings.telemetry.logs);
    for warning in warnings.lines() {
        tracing::warn!("{warning}");
    }
    match run::run(settings, &names(&arguments.config.config))? {
        End::Balanced => Ok(ExitCode::SUCCESS),
        End::Unbalanced => Err(Failure::Told(1)),
    }
}

/// What the configurations are called in the log: a text given in place may hold secrets.
fn names(uris: &[String]) -> Vec<String> {
    let names = uris.iter().map(|uri| match uri.split_once(':') {
        Some(("yaml", _)) => "yaml:",
        _ => uri.as_str(),
    });
    names.map(str::to_owned).collect()
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Bind(BindError::InUse { .. }) => Self::Busy(error.to_string()),
            StartError::Security(_) => Self::NoConfiguration(error.to_string()),
            error => Self::Runtime(error.to_string()),
        }
    }
}
