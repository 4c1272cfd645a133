//! `budget_time`: more time than was allowed, or silence for too long.
//!
//! - Invariant: strictly more than `max` from the first start of the unit (session, agent of a run, turn) to the
//!   end of the step judged. By timers, without a step: `exceeded`; `idle`, nothing heard for `idle` of an open
//!   run that has not given its last answer; `hung`, a call that a model asked for has not come back for
//!   `idle`. Each limit is reported once a unit.
//! - Ignores: steps whose clock runs ahead of their arrival; calls that ask a person or wait by their nature;
//!   runs whose last word is a final answer.
//! - Not assessed: whose steps these are, as for the other budgets.
//! - Source rule (agentbudget): `max` alone, at steps alone: `rules: source` has no timers.
//! - Cost: a subtraction a step; a look at three limits a timer.

use std::time::Duration;

use crate::lanes::{Limit, View};
use crate::model::{AnomalyType, Fact, Finding, Member, Name};

use super::budgets::{Judged, Scope, finding, number};
use super::ready::Ready;
use super::settings::config;
use super::{Detector, Judgement, Rules, wording};

/// Longer than any unit: a clock that says so is wrong.
const WRONG_CLOCK: Duration = Duration::from_secs(30 * 86_400);

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

/// The detector; also what timers ask.
#[derive(Debug)]
pub struct TimeBudget {
    max: Option<Duration>,
    idle: Option<Duration>,
    scope: Scope,
    ready: Ready,
}

/// What a timer found.
#[derive(Clone, Debug, PartialEq)]
pub enum Overrun {
    /// The unit has taken longer than `max`.
    Exceeded,
    /// Nothing was heard for so long.
    Idle,
    /// A call of this tool was asked for and has not come back.
    Hung(Name),
}

impl Overrun {
    /// The limit that it passes.
    pub fn limit(&self) -> Limit {
        match self {
            Self::Exceeded => Limit::Time,
            Self::Idle | Self::Hung(_) => Limit::Idle,
        }
    }
}

impl TimeBudget {
    /// `None` without a limit.
    pub(super) fn new(config: &TimeConfig, rules: Rules) -> Option<Self> {
        let rules = config.rules.unwrap_or(rules);
        let idle = config.idle.filter(|_| rules == Rules::Aware);
        (config.max.is_some() || idle.is_some()).then(|| Self {
            max: config.max,
            idle,
            scope: config.scope,
            ready: Ready::new(config.common(), rules),
        })
    }

    /// Time allowed.
    pub fn max(&self) -> Option<Duration> {
        self.max
    }

    /// Longest silence allowed.
    pub fn idle(&self) -> Option<Duration> {
        self.idle
    }

    /// What the budget is for.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// What a timer's finding says. `member` is the step it names, `turn` that step's turn.
    pub fn overrun(&self, what: &Overrun, member: Member, turn: u16) -> Finding {
        let reason = match what {
            Overrun::Exceeded => "exceeded",
            Overrun::Idle => "idle",
            Overrun::Hung(_) => "hung",
        };
        let anomaly = AnomalyType::BudgetTime;
        let mut finding = finding(&self.ready, anomaly, (member, turn), self.scope, reason);
        let limit = match what {
            Overrun::Exceeded => self.max,
            Overrun::Idle | Overrun::Hung(_) => self.idle,
        };
        let limit = limit.unwrap_or_default();
        let shown = wording::span(limit);
        let key = match what {
            Overrun::Exceeded => "max_ms",
            Overrun::Idle | Overrun::Hung(_) => "idle_ms",
        };
        finding.facts.push((key, ms(limit)));
        finding.facts.push(("timer", Fact::Bool(true)));
        finding.message = wording::message(match what {
            Overrun::Exceeded => format!(
                "more than the {shown} allowed have passed in this {}, and it goes on",
                self.scope.word()
            ),
            Overrun::Idle => format!("nothing was heard of this run for {shown}"),
            Overrun::Hung(tool) => format!(
                "`{}` was asked for and has not come back for {shown}",
                wording::name(tool)
            ),
        });
        if let Overrun::Hung(tool) = what {
            finding.tool = Some(tool.clone());
        }
        finding
    }

