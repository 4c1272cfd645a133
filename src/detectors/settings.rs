//! What can be configured about the detectors: one field a type, each detector's own [`Config`](super::StuckConfig)
//! beside it.
//!
//! Invariant: every one of the 18 type names is a key; each default number stands in one place, the
//! detector's `Config`.

use std::collections::BTreeMap;

use globset::Glob;
use serde::Deserialize;

use crate::model::{AnomalyType, Emit, Role, Severity};

use super::{Rules, descriptor};

/// Settings of all detectors: `processors.anomaly.detectors`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The same call again and again.
    pub stuck: super::StuckConfig,
    /// The same failing call again and again.
    pub failure_loop: super::FailureLoopConfig,
    /// Two calls in turn.
    pub ping_pong: super::PingPongConfig,
    /// A longer cycle of calls.
    pub r#loop: super::LoopConfig,
    /// One call-and-answer pair recurring in a window.
    pub transition_repeat: super::TransitionRepeatConfig,
    /// Model answers without content.
    pub empty_response: super::EmptyResponseConfig,
    /// Too large a share of failed calls.
    pub error_rate: super::ErrorRateConfig,
    /// A claim of completion without fresh proof.
    pub premature_victory: super::PrematureVictoryConfig,
    /// Text that repeats itself.
    pub stutter: super::StutterConfig,
    /// A call to a tool that is not defined.
    pub tool_hallucination: super::ToolHallucinationConfig,
    /// Arguments that are no JSON or break the tool's schema.
    pub invalid_args: super::InvalidArgsConfig,
    /// Work that has left the goal.
    pub goal_drift: super::GoalDriftConfig,
    /// A write outside the workspace.
    pub scope_escape: super::ScopeEscapeConfig,
    /// Too many writes in a window.
    pub write_storm: super::WriteStormConfig,
    /// Contact with a host not known.
    pub novel_host: super::NovelHostConfig,
    /// More tool calls than allowed.
    pub budget_steps: super::StepsConfig,
    /// More money than allowed.
    pub budget_cost: super::CostConfig,
    /// More time than allowed.
    pub budget_time: super::TimeConfig,
}

/// What all detectors have in common.
#[derive(Clone, Copy, Debug)]
pub struct Common<'a> {
    /// Judge at all.
    pub enabled: bool,
    /// Severity of every finding, in place of the rule's own.
    pub severity: Option<Severity>,
    /// Which rule, in place of the processor's choice.
    pub rules: Option<Rules>,
    /// How far its findings are told.
    pub emit: Option<Emit>,
    /// Overrides for single tools, by glob.
    pub tools: &'a BTreeMap<String, ToolOverride>,
}

impl Common<'_> {
    /// Whether it is judged.
    pub fn judged(&self) -> bool {
        self.enabled && self.emit != Some(Emit::Off)
    }
}

/// What one detector does differently for tools whose name matches a glob; a plain name wins over
/// patterns, a longer pattern over a shorter one.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolOverride {
    /// Repeats needed, in place of the detector's own threshold.
    pub threshold: Option<u32>,
    /// The tool asks for new output of something that runs (A3), or does not although it looks so.
    pub poll: Option<bool>,
    /// Calls of the tool are not looked at.
    pub ignore: bool,
    /// What kind of tool it is, for this detector.
    pub role: Option<Role>,
    /// What makes two calls the same.
    pub key: Option<KeyBy>,
}

/// What makes two calls of a tool the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyBy {
    /// Tool and arguments.
    #[default]
    Call,
    /// The tool alone, whatever its arguments.
    Tool,
}

/// Something in the settings that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Keys below `detectors` that lead to it, as `stuck`, `threshold`.
    pub path: Vec<String>,
    /// What is wrong.
    pub message: String,
    /// What is allowed, where the message does not say it.
    pub help: Option<String>,
}

impl Problem {
    /// A problem at a path of keys that are separated by dots.
    pub(super) fn new(path: &str, message: impl Into<String>) -> Self {
        Self {
            path: path.split('.').map(str::to_owned).collect(),
            message: message.into(),
            help: None,
        }
    }

    /// With what is allowed.
    pub(super) fn helped(self, help: String) -> Self {
        Self {
            help: Some(help),
            ..self
        }
    }

    /// A problem of what one detector does differently for some tools, and of one key of it.
    pub(super) fn of_tool(
        anomaly: AnomalyType,
        glob: &str,
        key: Option<&str>,
        message: impl Into<String>,
    ) -> Self {
        let path = [anomaly.name(), "tools", glob].into_iter().chain(key);
        Self {
            path: path.map(str::to_owned).collect(),
            message: message.into(),
            help: None,
        }
    }
}

