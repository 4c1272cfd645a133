//! `--baseline same3`: what a plain rule would say, beside what the repetition family says.
//!
//! The plain rule: the same tool with the same arguments three times in a row, in one run. Whatever the
//! answers are, whatever was changed in between by others, polls and waits included.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write};

use anstyle::Style;

use crate::cli::screen;
use crate::engine::ClosedRun;
use crate::model::{Action, Name, Report, SpanId, Step, Timestamp, TraceId};

/// Calls in a row at which the rule fires.
const TIMES: usize = 3;
/// Lines of one list.
const LINES_MAX: usize = 10;

/// One call as the rule sees it.
#[derive(Debug)]
struct Seen {
    end: Timestamp,
    start: Timestamp,
    number: usize,
    span: SpanId,
    tool: Name,
    key: Option<u64>,
}

/// A row of equal calls.
#[derive(Debug)]
struct Row {
    run: TraceId,
    tool: Name,
    /// The third of them.
    fires_at: (usize, SpanId),
    spans: HashSet<SpanId>,
}

/// A finding of the family.
#[derive(Debug)]
struct Ours {
    run: TraceId,
    session: Name,
    words: String,
    spans: HashSet<SpanId>,
}

/// Both rules over all runs.
#[derive(Debug, Default)]
pub(super) struct Baseline {
    calls: HashMap<TraceId, Vec<Seen>>,
    spans: HashMap<TraceId, HashSet<SpanId>>,
    sessions: BTreeMap<TraceId, Name>,
    rows: Vec<Row>,
    /// By episode, so that one that is raised counts once.
    ours: BTreeMap<(Name, u64), Ours>,
    without_arguments: u64,
}

impl Baseline {
    /// Notes a step.
    pub(super) fn see(&mut self, step: &Step) {
        let spans = self.spans.entry(step.trace).or_default();
        let number = spans.len();
        if !spans.insert(step.span) {
            return;
        }
        let Action::ToolCall(call) = &step.action else {
            return;
        };
        self.without_arguments += u64::from(call.key.is_none());
        self.calls.entry(step.trace).or_default().push(Seen {
            end: step.end,
            start: step.start,
            number,
            span: step.span,
            tool: call.tool.clone(),
            key: call.key,
        });
    }

    /// Notes what was found.
    pub(super) fn report(&mut self, report: &Report) {
        let finding = &report.finding;
        let Some(judged) = finding
            .judged()
            .filter(|_| finding.anomaly.family_rank().is_some())
        else {
            return;
        };
        let ours = self
            .ours
            .entry((report.session.clone(), report.episode))
            .or_insert_with(|| Ours {
                run: judged.trace,
                session: report.session.clone(),
                words: format!("#{} {}: {}", judged.step, finding.anomaly, finding.message),
                spans: HashSet::new(),
            });
        ours.spans
            .extend(finding.members.iter().map(|member| member.span));
    }

    /// Notes the end of a run: the plain rule looks over it.
    pub(super) fn close(&mut self, closed: &ClosedRun) {
        self.sessions.insert(closed.trace, closed.session.clone());
        self.spans.remove(&closed.trace);
        let Some(mut calls) = self.calls.remove(&closed.trace) else {
            return;
        };
        calls.sort_by_key(|call| (call.end, call.start, call.number));
        let equal = |a: &Seen, b: &Seen| a.key.is_some() && a.key == b.key && a.tool == b.tool;
        for row in calls.chunk_by(equal) {
            if let Some(third) = row.get(TIMES - 1) {
                self.rows.push(Row {
                    run: closed.trace,
                    tool: third.tool.clone(),
                    fires_at: (third.number, third.span),
                    spans: row.iter().map(|call| call.span).collect(),
                });
            }
        }
    }

    /// Writes both side by side.
    pub(super) fn write(&self, out: &mut dyn Write, columns: usize) -> io::Result<()> {
        let bold = Style::new().bold();
        let meets =
            |row: &Row, ours: &Ours| row.run == ours.run && !row.spans.is_disjoint(&ours.spans);
        let only_theirs: Vec<&Row> = self
            .rows
            .iter()
            .filter(|row| !self.ours.values().any(|ours| meets(row, ours)))
            .collect();
        let only_ours: Vec<&Ours> = self
            .ours
            .values()
            .filter(|ours| !self.rows.iter().any(|row| meets(row, ours)))
            .collect();
        let both = self.ours.len() - only_ours.len();
        writeln!(
            out,
            "{bold}beside a plain rule{bold:#}: the same tool and arguments {TIMES} times in a row"
        )?;
        writeln!(
            out,
            "  both {both}, only ours {}, only the plain rule {}",
            only_ours.len(),
            only_theirs.len()
        )?;
        let ours = only_ours.iter().map(|ours| {
            format!(
                "{}  {}",
                self.session(&ours.session),
                screen::safe(&ours.words)
            )
        });
        write_list(out, "only ours", ours, columns)?;
        let theirs = only_theirs.iter().map(|row| {
            let session = self.sessions.get(&row.run).map_or("", |session| session);
            let (number, span) = row.fires_at;
            let tool = screen::safe(&row.tool);
            let times = row.spans.len();
            format!(
                "{}  #{number} {tool} x{times} ({span})",
                self.session(session)
            )
        });
        write_list(out, "only the plain rule", theirs, columns)?;
        if !only_theirs.is_empty() {
            writeln!(
                out,
                "  why ours stayed silent: --explain with the span in brackets"
            )?;
        }
        if self.without_arguments > 0 {
            let calls = screen::count(self.without_arguments, "call");
            writeln!(
                out,
                "  {calls} without arguments: neither rule can compare them"
            )?;
        }
        writeln!(out)
    }

    fn session(&self, name: &str) -> String {
        screen::cut(&screen::safe(name), 34).into_owned()
    }
}

fn write_list(
    out: &mut dyn Write,
    title: &str,
    lines: impl ExactSizeIterator<Item = String>,
    columns: usize,
) -> io::Result<()> {
    let all = lines.len();
    if all == 0 {
        return Ok(());
    }
    writeln!(out, "  {title}:")?;
    for line in lines.take(LINES_MAX) {
        writeln!(out, "    {}", screen::cut(&line, columns.saturating_sub(4)))?;
    }
    if all > LINES_MAX {
        writeln!(out, "    ... {} more", all - LINES_MAX)?;
    }
    Ok(())
}
