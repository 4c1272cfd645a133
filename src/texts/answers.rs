//! What kind of answer a tool gave: one that only acknowledges, one that teaches something, one that says
//! that something is still going on.
//!
//! Invariant: in doubt none of them. Prose that merely mentions such a word is not taken for it.

use super::members::{Value, folded, members};
use super::visible::strip;
use crate::model::Excerpt;

/// Answers longer than this are never a mere acknowledgement, state or refusal.
const SHORT: usize = 400;

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
    "got it",
    "understood",
    "thanks",
    "thank you",
];

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
    ACKNOWLEDGEMENTS.contains(&bare.as_str()) || counts_only(&bare)
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

/// Words for a state that is not final.
const GOING_ON: &[&str] = &[
    "running",
    "pending",
    "queued",
    "in progress",
    "in_progress",
    "inprogress",
    "in-progress",
    "training",
    "processing",
    "starting",
    "started",
    "waiting",
    "building",
    "deploying",
    "provisioning",
    "initializing",
    "initialising",
    "creating",
    "updating",
    "deleting",
    "scheduled",
    "submitted",
    "working",
    "executing",
    "active",
    "stopping",
    "pulling",
    "installing",
    "compiling",
    "uploading",
    "downloading",
    "validating",
    "not ready",
    "not_ready",
    "still running",
    "booting",
    "restarting",
    "migrating",
    "syncing",
    "importing",
    "exporting",
    "in queue",
    "enqueued",
];

/// Longest text that may be one of them: characters may take three bytes before they become ASCII.
const LONGEST_STATE: usize = 3 * 16;

/// Names under which a state is given.
const STATE_NAMES: &[&str] = &[
    "status",
    "state",
    "phase",
    "stage",
    "conclusion",
    "job_status",
    "jobstatus",
    "run_status",
    "task_status",
    "build_status",
    "lifecycle_state",
    "lifecyclestate",
    "current_state",
];

/// Whether the answer says that something is still going on: `running`, `state: TRAINING`,
/// `{"status":"in_progress"}`, `Job 17 is still running` (A3). Counts (`0 pending`) and prose are none.
pub fn pending_state<'a>(text: impl Into<Excerpt<'a>>) -> bool {
    let text = text.into();
    if text.truncated() {
        return false;
    }
    let text = strip(text.front());
    if text.starts_with('{') {
        let named = |key: &str| {
            STATE_NAMES
                .iter()
                .any(|name| key.eq_ignore_ascii_case(name))
        };
        let mut buffer = [0; 24];
        return members(text).take(32).any(|(key, value)| match value {
            Value::Text(state) => named(key) && going_on(state),
            Value::Raw("true" | "false") => match folded(key, &mut buffer) {
                "running" | "pending" | "in_progress" | "inprogress" => value.is("true"),
                "done" | "finished" | "complete" | "completed" | "ready" => value.is("false"),
                _ => false,
            },
            Value::Raw(_) => false,
        });
    }
    if let Some(tag) = between(text, "<status>", "</status>") {
        return going_on(tag);
    }
    if text.len() > SHORT {
        return false;
    }
    text.lines().take(8).any(line_pends) || table_pends(text)
}

/// States of a row in a table that will not stay: things that run for good are `running` there.
const PASSING_STATES: &[&str] = &[
    "pending",
    "containercreating",
    "podinitializing",
    "terminating",
    "creating",
    "provisioning",
    "queued",
    "in_progress",
    "in-progress",
    "starting",
    "restarting",
    "notready",
    "building",
    "deploying",
    "installing",
    "scheduled",
    "waiting",
];

/// A table with a column of states (`NAME READY STATUS`), and a row whose state will pass.
fn table_pends(text: &str) -> bool {
    let mut lines = text.lines().take(24);
    let header = lines.by_ref().find(|line| {
        line.split_whitespace()
            .any(|cell| matches!(cell, "STATUS" | "STATE" | "PHASE"))
            && line.split_whitespace().count() >= 2
    });
    header.is_some()
        && lines.any(|line| {
            line.split_whitespace()
                .skip(1)
                .take(12)
                .any(|cell| PASSING_STATES.contains(&cell.to_lowercase().as_str()))
        })
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(open)?;
    Some(rest.split_once(close)?.0)
}

fn going_on(state: &str) -> bool {
    let state = state.trim_matches(|c: char| !c.is_alphanumeric());
    // None is longer, in any case it may be written in.
    state.len() <= LONGEST_STATE && GOING_ON.contains(&state.to_lowercase().as_str())
}

/// A line that is a state (`RUNNING`, `pending...`), names one (`state: TRAINING`), or says of one subject
/// that it is still going on.
fn line_pends(line: &str) -> bool {
    if going_on(line) {
        return true;
    }
    if let Some((name, state)) = line.split_once([':', '=']) {
        let name = name
            .trim_matches(|c: char| !c.is_alphanumeric())
            .to_lowercase();
        let last = name.rsplit([' ', '_', '.']).next().unwrap_or_default();
        let first = state.split([',', ';', '(', '|']).next().unwrap_or_default();
        if STATE_NAMES.contains(&name.as_str()) || STATE_NAMES.contains(&last) {
            return going_on(first);
        }
        // `job 5521: waiting for approval`
        let words = name.split_whitespace().count();
        let state = state.trim().to_lowercase();
        return words <= 4
            && name.bytes().any(|b| b.is_ascii_digit())
            && GOING_ON.iter().any(|word| {
                state
                    .strip_prefix(word)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '.', ',']))
            })
            && state.split_whitespace().count() <= 6;
    }
    let line = line.to_lowercase();
    let still = ["is still ", "still in ", "is currently ", "are still "]
        .iter()
        .any(|phrase| line.contains(phrase));
    still
        && line.split_whitespace().count() <= 14
        && GOING_ON.iter().any(|word| {
            line.split(['.', ',', ';', '!'])
                .any(|part| part.trim_end().ends_with(word))
        })
}
