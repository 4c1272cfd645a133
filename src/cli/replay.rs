//! `replay`.

use std::process::ExitCode;

use super::arguments::ReplayArguments;
use super::failure::Failure;

/// Not in this build yet.
pub(super) fn replay(_: &ReplayArguments) -> Result<ExitCode, Failure> {
    Err(Failure::Software(
        "`replay` is not in this build".to_owned(),
    ))
}
