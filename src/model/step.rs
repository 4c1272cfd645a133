//! One action of an agent, free of any dialect: what the engine sees of a span.
//! Steps are owned and small; texts have become hashes, flags and numbers by now.

use smallvec::SmallVec;

use super::{
    Answered, Breach, Effects, Fit, Hints, Ignored, Name, Reach, Role, Sketch, SpanId, Timestamp,
    ToolSet, Topics, TraceId, Words,
};

/// One action of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Position of the span among all spans of its body, in wire order.
    pub index: u32,
    /// Its trace.
    pub trace: TraceId,
    /// Its span.
    pub span: SpanId,
    /// The span it hangs under, if any.
    pub parent: Option<SpanId>,
    /// When it started, as the emitter says.
    pub start: Timestamp,
    /// When it ended, as the emitter says.
    pub end: Timestamp,
    /// Hash of the resource: equal means the same process.
    pub resource: u64,
    /// Which overrides its resource is meant by, as a bit set in their order; 0 where there are none.
    pub audience: u64,
    /// Hash of the instrumentation scope's name: two scopes may tell of one call.
    pub scope: u64,
    /// Who emitted it.
    pub service: Service,
    /// The agent that the span itself names.
    pub agent: Option<Name>,
    /// The conversation that the span names.
    pub conversation: Option<Name>,
    /// `process.working_directory` of the resource.
    pub working_directory: Option<Name>,
    /// The span came with marks of ours already (`sentinel.anomaly.*`): they are kept, only the event is added.
    pub already_marked: bool,
    /// The status of its span is unset.
    pub status_unset: bool,
    /// Tokens and cost; counted on model calls and on tool calls that carry a cost.
    pub usage: Usage,
    /// What was done.
    pub action: Action,
}

/// A service: `service.namespace` and `service.name`. Sessions never cross it but by trace id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Service {
    /// `service.namespace`, empty when not set.
    pub namespace: Name,
    /// `service.name`, empty when not set.
    pub name: Name,
}

/// What a step consumed. Missing is unknown, never zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Tokens read, cached ones included.
    pub input_tokens: Option<u64>,
    /// Tokens written.
    pub output_tokens: Option<u64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
}

/// The kinds of action.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A tool was executed.
    ToolCall(Box<ToolCall>),
    /// A model was asked.
    ModelCall(Box<ModelCall>),
    /// A run of an agent, or of a sub-agent, as a whole.
    AgentRun(Box<AgentRun>),
}

/// Hash of a call id: ids are only ever compared.
pub type CallId = u64;

/// One execution of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The tool's name as sent.
    pub tool: Name,
    /// The id under which a model asked for it.
    pub call_id: Option<CallId>,
    /// Seeded hash of tool and folded arguments, for aware rules; `None` when arguments are not captured.
    pub key: Option<u64>,
    /// Hash of tool and canonical JSON, for `rules: source`; `None` when arguments are not captured.
    pub exact: Option<u64>,
    /// First 48 bits of the signature's SHA-256, when showing it is switched on.
    pub signature: Option<[u8; 6]>,
    /// What came back.
    pub answer: Answer,
    /// Whether it worked.
    pub outcome: Outcome,
    /// What kind of tool it is.
    pub role: Role,
    /// What it does to the world.
    pub effects: Effects,
    /// How far its writes reach.
    pub reach: Reach,
    /// Near-equality sketch of the arguments (A6); zero when not computed.
    pub sketch: Sketch,
    /// The tool's name as it is looked up in definitions.
    pub identity: ToolIdentity,
    /// It failed, and what came back says that there is no tool of this name.
    pub unknown_tool: bool,
    /// Arguments that are no JSON or were refused by validation, when that could be seen.
    pub arguments: Arguments,
    /// The arguments without their wrapping, to be held against the tool's schema once it is known which one
    /// holds, and then dropped; `None` when not captured or too long.
    pub given: Option<Box<str>>,
    /// What the span itself says of the tool.
    pub hints: Hints,
    /// A text was longer than what is read of it.
    pub truncated: bool,
    /// The command could not be taken apart: effects are unknown.
    pub unparsed: bool,
    /// What its key and the digest of its answer leave out.
    pub ignored: Ignored,
    /// The arguments came without their names, as a bare value: what the model asked for says more.
    pub nameless: bool,
    /// What it is about; `None` unless somebody asks (goal_drift) and its arguments were captured.
    pub topics: Option<Box<Topics>>,
}

