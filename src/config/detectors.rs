//! Settings of the detectors: what cannot be, said where it stands. For the processor's own and for those
//! of an override alike.

use crate::detectors::{self, Rules, Settings, descriptor};
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
        self.without_limit(settings, problems);
        self.numbers(settings, rules, problems);
        self.unheeded(settings, rules, problems);
        let one_world = mixed.is_none();
        if let Some(message) = mixed {
            self.mixed(message, problems);
        }
        one_world
    }

    /// Budgets that somebody wants in so many words, and that have nothing to watch.
    fn without_limit(&self, settings: &Settings, problems: &mut Problems) {
        let time = &settings.budget_time;
        let limits = [
            (
                "budget_steps",
                "max",
                "200",
                settings.budget_steps.max.is_some(),
            ),
            (
                "budget_cost",
                "max_usd",
                "5",
                settings.budget_cost.max_usd.is_some(),
            ),
            (
                "budget_time",
                "max",
                "30m",
                time.max.is_some() || time.idle.is_some(),
            ),
        ];
        for (name, key, example, limited) in limits {
            let wanted = self.node.and_then(|node| node.at(&[name, "enabled"]));
            let wanted = wanted.filter(|entry| entry.value.text() == Some("true"));
            // A limit that is wrong has been reported.
            let tried = self
                .node
                .and_then(|node| node.at(&[name]))
                .is_some_and(|budget| {
                    let mut keys = budget.value.entries().iter();
                    keys.any(|e| {
                        problems.is_dropped(e.key_place) || problems.is_dropped(e.value.place)
                    })
                });
            if let Some(entry) = wanted
                && !limited
                && !tried
            {
                problems.push(
                    Problem::error(
                        entry.shown(),
                        format!("`{name}` has no limit: nothing would be watched"),
                    )
                    .help(format!(
                        "write {name}: {{{key}: {example}}}, or leave `enabled` out"
                    )),
                );
            }
        }
    }

    /// Numbers that are none: what would be one stands in the table of ranges.
    fn numbers(&self, settings: &Settings, rules: Rules, problems: &mut Problems) {
        for key in detectors::keys() {
            let path = [key.anomaly.name(), key.key];
            let own = self.own.and_then(|node| node.at(&path));
            let Some(entry) = own.or_else(|| self.node.and_then(|node| node.at(&path))) else {
                continue;
            };
            if problems.is_dropped(entry.key_place) {
                let in_force = settings.common(key.anomaly).rules.unwrap_or(rules);
                problems.expect(entry.shown(), &key.range(in_force).words());
            }
        }
    }

    /// Keys that mean nothing under the rules in force.
    fn unheeded(&self, settings: &Settings, rules: Rules, problems: &mut Problems) {
        for (path, heeded_by) in detectors::unheeded(settings, rules) {
            let own = self.own.and_then(|node| node.at(&path));
            let Some(entry) = own.or_else(|| self.node.and_then(|node| node.at(&path))) else {
                continue;
            };
            let (name, key) = (path[0], path[1]);
            let word = match heeded_by {
                Rules::Aware => "aware",
                Rules::Source => "source",
            };
            let message = format!("`{key}` of `{name}` means nothing but with `rules: {word}`");
            problems.push(
                Problem::warning(entry.shown(), message).help("leave it out, or set the rules"),
            );
        }
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
