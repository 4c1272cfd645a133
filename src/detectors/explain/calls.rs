//! Detectors of single calls, of writes, hosts and budgets.

use crate::lanes::{Call, Limit};
use crate::model::{AnomalyType, Arguments, Bearing, Outcome, Role, Scope};

use super::super::Rules;
use super::super::budgets::Judged;
use super::super::error_rate::Unit;
use super::super::novel_host::NovelHost;
use super::super::wording;
use super::super::write_storm::{REWRITES, weight};
use super::{Asked, of};

pub(super) fn error_rate(asked: &Asked<'_>) -> Vec<String> {
    let settings = &asked.settings.error_rate;
    let (unit, window) = (settings.unit, settings.window as usize);
    let call = match (unit, asked.view.call()) {
        (Unit::Run, _) => {
            return vec!["it counts whole runs (`unit: run`), when one fails".to_owned()];
        }
        (Unit::Call, None) => {
            return vec!["not concerned: it is judged when a tool call fails".to_owned()];
        }
        (Unit::Call, Some(call)) => call,
    };
    let failed = |outcome: Outcome| matches!(outcome, Outcome::Failed(f) if !f.is_answer);
    if call.outcome == Outcome::Unknown {
        return vec![
            "it is judged when a call fails, and nothing says how this one ended".to_owned(),
        ];
    }
    if !failed(call.outcome) {
        return vec!["it is judged when a call fails, and this one did not".to_owned()];
    }
    let outcomes = &asked.view.run.outcomes;
    let end = outcomes.partition_point(|outcome| outcome.order <= call.order);
    let Some(last) = end
        .checked_sub(window)
        .and_then(|from| outcomes.get(from..end))
    else {
        return vec![format!(
            "the window is not full: {}",
            of(end, window, "calls")
        )];
    };
    let failures = last.iter().filter(|one| failed(one.outcome)).count();
    let mut said = vec![format!(
        "{}; {:.0}% are needed",
        of(failures, window, "last calls failed"),
        settings.threshold * 100.0
    )];
    let share = failures as f64 / window.max(1) as f64;
    if share >= settings.threshold && !asked.source() {
        said.push(
            "enough of them, but two classes of error or three different calls are needed, and not mostly one loop that is told already"
                .to_owned(),
        );
    }
    said
}

pub(super) fn tool_hallucination(asked: &Asked<'_>) -> Vec<String> {
    let Some(call) = asked.view.call() else {
        return vec![
            "at an answer it looks for a call asked for, not defined and never run, and for a call written as text"
                .to_owned(),
        ];
    };
    let tools = asked.view.lane.definitions_for(call.asked_by, call.order);
    let name = call.more.identity;
    let mut said = vec![match tools {
        None => "no definitions of tools were sent".to_owned(),
        Some(tools)
            if tools.holds(name.folded) || tools.holds(name.bare) || tools.holds(name.exact) =>
        {
            format!("it is among the {} tools defined", tools.names.len())
        }
        Some(tools) => format!("it is not among the {} tools defined", tools.names.len()),
    }];
    if call.outcome == Outcome::Succeeded && !asked.source() {
        said.push("the call worked, and that proves its tool".to_owned());
    }
    if call.more.unknown_tool {
        said.push("its answer says that there is no such tool".to_owned());
    }
    said
}

pub(super) fn invalid_args(asked: &Asked<'_>) -> Vec<String> {
    let Some(call) = asked.view.call() else {
        return Vec::new();
    };
    vec![
        match call.arguments {
            Arguments::Unknown if call.key.is_none() => "the arguments were not captured",
            Arguments::Unknown | Arguments::Valid => {
                "nothing that can be seen is wrong with the arguments"
            }
            Arguments::NotJson => "the arguments are no JSON",
            Arguments::Refused => "the tool's validation refused the arguments",
        }
        .to_owned(),
    ]
}

pub(super) fn scope_escape(asked: &Asked<'_>) -> Vec<String> {
    let Some(call) = asked.view.call() else {
        return Vec::new();
    };
    vec![match call.more.scope {
        Scope::NoWrite if call.role == Role::Edit && call.key.is_none() => {
            "the arguments were not captured: what it writes is not known".to_owned()
        }
        Scope::NoWrite => {
            "it writes nothing that counts (temp trees and devices do not)".to_owned()
        }
        Scope::Inside => {
            "all that it writes lies in the workspace or an allowed directory".to_owned()
        }
        Scope::NoWorkspace => "no workspace is known".to_owned(),
        Scope::Open => {
            "the workspace is to be inferred from the run; what it writes is placed against that"
                .to_owned()
        }
        Scope::Unknown => "a path holds what only the shell knows".to_owned(),
        Scope::Outside => format!(
            "it writes outside, under `{}`",
            wording::name(&asked.view.names.text(call.more.outside))
        ),
    }]
}

