//! What model answers ask for: who asked for a call by id, and whether arguments fit the schema of the asking
//! model step, else of the nearest earlier one of the lane that carries definitions.

use crate::lanes::{Asks, Call, Definitions, Lane, Names, Order, Slip, Wanted};
use crate::model::{
    Arguments, Breach, CallId, Definition, Fit, Hints, ModelCall, Role, Targets, ToolCall, ToolSet,
};

use super::telling::Asker;
use super::{LaneId, Run};

impl Run {
    /// Notes the tools that a model step (`by`: its arrival plus one) or an agent (0) was given.
    pub(super) fn note_tools(
        &mut self,
        tools: Option<&ToolSet>,
        order: Order,
        by: u32,
        lane: LaneId,
    ) {
        if let (Some(tools), Some(lane)) = (tools, self.lane_mut(lane)) {
            lane.lane.note_definitions(Definitions {
                order,
                by,
                tools: tools.clone(),
            });
        }
    }

    /// Notes the calls that an answer asks for, and which of them have come already.
    pub(super) fn note_wants(&mut self, asker: &Asker, model: &ModelCall, names: &mut Names) {
        for requested in &model.requested {
            let ran = requested
                .call_id
                .is_some_and(|id| self.lanes.iter().any(|lane| has_call(&lane.lane, id)));
            self.facts.asks.ask(Wanted {
                order: asker.order,
                by: asker.by(),
                member: asker.member,
                call_id: requested.call_id,
                tool: names.id(&requested.tool),
                identity: requested.identity,
                key: requested.key,
                arguments: requested.arguments,
                fit: requested.fit,
                breach: requested.breach.clone(),
                silent: requested.silent,
                executes: !matches!(requested.role, Role::Finish | Role::Delegate | Role::Ask),
                ran,
                met: None,
                told: false,
                given: requested.given.clone(),
            });
        }
    }

    /// Lets the arguments of a call wait until it is known which schema holds.
    pub(super) fn wait_for_schema(&mut self, raw: &ToolCall, call: &Call) {
        if raw.given.is_some() || call.call_id.is_some() {
            self.facts.asks.wait(Slip {
                order: call.order,
                given: raw.given.clone(),
            });
        }
    }

    /// Holds arguments that wait against their schemas, as far as these are known: at most once each. With
    /// `source`, arguments of any form count, and only those of the call itself.
    pub fn check_arguments(&mut self, source: bool) {
        let asks = &mut self.facts.asks;
        for want in asks.wants_mut().iter_mut().filter(|w| w.given.is_some()) {
            let place = want.order;
            let mut lanes = self.lanes.iter();
            let lane = lanes.find(|lane| lane.find_reply(place).is_some());
            let tools = lane.and_then(|lane| lane.lane.definitions_for(want.by, place));
            if let (Some(tools), Some(given)) = (tools, &want.given) {
                let shape = tools
                    .definition(want.identity)
                    .and_then(|d| d.shape.as_ref());
                if let Some(shape) = shape {
                    (want.fit, want.breach) = shape.check(given, false);
                }
                want.given = None;
            }
        }
        let mut waiting = std::mem::take(&mut asks.slips);
        waiting.retain(|slip| {
            let mut places = self.lanes.iter_mut().filter_map(|lane| {
                let at = lane.find_call(slip.order)?;
                Some((lane, at))
            });
            let Some((lane, at)) = places.next() else {
                return false;
            };
            let Some(call) = lane.lane.calls().get(at).copied() else {
                return false;
            };
            let Some(checked) = check(&self.facts.asks, &lane.lane, &call, slip, source) else {
                return true;
            };
            if let Some(breach) = checked.breach {
                self.facts.asks.note_breach(slip.order, breach);
            }
            if let Some(call) = lane.lane.call_mut(at) {
                call.more.fit = checked.fit;
                call.more.bare = checked.bare;
                take_hints(call, checked.hints);
            }
            false
        });
        self.facts.asks.slips = waiting;
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
                call.more.asked = true;
                return;
            }
        }
    }
}

fn has_call(lane: &Lane, id: CallId) -> bool {
    lane.calls().iter().any(|call| call.call_id == Some(id))
}

/// Notes what is said of a call's tool. A tool of no known role that only reads is a reader; for all others
/// the rules by name hold, since hints are the word of whoever wrote the tool.
pub(super) fn take_hints(call: &mut Call, hints: Hints) {
    call.more.hints = call.more.hints.or(hints);
    if call.more.hints.read_only == Some(true) && call.role == Role::Other {
        call.role = Role::Read;
        call.changes = Targets::default();
    }
}

/// What came out for the arguments of one call.
#[derive(Default)]
struct Checked {
    fit: Fit,
    breach: Option<Breach>,
    bare: bool,
    hints: Hints,
}

/// Judges the arguments of a call; `None` while no definitions are known.
fn check(asks: &Asks, lane: &Lane, call: &Call, slip: &Slip, source: bool) -> Option<Checked> {
    let tools = lane.definitions_for(call.asked_by, call.order)?;
    let definition = tools.definition(call.more.identity);
    let mut checked = Checked {
        hints: definition.map(|one| one.hints).unwrap_or_default(),
        ..Checked::default()
    };
    let given = slip.given.as_deref();
    if source {
        if let (Some(given), Some(shape)) = (given, shape(definition)) {
            (checked.fit, checked.breach) = shape.check(given, true);
        }
        return Some(checked);
    }
    let is_object = |text: &str| text.trim().is_empty() || text.trim_start().starts_with('{');
    checked.bare = !given.is_some_and(is_object);
    // What the model wrote was checked with its answer: the same arguments are not checked again, and what it
    // wrote stands in for arguments that cannot be.
    let asked = asks.asking(call).filter(|want| {
        let same = want.key.is_some() && want.key == call.key;
        same || (checked.bare && want.call_id.is_some() && want.call_id == call.call_id)
    });
    if let Some(want) = asked.filter(|want| want.fit != Fit::Unassessed) {
        (checked.fit, checked.breach) = (want.fit, want.breach.clone());
        checked.bare = false;
    } else if let (Some(given), Some(shape)) = (given, shape(definition))
        && !checked.bare
        && call.arguments != Arguments::NotJson
    {
        (checked.fit, checked.breach) = shape.check(given, false);
    }
    Some(checked)
}

fn shape(definition: Option<&Definition>) -> Option<&std::sync::Arc<dyn crate::model::Shape>> {
    definition.and_then(|one| one.shape.as_ref())
}

/// What an agent's span says of its tools holds from its start on, though it comes last.
pub(super) fn since_its_start(order: Order, source: bool) -> Order {
    if source {
        return order;
    }
    Order {
        end: order.start,
        ..order
    }
}
