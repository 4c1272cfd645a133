//! What timers want to know of a run: when it was heard, its last step, the calls that have not come back.
//!
//! Invariant: a deadline counts on the arrival clock from the arrival of the step that moved the run's own time
//! last, so it does not matter how the clocks of agents stand to ours. Nothing here is kept unless a
//! budget of time is set.

use std::time::Duration;

use smallvec::SmallVec;

use crate::detectors::{Overrun, Scope, TimeBudget};
use crate::lanes::{Limit, Meter, Order};
use crate::model::{
    Action, CallId, Finish, Member, ModelCall, Name, Role, Step, Timestamp, TraceId,
};

use super::{LaneId, Run, Sessions};

/// Calls that are waited for at most.
const OPEN_MAX: usize = 64;
/// Longer than any unit: a clock that says so is wrong.
const WRONG_CLOCK: Duration = Duration::from_secs(30 * 86_400);

/// What is watched of a run.
#[derive(Debug, Default)]
pub struct Watch {
    /// The run's last step, in its order.
    pub last: Option<Last>,
    /// When a timer of ours is set for; it may be too early, never too late.
    pub timer: Option<Timestamp>,
    /// The next deadline: the run is not closed for silence before it.
    pub until: Option<Timestamp>,
    /// The step being taken in comes from a clock that runs ahead.
    pub(super) ahead: bool,
    /// Arrival and end of the step that moved the run's own time last.
    anchor: Option<(Timestamp, Timestamp)>,
    open: Vec<Open>,
}

/// The last step of a run.
#[derive(Clone, Copy, Debug)]
pub struct Last {
    /// The step.
    pub member: Member,
    /// Its lane.
    pub lane: LaneId,
    /// Its place.
    pub order: Order,
    /// It is a final answer: nothing need follow.
    pub(super) ends: bool,
}

/// A call that a model asked for and that has not come back.
#[derive(Clone, Debug)]
struct Open {
    call: CallId,
    tool: Name,
    lane: LaneId,
    order: Order,
    since: Timestamp,
    /// Others may work for it: it hangs only if nothing at all is heard.
    in_company: bool,
}

/// A limit of time with the moment at which it is passed.
#[derive(Clone, Debug)]
pub struct Deadline {
    /// On the arrival clock.
    pub due: Timestamp,
    /// In event time.
    pub at: Timestamp,
    /// What is passed then.
    pub what: Overrun,
    /// In which lane.
    pub lane: LaneId,
}

impl Run {
    /// Notes a step that was taken in.
    pub(super) fn watch_step(&mut self, step: &Step, order: Order, index: u32, lane: LaneId) {
        let heard = self.last_seen;
        let Some(watch) = self.watch.as_mut().filter(|watch| !watch.ahead) else {
            return;
        };
        if watch.anchor.is_none_or(|(_, end)| step.end > end) {
            watch.anchor = Some((heard, step.end));
        }
        if watch.last.is_some_and(|last| last.order > order) {
            return;
        }
        let ends = match &step.action {
            Action::ToolCall(_) => false,
            Action::ModelCall(model) => {
                !model.failed && model.requested.is_empty() && model.finish != Finish::ToolCalls
            }
            Action::AgentRun(run) => !run.handoff,
        };
        let member = Member {
            trace: step.trace,
            span: step.span,
            step: index,
            start: step.start,
            end: step.end,
        };
        watch.last = Some(Last {
            member,
            lane,
            order,
            ends,
        });
    }

    /// Notes the calls that a model step asks for. Its lane went on: what was asked for before has come back,
    /// whether a span tells of it or not.
    pub(super) fn watch_model(&mut self, model: &ModelCall, order: Order, lane: LaneId) {
        let since = self.last_seen;
        let Some(mut watch) = self.watch.take() else {
            return;
        };
        watch
            .open
            .retain(|open| open.lane != lane || open.order > order);
        let replies = self.lane(lane).map(|lane| lane.lane.replies());
        let went_on = replies
            .and_then(|replies| replies.last())
            .is_some_and(|last| last.order > order);
        for asked in model.requested.iter().filter(|_| !went_on) {
            let Some(call) = asked.call_id else { continue };
            let patient = matches!(asked.role, Role::Ask | Role::Wait | Role::Finish);
            let back = |lane: &super::AgentLane| {
                let mut calls = lane.lane.calls().iter();
                calls.any(|other| other.call_id == Some(call))
            };
            if patient || watch.open.len() >= OPEN_MAX || self.lanes.iter().any(back) {
                continue;
            }
            watch.open.push(Open {
                call,
                tool: asked.tool.clone(),
                lane,
                order,
                since,
                in_company: matches!(asked.role, Role::Delegate | Role::Other),
            });
        }
        self.watch = Some(watch);
    }

