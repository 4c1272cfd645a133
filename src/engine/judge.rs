//! Judging: what is due is judged for good, in the order of its lane; what is not yet due but already looks
//! guilty is held.

use std::time::Duration;

use smallvec::SmallVec;

use crate::detectors::{Choice, Scope};
use crate::lanes::View;
use crate::model::{AnomalyType, Finding, SpanId, Timestamp, TraceId};
use crate::policies::{Moment, Place, Steps};
use crate::sessions::{LaneId, Pending, Run, Settle, Site};

use super::counters::bump;
use super::intake::Work;
use super::opinion::{Opinion, ask_all, case_of};
use super::{Engine, Output};

/// A finding of an unnamed lane whose members hang under different parents waits this long for them.
const WAIT_FOR_PARENTS: Duration = Duration::from_secs(6);
/// Where the episodes of a type live: its scope.
pub(super) fn place_of(
    anomaly: AnomalyType,
    budget: Option<Scope>,
    run: &Run,
    lane: LaneId,
) -> Place {
    let of_conversation = |steps| match run.conversation {
        Some(id) => Place::Conversation(id.number(), steps),
        None => Place::Run(run.id, steps),
    };
    match anomaly {
        AnomalyType::EmptyResponse | AnomalyType::PrematureVictory => {
            of_conversation(Steps::Replies)
        }
        AnomalyType::NovelHost => of_conversation(Steps::Calls),
        AnomalyType::Stutter => Place::Run(run.id, Steps::Replies),
        _ if budget == Some(Scope::Session) => of_conversation(Steps::Calls),
        _ if budget == Some(Scope::Turn) => Place::Run(run.id, Steps::Calls),
        AnomalyType::ErrorRate => Place::Run(run.id, Steps::Calls),
        _ => Place::Lane(run.id, lane.0),
    }
}

impl Engine {
    /// Judges for good what is due in a run, each lane in its order.
    pub(super) fn settle_run(
        &mut self,
        trace: TraceId,
        now: Timestamp,
        work: Option<&mut Work>,
        out: &mut Output,
    ) {
        if work.is_some()
            && let Some(run) = self.sessions.run_mut(trace)
        {
            run.follow();
            // The parents that these wait for may have come.
            for pending in run
                .pending
                .iter_mut()
                .filter(|pending| pending.waits_for_parents)
            {
                pending.due = now;
            }
        }
        self.settle_due(trace, now, work, out);
        self.sessions.forget_judged(trace);
        let Some(run) = self.sessions.run(trace) else {
            return;
        };
        // What is overdue stands behind a step that waits, and is judged with it.
        let due = run
            .pending
            .iter()
            .map(|pending| pending.due)
            .filter(|due| *due > now)
            .min();
        for due in due.into_iter().chain(run.close_at.filter(|at| *at > now)) {
            self.timers.set(due, run.id);
        }
    }

    /// Judges one step for good. `false` when it has to wait for the parents of its proof.
    pub(super) fn settle_step(
        &mut self,
        trace: TraceId,
        pending: Pending,
        now: Timestamp,
        work: Option<&mut Work>,
        out: &mut Output,
    ) -> bool {
        let Some(run) = self.sessions.run(trace) else {
            return true;
        };
        let Some(case) = case_of(&self.sessions, &self.tables, run, &pending) else {
            self.drop_pending(trace, pending, now, out);
            return true;
        };
        let opinion = ask_all(&self.tables, &self.strikes, &case);
        if let Some(due) = self.wait_for_parents(run, &pending, &case.view, &opinion, now) {
            if let Some(run) = self.sessions.run_mut(trace)
                && let Some(waits) = run.pending.iter_mut().find(|p| p.order == pending.order)
            {
                waits.due = due;
                waits.waits_for_parents = true;
            }
            return false;
        }
        if self.is_watched(pending.span) {
            out.explanations
                .push(self.explain(run, &pending, &case, &opinion, now));
        }
        let (moment, key) = (case.moment, case.key);
        let table = self.tables.get(opinion.choice);
        let near = table
            .map(|table| table.near(&case.view))
            .unwrap_or_default();
        self.announce(trace, pending.lane, moment.member.start, &near);
        self.conclude(trace, pending, opinion, moment, key, now, work, out);
        self.judge_later_ones(trace, pending, now, out);
        true
    }

