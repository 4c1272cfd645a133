//! Which findings of one step are reported, and as what.

use crate::model::{AnomalyType, EpisodeState, Finding, Severity};

use super::{Admitted, Episode, Moment, Place, Settings};

/// Closed episodes remembered in one place, for the cooldown.
const REMEMBERED_MAX: usize = 32;

pub(super) fn admit(
    settings: &Settings,
    episodes: &mut Vec<Episode>,
    place: Place,
    findings: Vec<Finding>,
    at: Moment,
) -> Vec<Admitted> {
    if settings.source {
        return findings
            .into_iter()
            .filter_map(|finding| every_firing(settings, episodes, place, finding, at))
            .collect();
    }
    let (mut family, others): (Vec<_>, Vec<_>) = findings
        .into_iter()
        .partition(|finding| finding.anomaly.family_rank().is_some());
    family.sort_by_key(|finding| std::cmp::Reverse(finding.anomaly.family_rank()));
    let mut admitted = Vec::new();
    if !family.is_empty() {
        admitted.extend(one_of_family(settings, episodes, place, family, at));
    }
    for finding in others {
        admitted.extend(one(settings, episodes, place, finding, Vec::new(), at));
    }
    episodes.retain(|episode| {
        episode.is_open || at.member.end.since(episode.opened) <= settings.cooldown
    });
    if episodes.len() > REMEMBERED_MAX {
        let oldest = episodes
            .iter()
            .position(|episode| !episode.is_open)
            .unwrap_or(0);
        episodes.remove(oldest);
    }
    admitted
}

/// `rules: source`: every firing, unless one of its type was reported less than the cooldown ago.
fn every_firing(
    settings: &Settings,
    episodes: &mut Vec<Episode>,
    place: Place,
    finding: Finding,
    at: Moment,
) -> Option<Admitted> {
    let last = episodes
        .iter()
        .position(|episode| episode.anomaly == finding.anomaly);
    if let Some(last) = last.and_then(|at| episodes.get(at))
        && at.member.end.since(last.opened) < settings.cooldown
    {
        return None;
    }
    if let Some(last) = last {
        episodes.swap_remove(last);
    }
    let severity = finding.severity;
    let mut episode = Episode::open(place, &finding, severity, at);
    episode.is_open = false;
    episodes.push(episode.clone());
    Some(Admitted {
        finding,
        also: Vec::new(),
        state: EpisodeState::Opened,
        severity,
        episode,
    })
}

/// The most specific of the family speaks; an open episode that covers any of them keeps its type.
fn one_of_family(
    settings: &Settings,
    episodes: &mut Vec<Episode>,
    place: Place,
    mut family: Vec<Finding>,
    at: Moment,
) -> Option<Admitted> {
    let open = episodes
        .iter()
        .find(|episode| episode.is_open && family.iter().any(|finding| episode.continues(finding)));
    let keeps = open.map(|episode| episode.anomaly);
    let speaks = keeps
        .and_then(|kept| family.iter().position(|finding| finding.anomaly == kept))
        .unwrap_or(0);
    let shapes: Vec<_> = family
        .iter()
        .flat_map(|finding| finding.shape.clone())
        .collect();
    let also: Vec<AnomalyType> = family
        .iter()
        .map(|finding| finding.anomaly)
        .filter(|anomaly| *anomaly != keeps.unwrap_or_else(|| top(&family)))
        .collect();
    let mut finding = family.swap_remove(speaks);
    for key in shapes {
        if keeps.is_some() && finding.shape.len() < 16 && !finding.shape.contains(&key) {
            finding.shape.push(key);
        }
    }
    one(settings, episodes, place, finding, also, at)
}

fn top(family: &[Finding]) -> AnomalyType {
    family
        .first()
        .map_or(AnomalyType::Stuck, |finding| finding.anomaly)
}

fn one(
    settings: &Settings,
    episodes: &mut Vec<Episode>,
    place: Place,
    finding: Finding,
    also: Vec<AnomalyType>,
    at: Moment,
) -> Option<Admitted> {
    if let Some(episode) = episodes
        .iter_mut()
        .find(|e| e.is_open && e.continues(&finding))
    {
        return continued(episode, finding, also);
    }
    let cooling = episodes.iter().any(|episode| {
        episode.equals(&finding) && at.member.end.since(episode.opened) < settings.cooldown
    });
    if cooling {
        return None;
    }
    let severity = finding.severity;
    let episode = Episode::open(place, &finding, severity, at);
    episodes.push(episode.clone());
    Some(Admitted {
        finding,
        also,
        state: EpisodeState::Opened,
        severity,
        episode,
    })
}

fn continued(
    episode: &mut Episode,
    mut finding: Finding,
    also: Vec<AnomalyType>,
) -> Option<Admitted> {
    let same = finding.anomaly == episode.anomaly;
    let counted = if same && finding.count > episode.count {
        finding.count
    } else {
        0
    };
    episode.count = counted.max(episode.count.saturating_add(1));
    episode.outside = 0;
    episode.take_keys(&finding);
    if !episode.raise() {
        return None;
    }
    let severity = raised_severity(episode.anomaly, episode.severity.max(finding.severity));
    episode.severity = severity;
    finding.anomaly = episode.anomaly;
    finding.count = episode.count;
    let episode = episode.clone();
    Some(Admitted {
        finding,
        also,
        state: EpisodeState::Raised,
        severity,
        episode,
    })
}

/// Raising makes a warning of the family an error, and an info of the tool checks a warning. What is info
/// for want of evidence (A2) stays info however long it lasts.
fn raised_severity(anomaly: AnomalyType, severity: Severity) -> Severity {
    match anomaly {
        AnomalyType::ToolHallucination | AnomalyType::InvalidArgs => {
            severity.max(Severity::Warning)
        }
        _ if anomaly.family_rank().is_some() && severity >= Severity::Warning => severity.raised(),
        _ => severity,
    }
}