/// State of a call's arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arguments {
    /// Not captured.
    #[default]
    Unknown,
    /// Readable.
    Valid,
    /// Not JSON although the dialect promises JSON.
    NotJson,
    /// Refused by the tool's validation, as its answer says.
    Refused,
}

/// What came back from a call, as hashes and flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The answer was captured. When false all else is void.
    pub known: bool,
    /// Hash of the text as it stands.
    pub raw: u64,
    /// Hash after neutralising volatile tokens; comparable only between equal keys.
    pub digest: u64,
    /// Hash after the four rewrites of agentbudget's canonical version (`rules: source`).
    pub canonical: u64,
    /// Only acknowledges: ok, true, empty, `[]`, no match, N rows.
    pub acknowledges: bool,
    /// At least 12 characters and no acknowledgement: an answer that could teach something.
    pub informs: bool,
    /// Says that something is still going on (`running`, `pending`, `in progress`).
    pub pending: bool,
}

/// Whether a call worked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing says.
    #[default]
    Unknown,
    /// It worked; exit 1 that is an answer (grep, diff, test) included.
    Succeeded,
    /// It failed.
    Failed(Failure),
    /// A user or a policy refused it, or it was cancelled.
    Refused,
}

/// How a call failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// Exit code, where one is known.
    pub exit_code: Option<i32>,
    /// Class of the error: a hash of the error's shape with numbers, paths and ids taken out; 0 = unknown class.
    pub class: u64,
    /// Hash of the names that the error is about (a column, a file, a module), which its class leaves out; 0 =
    /// it names nothing.
    pub names: u32,
    /// It is a set-up probe or an answer in the form of an exit code: never counted by failure_loop (A4).
    pub is_answer: bool,
    /// Only the answer's text says so, neither status nor exit code nor flag: no failure for `rules: source`.
    pub soft: bool,
    /// No message, no exception, and no answer was captured: what went wrong is not known.
    pub vague: bool,
}

impl Outcome {
    /// Whether the call failed.
    pub fn failed(self) -> bool {
        matches!(self, Self::Failed(_))
    }
}

/// One request to a model and its answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelCall {
    /// The answer's text; `None` when texts are not captured.
    pub text: Option<TextFacts>,
    /// Reasoning parts, judged by themselves.
    pub reasoning: Option<TextFacts>,
    /// The calls that the answer asks for.
    pub requested: SmallVec<[Requested; 2]>,
    /// Why the model stopped.
    pub finish: Finish,
    /// The request failed.
    pub failed: bool,
    /// No request at all: a tool was handed the final answer.
    pub handed_over: bool,
    /// How many user messages the input held, where it was captured.
    pub user_messages: Option<u32>,
    /// The tools that the model was given; `None` when not captured.
    pub tools: Option<ToolSet>,
    /// What the goal asks for, from the first user message, where captured.
    pub goal: Option<Goal>,
    /// Words of the first and of the last user message; `None` unless somebody asks (goal_drift).
    pub wishes: Option<Words>,
    /// What calls gave back before, where the input was told by a log record.
    pub answered: SmallVec<[Answered; 1]>,
}

