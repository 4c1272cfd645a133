//! `premature_victory`: a claim of completion without fresh proof.
//!
//! - Invariant: at the end of a claim, no check passed after the last successful source edit, where the edit
//!   lies; or the claim tells of checks that never ran. A statement about evidence, no prediction (A14).
//! - Ignores: claims before any edit that tell of no checks; edits of documentation and scratch files; failed
//!   edits; weak verification (the program, a build, a linter ran after the edit) lowers the severity, and a
//!   mere note is dropped then.
//! - Source rule (failure taxonomy sentinel): the last edit by `edit_file`, `write_file` or `apply_patch`, failed
//!   or not, is not strictly older than the last passing `run_pytest`, `npm_test` or `run_test_suite`; the last
//!   recorded one counts, not the latest.
//! - Cost: nothing for texts without a claim; else a walk over at most 16 edits and 16 checks.

use std::time::Duration;

use smallvec::SmallVec;

use crate::lanes::{Call, Check, Edit, Reply, View};
use crate::model::{
    AnomalyType, Claim, Confidence, Fact, Finding, Lack, Member, Name, Outcome, Severity,
    TextFacts, Timestamp, Verdict,
};

use super::freshness::{Evidence, Gap, Standing, unix_ms, weigh};
use super::ready::Ready;
use super::repeats::{failed_in_source, hash, mix};
use super::settings::config;
use super::{Detector, Judgement, Rules, wording};

config! {
    /// Settings of `premature_victory`.
    pub struct Config (enabled: true) {
        /// How far clocks of two processes may lie apart, in the agent's favour.
        #[serde(with = "crate::model::units::duration")]
        clock_tolerance: Duration = Duration::from_secs(1),
    }
}

/// Tools that the source knows as writers.
const SOURCE_WRITERS: [&str; 3] = ["edit_file", "write_file", "apply_patch"];
/// Tools that the source knows as test runners.
const SOURCE_RUNNERS: [&str; 3] = ["run_pytest", "npm_test", "run_test_suite"];

/// The detector.
#[derive(Debug)]
pub(super) struct PrematureVictory {
    tolerance: Duration,
    ready: Ready,
}

impl PrematureVictory {
    pub(super) fn new(config: &Config, rules: Rules) -> Self {
        Self {
            tolerance: config.clock_tolerance,
            ready: Ready::new(config.common(), rules),
        }
    }

    /// The last recorded edit and pass, as the source keeps them: one moment each, 0 for never.
    fn source(&self, view: &View<'_>, claim: &Reply, text: &TextFacts) -> Judgement {
        if !claim.of_run && text.claim == Claim::None {
            return Judgement::Quiet;
        }
        let last = |names: &[&str], counts: fn(&Call) -> bool| {
            view.calls()
                .iter()
                .rev()
                .find(|call| counts(call) && names.contains(&&*view.names.text(call.tool)))
        };
        let Some(edit) = last(&SOURCE_WRITERS, |_| true) else {
            return Judgement::Quiet;
        };
        let pass = last(&SOURCE_RUNNERS, |call| {
            call.outcome != Outcome::Unknown && !failed_in_source(call.outcome)
        });
        let passed = pass.map_or(Timestamp::ZERO, |pass| pass.end);
        if edit.end == Timestamp::ZERO || passed > edit.end {
            return Judgement::Quiet;
        }
        let mut finding = self.finding(claim, Severity::Error);
        finding.members.insert(0, edit.member());
        finding.evidence_key = mix(finding.evidence_key, hash(edit.span.as_bytes()));
        finding.reason = Some(if pass.is_some() {
            Gap::Stale.word()
        } else {
            Gap::None.word()
        });
        finding.facts = vec![
            ("last_edit_tool", Fact::Text(view.names.text(edit.tool))),
            ("last_edit_ms", Fact::Int(unix_ms(edit.end))),
            ("last_pass_ms", Fact::Int(unix_ms(passed))),
        ];
        finding.message = wording::message(format!(
            "claims completion, but `{}` edited at step {} and no test has passed since",
            wording::tool(view.names, edit.tool),
            edit.step,
        ));
        Judgement::Found(Box::new(finding))
    }

