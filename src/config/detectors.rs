//! Settings of the detectors: what cannot be, said where it stands. For the processor's own and for those
//! of an override alike.

use crate::detectors::{Rules, Settings, descriptor};
use crate::model::AnomalyType;

use super::problems::Problems;
use super::report::Problem;
use super::tree::{Entry, Node, Place};

/// The `detectors` of one place, as written.
pub(super) struct Written<'a> {
    /// The map, what it inherits included.
    pub(super) node: Option<&'a Node>,
    /// What is written here and not inherited: where to point first.
    pub(super) own: Option<&'a Node>,
    /// Where to point when nothing is written.
    pub(super) place: Place,
}

impl<'a> Written<'a> {
    /// The entry at the end of a path, or of the longest part of it that is written.
    fn find(&self, path: &[&str]) -> Option<&'a Entry> {
        let longest = |node: &'a Node| {
            (1..=path.len())
                .rev()
                .find_map(|depth| node.at(path.get(..depth)?))
        };
        let whole = |node: &'a Node| node.at(path);
        self.own
            .and_then(whole)
            .or_else(|| self.node.and_then(longest))
    }

    fn place(&self, path: &[&str]) -> Place {
        self.find(path).map_or(self.place, Entry::shown)
    }

    /// Reports everything that cannot be. `rules` is the processor's choice. Returns whether the family follows
    /// one kind of rules.
    pub(super) fn check(&self, settings: &Settings, rules: Rules, problems: &mut Problems) -> bool {
        let mut lacking = Vec::new();
        let mut mixed = None;
        for problem in settings.check(rules) {
            let path: Vec<&str> = problem.path.iter().map(String::as_str).collect();
            match path.as_slice() {
                [anomaly, "enabled"] => {
                    lacking.push((*anomaly).to_owned());
                    continue;
                }
                // One family, one problem, however many of its members differ.
                [_, "rules"] => {
                    mixed.get_or_insert(problem.message);
                    continue;
                }
                _ => {}
            }
            // "is 1, must be at least 2" needs its key in front.
            let message = if problem.message.starts_with("is ") {
                format!("`{}` {}", path.last().unwrap_or(&""), problem.message)
            } else {
                problem.message
            };
            let found = Problem::error(self.place(&path), message);
            problems.push(found.helps(problem.help));
        }
        self.lacking(&lacking, problems);
        let one_world = mixed.is_none();
        if let Some(message) = mixed {
            self.mixed(message, problems);
        }
        one_world
    }

    /// Types that this build lacks and that somebody wants: by their thresholds, or in so many words.
    fn lacking(&self, by_threshold: &[String], problems: &mut Problems) {
        for anomaly in AnomalyType::ALL {
            let name = anomaly.name();
            let enabled = self.node.and_then(|node| node.at(&[name, "enabled"]));
            let in_words = enabled.is_some_and(|entry| {
                !problems.is_dropped(entry.key_place) && entry.value.text() == Some("true")
            });
            let wanted = in_words || by_threshold.iter().any(|other| other == name);
            if wanted && !descriptor(anomaly).available {
                problems.push(
                    Problem::error(
                        self.place(&[name, "enabled"]),
                        format!("this build has no detector `{name}`"),
                    )
                    .help("set `enabled: false`, or leave it out; `agent-sentinel detectors` lists what there is"),
                );
            }
        }
    }

    fn mixed(&self, message: String, problems: &mut Problems) {
        let family: Vec<&str> = AnomalyType::ALL
            .iter()
            .filter(|anomaly| anomaly.family_rank().is_some())
            .map(|anomaly| anomaly.name())
            .collect();
        let written = |node: Option<&'a Node>| {
            let node = node?;
            family.iter().find_map(|name| node.at(&[name, "rules"]))
        };
        let entry = written(self.own).or_else(|| written(self.node));
        let place = entry.map_or(self.place, Entry::shown);
        problems.push(Problem::error(place, message).help(format!(
            "give {} the same rules, or set `rules` on the processor",
            family.join(", ")
        )));
    }
}
