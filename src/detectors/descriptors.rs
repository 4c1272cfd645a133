//! What is told about each detector: documentation and the list of detectors are made from this.

use crate::model::AnomalyType;

/// A detector in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Its type.
    pub anomaly: AnomalyType,
    /// What it judges: step, lane, run, conversation or session.
    pub scope: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Its keys and defaults.
    pub defaults: &'static str,
    /// Its severities.
    pub severity: &'static str,
    /// Where its source rule comes from.
    pub source: &'static str,
    /// This build has it.
    pub available: bool,
}

impl Descriptor {
    /// One a type, in the order in which they report.
    pub const ALL: [Self; AnomalyType::ALL.len()] = [
        Self {
            anomaly: AnomalyType::FailureLoop,
            scope: "lane",
            summary: "The same call fails again and again, or one error keeps coming back under nearly equal arguments.",
            defaults: "threshold: 3",
            severity: "warning, error when raised",
            source: "failure taxonomy sentinel: direct failure loop",
            available: true,
        },
        Self {
            anomaly: AnomalyType::PingPong,
            scope: "lane",
            summary: "Two calls take turns and nothing changes.",
            defaults: "window: 4",
            severity: "warning, error when raised",
            source: "failure taxonomy sentinel: ping-pong",
            available: true,
        },
        Self {
            anomaly: AnomalyType::Loop,
            scope: "lane",
            summary: "A cycle of calls comes round again with the same answers.",
            defaults: "window: 20, min_repeats: 2",
            severity: "warning, error when raised",
            source: "Promptise: LOOP",
            available: true,
        },
        Self {
            anomaly: AnomalyType::Stuck,
            scope: "lane",
            summary: "The same call is made again and again and answers the same.",
            defaults: "threshold: 3",
            severity: "warning, error when raised",
            source: "Promptise: STUCK",
            available: true,
        },
        Self {
            anomaly: AnomalyType::TransitionRepeat,
            scope: "lane",
            summary: "One call-and-answer pair recurs in a window, or one answer meets ever new calls.",
            defaults: "window: 9, repeats: 3, neutralize_volatile: true",
            severity: "warning, error when raised",
            source: "agentbudget: loop check",
            available: true,
        },
        Self {
            anomaly: AnomalyType::EmptyResponse,
            scope: "conversation",
            summary: "The model answers with nothing, or with next to nothing in a row.",
            defaults: "threshold: 3, max_chars: 10",
            severity: "warning, error if it ends the turn",
            source: "Promptise: EMPTY_RESPONSE",
            available: true,
        },
        Self {
            anomaly: AnomalyType::ErrorRate,
            scope: "run",
            summary: "Too large a share of the last calls failed.",
            defaults: "threshold: 0.5, window: 10, unit: call",
            severity: "warning",
            source: "Promptise: HIGH_ERROR_RATE",
            available: true,
        },
        Self {
            anomaly: AnomalyType::PrematureVictory,
            scope: "conversation",
            summary: "A claim of completion without a passing check after the last edit.",
            defaults: "clock_tolerance: 1s",
            severity: "info, warning or error by evidence",
            source: "failure taxonomy sentinel: premature victory",
            available: true,
        },
        Self {
            anomaly: AnomalyType::Stutter,
            scope: "step",
            summary: "A text repeats itself.",
            defaults: "ngram: 4, max_entropy: 2.1, min_tokens: 60",
            severity: "warning",
            source: "failure taxonomy sentinel: semantic stuttering",
            available: true,
        },
        Self {
            anomaly: AnomalyType::ToolHallucination,
            scope: "step",
            summary: "A call to a tool that the model was not given.",
            defaults: "-",
            severity: "info, warning at the third",
            source: "failure taxonomy sentinel: tool hallucination",
            available: true,
        },
        Self {
            anomaly: AnomalyType::InvalidArgs,
            scope: "step",
            summary: "Arguments that are no JSON, break the tool's schema, or that the tool refuses.",
            defaults: "-",
            severity: "info, warning at the third",
            source: "failure taxonomy sentinel: tool hallucination",
            available: true,
        },
        Self {
            anomaly: AnomalyType::GoalDrift,
            scope: "lane",
            summary: "Calls in a row that share nothing with the goal or with what followed from it (preview).",
            defaults: "enabled: false, window: 6",
            severity: "info",
            source: "failure taxonomy sentinel: cascading drift (no rule)",
            available: true,
        },
        Self {
            anomaly: AnomalyType::ScopeEscape,
            scope: "step",
            summary: "A write outside of the workspace and the allowed directories.",
            defaults: "allowed_dirs: []",
            severity: "error, info if refused",
            source: "gptme anomaly_watchdog: scope_escape",
            available: true,
        },
        Self {
            anomaly: AnomalyType::WriteStorm,
            scope: "lane",
            summary: "More writes than the limit in a sliding window.",
            defaults: "limit: 20, window: 60s",
            severity: "warning, error for deletes",
            source: "gptme anomaly_watchdog: write_storm",
            available: true,
        },
        Self {
            anomaly: AnomalyType::NovelHost,
            scope: "conversation",
            summary: "Contact with a host that is not known.",
            defaults: "enabled: false, known_hosts: [], allow_cidrs: [], preset: false",
            severity: "warning, error after a blocked contact",
            source: "gptme anomaly_watchdog: novel_host",
            available: true,
        },
        Self {
            anomaly: AnomalyType::BudgetSteps,
            scope: "session, agent or turn",
            summary: "More tool calls than allowed.",
            defaults: "max: none, scope: session",
            severity: "error",
            source: "agentbudget: max_steps",
            available: true,
        },
        Self {
            anomaly: AnomalyType::BudgetCost,
            scope: "session, agent or turn",
            summary: "More money spent than allowed.",
            defaults: "max_usd: none, scope: session",
            severity: "error",
            source: "agentbudget: max_cost",
            available: true,
        },
        Self {
            anomaly: AnomalyType::BudgetTime,
            scope: "session, agent or turn",
            summary: "More time passed than allowed.",
            defaults: "max: none, idle: none, scope: session",
            severity: "error",
            source: "agentbudget: max_seconds",
            available: true,
        },
    ];
}

