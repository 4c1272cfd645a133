//! `budget_steps`, `budget_cost`: more than was allowed. `budget_time` stands beside it.
//!
//! - Invariant: strictly more than the maximum, counted up to the judged step in its unit (session, agent of a
//!   run, turn): executed tool calls, dollars that are known to be spent. Each limit is reported once a unit.
//! - Ignores: what spans of agents and wrappers repeat of the cost of the steps within; tokens, cached or not:
//!   the reported cost is the measure.
//! - Not assessed: cost that is not reported is unknown, not zero: a session in which some is unknown is not said
//!   to be within its budget, though what is known may exceed it. Whose steps these are, across the parents of
//!   a visibly concurrent run, for a budget of scope agent.
//! - Source rule (agentbudget): the same limits, one a check: steps, cost, time.
//! - Cost: a few comparisons; a walk over the last steps of the unit when the limit is passed.

use serde::Deserialize;
use smallvec::SmallVec;

use crate::lanes::{Amount, Limit, Meter, Order, View};
use crate::model::{AnomalyType, Confidence, Fact, Finding, Lack, Member, Name, Severity};

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

impl Scope {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Agent => "agent",
            Self::Turn => "turn",
        }
    }
}

/// The step judged, be it a call or an answer, in the unit that its budget is for.
pub(super) struct Judged<'a> {
    pub(super) member: Member,
    pub(super) order: Order,
    pub(super) meter: &'a Meter,
    /// Number of the turn, for a budget of a turn.
    pub(super) turn: u16,
    /// Whose step it is, beyond its parent, is not known, and would have to be.
    pub(super) unknown: bool,
}

impl<'a> Judged<'a> {
    pub(super) fn of(view: &View<'a>, scope: Scope) -> Option<Self> {
        let (member, order, unknown) = match (view.call(), view.reply()) {
            (Some(call), _) => (call.member(), call.order, call.lane_unknown),
            (None, Some(reply)) => (reply.member(), reply.order, false),
            (None, None) => return None,
        };
        let (turn, meter) = match scope {
            Scope::Session => (0, &view.ledger.meter),
            Scope::Agent => (0, &view.lane.meter),
            Scope::Turn => view.run.turns.of(member.start)?,
        };
        Some(Self {
            member,
            order,
            meter,
            turn,
            unknown: scope == Scope::Agent && (unknown || view.lane.unknown),
        })
    }

    fn amount(&self, rules: Rules) -> Amount {
        let source = rules == Rules::Source;
        self.meter.as_of(self.order, self.member.trace, source)
    }

    /// Within the budget, or at least not proved to exceed it.
    pub(super) fn within(&self) -> Judgement {
        if self.unknown {
            Judgement::NotAssessed(Lack::LaneUnknown)
        } else {
            Judgement::Quiet
        }
    }

    /// Whether there is nothing more to say of a limit.
    pub(super) fn is_told(&self, limit: Limit, rules: Rules) -> bool {
        rules == Rules::Aware && self.meter.has_passed(limit)
    }
}

/// The bare finding of a budget.
pub(super) fn finding(
    ready: &Ready,
    anomaly: AnomalyType,
    judged: (Member, u16),
    scope: Scope,
    reason: &'static str,
) -> Finding {
    let (member, turn) = judged;
    let limit = mix(
        hash(anomaly.name().as_bytes()),
        hash(scope.word().as_bytes()),
    );
    let limit = match reason {
        "exceeded" => limit,
        _ => mix(limit, hash(b"idle")),
    };
    Finding {
        anomaly,
        rule: 1,
        severity: ready.severity(Severity::Error),
        confidence: Confidence::Exact,
        reason: Some(reason),
        members: SmallVec::from_slice(&[member]),
        count: 1,
        tool: None,
        evidence_key: match scope {
            Scope::Turn => mix(limit, turn.into()),
            Scope::Session | Scope::Agent => limit,
        },
        shape: SmallVec::new(),
        facts: vec![("scope", Fact::Text(Name::from(scope.word())))],
        message: String::new(),
    }
}