    fn aware(&self, view: &View<'_>, claim: &Reply, text: &TextFacts) -> Judgement {
        if claim.asks_for_calls || claim.failed || text.honest_gap {
            return Judgement::Quiet;
        }
        if text.claim == Claim::None {
            return if text.truncated {
                Judgement::NotAssessed(Lack::Truncated)
            } else {
                Judgement::Quiet
            };
        }
        let of_checks = text.claim == Claim::ChecksPassed;
        let evidence = weigh(view.ledger, claim, of_checks, self.tolerance);
        match evidence.standing {
            Standing::Proved if evidence.edit.is_none() && blind(view) => {
                Judgement::NotAssessed(unseen(view))
            }
            Standing::Proved => Judgement::Quiet,
            Standing::Unknown => Judgement::NotAssessed(Lack::NoResults),
            Standing::Gap(_) if blind(view) || alone(view, &evidence) => {
                Judgement::NotAssessed(unseen(view))
            }
            Standing::Gap(gap) => match severity(view, gap, of_checks, evidence.weak) {
                Some(severity) => Judgement::Found(Box::new(
                    self.gap(view, claim, of_checks, gap, &evidence, severity),
                )),
                None => Judgement::Quiet,
            },
        }
    }

    fn gap(
        &self,
        view: &View<'_>,
        claim: &Reply,
        of_checks: bool,
        gap: Gap,
        evidence: &Evidence<'_>,
        severity: Severity,
    ) -> Finding {
        let mut finding = self.finding(claim, severity);
        finding.reason = Some(gap.word());
        finding.confidence = if evidence.two_clocks {
            Confidence::Heuristic
        } else {
            Confidence::Likely
        };
        let mut before: SmallVec<[Member; 2]> = SmallVec::new();
        before.extend(evidence.edit.map(edit_member));
        before.extend(evidence.last.map(check_member));
        before.sort_by_key(|member| (member.end, member.step));
        before.retain(|member| member.span != claim.span);
        finding.members.insert_many(0, before);
        let about = evidence.edit.map_or(claim.span, |edit| edit.span);
        finding.evidence_key = mix(finding.evidence_key, hash(about.as_bytes()));
        finding.facts = facts(view, of_checks, gap, evidence);
        finding.message = message(view, of_checks, gap, evidence);
        finding
    }

    fn finding(&self, claim: &Reply, severity: Severity) -> Finding {
        Finding {
            anomaly: AnomalyType::PrematureVictory,
            rule: 1,
            severity: self.ready.severity(severity),
            confidence: Confidence::Exact,
            reason: None,
            members: SmallVec::from_slice(&[claim.member()]),
            count: 1,
            tool: None,
            evidence_key: hash(b"premature_victory"),
            shape: SmallVec::new(),
            facts: Vec::new(),
            message: String::new(),
        }
    }
}

impl Detector for PrematureVictory {
    fn anomaly(&self) -> AnomalyType {
        AnomalyType::PrematureVictory
    }

    fn rules(&self) -> Rules {
        self.ready.rules
    }

    fn judge(&self, view: &View<'_>) -> Judgement {
        let Some(claim) = view.reply() else {
            return Judgement::Quiet;
        };
        let Some(text) = &claim.text else {
            return if claim.asks_for_calls || claim.failed || view.run.seen_texts {
                Judgement::Quiet
            } else {
                Judgement::NotAssessed(Lack::NoText)
            };
        };
        match self.ready.rules {
            Rules::Source => self.source(view, claim, text),
            Rules::Aware => self.aware(view, claim, text),
        }
    }
}

/// Calls were made, and nothing tells what they did: no edit could have been seen. Without any call seen, the
/// same holds where models asked for some, or where no model's answer but only the run's was seen (P33): then
/// tools are not traced.
fn blind(view: &View<'_>) -> bool {
    if view.run.calls > 0 {
        return !view.run.seen_arguments;
    }
    let replies = view.replies();
    replies.iter().any(|reply| reply.asks_for_calls) || replies.iter().all(|reply| reply.of_run)
}

/// A single answer is all that is seen of a run and of its conversation: its steps may stand in traces of their own.
fn alone(view: &View<'_>, evidence: &Evidence<'_>) -> bool {
    let run = view.run;
    let nothing = evidence.edit.is_none() && evidence.last.is_none();
    nothing && run.calls == 0 && run.answers == 1 && run.agent_runs == 0
}

