//! What a step tells that does not depend on order: the entries of the ledger.

use std::sync::Arc;

use crate::lanes::{Call, Check, Contact, Edit, Ledger, More, Names, Order, Spent, Target};
use crate::model::{
    Action, Bearing, CheckKind, Failure, FileLink, Name, Outcome, Role, Step, ToolCall, Verdict,
};

use super::spending::plain_cost;

/// A call without what only its run can tell.
pub(super) fn plain_call(
    step: &Step,
    call: &ToolCall,
    order: Order,
    index: u32,
    names: &mut Names,
) -> Call {
    let host = call.reach.source_host.as_ref().map(|name| names.id(name));
    let outside = call.reach.outside.as_ref().map(|name| names.id(name));
    Call {
        order,
        trace: step.trace,
        span: step.span,
        parent: step.parent,
        scope: step.scope,
        audience: step.audience,
        call_id: call.call_id,
        step: index,
        start: step.start,
        end: step.end,
        tool: names.id(&call.tool),
        key: call.key,
        exact: call.exact,
        answer: call.answer,
        outcome: call.outcome,
        role: call.role,
        reads: call.effects.reads,
        changes: call.effects.changes,
        arguments: call.arguments,
        asked_by: 0,
        turn: 0,
        poll: call.effects.poll,
        void: call.effects.void,
        waits: call.effects.wait_ms.is_some(),
        lane_unknown: false,
        sketch: call.sketch,
        ignored: call.ignored,
        more: More {
            identity: call.identity,
            unknown_tool: call.unknown_tool,
            resource: step.resource,
            scope: call.reach.scope,
            outside: outside.unwrap_or_default(),
            writes: call.reach.writes,
            deletes: call.reach.deletes,
            rewrites: call.reach.rewrites,
            contacts: u8::try_from(call.effects.hosts.len()).unwrap_or(u8::MAX),
            host,
            bearing: Bearing::Unread,
            ..More::default()
        },
        fired: 0,
    }
}

/// The facts of a call that do not depend on order.
pub(super) fn note_in_ledger(step: &Step, raw: &ToolCall, call: &Call, ledger: &mut Ledger) {
    if raw.role == Role::Verify || raw.effects.verification.is_some() {
        ledger.note_can_verify(step.start);
    }
    for host in &raw.effects.hosts {
        ledger.add_host(Contact {
            host: host.clone(),
            order: call.order,
            first: call.member(),
        });
    }
    note_places(raw, call, ledger);
    if raw.effects.edits_source || raw.role == Role::Edit {
        ledger.add_edit(Edit {
            order: call.order,
            trace: step.trace,
            span: step.span,
            step: call.step,
            start: step.start,
            end: step.end,
            resource: step.resource,
            tool: call.tool,
            succeeded: match call.outcome {
                Outcome::Unknown => None,
                Outcome::Succeeded => Some(true),
                Outcome::Failed(_) | Outcome::Refused => Some(false),
            },
            source: raw.effects.edits_source,
            root: raw.effects.edit_root.clone(),
            path: raw.effects.writes.first().map(|write| write.path.clone()),
            stash: raw.effects.stash,
        });
    }
    let exit_code = match call.outcome {
        Outcome::Succeeded => Some(0),
        Outcome::Failed(failure) => Some(failure.exit_code.unwrap_or(1)),
        Outcome::Unknown | Outcome::Refused => None,
    };
    let checked = raw.effects.verification.as_deref();
    if checked.is_some() || raw.effects.weak_check {
        ledger.add_check(Check {
            order: call.order,
            trace: step.trace,
            span: step.span,
            step: call.step,
            start: step.start,
            end: step.end,
            resource: step.resource,
            tool: call.tool,
            runner: checked.map_or_else(|| Name::from("program"), |check| check.runner.clone()),
            cwd: checked.and_then(|check| check.cwd.clone()),
            kind: checked.map_or(CheckKind::Static, |check| check.kind),
            verdict: checked.map_or_else(|| weak_verdict(call.outcome), |check| check.verdict),
            exit_code,
            partial: checked.is_some_and(|check| check.partial),
            seen: call.answer.known,
            weak: checked.is_none(),
            aside: checked.is_some_and(|check| check.aside),
        });
    }
}

/// Writes, links and words of where the workspace is.
fn note_places(raw: &ToolCall, call: &Call, ledger: &mut Ledger) {
    let done = !matches!(call.outcome, Outcome::Failed(_) | Outcome::Refused);
    if let Some(places) = raw
        .reach
        .places
        .as_ref()
        .filter(|_| !raw.effects.writes.is_empty())
    {
        ledger.add_target(Target {
            order: call.order,
            span: call.span,
            writes: raw.effects.writes.clone(),
            places: Arc::clone(places),
        });
    }
    if !done {
        return;
    }
    for link in &raw.effects.links {
        ledger.add_link(call.order, link.clone());
    }
    for gone in raw.effects.writes.iter().filter(|write| write.deletes) {
        if ledger.has_link(&gone.path) {
            let link = FileLink {
                path: gone.path.clone(),
                target: None,
            };
            ledger.add_link(call.order, link);
        }
    }
    if let Some(hint) = &raw.effects.root_hint {
        ledger.add_root_hint(call.order, hint);
    }
}

/// A step of a run that is closed: only facts without order are kept.
pub(super) fn note_late(step: &Step, names: &mut Names, ledger: &mut Ledger, meters: bool) {
    let order = Order {
        end: step.end,
        start: step.start,
        ..Order::default()
    };
    if meters {
        let is_call = matches!(step.action, Action::ToolCall(_));
        let cost = plain_cost(step);
        let spent = Spent::new(order, step.trace, step.start, is_call, cost);
        ledger.meter.add(spent);
    }
    if let Action::ToolCall(raw) = &step.action {
        let call = plain_call(step, raw, order, 0, names);
        note_in_ledger(step, raw, &call, ledger);
    }
}

/// How a call counts in a share of failures: tests that ran and failed are an answer, the runner worked (A13).
pub(super) fn as_share(call: &ToolCall, outcome: Outcome) -> Outcome {
    let ran = call.effects.verification.as_ref().is_some_and(|check| {
        check.kind == CheckKind::Tests && check.failed.is_some_and(|failed| failed > 0)
    });
    match outcome {
        Outcome::Failed(failure) if ran => Outcome::Failed(Failure {
            is_answer: true,
            ..failure
        }),
        other => other,
    }
}

/// Whether a call is no sign of what is worked on: checks, waits, polls and questions belong to any goal.
pub(super) fn belongs_to_any_goal(call: &ToolCall) -> bool {
    call.effects.verification.is_some()
        || call.effects.wait_ms.is_some()
        || call.effects.void
        || matches!(
            call.role,
            Role::Verify | Role::Poll | Role::Wait | Role::Ask | Role::Finish
        )
}

fn weak_verdict(outcome: Outcome) -> Verdict {
    match outcome {
        Outcome::Succeeded => Verdict::Passed,
        Outcome::Failed(_) | Outcome::Refused => Verdict::Failed,
        Outcome::Unknown => Verdict::Unknown,
    }
}
