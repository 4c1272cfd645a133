//! The rule that everybody writes first: the same call for the third time is a loop. Here for comparison.

use std::collections::HashMap;

use crate::model::{Action, Name, SpanId, Step};

/// Calls at which the rule fires.
const TIMES: u32 = 3;

/// The step of a run at which the rule fires first; `None` where it stays silent.
pub(super) fn fires(steps: &[Step]) -> Option<SpanId> {
    let mut steps: Vec<&Step> = steps.iter().collect();
    steps.sort_by_key(|step| (step.end, step.start));
    let mut seen: HashMap<(Name, u64), u32> = HashMap::new();
    steps.into_iter().find_map(|step| {
        let Action::ToolCall(call) = &step.action else {
            return None;
        };
        let times = seen.entry((call.tool.clone(), call.key?)).or_default();
        *times += 1;
        (*times == TIMES).then_some(step.span)
    })
}