    /// A finding of an unnamed lane over different parents that are not seen yet may still fall apart into
    /// several agents' steps: it waits for them (DESIGN 3.7).
    fn wait_for_parents(
        &self,
        run: &Run,
        pending: &Pending,
        view: &View<'_>,
        opinion: &Opinion,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let until = pending.arrived.plus(WAIT_FOR_PARENTS);
        let lane = run.lane(pending.lane)?;
        let source = self.settings.sessions.source;
        let auto = self.settings.sessions.settle == Settle::Auto;
        if source || !auto || now >= until || !lane.is_unnamed() || !pending.is_call {
            return None;
        }
        let waits = opinion.findings.iter().any(|finding| {
            let budget = self.tables.budget_of(opinion.choice, finding.anomaly);
            if budget.is_some_and(|scope| scope != Scope::Agent) {
                return false;
            }
            // A budget may name only its last step, but counts all of the lane.
            let of_lane = finding.members.len() == 1 || budget.is_some();
            let mut parents: SmallVec<[SpanId; 8]> = if of_lane {
                let calls = lane.lane.calls().iter();
                calls.filter_map(|call| call.parent).collect()
            } else {
                let members = view.calls_of(&finding.members);
                members.iter().filter_map(|call| call.parent).collect()
            };
            parents.sort_unstable();
            parents.dedup();
            parents.len() > 1 && parents.iter().any(|parent| !run.has_span(*parent))
        });
        waits.then_some(until)
    }