/// A number of a proof.
pub(super) fn number(n: u64) -> Fact {
    Fact::Int(i64::try_from(n).unwrap_or(i64::MAX))
}

/// The calls of an agent up to the judged step: whose they are can still change while parents are missing.
fn show_calls(finding: &mut Finding, view: &View<'_>, member: Member) {
    finding.members = bounded(view.calls().iter());
    if finding.members.last().map(|last| last.span) != Some(member.span) {
        if finding.members.len() >= Finding::MEMBERS_MAX {
            finding.members.pop();
        }
        finding.members.push(member);
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
        let (Some(call), Some(judged)) = (view.call(), Judged::of(view, self.scope)) else {
            return Judgement::Quiet;
        };
        if judged.is_told(Limit::Steps, self.rules()) {
            return Judgement::Quiet;
        }
        if judged.meter.calls() <= self.max {
            return judged.within();
        }
        // What has arrived since, but stands behind the judged call, is not its affair.
        let calls = judged.amount(self.rules()).calls;
        if calls <= self.max {
            return judged.within();
        }
        let of = (judged.member, judged.turn);
        let mut finding = finding(&self.ready, self.anomaly(), of, self.scope, "exceeded");
        if self.scope == Scope::Agent {
            show_calls(&mut finding, view, judged.member);
        }
        finding.tool = Some(view.names.text(call.tool));
        finding.count = u32::try_from(calls).unwrap_or(u32::MAX);
        finding
            .facts
            .extend([("calls", number(calls)), ("max", number(self.max))]);
        finding.message = wording::message(format!(
            "{calls} tool calls in this {}, {} are allowed",
            self.scope.word(),
            self.max
        ));
        Judgement::Found(Box::new(finding))
    }

    fn is_near(&self, view: &View<'_>) -> Option<Limit> {
        let judged = view.call().and(Judged::of(view, self.scope))?;
        if judged.meter.is_near(Limit::Steps) || judged.meter.calls() * 5 < self.max * 4 {
            return None;
        }
        let calls = judged.amount(self.rules()).calls;
        (calls * 5 >= self.max * 4).then_some(Limit::Steps)
    }

    fn budget(&self) -> Option<Scope> {
        Some(self.scope)
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
        let Some(judged) = Judged::of(view, self.scope) else {
            return Judgement::Quiet;
        };
        if judged.is_told(Limit::Cost, self.rules()) {
            return Judgement::Quiet;
        }
        let amount = judged.amount(self.rules());
        if amount.usd <= self.max_usd {
            return if amount.unpriced > 0 && self.rules() == Rules::Aware {
                Judgement::NotAssessed(Lack::NoUsage)
            } else {
                judged.within()
            };
        }
        let of = (judged.member, judged.turn);
        let mut finding = finding(&self.ready, self.anomaly(), of, self.scope, "exceeded");
        if self.scope == Scope::Agent {
            show_calls(&mut finding, view, judged.member);
        }
        finding.facts.extend([
            ("cost_usd", Fact::Float(amount.usd)),
            ("max_usd", Fact::Float(self.max_usd)),
            ("priced", number(amount.priced)),
            ("unpriced", number(amount.unpriced)),
        ]);
        let unknown = match amount.unpriced {
            0 => String::new(),
            1 => "; the cost of 1 more step is not known".to_owned(),
            n => format!("; the cost of {n} more steps is not known"),
        };
        finding.message = wording::message(format!(
            "${} spent in this {}, ${} are allowed{unknown}",
            dollars(amount.usd),
            self.scope.word(),
            dollars(self.max_usd)
        ));
        Judgement::Found(Box::new(finding))
    }

    fn is_near(&self, view: &View<'_>) -> Option<Limit> {
        let judged = Judged::of(view, self.scope)?;
        if judged.meter.is_near(Limit::Cost) {
            return None;
        }
        let near = judged.amount(self.rules()).usd >= self.max_usd * 0.8;
        near.then_some(Limit::Cost)
    }

    fn budget(&self) -> Option<Scope> {
        Some(self.scope)
    }
}

