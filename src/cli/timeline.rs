//! Sessions as a person reads them: one line a step, the findings under the step that shows them.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::engine::{ClosedRun, Quiet, Why};
use crate::model::{
    Action, Claim, Name, Outcome, Report, SpanId, Step, Timestamp, TraceId, Verdict,
};

/// Lines kept of one run; a longer one shows its beginning and what was found.
const LINES_MAX: usize = 4_000;

/// Equal lines in a row that become one in a brief timeline.
const BRIEF_GROUP: usize = 3;

/// One step, as it is shown.
#[derive(Debug)]
struct Line {
    /// Its place in the run, by arrival: the number that messages name.
    number: usize,
    span: SpanId,
    start: Timestamp,
    end: Timestamp,
    who: Option<Name>,
    what: String,
    how: &'static str,
    failed: bool,
    /// Neither acts nor claims anything: asks for a tool, answers, or repeats what a step within it says.
    aside: bool,
}

/// What is said of one step.
#[derive(Clone, Debug)]
pub(super) struct Remark {
    /// The step.
    pub(super) span: SpanId,
    /// Its colour.
    pub(super) style: Style,
    /// In colour: what it is.
    pub(super) head: String,
    /// After the head: the sentence. Without one the head stands beside the step, not under it.
    pub(super) text: String,
    /// The step is where the run broke.
    pub(super) breaks: bool,
}

/// What was read, by run.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    runs: BTreeMap<TraceId, Vec<Line>>,
    remarks: BTreeMap<TraceId, Vec<Remark>>,
    /// Tool calls, claims and steps with remarks only, at most this many columns wide.
    brief: Option<usize>,
    sessions: Vec<(Name, Vec<ClosedRun>)>,
    at: BTreeMap<Name, usize>,
}

impl Timeline {
    /// One that shows tool calls, claims and steps with remarks only, in at most `columns`.
    pub(super) fn brief(columns: usize) -> Self {
        Self {
            brief: Some(columns),
            ..Self::default()
        }
    }

    /// Notes a step.
    pub(super) fn see(&mut self, step: &Step) {
        let lines = self.runs.entry(step.trace).or_default();
        if lines.len() < LINES_MAX && !lines.iter().rev().take(64).any(|l| l.span == step.span) {
            lines.push(line(step, lines.len()));
        }
    }

    /// Notes what was found.
    pub(super) fn report(&mut self, report: &Report) {
        let finding = &report.finding;
        if let Some(judged) = finding.judged() {
            let remark = found(
                judged.span,
                report.severity.name(),
                finding.anomaly.name(),
                finding.reason,
                &finding.message,
            );
            self.remark(judged.trace, remark);
        }
    }

    /// Notes what was found but stands on no span.
    pub(super) fn quiet(&mut self, quiet: &Quiet) {
        let finding = &quiet.report.finding;
        let Some(judged) = finding.judged() else {
            return;
        };
        let why = match &quiet.why {
            Why::Trial => "metric only".to_owned(),
            Why::Ignored(Some(reason)) => format!("ignored: {reason}"),
            Why::Ignored(None) => "ignored".to_owned(),
        };
        let remark = Remark {
            span: judged.span,
            style: Style::new().dimmed(),
            head: format!("{} ({why})", finding.anomaly),
            text: finding.message.clone(),
            breaks: false,
        };
        self.remark(judged.trace, remark);
    }

    /// Notes a remark on a step of a run.
    pub(super) fn remark(&mut self, trace: TraceId, remark: Remark) {
        self.remarks.entry(trace).or_default().push(remark);
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

    /// Writes the steps of one run.
    pub(super) fn write_run(&self, out: &mut dyn Write, trace: TraceId) -> io::Result<()> {
        let Some(lines) = self.runs.get(&trace) else {
            return Ok(());
        };
        let remarks = self.remarks.get(&trace).map_or(&[][..], Vec::as_slice);
        let on = |span: SpanId| remarks.iter().filter(move |remark| remark.span == span);
        let zero = lines.iter().map(|line| line.start).min();
        let zero = zero.unwrap_or_default();
        let shown =
            |line: &&Line| self.brief.is_none() || !line.aside || on(line.span).next().is_some();
        let mut lines: Vec<&Line> = lines.iter().filter(shown).collect();
        lines.sort_by_key(|line| (line.end, line.start));
        let fewest = self.brief.map_or(2, |_| BRIEF_GROUP);
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            let like = |other: &&&Line| {
                other.what == line.what
                    && other.how == line.how
                    && other.who == line.who
                    && on(other.span).next().is_none()
            };
            let rest = lines.get(at..).unwrap_or_default();
            let same = match on(line.span).next() {
                Some(_) => 1,
                None => rest.iter().take_while(like).count(),
            };
            let same = if same < fewest { 1 } else { same };
            self.write_line(out, line, zero, same, on(line.span))?;
            for remark in on(line.span).filter(|remark| !remark.text.is_empty()) {
                self.write_remark(out, remark)?;
            }
            at += same;
        }
        Ok(())
    }

