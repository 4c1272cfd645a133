//! `--baseline same3`: what a plain rule ([`plain`]) would say, beside what the repetition family says.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write};

use anstyle::Style;

use crate::cli::plain::{self, Row, Seen, TIMES};
use crate::cli::screen;
use crate::engine::ClosedRun;
use crate::model::{Name, Report, SpanId, Step, TraceId};

/// Lines of one list.
const LINES_MAX: usize = 10;

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
    rows: Vec<(TraceId, Row)>,
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
        let Some(call) = Seen::of(step, number) else {
            return;
        };
        self.without_arguments += u64::from(!call.has_arguments());
        self.calls.entry(step.trace).or_default().push(call);
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
        let calls = self.calls.remove(&closed.trace).unwrap_or_default();
        let rows = plain::rows(calls).into_iter();
        self.rows.extend(rows.map(|row| (closed.trace, row)));
    }

    /// Writes both side by side.
    pub(super) fn write(&self, out: &mut dyn Write, columns: usize) -> io::Result<()> {
        let bold = Style::new().bold();
        let meets = |(run, row): &(TraceId, Row), ours: &Ours| {
            *run == ours.run && !row.spans.is_disjoint(&ours.spans)
        };
        let only_theirs: Vec<&(TraceId, Row)> = self
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
        write!(out, "{bold}beside a plain rule{bold:#}:")?;
        let rule = format!("the same tool and arguments {TIMES} times in a row");
        screen::wrap(out, &rule, 20, 2, columns)?;
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
        let theirs = only_theirs.iter().map(|(run, row)| {
            let session = self.sessions.get(run).map_or("", |session| session);
            format!("{}  {}", self.session(session), row.words())
        });
        write_list(out, "only the plain rule", theirs, columns)?;
        if !only_theirs.is_empty() {
            let hint = "why ours stayed silent: --explain with the span in brackets";
            write!(out, " ")?;
            screen::wrap(out, hint, 1, 3, columns)?;
        }
        if self.without_arguments > 0 {
            let calls = screen::count(self.without_arguments, "call");
            let text = format!("{calls} without arguments: neither rule can compare them");
            write!(out, " ")?;
            screen::wrap(out, &text, 1, 3, columns)?;
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
