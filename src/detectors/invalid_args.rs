//! `invalid_args`: arguments that are no JSON, break the tool's schema, or that the tool refuses.
//!
//! - Invariant: the call's arguments are no JSON although they should be; or they break the schema that the
//!   asking model step gave for the tool (else the nearest earlier step of the lane that carries definitions);
//!   or its answer says that validation refused them (A12). The third of one tool in a lane that did not work
//!   is a warning. Reasons: `not_json`, `schema`, `refused`.
//! - Found from model output too: a request of which no call came, at the next answer or when the run is over
//!   (rule 2).
//! - Ignores: calls whose arguments were not captured, or only as a bare value; failures for any other reason;
//!   what tools commonly put up with (a number written as text, a member that is unknown or has a default)
//!   unless the call failed; members that are null where they may be missing; text in place of JSON that the
//!   framework has repaired. What worked all the same is a note at most.
//! - Source rule (failure taxonomy sentinel, tool hallucination): every breach, a member that the schema does
//!   not name and arguments that are no object included; the outcome is not read.
//! - Evidence: the member as a JSON pointer and the keyword, never the value.
//! - Cost: two comparisons; a walk over the lane when it fires.

use smallvec::SmallVec;

use crate::lanes::{Call, NameId, View, Wanted};
use crate::model::{
    AnomalyType, Arguments, Breach, Confidence, Fact, Finding, Fit, Lack, Member, Name, Outcome,
    Severity,
};

use super::ready::Ready;
use super::repeats::{bounded, hash};
use super::settings::config;
use super::wants::{not_told, settled_here, was_run};
use super::{Detector, Judgement, Rules, wording};

config! {
    /// Settings of `invalid_args`.
    pub struct Config (enabled: true) {
    }
}

/// From this one of a tool on it is a warning.
const WARNING_AT: usize = 3;

/// The detector.
#[derive(Debug)]
pub(super) struct InvalidArgs {
    ready: Ready,
}

/// What was found, before it is put into words.
struct Proof<'v> {
    rule: u8,
    reason: &'static str,
    confidence: Confidence,
    tool: NameId,
    breach: Option<&'v Breach>,
    members: SmallVec<[Member; 4]>,
    /// How many of the tool did not work.
    count: usize,
    /// This one worked.
    worked: bool,
}

impl InvalidArgs {
    pub(super) fn new(config: &Config, rules: Rules) -> Self {
        Self {
            ready: Ready::new(config.common(), rules),
        }
    }

    fn ignores(&self, view: &View<'_>, tool: NameId) -> bool {
        let over = self.ready.of(view.names, tool);
        over.is_some_and(|over| over.ignore)
    }

    /// What is wrong with a call's arguments.
    fn wrong(&self, view: &View<'_>, call: &Call) -> Option<(&'static str, Confidence)> {
        if call.arguments == Arguments::NotJson {
            // Where it worked the framework has repaired them, or an exporter has cut them.
            let worked = self.ready.rules == Rules::Aware && call.outcome == Outcome::Succeeded;
            return (!worked).then_some(("not_json", Confidence::Exact));
        }
        let failed = matches!(call.outcome, Outcome::Failed(_) | Outcome::Refused);
        let breaks = match call.more.fit {
            Fit::Breaks { .. } if self.ready.rules == Rules::Source => true,
            Fit::Breaks { lenient: true } => {
                // A member too many may be the harness's own.
                let breach = view.run.asks.breach(call.order);
                failed && breach.is_none_or(|breach| breach.keyword != "additionalProperties")
            }
            Fit::Breaks { lenient: false } => true,
            Fit::Fits | Fit::Unassessed => false,
        };
        if breaks {
            return Some(("schema", Confidence::Exact));
        }
        (call.arguments == Arguments::Refused).then_some(("refused", Confidence::Likely))
    }