/// What a run of which too little is seen lacks.
fn unseen(view: &View<'_>) -> Lack {
    match view.run.calls {
        0 => Lack::NoToolSpans,
        _ => Lack::NoArguments,
    }
}

/// How bad a gap is (A14); `None` when it is not worth a word.
fn severity(view: &View<'_>, gap: Gap, of_checks: bool, weak: bool) -> Option<Severity> {
    let likely_wanted = view
        .reply()
        .is_some_and(|claim| view.ledger.checks_expected_by(claim.end));
    let own = match gap {
        Gap::Failed | Gap::Masked | Gap::ZeroTests | Gap::Stopped if of_checks => Severity::Error,
        Gap::Invented => Severity::Error,
        Gap::None if !likely_wanted => Severity::Info,
        _ => Severity::Warning,
    };
    match own {
        _ if !weak => Some(own),
        Severity::Error | Severity::Critical => Some(Severity::Warning),
        Severity::Warning => Some(Severity::Info),
        Severity::Info => None,
    }
}

fn edit_member(edit: &Edit) -> Member {
    Member {
        trace: edit.trace,
        span: edit.span,
        step: edit.step,
        start: edit.start,
        end: edit.end,
    }
}

fn check_member(check: &Check) -> Member {
    Member {
        trace: check.trace,
        span: check.span,
        step: check.step,
        start: check.start,
        end: check.end,
    }
}

/// The edit, the last check, both times, and what would have been proof; the most telling first.
fn facts(
    view: &View<'_>,
    of_checks: bool,
    gap: Gap,
    evidence: &Evidence<'_>,
) -> Vec<(&'static str, Fact)> {
    let claim = if of_checks { "checks_passed" } else { "done" };
    let mut facts = vec![("proof", Fact::Class(proof(gap, evidence).into()))];
    if let Some(edit) = evidence.edit {
        let path = edit.path.clone();
        facts.extend(path.map(|path| ("last_edit_path", Fact::Path(path))));
        facts.push(("last_edit_tool", Fact::Text(view.names.text(edit.tool))));
        facts.push(("last_edit_ms", Fact::Int(unix_ms(edit.end))));
    }
    if let Some(last) = evidence.last {
        facts.push(("last_check", Fact::Text(last.runner.clone())));
        let outcome = Name::from(outcome_word(last.verdict));
        facts.push(("last_check_outcome", Fact::Class(outcome)));
        facts.push(("last_check_ms", Fact::Int(unix_ms(last.end))));
    }
    let edit = evidence.edit.map(|edit| edit.span);
    let check = evidence.last.map(|last| last.span);
    facts.extend(edit.map(|span| ("last_edit_span", Fact::Span(span))));
    facts.extend(check.map(|span| ("last_check_span", Fact::Span(span))));
    facts.push(("claim", Fact::Class(Name::from(claim))));
    facts.push(("weak_check", Fact::Bool(evidence.weak)));
    facts
}

const fn outcome_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Passed | Verdict::PassedBySummary => "passed",
        Verdict::Failed => "failed",
        Verdict::ZeroTests => "zero_tests",
        Verdict::Stopped => "stopped",
        Verdict::Masked => "masked",
        Verdict::Unknown => "unknown",
    }
}

/// What would have proved the claim.
fn proof(gap: Gap, evidence: &Evidence<'_>) -> String {
    let runner = evidence.last.map_or("test", |last| &*last.runner);
    let runner = wording::name(runner);
    let edited = evidence.edit.map(|edit| edit.end);
    let failed = evidence.last.filter(|_| gap == Gap::Failed);
    let since = edited.max(failed.map(|last| last.end));
    let when = since.map_or_else(
        || "before the claim".to_owned(),
        |since| format!("started after {}", wording::clock(since)),
    );
    match gap {
        Gap::Masked => format!("a passing {runner} run with its own exit status, {when}"),
        Gap::ZeroTests => format!("a {runner} run of at least one test that passes, {when}"),
        Gap::Stopped => format!("a passing {runner} run that comes to its end, {when}"),
        Gap::Elsewhere => format!("a passing {runner} run where the edit lies, {when}"),
        _ => format!("a passing {runner} run {when}"),
    }
}

