//! `components`: what can be configured, in the shape in which the collector lists it.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use crate::config::{self, Component};

use super::failure::Failure;

/// Prints all components with their stability for each signal.
pub(super) fn components() -> Result<ExitCode, Failure> {
    anstream::stdout().write_all(listed(&config::components()).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn listed(components: &[Component]) -> String {
    let mut out = format!(
        "buildinfo:\n  command: agent-sentinel\n  version: {}\n",
        env!("CARGO_PKG_VERSION")
    );
    let mut section = "";
    for component in components {
        if component.section != section {
            section = component.section;
            let _ = writeln!(out, "{section}:");
        }
        let _ = writeln!(out, "  - name: {}", component.kind);
        if component.signals.is_empty() {
            let _ = writeln!(out, "    stability: {}", component.stability);
            continue;
        }
        let _ = writeln!(out, "    stability:");
        for signal in component.signals {
            let _ = writeln!(out, "      {signal}: {}", component.stability);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_component_is_listed() {
        insta::assert_snapshot!(listed(&config::components()));
    }
}
