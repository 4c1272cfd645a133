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
    if warnings.warnings() > 0 {
        tracing::warn!("{}", warnings.render(false));
    }
    match run::run(settings, &arguments.config.config)? {
        End::Balanced => Ok(ExitCode::SUCCESS),
        End::Unbalanced => Err(Failure::Told(1)),
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Bind(BindError::InUse { .. }) => Self::Busy(error.to_string()),
            error => Self::Runtime(error.to_string()),
        }
    }
}
