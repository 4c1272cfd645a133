//! `validate`: everything that is wrong with a configuration, at once.

use std::io::Write;
use std::process::ExitCode;

use super::arguments::ValidateArguments;
use super::configuration;
use super::failure::{CONFIGURATION, Failure, told};

/// Exit 0 when the configuration would run, 78 when not.
pub(super) fn validate(arguments: &ValidateArguments) -> Result<ExitCode, Failure> {
    let sources = arguments.sources();
    let (settings, warnings) = configuration::load(&sources)?;
    if !warnings.is_empty() {
        writeln!(anstream::stderr(), "{}\n", told(&warnings))?;
    }
    if arguments.deny_warnings && !warnings.is_empty() {
        return Err(Failure::Told(CONFIGURATION));
    }
    let mut out = anstream::stdout().lock();
    writeln!(out, "{}: valid", sources.config.join(", "))?;
    for pipeline in &settings.pipelines {
        writeln!(out, "  {pipeline}")?;
    }
    let counted = |count: usize, one: &str, many: &str| match count {
        0 => None,
        1 => Some(format!("  1 {one}")),
        count => Some(format!("  {count} {many}")),
    };
    let (overrides, ignored) = (
        settings.engine.overrides.len(),
        settings.engine.ignore.len(),
    );
    let lines = [
        counted(overrides, "override", "overrides"),
        counted(ignored, "ignored finding", "ignored findings"),
    ];
    for line in lines.into_iter().flatten() {
        writeln!(out, "{line}")?;
    }
    Ok(ExitCode::SUCCESS)
}