impl Descriptor {
    /// The two lines under the type's heading in docs/detectors.md.
    pub fn facts(&self) -> String {
        let Self {
            anomaly,
            scope,
            defaults,
            severity,
            source,
            ..
        } = self;
        format!(
            "Scope: {scope}. Defaults: `{defaults}`. Severity: {severity}.\n\
             Source: {source} ([its rule](source-rules.md)). [Runbook](runbook/{anomaly}.md). [Measured](measured.md).\n"
        )
    }
}

/// The table of all detectors in Markdown, as docs/detectors.md holds it.
pub fn markdown() -> String {
    let mut table = String::from(
        "| type | scope | fires when | keys and defaults | severity | source | in this build |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for one in Descriptor::ALL {
        let available = if one.available { "yes" } else { "no" };
        let row = format!(
            "| {} | {} | {} | {} | {} | {} | {available} |\n",
            one.anomaly, one.scope, one.summary, one.defaults, one.severity, one.source,
        );
        table.push_str(&row);
    }
    table
}

/// The descriptor of one type.
pub const fn descriptor(anomaly: AnomalyType) -> &'static Descriptor {
    const ALL: &[Descriptor] = &Descriptor::ALL;
    let mut at = 0;
    while at < ALL.len() {
        if ALL[at].anomaly as u8 == anomaly as u8 {
            return &ALL[at];
        }
        at += 1;
    }
    &ALL[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_holds_the_table() {
        let page = include_str!("../../docs/detectors.md");
        assert!(
            page.contains(&markdown()),
            "put this into docs/detectors.md:\n{}",
            markdown()
        );
    }

    #[test]
    fn every_type_has_its_descriptor_in_report_order() {
        for (descriptor, anomaly) in Descriptor::ALL.iter().zip(AnomalyType::ALL) {
            assert_eq!(descriptor.anomaly, anomaly);
            assert_eq!(super::descriptor(anomaly), descriptor);
        }
    }
}