    fn at_call<'v>(&self, view: &View<'v>, judged: &Call) -> Option<Proof<'v>> {
        let (reason, confidence) = self.wrong(view, judged)?;
        let worked =
            |call: &Call| self.ready.rules == Rules::Aware && call.outcome == Outcome::Succeeded;
        let bad = view.calls().iter().filter(|call| {
            call.tool == judged.tool
                && (!worked(call) || call.order == judged.order)
                && self.wrong(view, call).is_some()
        });
        Some(Proof {
            rule: 1,
            reason,
            confidence,
            tool: judged.tool,
            // Where the answer refused them, the schema may say which member it was.
            breach: view.run.asks.breach(judged.order),
            count: bad.clone().filter(|call| !worked(call)).count(),
            members: bounded(bad),
            worked: worked(judged),
        })
    }

    /// Requests with bad arguments of which no call came.
    fn at_requests<'v>(
        &self,
        view: &View<'v>,
        wants: &[&'v Wanted],
        calls: &[Call],
        last: Option<Member>,
    ) -> Vec<Proof<'v>> {
        let mut proofs = Vec::new();
        for want in wants {
            if !self.never_came(view, want, calls) {
                continue;
            }
            let asked = view.run.asks.wants().iter();
            let count = asked
                .filter(|other| other.tool == want.tool && other.order <= want.order)
                .filter(|other| self.never_came(view, other, calls))
                .count();
            let called = calls.iter().filter(|call| {
                call.tool == want.tool
                    && call.outcome != Outcome::Succeeded
                    && self.wrong(view, call).is_some()
            });
            proofs.push(Proof {
                rule: 2,
                reason: match want.arguments {
                    Arguments::NotJson => "not_json",
                    _ => "schema",
                },
                confidence: Confidence::Likely,
                tool: want.tool,
                breach: want.breach.as_ref(),
                members: [want.member].into_iter().chain(last).collect(),
                count: count + called.count(),
                worked: false,
            });
        }
        proofs
    }

    /// Whether a request has bad arguments and no call came of it. One for a tool that is not defined is
    /// tool_hallucination's.
    fn never_came(&self, view: &View<'_>, want: &Wanted, calls: &[Call]) -> bool {
        if !want.is_broken() || want.silent || self.ignores(view, want.tool) {
            return false;
        }
        let defined = view
            .lane
            .definitions_for(want.by, want.order)
            .is_none_or(|tools| {
                tools.is_open()
                    || tools.holds(want.identity.folded)
                    || tools.holds(want.identity.bare)
            });
        defined && !was_run(want, calls)
    }

    /// What is lacked to clear a call.
    fn lack(view: &View<'_>, judged: &Call) -> Option<Lack> {
        if judged.key.is_none() && judged.more.fit == Fit::Unassessed {
            return Some(Lack::NoArguments);
        }
        if judged.more.fit != Fit::Unassessed || judged.arguments == Arguments::Unknown {
            // It failed, and only what was not captured could say that validation refused it.
            return unsaid(judged).then_some(Lack::NoResults);
        }
        let tools = view.lane.definitions_for(judged.asked_by, judged.order);
        let shape = tools.and_then(|tools| {
            let definition = tools.definition(judged.more.identity)?;
            definition.shape.as_ref()
        });
        Some(match shape {
            None => Lack::NoDefinitions,
            Some(_) if judged.more.bare => Lack::NoArguments,
            // It would have taken too long, or they are too long.
            Some(_) => Lack::Truncated,
        })
    }

    fn finding(&self, view: &View<'_>, proof: Proof<'_>) -> Finding {
        let own = if proof.count >= WARNING_AT && !proof.worked {
            Severity::Warning
        } else {
            Severity::Info
        };
        let tool = view.names.text(proof.tool);
        let count = proof.count.max(1);
        let mut facts = vec![("calls", Fact::Int(i64::try_from(count).unwrap_or(i64::MAX)))];
        let mut place = String::new();
        if let Some(breach) = proof.breach {
            facts.push(("member", Fact::Text(breach.pointer.clone())));
            facts.push(("keyword", Fact::Text(Name::from(breach.keyword))));
            place = format!(
                " ({} at `{}`)",
                breach.keyword,
                wording::name(&breach.pointer)
            );
        }
        let words = match proof.reason {
            "not_json" => "that are no JSON",
            "schema" => "that break its schema",
            _ => "that its validation refused",
        };
        let verb = if proof.rule == 1 {
            "was called"
        } else {
            "was asked for, and not run,"
        };
        let again = if count > 1 {
            format!(", {count} times by now")
        } else if proof.worked {
            ", and worked all the same".to_owned()
        } else {
            String::new()
        };
        Finding {
            anomaly: AnomalyType::InvalidArgs,
            rule: proof.rule,
            severity: self.ready.severity(own),
            confidence: proof.confidence,
            reason: Some(proof.reason),
            members: proof.members,
            count: u32::try_from(count).unwrap_or(u32::MAX),
            evidence_key: hash(tool.as_bytes()),
            shape: SmallVec::new(),
            facts,
            message: wording::message(format!(
                "`{}` {verb} with arguments {words}{place}{again}",
                wording::name(&tool),
            )),
            tool: Some(tool),
        }
    }

    fn findings(&self, view: &View<'_>, proofs: Vec<Proof<'_>>) -> Judgement {
        let findings = proofs.into_iter().map(|proof| self.finding(view, proof));
        Judgement::of(findings.collect())
    }
}

