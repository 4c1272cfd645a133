//! `detectors`: the catalogue as a table.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::detectors::{Descriptor, Settings};
use crate::runtime::terminal;

use super::arguments::{DetectorsArguments, Format};
use super::failure::Failure;
use super::screen;

/// Prints all types of anomaly, those of later releases included.
pub(super) fn detectors(arguments: &DetectorsArguments) -> Result<ExitCode, Failure> {
    let text = match arguments.format {
        Format::Text => table(screen::columns(terminal::columns()))?,
        Format::Json => lines().into_bytes(),
    };
    anstream::stdout().write_all(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Whether a configuration that says nothing has it on. Off are those that need to be told something first.
fn by_default(descriptor: &Descriptor, settings: &Settings) -> &'static str {
    match (
        descriptor.available,
        settings.common(descriptor.anomaly).enabled,
    ) {
        (false, _) => "later",
        (true, true) => "yes",
        (true, false) => "no",
    }
}

/// Three columns as wide as their longest cell and a last one that wraps; keys and summary on lines of their own.
fn table(columns: usize) -> io::Result<Vec<u8>> {
    let head = ["type", "on", "scope", "severity"];
    let settings = Settings::default();
    let rows: Vec<[&str; 4]> = Descriptor::ALL
        .iter()
        .map(|d| {
            [
                d.anomaly.name(),
                by_default(d, &settings),
                d.scope,
                d.severity,
            ]
        })
        .collect();
    let wide = |column: usize| {
        let cells = rows.iter().chain([&head]).filter_map(|row| row.get(column));
        cells.map(|cell| cell.len()).max().unwrap_or(0)
    };
    let widths = [wide(0), wide(1), wide(2)];
    let write = |out: &mut Vec<u8>, row: &[&str; 4]| {
        let [first @ .., last] = row;
        let mut used = 0;
        for (cell, width) in first.iter().zip(widths) {
            write!(out, "{cell:width$}  ")?;
            used += width + 2;
        }
        // The wrapped text brings its first blank along.
        out.pop();
        screen::wrap(out, last, used - 1, used - 1, columns)
    };
    let bold = anstyle::Style::new().bold();
    let dim = anstyle::Style::new().dimmed();
    let mut out = Vec::new();
    write!(out, "{bold}")?;
    write(&mut out, &head)?;
    write!(out, "{bold:#}")?;
    for (row, descriptor) in rows.iter().zip(&Descriptor::ALL) {
        write(&mut out, row)?;
        let summary = descriptor.summary.trim_end_matches('.');
        let text = format!("{summary} ({})", descriptor.source);
        write!(out, "   {dim}")?;
        screen::wrap(&mut out, &text, 3, 3, columns)?;
        write!(out, "{dim:#}")?;
        if descriptor.defaults != "-" {
            write!(out, "    keys:")?;
            screen::wrap(&mut out, descriptor.defaults, 9, 9, columns)?;
        }
    }
    Ok(out)
}

fn lines() -> String {
    Descriptor::ALL
        .iter()
        .map(|d| {
            let object = serde_json::json!({
                "type": d.anomaly.name(),
                "available": d.available,
                "scope": d.scope,
                "defaults": d.defaults,
                "severity": d.severity,
                "source": d.source,
                "summary": d.summary,
            });
            format!("{object}\n")
        })
        .collect()
}
