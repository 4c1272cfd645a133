//! One stretch of one anomaly in one place.

use std::hash::{BuildHasher, Hash, Hasher};

use smallvec::SmallVec;

use crate::model::{AnomalyType, Finding, Member, Name, Severity, Timestamp};

use super::{Moment, Place};

/// Keys that an episode of the family covers at most.
const KEYS_MAX: usize = 16;
/// Doublings of the onset count at which an episode is reported again: 2, 4, 8 and 16 times.
const RAISES_MAX: u8 = 4;

/// An episode. It opens with its first finding, may be raised, and closes by steps that do not belong.
#[derive(Clone, Debug)]
pub struct Episode {
    /// Stable id: place, type and evidence (in the family tool and shape).
    pub id: u64,
    /// Its type; an open episode keeps it.
    pub anomaly: AnomalyType,
    /// `n` of the rule name of its first finding: with its type and tool what its reports are called by, however
    /// it goes on.
    pub rule: u8,
    /// Tool of its first finding.
    pub tool: Option<Name>,
    /// Evidence key of its first finding.
    pub evidence: u64,
    /// Keys of the calls it covers (A8); empty outside the family.
    pub keys: SmallVec<[u64; 4]>,
    /// Count of its first finding.
    pub onset_count: u32,
    /// Count by now.
    pub count: u32,
    /// How often it was raised.
    pub raises: u8,
    /// Severity of the last report.
    pub severity: Severity,
    /// The first step of its first finding.
    pub onset: Member,
    /// Where the run stood at its first finding.
    pub at_onset: Moment,
    /// Event time of its onset, for the cooldown.
    pub opened: Timestamp,
    /// Not closed yet.
    pub is_open: bool,
    /// Steps in a row that did not belong.
    pub outside: u8,
    /// So many of them close it.
    pub close_after: u8,
}

impl Episode {
    /// The name of the rule of its first finding, as `stuck/1`.
    pub fn rule_name(&self) -> String {
        format!("{}/{}", self.anomaly, self.rule)
    }

    pub(super) fn open(place: Place, finding: &Finding, severity: Severity, at: Moment) -> Self {
        let onset = finding
            .members
            .first()
            .or_else(|| finding.judged())
            .copied();
        Self {
            id: episode_id(place, finding),
            anomaly: finding.anomaly,
            rule: finding.rule,
            tool: finding.tool.clone(),
            evidence: finding.evidence_key,
            keys: finding.shape.clone(),
            onset_count: finding.count.max(1),
            count: finding.count.max(1),
            raises: 0,
            severity,
            onset: onset.unwrap_or(at.member),
            at_onset: at,
            opened: at.member.end,
            is_open: true,
            outside: 0,
            close_after: u8::try_from(finding.count.clamp(3, 10)).unwrap_or(3),
        }
    }

    /// Whether a finding continues this episode.
    pub(super) fn continues(&self, finding: &Finding) -> bool {
        if self.anomaly.family_rank().is_none() {
            return self.anomaly == finding.anomaly && self.evidence == finding.evidence_key;
        }
        finding.anomaly.family_rank().is_some() && self.covers(finding)
    }

    /// Whether a later onset would be of equal type and evidence (cooldown).
    pub(super) fn equals(&self, finding: &Finding) -> bool {
        self.anomaly == finding.anomaly
            && (self.evidence == finding.evidence_key
                || (self.anomaly.family_rank().is_some() && self.covers(finding)))
    }

    fn covers(&self, finding: &Finding) -> bool {
        finding.shape.iter().any(|key| self.keys.contains(key))
            || (finding.shape.is_empty() && self.evidence == finding.evidence_key)
    }

    pub(super) fn take_keys(&mut self, finding: &Finding) {
        for key in &finding.shape {
            if self.keys.len() < KEYS_MAX && !self.keys.contains(key) {
                self.keys.push(*key);
            }
        }
    }

    /// Whether the count calls for another report, which it then notes.
    pub(super) fn raise(&mut self) -> bool {
        let due = self.next_raise().is_some_and(|next| self.count >= next);
        self.raises += u8::from(due);
        due
    }

    /// The count at which it is reported again; `None` when it never is.
    pub(super) fn next_raise(&self) -> Option<u32> {
        match self.anomaly {
            AnomalyType::ToolHallucination | AnomalyType::InvalidArgs => {
                (self.raises == 0).then_some(3)
            }
            AnomalyType::BudgetSteps
            | AnomalyType::BudgetCost
            | AnomalyType::BudgetTime
            | AnomalyType::NovelHost
            | AnomalyType::PrematureVictory => None,
            _ => (self.raises < RAISES_MAX).then(|| {
                self.onset_count
                    .saturating_mul(2 << self.raises.min(RAISES_MAX))
            }),
        }
    }
}

fn episode_id(place: Place, finding: &Finding) -> u64 {
    let mut hasher = foldhash::quality::FixedState::with_seed(0x0e91_50de).build_hasher();
    place.hash(&mut hasher);
    if finding.anomaly.family_rank().is_none() {
        finding.anomaly.hash(&mut hasher);
        finding.evidence_key.hash(&mut hasher);
    } else {
        finding.tool.hash(&mut hasher);
        finding.shape.hash(&mut hasher);
    }
    hasher.finish()
}
