//! Sessions as a person reads them: one line a step, the findings under the step that shows them.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::engine::ClosedRun;
use crate::model::{
    Action, Claim, Name, Outcome, Report, Severity, SpanId, Step, Timestamp, TraceId, Verdict,
};

/// Lines kept of one run; a longer one shows its beginning and what was found.
const LINES_MAX: usize = 4_000;

/// One step, as it is shown.
#[derive(Debug)]
struct Line {
    span: SpanId,
    start: Timestamp,
    end: Timestamp,
    who: Option<Name>,
    what: String,
    how: &'static str,
    failed: bool,
}

/// What was read, by run.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    runs: BTreeMap<TraceId, Vec<Line>>,
    reports: BTreeMap<TraceId, Vec<Report>>,
    sessions: Vec<(Name, Vec<ClosedRun>)>,
    at: BTreeMap<Name, usize>,
}

impl Timeline {
    /// Notes a step.
    pub(super) fn see(&mut self, step: &Step) {
        let lines = self.runs.entry(step.trace).or_default();
        if lines.len() < LINES_MAX && !lines.iter().rev().take(64).any(|l| l.span == step.span) {
            lines.push(line(step));
        }
    }

    /// Notes what was found.
    pub(super) fn report(&mut self, report: &Report) {
        if let Some(judged) = report.finding.judged() {
            self.reports
                .entry(judged.trace)
                .or_default()
                .push(report.clone());
        }
    }

    /// Notes the end of a run, which tells its session.
    pub(super) fn close(&mut self, closed: &ClosedRun) {
        let at = *self.at.entry(closed.session.clone()).or_insert_with(|| {
            self.sessions.push((closed.session.clone(), Vec::new()));
            self.sessions.len() - 1
        });
        if let Some((_, runs)) = self.sessions.get_mut(at) {
            runs.push(closed.clone());
        }
    }

    /// Sessions seen, and those in which something was found.
    pub(super) fn totals(&self) -> (usize, usize) {
        let found = |runs: &Vec<ClosedRun>| runs.iter().any(|run| run.findings > 0);
        (
            self.sessions.len(),
            self.sessions.iter().filter(|(_, runs)| found(runs)).count(),
        )
    }

    /// Writes all sessions. Without `all` those in which nothing was found take one line.
    pub(super) fn write(&self, out: &mut dyn Write, all: bool) -> io::Result<()> {
        for (name, runs) in &self.sessions {
            self.write_session(out, name, runs, all)?;
        }
        Ok(())
    }