fn message(view: &View<'_>, of_checks: bool, gap: Gap, evidence: &Evidence<'_>) -> String {
    let says = if of_checks {
        "claims that checks passed"
    } else {
        "claims completion"
    };
    let edit = evidence.edit.map_or_else(String::new, |edit| {
        format!(
            "`{}`, step {}",
            wording::tool(view.names, edit.tool),
            edit.step
        )
    });
    let check = evidence.last.map_or_else(String::new, |last| {
        format!("`{}` (step {})", wording::name(&last.runner), last.step)
    });
    wording::message(match gap {
        Gap::Failed => format!("{says}, but the last check, {check}, failed"),
        Gap::Masked => format!(
            "{says}, but the exit status of the last check, {check}, is hidden and its output does not settle it"
        ),
        Gap::ZeroTests => format!("{says}, but the last check, {check}, ran no test"),
        Gap::Stopped => format!("{says}, but the last check, {check}, was stopped before its end"),
        Gap::Elsewhere => {
            format!("{says}, but {check} ran elsewhere than the last edit ({edit}) lies")
        }
        Gap::Stale => format!("{says}, but {check} is older than the last edit ({edit})"),
        Gap::Invented if edit.is_empty() => format!("{says}, but none ran"),
        Gap::Invented => format!("{says}, but none ran; last edit: {edit}"),
        Gap::None => format!("{says}, but nothing was checked since the last edit ({edit})"),
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, claim, finding, span, text, trace};
    use super::*;
    use crate::lanes::Order;
    use crate::model::{CheckKind, Finish, Stash, Verdict};

    fn detector(rules: Rules) -> PrematureVictory {
        PrematureVictory::new(&Config::default(), rules)
    }

    /// One event of a story, at a second: an edit, a check, a claim.
    struct Story(Bench);

    impl Story {
        fn new() -> Self {
            let mut bench = Bench::default();
            bench.run.seen_arguments = true;
            Self(bench)
        }

        fn order(&self, at: u64) -> (Order, Timestamp) {
            let end = Timestamp::from_nanos(at * 1_000_000_000);
            let order = Order {
                end,
                start: end,
                height: 0,
                arrival: u32::try_from(at).unwrap(),
            };
            (order, end)
        }

        fn edit_with(mut self, at: u64, change: impl FnOnce(&mut Edit)) -> Self {
            let (order, end) = self.order(at);
            let mut edit = Edit {
                order,
                trace: trace(),
                span: span(order.arrival),
                step: order.arrival,
                start: end,
                end,
                resource: 0,
                tool: self.0.names.id(&Name::from("edit_file")),
                succeeded: Some(true),
                source: true,
                root: None,
                path: Some(Name::from("/srv/app/src/a.rs")),
                stash: None,
            };
            change(&mut edit);
            self.0.ledger.add_edit(edit);
            self
        }

        fn edit(self, at: u64) -> Self {
            self.edit_with(at, |_| {})
        }

        fn check_with(
            mut self,
            at: u64,
            verdict: Verdict,
            change: impl FnOnce(&mut Check),
        ) -> Self {
            let (order, end) = self.order(at);
            let mut check = Check {
                order,
                trace: trace(),
                span: span(order.arrival),
                step: order.arrival,
                start: end,
                end,
                resource: 0,
                tool: self.0.names.id(&Name::from("bash")),
                runner: Name::from("pytest"),
                cwd: None,
                kind: CheckKind::Tests,
                verdict,
                exit_code: Some(0),
                partial: false,
                seen: true,
                weak: false,
                aside: false,
            };
            change(&mut check);
            self.0.ledger.add_check(check);
            self
        }

        fn check(self, at: u64, verdict: Verdict) -> Self {
            self.check_with(at, verdict, |_| {})
        }

        fn says(mut self, at: u64, words: Claim) -> Judgement {
            let (_, end) = self.order(at);
            let text = claim("All done.", words);
            let mut reply = self.0.blank_reply(Some(text), Finish::Stop);
            reply.span = span(900);
            reply.start = end;
            reply.end = end;
            self.0.push_reply(reply);
            self.0.last_reply(&detector(Rules::Aware))
        }

        fn gap(self, at: u64, words: Claim) -> Option<(&'static str, Severity)> {
            let found = finding(self.says(at, words))?;
            Some((found.reason.unwrap(), found.severity))
        }
    }

    #[test]
    fn a14_what_ran_while_the_edits_were_put_aside_proves_nothing() {
        let aside =
            |story: Story, at: u64, stash| story.edit_with(at, |edit| edit.stash = Some(stash));
        let around = |story: Story, verdict| {
            let story = aside(story, 3, Stash::Put).check(4, verdict);
            aside(story, 5, Stash::Taken)
        };
        // Nothing else ran: the pass is of the tree without the edit.
        let passed = around(Story::new().edit(1), Verdict::Passed);
        assert_eq!(
            passed.gap(6, Claim::ChecksPassed),
            Some(("elsewhere", Severity::Warning))
        );
        // The edit was proved before; that the tests were red without it takes nothing back.
        let proved = Story::new().edit(1).check(2, Verdict::Passed);
        assert_eq!(
            around(proved, Verdict::Failed).gap(6, Claim::ChecksPassed),
            None
        );
    }

    #[test]
    fn a14_a_pass_after_the_edit_proves_it() {
        let story = || Story::new().edit(1);
        assert_eq!(
            story()
                .check(2, Verdict::Passed)
                .gap(3, Claim::ChecksPassed),
            None
        );
        assert_eq!(
            story()
                .check(2, Verdict::PassedBySummary)
                .gap(3, Claim::Done),
            None
        );
        // A point-like test at the instant of the edit proves nothing.
        let instant = story().check(1, Verdict::Passed).gap(3, Claim::Done);
        assert_eq!(instant, Some(("stale", Severity::Warning)));
    }

    #[test]
    fn a14_only_what_ended_by_the_claim_counts() {
        let story = Story::new().edit(1).check(5, Verdict::Passed);
        assert_eq!(story.gap(3, Claim::Done), Some(("none", Severity::Info)));
        assert_eq!(Story::new().edit(5).gap(3, Claim::Done), None);
    }

    #[test]
    fn a14_reasons_in_order() {
        let story = || Story::new().edit(2);
        let over = |verdict| story().check(3, verdict).gap(4, Claim::ChecksPassed);
        assert_eq!(over(Verdict::Failed), Some(("failed", Severity::Error)));
        assert_eq!(over(Verdict::Masked), Some(("masked", Severity::Error)));
        assert_eq!(
            over(Verdict::ZeroTests),
            Some(("zero_tests", Severity::Error))
        );
        let done = story().check(3, Verdict::Failed).gap(4, Claim::Done);
        assert_eq!(done, Some(("failed", Severity::Warning)));
        let stale = story()
            .check(1, Verdict::Passed)
            .gap(4, Claim::ChecksPassed);
        assert_eq!(stale, Some(("stale", Severity::Warning)));
        assert_eq!(
            story().gap(4, Claim::ChecksPassed),
            Some(("invented", Severity::Error))
        );
        assert_eq!(story().gap(4, Claim::Done), Some(("none", Severity::Info)));
        let unknown = story().check(3, Verdict::Unknown).says(4, Claim::Done);
        assert_eq!(unknown, Judgement::NotAssessed(Lack::NoResults));
    }

    #[test]
    fn a14_none_is_more_when_tests_were_wanted() {
        let mut story = Story::new().edit(2);
        story.0.ledger.note_goal_asks_for_tests(Timestamp::ZERO);
        assert_eq!(story.gap(4, Claim::Done), Some(("none", Severity::Warning)));
        let mut story = Story::new().edit(2);
        story.0.ledger.note_can_verify(Timestamp::ZERO);
        assert_eq!(story.gap(4, Claim::Done), Some(("none", Severity::Warning)));
    }

    #[test]
    fn a14_without_edits_only_invented_checks_count() {
        assert_eq!(Story::new().gap(4, Claim::Done), None);
        let invented = Story::new().gap(4, Claim::ChecksPassed);
        assert_eq!(invented, Some(("invented", Severity::Error)));
        let red = || Story::new().check(1, Verdict::Failed);
        assert_eq!(
            red().gap(4, Claim::ChecksPassed),
            Some(("failed", Severity::Error))
        );
        assert_eq!(red().gap(4, Claim::Done), None);
        assert_eq!(
            Story::new()
                .check(1, Verdict::Passed)
                .gap(4, Claim::ChecksPassed),
            None
        );
    }

    #[test]
    fn a14_relevant_edits_are_successful_source_edits() {
        let docs = Story::new().edit_with(1, |edit| edit.source = false);
        assert_eq!(docs.gap(4, Claim::Done), None);
        let refused = Story::new().edit_with(1, |edit| edit.succeeded = Some(false));
        assert_eq!(refused.gap(4, Claim::Done), None);
    }

    #[test]
    fn a14_a_failure_of_the_same_or_a_wider_scope_undoes_a_pass() {
        let story = || Story::new().edit(1).check(2, Verdict::Passed);
        let undone = story().check(3, Verdict::Failed).gap(4, Claim::Done);
        assert_eq!(undone, Some(("failed", Severity::Warning)));
        let narrower = story().check_with(3, Verdict::Failed, |check| check.partial = true);
        assert_eq!(narrower.gap(4, Claim::Done), None);
    }

    #[test]
    fn a14_elsewhere_is_where_the_run_happened() {
        let run_in = |root: &'static str, cwd: &'static str| {
            Story::new()
                .edit_with(1, |edit| edit.root = Some(Name::from(root)))
                .check_with(2, Verdict::Passed, |check| {
                    check.cwd = Some(Name::from(cwd))
                })
                .gap(3, Claim::Done)
        };
        assert_eq!(
            run_in("/r/api/src", "/r/web"),
            Some(("elsewhere", Severity::Warning))
        );
        assert_eq!(
            run_in("/r/api", "/r/api-old"),
            Some(("elsewhere", Severity::Warning))
        );
        for (root, cwd) in [
            ("/r/api", "/r"),
            ("/r", "/r/api"),
            ("/r/api/src", "/r/api/tests"),
            ("/r/api", "/r/api"),
        ] {
            assert_eq!(run_in(root, cwd), None, "{root} {cwd}");
        }
    }

    #[test]
    fn a14_weak_verification_lowers() {
        let weak = |check: &mut Check| check.weak = true;
        let story = || Story::new().edit(1).check_with(2, Verdict::Passed, weak);
        assert_eq!(story().gap(3, Claim::Done), None);
        assert_eq!(
            story().gap(3, Claim::ChecksPassed),
            Some(("invented", Severity::Warning))
        );
    }

    #[test]
    fn a14_clocks_of_two_processes() {
        let late = |check: &mut Check| {
            check.resource = 9;
            check.start = Timestamp::from_nanos(9_500_000_000);
            check.end = check.start;
        };
        let story = Story::new().edit(10).check_with(9, Verdict::Passed, late);
        assert_eq!(story.gap(12, Claim::Done), None);
    }

    #[test]
    fn what_is_no_claim() {
        let mut story = Story::new().edit(1);
        let mut honest = text("not tested");
        honest.claim = Claim::Done;
        honest.honest_gap = true;
        for (text, asks, failed) in [
            (text("The plan is"), false, false),
            (honest, false, false),
            (claim("Done", Claim::Done), true, false),
            (claim("Done", Claim::Done), false, true),
        ] {
            let mut reply = story.0.blank_reply(Some(text), Finish::Stop);
            reply.asks_for_calls = asks;
            reply.failed = failed;
            reply.end = Timestamp::from_nanos(9_000_000_000);
            story.0.push_reply(reply);
            assert_eq!(
                story.0.last_reply(&detector(Rules::Aware)),
                Judgement::Quiet
            );
        }
    }

    #[test]
    fn tells_what_happened() {
        let story = Story::new().check(1, Verdict::Passed).edit(2);
        let found = finding(story.says(3, Claim::ChecksPassed)).unwrap();
        insta::assert_snapshot!(
            found.message,
            @"claims that checks passed, but `pytest` (step 1) is older than the last edit (`edit_file`, step 2)"
        );
        assert_eq!(found.members.len(), 3);
    }
}
