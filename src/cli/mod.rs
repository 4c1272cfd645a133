//! The command line: what was typed -> what is done -> an exit code.
//!
//! Invariant: results go to standard output (standard error where spans were asked for there), everything else to
//! standard error; the exit code is decided in one place, [`failure::Failure`].

pub mod arguments;
mod components;
mod configuration;
mod demo;
mod detectors;
pub mod failure;
mod migrate;
mod plain;
mod print_config;
mod replay;
mod run;
mod screen;
mod timeline;
mod validate;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use arguments::{Arguments, Command};
use failure::Failure;

/// Does what the arguments say. The first of them is the name of the program.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let result = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => dispatch(arguments),
        Err(error) => refused(&error),
    };
    match result {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

fn dispatch(arguments: Arguments) -> Result<ExitCode, Failure> {
    match arguments.command {
        None => run::run(&arguments.run),
        Some(Command::Run(run)) => run::run(&run),
        Some(Command::Validate(validate)) => validate::validate(&validate),
        Some(Command::Replay(replay)) => replay::replay(&replay),
        Some(Command::Demo(demo)) => demo::demo(&demo),
        Some(Command::Detectors(detectors)) => detectors::detectors(&detectors),
        Some(Command::PrintConfig(print)) => print_config::print_config(&print),
        Some(Command::Migrate(migrate)) => migrate::migrate(&migrate),
        Some(Command::Components) => components::components(),
    }
}

/// What clap did not take; help and version are no failures.
fn refused(error: &clap::Error) -> Result<ExitCode, Failure> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            error.print()?;
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            error.print()?;
            Err(Failure::Told(failure::USAGE))
        }
    }
}
