//! What a dialect reads of one span: borrowed texts, no judgement.
//!
//! Invariant: a missing text is `None`, an empty one is `Some("")`; the two are never mixed (P1).

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::model::{Hints, Usage};

/// A text of the body: borrowed as it stands, owned only where an escape or a structured value forced it.
pub type Text<'a> = Cow<'a, str>;

/// The part that a span plays in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// A tool was executed.
    #[default]
    ToolCall,
    /// A model was asked.
    ModelCall,
    /// A run of an agent as a whole.
    AgentRun,
    /// One agent hands over to another.
    HandOff,
    /// A second span of a call that another span tells already: forwarded, never a step.
    TransportDuplicate,
}

/// One span as its dialect reads it.
#[derive(Clone, Debug, Default)]
pub struct Raw<'a> {
    /// What the span is.
    pub part: Part,
    /// Name of the tool executed, or of the agent handed to.
    pub tool: Option<Text<'a>>,
    /// The id under which a model asked for the call.
    pub call_id: Option<Text<'a>>,
    /// What the span says of the tool: see [`crate::model::Hints`].
    pub hints: Hints,
    /// Arguments of the call, as JSON text where they were structured.
    pub arguments: Option<Text<'a>>,
    /// The arguments are some of those that the tool got: what they say holds, but two calls with equal ones
    /// may differ.
    pub partial: bool,
    /// What the call gave back, as JSON text where it was structured.
    pub result: Option<Text<'a>>,
    /// Signs of failure outside of the result.
    pub fault: Fault<'a>,
    /// What the model, or the agent run, gave out.
    pub reply: Reply<'a>,
    /// What the model, or the agent run, was given.
    pub input: Input<'a>,
    /// The tools it could use.
    pub definitions: Option<Definitions<'a>>,
    /// The agent that the span names.
    pub agent: Option<Text<'a>>,
    /// The conversation that the span names; placeholders are refused (P30).
    pub conversation: Option<Text<'a>>,
    /// Tokens and cost.
    pub usage: Usage,
}

/// Signs of failure that stand outside of the result.
#[derive(Clone, Debug, Default)]
pub struct Fault<'a> {
    /// The span's status is Error.
    pub status_error: bool,
    /// The span's status is Ok.
    pub status_ok: bool,
    /// Message of the status.
    pub message: Option<&'a str>,
    /// `error.type`.
    pub kind: Option<Text<'a>>,
    /// Type of the last exception recorded.
    pub exception: Option<Text<'a>>,
    /// Its message.
    pub exception_message: Option<Text<'a>>,
    /// Exit code given as an attribute.
    pub exit_code: Option<i64>,
    /// A flag or a word beside the status that says success or failure.
    pub failed: Option<bool>,
}

impl Fault<'_> {
    /// Whether the span itself says that it failed, exit code aside.
    pub fn flagged(&self) -> bool {
        self.status_error
            || self.kind.is_some()
            || self.exception.is_some()
            || self.failed == Some(true)
    }
}

/// What a model gave out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply<'a> {
    /// Its text; several parts are joined by line feeds; `None` when not captured.
    pub text: Option<Text<'a>>,
    /// Its reasoning, part by part.
    pub reasoning: SmallVec<[Text<'a>; 1]>,
    /// The calls it asks for.
    pub calls: SmallVec<[RawCall<'a>; 2]>,
    /// Why it stopped, as sent.
    pub finish: Option<Text<'a>>,
}

/// A call that a model asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawCall<'a> {
    /// Its id.
    pub id: Option<Text<'a>>,
    /// The tool.
    pub name: Text<'a>,
    /// Its arguments: JSON text, or whatever the model wrote instead.
    pub arguments: Option<Text<'a>>,
}

/// What a model was given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Input<'a> {
    /// How many messages of a user it holds, tool results aside; `None` when not captured.
    pub user_messages: Option<u32>,
    /// The first of them, still encoded: [`super::goal_text`] reads it.
    pub goal: Option<Text<'a>>,
    /// The last of them, if it is another one; still encoded as well.
    pub latest: Option<Text<'a>>,
    /// What the calls that the model had asked for last gave back: id and result.
    pub results: SmallVec<[(Text<'a>, Text<'a>); 1]>,
}

/// Tool definitions, still encoded: [`super::tools`] reads them. Each part is a JSON array of
/// definitions or names, one definition, or a bare name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Definitions<'a> {
    /// The parts, in the order sent.
    pub parts: SmallVec<[Text<'a>; 1]>,
}

/// Gives a text its own memory.
pub(super) fn own<'b>(text: Text<'_>) -> Text<'b> {
    Cow::Owned(text.into_owned())
}

impl Reply<'_> {
    /// The same, free of the text it was read from.
    pub(super) fn into_owned<'b>(self) -> Reply<'b> {
        Reply {
            text: self.text.map(own),
            reasoning: self.reasoning.into_iter().map(own).collect(),
            calls: self
                .calls
                .into_iter()
                .map(|call| RawCall {
                    id: call.id.map(own),
                    name: own(call.name),
                    arguments: call.arguments.map(own),
                })
                .collect(),
            finish: self.finish.map(own),
        }
    }
}

impl Input<'_> {
    /// The same, free of the text it was read from.
    pub(super) fn into_owned<'b>(self) -> Input<'b> {
        Input {
            user_messages: self.user_messages,
            goal: self.goal.map(own),
            latest: self.latest.map(own),
            results: self
                .results
                .into_iter()
                .map(|(id, result)| (own(id), own(result)))
                .collect(),
        }
    }
}
