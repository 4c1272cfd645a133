//! The table of all enabled detectors, in the order in which they report.

use smallvec::SmallVec;

use crate::lanes::View;
use crate::model::AnomalyType;

use super::{Detector, Judgement, Rules, Settings};

/// What the detectors say of one step, quiet ones left out.
pub type Verdicts = SmallVec<[(AnomalyType, Judgement); 2]>;

/// All enabled detectors.
#[derive(Debug)]
pub struct Table {
    detectors: Vec<Box<dyn Detector>>,
    window_max: usize,
}

/// In the source systems one check reports one thing: the second is not looked at when the first fires.
const SHADOWS: [(AnomalyType, AnomalyType); 8] = [
    (AnomalyType::Stuck, AnomalyType::Loop),
    (AnomalyType::FailureLoop, AnomalyType::PingPong),
    (AnomalyType::BudgetSteps, AnomalyType::BudgetCost),
    (AnomalyType::BudgetSteps, AnomalyType::BudgetTime),
    (AnomalyType::BudgetSteps, AnomalyType::TransitionRepeat),
    (AnomalyType::BudgetCost, AnomalyType::BudgetTime),
    (AnomalyType::BudgetCost, AnomalyType::TransitionRepeat),
    (AnomalyType::BudgetTime, AnomalyType::TransitionRepeat),
];

impl Table {
    /// Calls that every lane keeps at least.
    pub const WINDOW_MIN: usize = 32;

    /// Builds the enabled detectors; `rules` is the processor's choice.
    pub fn new(settings: &Settings, rules: Rules) -> Self {
        let detectors: Vec<Box<dyn Detector>> = AnomalyType::ALL
            .into_iter()
            .filter(|anomaly| settings.common(*anomaly).enabled)
            .filter_map(|anomaly| build(anomaly, settings, rules))
            .collect();
        let window_max = detectors
            .iter()
            .map(|detector| detector.window())
            .fold(Self::WINDOW_MIN, usize::max);
        Self {
            detectors,
            window_max,
        }
    }

    /// How many calls back the widest enabled window looks: what a lane has to keep.
    pub fn window_max(&self) -> usize {
        self.window_max
    }

    /// The types judged, in order of report.
    pub fn types(&self) -> impl Iterator<Item = AnomalyType> + '_ {
        self.detectors.iter().map(|detector| detector.anomaly())
    }

    /// Judges one step with all detectors.
    pub fn judge(&self, view: &View<'_>) -> Verdicts {
        self.judge_with(view, |detector, view| detector.judge(view))
    }

    /// Judges one step, each detector through `call`: the place to catch a panic or to leave one out.
    pub fn judge_with(
        &self,
        view: &View<'_>,
        mut call: impl FnMut(&dyn Detector, &View<'_>) -> Judgement,
    ) -> Verdicts {
        let mut verdicts = Verdicts::new();
        let mut source_found = false;
        for detector in &self.detectors {
            let judgement = call(detector.as_ref(), view);
            if judgement != Judgement::Quiet {
                source_found |=
                    detector.rules() == Rules::Source && matches!(judgement, Judgement::Found(_));
                verdicts.push((detector.anomaly(), judgement));
            }
        }
        if source_found && verdicts.len() > 1 {
            self.drop_shadowed(&mut verdicts);
        }
        verdicts
    }

    fn drop_shadowed(&self, verdicts: &mut Verdicts) {
        let source = |anomaly| {
            self.detectors
                .iter()
                .any(|d| d.anomaly() == anomaly && d.rules() == Rules::Source)
        };
        for (first, second) in SHADOWS {
            let fired = verdicts
                .iter()
                .any(|(anomaly, j)| *anomaly == first && matches!(j, Judgement::Found(_)));
            if fired && source(first) && source(second) {
                verdicts.retain(|(anomaly, _)| *anomaly != second);
            }
        }
    }
}

/// The detector of one type; `None` for types that this build lacks.
fn build(anomaly: AnomalyType, settings: &Settings, rules: Rules) -> Option<Box<dyn Detector>> {
    Some(match anomaly {
        AnomalyType::Stuck => Box::new(super::stuck::Stuck::new(&settings.stuck, rules)),
        AnomalyType::FailureLoop => Box::new(super::failure_loop::FailureLoop::new(
            &settings.failure_loop,
            rules,
        )),
        AnomalyType::PingPong => {
            Box::new(super::ping_pong::PingPong::new(&settings.ping_pong, rules))
        }
        AnomalyType::Loop => Box::new(super::loops::Loop::new(&settings.r#loop, rules)),
        AnomalyType::TransitionRepeat => Box::new(super::transition_repeat::TransitionRepeat::new(
            &settings.transition_repeat,
            rules,
        )),
        AnomalyType::EmptyResponse => Box::new(super::empty_response::EmptyResponse::new(
            &settings.empty_response,
            rules,
        )),
        AnomalyType::ErrorRate => Box::new(super::error_rate::ErrorRate::new(
            &settings.error_rate,
            rules,
        )),
        AnomalyType::PrematureVictory => Box::new(super::premature_victory::PrematureVictory::new(
            &settings.premature_victory,
            rules,
        )),
        AnomalyType::Stutter => Box::new(super::stutter::Stutter::new(&settings.stutter, rules)),
        AnomalyType::InvalidArgs => Box::new(super::invalid_args::InvalidArgs::new(
            &settings.invalid_args,
            rules,
        )),
        AnomalyType::BudgetSteps => {
            Box::new(super::budgets::Steps::new(&settings.budget_steps, rules)?)
        }
        AnomalyType::BudgetCost => {
            Box::new(super::budgets::Cost::new(&settings.budget_cost, rules)?)
        }
        AnomalyType::BudgetTime => {
            Box::new(super::budgets::Time::new(&settings.budget_time, rules)?)
        }
        AnomalyType::ToolHallucination
        | AnomalyType::GoalDrift
        | AnomalyType::ScopeEscape
        | AnomalyType::WriteStorm
        | AnomalyType::NovelHost => return None,
    })
}
