//! `tool_hallucination`: a call to a tool that is not defined.
//!
//! - Invariant: the tool is absent from the definitions of the asking model step (else of the nearest earlier
//!   one of the lane that carries any) and nothing says that the call worked: success proves the tool (A11).
//! - Reasons: `not_defined`; `said_unknown`, no definitions, but what came back says that there is no such tool;
//!   `not_executed`, asked for, never run, judged at the next answer; `call_as_text`, a run that ended with a call
//!   written as text and made none.
//! - Ignores: case, `_`, `-`, `.` in names, and the prefix of a tool server unless the tool is said to be unknown.
//! - Source rule (failure taxonomy sentinel): names exactly as sent, outcome not read.
//! - Cost: three binary searches; a walk over the lane when it fires.

use smallvec::SmallVec;

use crate::lanes::{Call, Reply, View, Wanted};
use crate::model::{
    AnomalyType, Confidence, Fact, Finding, Lack, Member, Name, Outcome, Severity, ToolIdentity,
    ToolSet,
};

use super::ready::Ready;
use super::repeats::{bounded, hash};
use super::settings::config;
use super::{Detector, Judgement, Rules, wording};

config! {
    /// Settings of `tool_hallucination`.
    pub struct Config (enabled: true) {
    }
}

/// From this one of a tool on it is a warning.
const WARNING_AT: usize = 3;

/// The detector.
#[derive(Debug)]
pub(super) struct ToolHallucination {
    ready: Ready,
}

/// What was found, before it is put into words.
struct Proof {
    reason: &'static str,
    confidence: Confidence,
    tool: Name,
    members: SmallVec<[Member; 4]>,
    count: usize,
    words: &'static str,
}

impl ToolHallucination {
    pub(super) fn new(config: &Config, rules: Rules) -> Self {
        Self {
            ready: Ready::new(config.common(), rules),
        }
    }

    /// Whether a name stands among the definitions.
    fn holds(&self, tools: &ToolSet, name: ToolIdentity, said_unknown: bool) -> bool {
        match self.ready.rules {
            Rules::Source => tools.holds(name.exact),
            Rules::Aware if said_unknown => tools.holds(name.folded),
            Rules::Aware => tools.holds(name.folded) || tools.holds(name.bare),
        }
    }

    /// Why a call is one to a tool that does not exist.
    fn invented(&self, view: &View<'_>, call: &Call) -> Option<(&'static str, Confidence)> {
        let (name, unknown) = (call.more.identity, call.more.unknown_tool);
        let tools = view.lane.definitions_for(call.asked_by, call.order);
        if self.ready.rules == Rules::Source {
            let absent = tools.is_some_and(|tools| !self.holds(tools, name, false));
            return absent.then_some(("not_defined", Confidence::Exact));
        }
        if !matches!(call.outcome, Outcome::Failed(_) | Outcome::Refused) {
            return None;
        }
        match tools {
            Some(tools) if self.holds(tools, name, unknown) => None,
            Some(_) if unknown => Some(("not_defined", Confidence::Exact)),
            Some(_) => Some(("not_defined", Confidence::Likely)),
            None => unknown.then_some(("said_unknown", Confidence::Likely)),
        }
    }

    fn at_call(&self, view: &View<'_>, judged: &Call) -> Result<Option<Proof>, Lack> {
        let ignored = self.ready.of(view.names, judged.tool);
        if ignored.is_some_and(|over| over.ignore) {
            return Ok(None);
        }
        let Some((reason, confidence)) = self.invented(view, judged) else {
            return self.lack(view, judged).map_or(Ok(None), Err);
        };
        let calls = view
            .calls()
            .iter()
            .filter(|call| call.tool == judged.tool && self.invented(view, call).is_some());
        Ok(Some(Proof {
            reason,
            confidence,
            tool: view.names.text(judged.tool),
            count: calls.clone().count(),
            members: bounded(calls),
            words: match reason {
                "said_unknown" => "was called, and the answer says that there is no such tool",
                _ => "was called, but is not among the tools that the model was given",
            },
        }))
    }

    /// What a call that is not found guilty lacks to be cleared.
    fn lack(&self, view: &View<'_>, judged: &Call) -> Option<Lack> {
        if judged.outcome == Outcome::Succeeded && self.ready.rules == Rules::Aware {
            return None;
        }
        match view.lane.definitions_for(judged.asked_by, judged.order) {
            None => Some(Lack::NoDefinitions),
            Some(tools) => (judged.outcome == Outcome::Unknown
                && !self.holds(tools, judged.more.identity, false))
            .then_some(Lack::NoResults),
        }
    }

