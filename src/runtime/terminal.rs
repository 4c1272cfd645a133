//! The only place that asks for the terminal's size.

use super::environment;

/// Columns to write for: what `COLUMNS` says, else those of the terminal on standard output; `None` when
/// neither says.
pub fn columns() -> Option<usize> {
    let said = environment::get("COLUMNS").ok().flatten();
    said.and_then(|columns| columns.trim().parse().ok())
        .filter(|columns| *columns > 0)
        .or_else(|| {
            let (width, _) = terminal_size::terminal_size_of(std::io::stdout())?;
            Some(usize::from(width.0))
        })
}
