//! What holds for the whole family of repetition when it is set for one of it.
//!
//! Invariant: the types of the family look at the same calls, and the next of kin would speak in the place
//! of one that is told to be silent. So an exemption of a tool (`ignore`, `poll`, `role`) holds for all of
//! them, and the tolerance of equal calls with equal answers (`threshold`) for the two that count these; a
//! type's own word about the same glob comes first. Only ever makes the family quieter.

use std::collections::BTreeMap;

use crate::model::AnomalyType;

use super::{Rules, Settings, ToolOverride};

type Tools = BTreeMap<String, ToolOverride>;

/// The settings as the family takes them; `None` when they are that already. `rules` is the processor's
/// choice: source rules stand each by itself.
pub(super) fn shared(settings: &Settings, rules: Rules) -> Option<Settings> {
    if settings.stuck.common().rules.unwrap_or(rules) == Rules::Source {
        return None;
    }
    let exempt = exemptions(settings);
    let stuck = &settings.stuck;
    let patient = stuck.common().judged() && stuck.threshold > settings.transition_repeat.repeats;
    if exempt.is_empty() && !patient {
        return None;
    }
    let mut settings = settings.clone();
    if patient {
        // A call that may be repeated so often may be so with others in between.
        settings.transition_repeat.repeats = settings.stuck.threshold;
    }
    take(&mut settings.stuck.tools, &exempt, true);
    take(&mut settings.transition_repeat.tools, &exempt, true);
    take(&mut settings.failure_loop.tools, &exempt, false);
    take(&mut settings.ping_pong.tools, &exempt, false);
    take(&mut settings.r#loop.tools, &exempt, false);
    Some(settings)
}

/// What any of the family exempts, by glob.
fn exemptions(settings: &Settings) -> Tools {
    let mut all = Tools::new();
    for anomaly in AnomalyType::ALL {
        let common = settings.common(anomaly);
        if anomaly.family_rank().is_none() || !common.judged() {
            continue;
        }
        for (glob, over) in common.tools {
            let of_all = all.entry(glob.clone()).or_default();
            of_all.ignore |= over.ignore;
            of_all.threshold = of_all.threshold.max(over.threshold);
            of_all.poll = of_all.poll.or(over.poll);
            of_all.role = of_all.role.or(over.role);
        }
    }
    all
}

fn take(own: &mut Tools, exempt: &Tools, counts: bool) {
    for (glob, over) in exempt {
        let mine = own.entry(glob.clone()).or_default();
        mine.ignore |= over.ignore;
        mine.poll = mine.poll.or(over.poll);
        mine.role = mine.role.or(over.role);
        if counts {
            mine.threshold = mine.threshold.max(over.threshold);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Settings {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn an_exemption_holds_for_the_family() {
        assert!(shared(&Settings::default(), Rules::Aware).is_none());
        let set = read(
            r#"{"ping_pong": {"tools": {"beat": {"ignore": true}}},
                "failure_loop": {"tools": {"flaky": {"threshold": 6}}},
                "stuck": {"tools": {"job": {"poll": true, "key": "tool"}}}}"#,
        );
        let all = shared(&set, Rules::Aware).unwrap();
        for anomaly in AnomalyType::ALL {
            let tools = all.common(anomaly).tools;
            if anomaly.family_rank().is_none() {
                assert!(tools.is_empty(), "{anomaly}");
                continue;
            }
            assert!(tools["beat"].ignore, "{anomaly}");
            assert_eq!(tools["job"].poll, Some(true), "{anomaly}");
        }
        assert_eq!(all.stuck.tools["flaky"].threshold, Some(6));
        assert_eq!(all.transition_repeat.tools["flaky"].threshold, Some(6));
        assert_eq!(all.r#loop.tools["flaky"].threshold, None);
        // What makes calls the same is a matter of each type.
        assert!(all.stuck.tools["job"].key.is_some());
        assert_eq!(all.r#loop.tools["job"].key, None);
    }

    #[test]
    fn one_told_to_be_patient_is_not_spoken_for() {
        let all = shared(&read(r#"{"stuck": {"threshold": 12}}"#), Rules::Aware).unwrap();
        assert_eq!(all.transition_repeat.repeats, 12);
        // Who is not judged says nothing about the others.
        let off = read(r#"{"stuck": {"enabled": false, "threshold": 12}}"#);
        assert!(shared(&off, Rules::Aware).is_none());
        // More tolerance than asked for is never taken away.
        assert!(
            shared(
                &read(r#"{"transition_repeat": {"repeats": 5}}"#),
                Rules::Aware
            )
            .is_none()
        );
        let source = read(r#"{"stuck": {"threshold": 12}}"#);
        assert!(shared(&source, Rules::Source).is_none());
    }
}
