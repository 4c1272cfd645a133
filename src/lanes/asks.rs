//! What model answers of a run asked for, and what has to be held against the schemas of tools.
//!
//! Invariant: bounded; arguments are kept as text only until they have been checked, or until their call has
//! been judged for good. What became of a call that was asked for is told by the calls, never by silence.

use crate::model::{Arguments, Breach, CallId, Fit, Member, ToolIdentity};

use super::{Call, NameId, Order};

/// Calls asked for that a run remembers.
const WANTS_MAX: usize = 64;
/// Calls whose arguments wait for a schema.
const SLIPS_MAX: usize = 256;
/// Broken schemas remembered, for the evidence.
const BREACHES_MAX: usize = 64;

/// A call that a model answer asked for, as a run remembers it.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Place of the answer.
    pub order: Order,
    /// Its arrival plus one, as in [`Call::asked_by`].
    pub by: u32,
    /// The answer, as part of a proof.
    pub member: Member,
    /// The id under which the call was asked for.
    pub call_id: Option<CallId>,
    /// Its tool.
    pub tool: NameId,
    /// The tool's name as it is looked up in definitions.
    pub identity: ToolIdentity,
    /// See [`crate::model::Requested::key`].
    pub key: Option<u64>,
    /// State of its arguments.
    pub arguments: Arguments,
    /// Whether they fit the tool's schema.
    pub fit: Fit,
    /// How they do not.
    pub breach: Option<Breach>,
    /// See [`crate::model::Requested::silent`].
    pub silent: bool,
    /// It asks for something to be executed: not for an answer to be handed over, for another agent or a person.
    pub executes: bool,
    /// A span of this very call has come, by its id or with the same arguments.
    pub ran: bool,
    /// Place of that call, where it is known.
    pub met: Option<Order>,
    /// It was found that nothing came of it: told once, however often it is judged. Detectors leave it alone.
    pub told: bool,
    /// Arguments that wait for a schema.
    pub given: Option<Box<str>>,
}

impl Wanted {
    /// Whether its arguments are no good, as far as known.
    pub fn is_broken(&self) -> bool {
        self.arguments == Arguments::NotJson || matches!(self.fit, Fit::Breaks { .. })
    }

    fn has_id_of(&self, call: &Call) -> bool {
        self.call_id.is_some() && self.call_id == call.call_id
    }

    fn has_arguments_of(&self, call: &Call) -> bool {
        self.key.is_some() && self.key == call.key && self.tool == call.tool
    }
}

/// The arguments of a call that wait for a schema.
#[derive(Clone, Debug)]
pub struct Slip {
    /// Place of the call.
    pub order: Order,
    /// The arguments; `None` when not captured on the call's own span.
    pub given: Option<Box<str>>,
}

/// What was asked for in a run, and what waits to be checked.
#[derive(Clone, Debug, Default)]
pub struct Asks {
    wants: Vec<Wanted>,
    /// Arguments of calls that wait for a schema.
    pub slips: Vec<Slip>,
    breaches: Vec<(Order, Breach)>,
    /// Calls ever asked for.
    pub count: u32,
}

impl Asks {
    /// The calls asked for that are remembered, in order of arrival of their answers.
    pub fn wants(&self) -> &[Wanted] {
        &self.wants
    }

    /// The same, to be changed.
    pub fn wants_mut(&mut self) -> &mut [Wanted] {
        &mut self.wants
    }

    /// Notes a call that was asked for.
    pub fn ask(&mut self, wanted: Wanted) {
        self.count = self.count.saturating_add(1);
        if self.wants.len() >= WANTS_MAX {
            let gone = self.wants.iter().position(|want| want.ran).unwrap_or(0);
            self.wants.remove(gone);
        }
        self.wants.push(wanted);
    }

    /// A remembered request for a call: by its id, else one with the same tool and arguments.
    pub fn asking(&self, call: &Call) -> Option<&Wanted> {
        let wants = || self.wants.iter().rev();
        wants()
            .find(|want| want.has_id_of(call))
            .or_else(|| wants().find(|want| want.has_arguments_of(call)))
    }

