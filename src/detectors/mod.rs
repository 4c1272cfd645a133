//! The detectors, one file each. A detector has configuration and no state: it looks at a [`View`].
//!
//! Invariant: a verdict depends only on the view up to the step judged, so it can be asked again,
//! asked "what if", and asked late.

use serde::Deserialize;

use crate::lanes::{Limit, View};
use crate::model::{AnomalyType, Finding, Lack};

mod absent;
mod budget_time;
mod budgets;
mod descriptors;
mod empty_response;
mod error_rate;
mod evidence;
mod explain;
mod failure_loop;
mod family;
mod freshness;
mod goal_drift;
mod invalid_args;
#[path = "loop.rs"]
mod loops;
mod novel_host;
mod patterns;
mod per_tool;
mod ping_pong;
mod premature_victory;
#[cfg(test)]
mod properties;
mod ranges;
mod ready;
mod repeats;
mod rows;
mod scope_escape;
mod settings;
mod stuck;
mod stutter;
mod table;
mod tables;
#[cfg(test)]
mod testing;
mod tool_hallucination;
mod transition_repeat;
mod wants;
mod wording;
mod write_storm;

pub use absent::absent;
pub use budget_time::{Overrun, TimeBudget, TimeConfig};
pub use budgets::{CostConfig, Scope, StepsConfig};
pub use descriptors::{Descriptor, descriptor, markdown};
pub use empty_response::Config as EmptyResponseConfig;
pub use error_rate::{Config as ErrorRateConfig, Unit};
pub use explain::{explain, looks_of_call, looks_of_reply};
pub use failure_loop::Config as FailureLoopConfig;
pub use goal_drift::Config as GoalDriftConfig;
pub use invalid_args::Config as InvalidArgsConfig;
pub use loops::Config as LoopConfig;
pub use novel_host::Config as NovelHostConfig;
pub use per_tool::judges_calls;
pub use ping_pong::Config as PingPongConfig;
pub use premature_victory::Config as PrematureVictoryConfig;
pub use ranges::{Key, keys, unheeded};
pub use scope_escape::Config as ScopeEscapeConfig;
pub use settings::{Common, KeyBy, Problem, Settings, ToolOverride};
pub use stuck::Config as StuckConfig;
pub use stutter::Config as StutterConfig;
pub use table::{Table, Told, Verdicts};
pub use tables::{Choice, Override, Tables, Who};
pub use tool_hallucination::Config as ToolHallucinationConfig;
pub use transition_repeat::Config as TransitionRepeatConfig;
pub use write_storm::Config as WriteStormConfig;

/// What a detector says of one step.
#[derive(Clone, Debug, PartialEq)]
pub enum Judgement {
    /// Nothing to say.
    Quiet,
    /// It cannot tell, and this is what it lacks.
    NotAssessed(Lack),
    /// It found something.
    Found(Box<Finding>),
    /// It found several things on one step, each with evidence of its own (three unknown tools in one answer).
    Several(Vec<Finding>),
}

impl Judgement {
    /// Any number of findings.
    fn of(mut findings: Vec<Finding>) -> Self {
        match findings.len() {
            0 => Self::Quiet,
            1 => findings
                .pop()
                .map_or(Self::Quiet, |one| Self::Found(Box::new(one))),
            _ => Self::Several(findings),
        }
    }
}

/// Which world a rule lives in (DESIGN 6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rules {
    /// What real runs taught.
    #[default]
    Aware,
    /// Exactly as the source system does it.
    Source,
}

/// One rule about steps.
pub trait Detector: std::fmt::Debug + Send + Sync {
    /// Which type it reports.
    fn anomaly(&self) -> AnomalyType;

    /// Which of its rules is in force.
    fn rules(&self) -> Rules;

    /// How many calls of a lane it looks back over, the judged one included.
    fn window(&self) -> usize {
        0
    }

    /// The limit that the step brings near: four fifths of it, announced once. For budgets.
    fn is_near(&self, _view: &View<'_>) -> Option<Limit> {
        None
    }

    /// What the budget is for, where it is one.
    fn budget(&self) -> Option<Scope> {
        None
    }

    /// Judges the step at `view.at`. Called for every call and every reply; must be cheap when quiet.
    fn judge(&self, view: &View<'_>) -> Judgement;

    /// Judges a lane once its run is over, for what no step of its own could show: that something which was
    /// asked for never came. The view stands at the lane's last reply.
    fn judge_end(&self, _view: &View<'_>) -> Judgement {
        Judgement::Quiet
    }
}