    fn drop_pending(&mut self, trace: TraceId, gone: Pending, now: Timestamp, out: &mut Output) {
        if let Some(run) = self.sessions.run_mut(trace) {
            run.judged(gone.order);
        }
        self.let_go(gone.site, None, now, out);
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one verdict's circumstances, spelled out"
    )]
    fn conclude(
        &mut self,
        trace: TraceId,
        pending: Pending,
        mut opinion: Opinion,
        moment: Moment,
        key: Option<u64>,
        now: Timestamp,
        work: Option<&mut Work>,
        out: &mut Output,
    ) {
        self.note_panics(&opinion, out);
        if pending.again
            && let Some(run) = self.sessions.run(trace)
        {
            let new = |one: &Finding| !run.has_found(pending.order, one.anomaly);
            opinion.findings.retain(new);
        }
        let found: SmallVec<[AnomalyType; 4]> = opinion
            .findings
            .iter()
            .map(|finding| finding.anomaly)
            .collect();
        if let Some(run) = self.sessions.run_mut(trace) {
            run.judged(pending.order);
            run.note_found(pending.order, &found);
            for (anomaly, lack) in &opinion.lacks {
                if run.lacks.note(*anomaly, *lack) {
                    bump(&mut self.counters.not_assessed, *anomaly);
                }
            }
            if let Some(lane) = run.lane_mut(pending.lane).filter(|_| pending.is_call) {
                lane.frontier = lane.frontier.max(Some(pending.order));
                let at = lane.find_call(pending.order);
                if let Some(call) = at.and_then(|at| lane.lane.call_mut(at)) {
                    found
                        .iter()
                        .for_each(|anomaly| call.fired |= 1 << (*anomaly as u8));
                }
            }
        }
        self.note_told(trace, &opinion.findings);
        self.pass(trace, &pending, key, &found, moment);
        self.report(trace, &pending, opinion, moment, now, work, out);
    }

    /// What was found about a request (its answer is the first member) is told once.
    pub(super) fn note_told(&mut self, trace: TraceId, findings: &[Finding]) {
        for finding in findings {
            let about_request = matches!(
                finding.anomaly,
                AnomalyType::ToolHallucination | AnomalyType::InvalidArgs
            ) && finding.rule == 2;
            if let (true, Some(asking), Some(tool)) =
                (about_request, finding.members.first(), &finding.tool)
            {
                let tool = self.sessions.names.id(tool);
                if let Some(run) = self.sessions.run_mut(trace) {
                    run.facts.asks.note_told(asking.step, tool);
                }
            }
        }
    }

    pub(super) fn note_panics(&mut self, opinion: &Opinion, out: &mut Output) {
        for anomaly in &opinion.panicked {
            bump(&mut self.counters.detector_errors, *anomaly);
            let off = self.strikes.add(*anomaly);
            out.panics.push((*anomaly, off));
        }
    }

    /// Tells the episodes that a step went by.
    fn pass(
        &mut self,
        trace: TraceId,
        pending: &Pending,
        key: Option<u64>,
        found: &[AnomalyType],
        moment: Moment,
    ) {
        let Some(run) = self.sessions.run(trace) else {
            return;
        };
        let steps = if pending.is_call {
            Steps::Calls
        } else {
            Steps::Replies
        };
        let lane = pending
            .is_call
            .then_some(Place::Lane(run.id, pending.lane.0));
        let conversation = run
            .conversation
            .map(|id| Place::Conversation(id.number(), steps));
        for place in lane
            .into_iter()
            .chain([Place::Run(run.id, steps)])
            .chain(conversation)
        {
            self.desk.pass(place, key, found, moment.turn);
        }
    }

    /// A step that came late may complete a pattern of steps judged before: they are asked again, and only
    /// what is new is reported.
    fn judge_later_ones(
        &mut self,
        trace: TraceId,
        late: Pending,
        now: Timestamp,
        out: &mut Output,
    ) {
        if !late.is_call {
            return;
        }
        let Some(lane) = self.sessions.run(trace).and_then(|run| run.lane(late.lane)) else {
            return;
        };
        if lane.frontier.is_none_or(|frontier| frontier <= late.order) {
            return;
        }
        let later: Vec<_> = lane
            .lane
            .calls()
            .iter()
            .filter(|call| call.order > late.order && Some(call.order) <= lane.frontier)
            .map(|call| (call.order, call.span))
            .collect();
        for (order, span) in later {
            let again = Pending {
                order,
                span,
                site: Site::GONE,
                again: false,
                ..late
            };
            let Some(run) = self.sessions.run(trace) else {
                return;
            };
            if run.pending.iter().any(|pending| pending.order == order) {
                continue;
            }
            let Some(case) = case_of(&self.sessions, &self.tables, run, &again) else {
                continue;
            };
            let opinion = ask_all(&self.tables, &self.strikes, &case);
            if self.is_watched(span) {
                out.explanations
                    .push(self.explain(run, &again, &case, &opinion, now));
            }
            let (moment, key) = (case.moment, case.key);
            if !opinion.findings.is_empty() {
                self.conclude(trace, again, opinion, moment, key, now, None, out);
            }
        }
    }

    /// Sites of the steps of one request that are not due but already look guilty of something that would
    /// be reported.
    pub(super) fn accused(&self, trace: TraceId, body: u64, now: Timestamp) -> Vec<Site> {
        let Some(run) = self.sessions.run(trace) else {
            return Vec::new();
        };
        let here = run
            .pending
            .iter()
            .filter(|pending| pending.site.body == body);
        let guilty = here.filter(|pending| {
            let Some(case) = case_of(&self.sessions, &self.tables, run, pending) else {
                return false;
            };
            let opinion = ask_all(&self.tables, &self.strikes, &case);
            let choice = opinion.choice;
            self.by_place(run, pending.lane, choice, opinion.findings)
                .into_iter()
                .flat_map(|(place, findings)| self.desk.would_admit(place, findings, case.moment))
                .map(|admitted| self.report_of(run, pending, choice, admitted, case.moment))
                .any(|report| self.hushed(choice, &report, now).is_none())
        });
        guilty.map(|pending| pending.site).collect()
    }

    /// Findings of one step grouped by where their episodes live.
    pub(super) fn by_place(
        &self,
        run: &Run,
        lane: LaneId,
        choice: Choice,
        findings: Vec<Finding>,
    ) -> SmallVec<[(Place, Vec<Finding>); 2]> {
        let mut groups: SmallVec<[(Place, Vec<Finding>); 2]> = SmallVec::new();
        for finding in findings {
            let budget = self.tables.budget_of(choice, finding.anomaly);
            let place = place_of(finding.anomaly, budget, run, lane);
            match groups.iter_mut().find(|(other, _)| *other == place) {
                Some((_, group)) => group.push(finding),
                None => groups.push((place, vec![finding])),
            }
        }
        groups
    }
}
