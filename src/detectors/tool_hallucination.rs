//! `tool_hallucination`: a call to a tool that is not defined.
//!
//! - Invariant: the tool is absent from the definitions of the asking model step (else of the nearest earlier
//!   one of the lane that carries any; an agent's span defines from its start on) and nothing says that the
//!   call worked: success proves the tool (A11). Definitions that name fewer tools than there are prove nothing.
//! - Reasons: `not_defined`; `said_unknown`, no definitions, but what came back says that there is no such tool;
//!   `not_executed`, asked for, never run: each such tool of an answer, judged at the next answer of the lane,
//!   else when the run is over; `call_as_text`, a run that ended with a call written as text and made none.
//! - Ignores: case, `_`, `-`, `.` in names, and the prefix of a tool server unless the tool is said to be
//!   unknown; requests by which frameworks hand over or finish, since these leave no call.
//! - Source rule (failure taxonomy sentinel): names exactly as sent, outcome not read.
//! - Cost: three binary searches; a walk over the lane when it fires.

use smallvec::SmallVec;

use crate::lanes::{Call, NameId, Reply, View, Wanted};
use crate::model::{
    AnomalyType, Confidence, Fact, Finding, Lack, Member, Name, Outcome, Severity, ToolIdentity,
    ToolSet,
};

