//! Findings that somebody has looked at and accepted (DESIGN 8, `processors.anomaly.ignore`).
//!
//! Invariant: an accepted finding takes part in episodes and cooldown like any other; only telling it is left out.

use globset::GlobMatcher;

use crate::model::{AnomalyType, Name, Report, Timestamp};

/// One entry of `ignore`.
#[derive(Clone, Debug)]
pub struct Ignore {
    /// Which entry it is, as written: counted from 1.
    pub entry: usize,
    /// Of which type.
    pub anomaly: AnomalyType,
    /// Which findings: see [`crate::model::fingerprint`].
    pub fingerprint: u64,
    /// From when on it does not apply any more; by arrival. `None`: it has no end.
    pub until: Option<Timestamp>,
    /// Why, for people.
    pub reason: Option<Name>,
    /// Only of services with such a `service.name`.
    pub service: Option<GlobMatcher>,
    /// Only of agents with such a name.
    pub agent: Option<GlobMatcher>,
    /// Only of tools with such a name.
    pub tool: Option<GlobMatcher>,
}

impl Ignore {
    /// Whether a finding is accepted by this entry at `now`.
    pub fn covers(&self, report: &Report, now: Timestamp) -> bool {
        let like = |glob: &Option<GlobMatcher>, text: Option<&Name>| {
            glob.as_ref()
                .is_none_or(|glob| text.is_some_and(|text| glob.is_match(&**text)))
        };
        self.fingerprint == report.fingerprint
            && self.anomaly == report.finding.anomaly
            && self.until.is_none_or(|until| now < until)
            && like(&self.service, Some(&report.service.name))
            && like(&self.agent, report.agent.as_ref())
            && like(&self.tool, report.finding.tool.as_ref())
    }
}

/// The line to paste under `processors.anomaly.ignore` so that findings like this one are not told any more.
/// `until: YYYY-MM-DD` may be added; the reason is for whoever reads it next.
pub fn ignore_line(report: &Report) -> String {
    format!(
        "- {{type: {}, fingerprint: {:016x}, reason: \"why this is fine\"}}",
        report.finding.anomaly, report.fingerprint,
    )
}
