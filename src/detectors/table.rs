//! The table of all enabled detectors, in the order in which they report.

use smallvec::SmallVec;

use crate::lanes::{Limit, View};
use crate::model::{AnomalyType, Emit, Lack, Severity};

use super::{Detector, Judgement, Rules, Scope, Settings, TimeBudget};

/// What the detectors say of one step, quiet ones left out.
pub type Verdicts = SmallVec<[(AnomalyType, Judgement); 2]>;

/// All enabled detectors.
#[derive(Debug)]
pub struct Table {
    detectors: Vec<Box<dyn Detector>>,
    window_max: usize,
    time: Option<TimeBudget>,
    has_budgets: bool,
    /// What is configured for each type, at its discriminant.
    told: [Told; AnomalyType::ALL.len()],
}

/// How the findings of one type are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// How far.
    pub emit: Emit,
    /// The severity of all of them, raised or not, in place of the rule's own.
    pub severity: Option<Severity>,
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
    /// Calls that a lane keeps at most, whatever is configured.
    pub const WINDOW_MAX: usize = 4096;

    /// Builds the enabled detectors; `rules` is the processor's choice.
    pub fn new(settings: &Settings, rules: Rules) -> Self {
        let shared = super::family::shared(settings, rules);
        let settings = shared.as_ref().unwrap_or(settings);
        let detectors: Vec<Box<dyn Detector>> = AnomalyType::ALL
            .into_iter()
            .filter(|anomaly| settings.common(*anomaly).judged())
            .filter_map(|anomaly| build(anomaly, settings, rules))
            .collect();
        let window_max = detectors
            .iter()
            .map(|detector| detector.window())
            .fold(Self::WINDOW_MIN, usize::max)
            .min(Self::WINDOW_MAX);
        let timed = settings.budget_time.enabled;
        let time = TimeBudget::new(&settings.budget_time, rules).filter(|_| timed);
        let mut told = [Told::default(); AnomalyType::ALL.len()];
        for anomaly in AnomalyType::ALL {
            let common = settings.common(anomaly);
            if let Some(cell) = told.get_mut(usize::from(anomaly as u8)) {
                *cell = Told {
                    emit: common.emit.unwrap_or_default(),
                    severity: common.severity,
                };
            }
        }
        Self {
            has_budgets: detectors.iter().any(|d| d.budget().is_some()),
            detectors,
            window_max,
            told,
            time: time.filter(|time| time.rules() == Rules::Aware),
        }
    }

    /// The budget that timers watch, where there is one.
    pub fn time(&self) -> Option<&TimeBudget> {
        self.time.as_ref()
    }

    /// Whether any budget is set.
    pub fn has_budgets(&self) -> bool {
        self.has_budgets
    }

    /// What a budget is for; `None` for types that are none or not judged.
    pub fn budget_of(&self, anomaly: AnomalyType) -> Option<Scope> {
        let mut detectors = self.detectors.iter();
        detectors
            .find(|detector| detector.anomaly() == anomaly)?
            .budget()
    }

    /// Which rule of a type is in force; `None` when it is not judged.
    pub fn rules_of(&self, anomaly: AnomalyType) -> Option<Rules> {
        let mut detectors = self.detectors.iter();
        detectors
            .find(|detector| detector.anomaly() == anomaly)
            .map(|detector| detector.rules())
    }

    /// Limits that the step brings near, with what they are for.
    pub fn near(&self, view: &View<'_>) -> SmallVec<[(AnomalyType, Scope, Limit); 1]> {
        if !self.has_budgets {
            return SmallVec::new();
        }
        let near = |detector: &dyn Detector| {
            let scope = detector.budget()?;
            Some((detector.anomaly(), scope, detector.is_near(view)?))
        };
        let detectors = self.detectors.iter().map(AsRef::as_ref);
        detectors.filter_map(near).collect()
    }

    /// How the findings of a type are told.
    pub fn told(&self, anomaly: AnomalyType) -> Told {
        let told = self.told.get(usize::from(anomaly as u8));
        told.copied().unwrap_or_default()
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
            let mut judgement = call(detector.as_ref(), view);
            if let Judgement::Found(finding) = &mut judgement
                && detector.rules() == Rules::Aware
            {
                super::evidence::complete(finding, view);
            }
            let unsure = match &judgement {
                Judgement::Quiet => continue,
                Judgement::NotAssessed(_) => false,
                Judgement::Several(_) => {
                    source_found |= detector.rules() == Rules::Source;
                    false
                }
                Judgement::Found(finding) => {
                    source_found |= detector.rules() == Rules::Source;
                    // Found all the same, but on half the proof (A2): both are said.
                    finding.reason == Some("no_results")
                }
            };
            verdicts.push((detector.anomaly(), judgement));
            if unsure {
                verdicts.push((detector.anomaly(), Judgement::NotAssessed(Lack::NoResults)));
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
pub(super) fn build(
    anomaly: AnomalyType,
    settings: &Settings,
    rules: Rules,
) -> Option<Box<dyn Detector>> {
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
        AnomalyType::BudgetTime => Box::new(super::TimeBudget::new(&settings.budget_time, rules)?),
        AnomalyType::ToolHallucination => Box::new(
            super::tool_hallucination::ToolHallucination::new(&settings.tool_hallucination, rules),
        ),
        AnomalyType::ScopeEscape => Box::new(super::scope_escape::ScopeEscape::new(
            &settings.scope_escape,
            rules,
        )),
        AnomalyType::WriteStorm => Box::new(super::write_storm::WriteStorm::new(
            &settings.write_storm,
            rules,
        )),
        AnomalyType::NovelHost => Box::new(super::novel_host::NovelHost::new(
            &settings.novel_host,
            rules,
        )),
        AnomalyType::GoalDrift => Box::new(super::goal_drift::GoalDrift::new(
            &settings.goal_drift,
            rules,
        )),
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::Bench;
    use super::*;
    use crate::lanes::At;

    fn types(rules: Rules, line: &str) -> Vec<(AnomalyType, bool)> {
        let bench = Bench::of(line);
        let at = At::Call(bench.lane.calls().len() - 1);
        let verdicts = Table::new(&Settings::default(), rules).judge(&bench.view(at));
        let found = |judgement: &Judgement| matches!(judgement, Judgement::Found(_));
        verdicts
            .iter()
            // Lanes of this language have no definitions: always lacking.
            .filter(|(anomaly, j)| {
                let defined = !matches!(
                    anomaly,
                    AnomalyType::ToolHallucination | AnomalyType::InvalidArgs
                );
                defined || found(j)
            })
            .map(|(anomaly, j)| (*anomaly, found(j)))
            .collect()
    }

    #[test]
    fn in_report_order_with_what_is_lacking() {
        use AnomalyType::{FailureLoop, Stuck, TransitionRepeat};
        assert_eq!(
            types(Rules::Aware, "a! a! a!"),
            [(FailureLoop, true), (Stuck, true), (TransitionRepeat, true)]
        );
        let unsure = types(Rules::Aware, "a? a? a? a? a? a?");
        assert!(unsure.contains(&(Stuck, true)) && unsure.contains(&(Stuck, false)));
    }

    #[test]
    fn a_source_check_reports_one_thing() {
        use AnomalyType::{Loop, Stuck, TransitionRepeat};
        let settings = |line| types(Rules::Source, line);
        assert_eq!(
            settings("a a a a"),
            [(Stuck, true), (TransitionRepeat, true)]
        );
        let cycle = settings("a b c a b c");
        assert_eq!(cycle, [(Loop, true)]);
    }

    #[test]
    fn the_widest_window_is_told() {
        let default = Table::new(&Settings::default(), Rules::Aware);
        assert_eq!(default.window_max(), 63, "three calls for each write");
        let mut wide = Settings::default();
        wide.r#loop.window = 100;
        assert_eq!(Table::new(&wide, Rules::Aware).window_max(), 100);
        wide.r#loop.enabled = false;
        wide.transition_repeat.window = 0;
        assert_eq!(Table::new(&wide, Rules::Aware).window_max(), 4096);
        assert!(default.types().eq(AnomalyType::ALL.into_iter().filter(|a| {
            // Budgets without a maximum, types not in this build, and the two off by default.
            super::super::descriptor(*a).available
                && !matches!(a, AnomalyType::NovelHost | AnomalyType::GoalDrift)
                && !a.name().starts_with("budget")
        })));
    }
}
