//! What a lane keeps of one tool call and of one model answer.

use crate::model::{
    Answer, Arguments, Bearing, CallId, Failure, Finish, Fit, Hints, Ignored, Member, Outcome,
    Role, Scope, Sketch, SpanId, Targets, TextFacts, Timestamp, ToolIdentity, TraceId,
};

use super::NameId;

/// Where a step stands among the others of its lane (DESIGN 3.5): by end, start, depth (a child before
/// its parent), arrival. With `rules: source` only the arrival counts: the other parts are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Order {
    /// End of the step.
    pub end: Timestamp,
    /// Start of the step.
    pub start: Timestamp,
    /// `u16::MAX` minus the number of known ancestors: deeper comes first.
    pub height: u16,
    /// How many steps of the run had arrived before.
    pub arrival: u32,
}

/// What only few detectors ask of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct More {
    /// The tool's name as it is looked up in definitions.
    pub identity: ToolIdentity,
    /// What came back says that there is no tool of this name.
    pub unknown_tool: bool,
    /// Hash of the resource that sent it.
    pub resource: u64,
    /// See [`crate::model::Reach::scope`].
    pub scope: Scope,
    /// Name of [`crate::model::Reach::outside`].
    pub outside: NameId,
    /// See [`crate::model::Reach::writes`].
    pub writes: u16,
    /// See [`crate::model::Reach::deletes`].
    pub deletes: u16,
    /// See [`crate::model::Reach::rewrites`].
    pub rewrites: u64,
    /// Hosts contacted.
    pub contacts: u8,
    /// Name of [`crate::model::Reach::source_host`].
    pub host: Option<NameId>,
    /// How it stands to the goal, as far as worked out (goal_drift).
    pub bearing: Bearing,
    /// Whether its arguments fit the tool's schema; how they do not, the run's [`super::Asks`] know.
    pub fit: Fit,
    /// Its arguments are of a form that is not held against a schema (a bare value for a tool's only one).
    pub bare: bool,
    /// A model answer is known to have asked for it.
    pub asked: bool,
    /// What span and definition say of the tool.
    pub hints: Hints,
}

/// A tool call as a lane remembers it.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Its place.
    pub order: Order,
    /// Its trace.
    pub trace: TraceId,
    /// Its span.
    pub span: SpanId,
    /// The span it hangs under.
    pub parent: Option<SpanId>,
    /// Hash of the instrumentation scope: two scopes may tell of one call.
    pub scope: u64,
    /// See [`crate::model::Step::audience`].
    pub audience: u64,
    /// The id under which a model asked for it.
    pub call_id: Option<CallId>,
    /// 0-based index among the steps of the run, by arrival.
    pub step: u32,
    /// When it started.
    pub start: Timestamp,
    /// When it ended.
    pub end: Timestamp,
    /// Its tool.
    pub tool: NameId,
    /// See [`crate::model::ToolCall::key`]; `None` when arguments are not captured.
    pub key: Option<u64>,
    /// See [`crate::model::ToolCall::exact`].
    pub exact: Option<u64>,
    /// What came back.
    pub answer: Answer,
    /// Whether it worked.
    pub outcome: Outcome,
    /// What kind of tool.
    pub role: Role,
    /// What its answer depends on.
    pub reads: Targets,
    /// What it changes.
    pub changes: Targets,
    /// State of its arguments.
    pub arguments: Arguments,
    /// Arrival of the model step that asked for it by id, plus one; 0 when not known. Equal and not 0: one try.
    pub asked_by: u32,
    /// Turn of the run in which it was made: grows with each user message.
    pub turn: u16,
    /// It asks for new output of something that runs.
    pub poll: bool,
    /// It does nothing.
    pub void: bool,
    /// It lets time pass.
    pub waits: bool,
    /// Whose it is could not be told: concurrent unnamed steps (DESIGN 3.4).
    pub lane_unknown: bool,
    /// Near-equality sketch of its arguments.
    pub sketch: Sketch,
    /// What its key and the digest of its answer leave out.
    pub ignored: Ignored,
    /// What only few detectors ask for.
    pub more: More,
    /// Bit set of the anomaly types found on it so far, by discriminant: a step judged again (late insertion)
    /// reports only what is new. Detectors leave it alone.
    pub fired: u32,
}

impl Call {
    /// How the call failed, if it did.
    pub fn failure(&self) -> Option<Failure> {
        match self.outcome {
            Outcome::Failed(failure) => Some(failure),
            _ => None,
        }
    }

    /// This call as part of a proof.
    pub fn member(&self) -> Member {
        Member {
            trace: self.trace,
            span: self.span,
            step: self.step,
            start: self.start,
            end: self.end,
        }
    }

    /// Whether two calls are one try (DESIGN 3.5): asked for by one model step, or strictly overlapping
    /// in time with neither the parent of the other. The absence of a model step between them says nothing.
    pub fn one_try_with(&self, other: &Self) -> bool {
        if self.asked_by != 0 && self.asked_by == other.asked_by {
            return true;
        }
        let overlap = self.start < other.end && other.start < self.end;
        overlap && self.parent != Some(other.span) && other.parent != Some(self.span)
    }
}

/// A model answer, or the output of an agent run, as a lane and a ledger remember it.
#[derive(Clone, Copy, Debug)]
pub struct Reply {
    /// Its place.
    pub order: Order,
    /// Its trace.
    pub trace: TraceId,
    /// Its span.
    pub span: SpanId,
    /// The span it hangs under.
    pub parent: Option<SpanId>,
    /// 0-based index among the steps of the run, by arrival.
    pub step: u32,
    /// When it started.
    pub start: Timestamp,
    /// When it ended.
    pub end: Timestamp,
    /// Hash of the resource that sent it.
    pub resource: u64,
    /// See [`crate::model::Step::audience`].
    pub audience: u64,
    /// Its text; `None` when not captured.
    pub text: Option<TextFacts>,
    /// Its reasoning.
    pub reasoning: Option<TextFacts>,
    /// Why the model stopped.
    pub finish: Finish,
    /// It asks for tools.
    pub asks_for_calls: bool,
    /// The request or the run failed.
    pub failed: bool,
    /// It is the output of an agent run, not of a model call.
    pub of_run: bool,
    /// Turn of the run.
    pub turn: u16,
}

impl Reply {
    /// This reply as part of a proof.
    pub fn member(&self) -> Member {
        Member {
            trace: self.trace,
            span: self.span,
            step: self.step,
            start: self.start,
            end: self.end,
        }
    }
}
