//! Timers of `budget_time`: what is found without a step (DESIGN 6). On the arrival clock when live, on the
//! greatest event time read in a replay; never at the end of the input, for time that has not passed.

use smallvec::SmallVec;

use crate::detectors::{Choice, Overrun, TimeBudget};
use crate::model::{Member, Step, Timestamp, TraceId};
use crate::policies::Moment;
use crate::sessions::{Deadline, Last, Pending, Run, Site};

use super::opinion::{Opinion, choice_for};
use super::{Engine, Output};

/// Limits that a run had passed when a request of it came, before its steps were read.
pub(super) type Overdue = SmallVec<[(TraceId, Deadline); 1]>;

impl Engine {
    /// The limits that a run has passed by `now`, before the steps of a request that arrives then. With stamped
    /// arrivals timers have been there before.
    pub(super) fn overdue(&self, steps: &[Step], now: Timestamp) -> Overdue {
        let mut overdue = Overdue::new();
        if !self.settings.sessions.timers {
            return overdue;
        }
        let mut seen: SmallVec<[TraceId; 8]> = SmallVec::new();
        for step in steps {
            let trace = self.sessions.key_of(step.trace);
            if seen.contains(&trace) {
                continue;
            }
            seen.push(trace);
            let deadlines = self.deadlines(trace).into_iter();
            let passed = deadlines.filter(|deadline| deadline.due < now);
            overdue.extend(passed.map(|deadline| (trace, deadline)));
        }
        overdue.sort_by_key(|(_, deadline)| deadline.due);
        overdue
    }

    fn deadlines(&self, trace: TraceId) -> SmallVec<[Deadline; 3]> {
        let run = self.sessions.run(trace);
        match run.and_then(|run| self.time_of(run)) {
            Some((_, budget)) => self.sessions.deadlines(trace, budget),
            None => SmallVec::new(),
        }
    }

    /// The budget of time that is in force for the last step of a run.
    fn time_of(&self, run: &Run) -> Option<(Choice, &TimeBudget)> {
        let last = run.watch.as_ref()?.last?;
        let choice = choice_for(&self.tables, run, last.lane, last.order);
        Some((choice, self.tables.get(choice)?.time()?))
    }

    /// A step that is about to be taken in.
    pub(super) fn member_of(&self, step: &Step) -> Option<Member> {
        let run = self.sessions.run(step.trace)?;
        Some(Member {
            trace: step.trace,
            span: step.span,
            step: run.steps,
            start: step.start,
            end: step.end,
        })
    }

    /// Reports what was overdue when a request came: it names the step read then.
    pub(super) fn report_overdue(&mut self, overdue: Overdue, steps: &[Member], out: &mut Output) {
        for (trace, deadline) in overdue {
            let Some(run) = self.sessions.run(trace) else {
                continue;
            };
            let Some(last) = run.watch.as_ref().and_then(|watch| watch.last) else {
                continue;
            };
            // A step that is still to be judged, and shows the same, carries it on its own span.
            let beyond = |pending: &Pending| pending.order.end > deadline.at;
            let judged_later = run.pending.iter().any(beyond);
            if deadline.what == Overrun::Exceeded && judged_later {
                continue;
            }
            let read = steps
                .iter()
                .filter(|step| self.sessions.key_of(step.trace) == trace);
            let read = read.filter(|step| step.end >= deadline.at);
            let named = read.min_by_key(|step| step.end).copied();
            self.fire(trace, &deadline, last, named, out);
        }
    }

    /// Reports what a run has passed by `now`, and sets the timer for what comes next.
    pub(super) fn watch(&mut self, trace: TraceId, now: Timestamp, out: &mut Output) {
        if !self.settings.sessions.timers {
            return;
        }
        let trace = self.sessions.key_of(trace);
        // Each report takes its limit away; a run has a handful of them.
        for _ in 0..8 {
            let deadlines = self.deadlines(trace).into_iter();
            let next = deadlines.min_by_key(|deadline| deadline.due);
            match next {
                Some(deadline) if deadline.due <= now => {
                    let run = self.sessions.run(trace);
                    let last = run.and_then(|run| run.watch.as_ref()?.last);
                    let Some(last) = last else { return };
                    self.fire(trace, &deadline, last, None, out);
                }
                next => {
                    self.wake(trace, next.map(|deadline| deadline.due), now);
                    return;
                }
            }
        }
    }

    fn wake(&mut self, trace: TraceId, due: Option<Timestamp>, now: Timestamp) {
        let Some(watch) = self
            .sessions
            .run_mut(trace)
            .and_then(|run| run.watch.as_mut())
        else {
            return;
        };
        watch.until = due;
        if watch.timer.is_some_and(|timer| timer <= now) {
            watch.timer = None;
        }
        let Some(due) = due else { return };
        if watch.timer.is_none_or(|timer| due < timer) {
            watch.timer = Some(due);
            self.timers.set(due, trace);
        }
    }

    fn fire(
        &mut self,
        trace: TraceId,
        deadline: &Deadline,
        last: Last,
        named: Option<Member>,
        out: &mut Output,
    ) {
        let Some(run) = self.sessions.run(trace) else {
            return;
        };
        let Some((choice, budget)) = self.time_of(run) else {
            return;
        };
        let limit = deadline.what.limit();
        let scope = budget.scope();
        let start = last.member.start;
        let member = named.unwrap_or(last.member);
        let turn = run.facts.turns.of(start).map_or(0, |(turn, _)| turn);
        let finding = budget.overrun(&deadline.what, member, turn);
        let moment = Moment {
            member,
            turn: run
                .lane(deadline.lane)
                .map_or(0, |lane| lane.turn_at(start)),
            calls: run.facts.calls_by(last.order),
            spent: run.facts.spent_by(member.end),
        };
        let pending = Pending {
            lane: deadline.lane,
            is_call: false,
            is_claim: false,
            order: last.order,
            span: member.span,
            due: deadline.due,
            arrived: deadline.due,
            waits_for_parents: false,
            again: false,
            site: Site::GONE,
        };
        // Told or muted: it is over with this limit.
        if let Some(meter) = self.sessions.meter_mut(trace, deadline.lane, scope, start) {
            if meter.has_passed(limit) {
                return;
            }
            meter.note_passed(limit);
        }
        let opinion = Opinion {
            choice,
            findings: vec![finding],
            at: Some(deadline.at.max(member.end)),
            ..Opinion::default()
        };
        self.report(trace, &pending, opinion, moment, deadline.due, None, out);
    }
}
