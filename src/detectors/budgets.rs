//! `budget_steps`, `budget_cost`, `budget_time`: more than was allowed.
//!
//! - Invariant: strictly more than the maximum, counted up to the judged step: executed tool calls, dollars that
//!   are known to be spent, time from the first start to the end of the step.
//! - Ignores: cost that is not reported (unknown, not zero: not assessed as long as the known part is within the
//!   budget); time that passes without a step.
//! - Source rule (agentbudget): the same three limits, one a check: steps, cost, time.
//! - Cost: a few comparisons; a walk over the run's last outcomes when the limit is passed.

use std::time::Duration;

use serde::Deserialize;
use smallvec::SmallVec;

use crate::lanes::{Order, View};
use crate::model::{AnomalyType, Confidence, Fact, Finding, Lack, Member, Severity, Timestamp};

use super::ready::Ready;
use super::repeats::{bounded, hash, mix};
use super::settings::config;
use super::{Detector, Judgement, Rules, wording};

/// What a budget is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// A conversation, or a run that belongs to none.
    #[default]
    Session,
    /// One agent of a run.
    Agent,
    /// One turn.
    Turn,
}

config! {
    /// Settings of `budget_steps`. Off without `max`.
    pub struct StepsConfig (enabled: true) {
        /// Executed tool calls allowed.
        max: Option<u64> = None,
        /// What the budget is for.
        scope: Scope = Scope::Session,
    }
}

config! {
    /// Settings of `budget_cost`. Off without `max_usd`.
    pub struct CostConfig (enabled: true) {
        /// US dollars allowed.
        max_usd: Option<f64> = None,
        /// What the budget is for.
        scope: Scope = Scope::Session,
    }
}

config! {
    /// Settings of `budget_time`. Off without `max` and `idle`.
    pub struct TimeConfig (enabled: true) {
        /// Time allowed.
        #[serde(with = "crate::model::units::optional_duration")]
        max: Option<Duration> = None,
        /// Longest silence allowed of an open run.
        #[serde(with = "crate::model::units::optional_duration")]
        idle: Option<Duration> = None,
        /// What the budget is for.
        scope: Scope = Scope::Session,
    }
}

/// The step judged, be it a call or an answer.
fn judged(view: &View<'_>) -> Option<(Member, Order)> {
    match (view.call(), view.reply()) {
        (Some(call), _) => Some((call.member(), call.order)),
        (None, Some(reply)) => Some((reply.member(), reply.order)),
        (None, None) => None,
    }
}

const fn scope_word(scope: Scope) -> &'static str {
    match scope {
        Scope::Session => "session",
        Scope::Agent => "agent",
        Scope::Turn => "turn",
    }
}

fn finding(ready: &Ready, anomaly: AnomalyType, member: Member, scope: Scope) -> Finding {
    Finding {
        anomaly,
        rule: 1,
        severity: ready.severity(Severity::Error),
        confidence: Confidence::Exact,
        reason: Some("exceeded"),
        members: SmallVec::from_slice(&[member]),
        count: 1,
        tool: None,
        evidence_key: mix(
            hash(anomaly.name().as_bytes()),
            hash(scope_word(scope).as_bytes()),
        ),
        shape: SmallVec::new(),
        facts: Vec::new(),
        message: String::new(),
    }
}

/// `budget_steps`.
#[derive(Debug)]
pub(super) struct Steps {
    max: u64,
    scope: Scope,
    ready: Ready,
}

impl Steps {
    /// `None` without a maximum.
    pub(super) fn new(config: &StepsConfig, rules: Rules) -> Option<Self> {
        Some(Self {
            max: config.max?,
            scope: config.scope,
            ready: Ready::new(config.common(), rules),
        })
    }
}

impl Detector for Steps {
    fn anomaly(&self) -> AnomalyType {
        AnomalyType::BudgetSteps
    }

    fn rules(&self) -> Rules {
        self.ready.rules
    }

    fn judge(&self, view: &View<'_>) -> Judgement {
        let Some(call) = view.call() else {
            return Judgement::Quiet;
        };
        let all = match self.scope {
            Scope::Session => view.ledger.calls.max(view.run.calls.into()),
            Scope::Agent if call.lane_unknown => {
                return Judgement::NotAssessed(Lack::LaneUnknown);
            }
            Scope::Agent => view.lane.calls_seen.into(),
            Scope::Turn => view.run.calls_of_turn.into(),
        };
        if all <= self.max {
            return Judgement::Quiet;
        }
        // What has arrived since, but stands behind the judged call, is not its affair.
        let later = match self.scope {
            Scope::Agent => view
                .lane
                .calls()
                .iter()
                .filter(|c| c.order > call.order)
                .count(),
            Scope::Session | Scope::Turn => {
                let outcomes = view.run.outcomes.iter();
                outcomes
                    .filter(|outcome| outcome.order > call.order)
                    .count()
            }
        };
        let calls = all.saturating_sub(u64::try_from(later).unwrap_or(u64::MAX));
        if calls <= self.max {
            return Judgement::Quiet;
        }
        let mut finding = finding(&self.ready, self.anomaly(), call.member(), self.scope);
        if self.scope == Scope::Agent {
            // Whose calls these are can still change while parents are missing: let it be seen.
            finding.members = bounded(view.calls().iter());
        }
        finding.tool = Some(view.names.text(call.tool));
        finding.count = u32::try_from(calls).unwrap_or(u32::MAX);
        let number = |n: u64| Fact::Int(i64::try_from(n).unwrap_or(i64::MAX));
        finding.facts = vec![("calls", number(calls)), ("max", number(self.max))];
        finding.message = wording::message(format!(
            "{calls} tool calls in this {}, {} are allowed",
            scope_word(self.scope),
            self.max
        ));
        Judgement::Found(Box::new(finding))
    }
}

