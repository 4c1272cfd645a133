//! What a detector claims, and with which proof.

use std::fmt;

use serde::Deserialize;
use smallvec::SmallVec;

use super::{Name, SpanId, Timestamp, TraceId};

/// The 18 kinds of anomaly. Names are configuration keys, attribute values and metric labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum AnomalyType {
    /// The same call again and again.
    Stuck,
    /// The same failing call again and again.
    FailureLoop,
    /// Two calls in turn.
    PingPong,
    /// A longer cycle of calls.
    Loop,
    /// One call-and-answer pair recurring in a window.
    TransitionRepeat,
    /// Model answers without content.
    EmptyResponse,
    /// Too large a share of failed calls.
    ErrorRate,
    /// A claim of completion without fresh proof.
    PrematureVictory,
    /// Text that repeats itself.
    Stutter,
    /// A call to a tool that is not defined.
    ToolHallucination,
    /// Arguments that are no JSON or break the tool's schema.
    InvalidArgs,
    /// Work that has left the goal (preview).
    GoalDrift,
    /// A write outside the workspace.
    ScopeEscape,
    /// Too many writes in a window.
    WriteStorm,
    /// Contact with a host not known.
    NovelHost,
    /// More tool calls than allowed.
    BudgetSteps,
    /// More money than allowed.
    BudgetCost,
    /// More time than allowed.
    BudgetTime,
}

impl AnomalyType {
    /// All types, in the order in which they are reported.
    pub const ALL: [Self; 18] = [
        Self::FailureLoop,
        Self::PingPong,
        Self::Loop,
        Self::Stuck,
        Self::TransitionRepeat,
        Self::EmptyResponse,
        Self::ErrorRate,
        Self::PrematureVictory,
        Self::Stutter,
        Self::ToolHallucination,
        Self::InvalidArgs,
        Self::GoalDrift,
        Self::ScopeEscape,
        Self::WriteStorm,
        Self::NovelHost,
        Self::BudgetSteps,
        Self::BudgetCost,
        Self::BudgetTime,
    ];

    /// The name used in configuration, attributes and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stuck => "stuck",
            Self::FailureLoop => "failure_loop",
            Self::PingPong => "ping_pong",
            Self::Loop => "loop",
            Self::TransitionRepeat => "transition_repeat",
            Self::EmptyResponse => "empty_response",
            Self::ErrorRate => "error_rate",
            Self::PrematureVictory => "premature_victory",
            Self::Stutter => "stutter",
            Self::ToolHallucination => "tool_hallucination",
            Self::InvalidArgs => "invalid_args",
            Self::GoalDrift => "goal_drift",
            Self::ScopeEscape => "scope_escape",
            Self::WriteStorm => "write_storm",
            Self::NovelHost => "novel_host",
            Self::BudgetSteps => "budget_steps",
            Self::BudgetCost => "budget_cost",
            Self::BudgetTime => "budget_time",
        }
    }

    /// Rank within the repetition family, highest first (DESIGN 6.2); `None` outside the family.
    pub const fn family_rank(self) -> Option<u8> {
        match self {
            Self::FailureLoop => Some(5),
            Self::PingPong => Some(4),
            Self::Loop => Some(3),
            Self::Stuck => Some(2),
            Self::TransitionRepeat => Some(1),
            _ => None,
        }
    }
}

impl fmt::Display for AnomalyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How bad a finding is if it is true. Numbers are those of OTel log severities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Severity {
    /// Worth a note, never an alert.
    Info = 9,
    /// Somebody should look.
    Warning = 13,
    /// The run is failing.
    Error = 17,
    /// Only by configuration.
    Critical = 21,
}

impl Severity {
    /// All, the least first.
    pub const ALL: [Self; 4] = [Self::Info, Self::Warning, Self::Error, Self::Critical];

    /// The name used in configuration, attributes and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
        }
    }

    /// The OTel severity number: 9, 13, 17 or 21.
    pub const fn number(self) -> i64 {
        self as i64
    }

    /// One level up, `Error` at most: critical is only ever configured.
    pub const fn raised(self) -> Self {
        match self {
            Self::Info => Self::Warning,
            Self::Warning | Self::Error => Self::Error,
            Self::Critical => Self::Critical,
        }
    }
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// Proved from the spans alone.
    Exact,
    /// Rests on a well-tested reading.
    Likely,
    /// Rests on a rule of thumb.
    Heuristic,
}

impl Confidence {
    /// The name used in attributes and records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Likely => "likely",
            Self::Heuristic => "heuristic",
        }
    }
}

