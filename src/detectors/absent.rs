//! What the spans of a run leave out as a whole: an emitter that traces no tools, or no models, shows nothing to
//! judge, and silence about it would pass for health.
//!
//! Invariant: asked once a run is over, of its counters alone; a run whose models were seen to call nothing lacks
//! nothing.

use smallvec::SmallVec;

use crate::lanes::RunFacts;
use crate::model::{AnomalyType, Lack};

/// Types that judge what tools did: a request alone tells them nothing.
const OF_CALLS: &[AnomalyType] = &[
    AnomalyType::Stuck,
    AnomalyType::FailureLoop,
    AnomalyType::PingPong,
    AnomalyType::Loop,
    AnomalyType::TransitionRepeat,
    AnomalyType::ErrorRate,
    AnomalyType::ScopeEscape,
    AnomalyType::WriteStorm,
    AnomalyType::NovelHost,
    AnomalyType::BudgetSteps,
];
/// Types that judge what was asked for as well as what was done.
const OF_REQUESTS: &[AnomalyType] = &[AnomalyType::ToolHallucination, AnomalyType::InvalidArgs];
/// Types that judge single answers of models.
const OF_ANSWERS: &[AnomalyType] = &[AnomalyType::EmptyResponse, AnomalyType::Stutter];

/// What no step of a run that is over could show, by type.
pub fn absent(run: &RunFacts) -> SmallVec<[(AnomalyType, Lack); 8]> {
    let mut lacks = SmallVec::new();
    let mut note = |types: &[AnomalyType], lack| {
        lacks.extend(types.iter().map(|anomaly| (*anomaly, lack)));
    };
    let no_models = run.answers == 0;
    if no_models && (run.calls > 0 || run.agent_runs > 0) {
        note(OF_ANSWERS, Lack::NoModelSpans);
        if !run.seen_texts && run.agent_runs == 0 {
            note(&[AnomalyType::PrematureVictory], Lack::NoModelSpans);
        }
    }
    let unmet = run.asks.unmet();
    let blind = no_models && run.agent_runs > 0;
    if run.calls == 0 && (blind || unmet > 0 || run.hides_calls) {
        note(OF_CALLS, Lack::NoToolSpans);
        if blind {
            note(OF_REQUESTS, Lack::NoToolSpans);
        }
    }
    if run.hides_calls {
        note(OF_REQUESTS, Lack::NoArguments);
    }
    if unmet > 0 && !run.seen_definitions {
        note(OF_REQUESTS, Lack::NoDefinitions);
    }
    lacks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(run: &RunFacts, anomaly: AnomalyType) -> Vec<Lack> {
        let found = absent(run).into_iter();
        found
            .filter(|(other, _)| *other == anomaly)
            .map(|(_, lack)| lack)
            .collect()
    }

    fn run(calls: u32, answers: u32, agent_runs: u32) -> RunFacts {
        let mut run = RunFacts::default();
        (run.calls, run.answers, run.agent_runs) = (calls, answers, agent_runs);
        run
    }

    #[test]
    fn a_run_of_an_agent_alone_shows_neither_tools_nor_models() {
        let mut run = run(0, 0, 1);
        run.seen_texts = true;
        for anomaly in [AnomalyType::Stuck, AnomalyType::ToolHallucination] {
            assert_eq!(of(&run, anomaly), [Lack::NoToolSpans]);
        }
        assert_eq!(of(&run, AnomalyType::EmptyResponse), [Lack::NoModelSpans]);
        assert_eq!(of(&run, AnomalyType::PrematureVictory), []);
    }

    #[test]
    fn calls_without_models_leave_the_answers_unjudged() {
        let run = run(2, 0, 0);
        assert_eq!(of(&run, AnomalyType::Stuck), []);
        let claims = of(&run, AnomalyType::PrematureVictory);
        assert_eq!(claims, [Lack::NoModelSpans]);
    }

    #[test]
    fn models_that_call_nothing_lack_nothing() {
        assert!(absent(&run(0, 3, 1)).is_empty());
        assert!(absent(&RunFacts::default()).is_empty());
    }

    #[test]
    fn an_answer_that_hides_its_calls_is_said() {
        let mut run = run(1, 1, 0);
        run.hides_calls = true;
        assert_eq!(of(&run, AnomalyType::InvalidArgs), [Lack::NoArguments]);
        assert_eq!(of(&run, AnomalyType::Stuck), []);
    }
}
