//! Whether a call worked (dialects table, row `tool.error`): what the emitter says comes before what the
//! answer says, and each is kept apart from the other.
//!
//! Invariant: a failure read from a text is marked soft; `rules: source` knows hard ones alone.

use xxhash_rust::xxh3::xxh3_64;

use crate::actions::ExitMeaning;
use crate::dialects::{BareResult, Fault};
use crate::model::{Excerpt, Failure, Outcome, Role};
use crate::texts;

/// Longest answer of a reading tool that is taken for an error by its look: what was read may look like one.
const READ_ERROR_MAX: usize = 300;
/// Longest answer that is taken for a refusal though nothing says that the call failed.
const REFUSAL_MAX: usize = 200;

/// What emitter and answer say of success.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Signs {
    /// Exit code, where one is known.
    pub(super) exit_code: Option<i32>,
    /// The span itself says that it failed: status, error type, exception, flag, exit code attribute.
    pub(super) hard: bool,
    /// The answer says that it failed.
    pub(super) soft: bool,
    /// Something says that it went well.
    pub(super) success: bool,
    /// A user or a policy refused it.
    pub(super) refused: bool,
}

impl Signs {
    /// Whether something says outright that it failed, or that it did not. A status Ok does not count:
    /// emitters set it on everything that raises no exception.
    pub(super) fn said(&self, fault: &Fault<'_>) -> Option<bool> {
        if self.hard || self.soft {
            return Some(true);
        }
        (fault.failed == Some(false)).then_some(false)
    }
}

/// Collects the signs. `result` is the answer without its wrapping.
pub(super) fn signs(fault: &Fault<'_>, result: Option<&BareResult<'_>>, role: Role) -> Signs {
    let sent = fault.exit_code.map(clamp);
    let text = result.map(|result| result.text.as_ref());
    let named = result
        .and_then(|result| result.exit_code)
        .map(clamp)
        .or_else(|| text.and_then(texts::exit_code_in));
    let hard = fault.flagged() || sent.is_some_and(|code| code != 0);
    let exit_code = sent.or(named);
    let says_failed = result.and_then(|result| result.failed);
    let soft = !hard
        && sent.is_none()
        && (says_failed == Some(true)
            || named.is_some_and(|code| code != 0)
            || (named.is_none() && text.is_some_and(|text| looks_failed(text, role))));
    let success = exit_code == Some(0)
        || fault.failed == Some(false)
        || fault.status_ok
        || says_failed == Some(false)
        || result.is_some();
    Signs {
        exit_code,
        hard,
        soft,
        success,
        refused: refused(fault, text, hard || soft, role),
    }
}

fn looks_failed(text: &str, role: Role) -> bool {
    let reads = matches!(role, Role::Read | Role::Search | Role::Fetch | Role::Poll);
    (!reads || text.len() <= READ_ERROR_MAX) && texts::looks_like_error(text)
}

fn refused(fault: &Fault<'_>, text: Option<&str>, failed: bool, role: Role) -> bool {
    let acts = !matches!(role, Role::Read | Role::Search | Role::Fetch | Role::Poll);
    let by_answer = text.is_some_and(|text| {
        (failed || (acts && text.len() <= REFUSAL_MAX)) && texts::refused(text)
    });
    by_answer
        || (failed
            && [fault.message, fault.exception_message.as_deref()]
                .into_iter()
                .flatten()
                .any(texts::refused))
}

/// Puts the signs together. `exit` is what the exit code means, given the command.
pub(super) fn outcome(
    signs: Signs,
    exit: ExitMeaning,
    fault: &Fault<'_>,
    result: Option<&str>,
) -> Outcome {
    if signs.refused {
        return Outcome::Refused;
    }
    if signs.hard || signs.soft {
        let (class, names) = class(fault, result, signs.exit_code);
        return Outcome::Failed(Failure {
            exit_code: signs.exit_code,
            class,
            names,
            is_answer: exit != ExitMeaning::Plain,
            soft: !signs.hard,
            vague: result.is_none()
                && fault.exception.is_none()
                && fault.exception_message.is_none()
                && fault
                    .message
                    .is_none_or(|message| message.trim().is_empty()),
        });
    }
    if signs.success {
        Outcome::Succeeded
    } else {
        Outcome::Unknown
    }
}

