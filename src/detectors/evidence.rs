//! What every finding says beside its own numbers: what was left out when its repeats were compared.
//!
//! Invariant: classes and counts alone, and only what really differed between two members that are one call.

use crate::lanes::{Call, View};
use crate::model::{Fact, Finding, Ignored, Leftout, Name};

/// Most facts of a finding.
const FACTS_MAX: usize = 12;

/// Puts in front what was ignored, where a finding rests on repeats.
pub(super) fn complete(finding: &mut Finding, view: &View<'_>) {
    if finding.anomaly.family_rank().is_none() {
        return;
    }
    let ignored = ignored(finding, view);
    if !ignored.is_empty() {
        let words = Fact::Class(Name::from(ignored.to_string()));
        finding.facts.insert(0, ("ignored", words));
        finding.facts.truncate(FACTS_MAX);
    }
}

/// The most of each kind that one answer, or one call, had to be freed of to be equal to another member.
fn ignored(finding: &Finding, view: &View<'_>) -> Ignored {
    let members = view.calls_of(&finding.members);
    let mut all = Ignored::default();
    for (at, call) in members.iter().enumerate() {
        let before = members.get(..at).unwrap_or_default();
        let same = |other: &&&Call| {
            other.tool == call.tool && other.key.is_some() && other.key == call.key
        };
        let Some(other) = before.iter().rev().find(same) else {
            continue;
        };
        let both = call.ignored.most(other.ignored);
        let answered = call.answer.known && other.answer.known;
        if answered && call.answer.raw != other.answer.raw {
            all = all.most(both.without(Leftout::Decoration));
        }
        if call.exact != other.exact {
            all = all.most(both.only(Leftout::Decoration));
        }
    }
    all
}
