//! One run on the screen: a line a step, what belongs to a finding marked, the rest folded.
//!
//! Invariant: the marks do not need colours (`>` where something was found, `|` what belongs to it, its number
//! behind the step), and no line is wider than the screen.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::cli::screen;
use crate::model::{SpanId, Timestamp};

use super::Remark;
use crate::control::Line;

/// Equal lines in a row that become one, in a brief timeline.
const BRIEF_GROUP: usize = 3;
/// The same in a full one, and where the lines belong to a finding.
const GROUP: usize = 2;
const LABELLED_GROUP: usize = 5;
/// Rows shown around what belongs to a finding.
const AROUND: usize = 2;
/// Steps that are not worth a fold.
const FOLD_MIN: usize = 4;
/// Columns of a step's words in a brief timeline, and in one that is not as wide as [`screen::COLUMNS`].
const BRIEF_WORDS: usize = 38;
const BRIEF_WORDS_NARROW: usize = 24;
/// Fewest columns for them.
const WORDS_MIN: usize = 12;
/// Below so many columns the times are left out.
const NARROW: usize = 60;

/// A run with all that is said of it.
pub(super) struct Shown<'a> {
    pub(super) lines: &'a [Line],
    pub(super) remarks: &'a [Remark],
    /// Numbers of the findings that a step belongs to.
    pub(super) labels: &'a dyn Fn(SpanId) -> Vec<u32>,
    pub(super) columns: usize,
    /// Tool calls, claims and steps with remarks only, nothing folded.
    pub(super) brief: bool,
}

/// Equal lines in a row as one.
struct Row<'a> {
    line: &'a Line,
    /// The further lines.
    equal: Vec<&'a Line>,
    labels: Vec<u32>,
    remarked: bool,
}

impl Row<'_> {
    /// How many lines it is.
    fn same(&self) -> usize {
        1 + self.equal.len()
    }
}