    fn at_reply(&self, view: &View<'_>, judged: &Reply) -> Option<Proof> {
        if self.ready.rules == Rules::Source {
            return None;
        }
        if judged.of_run {
            return self.call_as_text(view, judged);
        }
        let [before, _] = view.replies().last_chunk::<2>()?;
        let wanted = self.not_executed(view, before)?;
        let replies = view.replies().windows(2).filter(|pair| {
            let found = pair
                .first()
                .and_then(|reply| self.not_executed(view, reply));
            found.is_some_and(|other| other.tool == wanted.tool)
        });
        Some(Proof {
            reason: "not_executed",
            confidence: Confidence::Likely,
            tool: view.names.text(wanted.tool),
            members: SmallVec::from_slice(&[before.member(), judged.member()]),
            count: replies.count(),
            words: "was asked for, but is not among the tools that the model was given, and was not run",
        })
    }

    /// The tool that an answer asks for, which is not defined and was never called.
    fn not_executed(&self, view: &View<'_>, reply: &Reply) -> Option<Wanted> {
        let wanted = reply.wanted?;
        let tools = view.lane.definitions_for(0, reply.order)?;
        let ignored = self.ready.of(view.names, wanted.tool);
        if ignored.is_some_and(|over| over.ignore) || self.holds(tools, wanted.identity, false) {
            return None;
        }
        let ran = view.calls().iter().any(|call| {
            call.more.identity.bare == wanted.identity.bare
                || (call.call_id.is_some() && call.call_id == wanted.call_id)
        });
        (!ran).then_some(wanted)
    }

    fn call_as_text(&self, view: &View<'_>, judged: &Reply) -> Option<Proof> {
        let written = judged.text.is_some_and(|text| text.call_as_text);
        (written && view.run.calls == 0 && view.calls().is_empty() && !judged.failed).then(|| {
            Proof {
                reason: "call_as_text",
                confidence: Confidence::Likely,
                tool: Name::from(""),
                members: SmallVec::from_slice(&[judged.member()]),
                count: 1,
                words: "The run ended with a tool call written as text; no tool was called",
            }
        })
    }
}

impl Detector for ToolHallucination {
    fn anomaly(&self) -> AnomalyType {
        AnomalyType::ToolHallucination
    }

    fn rules(&self) -> Rules {
        self.ready.rules
    }