/// A step that is part of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its trace.
    pub trace: TraceId,
    /// Its span.
    pub span: SpanId,
    /// Its 0-based index in the run, by arrival.
    pub step: u32,
    /// When it started.
    pub start: Timestamp,
    /// When it ended.
    pub end: Timestamp,
}

/// One named number, name or moment of a proof. Never a result text.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// A count or a duration in the unit its name says.
    Int(i64),
    /// A ratio or an amount.
    Float(f64),
    /// A name: a tool, a host, a directory; not shown with `evidence: none`.
    Text(Name),
    /// One of the words of a rule, or counts of classes: always shown.
    Class(Name),
    /// A path: shown whole, as a file's name, or not at all, as configured.
    Path(Name),
    /// A span that plays a role.
    Span(SpanId),
    /// A yes or no.
    Bool(bool),
}

/// A detector's claim about one step, with its proof. The step judged is the last member.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What kind of anomaly.
    pub anomaly: AnomalyType,
    /// `n` of the rule name `<type>/<n>`.
    pub rule: u8,
    /// How bad.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// Which branch of the rule decided, where it has several (`stale`, `copies`, ...).
    pub reason: Option<&'static str>,
    /// The steps that prove it, oldest first, the judged one last; never empty; at most [`Finding::MEMBERS_MAX`].
    pub members: SmallVec<[Member; 4]>,
    /// How often it has happened by now: repeats, rounds, empties, writes. At least 1.
    pub count: u32,
    /// The tool concerned.
    pub tool: Option<Name>,
    /// What makes two findings one episode beside type and lane: DESIGN 6.2. For the family: tool and shape.
    pub evidence_key: u64,
    /// Keys of the calls in the pattern, sorted: an episode covers a set of them (A8). Empty outside the family.
    pub shape: SmallVec<[u64; 4]>,
    /// Named numbers and names for event and record, in order of interest; at most 12.
    pub facts: Vec<(&'static str, Fact)>,
    /// One sentence for people, at most 240 bytes, no result text.
    pub message: String,
}

impl Finding {
    /// Most members kept; a longer proof keeps its first one and its last ones.
    pub const MEMBERS_MAX: usize = 32;

    /// The rule name, as `stuck/1`.
    pub fn rule_name(&self) -> String {
        format!("{}/{}", self.anomaly, self.rule)
    }

    /// The step judged: the last member.
    pub fn judged(&self) -> Option<&Member> {
        self.members.last()
    }
}

/// What a detector lacked to judge. Said, never passed off as health (DESIGN 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Lack {
    /// Calls carry no arguments.
    NoArguments,
    /// Calls carry no results.
    NoResults,
    /// No tool definitions were sent.
    NoDefinitions,
    /// Model texts are not captured.
    NoText,
    /// Concurrent unnamed steps: whose they are is unknown.
    LaneUnknown,
    /// A text was longer than what is read.
    Truncated,
    /// No workspace is known.
    NoWorkspace,
    /// No usage is reported.
    NoUsage,
    /// A command that could not be taken apart.
    Unparsed,
    /// No goal was captured, or nothing in the run could be compared with it.
    NoGoal,
    /// Tools were asked for, or may have been, and no span tells of one.
    NoToolSpans,
    /// No span tells of a model's answer.
    NoModelSpans,
}

impl Lack {
    /// All, in a fixed order.
    pub const ALL: [Self; 12] = [
        Self::NoArguments,
        Self::NoResults,
        Self::NoDefinitions,
        Self::NoText,
        Self::LaneUnknown,
        Self::Truncated,
        Self::NoWorkspace,
        Self::NoUsage,
        Self::Unparsed,
        Self::NoGoal,
        Self::NoToolSpans,
        Self::NoModelSpans,
    ];

    /// Whether it is for want of captured content: arguments, results or texts, which an emitter can switch on.
    pub const fn is_of_content(self) -> bool {
        matches!(self, Self::NoArguments | Self::NoResults | Self::NoText)
    }

    /// The words shown to people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::NoArguments => "no arguments",
            Self::NoResults => "no results",
            Self::NoDefinitions => "no definitions",
            Self::NoText => "no text",
            Self::LaneUnknown => "lane unknown",
            Self::Truncated => "truncated",
            Self::NoWorkspace => "no workspace",
            Self::NoUsage => "no usage",
            Self::Unparsed => "command not understood",
            Self::NoGoal => "no goal",
            Self::NoToolSpans => "no tool spans",
            Self::NoModelSpans => "no model spans",
        }
    }
}