/// The class of the error and the names it is about, from the text that says most: status message,
/// exception, answer.
fn class(fault: &Fault<'_>, result: Option<&str>, exit_code: Option<i32>) -> (u64, u32) {
    let told = [fault.message, fault.exception_message.as_deref(), result]
        .into_iter()
        .flatten()
        .map(before_traceback)
        .filter(|text| !text.trim().is_empty())
        .map(|text| (texts::error_class(text), text))
        .find(|(class, _)| *class != 0);
    if let Some((class, text)) = told {
        return (class, texts::error_names(text));
    }
    let kind = [fault.exception.as_deref(), fault.kind.as_deref()]
        .into_iter()
        .flatten()
        .find(|kind| !kind.is_empty());
    let class = match (kind, exit_code) {
        (Some(kind), _) => xxh3_64(kind.as_bytes()),
        (None, Some(code)) => xxh3_64(&code.to_le_bytes()),
        (None, None) => 0,
    };
    (class, 0)
}

/// What stands before a traceback (P12), or the whole where the traceback is all there is.
fn before_traceback(text: &str) -> &str {
    let front = Excerpt::of(text).front();
    match front.find("Traceback (most recent call last)") {
        Some(at) => {
            let before = front.get(..at).unwrap_or_default();
            if before.trim().is_empty() {
                text
            } else {
                before
            }
        }
        None => text,
    }
}

/// Exit codes outside of 32 bits are no exit codes; their sign still tells failure.
fn clamp(code: i64) -> i32 {
    i32::try_from(code).unwrap_or(if code < 0 { i32::MIN } else { i32::MAX })
}

/// Words by which tools and frameworks refuse arguments (A12), in lower case.
const VALIDATION: &[&str] = &[
    "inputvalidationerror",
    "input validation error",
    "validation error:",
    "validation error for",
    "validation errors for",
    "missing required",
    "required property",
    "is a required",
    "field required",
    "-32602",
    "invalid arguments for",
    "invalid params",
    "missing 1 required",
    "unexpected keyword argument",
    "failed to parse arguments",
    "error while decoding function arguments",
];

/// Words by which frameworks say that there is no such tool, in lower case. The name has to stand with them.
const NO_TOOL: &[&str] = &[
    "unknown tool",
    "unknown function",
    "no such tool",
    "no such function",
    "no tool named",
    "no tool called",
    "no tool with",
    "no function named",
    "tool not found",
    "function not found",
    "is not a known",
    "is not known here",
    "is not a valid tool",
    "not a valid function",
    "invalid tool name",
    "tool_not_found",
    "unavailable tool",
    "tool does not exist",
    "not in the list of",
    "not found in tool",
    "not registered",
];

/// Whether a failed call's answer says that there is no tool of this name.
pub(super) fn tool_unknown(fault: &Fault<'_>, result: Option<&str>, tool: &str) -> bool {
    let name = tool.to_lowercase();
    let says = |text: &str| {
        let head = text
            .get(..text.floor_char_boundary(400))
            .unwrap_or_default();
        let head = head.to_lowercase();
        let about = |quote: &str| {
            head.contains(&format!("tool {quote}{name}{quote} not found"))
                || head.contains(&format!("{quote}{name}{quote} does not exist"))
                || head.contains(&format!("tool {quote}{name}{quote} is not available"))
        };
        !name.is_empty()
            && head.contains(&name)
            && (NO_TOOL.iter().any(|words| head.contains(words))
                || ["", "'", "\"", "`"].into_iter().any(about))
    };
    [fault.message, fault.exception_message.as_deref(), result]
        .into_iter()
        .flatten()
        .any(says)
}

/// Whether a failed call's answer says that its arguments were refused.
pub(super) fn arguments_refused(fault: &Fault<'_>, result: Option<&str>) -> bool {
    let says = |text: &str| {
        let head = text
            .get(..text.floor_char_boundary(400))
            .unwrap_or_default();
        let head = head.to_lowercase();
        VALIDATION.iter().any(|words| head.contains(words))
    };
    [fault.message, fault.exception_message.as_deref(), result]
        .into_iter()
        .flatten()
        .any(says)
}