impl Detector for InvalidArgs {
    fn anomaly(&self) -> AnomalyType {
        AnomalyType::InvalidArgs
    }

    fn rules(&self) -> Rules {
        self.ready.rules
    }

    fn judge(&self, view: &View<'_>) -> Judgement {
        if let Some(judged) = view.call() {
            if self.ignores(view, judged.tool) {
                return Judgement::Quiet;
            }
            if let Some(proof) = self.at_call(view, judged) {
                return Judgement::Found(Box::new(self.finding(view, proof)));
            }
            return Self::lack(view, judged).map_or(Judgement::Quiet, Judgement::NotAssessed);
        }
        let Some(judged) = view.reply().filter(|_| self.ready.rules == Rules::Aware) else {
            return Judgement::Quiet;
        };
        let wants = settled_here(view);
        if wants.is_empty() {
            return Judgement::Quiet;
        }
        let last = Some(judged.member());
        self.findings(view, self.at_requests(view, &wants, view.calls(), last))
    }

    fn judge_end(&self, view: &View<'_>) -> Judgement {
        if self.ready.rules == Rules::Source {
            return Judgement::Quiet;
        }
        let wants = not_told(view);
        let proofs = self.at_requests(view, &wants, view.lane.calls(), None);
        self.findings(view, proofs)
    }
}