/// Cents, and more places for what is less than a cent apart.
fn dollars(usd: f64) -> String {
    let cents = format!("{usd:.2}");
    match cents.parse::<f64>() {
        Ok(rounded) if (rounded - usd).abs() < 1e-9 => cents,
        _ => {
            let fine = format!("{usd:.6}");
            fine.trim_end_matches('0').to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Bench, finding, fires};
    use super::*;
    use crate::lanes::{Cost as Paid, Limit};

    fn steps(max: u64, scope: Scope) -> Steps {
        let config = StepsConfig {
            max: Some(max),
            scope,
            ..StepsConfig::default()
        };
        Steps::new(&config, Rules::Aware).unwrap()
    }

    fn cost(max_usd: f64, rules: Rules) -> Cost {
        let config = CostConfig {
            max_usd: Some(max_usd),
            ..CostConfig::default()
        };
        Cost::new(&config, rules).unwrap()
    }

    /// Calls that cost what is said.
    fn spending(costs: &[Paid]) -> Bench {
        let mut bench = Bench::default();
        for cost in costs {
            let call = bench.blank("a", "a");
            bench.push_paid(call, *cost);
        }
        bench
    }

    #[test]
    fn steps_are_counted_up_to_the_judged_call() {
        for scope in [Scope::Session, Scope::Agent, Scope::Turn] {
            assert_eq!(fires(&steps(2, scope), "a b c d"), [2, 3]);
            assert_eq!(fires(&steps(2, scope), "a b"), [] as [usize; 0]);
        }
        assert!(Steps::new(&StepsConfig::default(), Rules::Aware).is_none());
    }

    #[test]
    fn a_limit_is_told_once_and_announced_at_four_fifths() {
        let mut bench = Bench::of("a b c d e f");
        let steps = steps(5, Scope::Session);
        let near = |bench: &Bench, at| steps.is_near(&bench.view(crate::lanes::At::Call(at)));
        assert_eq!(near(&bench, 2), None);
        assert_eq!(near(&bench, 3), Some(Limit::Steps));
        bench.ledger.meter.note_passed(Limit::Steps);
        assert_eq!(bench.at(&steps, 5), Judgement::Quiet);
    }

    #[test]
    fn in_a_lane_of_unknown_agents_each_parent_counts_for_itself() {
        let mut bench = Bench::of("a b c");
        bench.lane.unknown = true;
        let steps = steps(2, Scope::Agent);
        let unknown = Judgement::NotAssessed(Lack::LaneUnknown);
        assert_eq!(bench.at(&steps, 1), unknown);
        assert!(
            finding(bench.at(&steps, 2)).is_some(),
            "one parent alone exceeds it"
        );
    }

    #[test]
    fn unknown_cost_is_not_zero() {
        let aware = cost(0.3, Rules::Aware);
        let paid = Paid::Known(0.1);
        let bench = spending(&[paid, paid, paid, paid]);
        assert_eq!(
            bench.at(&aware, 2),
            Judgement::Quiet,
            "three tenths are 0.3"
        );
        assert!(finding(bench.at(&aware, 3)).is_some());
        let source = cost(0.3, Rules::Source);
        assert!(finding(bench.at(&source, 2)).is_some(), "as doubles add up");

        let bench = spending(&[paid, Paid::Unknown, Paid::Known(0.25)]);
        assert_eq!(bench.at(&aware, 0), Judgement::Quiet);
        let lacking = Judgement::NotAssessed(Lack::NoUsage);
        assert_eq!(bench.at(&aware, 1), lacking);
        let found = finding(bench.at(&aware, 2)).unwrap();
        assert!(
            found.facts.contains(&("unpriced", Fact::Int(1))),
            "{found:?}"
        );
        assert_eq!(
            found.message,
            "$0.35 spent in this session, $0.30 are allowed; the cost of 1 more step is not known"
        );
        assert_eq!(dollars(0.012345), "0.012345");
    }
}