    fn judge(&self, view: &View<'_>) -> Judgement {
        let proof = match (view.call(), view.reply()) {
            (Some(call), _) => self.at_call(view, call),
            (None, Some(reply)) => Ok(self.at_reply(view, reply)),
            (None, None) => Ok(None),
        };
        let proof = match proof {
            Ok(Some(proof)) => proof,
            Ok(None) => return Judgement::Quiet,
            Err(lack) => return Judgement::NotAssessed(lack),
        };
        let own = if proof.count >= WARNING_AT {
            Severity::Warning
        } else {
            Severity::Info
        };
        let count = proof.count.max(1);
        let again = if count > 1 {
            format!(", {count} times by now")
        } else {
            String::new()
        };
        let named = !proof.tool.is_empty();
        Judgement::Found(Box::new(Finding {
            anomaly: AnomalyType::ToolHallucination,
            rule: match proof.reason {
                "not_executed" => 2,
                "call_as_text" => 3,
                _ => 1,
            },
            severity: self.ready.severity(own),
            confidence: proof.confidence,
            reason: Some(proof.reason),
            members: proof.members,
            count: u32::try_from(count).unwrap_or(u32::MAX),
            evidence_key: hash(proof.tool.as_bytes()),
            shape: SmallVec::new(),
            facts: vec![("calls", Fact::Int(i64::try_from(count).unwrap_or(i64::MAX)))],
            message: wording::message(if named {
                format!("`{}` {}{again}", wording::name(&proof.tool), proof.words)
            } else {
                proof.words.to_owned()
            }),
            tool: named.then_some(proof.tool),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, SECOND, claim, finding};
    use super::*;
    use crate::lanes::{Definitions, Order};
    use crate::model::{Claim, Failure, Finish, Timestamp};

    fn name(text: &str) -> ToolIdentity {
        let folded: String = text.to_lowercase().replace(['_', '-'], "");
        let bare = folded.rsplit('/').next().unwrap_or_default();
        ToolIdentity {
            exact: hash(text.as_bytes()),
            folded: hash(folded.as_bytes()) ^ 1,
            bare: hash(bare.as_bytes()) ^ 2,
        }
    }

    fn given(bench: &mut Bench, names: &[&str]) {
        let mut hashes: Vec<u64> = names
            .iter()
            .map(|text| name(text))
            .flat_map(|one| [one.exact, one.folded, one.bare])
            .collect();
        hashes.sort_unstable();
        bench.lane.note_definitions(Definitions {
            order: Order::default(),
            by: 0,
            tools: ToolSet {
                id: hash(names.concat().as_bytes()),
                names: [].into(),
                hashes: hashes.into(),
            },
        });
    }

    fn called(bench: &mut Bench, tool: &str, outcome: Outcome, unknown: bool) {
        let mut call = bench.blank(tool, tool);
        call.outcome = outcome;
        call.more.identity = name(tool);
        call.more.unknown_tool = unknown;
        bench.push(call);
    }

    const FAILED: Outcome = Outcome::Failed(Failure {
        exit_code: None,
        class: 1,
        is_answer: false,
        soft: false,
        vague: false,
    });

    fn reasons(rules: Rules, bench: &Bench) -> Vec<(usize, Option<&'static str>, Severity)> {
        let detector = ToolHallucination::new(&Config::default(), rules);
        let found = bench.found(&detector).into_iter();
        found
            .map(|(index, finding)| (index, finding.reason, finding.severity))
            .collect()
    }

    #[test]
    fn a11_absent_and_no_success() {
        let mut bench = Bench::default();
        given(&mut bench, &["bash", "read_file", "srv/find"]);
        for (tool, outcome, unknown) in [
            ("Bash", FAILED, false),
            ("ReadFile", FAILED, false),
            ("find", FAILED, false),
            ("find", FAILED, true),
            ("loaded", Outcome::Succeeded, false),
            ("add", Outcome::Refused, true),
            ("add", FAILED, true),
            ("add", FAILED, false),
            ("other", Outcome::Unknown, false),
        ] {
            called(&mut bench, tool, outcome, unknown);
        }
        let not = Some("not_defined");
        assert_eq!(
            reasons(Rules::Aware, &bench),
            [
                (3, not, Severity::Info),
                (5, not, Severity::Info),
                (6, not, Severity::Info),
                (7, not, Severity::Warning)
            ]
        );
        let detector = ToolHallucination::new(&Config::default(), Rules::Aware);
        assert_eq!(
            bench.at(&detector, 8),
            Judgement::NotAssessed(Lack::NoResults)
        );
        let source = reasons(Rules::Source, &bench);
        assert_eq!(source.len(), 9, "the source compares names as they are");
    }

    #[test]
    fn a11_without_definitions_only_the_answer_tells() {
        let mut bench = Bench::default();
        called(&mut bench, "a", FAILED, false);
        called(&mut bench, "b", FAILED, true);
        let detector = ToolHallucination::new(&Config::default(), Rules::Aware);
        assert_eq!(
            bench.at(&detector, 0),
            Judgement::NotAssessed(Lack::NoDefinitions)
        );
        let found = finding(bench.at(&detector, 1)).unwrap();
        assert_eq!(found.reason, Some("said_unknown"));
    }

    #[test]
    fn a11_asked_for_and_never_run() {
        let mut bench = Bench::default();
        given(&mut bench, &["bash"]);
        let wanted = |bench: &mut Bench, tool: &str| {
            let mut reply = bench.blank_reply(None, Finish::ToolCalls);
            let call = bench.blank(tool, tool);
            reply.wanted = Some(Wanted {
                call_id: None,
                tool: call.tool,
                identity: name(tool),
            });
            bench.push_reply(reply);
        };
        let detector = ToolHallucination::new(&Config::default(), Rules::Aware);
        wanted(&mut bench, "ghost");
        assert_eq!(bench.last_reply(&detector), Judgement::Quiet);
        bench.reply(None, Finish::Stop);
        let found = finding(bench.last_reply(&detector)).unwrap();
        assert_eq!((found.reason, found.rule), (Some("not_executed"), 2));
        wanted(&mut bench, "later");
        called(&mut bench, "later", Outcome::Succeeded, false);
        bench.reply(None, Finish::Stop);
        assert_eq!(bench.last_reply(&detector), Judgement::Quiet);
    }

    #[test]
    fn a11_a_call_written_as_text_at_the_end_of_a_run_without_calls() {
        let detector = ToolHallucination::new(&Config::default(), Rules::Aware);
        for (of_run, calls, fires) in [(true, 0, true), (false, 0, false), (true, 1, false)] {
            let mut bench = Bench::default();
            bench.run.calls = calls;
            let mut text = claim("call", Claim::None);
            text.call_as_text = true;
            let mut reply = bench.blank_reply(Some(text), Finish::Stop);
            reply.of_run = of_run;
            reply.end = Timestamp::from_nanos(9 * SECOND);
            bench.push_reply(reply);
            assert_eq!(finding(bench.last_reply(&detector)).is_some(), fires);
        }
    }
}
