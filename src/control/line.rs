//! One step in a line, as people read it on a terminal and on a page.

use crate::model::{
    Action, Claim, ModelCall, Name, Outcome, SpanId, Step, Timestamp, ToolCall, Verdict, printable,
};

/// One step, as it is shown. Its words are safe to print.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its place in the run, by arrival: the number that messages name.
    pub number: usize,
    /// Its span.
    pub span: SpanId,
    /// When it started, as the emitter says.
    pub start: Timestamp,
    /// When it ended, as the emitter says.
    pub end: Timestamp,
    /// The agent that its span names.
    pub who: Option<Name>,
    /// What was done: the tool called, what the model asked for.
    pub what: String,
    /// How it went; empty where nothing is known.
    pub how: &'static str,
    /// It failed.
    pub failed: bool,
    /// Neither acts nor claims anything: asks for a tool, answers, or repeats what a step within it says.
    pub aside: bool,
    /// Only asks for tools: their calls have lines of their own.
    pub asks: bool,
}

impl Line {
    /// The line of a step that is the `number`th of its run.
    pub fn of(step: &Step, number: usize) -> Self {
        let Words {
            what,
            how,
            failed,
            aside,
            asks,
        } = match &step.action {
            Action::ToolCall(call) => tool_call(call),
            Action::ModelCall(model) => model_call(model),
            Action::AgentRun(run) => {
                let claim = run.output.map_or(Claim::None, |text| text.claim);
                Words {
                    what: "agent run ends".to_owned(),
                    how: if run.failed {
                        "failed"
                    } else {
                        claim_words(claim)
                    },
                    failed: run.failed,
                    aside: true,
                    asks: false,
                }
            }
        };
        let who = step.agent.as_ref().map(|name| match printable(name) {
            std::borrow::Cow::Borrowed(_) => name.clone(),
            std::borrow::Cow::Owned(safe) => Name::from(safe),
        });
        Self {
            number,
            span: step.span,
            start: step.start,
            end: step.end,
            who,
            what: printable(&what).into_owned(),
            how,
            failed,
            aside,
            asks,
        }
    }
}

struct Words {
    what: String,
    how: &'static str,
    failed: bool,
    aside: bool,
    asks: bool,
}

fn tool_call(call: &ToolCall) -> Words {
    let verification = call.effects.verification.as_ref();
    let how = match (verification.map(|check| check.verdict), call.outcome) {
        (Some(Verdict::Passed | Verdict::PassedBySummary), _) => "passed",
        (Some(Verdict::Failed), _) => "failed",
        (Some(Verdict::ZeroTests), _) => "no tests",
        (Some(Verdict::Masked), _) => "exit masked",
        (_, Outcome::Succeeded) if call.answer.pending => "still going on",
        (_, Outcome::Succeeded) => "ok",
        (_, Outcome::Failed(_)) => "failed",
        (_, Outcome::Refused) => "refused",
        (_, Outcome::Unknown) => "",
    };
    let what = match verification {
        Some(check) => format!("{} ({})", call.tool, check.runner),
        None => call.tool.to_string(),
    };
    Words {
        what,
        how,
        failed: how == "failed",
        aside: false,
        asks: false,
    }
}

fn model_call(model: &ModelCall) -> Words {
    let claim = model.text.map_or(Claim::None, |text| text.claim);
    let asked: Vec<&str> = model.requested.iter().map(|call| &*call.tool).collect();
    let what = if asked.is_empty() {
        "model answers".to_owned()
    } else {
        format!("model asks for {}", asked.join(", "))
    };
    Words {
        what,
        how: if model.failed {
            "failed"
        } else {
            claim_words(claim)
        },
        failed: model.failed,
        aside: !asked.is_empty() || claim == Claim::None,
        asks: !asked.is_empty() && !model.failed,
    }
}

const fn claim_words(claim: Claim) -> &'static str {
    match claim {
        Claim::None => "",
        Claim::Done => "claims to be done",
        Claim::ChecksPassed => "claims that checks passed",
    }
}
