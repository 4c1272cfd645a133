//! `invalid_args`: arguments that are no JSON or that the tool refuses.
//!
//! - Invariant: the call's arguments are no JSON although they should be, or its answer says that validation
//!   refused them (A12). The third of one tool in a lane is a warning.
//! - Ignores: calls whose arguments were not captured; failures for any other reason.
//! - Source rule (failure taxonomy sentinel, tool hallucination): the same; schemas are not read by this build.
//! - Cost: one comparison; a walk over the lane when it fires.

use smallvec::SmallVec;

use crate::lanes::{Call, View};
use crate::model::{AnomalyType, Arguments, Confidence, Fact, Finding, Lack, Outcome, Severity};

use super::ready::Ready;
use super::repeats::{bounded, hash};
use super::settings::config;
use super::{Detector, Judgement, Rules, wording};

config! {
    /// Settings of `invalid_args`.
    pub struct Config (enabled: true) {
    }
}

/// From this one of a tool on it is a warning.
const WARNING_AT: usize = 3;

/// The detector.
#[derive(Debug)]
pub(super) struct InvalidArgs {
    ready: Ready,
}

impl InvalidArgs {
    pub(super) fn new(config: &Config, rules: Rules) -> Self {
        Self {
            ready: Ready::new(config.common(), rules),
        }
    }
}

impl Detector for InvalidArgs {
    fn anomaly(&self) -> AnomalyType {
        AnomalyType::InvalidArgs
    }

    fn rules(&self) -> Rules {
        self.ready.rules
    }

    fn judge(&self, view: &View<'_>) -> Judgement {
        let Some(judged) = view.call() else {
            return Judgement::Quiet;
        };
        let (reason, confidence, words) = match judged.arguments {
            Arguments::Unknown if judged.key.is_none() => {
                return Judgement::NotAssessed(Lack::NoArguments);
            }
            // It failed, and only what was not captured could say that validation refused it.
            Arguments::Valid if unsaid(judged) => {
                return Judgement::NotAssessed(Lack::NoResults);
            }
            Arguments::Unknown | Arguments::Valid => return Judgement::Quiet,
            Arguments::NotJson => ("not_json", Confidence::Exact, "that are no JSON"),
            Arguments::Refused => ("refused", Confidence::Likely, "that its validation refused"),
        };
        let ignored = self.ready.of(view.names, judged.tool);
        if ignored.is_some_and(|over| over.ignore) {
            return Judgement::Quiet;
        }
        let invalid = view.calls().iter().filter(|call| {
            call.tool == judged.tool
                && matches!(call.arguments, Arguments::NotJson | Arguments::Refused)
        });
        let count = invalid.clone().count();
        let own = if count >= WARNING_AT {
            Severity::Warning
        } else {
            Severity::Info
        };
        let tool = view.names.text(judged.tool);
        Judgement::Found(Box::new(Finding {
            anomaly: AnomalyType::InvalidArgs,
            rule: 1,
            severity: self.ready.severity(own),
            confidence,
            reason: Some(reason),
            members: bounded(invalid),
            count: u32::try_from(count).unwrap_or(u32::MAX),
            evidence_key: hash(tool.as_bytes()),
            shape: SmallVec::new(),
            facts: vec![("calls", Fact::Int(i64::try_from(count).unwrap_or(i64::MAX)))],
            message: wording::message(format!(
                "`{}` was called with arguments {words}{}",
                wording::name(&tool),
                if count > 1 {
                    format!(", {count} times by now")
                } else {
                    String::new()
                },
            )),
            tool: Some(tool),
        }))
    }
}

/// Whether a call may have failed in a way that nothing captured tells.
fn unsaid(call: &Call) -> bool {
    match call.outcome {
        Outcome::Failed(failure) => failure.vague,
        Outcome::Unknown => !call.answer.known,
        Outcome::Succeeded | Outcome::Refused => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, finding};
    use super::*;

    #[test]
    fn a12_no_json_or_refused() {
        let mut bench = Bench::default();
        for arguments in [
            Arguments::Valid,
            Arguments::Refused,
            Arguments::NotJson,
            Arguments::Unknown,
            Arguments::Refused,
        ] {
            let mut call = bench.blank("a", "a");
            call.arguments = arguments;
            bench.push(call);
        }
        let detector = InvalidArgs::new(&Config::default(), Rules::Aware);
        let judge = |index| finding(bench.at(&detector, index));
        assert_eq!(judge(0), None);
        assert_eq!(judge(3), None);
        let first = judge(1).unwrap();
        assert_eq!(
            (first.severity, first.reason),
            (Severity::Info, Some("refused"))
        );
        assert_eq!(judge(2).unwrap().reason, Some("not_json"));
        let third = judge(4).unwrap();
        assert_eq!((third.severity, third.count), (Severity::Warning, 3));
        assert_eq!(third.members.len(), 3);
    }
}
