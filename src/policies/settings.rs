//! Settings of policy (DESIGN 8, `processors.anomaly.policy`).

use std::time::Duration;

use serde::Deserialize;

use crate::model::units;

/// How findings become reports.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// After an episode has opened, another of equal type and evidence in the same lane stays quiet this long.
    #[serde(with = "units::duration")]
    pub cooldown: Duration,
    /// Every firing is reported, subject to cooldown, one a check (`rules: source`). Set from the
    /// processor's `rules`, not by a key of its own.
    #[serde(skip)]
    pub source: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            cooldown: Duration::from_secs(300),
            source: false,
        }
    }
}