/// A call that a model answer asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Requested {
    /// Its id.
    pub call_id: Option<CallId>,
    /// The tool asked for.
    pub tool: Name,
    /// Its name as it is looked up in definitions.
    pub identity: ToolIdentity,
    /// As [`ToolCall::key`].
    pub key: Option<u64>,
    /// State of its arguments.
    pub arguments: Arguments,
    /// What kind of tool it is.
    pub role: Role,
    /// Whether they fit the schema among the definitions of the same model step.
    pub fit: Fit,
    /// How they break it.
    pub breach: Option<Breach>,
    /// As [`ToolCall::given`], only where the model step carries no definitions of its own.
    pub given: Option<Box<str>>,
    /// A tool by which frameworks hand over to another agent or end the run: it leaves no span of a call.
    pub silent: bool,
}

/// Hashes of a tool's name, in the three readings in which names are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolIdentity {
    /// As sent.
    pub exact: u64,
    /// Case and `_`, `-`, `.` folded.
    pub folded: u64,
    /// Folded, without the prefix that a tool server adds.
    pub bare: u64,
}

/// What is read from the goal, once per run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Goal {
    /// Hash of the text.
    pub hash: u64,
    /// It asks for tests to be run or to pass.
    pub asks_for_tests: bool,
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Finish {
    /// Nothing says.
    #[default]
    Unknown,
    /// It ended its turn.
    Stop,
    /// It ran into its length limit.
    Length,
    /// It asks for tools.
    ToolCalls,
    /// A filter stopped it.
    Filtered,
    /// It failed.
    Error,
}

/// A run of an agent as a whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentRun {
    /// Its final output; `None` when not captured.
    pub output: Option<TextFacts>,
    /// It ended in an error.
    pub failed: bool,
    /// The tools it was given, where its span says so.
    pub tools: Option<ToolSet>,
    /// What its goal asks for, where its span says so.
    pub goal: Option<Goal>,
    /// As [`ModelCall::wishes`].
    pub wishes: Option<Words>,
    /// This is a hand-off or delegation to the agent named, not the agent itself.
    pub handoff: bool,
}

/// What a text says and looks like. The text itself is gone.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TextFacts {
    /// Hash of the text.
    pub hash: u64,
    /// Code points left after stripping white space at both ends, as Python strips it.
    pub chars: u32,
    /// Holds a visible character outside of placeholders and think blocks.
    pub visible: bool,
    /// Holds a letter, digit, emoji or bracket pair (A9: never "short and empty").
    pub meaningful: bool,
    /// What it claims.
    pub claim: Claim,
    /// It says openly that checks were not run, or that work was withdrawn.
    pub honest_gap: bool,
    /// A tool call written as plain text.
    pub call_as_text: bool,
    /// Words.
    pub words: u32,
    /// Measures of repetition.
    pub repetition: Repetition,
    /// The text was longer than what is read of it.
    pub truncated: bool,
}

/// What a text asserts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Claim {
    /// Nothing.
    #[default]
    None,
    /// The work is complete.
    Done,
    /// Checks ran and passed.
    ChecksPassed,
}

/// How much a text repeats itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repetition {
    /// Shannon entropy of the n-grams in bits, as the source formula has it (tokens split at spaces, n = 4).
    pub entropy_bits: f64,
    /// How many n-grams the source formula saw; with none its 0 bits say nothing.
    pub source_ngrams: u32,
    /// Tokens counted by the aware rule (fences, tables skipped).
    pub tokens: u32,
    /// Distinct 4-grams divided by all 4-grams, aware rule; 1.0 when there are none.
    pub distinct_ratio: f64,
    /// Most back-to-back copies of one block of 3 to 60 tokens, aware rule.
    pub block_copies: u32,
}

impl Default for Repetition {
    fn default() -> Self {
        Self {
            entropy_bits: 0.0,
            source_ngrams: 0,
            tokens: 0,
            distinct_ratio: 1.0,
            block_copies: 0,
        }
    }
}

/// A span that no dialect knows, in a trace that has steps: keeps the chain of parents whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its trace.
    pub trace: TraceId,
    /// The span.
    pub span: SpanId,
    /// The span it hangs under.
    pub parent: SpanId,
}