    /// Writes one session.
    pub(super) fn write_session(
        &self,
        out: &mut dyn Write,
        name: &str,
        runs: &[ClosedRun],
        all: bool,
    ) -> io::Result<()> {
        let bold = Style::new().bold();
        let dim = Style::new().dimmed();
        let steps: u64 = runs.iter().map(|run| u64::from(run.steps)).sum();
        let findings: u64 = runs.iter().map(|run| u64::from(run.findings)).sum();
        let service = runs.first().map_or("", |run| &*run.service.name);
        let verdict = match findings {
            0 => format!("{0}nothing found{0:#}", AnsiColor::Green.on_default()),
            1 => format!("{0}1 finding{0:#}", AnsiColor::Yellow.on_default()),
            n => format!("{0}{n} findings{0:#}", AnsiColor::Yellow.on_default()),
        };
        let count = if steps == 1 {
            "1 step".to_owned()
        } else {
            format!("{steps} steps")
        };
        writeln!(
            out,
            "{bold}{name}{bold:#}  {dim}{service}  {count}{dim:#}  {verdict}"
        )?;
        let unjudged = unjudged(runs);
        if !unjudged.is_empty() {
            writeln!(out, "  {dim}not assessed: {unjudged}{dim:#}")?;
        }
        if findings > 0 || all {
            for run in runs {
                self.write_run(out, run.trace)?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    fn write_run(&self, out: &mut dyn Write, trace: TraceId) -> io::Result<()> {
        let Some(lines) = self.runs.get(&trace) else {
            return Ok(());
        };
        let mut lines: Vec<&Line> = lines.iter().collect();
        lines.sort_by_key(|line| (line.end, line.start));
        let zero = lines
            .iter()
            .map(|line| line.start)
            .min()
            .unwrap_or_default();
        let reports = self
            .reports
            .get(&trace)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            let found: Vec<&Report> = found_on(reports, line.span).collect();
            let like = |other: &&&Line| {
                other.what == line.what
                    && other.how == line.how
                    && other.who == line.who
                    && found_on(reports, other.span).next().is_none()
            };
            let rest = lines.get(at + 1..).unwrap_or_default();
            let same = if found.is_empty() {
                rest.iter().take_while(like).count()
            } else {
                0
            };
            write_line(out, line, zero, same, !found.is_empty())?;
            for report in found {
                write_report(out, report)?;
            }
            at += 1 + same;
        }
        Ok(())
    }
}

fn found_on(reports: &[Report], span: SpanId) -> impl Iterator<Item = &Report> {
    reports.iter().filter(move |report| {
        report
            .finding
            .judged()
            .is_some_and(|judged| judged.span == span)
    })
}

fn write_line(
    out: &mut dyn Write,
    line: &Line,
    zero: Timestamp,
    same: usize,
    marked: bool,
) -> io::Result<()> {
    let dim = Style::new().dimmed();
    let how = if line.failed {
        AnsiColor::Red.on_default()
    } else {
        Style::new()
    };
    let bullet = if marked { ">" } else { " " };
    let times = if same > 0 {
        format!(" x{}", same + 1)
    } else {
        String::new()
    };
    let who = line
        .who
        .as_deref()
        .map(|who| format!("  ({who})"))
        .unwrap_or_default();
    let at = line.end.since(zero).as_secs_f64();
    writeln!(
        out,
        "{bullet} {dim}{at:>9.3}s{dim:#}  {:<38} {how}{}{how:#}{times}{dim}{who}{dim:#}",
        short(&line.what, 38),
        line.how
    )
}

fn write_report(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let colour = match report.severity {
        Severity::Info => AnsiColor::Cyan,
        Severity::Warning => AnsiColor::Yellow,
        Severity::Error | Severity::Critical => AnsiColor::Red,
    };
    let style = colour.on_default().bold();
    let finding = &report.finding;
    let reason = finding
        .reason
        .map(|reason| format!(" ({reason})"))
        .unwrap_or_default();
    writeln!(
        out,
        "             {style}{} {}{reason}{style:#}: {}",
        report.severity.name(),
        finding.anomaly,
        finding.message
    )
}

fn unjudged(runs: &[ClosedRun]) -> String {
    let mut by_lack: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (anomaly, lacks) in runs.iter().flat_map(|run| &run.not_assessed) {
        for lack in lacks {
            let types = by_lack.entry(lack.words()).or_default();
            if !types.contains(&anomaly.name()) {
                types.push(anomaly.name());
            }
        }
    }
    let parts: Vec<String> = by_lack
        .iter()
        .map(|(lack, types)| format!("{} ({lack})", types.join(", ")))
        .collect();
    parts.join("; ")
}

fn line(step: &Step) -> Line {
    let (what, how, failed) = match &step.action {
        Action::ToolCall(call) => {
            let verification = call.effects.verification.as_ref();
            let how = match (verification.map(|check| check.verdict), call.outcome) {
                (Some(Verdict::Passed | Verdict::PassedBySummary), _) => "passed",
                (Some(Verdict::Failed), _) => "failed",
                (Some(Verdict::ZeroTests), _) => "no tests",
                (Some(Verdict::Masked), _) => "exit masked",
                (_, Outcome::Succeeded) => "ok",
                (_, Outcome::Failed(_)) => "failed",
                (_, Outcome::Refused) => "refused",
                (_, Outcome::Unknown) => "",
            };
            let what = match verification {
                Some(check) => format!("{} ({})", call.tool, check.runner),
                None => call.tool.to_string(),
            };
            (what, how, how == "failed")
        }
        Action::ModelCall(model) => {
            let claim = model.text.map_or(Claim::None, |text| text.claim);
            let asked: Vec<&str> = model.requested.iter().map(|call| &*call.tool).collect();
            let what = if asked.is_empty() {
                "model answers".to_owned()
            } else {
                format!("model asks for {}", asked.join(", "))
            };
            (what, claim_words(claim), model.failed)
        }
        Action::AgentRun(run) => {
            let claim = run.output.map_or(Claim::None, |text| text.claim);
            let how = if run.failed {
                "failed"
            } else {
                claim_words(claim)
            };
            ("agent run ends".to_owned(), how, run.failed)
        }
    };
    Line {
        span: step.span,
        start: step.start,
        end: step.end,
        who: step.agent.clone(),
        what,
        how,
        failed,
    }
}

const fn claim_words(claim: Claim) -> &'static str {
    match claim {
        Claim::None => "",
        Claim::Done => "claims to be done",
        Claim::ChecksPassed => "claims that checks passed",
    }
}

fn short(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let mut out: String = text.chars().take(max.saturating_sub(3)).collect();
    out.push_str("...");
    out
}
