//! The binary: hands the arguments to the library.

use std::process::ExitCode;

/// Many small allocations from several threads: measured, this one costs least.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    agent_sentinel::cli::main(std::env::args_os())
}
