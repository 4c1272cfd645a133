//! How runs end, and how memory stays within its bounds.

use smallvec::SmallVec;

use crate::detectors::absent;
use crate::model::{AnomalyType, Timestamp, TraceId};
use crate::policies::{Place, Steps};
use crate::sessions::{CloseReason, Pending, Run, Site};

use super::counters::bump;
use super::opinion::{Opinion, ask_at_end, case_of};
use super::{ClosedRun, Engine, Output};

impl Engine {
    /// Judges all that a run still waits with, in the order in which the waits would have ended: whether a
    /// clock is looked at once more before the end changes nothing.
    pub(super) fn settle_all(&mut self, trace: TraceId, now: Timestamp, out: &mut Output) {
        let Some(run) = self.sessions.run_mut(trace) else {
            return;
        };
        let mut dues: SmallVec<[Timestamp; 8]> = SmallVec::new();
        for pending in &mut run.pending {
            dues.push(pending.due);
            // No parent is waited for any more.
            pending.arrived = Timestamp::ZERO;
        }
        dues.sort_unstable();
        dues.dedup();
        for due in dues {
            self.settle_due(trace, due, None, out);
        }
        self.settle_run(trace, now, None, out);
    }

    pub(super) fn close_if_over(&mut self, trace: TraceId, now: Timestamp, out: &mut Output) {
        let over = self
            .sessions
            .run(trace)
            .is_some_and(|run| run.close_at.is_some_and(|at| at <= now) && run.pending.is_empty());
        if over {
            self.close(trace, CloseReason::RootEnded, now, out);
        }
    }

    pub(super) fn close_idle(&mut self, now: Timestamp, out: &mut Output) {
        while let Some((trace, reason)) = self.sessions.next_to_close(now) {
            self.close(trace, reason, now, out);
        }
        self.sessions.forget_idle_conversations(now);
    }

    /// Keeps memory within its bounds after each request.
    pub(super) fn respect_limits(&mut self, now: Timestamp, out: &mut Output) {
        self.close_idle(now, out);
        while self.holds.bytes() > self.settings.sessions.max_held {
            let Some(((body, index), trace)) = self.holds.oldest() else {
                break;
            };
            self.counters.held_over_limit += 1;
            if let Some(run) = self.sessions.run_mut(trace) {
                for pending in &mut run.pending {
                    if (pending.site.body, pending.site.index) == (body, index) {
                        pending.due = now;
                        pending.arrived = Timestamp::ZERO;
                    }
                }
            }
            self.settle_run(trace, now, None, out);
            // Whatever became of its step: the span leaves.
            self.let_go(
                Site {
                    body,
                    index,
                    marked: false,
                },
                None,
                now,
                out,
            );
        }
    }

    pub(super) fn close(
        &mut self,
        trace: TraceId,
        reason: CloseReason,
        now: Timestamp,
        out: &mut Output,
    ) {
        if let Some(run) = self.sessions.run_mut(trace) {
            run.incomplete |= matches!(reason, CloseReason::Memory | CloseReason::Shutdown);
        }
        self.settle_all(trace, now, out);
        if !self.settings.sessions.source {
            self.judge_ends(trace, now, out);
        }
        if !self.settings.sessions.source {
            self.note_absent(trace);
        }
        let Some(run) = self.sessions.close(trace, now) else {
            return;
        };
        for lane in &run.lanes {
            self.desk.forget(Place::Lane(run.id, lane.id.0));
        }
        self.desk.forget(Place::Run(run.id, Steps::Calls));
        self.desk.forget(Place::Run(run.id, Steps::Replies));
        let at = CloseReason::ALL.iter().position(|other| *other == reason);
        if let Some(cell) = at.and_then(|at| self.counters.runs_closed.get_mut(at)) {
            *cell += 1;
        }
        let not_assessed = self
            .not_assessed(&run)
            .into_iter()
            .map(|anomaly| (anomaly, run.lacks.of(anomaly).collect()))
            .collect();
        out.closed.push(ClosedRun {
            trace: run.id,
            session: run.session,
            service: run.service,
            steps: run.steps,
            findings: run.tally.findings,
            not_assessed,
            reason,
        });
    }

    /// Judges the lanes of a run that is over, for what only its end could show. What is found is late: its
    /// span has left.
    fn judge_ends(&mut self, trace: TraceId, now: Timestamp, out: &mut Output) {
        let Some(run) = self.sessions.run(trace) else {
            return;
        };
        let lasts: Vec<Pending> = run
            .lanes
            .iter()
            .filter_map(|lane| {
                let reply = lane.lane.replies().last().map(|r| (false, r.order, r.span));
                let call = || lane.lane.calls().last().map(|c| (true, c.order, c.span));
                let (is_call, order, span) = reply.or_else(call)?;
                Some(Pending {
                    lane: lane.id,
                    is_call,
                    is_claim: false,
                    order,
                    span,
                    due: now,
                    arrived: Timestamp::ZERO,
                    waits_for_parents: false,
                    again: false,
                    site: Site::GONE,
                })
            })
            .collect();
        for mut last in lasts {
            let run = self.sessions.run(trace);
            let Some(case) = run.and_then(|run| case_of(&self.sessions, &self.tables, run, &last))
            else {
                continue;
            };
            let opinion = ask_at_end(&self.tables, &self.strikes, &case);
            let moment = case.moment;
            self.note_panics(&opinion, out);
            self.note_told(trace, &opinion.findings);
            for finding in opinion.findings {
                last.span = finding.judged().map_or(last.span, |member| member.span);
                let one = Opinion {
                    findings: vec![finding],
                    choice: opinion.choice,
                    ..Opinion::default()
                };
                self.report(trace, &last, one, moment, now, None, out);
            }
        }
    }

    /// Notes what none of the spans of a run could show.
    fn note_absent(&mut self, trace: TraceId) {
        let Some(run) = self.sessions.run_mut(trace) else {
            return;
        };
        for (anomaly, lack) in absent(&run.facts) {
            let judged = self.tables.types().any(|of| of == anomaly);
            if judged && run.lacks.note(anomaly, lack) {
                bump(&mut self.counters.not_assessed, anomaly);
            }
        }
    }

    /// The types that could not be judged in a run, or not all the time.
    pub(super) fn not_assessed(&self, run: &Run) -> Vec<AnomalyType> {
        // A first step says nothing of what may follow it.
        let absent = match self.settings.sessions.source || run.steps < 2 {
            true => Default::default(),
            false => absent(&run.facts),
        };
        let lacks = |anomaly: AnomalyType| {
            run.lacks.of(anomaly).next().is_some() || absent.iter().any(|(of, _)| *of == anomaly)
        };
        self.tables.types().filter(|of| lacks(*of)).collect()
    }
}
