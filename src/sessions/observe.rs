//! Taking a step into its run: identity, lane, place; what then becomes of it.

use crate::lanes::{Ledger, Names, Order};
use crate::model::{Action, Member, Step};

use super::requests::since_its_start;
use super::{LaneId, Run};

/// What taking in a step came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Taken {
    /// A call, at its place.
    Call { lane: LaneId, order: Order },
    /// A reply, at its place.
    Reply {
        lane: LaneId,
        order: Order,
        is_claim: bool,
        hash: Option<u64>,
    },
    /// Older than all that its lane keeps: only the ledger knows of it.
    TooLate,
    /// The second span of a call, or of a model's answer, that is known already.
    SecondSpan,
    /// Nothing to judge.
    Nothing,
}

/// A step that is being taken in, with its place in the run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived<'a> {
    pub(super) step: &'a Step,
    pub(super) order: Order,
    /// 0-based index among the steps of the run, by arrival.
    pub(super) index: u32,
    pub(super) lane: LaneId,
    /// Rules of the source: arrival alone counts, and nothing is a second span.
    pub(super) source: bool,
}

impl Arrived<'_> {
    /// This step as part of a proof.
    pub(super) fn member(&self) -> Member {
        Member {
            trace: self.step.trace,
            span: self.step.span,
            step: self.index,
            start: self.step.start,
            end: self.step.end,
        }
    }
}

impl Run {
    /// Where a step stands. In source mode arrival alone counts.
    fn order_of(&self, step: &Step, source: bool) -> Order {
        if source {
            return Order {
                arrival: self.steps,
                ..Order::default()
            };
        }
        Order {
            end: step.end,
            start: step.start,
            height: u16::MAX - self.spans.depth(step.parent),
            arrival: self.steps,
        }
    }

    /// Takes in a step that has not been seen. O(distance from the end of the lane).
    pub(super) fn take_in(
        &mut self,
        step: &Step,
        names: &mut Names,
        ledger: &mut Ledger,
        source: bool,
    ) -> Taken {
        let order = self.order_of(step, source);
        if !source {
            self.disordered |= order < self.greatest;
            self.many_resources |= step.resource != self.resource;
        }
        self.greatest = self.greatest.max(order);
        let belongs = self.attribute(step, source);
        if !source {
            self.spans.link(
                step.span,
                step.parent,
                belongs.certain.then_some(belongs.lane),
            );
        }
        let arrived = Arrived {
            step,
            order,
            index: self.steps,
            lane: belongs.lane,
            source,
        };
        self.steps = self.steps.saturating_add(1);
        self.watch_step(step, order, arrived.index, belongs.lane);
        match &step.action {
            Action::ToolCall(call) => self.take_call(arrived, call, names, ledger),
            Action::ModelCall(model) => self.take_model(arrived, model, names, ledger),
            Action::AgentRun(run) => {
                if !run.handoff {
                    let since = since_its_start(order, source);
                    self.note_tools(run.tools.as_ref(), since, 0, belongs.lane);
                }
                self.take_agent(arrived, run, ledger)
            }
        }
    }
}
