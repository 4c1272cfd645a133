//! What could not be assessed: in how many sessions, for want of what, and what gives it; and whether that fails the
//! command.
//!
//! Invariant: silence of a detector that could not see is never taken for health.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::cli::screen;
use crate::engine::ClosedRun;
use crate::model::{AnomalyType, Lack, Name};

/// Which types must have been assessed in every session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Demand {
    /// All that are on, as far as captured content decides: arguments, results, texts.
    Content,
    /// These, whatever they lacked.
    Types(Vec<AnomalyType>),
}

impl Demand {
    fn fails(&self, anomaly: AnomalyType, lack: Lack) -> bool {
        match self {
            Self::Content => lack.is_of_content(),
            Self::Types(types) => types.contains(&anomaly),
        }
    }
}

/// What sessions lacked.
#[derive(Debug, Default)]
pub(super) struct Blind {
    sessions: BTreeMap<Name, BTreeMap<Lack, BTreeSet<AnomalyType>>>,
}

impl Blind {
    /// Notes the end of a run.
    pub(super) fn close(&mut self, closed: &ClosedRun) {
        let session = self.sessions.entry(closed.session.clone()).or_default();
        for (anomaly, lacks) in &closed.not_assessed {
            for lack in lacks {
                session.entry(*lack).or_default().insert(*anomaly);
            }
        }
    }

    /// Sessions in which something could not be assessed.
    pub(super) fn count(&self) -> usize {
        let lacks = self.sessions.values().filter(|lacks| !lacks.is_empty());
        lacks.count()
    }

    /// In words, why what was asked for is not met; `None` when it is. Without any session nothing was assessed.
    pub(super) fn failure(&self, demand: &Demand) -> Option<String> {
        if self.sessions.is_empty() {
            return Some(
                "--fail-on-blind: no session was read, so nothing was assessed".to_owned(),
            );
        }
        let mut sessions = 0;
        let mut types: BTreeSet<AnomalyType> = BTreeSet::new();
        let mut lacked: BTreeSet<Lack> = BTreeSet::new();
        for lacks in self.sessions.values() {
            let mut fails = false;
            for (lack, of) in lacks {
                for anomaly in of.iter().filter(|one| demand.fails(**one, *lack)) {
                    types.insert(*anomaly);
                    lacked.insert(*lack);
                    fails = true;
                }
            }
            sessions += usize::from(fails);
        }
        (sessions > 0).then(|| {
            let types: Vec<&str> = types.iter().map(|anomaly| anomaly.name()).collect();
            let lacked: Vec<&str> = lacked.iter().map(|lack| lack.words()).collect();
            format!(
                "--fail-on-blind: in {sessions} of {} not assessed ({}): {}",
                screen::count(self.sessions.len() as u64, "session"),
                lacked.join(", "),
                types.join(", "),
            )
        })
    }

