//! What services never sent, and what switches it on.

use std::io::{self, Write};

use anstyle::Style;

use crate::cli::screen;
use crate::engine::Notice;

/// Writes what there is to say of each service; nothing where all of them send what rules need.
pub(super) fn write(notices: &[Notice], out: &mut dyn Write, columns: usize) -> io::Result<()> {
    if notices.is_empty() {
        return Ok(());
    }
    let bold = Style::new().bold();
    writeln!(out, "{bold}content off{bold:#}")?;
    for notice in notices {
        let name = match &*notice.service.name {
            "" => "(no name)".into(),
            name => screen::safe(name),
        };
        write!(out, "  {name}:")?;
        let text = if notice.steps == 0 {
            format!("none of {}", screen::count(notice.others, "span"))
        } else {
            format!(
                "no {}",
                notice
                    .missing
                    .iter()
                    .map(|c| c.name())
                    .collect::<Vec<_>>()
                    .join(", no ")
            )
        };
        let text = if notice.steps == 0 {
            format!("{text} is a step of an agent")
        } else {
            format!("{text} in {}", screen::count(notice.steps, "step"))
        };
        screen::wrap(out, &text, 3 + name.chars().count(), 4, columns)?;
        write!(out, "    ->")?;
        screen::wrap(out, &screen::safe(&notice.advice()), 6, 6, columns)?;
    }
    writeln!(out)
}