    fn elapsed(&self, view: &View<'_>, judged: &Judged<'_>) -> Option<Duration> {
        let start = judged.meter.first_start()?;
        let elapsed = judged.member.end.since(start);
        let sure = elapsed < WRONG_CLOCK && !view.run.is_ahead(judged.member.end);
        (sure || self.ready.rules == Rules::Source).then_some(elapsed)
    }
}

fn ms(time: Duration) -> Fact {
    number(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

impl Detector for TimeBudget {
    fn anomaly(&self) -> AnomalyType {
        AnomalyType::BudgetTime
    }

    fn rules(&self) -> Rules {
        self.ready.rules
    }

    fn judge(&self, view: &View<'_>) -> Judgement {
        let (Some(judged), Some(max)) = (Judged::of(view, self.scope), self.max) else {
            return Judgement::Quiet;
        };
        if judged.is_told(Limit::Time, self.rules()) {
            return Judgement::Quiet;
        }
        let Some(elapsed) = self.elapsed(view, &judged).filter(|time| *time > max) else {
            return judged.within();
        };
        let of = (judged.member, judged.turn);
        let mut finding = finding(&self.ready, self.anomaly(), of, self.scope, "exceeded");
        finding
            .facts
            .extend([("elapsed_ms", ms(elapsed)), ("max_ms", ms(max))]);
        finding.message = wording::message(format!(
            "{} passed in this {}, {} are allowed",
            wording::span(elapsed),
            self.scope.word(),
            wording::span(max)
        ));
        Judgement::Found(Box::new(finding))
    }

    fn is_near(&self, view: &View<'_>) -> Option<Limit> {
        let judged = Judged::of(view, self.scope)?;
        let (max, false) = (self.max?, judged.meter.is_near(Limit::Time)) else {
            return None;
        };
        let elapsed = self.elapsed(view, &judged)?;
        (elapsed.as_nanos() * 5 >= max.as_nanos() * 4).then_some(Limit::Time)
    }

    fn budget(&self) -> Option<Scope> {
        Some(self.scope)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, finding};
    use super::*;
    use crate::lanes::At;
    use crate::model::Timestamp;

    fn detector(max_ms: u64) -> TimeBudget {
        let config = TimeConfig {
            max: Some(Duration::from_millis(max_ms)),
            ..TimeConfig::default()
        };
        TimeBudget::new(&config, Rules::Aware).unwrap()
    }

    #[test]
    fn time_is_strictly_more() {
        // Calls start a second apart and take a tenth of it.
        let bench = Bench::of("a b c");
        let time = detector(1100);
        assert_eq!(time.judge(&bench.view(At::Call(1))), Judgement::Quiet);
        assert!(finding(time.judge(&bench.view(At::Call(2)))).is_some());
    }

    #[test]
    fn a_clock_that_runs_ahead_measures_nothing() {
        let mut bench = Bench::of("a b c");
        bench.run.latest_end = Timestamp::from_nanos(2_100_000_000);
        let time = detector(1100);
        assert_eq!(time.judge(&bench.view(At::Call(2))), Judgement::Quiet);
    }

    #[test]
    fn a_limit_is_told_once() {
        let mut bench = Bench::of("a b c");
        bench.ledger.meter.note_passed(Limit::Time);
        let time = detector(1100);
        assert_eq!(time.judge(&bench.view(At::Call(2))), Judgement::Quiet);
    }

    #[test]
    fn what_a_timer_says() {
        let config = TimeConfig {
            idle: Some(Duration::from_secs(300)),
            ..TimeConfig::default()
        };
        let time = TimeBudget::new(&config, Rules::Aware).unwrap();
        let bench = Bench::of("a");
        let member = bench.lane.calls()[0].member();
        let say = |what| finding(Judgement::Found(Box::new(time.overrun(&what, member, 0))));
        let hung = say(Overrun::Hung("run_tests".into())).unwrap();
        assert_eq!(hung.reason, Some("hung"));
        assert_eq!(
            hung.message,
            "`run_tests` was asked for and has not come back for 5 min"
        );
        assert_eq!(say(Overrun::Idle).unwrap().reason, Some("idle"));
        assert!(
            TimeBudget::new(&config, Rules::Source).is_none(),
            "no timers there"
        );
    }
}