impl Shown<'_> {
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let zero = self.lines.iter().map(|line| line.start).min();
        let zero = zero.unwrap_or_default();
        let rows = self.rows();
        let words = self.words_columns(&rows);
        let mut hidden: Vec<&Row<'_>> = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            if !self.brief && !near_finding(&rows, at) {
                hidden.push(row);
                continue;
            }
            self.write_hidden(out, &hidden, zero, words)?;
            hidden.clear();
            self.write_row(out, row, zero, words)?;
        }
        self.write_hidden(out, &hidden, zero, words)
    }

    fn on(&self, span: SpanId) -> impl Iterator<Item = &Remark> + Clone {
        self.remarks
            .iter()
            .filter(move |remark| remark.span == span)
    }

    fn rows(&self) -> Vec<Row<'_>> {
        let mut lines: Vec<&Line> = self.lines.iter().collect();
        lines.sort_by_key(|line| (line.end, line.start));
        let mut rows: Vec<Row<'_>> = Vec::new();
        for line in lines {
            let remarked = self.on(line.span).next().is_some();
            let labels = (self.labels)(line.span);
            let noise = if self.brief { line.aside } else { line.asks };
            if noise && !remarked && labels.is_empty() {
                continue;
            }
            match rows.last_mut() {
                Some(last)
                    if !remarked
                        && !last.remarked
                        && last.labels == labels
                        && last.line.what == line.what
                        && last.line.how == line.how
                        && last.line.who == line.who =>
                {
                    last.equal.push(line);
                }
                _ => rows.push(Row {
                    line,
                    equal: Vec::new(),
                    labels,
                    remarked,
                }),
            }
        }
        apart(rows, self.brief)
    }

    /// Columns for what steps are: as wide as the widest, as far as there is room.
    fn words_columns(&self, rows: &[Row<'_>]) -> usize {
        if self.brief {
            return match self.columns {
                ..screen::COLUMNS => BRIEF_WORDS_NARROW.min(self.columns / 3),
                _ => BRIEF_WORDS,
            };
        }
        let widest = rows.iter().map(|row| screen::width(&row.line.what)).max();
        let rest = rows.iter().map(|row| row.line.how.len() + 10).max();
        let room = self
            .columns
            .saturating_sub(self.indent() + rest.unwrap_or(0));
        widest
            .unwrap_or(WORDS_MIN)
            .clamp(WORDS_MIN, room.clamp(WORDS_MIN, BRIEF_WORDS))
    }

    /// Columns before what a step is.
    fn indent(&self) -> usize {
        if self.columns < NARROW { 9 } else { 20 }
    }

    fn write_hidden(
        &self,
        out: &mut dyn Write,
        hidden: &[&Row<'_>],
        zero: Timestamp,
        words: usize,
    ) -> io::Result<()> {
        let steps: usize = hidden.iter().map(|row| row.same()).sum();
        if steps < FOLD_MIN {
            return hidden
                .iter()
                .try_for_each(|row| self.write_row(out, row, zero, words));
        }
        let dim = Style::new().dimmed();
        let indent = self.indent();
        let steps = screen::count(steps as u64, "step");
        writeln!(out, "{:indent$}{dim}... {steps} ...{dim:#}", "")
    }

    fn write_row(
        &self,
        out: &mut dyn Write,
        row: &Row<'_>,
        zero: Timestamp,
        words: usize,
    ) -> io::Result<()> {
        self.write_line(out, row, zero, words)?;
        for remark in self.on(row.line.span).filter(|r| !r.text.is_empty()) {
            self.write_remark(out, remark)?;
        }
        Ok(())
    }

    fn write_line(
        &self,
        out: &mut dyn Write,
        row: &Row<'_>,
        zero: Timestamp,
        words: usize,
    ) -> io::Result<()> {
        let line = row.line;
        let dim = Style::new().dimmed();
        let breaks = self.on(line.span).any(|remark| remark.breaks);
        let bullet = match (breaks, row.labels.is_empty()) {
            (true, _) => ">",
            (false, false) => "|",
            (false, true) => " ",
        };
        let number = format!("#{}", line.number);
        if self.columns < NARROW {
            write!(out, "{bullet} {dim}{number:>5}{dim:#}  ")?;
        } else {
            let at = line.end.since(zero).as_secs_f64();
            write!(out, "{bullet} {dim}{number:>5} {at:>9.3}s{dim:#}  ")?;
        }
        let times = match row.same() {
            1 => String::new(),
            same => format!(" x{same}"),
        };
        let labels = self.labels_text(row);
        let beside = self.on(line.span).filter(|remark| remark.text.is_empty());
        let heads: usize = beside.clone().map(|remark| remark.head.len() + 2).sum();
        let taken = self.indent() + words + 1 + times.len() + labels.len() + heads;
        let how = self.columns.saturating_sub(taken);
        let how = screen::cut(line.how, how);
        let room = self.columns.saturating_sub(taken + how.len());
        let who = match line.who.as_deref() {
            Some(who) if !self.brief && room >= 8 => {
                format!("  {dim}({}){dim:#}", screen::cut(who, room - 4))
            }
            _ => String::new(),
        };
        let what = screen::cut(&line.what, words);
        let under = if row.labels.is_empty() {
            Style::new()
        } else {
            Style::new().underline()
        };
        write!(out, "{under}{what}{under:#}")?;
        if !(line.how.is_empty() && times.is_empty() && who.is_empty() && labels.is_empty()) {
            let style = if line.failed {
                AnsiColor::Red.on_default()
            } else {
                Style::new()
            };
            let blanks = words.saturating_sub(screen::width(&what)) + 1;
            write!(
                out,
                "{:blanks$}{style}{how}{style:#}{times}{who}{labels}",
                ""
            )?;
        }
        for remark in beside {
            let style = remark.style;
            write!(out, "  {style}{}{style:#}", remark.head)?;
        }
        writeln!(out)
    }

    fn labels_text(&self, row: &Row<'_>) -> String {
        let numbers: Vec<String> = row.labels.iter().take(4).map(u32::to_string).collect();
        if numbers.is_empty() {
            String::new()
        } else {
            format!("  [{}]", numbers.join(","))
        }
    }

    fn write_remark(&self, out: &mut dyn Write, remark: &Remark) -> io::Result<()> {
        let Remark {
            style,
            head,
            text,
            notes,
            ..
        } = remark;
        let indent = if self.columns < NARROW {
            4
        } else {
            self.indent()
        };
        let head = screen::cut(head, self.columns.saturating_sub(indent + 1));
        write!(out, "{:indent$}{style}{head}{style:#}:", "")?;
        let used = indent + screen::width(&head) + 1;
        screen::wrap(out, text, used, indent + 1, self.columns)?;
        let dim = Style::new().dimmed();
        for note in notes {
            write!(out, "{:indent$} {dim}", "")?;
            screen::wrap(out, note, indent + 1, indent + 1, self.columns)?;
            write!(out, "{dim:#}")?;
        }
        Ok(())
    }
}

/// Whether a row is the beginning or the end of its run, or stands near one that belongs to a finding.
fn near_finding(rows: &[Row<'_>], at: usize) -> bool {
    let from = at.saturating_sub(AROUND);
    let to = (at + AROUND + 1).min(rows.len());
    at == 0
        || at + 1 == rows.len()
        || rows
            .get(from..to)
            .unwrap_or_default()
            .iter()
            .any(|row| row.remarked || !row.labels.is_empty())
}

/// Rows of few equal lines fall apart into their lines again.
fn apart(rows: Vec<Row<'_>>, brief: bool) -> Vec<Row<'_>> {
    let mut out = Vec::with_capacity(rows.len());
    for mut row in rows {
        let fewest = match (brief, row.labels.is_empty()) {
            (true, _) => BRIEF_GROUP,
            (false, true) => GROUP,
            (false, false) => LABELLED_GROUP,
        };
        if row.same() >= fewest {
            out.push(row);
            continue;
        }
        let equal = std::mem::take(&mut row.equal);
        let labels = row.labels.clone();
        out.push(row);
        out.extend(equal.into_iter().map(|line| Row {
            line,
            equal: Vec::new(),
            labels: labels.clone(),
            remarked: false,
        }));
    }
    out
}
