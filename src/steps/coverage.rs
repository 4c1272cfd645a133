//! What of their content senders send: counted for each of them, so that what never comes can be said.
//!
//! Invariant: counts and names only; one entry for a service and scope, bounded in number for a body.

use crate::dialects::{self, Switch};
use crate::model::{Action, Finish, Name, Service, Step, TextFacts};

/// Most entries told of one body; what is beyond is not counted.
const ENTRIES: usize = 64;

/// A kind of content that rules need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Content {
    /// Arguments of calls.
    Arguments,
    /// What calls gave back.
    Results,
    /// What models wrote.
    Texts,
    /// The tools that models were given.
    Definitions,
}

impl Content {
    /// All of them, each at the place of its number.
    pub const ALL: [Self; 4] = [
        Self::Arguments,
        Self::Results,
        Self::Texts,
        Self::Definitions,
    ];

    /// Its name: a metric label, and the word in log lines.
    pub fn name(self) -> &'static str {
        match self {
            Self::Arguments => "arguments",
            Self::Results => "results",
            Self::Texts => "texts",
            Self::Definitions => "definitions",
        }
    }

    /// What switches it on; `None` when nothing does.
    pub fn switch(self, of: &'static Switch) -> Option<&'static str> {
        let switch = match self {
            Self::Arguments => of.arguments,
            Self::Results => of.results,
            Self::Texts => of.texts,
            Self::Definitions => of.definitions,
        };
        (!switch.is_empty()).then_some(switch)
    }
}

/// What the spans of one service and scope in one body had, and what they had not.
#[derive(Clone, Debug)]
pub struct Coverage {
    /// Who sent them.
    pub service: Service,
    /// Name of their instrumentation scope.
    pub scope: Name,
    /// How their framework is told to record content; `None` while no step was among them.
    pub switch: Option<&'static Switch>,
    /// Steps among them.
    pub steps: u32,
    /// Spans that no convention knows as steps.
    pub others: u32,
    /// How often each kind of content was there, in the order of [`Content::ALL`].
    pub has: [u32; 4],
    /// How often it was not there though it should have been.
    pub lacks: [u32; 4],
    /// Where resource and scope lie: tells those of one body apart.
    place: (usize, usize),
}

/// The counts of one body.
#[derive(Debug, Default)]
pub(super) struct Coverages {
    list: Vec<Coverage>,
    /// The entry used last: spans of one scope come together.
    last: usize,
}

impl Coverages {
    /// Turns to the entry of a place; `false` when there is none yet.
    pub(super) fn turn_to(&mut self, place: (usize, usize)) -> bool {
        let is = |one: &Coverage| one.place == place;
        if self.list.get(self.last).is_some_and(is) {
            return true;
        }
        let found = self.list.iter().position(is);
        self.last = found.unwrap_or(ENTRIES);
        found.is_some()
    }

    /// Makes an entry, if there is room, and turns to it.
    pub(super) fn open(&mut self, place: (usize, usize), service: Service, scope: Name) {
        if self.list.len() < ENTRIES {
            self.last = self.list.len();
            self.list.push(Coverage {
                service,
                scope,
                switch: None,
                steps: 0,
                others: 0,
                has: [0; 4],
                lacks: [0; 4],
                place,
            });
        }
    }

    /// The entry turned to; `None` where there was no room for it.
    pub(super) fn current(&mut self) -> Option<&mut Coverage> {
        self.list.get_mut(self.last)
    }

    /// The counts so far; those that follow are of another body.
    pub(super) fn take(&mut self) -> Vec<Coverage> {
        self.last = 0;
        std::mem::take(&mut self.list)
    }
}

impl Coverage {
    /// Counts a step; `by` marks the convention that read it.
    pub(super) fn count(&mut self, step: &Step, by: &str) {
        self.steps += 1;
        self.switch
            .get_or_insert_with(|| dialects::switch(by, &self.scope));
        match &step.action {
            Action::ToolCall(call) => {
                // A call that failed has words elsewhere, and some frameworks record arguments of those alone.
                let failed = call.outcome.failed();
                if !failed || call.key.is_none() {
                    self.note(Content::Arguments, call.key.is_some());
                }
                if !failed {
                    self.note(Content::Results, call.answer.known);
                }
            }
            Action::ModelCall(call) if !call.handed_over && !call.failed => {
                // An empty text proves nothing: it stands beside calls, and where content was left out.
                let says = |text: &Option<TextFacts>| text.is_some_and(|text| text.chars > 0);
                let said = says(&call.text) || says(&call.reasoning);
                let silent = call.text.is_none() && call.requested.is_empty();
                if said || (silent && call.finish != Finish::ToolCalls) {
                    self.note(Content::Texts, said);
                }
                if !call.requested.is_empty() {
                    let told = call.requested.iter().any(|asked| asked.key.is_some());
                    self.note(Content::Arguments, told);
                }
                self.note(Content::Definitions, call.tools.is_some());
            }
            Action::ModelCall(_) => {}
            Action::AgentRun(run) => {
                if run.output.is_some_and(|text| text.chars > 0) {
                    self.note(Content::Texts, true);
                }
                if run.tools.is_some() {
                    self.note(Content::Definitions, true);
                }
            }
        }
    }

    /// Counts content that was told apart from its step: what was lacking there is not lacking.
    pub(super) fn count_content(&mut self, content: &Step) {
        let lacks = self.lacks;
        match &content.action {
            Action::ToolCall(call) => {
                self.note(Content::Arguments, call.key.is_some());
                self.note(Content::Results, call.answer.known);
            }
            Action::ModelCall(call) => {
                let says = |text: &Option<TextFacts>| text.is_some_and(|text| text.chars > 0);
                self.note(Content::Texts, says(&call.text) || says(&call.reasoning));
                let told = call.requested.iter().any(|asked| asked.key.is_some());
                self.note(Content::Arguments, told);
                self.note(Content::Definitions, call.tools.is_some());
            }
            Action::AgentRun(_) => {}
        }
        self.lacks = lacks;
    }

    fn note(&mut self, content: Content, there: bool) {
        let counts = if there {
            &mut self.has
        } else {
            &mut self.lacks
        };
        if let Some(count) = counts.get_mut(content as usize) {
            *count += 1;
        }
    }
}
