//! All episodes of all places. Only the accused take memory: a place without findings has no entry.

use foldhash::quality::RandomState;
use hashbrown::HashMap;

use crate::model::{AnomalyType, Bill, EpisodeState, Finding, Member, Severity, TraceId};

use super::{Episode, Settings};

/// Where episodes live: the scope of a detector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// One agent of one run.
    Lane(TraceId, u16),
    /// One run as a whole, and which of its steps count.
    Run(TraceId, Steps),
    /// One conversation, by the number of its id, and which of its steps count.
    Conversation(u64, Steps),
}

/// Which steps a place is about: steps of the other kind go by unnoticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Steps {
    /// Tool calls.
    Calls,
    /// Model answers and outputs of runs.
    Replies,
}

/// Where a run stands when a step is judged.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The step judged.
    pub member: Member,
    /// Its turn.
    pub turn: u16,
    /// Calls of the run so far.
    pub calls: u32,
    /// What the run has spent by then; `None` when that is too long ago to tell.
    pub spent: Option<Bill>,
}

/// A finding that is let out.
#[derive(Clone, Debug)]
pub struct Admitted {
    /// The finding.
    pub finding: Finding,
    /// Kin of the family on the same step.
    pub also: Vec<AnomalyType>,
    /// Opened or raised.
    pub state: EpisodeState,
    /// Severity after raising.
    pub severity: Severity,
    /// The episode as it stands.
    pub episode: Episode,
}

/// How a finding would stand with the episodes of its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It would open an episode.
    New,
    /// It belongs to one that is open.
    Continues {
        /// The episode's type.
        anomaly: AnomalyType,
        /// Its count by now.
        count: u32,
        /// The count at which it is reported again; `None` when it never is.
        next: Option<u32>,
    },
    /// The same was reported not long ago.
    Cooling {
        /// How much longer it stays quiet.
        seconds: u64,
    },
}

/// The episodes of all places.
#[derive(Debug)]
pub struct Desk {
    pub(super) settings: Settings,
    pub(super) places: HashMap<Place, Vec<Episode>, RandomState>,
    open: [u64; AnomalyType::ALL.len()],
}

impl Desk {
    /// An empty desk.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            places: HashMap::default(),
            open: [0; AnomalyType::ALL.len()],
        }
    }

    /// Open episodes of one type, for the gauge.
    pub fn open(&self, anomaly: AnomalyType) -> u64 {
        self.open
            .get(usize::from(anomaly as u8))
            .copied()
            .unwrap_or(0)
    }

    /// Hands in what was found on one step of a place; returns what is to be reported. The findings of
    /// several types on one step belong in one call, so that kin can be told.
    pub fn admit(&mut self, place: Place, findings: Vec<Finding>, at: Moment) -> Vec<Admitted> {
        if findings.is_empty() {
            return Vec::new();
        }
        let mut episodes = self.places.remove(&place).unwrap_or_default();
        self.count_open(&episodes, false);
        let admitted = super::admit::admit(&self.settings, &mut episodes, place, findings, at);
        self.count_open(&episodes, true);
        self.places.insert(place, episodes);
        admitted
    }

    /// Notes what a run had spent when the first step of an episode started: known only once it has opened.
    pub fn note_onset(&mut self, place: Place, episode: u64, spent: Option<Bill>) {
        let episodes = self.places.get_mut(&place);
        let mut all = episodes.into_iter().flatten();
        if let Some(known) = all.find(|one| one.is_open && one.id == episode) {
            known.at_onset.spent = spent;
        }
    }

    /// What handing these in would report. Changes nothing.
    pub fn would_admit(&self, place: Place, findings: Vec<Finding>, at: Moment) -> Vec<Admitted> {
        let mut episodes = self.places.get(&place).cloned().unwrap_or_default();
        super::admit::admit(&self.settings, &mut episodes, place, findings, at)
    }

    /// How a finding would stand here. For explanations: it costs a walk over the place's episodes.
    pub fn standing(&self, place: Place, finding: &Finding, at: Moment) -> Standing {
        let episodes = self.places.get(&place).map_or(&[][..], Vec::as_slice);
        let open = episodes.iter().find(|e| e.is_open && e.continues(finding));
        if let Some(episode) = open.filter(|_| !self.settings.source) {
            return Standing::Continues {
                anomaly: episode.anomaly,
                count: episode.count,
                next: episode.next_raise(),
            };
        }
        let cooling = episodes.iter().rev().find_map(|episode| {
            let same = if self.settings.source {
                episode.anomaly == finding.anomaly
            } else {
                episode.equals(finding)
            };
            let age = at.member.end.since(episode.opened);
            (same && age < self.settings.cooldown).then(|| self.settings.cooldown - age)
        });
        match cooling {
            Some(left) => Standing::Cooling {
                seconds: left.as_secs(),
            },
            None => Standing::New,
        }
    }

    /// A step of a place went by: with `key`, the call's; without, nothing of the family. Episodes to which
    /// it does not belong come nearer to their end.
    pub fn pass(&mut self, place: Place, key: Option<u64>, found: &[AnomalyType], turn: u16) {
        let Some(episodes) = self.places.get_mut(&place) else {
            return;
        };
        for episode in episodes.iter_mut().filter(|episode| episode.is_open) {
            let belongs = match episode.anomaly.family_rank() {
                Some(_) => key.is_some_and(|key| episode.keys.contains(&key)),
                None => found.contains(&episode.anomaly),
            };
            episode.outside = if belongs {
                0
            } else {
                episode.outside.saturating_add(1)
            };
            if turn != episode.at_onset.turn || episode.outside >= episode.close_after {
                episode.is_open = false;
                if let Some(open) = self.open.get_mut(usize::from(episode.anomaly as u8)) {
                    *open = open.saturating_sub(1);
                }
            }
        }
    }

    /// Forgets a place: its run was closed.
    pub fn forget(&mut self, place: Place) {
        if let Some(episodes) = self.places.remove(&place) {
            self.count_open(&episodes, false);
        }
    }

    fn count_open(&mut self, episodes: &[Episode], add: bool) {
        for episode in episodes.iter().filter(|episode| episode.is_open) {
            if let Some(open) = self.open.get_mut(usize::from(episode.anomaly as u8)) {
                *open = if add {
                    *open + 1
                } else {
                    open.saturating_sub(1)
                };
            }
        }
    }
}