/// `budget_cost`.
#[derive(Debug)]
pub(super) struct Cost {
    max_usd: f64,
    scope: Scope,
    ready: Ready,
}

impl Cost {
    /// `None` without a maximum.
    pub(super) fn new(config: &CostConfig, rules: Rules) -> Option<Self> {
        Some(Self {
            max_usd: config.max_usd?,
            scope: config.scope,
            ready: Ready::new(config.common(), rules),
        })
    }
}

impl Detector for Cost {
    fn anomaly(&self) -> AnomalyType {
        AnomalyType::BudgetCost
    }

    fn rules(&self) -> Rules {
        self.ready.rules
    }

    fn judge(&self, view: &View<'_>) -> Judgement {
        let Some((member, _)) = judged(view) else {
            return Judgement::Quiet;
        };
        let spent = view.ledger.cost_usd;
        if spent <= self.max_usd {
            return if view.ledger.unpriced > 0 && self.rules() == Rules::Aware {
                Judgement::NotAssessed(Lack::NoUsage)
            } else {
                Judgement::Quiet
            };
        }
        let mut finding = finding(&self.ready, self.anomaly(), member, self.scope);
        finding.facts = vec![
            ("cost_usd", Fact::Float(spent)),
            ("max_usd", Fact::Float(self.max_usd)),
        ];
        finding.message = wording::message(format!(
            "${spent:.2} spent in this session, ${:.2} are allowed",
            self.max_usd
        ));
        Judgement::Found(Box::new(finding))
    }
}

/// `budget_time`.
#[derive(Debug)]
pub(super) struct Time {
    max: Duration,
    scope: Scope,
    ready: Ready,
}

impl Time {
    /// `None` without a maximum.
    pub(super) fn new(config: &TimeConfig, rules: Rules) -> Option<Self> {
        Some(Self {
            max: config.max?,
            scope: config.scope,
            ready: Ready::new(config.common(), rules),
        })
    }

    fn start(&self, view: &View<'_>) -> Option<Timestamp> {
        match self.scope {
            Scope::Session => view.ledger.first_start.or(view.run.first_start),
            Scope::Agent | Scope::Turn => view.run.first_start,
        }
    }
}

impl Detector for Time {
    fn anomaly(&self) -> AnomalyType {
        AnomalyType::BudgetTime
    }

    fn rules(&self) -> Rules {
        self.ready.rules
    }

    fn judge(&self, view: &View<'_>) -> Judgement {
        let (Some((member, _)), Some(start)) = (judged(view), self.start(view)) else {
            return Judgement::Quiet;
        };
        let elapsed = member.end.since(start);
        if elapsed <= self.max {
            return Judgement::Quiet;
        }
        let mut finding = finding(&self.ready, self.anomaly(), member, self.scope);
        let ms = |time: Duration| Fact::Int(i64::try_from(time.as_millis()).unwrap_or(i64::MAX));
        finding.facts = vec![("elapsed_ms", ms(elapsed)), ("max_ms", ms(self.max))];
        finding.message = wording::message(format!(
            "{} passed in this {}, {} are allowed",
            wording::span(elapsed),
            scope_word(self.scope),
            wording::span(self.max)
        ));
        Judgement::Found(Box::new(finding))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, finding, fires};
    use super::*;
    use crate::lanes::At;

    #[test]
    fn steps_are_counted_up_to_the_judged_call() {
        let config = StepsConfig {
            max: Some(2),
            ..StepsConfig::default()
        };
        let steps = Steps::new(&config, Rules::Aware).unwrap();
        assert_eq!(fires(&steps, "a b c d"), [2, 3]);
        assert_eq!(fires(&steps, "a b"), [] as [usize; 0]);
        assert!(Steps::new(&StepsConfig::default(), Rules::Aware).is_none());
    }

    #[test]
    fn unknown_cost_is_not_zero() {
        let config = CostConfig {
            max_usd: Some(0.3),
            ..CostConfig::default()
        };
        let cost = Cost::new(&config, Rules::Aware).unwrap();
        let mut bench = Bench::of("a");
        bench.ledger.cost_usd = 0.3;
        assert_eq!(bench.at(&cost, 0), Judgement::Quiet);
        bench.ledger.unpriced = 1;
        assert_eq!(bench.at(&cost, 0), Judgement::NotAssessed(Lack::NoUsage));
        bench.ledger.cost_usd = 0.1 + 0.1 + 0.1;
        assert!(finding(bench.at(&cost, 0)).is_some());
    }

    #[test]
    fn time_is_strictly_more() {
        let config = TimeConfig {
            max: Some(Duration::from_millis(1100)),
            ..TimeConfig::default()
        };
        let time = Time::new(&config, Rules::Aware).unwrap();
        let mut bench = Bench::of("a b c");
        bench.ledger.first_start = Some(Timestamp::from_nanos(1_000_000_000));
        assert_eq!(time.judge(&bench.view(At::Call(1))), Judgement::Quiet);
        assert!(finding(time.judge(&bench.view(At::Call(2)))).is_some());
    }
}