pub(super) fn write_storm(asked: &Asked<'_>) -> Vec<String> {
    let settings = &asked.settings.write_storm;
    let Some(judged) = asked.view.call() else {
        return Vec::new();
    };
    let done = |call: &Call| {
        call.more.writes > 0
            && (asked.source() || matches!(call.outcome, Outcome::Succeeded | Outcome::Unknown))
    };
    if !done(judged) {
        return vec!["not concerned: it writes nothing, or did not succeed".to_owned()];
    }
    let calls = asked.view.calls().iter();
    let recent = calls.filter(|call| judged.end.since(call.end) < settings.window && done(call));
    let rules = if asked.source() {
        Rules::Source
    } else {
        Rules::Aware
    };
    let weight: i64 = recent.map(|call| weight(call, settings.limit, rules)).sum();
    let mut said = vec![format!(
        "{weight} writes within {} (a delete counts double), more than {} fire",
        wording::span(settings.window),
        settings.limit
    )];
    if judged.more.rewrites != 0 && !asked.source() {
        let row = asked
            .view
            .calls()
            .iter()
            .rev()
            .take_while(|call| call.turn == judged.turn && done(call));
        let same = row
            .filter(|call| call.more.rewrites == judged.more.rewrites)
            .count();
        said.push(of(
            same,
            REWRITES,
            "times the same file written anew with nothing run or read between",
        ));
    }
    said
}

pub(super) fn novel_host(asked: &Asked<'_>) -> Vec<String> {
    let Some(judged) = asked.view.call() else {
        return Vec::new();
    };
    if judged.more.contacts == 0 {
        return vec!["it contacts no host that can be seen".to_owned()];
    }
    let detector = NovelHost::new(&asked.settings.novel_host, asked.ready.rules);
    let first = asked
        .view
        .ledger
        .hosts()
        .iter()
        .filter(|contact| contact.first.span == judged.span);
    let (known, novel): (Vec<_>, Vec<_>) =
        first.partition(|contact| detector.is_known(&contact.host));
    vec![format!(
        "{} contacted; first seen here: {} known, {} not known; the others were seen before in this conversation",
        judged.more.contacts,
        known.len(),
        novel.len()
    )]
}

pub(super) fn goal_drift(asked: &Asked<'_>) -> Vec<String> {
    let Some(call) = asked.view.call() else {
        return Vec::new();
    };
    if asked.source() {
        return vec!["the source has no rule".to_owned()];
    }
    let said = match call.more.bearing {
        Bearing::Unread => "the arguments were not captured",
        Bearing::NoGoal => "no goal is known, or no call has shared a word with it yet",
        Bearing::NoResults => {
            "an answer before was not captured: what followed from the goal is not known"
        }
        Bearing::TooMuch => "more words follow from the goal than are kept",
        Bearing::Neutral => {
            "a check, a wait, a question or a call without words: neither on the goal nor off it"
        }
        Bearing::On => "it shares a word with the goal or with what followed from it",
        Bearing::Off => "it shares no word with the goal; a row of such calls is needed, of weight",
    };
    let window = asked.settings.goal_drift.window;
    vec![match call.more.bearing {
        Bearing::Off => format!("{said} {window} (a call that may change something weighs two)"),
        _ => said.to_owned(),
    }]
}

pub(super) fn budget(asked: &Asked<'_>, anomaly: AnomalyType) -> Vec<String> {
    let settings = asked.settings;
    let scope = match anomaly {
        AnomalyType::BudgetSteps => settings.budget_steps.scope,
        AnomalyType::BudgetCost => settings.budget_cost.scope,
        _ => settings.budget_time.scope,
    };
    let Some(judged) = Judged::of(asked.view, scope) else {
        return Vec::new();
    };
    let spent = judged
        .meter
        .as_of(judged.order, judged.member.trace, asked.source());
    let mut said = match anomaly {
        AnomalyType::BudgetSteps => {
            let max = settings.budget_steps.max.unwrap_or(u64::MAX);
            vec![format!("{} of {max} calls allowed by now", spent.calls)]
        }
        AnomalyType::BudgetCost => {
            let max = settings.budget_cost.max_usd.unwrap_or(f64::INFINITY);
            let mut said = vec![format!("${:.4} of ${max:.4} allowed by now", spent.usd)];
            if spent.unpriced > 0 {
                said.push(format!("the cost of {} steps is not known", spent.unpriced));
            }
            said
        }
        _ => {
            let budget = &settings.budget_time;
            let passed = judged
                .meter
                .first_start()
                .map(|start| judged.member.end.since(start));
            let passed = passed.map_or_else(|| "nothing".to_owned(), wording::span);
            let max = budget
                .max
                .map_or_else(|| "no limit".to_owned(), wording::span);
            vec![format!("{passed} of {max} allowed by now")]
        }
    };
    if judged.unknown {
        said.push("whose step this is is not known, and the budget is an agent's".to_owned());
    }
    let told = [Some("exceeded"), Some("idle")]
        .into_iter()
        .filter_map(|reason| Limit::of(anomaly, reason));
    if told
        .into_iter()
        .any(|limit| judged.is_told(limit, asked.ready.rules))
    {
        said.push("its limit was passed before, and that was told".to_owned());
    }
    said
}