/// How globs are written.
const GLOBS: &str =
    "`*` stands for any text, `?` for one character, `[ab]` and `{a,b}` for one of several";

impl Settings {
    /// The common part of one type's settings.
    pub fn common(&self, anomaly: AnomalyType) -> Common<'_> {
        match anomaly {
            AnomalyType::Stuck => self.stuck.common(),
            AnomalyType::FailureLoop => self.failure_loop.common(),
            AnomalyType::PingPong => self.ping_pong.common(),
            AnomalyType::Loop => self.r#loop.common(),
            AnomalyType::TransitionRepeat => self.transition_repeat.common(),
            AnomalyType::EmptyResponse => self.empty_response.common(),
            AnomalyType::ErrorRate => self.error_rate.common(),
            AnomalyType::PrematureVictory => self.premature_victory.common(),
            AnomalyType::Stutter => self.stutter.common(),
            AnomalyType::ToolHallucination => self.tool_hallucination.common(),
            AnomalyType::InvalidArgs => self.invalid_args.common(),
            AnomalyType::GoalDrift => self.goal_drift.common(),
            AnomalyType::ScopeEscape => self.scope_escape.common(),
            AnomalyType::WriteStorm => self.write_storm.common(),
            AnomalyType::NovelHost => self.novel_host.common(),
            AnomalyType::BudgetSteps => self.budget_steps.common(),
            AnomalyType::BudgetCost => self.budget_cost.common(),
            AnomalyType::BudgetTime => self.budget_time.common(),
        }
    }

    /// All that cannot be in these settings: types that this build lacks, numbers out of range, globs that
    /// are none, one family under two kinds of rules. `rules` is the processor's choice.
    pub fn check(&self, rules: Rules) -> Vec<Problem> {
        let mut problems = Vec::new();
        for anomaly in AnomalyType::ALL {
            let common = self.common(anomaly);
            if common.enabled && !descriptor(anomaly).available {
                problems.push(Problem::new(
                    &format!("{anomaly}.enabled"),
                    format!("this build has no detector `{anomaly}`; set `enabled: false`"),
                ));
            }
            for glob in common.tools.keys() {
                let message = match Glob::new(glob) {
                    Err(error) => format!("`{glob}` is no glob: {}", error.kind()),
                    Ok(_) if glob.is_empty() => "an empty text matches no tool".to_owned(),
                    Ok(_) => continue,
                };
                let problem = Problem::of_tool(anomaly, glob, None, message);
                problems.push(problem.helped(GLOBS.to_owned()));
            }
        }
        super::per_tool::check(self, rules, &mut problems);
        self.check_family(rules, &mut problems);
        super::ranges::check(self, rules, &mut problems);
        let hosts = self.novel_host.rules.unwrap_or(rules);
        for (key, message) in self.novel_host.wrong(hosts) {
            problems.push(Problem::new(&format!("novel_host.{key}"), message));
        }
        problems
    }

    fn check_family(&self, rules: Rules, problems: &mut Vec<Problem>) {
        let in_force = |anomaly| self.common(anomaly).rules.unwrap_or(rules);
        let family = || {
            AnomalyType::ALL
                .into_iter()
                .filter(|anomaly| anomaly.family_rank().is_some())
                .filter(|anomaly| self.common(*anomaly).enabled)
        };
        let Some(first) = family().next() else { return };
        for other in family().filter(|other| in_force(*other) != in_force(first)) {
            problems.push(Problem::new(
                &format!("{other}.rules"),
                format!(
                    "`{other}` and `{first}` belong to one family and cannot follow different rules"
                ),
            ));
        }
    }
}