    /// Writes what was lacked, most of one remedy together, and the remedy below; nothing where all was assessed.
    pub(super) fn write(&self, out: &mut dyn Write, columns: usize) -> io::Result<()> {
        // In the order of `Lack`, in which those with one remedy stand together but for definitions.
        let mut lacks: BTreeMap<(bool, Lack), (usize, BTreeSet<&'static str>)> = BTreeMap::new();
        for (lack, types) in self.sessions.values().flatten() {
            let late = *lack == Lack::NoDefinitions;
            let (sessions, all) = lacks.entry((late, *lack)).or_default();
            *sessions += 1;
            all.extend(types.iter().map(|anomaly| anomaly.name()));
        }
        if lacks.is_empty() {
            return Ok(());
        }
        let head = AnsiColor::Yellow.on_default().bold();
        let of = screen::count(self.sessions.len() as u64, "session");
        write!(out, "{head}NOT ASSESSED{head:#}")?;
        let text = format!(
            "in {} of {of}: silence of these types says nothing there",
            self.count()
        );
        screen::wrap(out, &text, 12, 2, columns)?;
        let dim = Style::new().dimmed();
        let mut rest = lacks.iter().peekable();
        while let Some(((_, lack), (sessions, types))) = rest.next() {
            let types: Vec<&str> = types.iter().copied().collect();
            write!(out, "  {}:", lack.words())?;
            let sessions = screen::count(*sessions as u64, "session");
            let text = format!("{} in {sessions}", types.join(", "));
            screen::wrap(out, &text, 3 + lack.words().len(), 4, columns)?;
            let remedy = remedy(*lack);
            let next = rest.peek().map(|((_, next), _)| self::remedy(*next));
            if next != Some(remedy) {
                write!(out, "    {dim}->")?;
                screen::wrap(out, remedy, 6, 6, columns)?;
                write!(out, "{dim:#}")?;
            }
        }
        writeln!(out)
    }
}

/// What gives a detector what it lacks.
const fn remedy(lack: Lack) -> &'static str {
    match lack {
        Lack::NoArguments | Lack::NoResults | Lack::NoText => {
            "switch the capture of content on: OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT for OpenTelemetry's \
             instrumentations, OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_OUTPUTS left unset for OpenInference, \
             your SDK's own switch otherwise (docs/dialects.md, Switching content on)"
        }
        Lack::NoDefinitions => "have the definitions of tools recorded on model spans",
        Lack::LaneUnknown => {
            "have spans name their agent, or hang calls of one agent under one parent"
        }
        Lack::Truncated => "texts were longer than what is read of one; nothing to switch",
        Lack::NoGoal => {
            "have the messages of users recorded on model spans; no call shared a word with them"
        }
        Lack::NoWorkspace => {
            "set processors.anomaly.workspace.root, or the resource attribute process.working_directory"
        }
        Lack::NoToolSpans => {
            "instrument the tools, or the framework that runs them: no span tells of a call"
        }
        Lack::NoModelSpans => {
            "instrument the model's client, or the framework: no span tells of an answer"
        }
        Lack::NoUsage => "have tokens and cost recorded on model spans",
        Lack::Unparsed => "commands or paths that only their shell understands; nothing to switch",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::CloseReason;
    use crate::model::{Service, TraceId};

    fn closed(trace: u8, not_assessed: Vec<(AnomalyType, Vec<Lack>)>) -> ClosedRun {
        ClosedRun {
            trace: TraceId::from_slice(&[trace; 16]).unwrap(),
            session: Name::from(format!("s{trace}")),
            service: Service {
                namespace: Name::from(""),
                name: Name::from("kiosk"),
            },
            steps: 3,
            findings: 0,
            not_assessed,
            reason: CloseReason::Shutdown,
        }
    }

    #[test]
    fn only_missing_content_fails_unless_types_are_named() {
        let mut blind = Blind::default();
        let content = |blind: &Blind| blind.failure(&Demand::Content);
        assert!(content(&blind).is_some(), "nothing was read");
        blind.close(&closed(1, Vec::new()));
        assert_eq!(content(&blind), None);
        blind.close(&closed(
            2,
            vec![
                (AnomalyType::ScopeEscape, vec![Lack::NoWorkspace]),
                (AnomalyType::InvalidArgs, vec![Lack::NoDefinitions]),
            ],
        ));
        assert_eq!(content(&blind), None);
        let named =
            |blind: &Blind, types: &[AnomalyType]| blind.failure(&Demand::Types(types.to_vec()));
        assert_eq!(named(&blind, &[AnomalyType::Stuck]), None);
        assert_eq!(
            named(&blind, &[AnomalyType::ScopeEscape]).unwrap(),
            "--fail-on-blind: in 1 of 2 sessions not assessed (no workspace): scope_escape"
        );
        blind.close(&closed(
            3,
            vec![(AnomalyType::Stuck, vec![Lack::NoArguments])],
        ));
        assert_eq!(
            content(&blind).unwrap(),
            "--fail-on-blind: in 1 of 3 sessions not assessed (no arguments): stuck"
        );
        assert_eq!(blind.count(), 2);
    }
}
