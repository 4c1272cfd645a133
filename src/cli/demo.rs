//! `demo`.

use std::process::ExitCode;

use super::arguments::DemoArguments;
use super::failure::Failure;

/// Not in this build yet.
pub(super) fn demo(_: &DemoArguments) -> Result<ExitCode, Failure> {
    Err(Failure::Software("`demo` is not in this build".to_owned()))
}
