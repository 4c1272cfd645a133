//! Tables that fit the screen: the first column gives way, then the last ones go.

use std::io::{self, Write};

use anstyle::Style;

use crate::cli::screen;

/// Fewest columns for the first cell.
const FIRST_MIN: usize = 18;

/// Writes a table; all columns but the first are numbers and stand to the right.
pub(super) fn write<const N: usize>(
    out: &mut dyn Write,
    head: [&str; N],
    rows: &[[String; N]],
    columns: usize,
) -> io::Result<()> {
    let wide = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let widest = cells.map(|cell| screen::width(cell)).max().unwrap_or(0);
        widest.max(head.get(column).map_or(0, |cell| cell.len()))
    };
    let widths: Vec<usize> = (1..N).map(wide).collect();
    let mut shown = widths.len();
    let taken = |shown: usize| widths.iter().take(shown).map(|w| w + 2).sum::<usize>() + 2;
    while shown > 1 && taken(shown) + FIRST_MIN > columns {
        shown -= 1;
    }
    let first = wide(0).clamp(1, columns.saturating_sub(taken(shown)).max(FIRST_MIN));
    let bold = Style::new().bold();
    write!(
        out,
        "  {bold}{}",
        screen::padded(head.first().copied().unwrap_or(""), first)
    )?;
    for (cell, width) in head.iter().skip(1).zip(&widths).take(shown) {
        write!(out, "  {cell:>width$}")?;
    }
    writeln!(out, "{bold:#}")?;
    for row in rows {
        let name = row.first().map_or("", String::as_str);
        let name = screen::padded(&screen::cut(name, first), first);
        write!(out, "  {name}")?;
        for (cell, width) in row.iter().skip(1).zip(&widths).take(shown) {
            write!(out, "  {cell:>width$}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}
