//! The detectors, one file each. A detector has configuration and no state: it looks at a [`View`].
//!
//! Invariant: a verdict depends only on the view up to the step judged, so it can be asked again,
//! asked "what if", and asked late.

use serde::Deserialize;

use crate::lanes::View;
use crate::model::{AnomalyType, Finding, Lack};

/// What a detector says of one step.
#[derive(Clone, Debug, PartialEq)]
pub enum Judgement {
    /// Nothing to say.
    Quiet,
    /// It cannot tell, and this is what it lacks.
    NotAssessed(Lack),
    /// It found something.
    Found(Box<Finding>),
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

    /// Judges the step at `view.at`. Called for every call and every reply; must be cheap when quiet.
    fn judge(&self, view: &View<'_>) -> Judgement;
}

/// (placeholder until the detectors' own settings land)
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Settings {}
