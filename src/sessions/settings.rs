//! Settings of runs and conversations (DESIGN 8, `processors.anomaly`).

use std::time::Duration;

use serde::{Deserialize, Deserializer, de::Error};

use crate::model::units;

/// How steps are grouped and how long they are kept.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Join runs that name one conversation. Without it every trace stands alone.
    pub join_conversations: bool,
    /// What starts a user turn.
    pub turn: Turn,
    /// How long a finding stays provisional.
    pub settle: Settle,
    /// Only arrival counts: no lateness, duplicates, turns, parallel tries; one lane (`rules: source`).
    pub source: bool,
    /// Most bytes of runs, conversations and tombstones; the longest idle goes first.
    pub max_state: u64,
    /// Limits of a run.
    pub run: RunLimits,
    /// Limits of a conversation.
    pub conversation: ConversationLimits,
    /// Most bytes of bodies pinned by held spans; the oldest is judged at once beyond it.
    pub max_held: u64,
    /// A step further ahead of its arrival than this moves no clock of ours.
    pub max_clock_skew: Duration,
    /// What is spent is counted: some budget is set. Set by the engine from the detectors in force.
    pub meters: bool,
    /// Runs are watched by timers: a budget of time is set. Set by the engine as well.
    pub timers: bool,
    /// Log records bring content of steps, and come later than these: a run stays open for as long as they are
    /// gathered. Set from the pipelines.
    pub records: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            join_conversations: true,
            turn: Turn::Trace,
            settle: Settle::Auto,
            source: false,
            max_state: 256 << 20,
            run: RunLimits::default(),
            conversation: ConversationLimits::default(),
            max_held: 64 << 20,
            max_clock_skew: Duration::from_secs(300),
            meters: false,
            timers: false,
            records: false,
        }
    }
}

/// What starts a user turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Turn {
    /// A new trace is a new turn.
    #[default]
    Trace,
    /// The emitter starts a trace per step: all traces of a conversation are one run.
    Conversation,
}

/// How long a finding stays provisional (DESIGN 3.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Settle {
    /// By what the run has shown so far: 0, 500 ms, 6 s or 10 s.
    #[default]
    Auto,
    /// The same for all.
    Fixed(Duration),
}

impl<'de> Deserialize<'de> for Settle {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "auto" {
            return Ok(Self::Auto);
        }
        units::parse_duration(&text)
            .map(Self::Fixed)
            .ok_or_else(|| {
                D::Error::custom(format!(
                    "`{text}` is neither `auto` nor a duration like 500ms or 2s"
                ))
            })
    }
}

/// Limits of a run.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunLimits {
    /// A run closes after this long without a step.
    #[serde(with = "units::duration")]
    pub idle_timeout: Duration,
    /// Beyond it steps are forwarded, not judged, counted.
    pub max_steps: u32,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            idle_timeout: Duration::from_secs(600),
            max_steps: 200_000,
        }
    }
}

/// Limits of a conversation.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConversationLimits {
    /// A conversation is forgotten after this long without a step.
    #[serde(with = "units::duration")]
    pub idle_timeout: Duration,
}

impl Default for ConversationLimits {
    fn default() -> Self {
        Self {
            idle_timeout: Duration::from_secs(3600),
        }
    }
}
