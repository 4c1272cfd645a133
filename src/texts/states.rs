//! Answers that say that something is still going on.
//!
//! Invariant: in doubt none. Prose that merely mentions such a word is not taken for it.

use super::answers::SHORT;
use super::members::{Value, folded, members};
use super::visible::strip;
use crate::model::Excerpt;

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