    fn write_line<'a>(
        &self,
        out: &mut dyn Write,
        line: &Line,
        zero: Timestamp,
        same: usize,
        remarks: impl Iterator<Item = &'a Remark> + Clone,
    ) -> io::Result<()> {
        let dim = Style::new().dimmed();
        let how = if line.failed {
            AnsiColor::Red.on_default()
        } else {
            Style::new()
        };
        let breaks = remarks.clone().any(|remark| remark.breaks);
        let bullet = if breaks { ">" } else { " " };
        let times = match same {
            1 => String::new(),
            same => format!(" x{same}"),
        };
        let who = match line.who.as_deref() {
            Some(who) if self.brief.is_none() => format!("  {dim}({who}){dim:#}"),
            _ => String::new(),
        };
        let number = format!("#{}", line.number);
        let at = line.end.since(zero).as_secs_f64();
        write!(out, "{bullet} {dim}{number:>5} {at:>9.3}s{dim:#}  ")?;
        let what = short(&line.what, 38);
        if line.how.is_empty() && times.is_empty() && who.is_empty() {
            write!(out, "{what}")?;
        } else {
            write!(out, "{what:<38} {how}{}{how:#}{times}{who}", line.how)?;
        }
        for remark in remarks.filter(|remark| remark.text.is_empty()) {
            let style = remark.style;
            write!(out, "  {style}{}{style:#}", remark.head)?;
        }
        writeln!(out)
    }

    fn write_remark(&self, out: &mut dyn Write, remark: &Remark) -> io::Result<()> {
        const INDENT: usize = 20;
        let Remark {
            style, head, text, ..
        } = remark;
        let columns = self.brief.map_or(usize::MAX, |columns| columns - INDENT);
        let mut used = head.chars().count() + 1;
        write!(out, "{:INDENT$}{style}{head}{style:#}:", "")?;
        for word in text.split(' ') {
            let width = word.chars().count() + 1;
            if used + width > columns {
                write!(out, "\n{:1$}", "", INDENT + 1)?;
                used = 1;
            }
            write!(out, " {word}")?;
            used += width;
        }
        writeln!(out)
    }
}

/// What is said of the step at which something was found.
pub(super) fn found(
    span: SpanId,
    severity: &str,
    anomaly: &str,
    reason: Option<&str>,
    message: &str,
) -> Remark {
    let colour = match severity {
        "info" => AnsiColor::Cyan,
        "warning" => AnsiColor::Yellow,
        _ => AnsiColor::Red,
    };
    let reason = reason.map_or_else(String::new, |reason| format!(" ({reason})"));
    Remark {
        span,
        style: colour.on_default().bold(),
        head: format!("{severity} {anomaly}{reason}"),
        text: message.to_owned(),
        breaks: true,
    }
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

fn line(step: &Step, number: usize) -> Line {
    let mut aside = false;
    let (what, how, failed) = match &step.action {
        Action::ToolCall(call) => {
            let verification = call.effects.verification.as_ref();
            let how = match (verification.map(|check| check.verdict), call.outcome) {
                (Some(Verdict::Passed | Verdict::PassedBySummary), _) => "passed",
                (Some(Verdict::Failed), _) => "failed",
                (Some(Verdict::ZeroTests), _) => "no tests",
                (Some(Verdict::Masked), _) => "exit masked",
                (_, Outcome::Succeeded) if call.answer.pending => "still going on",
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
            aside = !model.requested.is_empty() || claim == Claim::None;
            let asked: Vec<&str> = model.requested.iter().map(|call| &*call.tool).collect();
            let what = if asked.is_empty() {
                "model answers".to_owned()
            } else {
                format!("model asks for {}", asked.join(", "))
            };
            (what, claim_words(claim), model.failed)
        }
        Action::AgentRun(run) => {
            aside = true;
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
        number,
        span: step.span,
        start: step.start,
        end: step.end,
        who: step.agent.clone(),
        what,
        how,
        failed,
        aside,
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
