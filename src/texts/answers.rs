//! What kind of answer a tool gave: one that only acknowledges, or one that teaches something.
//!
//! Invariant: in doubt none of them. Prose that merely mentions such a word is not taken for it.

use super::members::{Value, folded, members};
use super::visible::strip;
use crate::model::Excerpt;

/// Answers longer than this are never a mere acknowledgement, state or refusal.
pub(super) const SHORT: usize = 400;

/// Words and phrases that only acknowledge, in lower case.
const ACKNOWLEDGEMENTS: &[&str] = &[
    "",
    "ok",
    "okay",
    "done",
    "success",
    "successful",
    "succeeded",
    "true",
    "false",
    "yes",
    "no",
    "accepted",
    "ack",
    "acknowledged",
    "received",
    "saved",
    "sent",
    "updated",
    "created",
    "deleted",
    "removed",
    "added",
    "applied",
    "stored",
    "queued",
    "scheduled",
    "completed",
    "complete",
    "none",
    "null",
    "undefined",
    "[]",
    "{}",
    "()",
    "0",
    "1",
    "no match",
    "no matches",
    "no matches found",
    "no match found",
    "no results",
    "no results found",
    "no files found",
    "no output",
    "no new output",
    "no content",
    "no changes",
    "no changes made",
    "not found",
    "nothing found",
    "nothing to do",
    "nothing to commit",
    "empty",
    "no such file",
    "no data",
    "no rows",
    "no entries",
    "no records",
    "no items",
    "no new messages",
    "file written",
    "file saved",
    "file created",
    "task created",
    "message sent",
    "command executed successfully",
    "executed successfully",
    "completed successfully",
    "success!",
    "written",
    "noted",
    "edited",
    "opened",
    "closed",
    "submitted",
    "selected",
    "executed",
    "screenshot taken",
    "action executed",
    "action performed",
    "action completed",
    "got it",
    "understood",
    "thanks",
    "thank you",
];

/// Words with which a short answer of one line tells what was done to a page or a screen, not what came of it.
const DONE_TO_A_SCREEN: &[&str] = &[
    "clicked", "scrolled", "pressed", "typed", "tapped", "swiped", "hovered", "dragged",
];
/// Longest such answer in bytes.
const LINE: usize = 120;

/// Nouns after a number that make a mere count of work done.
const COUNTED: &[&str] = &[
    "row",
    "record",
    "replacement",
    "change",
    "file",
    "line",
    "item",
    "match",
    "result",
    "entry",
    "byte",
    "edit",
    "occurrence",
    "insertion",
    "deletion",
    "new",
    "message",
    "document",
    "node",
    "update",
];

/// Verbs and particles that may stand around such a count.
const AROUND: &[&str] = &[
    "affected",
    "updated",
    "changed",
    "made",
    "written",
    "wrote",
    "inserted",
    "deleted",
    "removed",
    "replaced",
    "applied",
    "found",
    "returned",
    "added",
    "created",
    "modified",
    "saved",
    "matched",
    "ok",
    "success",
    "successfully",
    "done",
    "total",
    "in",
    "set",
    "were",
    "was",
    "query",
];

/// Whether the answer only acknowledges: ok, true, empty, `[]`, no match, N rows, JSON of only status,
/// ok, success or id (A7).
pub fn acknowledges<'a>(text: impl Into<Excerpt<'a>>) -> bool {
    let text = text.into();
    if text.truncated() {
        return false;
    }
    let text = strip(text.front());
    if text.len() > SHORT {
        return false;
    }
    if text.starts_with('{') {
        return members_acknowledge(text);
    }
    let bare = text.trim_matches(|c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '.' | '!' | '(' | ')' | '[' | ']' | '"' | '\'' | '`' | '*'
            )
    });
    let bare = bare.to_lowercase();
    ACKNOWLEDGEMENTS.contains(&bare.as_str()) || counts_only(&bare) || done_to_a_screen(&bare)
}

/// `Clicked element 12 (Next)`, `Successfully scrolled down by 800 pixels`.
fn done_to_a_screen(text: &str) -> bool {
    let mut words = text
        .split(|c: char| !c.is_alphabetic())
        .filter(|word| !word.is_empty() && *word != "successfully");
    let first = words.next().unwrap_or_default();
    text.len() <= LINE && !text.contains('\n') && DONE_TO_A_SCREEN.contains(&first)
}

/// Whether a short answer only stands for a picture that was not recorded: `[image omitted]`, `<screenshot>`.
pub fn stands_for_a_picture<'a>(text: impl Into<Excerpt<'a>>) -> bool {
    let text = text.into();
    let text = text.front().trim();
    let inner = [('[', ']'), ('<', '>'), ('(', ')')]
        .into_iter()
        .find_map(|(open, close)| text.strip_prefix(open)?.strip_suffix(close));
    inner.is_some_and(|inner| {
        inner.len() <= 40 && {
            let inner = inner.to_lowercase();
            ["image", "screenshot", "picture"]
                .iter()
                .any(|word| inner.contains(word))
        }
    })
}

/// JSON that holds nothing but a good state, a flag or an id.
fn members_acknowledge(text: &str) -> bool {
    let mut any = false;
    let mut buffer = [0; 24];
    for (key, value) in members(text) {
        any = true;
        let good = match folded(key, &mut buffer) {
            "ok" | "success" | "acknowledged" | "done" | "accepted" | "created" | "updated"
            | "deleted" | "saved" | "sent" | "iserror" | "is_error" => {
                !matches!(value, Value::Text(text) if text.len() > 12)
            }
            "status" | "state" | "result" | "message" | "code" | "statuscode" | "status_code" => {
                match value {
                    Value::Text(text) => {
                        ACKNOWLEDGEMENTS.contains(&text.trim().to_lowercase().as_str())
                    }
                    Value::Raw(raw) => {
                        matches!(raw, "true" | "null" | "200" | "201" | "202" | "204")
                    }
                }
            }
            "id" | "_id" | "uuid" | "request_id" | "requestid" => true,
            "error" | "errors" | "data" | "results" | "items" | "rows" => value.is_nothing(),
            _ => false,
        };
        if !good {
            return false;
        }
    }
    any || text.get(1..).is_some_and(|rest| rest.trim() == "}")
}

/// `3 rows`, `ok: 1 replacement`, `Updated 12 records`: a count of work and nothing else.
fn counts_only(text: &str) -> bool {
    let mut numbers = 0;
    let mut nouns = 0;
    for word in text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|w| !w.is_empty())
    {
        let singular = word.strip_suffix("es").filter(|w| COUNTED.contains(w));
        let singular = singular.or_else(|| word.strip_suffix('s')).unwrap_or(word);
        if word.bytes().all(|b| b.is_ascii_digit()) {
            numbers += 1;
        } else if COUNTED.contains(&singular) || COUNTED.contains(&word) || word == "entries" {
            nouns += 1;
        } else if !AROUND.contains(&word) {
            return false;
        }
    }
    numbers >= 1 && nouns >= 1
}

/// Whether the answer could teach something: at least 12 characters and no acknowledgement (A7).
pub fn informs<'a>(text: impl Into<Excerpt<'a>>) -> bool {
    let text = text.into();
    tells(text) && !acknowledges(text)
}

/// What [`informs`] asks of an answer that is known to be no acknowledgement.
pub fn tells<'a>(text: impl Into<Excerpt<'a>>) -> bool {
    let text = text.into();
    text.truncated() || strip(text.front()).chars().take(12).count() >= 12
}