    /// Notes that a call was made; `true` when it is known to have been asked for: by its id, else as the
    /// first of those with the same tool and arguments that no call has met yet.
    pub fn meet(&mut self, call: &Call) -> bool {
        let by_id = self.wants.iter().rposition(|want| want.has_id_of(call));
        let by_key = || {
            self.wants
                .iter()
                .position(|want| !want.ran && want.has_arguments_of(call))
        };
        let at = by_id.or_else(by_key);
        let want = at.and_then(|at| self.wants.get_mut(at));
        want.map(|want| (want.ran, want.met) = (true, Some(call.order)))
            .is_some()
    }

    /// The arguments that a call of which none are told was asked for with: those of the first request for its tool
    /// before it that nothing came of yet. Returns their key, and who asked.
    pub fn lend(&mut self, call: &Call) -> Option<(u64, u32)> {
        let open = |want: &&mut Wanted| {
            !want.ran && want.tool == call.tool && want.key.is_some() && want.order < call.order
        };
        let want = self.wants.iter_mut().find(open)?;
        (want.ran, want.met) = (true, Some(call.order));
        Some((want.key?, want.by))
    }

    /// Where the call stands that was asked for last before `order` under an id.
    pub fn met_by(&self, id: CallId, order: Order) -> Option<Order> {
        let mut wants = self.wants.iter().rev();
        wants
            .find(|want| want.call_id == Some(id) && want.order < order)?
            .met
    }

    /// How many of the remembered requests for calls that a tool executes came to nothing that is known.
    pub fn unmet(&self) -> usize {
        let open = |want: &&Wanted| want.executes && !want.ran && !want.told;
        self.wants.iter().filter(open).count()
    }

    /// Notes that it was told what became of the requests of one answer (its 0-based step) for a tool.
    pub fn note_told(&mut self, step: u32, tool: NameId) {
        let of_answer = |want: &&mut Wanted| want.member.step == step && want.tool == tool;
        let wants = self.wants.iter_mut().filter(of_answer);
        wants.for_each(|want| want.told = true);
    }

    /// Lets the arguments of a call wait.
    pub fn wait(&mut self, slip: Slip) {
        if self.slips.len() < SLIPS_MAX {
            self.slips.push(slip);
        }
    }

    /// Notes how the arguments of a call break the schema.
    pub fn note_breach(&mut self, order: Order, breach: Breach) {
        if self.breaches.len() >= BREACHES_MAX {
            self.breaches.remove(0);
        }
        self.breaches.push((order, breach));
    }

    /// How the arguments of a call break the schema.
    pub fn breach(&self, order: Order) -> Option<&Breach> {
        let mut found = self.breaches.iter().rev();
        found.find(|(other, _)| *other == order).map(|(_, b)| b)
    }

    /// Forgets what no judgement needs any more: requests that were met, and the arguments of calls that are
    /// judged. `waiting` is the place of the first step that waits.
    pub fn forget(&mut self, waiting: Option<Order>) {
        let newest = self.wants.last().map(|want| want.order);
        let old = |order: Order| waiting.is_none_or(|waiting| order < waiting);
        self.wants
            .retain(|want| !want.ran || !old(want.order) || Some(want.order) == newest);
        self.slips.retain(|slip| !old(slip.order));
        if self.slips.is_empty() && self.slips.capacity() > 16 {
            self.slips = Vec::new();
        }
    }

    /// Bytes held on the heap.
    pub fn heap_bytes(&self) -> usize {
        let texts = |given: &Option<Box<str>>| given.as_ref().map_or(0, |text| text.len());
        self.wants.capacity() * size_of::<Wanted>()
            + self.slips.capacity() * size_of::<Slip>()
            + self.breaches.len() * (size_of::<(Order, Breach)>() + Breach::POINTER_MAX)
            + self.wants.iter().map(|w| texts(&w.given)).sum::<usize>()
            + self.slips.iter().map(|s| texts(&s.given)).sum::<usize>()
    }
}
