//! `scope_escape`: a write outside the workspace.
//!
//! - Invariant: a path that the call writes, deletes, moves or copies to lies neither in the workspace nor in an
//!   allowed directory (A15). What was refused or failed is a note: nothing was written.
//! - Links that the conversation made before are followed (reason `link`). A workspace that is inferred makes a
//!   finding heuristic, and a warning at most.
//! - Ignores: temp trees, devices, paths that hold an unknown variable (`not assessed`), arguments that are no
//!   paths.
//! - Source rule (gptme anomaly_watchdog, first version): `save`, `append` and `patch` alone, every attempt.
//! - Cost: one comparison; a walk over the lane when it fires.

use smallvec::SmallVec;

use crate::lanes::{Call, View};
use crate::model::{
    AnomalyType, Confidence, Fact, Finding, Lack, Name, Outcome, Placed, Role, Scope, Severity,
};

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

impl ScopeEscape {
    /// Places the writes of a call again, where links or the workspace became known by other calls.
    fn place_again(&self, view: &View<'_>, judged: &Call) -> Option<Placed> {
        if self.ready.rules == Rules::Source || judged.more.scope == Scope::NoWorkspace {
            return None;
        }
        let target = view.ledger.target(judged.span)?;
        let links = view.ledger.links_before(judged.order);
        if links.is_empty() && judged.more.scope != Scope::Open {
            return None;
        }
        let root = view.ledger.root_by(judged.order);
        let placed = target
            .places
            .place(&target.writes, &links, root.map(|root| &**root));
        let same = placed.scope == judged.more.scope && !placed.by_link;
        (!same).then_some(placed)
    }

    /// What was found by placing again.
    fn found_again(&self, view: &View<'_>, judged: &Call, placed: &Placed) -> Judgement {
        let directory = Name::from(placed.outside.as_deref().unwrap_or_default());
        let (own, _, outcome, verb) = self.weigh(judged);
        // The workspace is a guess then, and so is what lies outside of it.
        let guessed = judged.more.scope == Scope::Open;
        let own = if guessed {
            own.min(Severity::Warning)
        } else {
            own
        };
        let tool = view.names.text(judged.tool);
        let how = if placed.by_link {
            " through a link"
        } else {
            ""
        };
        Judgement::Found(Box::new(Finding {
            anomaly: AnomalyType::ScopeEscape,
            rule: 1,
            severity: self.ready.severity(own),
            confidence: if guessed {
                Confidence::Heuristic
            } else {
                Confidence::Likely
            },
            reason: outcome.or(placed.by_link.then_some("link")),
            members: bounded(std::iter::once(judged)),
            count: 1,
            evidence_key: hash(directory.as_bytes()),
            shape: SmallVec::new(),
            message: wording::message(format!(
                "`{}` {verb} outside the workspace{how}, under `{}`",
                wording::name(&tool),
                wording::name(&directory),
            )),
            facts: vec![
                ("directory", Fact::Text(directory)),
                ("calls", Fact::Int(1)),
            ],
            tool: Some(tool),
        }))
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
        let again = self.place_again(view, judged);
        let scope = again
            .as_ref()
            .map_or(judged.more.scope, |placed| placed.scope);
        match scope {
            Scope::NoWrite if may_write_unseen(judged) => {
                return Judgement::NotAssessed(Lack::NoArguments);
            }
            // An answer may name the real path behind a link.
            Scope::Inside
                if judged.role == Role::Edit
                    && !judged.answer.known
                    && self.ready.rules == Rules::Aware =>
            {
                return Judgement::NotAssessed(Lack::NoResults);
            }
            Scope::NoWrite | Scope::Inside => return Judgement::Quiet,
            Scope::NoWorkspace | Scope::Open => {
                return Judgement::NotAssessed(Lack::NoWorkspace);
            }
            Scope::Unknown => return Judgement::NotAssessed(Lack::Unparsed),
            Scope::Outside => {}
        }
        let ignored = self.ready.of(view.names, judged.tool);
        if ignored.is_some_and(|over| over.ignore) {
            return Judgement::Quiet;
        }
        if let Some(placed) = again {
            return self.found_again(view, judged, &placed);
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

/// Whether a call whose arguments were not captured may have written something.
pub(super) fn may_write_unseen(call: &Call) -> bool {
    call.key.is_none() && matches!(call.role, Role::Edit | Role::Shell | Role::Other)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, finding};
    use super::*;
    use std::sync::Arc;

    use crate::lanes::Target;
    use crate::model::{FileLink, Name, Places, RootHint, Write};

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

    /// A call that wrote one path, placed against `/w` when it was read.
    fn wrote(bench: &mut Bench, path: &str, places: Places) {
        let mut call = bench.blank("w", path);
        call.role = Role::Edit;
        let writes = [Write {
            path: path.into(),
            dotted: None,
            deletes: false,
            temp: false,
            unresolved: false,
            whole_file: true,
            away: false,
        }];
        let placed = places.place(&writes, &[], None);
        call.more.scope = placed.scope;
        bench.push(call);
        let pushed = bench.lane.calls().last().unwrap();
        bench.ledger.add_target(Target {
            order: pushed.order,
            span: pushed.span,
            writes: writes.into_iter().collect(),
            places: Arc::new(places),
        });
    }

    #[test]
    fn a15_links_made_before_lead_out() {
        let places = || Places {
            roots: vec!["/w".into()],
            ..Places::default()
        };
        let mut bench = Bench::default();
        wrote(&mut bench, "/w/x/a", places());
        let made = bench.lane.calls().last().unwrap().order;
        let link = FileLink {
            path: "/w/x".into(),
            target: Some("/etc".into()),
        };
        bench.ledger.add_link(made, link);
        wrote(&mut bench, "/w/x/b", places());
        wrote(&mut bench, "/w/y", places());
        let detector = ScopeEscape::new(&Config::default(), Rules::Aware);
        let found = bench.found(&detector);
        let seen: Vec<_> = found.iter().map(|(at, f)| (*at, f.reason)).collect();
        assert_eq!(seen, [(1, Some("link"))]);
    }

    #[test]
    fn a15_an_inferred_workspace_makes_a_warning() {
        let places = || Places {
            infer: true,
            ..Places::default()
        };
        let mut bench = Bench::default();
        wrote(&mut bench, "/etc/a", places());
        let told = bench.lane.calls().last().unwrap().order;
        let hint = RootHint {
            top_level: false,
            path: "/w".into(),
        };
        bench.ledger.add_root_hint(told, &hint);
        wrote(&mut bench, "/w/a", places());
        wrote(&mut bench, "/etc/b", places());
        let detector = ScopeEscape::new(&Config::default(), Rules::Aware);
        let found: Vec<_> = bench
            .found(&detector)
            .into_iter()
            .map(|(at, f)| (at, f.severity, f.confidence))
            .collect();
        let warning = (Severity::Warning, Confidence::Heuristic);
        assert_eq!(
            found,
            [(0, warning.0, warning.1), (2, warning.0, warning.1)]
        );
    }
}
