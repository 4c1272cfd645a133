//! Content that came apart from its step: what the step itself tells stays, what it lacks is filled in.
//!
//! Invariant: told twice counts once; nothing that a step tells is overwritten.

use super::{
    Action, AgentRun, Answer, Arguments, CallId, Finish, ModelCall, Outcome, Step, Timestamp,
    ToolCall,
};

/// A user has spoken in a session that is told by log records alone: a turn begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    /// The session's own trace, as [`Step::trace`] of its steps before they are given to turns.
    pub session: super::TraceId,
    /// When.
    pub at: Timestamp,
}

/// What a call gave back, as the input of a later request to the model tells it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answered {
    /// The call, as the model had asked for it.
    pub call_id: CallId,
    /// What came back.
    pub answer: Answer,
    /// Whether it worked, as far as that tells.
    pub outcome: Outcome,
}

impl Step {
    /// Takes what it lacks from what was told of it elsewhere. Returns whether there was anything to take.
    pub fn complete(&mut self, content: &Self) -> bool {
        let taken = match (&mut self.action, &content.action) {
            (Action::ModelCall(mine), Action::ModelCall(told)) => mine.complete(told),
            (Action::ToolCall(mine), Action::ToolCall(told)) => mine.complete(told),
            (Action::AgentRun(mine), Action::ModelCall(told)) => mine.complete(told),
            _ => false,
        };
        let new = |mine: bool, told: bool| !mine && told;
        let named = new(self.agent.is_some(), content.agent.is_some())
            || new(self.conversation.is_some(), content.conversation.is_some());
        if self.agent.is_none() {
            self.agent.clone_from(&content.agent);
        }
        if self.conversation.is_none() {
            self.conversation.clone_from(&content.conversation);
        }
        let (mine, told) = (&mut self.usage, content.usage);
        mine.input_tokens = mine.input_tokens.or(told.input_tokens);
        mine.output_tokens = mine.output_tokens.or(told.output_tokens);
        mine.cost_usd = mine.cost_usd.or(told.cost_usd);
        taken || named
    }

    /// About how many bytes it holds.
    pub fn weight(&self) -> usize {
        let texts = match &self.action {
            Action::ToolCall(call) => call.given.as_ref().map_or(0, |given| given.len()),
            Action::ModelCall(call) => {
                let given = call.requested.iter().filter_map(|one| one.given.as_ref());
                given.map(|given| given.len()).sum::<usize>()
                    + call.requested.len() * size_of::<super::Requested>()
            }
            Action::AgentRun(_) => 0,
        };
        size_of::<Self>() + size_of::<ToolCall>().max(size_of::<ModelCall>()) + texts
    }
}

impl ModelCall {
    /// As [`Step::complete`]. Calls asked for are taken together or not at all.
    pub fn complete(&mut self, told: &Self) -> bool {
        let before = self.holds();
        self.text = self.text.or(told.text);
        self.reasoning = self.reasoning.or(told.reasoning);
        if self.requested.is_empty() {
            self.requested.clone_from(&told.requested);
        }
        if self.finish == Finish::Unknown {
            self.finish = told.finish;
        }
        self.user_messages = self.user_messages.or(told.user_messages);
        if self.tools.is_none() {
            self.tools.clone_from(&told.tools);
        }
        self.goal = self.goal.or(told.goal);
        if self.wishes.is_none() {
            self.wishes.clone_from(&told.wishes);
        }
        if self.answered.is_empty() {
            self.answered.clone_from(&told.answered);
        }
        self.holds() != before
    }

    /// Which of the kinds of content it has.
    fn holds(&self) -> [bool; 9] {
        [
            self.text.is_some(),
            self.reasoning.is_some(),
            !self.requested.is_empty(),
            self.finish != Finish::Unknown,
            self.user_messages.is_some(),
            self.tools.is_some(),
            self.goal.is_some(),
            self.wishes.is_some(),
            !self.answered.is_empty(),
        ]
    }
}

impl ToolCall {
    /// As [`Step::complete`]. What follows from arguments comes with them.
    pub fn complete(&mut self, told: &Self) -> bool {
        let arguments = self.key.is_none() && self.given.is_none() && told.has_arguments();
        let answer = !self.answer.known && told.answer.known;
        let outcome = self.outcome == Outcome::Unknown && told.outcome != Outcome::Unknown;
        if arguments {
            *self = Self {
                tool: self.tool.clone(),
                call_id: self.call_id.or(told.call_id),
                answer: self.answer,
                outcome: self.outcome,
                unknown_tool: self.unknown_tool,
                identity: self.identity,
                hints: self.hints,
                ..told.clone()
            };
        }
        if answer {
            self.answer = told.answer;
            self.ignored = told.ignored;
        }
        if outcome {
            self.outcome = told.outcome;
            self.unknown_tool |= told.unknown_tool;
        }
        arguments || answer || outcome
    }

    fn has_arguments(&self) -> bool {
        self.key.is_some() || self.given.is_some() || self.arguments != Arguments::Unknown
    }
}

impl AgentRun {
    /// As [`Step::complete`]: what its model gave out last is what the run gave out.
    fn complete(&mut self, told: &ModelCall) -> bool {
        let output = told.text.filter(|_| told.requested.is_empty());
        let taken = (self.output.is_none() && output.is_some())
            || (self.tools.is_none() && told.tools.is_some())
            || (self.goal.is_none() && told.goal.is_some());
        self.output = self.output.or(output);
        if self.tools.is_none() {
            self.tools.clone_from(&told.tools);
        }
        self.goal = self.goal.or(told.goal);
        if self.wishes.is_none() {
            self.wishes.clone_from(&told.wishes);
        }
        taken
    }
}
