//! What each detector saw at one step, and why it came to nothing there. Built only when somebody asks.
//!
//! Invariant: the numbers come from the very functions that judge; a detector never pays for being able to
//! explain itself. The verdict is not decided here: these are the reasons beside it.

mod calls;
mod family;
mod replies;

use crate::lanes::{Call, Reply, View};
use crate::model::{AnomalyType, Arguments, Claim, Finish, Outcome, Targets};

use super::ready::Ready;
use super::{Rules, Settings, wording};

/// One sentence after the other: what a detector saw at the step of `view`, and what kept it quiet.
/// `rules` is the processor's choice.
pub fn explain(
    settings: &Settings,
    rules: Rules,
    anomaly: AnomalyType,
    view: &View<'_>,
) -> Vec<String> {
    let ready = Ready::new(settings.common(anomaly), rules);
    let asked = Asked {
        settings,
        ready: &ready,
        view,
    };
    if let Some(why) = asked.other_kind(anomaly) {
        return vec![why];
    }
    if let Some(call) = view.call()
        && ready
            .of(view.names, call.tool)
            .is_some_and(|over| over.ignore)
    {
        return vec![format!(
            "`detectors.{anomaly}.tools` has it ignore this tool"
        )];
    }
    match anomaly {
        AnomalyType::FailureLoop
        | AnomalyType::PingPong
        | AnomalyType::Loop
        | AnomalyType::Stuck
        | AnomalyType::TransitionRepeat => family::explain(&asked, anomaly),
        AnomalyType::EmptyResponse => replies::empty_response(&asked),
        AnomalyType::PrematureVictory => replies::premature_victory(&asked),
        AnomalyType::Stutter => replies::stutter(&asked),
        AnomalyType::ErrorRate => calls::error_rate(&asked),
        AnomalyType::ToolHallucination => calls::tool_hallucination(&asked),
        AnomalyType::InvalidArgs => calls::invalid_args(&asked),
        AnomalyType::ScopeEscape => calls::scope_escape(&asked),
        AnomalyType::WriteStorm => calls::write_storm(&asked),
        AnomalyType::NovelHost => calls::novel_host(&asked),
        AnomalyType::BudgetSteps | AnomalyType::BudgetCost | AnomalyType::BudgetTime => {
            calls::budget(&asked, anomaly)
        }
        AnomalyType::GoalDrift => calls::goal_drift(&asked),
    }
}

/// A question about one step.
struct Asked<'a> {
    settings: &'a Settings,
    ready: &'a Ready,
    view: &'a View<'a>,
}

impl Asked<'_> {
    fn source(&self) -> bool {
        self.ready.rules == Rules::Source
    }

    /// Why a type has nothing to do with this kind of step.
    fn other_kind(&self, anomaly: AnomalyType) -> Option<String> {
        let wants_reply = matches!(
            anomaly,
            AnomalyType::EmptyResponse | AnomalyType::PrematureVictory | AnomalyType::Stutter
        );
        let wants_any = matches!(
            anomaly,
            AnomalyType::ToolHallucination
                | AnomalyType::ErrorRate
                | AnomalyType::BudgetCost
                | AnomalyType::BudgetTime
        );
        match (self.view.call(), self.view.reply()) {
            (Some(_), _) if wants_reply => Some(
                "not concerned: it judges answers of models, and this is a tool call".to_owned(),
            ),
            (None, Some(reply)) if !wants_reply && !wants_any => Some(format!(
                "not concerned: it judges tool calls, and this is {}",
                kind_of(reply)
            )),
            _ => None,
        }
    }
}

const fn kind_of(reply: &Reply) -> &'static str {
    if reply.of_run {
        "the end of an agent's run"
    } else {
        "an answer of a model"
    }
}

/// How a tool call looks to the detectors.
pub fn looks_of_call(view: &View<'_>, call: &Call) -> Vec<String> {
    let yes = |known: bool| if known { "captured" } else { "not captured" };
    let mut looks = vec![
        format!(
            "tool call of `{}`, role {}, {}",
            wording::tool(view.names, call.tool),
            format!("{:?}", call.role).to_lowercase(),
            outcome_words(call.outcome)
        ),
        format!(
            "arguments {}{}, answer {}{}",
            yes(call.key.is_some()),
            match call.arguments {
                Arguments::NotJson => " (no JSON)",
                Arguments::Refused => " (refused by the tool)",
                Arguments::Unknown | Arguments::Valid => "",
            },
            yes(call.answer.known),
            if call.answer.pending {
                " (not final: something is still going on)"
            } else if call.answer.known && call.answer.acknowledges {
                " (only acknowledges)"
            } else {
                ""
            }
        ),
        format!(
            "depends on {}; changes {}",
            targets(&call.reads),
            targets(&call.changes)
        ),
    ];
    if call.waits {
        looks.push("lets time pass: no step for the repetition family".to_owned());
    }
    if call.poll {
        looks.push("asks for new output of something that runs (a poll)".to_owned());
    }
    if call.lane_unknown {
        looks.push("names no agent while others run beside it: only calls under the same parent are compared".to_owned());
    }
    looks
}

/// How an answer looks to the detectors.
pub fn looks_of_reply(reply: &Reply) -> Vec<String> {
    let mut looks = vec![format!(
        "{}, {}",
        kind_of(reply),
        match reply.finish {
            Finish::Unknown => "nothing says why it stopped",
            Finish::Stop => "ended its turn",
            Finish::Length => "ran into its length limit",
            Finish::ToolCalls => "asks for tools",
            Finish::Filtered => "stopped by a filter",
            Finish::Error => "failed",
        }
    )];
    looks.push(match &reply.text {
        None => "text not captured".to_owned(),
        Some(text) => format!(
            "text of {} characters, {}",
            text.chars,
            match text.claim {
                Claim::None => "claims nothing",
                Claim::Done => "claims completion",
                Claim::ChecksPassed => "claims that checks passed",
            }
        ),
    });
    looks
}

const fn outcome_words(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Unknown => "nothing says how it ended",
        Outcome::Succeeded => "succeeded",
        Outcome::Failed(failure) if failure.is_answer => "failed in a way that is an answer",
        Outcome::Failed(_) => "failed",
        Outcome::Refused => "refused or cancelled",
    }
}

fn targets(targets: &Targets) -> String {
    let mut words = Vec::new();
    if targets.any_file || targets.files != [0; 2] {
        words.push("files");
    }
    for (is, word) in [
        (targets.workspace, "the workspace"),
        (targets.repo, "the repository"),
        (targets.service, "a service"),
        (targets.unknown, "something unknown"),
    ] {
        if is {
            words.push(word);
        }
    }
    if words.is_empty() {
        return "nothing that is known".to_owned();
    }
    words.join(", ")
}

/// `2 of 3 things`.
fn of(n: usize, m: usize, what: &str) -> String {
    format!("{n} of {m} {what}")
}
