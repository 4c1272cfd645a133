//! `scope_escape`: a write outside the workspace.
//!
//! - Invariant: a path that the call writes, deletes, moves or copies to lies neither in the workspace nor in an
//!   allowed directory (A15). What was refused or failed is a note: nothing was written.
//! - Ignores: temp trees, devices, paths that hold an unknown variable (`not assessed`), arguments that are no
//!   paths.
//! - Source rule (gptme anomaly_watchdog, first version): `save`, `append` and `patch` alone, every attempt.
//! - Cost: one comparison; a walk over the lane when it fires.

use smallvec::SmallVec;

use crate::lanes::{Call, View};
use crate::model::{AnomalyType, Confidence, Fact, Finding, Lack, Outcome, Role, Scope, Severity};

use super::ready::Ready;
use super::repeats::{bounded, hash};
use super::settings::config;
use super::{Detector, Judgement, Rules, wording};

config! {
    /// Settings of `scope_escape`.
    pub struct Config (enabled: true) {
        /// Directories outside the workspace that may be written to.
        allowed_dirs: Vec<String> = Vec::new(),
    }
}

/// The detector.
#[derive(Debug)]
pub(super) struct ScopeEscape {
    ready: Ready,
}

impl ScopeEscape {
    pub(super) fn new(config: &Config, rules: Rules) -> Self {
        Self {
            ready: Ready::new(config.common(), rules),
        }
    }

    /// Severity, confidence, reason and verb, by how the call ended.
    fn weigh(&self, call: &Call) -> (Severity, Confidence, Option<&'static str>, &'static str) {
        let source = self.ready.rules == Rules::Source;
        match call.outcome {
            Outcome::Refused if !source => (
                Severity::Info,
                Confidence::Likely,
                Some("refused"),
                "tried to write",
            ),
            // A command may have written all the same before it failed.
            Outcome::Failed(_) if !source => (
                Severity::Info,
                Confidence::Heuristic,
                Some("failed"),
                "tried to write",
            ),
            _ if call.role == Role::Shell => (Severity::Error, Confidence::Likely, None, "wrote"),
            _ => (Severity::Error, Confidence::Exact, None, "wrote"),
        }
    }
}

impl Detector for ScopeEscape {
    fn anomaly(&self) -> AnomalyType {
        AnomalyType::ScopeEscape
    }

    fn rules(&self) -> Rules {
        self.ready.rules
    }

    fn judge(&self, view: &View<'_>) -> Judgement {
        let Some(judged) = view.call() else {
            return Judgement::Quiet;
        };
        match judged.more.scope {
            Scope::NoWrite if judged.key.is_none() && judged.role == Role::Edit => {
                return Judgement::NotAssessed(Lack::NoArguments);
            }
            Scope::NoWrite | Scope::Inside => return Judgement::Quiet,
            Scope::NoWorkspace => return Judgement::NotAssessed(Lack::NoWorkspace),
            Scope::Unknown => return Judgement::NotAssessed(Lack::Unparsed),
            Scope::Outside => {}
        }
        let ignored = self.ready.of(view.names, judged.tool);
        if ignored.is_some_and(|over| over.ignore) {
            return Judgement::Quiet;
        }
        let place = judged.more.outside;
        let escapes = view
            .calls()
            .iter()
            .filter(|call| call.more.scope == Scope::Outside && call.more.outside == place);
        let count = escapes.clone().count();
        let (own, confidence, reason, verb) = self.weigh(judged);
        let directory = view.names.text(place);
        let tool = view.names.text(judged.tool);
        Judgement::Found(Box::new(Finding {
            anomaly: AnomalyType::ScopeEscape,
            rule: 1,
            severity: self.ready.severity(own),
            confidence,
            reason,
            members: bounded(escapes),
            count: u32::try_from(count).unwrap_or(u32::MAX),
            evidence_key: hash(directory.as_bytes()),
            shape: SmallVec::new(),
            message: wording::message(format!(
                "`{}` {verb} outside the workspace, under `{}`{}",
                wording::name(&tool),
                wording::name(&directory),
                if count > 1 {
                    format!(", {count} times by now")
                } else {
                    String::new()
                },
            )),
            facts: vec![
                ("directory", Fact::Text(directory)),
                ("calls", Fact::Int(i64::try_from(count).unwrap_or(i64::MAX))),
            ],
            tool: Some(tool),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, finding};
    use super::*;
    use crate::model::Name;

    fn write(bench: &mut Bench, scope: Scope, under: &str, outcome: Outcome) {
        let mut call = bench.blank("w", "w");
        call.role = Role::Edit;
        call.more.scope = scope;
        call.more.outside = bench.names.id(&Name::from(under));
        call.outcome = outcome;
        bench.push(call);
    }

    #[test]
    fn a15_outside_is_an_error_and_a_note_when_nothing_was_written() {
        let mut bench = Bench::default();
        for (scope, under, outcome) in [
            (Scope::Inside, "", Outcome::Succeeded),
            (Scope::Outside, "/etc", Outcome::Succeeded),
            (Scope::Outside, "/etc", Outcome::Refused),
            (Scope::NoWorkspace, "", Outcome::Succeeded),
            (Scope::Unknown, "", Outcome::Succeeded),
            (Scope::Outside, "/srv", Outcome::Unknown),
        ] {
            write(&mut bench, scope, under, outcome);
        }
        let detector = ScopeEscape::new(&Config::default(), Rules::Aware);
        let found = bench.found(&detector);
        let seen: Vec<_> = found
            .iter()
            .map(|(at, f)| (*at, f.severity, f.count))
            .collect();
        assert_eq!(
            seen,
            [
                (1, Severity::Error, 1),
                (2, Severity::Info, 2),
                (5, Severity::Error, 1)
            ]
        );
        for (at, lack) in [(3, Lack::NoWorkspace), (4, Lack::Unparsed)] {
            assert_eq!(bench.at(&detector, at), Judgement::NotAssessed(lack));
        }
        let source = ScopeEscape::new(&Config::default(), Rules::Source);
        let refused = finding(bench.at(&source, 2)).unwrap();
        assert_eq!(refused.severity, Severity::Error);
    }
}
