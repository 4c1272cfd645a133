//! The rule that everybody writes first, for comparison: the same tool with the same arguments three times in a row,
//! in one run. Whatever the answers are, whatever was changed in between by others, polls and waits included.

use std::collections::HashSet;

use super::screen;
use crate::model::{Action, Name, SpanId, Step, Timestamp};

/// Calls in a row at which the rule fires.
pub(super) const TIMES: usize = 3;

/// One call as the rule sees it.
#[derive(Debug)]
pub(super) struct Seen {
    end: Timestamp,
    start: Timestamp,
    number: usize,
    span: SpanId,
    tool: Name,
    key: Option<u64>,
}

impl Seen {
    /// The call that a step is, the `number`th step of its run; `None` for other steps.
    pub(super) fn of(step: &Step, number: usize) -> Option<Self> {
        let Action::ToolCall(call) = &step.action else {
            return None;
        };
        Some(Self {
            end: step.end,
            start: step.start,
            number,
            span: step.span,
            tool: call.tool.clone(),
            key: call.key,
        })
    }

    /// Whether its arguments are known: without, it is equal to none.
    pub(super) const fn has_arguments(&self) -> bool {
        self.key.is_some()
    }

    fn equals(&self, other: &Self) -> bool {
        self.key.is_some() && self.key == other.key && self.tool == other.tool
    }
}

/// A row of equal calls, long enough for the rule.
#[derive(Debug)]
pub(super) struct Row {
    /// Of which tool.
    pub(super) tool: Name,
    /// The call at which the rule fires: number of its step, and span.
    pub(super) fires_at: (usize, SpanId),
    /// All of them.
    pub(super) spans: HashSet<SpanId>,
}

impl Row {
    /// `#5 get_deployment x9 (7f6601e06c3a1425)`.
    pub(super) fn words(&self) -> String {
        let (number, span) = self.fires_at;
        let tool = screen::safe(&self.tool);
        format!("#{number} {tool} x{} ({span})", self.spans.len())
    }
}

/// Where the rule fires in the calls of one run, in the order of their ends.
pub(super) fn rows(mut calls: Vec<Seen>) -> Vec<Row> {
    calls.sort_by_key(|call| (call.end, call.start, call.number));
    let rows = calls.chunk_by(Seen::equals).filter_map(|row| {
        let third = row.get(TIMES - 1)?;
        Some(Row {
            tool: third.tool.clone(),
            fires_at: (third.number, third.span),
            spans: row.iter().map(|call| call.span).collect(),
        })
    });
    rows.collect()
}
