//! `--explain SPAN`: what every detector says of one step.

use std::collections::BTreeSet;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::cli::failure::Failure;
use crate::cli::screen;
use crate::engine::{Account, Explanation, Verdict, Watch};
use crate::model::{SpanId, Step, TraceId};

/// Ids named when a prefix fits several.
const NAMED_MAX: usize = 4;

/// What was asked, and what was answered.
#[derive(Debug)]
pub(super) struct Explain {
    asked: Watch,
    text: String,
    seen: BTreeSet<(SpanId, TraceId)>,
    answers: Vec<Explanation>,
}

impl Explain {
    /// A question about the spans that `asked` stands for, typed as `text`.
    pub(super) fn new(asked: Watch, text: &str) -> Self {
        Self {
            asked,
            text: text.to_owned(),
            seen: BTreeSet::new(),
            answers: Vec::new(),
        }
    }

    /// Notes a step.
    pub(super) fn see(&mut self, step: &Step) {
        if self.asked.matches(step.span) {
            self.seen.insert((step.span, step.trace));
        }
    }

    /// Notes an answer of the engine. The last one of a span counts: it knows most.
    pub(super) fn answer(&mut self, explanation: Explanation) {
        let first = self.seen.first().map(|(span, _)| *span);
        if first != self.seen.last().map(|(span, _)| *span) {
            // Several spans begin so: none is explained.
            self.answers.clear();
            return;
        }
        self.answers
            .retain(|known| (known.span, known.trace) != (explanation.span, explanation.trace));
        self.answers.push(explanation);
    }

    /// Writes the answers.
    ///
    /// # Errors
    /// No step has such an id, or several have.
    pub(super) fn write(&self, out: &mut dyn Write, columns: usize) -> Result<(), Failure> {
        let spans: BTreeSet<SpanId> = self.seen.iter().map(|(span, _)| *span).collect();
        if spans.is_empty() {
            return Err(Failure::Usage(format!(
                "--explain {}: no step that was read has such a span id; tool calls, model calls and runs of agents \
                 are steps",
                self.text
            )));
        }
        if spans.len() > 1 {
            let mut named: Vec<String> = spans
                .iter()
                .take(NAMED_MAX)
                .map(SpanId::to_string)
                .collect();
            if spans.len() > NAMED_MAX {
                named.push("...".to_owned());
            }
            return Err(Failure::Usage(format!(
                "--explain {}: {} spans begin so, write more digits: {}",
                self.text,
                spans.len(),
                named.join(", ")
            )));
        }
        for answer in &self.answers {
            write_answer(out, answer, columns)?;
        }
        if self.answers.is_empty() {
            writeln!(
                out,
                "span {}: read, but not judged by itself; another span tells of the same call, or it only hands over",
                self.text
            )?;
        }
        Ok(())
    }
}

fn write_answer(out: &mut dyn Write, answer: &Explanation, columns: usize) -> io::Result<()> {
    let bold = Style::new().bold();
    let agent = answer.agent.as_ref().map_or_else(String::new, |agent| {
        format!(" (agent {})", screen::cut(&screen::safe(agent), 32))
    });
    writeln!(
        out,
        "{bold}span {}{bold:#}  #{} of {}{agent}",
        answer.span,
        answer.step,
        screen::cut(&screen::safe(&answer.session), 40)
    )?;
    for look in &answer.looks {
        write!(out, " ")?;
        screen::wrap(out, &screen::safe(look), 1, 3, columns)?;
    }
    writeln!(out)?;
    let (off, on): (Vec<&Account>, Vec<&Account>) = answer
        .accounts
        .iter()
        .partition(|one| one.verdict == Verdict::Off);
    for account in on {
        write_account(out, account, columns)?;
    }
    if !off.is_empty() {
        let off: Vec<&str> = off.iter().map(|one| one.anomaly.name()).collect();
        write!(out, "  off:")?;
        screen::wrap(out, &off.join(", "), 6, 6, columns)?;
    }
    Ok(())
}

/// Columns before the sentences.
const INDENT: usize = 36;
/// Below so many columns the sentences stand under their head.
const NARROW: usize = 72;

fn write_account(out: &mut dyn Write, account: &Account, columns: usize) -> io::Result<()> {
    let (style, word, first) = match &account.verdict {
        Verdict::Reported => (AnsiColor::Red.on_default(), "reported", None),
        Verdict::Kept(why) => (
            AnsiColor::Yellow.on_default(),
            "not reported",
            Some(why.clone()),
        ),
        Verdict::NotAssessed(lacks) => {
            let lacks: Vec<&str> = lacks.iter().map(|lack| lack.words()).collect();
            (
                AnsiColor::Cyan.on_default(),
                "not assessed",
                Some(lacks.join(", ")),
            )
        }
        Verdict::Quiet => (Style::new().dimmed(), "quiet", None),
        Verdict::Off => (Style::new().dimmed(), "off", None),
    };
    write!(
        out,
        "  {style}{word:<13}{style:#} {:<19}",
        account.anomaly.name()
    )?;
    let indent = if columns < NARROW { 4 } else { INDENT };
    let mut used = if columns < NARROW {
        columns
    } else {
        INDENT - 1
    };
    for sentence in first.iter().chain(&account.because) {
        if used == 0 {
            write!(out, "{:1$}", "", indent - 1)?;
            used = indent - 1;
        }
        screen::wrap(out, &screen::safe(sentence), used, indent - 1, columns)?;
        used = 0;
    }
    if used > 0 {
        writeln!(out)?;
    }
    Ok(())
}
