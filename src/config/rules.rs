//! How each detector is set, in words, for those who look at a running process.

use std::collections::BTreeMap;

use crate::control::zpages::Rule;
use crate::detectors::{Descriptor, Rules};
use crate::engine;

/// All detectors, in the order in which they report. Which are on is the engine's to say.
pub(super) fn in_force(engine: &engine::Settings, written: &BTreeMap<String, String>) -> Vec<Rule> {
    let rule = |descriptor: &Descriptor| {
        let anomaly = descriptor.anomaly;
        Rule {
            anomaly,
            on: false,
            rules: match engine
                .detectors
                .common(anomaly)
                .rules
                .unwrap_or(engine.rules)
            {
                Rules::Aware => "aware",
                Rules::Source => "source",
            },
            summary: descriptor.summary,
            defaults: descriptor.defaults,
            set: written.get(anomaly.name()).cloned().unwrap_or_default(),
        }
    };
    Descriptor::ALL.iter().map(rule).collect()
}