/// Writes a detector's `Config`: its own keys with their defaults, and the common ones.
macro_rules! config {
    ($(#[$meta:meta])* pub struct $name:ident (enabled: $enabled:expr) {
        $( $(#[$field_meta:meta])* $field:ident : $ty:ty = $default:expr, )*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            /// Judge at all.
            pub enabled: bool,
            /// Severity of every finding, in place of the rule's own.
            pub severity: Option<crate::model::Severity>,
            /// Which rule, in place of the processor's choice.
            pub rules: Option<crate::detectors::Rules>,
            /// How far its findings are told.
            pub emit: Option<crate::model::Emit>,
            /// Overrides for single tools, by glob.
            pub tools: std::collections::BTreeMap<String, crate::detectors::ToolOverride>,
            $( $(#[$field_meta])* pub $field: $ty, )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    enabled: $enabled,
                    severity: None,
                    rules: None,
                    emit: None,
                    tools: std::collections::BTreeMap::new(),
                    $( $field: $default, )*
                }
            }
        }

        impl $name {
            /// The part that all detectors have in common.
            pub fn common(&self) -> crate::detectors::Common<'_> {
                crate::detectors::Common {
                    enabled: self.enabled,
                    severity: self.severity,
                    rules: self.rules,
                    emit: self.emit,
                    tools: &self.tools,
                }
            }
        }
    };
}
pub(super) use config;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Settings, serde_json::Error> {
        serde_json::from_str(json)
    }

    fn problems(json: &str) -> Vec<String> {
        let problems = read(json).unwrap().check(Rules::Aware);
        problems
            .into_iter()
            .map(|problem| problem.path.join("."))
            .collect()
    }

    #[test]
    fn every_type_is_a_key_and_the_defaults_are_in_order() {
        for anomaly in AnomalyType::ALL {
            let json = format!(r#"{{"{anomaly}": {{"enabled": false, "severity": "error"}}}}"#);
            let settings = read(&json).unwrap();
            let common = settings.common(anomaly);
            assert!(!common.enabled);
            assert_eq!(common.severity, Some(Severity::Error));
        }
        assert_eq!(problems("{}"), [] as [&str; 0]);
        assert!(read(r#"{"stuk": {}}"#).is_err());
        assert!(read(r#"{"stuck": {"treshold": 4}}"#).is_err());
        assert!(read(r#"{"stuck": {"tools": {"a*": {"threshold": 4, "role": "poll"}}}}"#).is_ok());
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "one table")]
    fn what_cannot_be_is_told() {
        for (json, key) in [
            (r#"{"goal_drift": {"window": 2}}"#, "goal_drift.window"),
            (
                r#"{"novel_host": {"allow_cidrs": ["10.0.0.0/40"]}}"#,
                "novel_host.allow_cidrs",
            ),
            (r#"{"stuck": {"threshold": 1}}"#, "stuck.threshold"),
            (r#"{"loop": {"min_repeats": 1}}"#, "loop.min_repeats"),
            (r#"{"stuck": {"rules": "source"}}"#, "stuck.rules"),
            (
                r#"{"error_rate": {"threshold": 0}}"#,
                "error_rate.threshold",
            ),
            (r#"{"stutter": {"ngram": 3}}"#, "stutter.ngram"),
            (
                r#"{"stutter": {"ngram": 3, "rules": "source"}}"#,
                "stutter.ngram",
            ),
            (
                r#"{"stutter": {"max_entropy": 100}}"#,
                "stutter.max_entropy",
            ),
            (r#"{"stutter": {"max_entropy": -1}}"#, "stutter.max_entropy"),
            (r#"{"write_storm": {"limit": 0}}"#, "write_storm.limit"),
            (r#"{"write_storm": {"window": "0s"}}"#, "write_storm.window"),
            (r#"{"budget_steps": {"max": 0}}"#, "budget_steps.max"),
            (r#"{"budget_cost": {"max_usd": 0}}"#, "budget_cost.max_usd"),
            (
                r#"{"budget_time": {"max": "1m", "idle": "2m"}}"#,
                "budget_time.idle",
            ),
            (r#"{"budget_time": {"max": "31d"}}"#, "budget_time.max"),
            (
                r#"{"loop": {"window": 11, "min_repeats": 4}}"#,
                "loop.min_repeats",
            ),
            (
                r#"{"transition_repeat": {"window": 4, "repeats": 5}}"#,
                "transition_repeat.repeats",
            ),
            (r#"{"goal_drift": {"window": 100000}}"#, "goal_drift.window"),
            (r#"{"stuck": {"threshold": 5000}}"#, "stuck.threshold"),
            (
                r#"{"empty_response": {"threshold": 17}}"#,
                "empty_response.threshold",
            ),
            (
                r#"{"error_rate": {"window": 20, "unit": "run"}}"#,
                "error_rate.window",
            ),
            (
                r#"{"novel_host": {"known_hosts": ["*"]}}"#,
                "novel_host.known_hosts",
            ),
            (
                r#"{"novel_host": {"allow_cidrs": ["::/0"]}}"#,
                "novel_host.allow_cidrs",
            ),
            (
                r#"{"stuck": {"tools": {"": {"poll": true}}}}"#,
                "stuck.tools.",
            ),
            (
                r#"{"budget_time": {"idle": "5m", "rules": "source"}}"#,
                "budget_time.idle",
            ),
            (r#"{"budget_time": {"max": "0"}}"#, "budget_time.max"),
            (r#"{"budget_cost": {"max_usd": -1}}"#, "budget_cost.max_usd"),
            (r#"{"stuck": {"tools": {"[": {}}}}"#, "stuck.tools.["),
        ] {
            let found = problems(json);
            assert!(found.iter().any(|found| found == key), "{json}: {found:?}");
        }
        assert_eq!(
            problems(r#"{"scope_escape": {"enabled": true}}"#),
            [] as [&str; 0]
        );
    }
}
