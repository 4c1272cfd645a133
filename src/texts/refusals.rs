//! Whether a call was refused or cancelled by a person or a policy, as its answer says.
//!
//! Invariant: an error of the operating system is a failure, never a refusal.

use std::sync::LazyLock;

use regex::Regex;

use crate::model::Excerpt;

/// A refusal stands within so many bytes from the front.
const HEAD: usize = 400;

/// Phrases by which a harness, a person or a policy refuses or cancels a call, in lower case.
const REFUSALS: &[&str] = &[
    "doesn't want to proceed with this tool use",
    "doesn't want to take this action",
    "user rejected",
    "rejected by user",
    "rejected by the user",
    "user denied",
    "denied by user",
    "denied by the user",
    "user declined",
    "declined by user",
    "declined by the user",
    "user cancelled",
    "user canceled",
    "cancelled by user",
    "canceled by user",
    "cancelled by the user",
    "canceled by the user",
    "user aborted",
    "aborted by user",
    "aborted by the user",
    "interrupted by user",
    "request interrupted by user",
    "user refused",
    "refused by user",
    "refused by the user",
    "user has chosen not to",
    "user chose not to",
    "user said no",
    "user skipped",
    "skipped by user",
    "operation cancelled",
    "operation canceled",
    "denied by policy",
    "denied by a policy",
    "blocked by policy",
    "blocked by a policy",
    "forbidden by policy",
    "rejected by policy",
    "refused by policy",
    "not allowed by policy",
    "policy violation",
    "violates policy",
    "blocked by hook",
    "blocked by the hook",
    "denied by hook",
    "hook denied",
    "requires approval",
    "needs approval",
    "approval required",
    "approval was denied",
    "approval denied",
    "not approved",
    "cannot be approved",
    "permission to use",
    "requested permissions to use",
    "haven't granted it yet",
    "tool use was rejected",
    "tool call rejected",
    "tool execution was denied",
    "denied by the permission",
    "permission denied by",
    "blocked by the sandbox",
    "denied by sandbox",
    "blocked by guardrail",
    "not executed:",
    "not executed because",
    "user did not allow",
    "user has declined",
    "user chose to skip",
    "rejected by human",
    "human rejected",
    "denied by human",
    "action rejected",
    "command rejected",
    "patch rejected",
    "rule which prevents you",
    "path outside allowed director",
    "blocked by .",
    "blocked by the .",
    "blocked by your",
    "blocked by organization",
    "blocked by egress",
    "disallowed by policy",
    "not permitted by policy",
    "prohibited by policy",
    "denied by your",
    "not in the allowlist",
    "not in the allow list",
    "not on the allowlist",
    "not on the allow list",
    "could not request permission",
    "permission was denied by",
    "permission request was denied",
    "guardrail blocked",
    "sandbox denied",
];

static ANY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let phrases: Vec<String> = REFUSALS
        .iter()
        .map(|phrase| regex::escape(phrase))
        .collect();
    Regex::new(&phrases.join("|")).ok()
});

/// Whether a person or a policy refused the call, or it was cancelled. An error of the operating system
/// (`EACCES`, `Permission denied`) is a failure, no refusal.
pub fn refused<'a>(text: impl Into<Excerpt<'a>>) -> bool {
    let text = text.into();
    // A refusal is short, or stands at the front of the text that explains it.
    let mut end = text.front().len().min(HEAD);
    while !text.front().is_char_boundary(end) {
        end -= 1;
    }
    let head = text.front().get(..end).unwrap_or_default().to_lowercase();
    if head.trim_start().starts_with("refused:") {
        return true;
    }
    let head = head.replace('\u{2019}', "'");
    // One search for all: the regex engine looks for plain words many bytes at a time.
    ANY.as_ref().map_or_else(
        || REFUSALS.iter().any(|phrase| head.contains(phrase)),
        |any| any.is_match(&head),
    )
}