    /// A call has come back. One without an id answers the oldest request for its tool, else the oldest that
    /// its agent may have made.
    pub(super) fn watch_call(&mut self, call: Option<CallId>, tool: &Name, lane: LaneId) {
        let anybody = self.lane(lane).is_none_or(super::AgentLane::is_unnamed);
        let Some(watch) = &mut self.watch else { return };
        let open = &mut watch.open;
        let at = match call {
            Some(call) => open.iter().position(|other| other.call == call),
            None => {
                let same = open.iter().position(|other| other.tool == *tool);
                let own = |other: &Open| anybody || other.lane == lane;
                same.or_else(|| open.iter().position(own))
            }
        };
        if let Some(at) = at {
            open.remove(at);
        }
    }

    /// Steps at these places belong to another lane than was thought.
    pub(super) fn watch_moved(&mut self, moved: impl Fn(Order) -> bool, to: LaneId) {
        let Some(watch) = &mut self.watch else { return };
        for open in watch.open.iter_mut().filter(|open| moved(open.order)) {
            open.lane = to;
        }
        if let Some(last) = watch.last.as_mut().filter(|last| moved(last.order)) {
            last.lane = to;
        }
    }

    /// Since when it counts as idle: a run with a deadline before it waits for that.
    pub(super) fn idle_since(&self, timeout: Duration) -> Timestamp {
        let until = self.watch.as_ref().and_then(|watch| watch.until);
        until.map_or(self.last_seen, |until| {
            self.last_seen.max(until.minus(timeout))
        })
    }
}

impl Sessions {
    /// The limits of time that a run has not passed, each with its deadline. None for a run that has ended or
    /// given its final answer: silence is what follows then.
    pub fn deadlines(&self, trace: TraceId, budget: &TimeBudget) -> SmallVec<[Deadline; 3]> {
        let mut deadlines = SmallVec::new();
        let Some(run) = self.run(trace).filter(|run| run.close_at.is_none()) else {
            return deadlines;
        };
        let Some((watch, last)) = run.watch.as_ref().and_then(|w| Some((w, w.last?))) else {
            return deadlines;
        };
        if last.ends && watch.open.is_empty() {
            return deadlines;
        }
        deadlines.extend(self.time_is_up(run, watch, &last, budget));
        let Some(idle) = budget.idle() else {
            return deadlines;
        };
        let told = |lane| {
            let meter = self.meter_of(run, lane, budget.scope(), last.member.start);
            meter.is_none_or(|meter| meter.has_passed(Limit::Idle))
        };
        let hung = watch.open.iter().filter(|open| !told(open.lane));
        deadlines.extend(hung.map(|open| {
            let since = if open.in_company {
                run.last_seen
            } else {
                open.since
            };
            Deadline {
                due: since.plus(idle),
                at: open.order.end.plus(idle),
                what: Overrun::Hung(open.tool.clone()),
                lane: open.lane,
            }
        }));
        if !last.ends && !told(last.lane) {
            deadlines.push(Deadline {
                due: run.last_seen.plus(idle),
                at: last.member.end.plus(idle),
                what: Overrun::Idle,
                lane: last.lane,
            });
        }
        deadlines
    }

    fn time_is_up(
        &self,
        run: &Run,
        watch: &Watch,
        last: &Last,
        budget: &TimeBudget,
    ) -> Option<Deadline> {
        let max = budget.max()?;
        let (arrival, end) = watch.anchor?;
        if budget.scope() == Scope::Agent && run.lane(last.lane)?.lane.unknown {
            return None;
        }
        let meter = self.meter_of(run, last.lane, budget.scope(), last.member.start)?;
        let first = meter.first_start()?;
        let elapsed = end.since(first);
        let beyond = |pending: &super::Pending| pending.order.end.since(first) > max;
        if meter.has_passed(Limit::Time) || elapsed >= WRONG_CLOCK || run.pending.iter().any(beyond)
        {
            return None;
        }
        Some(Deadline {
            // Exactly the maximum is allowed.
            due: arrival
                .plus(max.saturating_sub(elapsed))
                .plus(Duration::from_nanos(1)),
            at: first.plus(max),
            what: Overrun::Exceeded,
            lane: last.lane,
        })
    }

    fn meter_of<'a>(
        &'a self,
        run: &'a Run,
        lane: LaneId,
        scope: Scope,
        start: Timestamp,
    ) -> Option<&'a Meter> {
        match scope {
            Scope::Session => Some(&self.ledger_of(run).meter),
            Scope::Agent => run.lane(lane).map(|lane| &lane.lane.meter),
            Scope::Turn => run.facts.turns.of(start).map(|(_, meter)| meter),
        }
    }
}
