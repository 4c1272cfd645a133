//! How a convention of the user's own is described: which spans, what they are, where things stand.

use super::fields::Field;
use super::raw::Part;
use super::sources::{Condition, Source};

/// One convention.
#[derive(Clone, Debug)]
pub struct Convention {
    /// What it is called.
    pub name: String,
    /// The spans it is about.
    pub when: Condition,
    /// What they are.
    pub role: Role,
    /// Where things stand, in order of precedence for each key; keys in the order of [`Key::ALL`].
    pub keys: Vec<(Key, Vec<Source>)>,
    /// Spans that failed, whatever else says so.
    pub failed_when: Option<Condition>,
}

/// What a span is.
#[derive(Clone, Debug, Default)]
pub enum Role {
    /// What a built-in convention says; where none knows the span a tool call, if it holds what calls have.
    #[default]
    Known,
    /// Always this.
    One(Part),
    /// The first whose condition holds; where none does, the convention is not about the span.
    When(Vec<(Part, Condition)>),
}

/// What can be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Name of the tool called.
    ToolName,
    /// Id under which a model asked for the call.
    CallId,
    /// Arguments of the call.
    Arguments,
    /// What it gave back.
    Result,
    /// A switch or word that says how it went.
    Outcome,
    /// Words about its failure; there only if it failed.
    Error,
    /// Kind of the error; there only if it failed.
    ErrorType,
    /// Exit code.
    ExitCode,
    /// Text that a model, or a run, gave out.
    Text,
    /// Reasoning of a model.
    Reasoning,
    /// Calls that a model asks for.
    Calls,
    /// Why a model stopped.
    FinishReason,
    /// Messages given out, in any shape that a built-in convention knows.
    Output,
    /// Messages that a model, or a run, was given.
    Input,
    /// What the user wants.
    Goal,
    /// Tools that could be used.
    ToolDefinitions,
    /// The conversation.
    Session,
    /// The agent.
    Agent,
    /// Tokens read.
    InputTokens,
    /// Tokens written.
    OutputTokens,
    /// US dollars.
    Cost,
}

impl Key {
    /// All of them, with the names that a configuration uses. What says a part goes behind what says the whole.
    pub const ALL: [(Self, &'static str); 21] = [
        (Self::ToolName, "tool_name"),
        (Self::CallId, "call_id"),
        (Self::Arguments, "arguments"),
        (Self::Result, "result"),
        (Self::Outcome, "outcome"),
        (Self::Error, "error"),
        (Self::ErrorType, "error_type"),
        (Self::ExitCode, "exit_code"),
        (Self::Output, "output"),
        (Self::Text, "text"),
        (Self::Reasoning, "reasoning"),
        (Self::Calls, "calls"),
        (Self::FinishReason, "finish_reason"),
        (Self::Input, "input"),
        (Self::Goal, "goal"),
        (Self::ToolDefinitions, "tool_definitions"),
        (Self::Session, "session"),
        (Self::Agent, "agent"),
        (Self::InputTokens, "input_tokens"),
        (Self::OutputTokens, "output_tokens"),
        (Self::Cost, "cost"),
    ];

    /// Whether it is looked for on spans of this part.
    pub fn is_of(self, part: Part) -> bool {
        use Key as K;
        let common = matches!(
            self,
            K::Session | K::Agent | K::Outcome | K::Error | K::ErrorType
        );
        match part {
            Part::ToolCall => {
                let own = matches!(self, K::ToolName | K::CallId | K::Arguments | K::Result);
                common || own || matches!(self, K::ExitCode | K::Cost)
            }
            Part::ModelCall => {
                let answer = matches!(
                    self,
                    K::Text | K::Reasoning | K::Calls | K::FinishReason | K::Output
                );
                let asked = matches!(self, K::Input | K::Goal | K::ToolDefinitions);
                let usage = matches!(self, K::InputTokens | K::OutputTokens | K::Cost);
                common || answer || asked || usage
            }
            Part::AgentRun | Part::HandOff => {
                let answer = matches!(self, K::Text | K::Output);
                common || answer || matches!(self, K::Input | K::Goal | K::ToolDefinitions)
            }
            Part::TransportDuplicate => false,
        }
    }

    /// The field whose placeholders are none of its values.
    pub(super) fn field(self) -> Field {
        match self {
            Self::ToolName => Field::Tool,
            Self::CallId => Field::CallId,
            Self::ErrorType => Field::ErrorType,
            Self::Session => Field::Conversation,
            Self::Agent => Field::Agent,
            _ => Field::Result,
        }
    }
}
