//! `detectors`: the catalogue as a table.

use std::io::Write;
use std::process::ExitCode;

use crate::detectors::Descriptor;

use super::arguments::{DetectorsArguments, Format};
use super::failure::Failure;

/// Prints all types of anomaly, those of later releases included.
pub(super) fn detectors(arguments: &DetectorsArguments) -> Result<ExitCode, Failure> {
    let text = match arguments.format {
        Format::Text => table(),
        Format::Json => lines(),
    };
    anstream::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn availability(descriptor: &Descriptor) -> &'static str {
    if descriptor.available { "yes" } else { "later" }
}

/// Columns as wide as their longest cell; the summary on a line of its own, so that it fits 100 columns.
fn table() -> String {
    let head = ["type", "here", "scope", "keys and defaults", "severity"];
    let rows: Vec<[&str; 5]> = Descriptor::ALL
        .iter()
        .map(|d| {
            [
                d.anomaly.name(),
                availability(d),
                d.scope,
                d.defaults,
                d.severity,
            ]
        })
        .collect();
    let widths: Vec<usize> = (0..head.len())
        .map(|column| {
            let cells = rows.iter().chain([&head]).filter_map(|row| row.get(column));
            cells.map(|cell| cell.len()).max().unwrap_or(0)
        })
        .collect();
    let line = |row: &[&str; 5]| {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        cells.join("  ").trim_end().to_owned()
    };
    let bold = anstyle::Style::new().bold();
    let dim = anstyle::Style::new().dimmed();
    let mut out = format!("{bold}{}{bold:#}\n", line(&head));
    for (row, descriptor) in rows.iter().zip(&Descriptor::ALL) {
        out.push_str(&line(row));
        out.push_str(&format!(
            "\n    {dim}{} ({}){dim:#}\n",
            descriptor.summary.trim_end_matches('.'),
            descriptor.source
        ));
    }
    out
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