/// Whether a call may have failed in a way that nothing captured tells.
pub(super) fn unsaid(call: &Call) -> bool {
    match call.outcome {
        Outcome::Failed(failure) => failure.vague,
        Outcome::Unknown => !call.answer.known,
        Outcome::Succeeded | Outcome::Refused => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, finding};
    use super::*;
    use crate::model::{Failure, Finish};

    const FAILED: Outcome = Outcome::Failed(Failure {
        exit_code: None,
        class: 1,
        names: 0,
        is_answer: false,
        soft: false,
        vague: false,
    });

    fn detector(rules: Rules) -> InvalidArgs {
        InvalidArgs::new(&Config::default(), rules)
    }

    #[test]
    fn a12_no_json_or_refused() {
        let mut bench = Bench::default();
        for arguments in [
            Arguments::Valid,
            Arguments::Refused,
            Arguments::NotJson,
            Arguments::Unknown,
            Arguments::Refused,
        ] {
            let mut call = bench.blank("a", "a");
            call.arguments = arguments;
            call.outcome = FAILED;
            bench.push(call);
        }
        let detector = detector(Rules::Aware);
        let judge = |index| finding(bench.at(&detector, index));
        assert_eq!(judge(0), None);
        assert_eq!(judge(3), None);
        let first = judge(1).unwrap();
        assert_eq!(
            (first.severity, first.reason),
            (Severity::Info, Some("refused"))
        );
        assert_eq!(judge(2).unwrap().reason, Some("not_json"));
        let third = judge(4).unwrap();
        assert_eq!((third.severity, third.count), (Severity::Warning, 3));
        assert_eq!(third.members.len(), 3);
    }

    fn breaking(bench: &mut Bench, lenient: bool, keyword: &'static str, outcome: Outcome) {
        let mut call = bench.blank("a", "a");
        call.more.fit = Fit::Breaks { lenient };
        call.outcome = outcome;
        bench.push(call);
        let breach = Breach {
            pointer: Name::from("/line"),
            keyword,
        };
        let order = bench.lane.calls().last().unwrap().order;
        bench.run.asks.note_breach(order, breach);
    }

    #[test]
    fn a12_a_broken_schema_and_what_tools_put_up_with() {
        let mut bench = Bench::default();
        let done = Outcome::Succeeded;
        for (lenient, keyword, outcome, aware) in [
            (false, "required", FAILED, Some(Severity::Info)),
            (false, "type", done, Some(Severity::Info)),
            (true, "type", done, None),
            (true, "type", Outcome::Unknown, None),
            (true, "additionalProperties", FAILED, None),
            (true, "type", FAILED, Some(Severity::Info)),
            (false, "enum", FAILED, Some(Severity::Warning)),
            (false, "enum", done, Some(Severity::Info)),
        ] {
            breaking(&mut bench, lenient, keyword, outcome);
            let at = bench.lane.calls().len() - 1;
            let found = finding(bench.at(&detector(Rules::Aware), at));
            assert_eq!(
                found.as_ref().map(|f| f.severity),
                aware,
                "{keyword} {outcome:?}"
            );
            let told = finding(bench.at(&detector(Rules::Source), at)).unwrap();
            assert_eq!(told.reason, Some("schema"));
            if let Some(found) = found {
                let facts = &found.facts[1..];
                assert_eq!(facts[0], ("member", Fact::Text("/line".into())));
                assert_eq!(facts[1], ("keyword", Fact::Text(keyword.into())));
                assert!(found.message.contains("/line"), "{}", found.message);
            }
        }
    }

    #[test]
    fn a12_what_was_asked_for_with_bad_arguments_and_never_ran() {
        let mut bench = Bench::default();
        let bad = |want: &mut Wanted, tool: &str| match tool {
            "cut" => want.arguments = Arguments::NotJson,
            "odd" => want.fit = Fit::Breaks { lenient: true },
            _ => {}
        };
        bench.asks(&["cut", "odd", "fine"], bad);
        let detector = detector(Rules::Aware);
        assert_eq!(bench.last_reply(&detector), Judgement::Quiet);
        bench.reply(None, Finish::Stop);
        let Judgement::Several(found) = bench.last_reply(&detector) else {
            panic!("two");
        };
        let told: Vec<_> = found.iter().map(|f| (f.rule, f.reason)).collect();
        assert_eq!(told, [(2, Some("not_json")), (2, Some("schema"))]);
        bench.all_told();
        bench.asks(&["cut"], bad);
        // The framework has repaired it (P31).
        let call = bench.blank("cut", "cut");
        bench.push(call);
        bench.run.asks.wants_mut().last_mut().unwrap().identity.bare = 9;
        assert_eq!(finding(bench.at_end(&detector)).unwrap().count, 1);
        bench.run.asks.wants_mut().last_mut().unwrap().identity.bare = 0;
        assert_eq!(bench.at_end(&detector), Judgement::Quiet);
    }

    #[test]
    fn a12_what_is_lacking() {
        let mut bench = Bench::default();
        let mut call = bench.blank("a", "a");
        bench.push(call);
        call.key = None;
        bench.push(call);
        call.more.fit = Fit::Fits;
        bench.push(call);
        let judge = |index| bench.at(&detector(Rules::Aware), index);
        assert_eq!(judge(0), Judgement::NotAssessed(Lack::NoDefinitions));
        assert_eq!(judge(1), Judgement::NotAssessed(Lack::NoArguments));
        assert_eq!(judge(2), Judgement::Quiet);
    }
}
