//! What model steps ask for: the tools they were given, and the calls that came before their askers.

use crate::lanes::{Definitions, Names, Order, Wanted};
use crate::model::{CallId, ModelCall, Requested};

use super::{LaneId, Run};

impl Run {
    /// Notes the tools that a model step was given. Returns the first tool it asks for that is not among
    /// them, or not among the last ones known.
    pub(super) fn note_tools(
        &mut self,
        model: &ModelCall,
        order: Order,
        index: u32,
        lane: LaneId,
        names: &mut Names,
    ) -> Option<Wanted> {
        let lane = &mut self.lane_mut(lane)?.lane;
        if let Some(tools) = &model.tools {
            lane.note_definitions(Definitions {
                order,
                by: index + 1,
                tools: tools.clone(),
            });
        }
        let tools = lane.definitions_for(index + 1, order)?;
        let lacking = |call: &&Requested| !tools.holds(call.identity.bare);
        let wanted = model.requested.iter().find(lacking)?;
        Some(Wanted {
            call_id: wanted.call_id,
            tool: names.id(&wanted.tool),
            identity: wanted.identity,
        })
    }

    /// Tells a call that came before its model step who asked for it.
    pub(super) fn adopt_call(&mut self, call: CallId, by: u32) {
        for lane in &mut self.lanes {
            let at = lane
                .lane
                .calls()
                .iter()
                .rposition(|c| c.call_id == Some(call));
            if let Some(call) = at.and_then(|at| lane.lane.call_mut(at)) {
                call.asked_by = by;
                return;
            }
        }
    }
}