use super::invalid_args::unsaid;
use super::ready::Ready;
use super::repeats::{bounded, hash};
use super::settings::config;
use super::wants::{not_told, settled_here, was_run};
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

    fn ignores(&self, view: &View<'_>, tool: NameId) -> bool {
        let over = self.ready.of(view.names, tool);
        over.is_some_and(|over| over.ignore)
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
            Some(tools) if tools.is_open() => None,
            Some(_) => Some(("not_defined", Confidence::Likely)),
            None => unknown.then_some(("said_unknown", Confidence::Likely)),
        }
    }

    fn at_call(&self, view: &View<'_>, judged: &Call) -> Result<Option<Proof>, Lack> {
        if self.ignores(view, judged.tool) {
            return Ok(None);
        }
        match self.call_proof(view, judged, view.calls()) {
            Some(proof) => Ok(Some(proof)),
            None => self.lack(view, judged).map_or(Ok(None), Err),
        }
    }

    fn call_proof(&self, view: &View<'_>, judged: &Call, calls: &[Call]) -> Option<Proof> {
        let (reason, confidence) = self.invented(view, judged)?;
        let calls = calls.iter().filter(|call| {
            call.tool == judged.tool
                && call.order <= judged.order
                && self.invented(view, call).is_some()
        });
        Some(Proof {
            reason,
            confidence,
            tool: view.names.text(judged.tool),
            count: calls.clone().count(),
            members: bounded(calls),
            words: match reason {
                "said_unknown" => "was called, and the answer says that there is no such tool",
                _ => "was called, but is not among the tools that the model was given",
            },
        })
    }

    /// What a call that is not found guilty lacks to be cleared.
    fn lack(&self, view: &View<'_>, judged: &Call) -> Option<Lack> {
        if judged.outcome == Outcome::Succeeded && self.ready.rules == Rules::Aware {
            return None;
        }
        let tools = view.lane.definitions_for(judged.asked_by, judged.order);
        let Some(tools) = tools else {
            return Some(Lack::NoDefinitions);
        };
        if self.holds(tools, judged.more.identity, false) {
            // Only what was not captured could say that there is no such tool without a prefix.
            let by_prefix_alone = !self.holds(tools, judged.more.identity, true);
            return (by_prefix_alone && unsaid(judged)).then_some(Lack::NoResults);
        }
        if judged.outcome == Outcome::Unknown {
            return Some(Lack::NoResults);
        }
        tools.is_open().then_some(Lack::NoDefinitions)
    }

    /// One proof for each unknown tool among requests that are settled.
    fn not_executed(
        &self,
        view: &View<'_>,
        wants: &[&Wanted],
        calls: &[Call],
        last: Option<Member>,
    ) -> Vec<Proof> {
        let mut proofs: Vec<Proof> = Vec::new();
        let mut told: SmallVec<[NameId; 2]> = SmallVec::new();
        for want in wants {
            if told.contains(&want.tool) || !self.never_came(view, want, calls) {
                continue;
            }
            told.push(want.tool);
            let asked = view.run.asks.wants().iter();
            let count = asked
                .filter(|other| other.tool == want.tool && other.order <= want.order)
                .filter(|other| self.never_came(view, other, calls));
            proofs.push(Proof {
                reason: "not_executed",
                confidence: Confidence::Likely,
                tool: view.names.text(want.tool),
                members: [want.member].into_iter().chain(last).collect(),
                count: count.count(),
                words: "was asked for, but is not among the tools that the model was given, and was not run",
            });
        }
        proofs
    }

    /// Whether a request is one for a tool that is not defined and of which no call came.
    fn never_came(&self, view: &View<'_>, want: &Wanted, calls: &[Call]) -> bool {
        let Some(tools) = view.lane.definitions_for(want.by, want.order) else {
            return false;
        };
        let proved = |call: &Call| {
            call.more.identity.bare == want.identity.bare && call.outcome == Outcome::Succeeded
        };
        !want.silent
            && !tools.is_open()
            && !self.holds(tools, want.identity, false)
            && !self.ignores(view, want.tool)
            && !was_run(want, calls)
            && !calls.iter().any(proved)
    }

    fn at_reply(&self, view: &View<'_>, judged: &Reply) -> Vec<Proof> {
        if judged.of_run {
            let written = self.call_as_text(view, judged);
            return written.into_iter().collect();
        }
        let wants = settled_here(view);
        if wants.is_empty() {
            return Vec::new();
        }
        self.not_executed(view, &wants, view.calls(), Some(judged.member()))
    }

    fn call_as_text(&self, view: &View<'_>, judged: &Reply) -> Option<Proof> {
        let written = judged.text.is_some_and(|text| text.call_as_text);
        let none = view.run.calls == 0 && view.run.asks.count == 0;
        (written && none && !judged.failed).then(|| Proof {
            reason: "call_as_text",
            confidence: Confidence::Likely,
            tool: Name::from(""),
            members: SmallVec::from_slice(&[judged.member()]),
            count: 1,
            words: "The run ended with a tool call written as text; no tool was called",
        })
    }

    fn finding(&self, proof: Proof) -> Finding {
        let count = proof.count.max(1);
        let own = if count >= WARNING_AT {
            Severity::Warning
        } else {
            Severity::Info
        };
        let again = if count > 1 {
            format!(", {count} times by now")
        } else {
            String::new()
        };
        let named = !proof.tool.is_empty();
        Finding {
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
        }
    }

    fn findings(&self, proofs: Vec<Proof>) -> Judgement {
        Judgement::of(proofs.into_iter().map(|p| self.finding(p)).collect())
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
        match (view.call(), view.reply()) {
            (Some(call), _) => match self.at_call(view, call) {
                Ok(proof) => self.findings(proof.into_iter().collect()),
                Err(lack) => Judgement::NotAssessed(lack),
            },
            (None, Some(reply)) if self.ready.rules == Rules::Aware => {
                self.findings(self.at_reply(view, reply))
            }
            (None, _) => Judgement::Quiet,
        }
    }

    fn judge_end(&self, view: &View<'_>) -> Judgement {
        if self.ready.rules == Rules::Source {
            return Judgement::Quiet;
        }
        let calls = view.lane.calls();
        let mut proofs = self.not_executed(view, &not_told(view), calls, None);
        // Definitions that came with the agent's span, when the calls had been judged already.
        let bit = 1u32 << (AnomalyType::ToolHallucination as u8);
        let late = calls.iter().filter(|call| call.fired & bit == 0);
        proofs.extend(
            late.filter(|call| !self.ignores(view, call.tool))
                .filter_map(|call| self.call_proof(view, call, calls)),
        );
        let last = view
            .reply()
            .filter(|last| !last.of_run && !last.asks_for_calls && !view.run.text_call_on_run);
        proofs.extend(last.and_then(|last| self.call_as_text(view, last)));
        self.findings(proofs)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, SECOND, claim, finding};
    use super::*;
    use crate::lanes::{Definitions, Order};
    use crate::model::{Claim, Definition, Failure, Finish, Timestamp};

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
        given_open(bench, names, false);
    }

    fn given_open(bench: &mut Bench, names: &[&str], open: bool) {
        let list = names.iter().map(|text| Definition {
            identity: name(text),
            ..Definition::default()
        });
        let id = hash(names.concat().as_bytes());
        bench.lane.note_definitions(Definitions {
            order: Order::default(),
            by: 0,
            tools: ToolSet::new(id, [].into(), list.collect(), open),
        });
    }

    /// An answer that asks for these tools.
    fn asks(bench: &mut Bench, tools: &[&str]) {
        bench.asks(tools, |want, tool| want.identity = name(tool));
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
        names: 0,
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
    fn a11_open_definitions_prove_nothing_but_what_the_answer_says_does() {
        let mut bench = Bench::default();
        given_open(&mut bench, &["tool_search"], true);
        called(&mut bench, "other", FAILED, false);
        called(&mut bench, "other", FAILED, true);
        assert_eq!(
            reasons(Rules::Aware, &bench),
            [(1, Some("not_defined"), Severity::Info)]
        );
        let detector = ToolHallucination::new(&Config::default(), Rules::Aware);
        let lacking = Judgement::NotAssessed(Lack::NoDefinitions);
        assert_eq!(bench.at(&detector, 0), lacking);
        asks(&mut bench, &["ghost"]);
        bench.reply(None, Finish::Stop);
        assert_eq!(bench.last_reply(&detector), Judgement::Quiet);
    }

    fn all(judgement: Judgement) -> Vec<(String, u32, u32, usize)> {
        let findings = match judgement {
            Judgement::Found(finding) => vec![*finding],
            Judgement::Several(findings) => findings,
            _ => Vec::new(),
        };
        let told = findings.into_iter().map(|finding| {
            let step = finding.judged().unwrap().step;
            let tool = finding.tool.as_deref().unwrap_or_default();
            (tool.to_owned(), finding.count, step, finding.members.len())
        });
        told.collect()
    }

    #[test]
    fn a11_every_tool_asked_for_and_never_run_at_the_next_answer() {
        let mut bench = Bench::default();
        given(&mut bench, &["bash"]);
        let detector = ToolHallucination::new(&Config::default(), Rules::Aware);
        asks(&mut bench, &["ghost", "bash", "spook", "ghost"]);
        assert_eq!(bench.last_reply(&detector), Judgement::Quiet);
        bench.reply(None, Finish::Stop);
        assert_eq!(
            all(bench.last_reply(&detector)),
            [("ghost".to_owned(), 2, 1, 2), ("spook".to_owned(), 1, 1, 2)]
        );
        bench.reply(None, Finish::Stop);
        assert_eq!(bench.last_reply(&detector), Judgement::Quiet, "told once");
        bench.all_told();
        asks(&mut bench, &["ghost"]);
        assert_eq!(
            all(bench.at_end(&detector)),
            [("ghost".to_owned(), 3, 3, 1)]
        );
        bench.all_told();
        asks(&mut bench, &["later"]);
        called(&mut bench, "later", Outcome::Succeeded, false);
        assert_eq!(bench.at_end(&detector), Judgement::Quiet);
        bench.reply(None, Finish::Stop);
        assert_eq!(bench.last_reply(&detector), Judgement::Quiet);
    }

    #[test]
    fn a11_an_answer_that_overlaps_settles_nothing() {
        let mut bench = Bench::default();
        given(&mut bench, &["bash"]);
        let detector = ToolHallucination::new(&Config::default(), Rules::Aware);
        asks(&mut bench, &["ghost"]);
        let mut other = bench.blank_reply(None, Finish::Stop);
        other.end = Timestamp::from_nanos(90 * SECOND);
        other.start = Timestamp::ZERO;
        bench.push_reply(other);
        // It began before the request was made.
        assert_eq!(bench.last_reply(&detector), Judgement::Quiet);
        assert_eq!(all(bench.at_end(&detector)).len(), 1);
    }

    #[test]
    fn a11_definitions_of_the_agent_come_last() {
        let mut bench = Bench::default();
        called(&mut bench, "ghost", FAILED, false);
        bench.reply(None, Finish::Stop);
        let detector = ToolHallucination::new(&Config::default(), Rules::Aware);
        let lacking = Judgement::NotAssessed(Lack::NoDefinitions);
        assert_eq!(bench.at(&detector, 0), lacking);
        assert_eq!(bench.at_end(&detector), Judgement::Quiet);
        given(&mut bench, &["bash"]);
        assert_eq!(
            all(bench.at_end(&detector)),
            [("ghost".to_owned(), 1, 0, 1)]
        );
    }

    #[test]
    fn a11_a_last_answer_that_is_a_call_written_as_text() {
        let detector = ToolHallucination::new(&Config::default(), Rules::Aware);
        for (calls, asked, told, fires) in [
            (0, 0, false, true),
            (1, 0, false, false),
            (0, 1, false, false),
            (0, 0, true, false),
        ] {
            let mut bench = Bench::default();
            bench.run.calls = calls;
            bench.run.asks.count = asked;
            bench.run.text_call_on_run = told;
            let mut text = claim("call", Claim::None);
            text.call_as_text = true;
            bench.reply(Some(text), Finish::Stop);
            assert_eq!(bench.last_reply(&detector), Judgement::Quiet);
            assert_eq!(finding(bench.at_end(&detector)).is_some(), fires);
        }
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
