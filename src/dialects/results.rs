//! What frameworks wrap around results, taken off, and what the wrapping says of success (P4, P32).
//!
//! Invariant: where a wrapping is not certain, the text stays as it was sent.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::envelopes::{LAYERS, members};
use super::json::{Cursor, Kind, Malformed, Quoted};
use super::messages::{content_text, entry};
use super::parts::value_text;
use super::python;
use super::raw::{Text, own};

/// A result without its wrapping, and what the wrapping said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BareResult<'a> {
    /// What is left.
    pub text: Text<'a>,
    /// A status or error member says that the call failed, or that it did not.
    pub failed: Option<bool>,
    /// Exit code named by a member.
    pub exit_code: Option<i64>,
    /// Call id named by the wrapping.
    pub call_id: Option<Text<'a>>,
}

/// Takes the wrappings off a result: message objects, `{result: X}`, lists of text blocks, quotes.
pub fn bare_result<'a>(text: &Text<'a>) -> BareResult<'a> {
    match text {
        Cow::Borrowed(text) => result_of(text, 0),
        Cow::Owned(text) => result_of(text, 0).into_owned(),
    }
}

impl BareResult<'_> {
    fn into_owned<'b>(self) -> BareResult<'b> {
        BareResult {
            text: own(self.text),
            failed: self.failed,
            exit_code: self.exit_code,
            call_id: self.call_id.map(own),
        }
    }
}

fn result_of(text: &str, layer: u8) -> BareResult<'_> {
    let as_sent = BareResult {
        text: Cow::Borrowed(text),
        ..BareResult::default()
    };
    if layer >= LAYERS {
        return as_sent;
    }
    let mut cursor = Cursor::new(text);
    match cursor.kind() {
        Kind::Text => match cursor.quoted() {
            Ok(quoted) if cursor.finished() => match quoted.decode() {
                Cow::Borrowed(inner) => result_of(inner, layer + 1),
                Cow::Owned(inner) => result_of(&inner, layer + 1).into_owned(),
            },
            _ => as_sent,
        },
        Kind::Object => match members(text) {
            Ok(members) => open_result(text, &members, layer),
            Err(Malformed) => as_sent,
        },
        Kind::Array => blocks(text).unwrap_or(as_sent),
        Kind::Scalar if text.starts_with("content=") => match python::message(text) {
            Some(printed) => BareResult {
                text: printed.content,
                failed: printed.failed,
                exit_code: None,
                call_id: printed.call_id,
            },
            None => as_sent,
        },
        _ => as_sent,
    }
}

fn open_result<'a>(text: &'a str, members: &[(Quoted<'a>, &'a str)], layer: u8) -> BareResult<'a> {
    let get = |name: &str| members.iter().find(|(key, _)| key.0 == name).map(|m| m.1);
    let object = |name: &str| get(name).filter(|value| value.starts_with('{'));
    let is_message = get("lc").is_some() || get("type") == Some("\"tool\"");
    if let Some(inner) = object("kwargs").or(object("data")).filter(|_| is_message) {
        return result_of(inner, layer + 1);
    }
    // What LangChain's callbacks hand on: the message, and the arguments of the callback.
    let callback = members.len() == 2 && get("kwargs").is_some();
    if members.len() == 1 || callback {
        let text = get("output").filter(|output| output.starts_with('"'));
        if let Some(inner) = object("output").or(text) {
            return result_of(inner, layer + 1);
        }
    }
    if members.len() == 1
        && let Some(inner) = get("result")
    {
        return if inner.starts_with(['{', '[', '"']) {
            result_of(inner, layer + 1)
        } else {
            BareResult {
                text: Cow::Borrowed(inner),
                ..BareResult::default()
            }
        };
    }
    let (failed, exit_code) = verdict(members);
    if let Some(text) = printed(members) {
        return BareResult {
            text,
            failed,
            exit_code,
            call_id: None,
        };
    }
    let call_id = get("tool_call_id").or(get("toolUseId")).map(value_text);
    // A `status` of any other kind is part of the answer, not of its wrapping.
    let status = get("status").is_some_and(|s| matches!(s, "\"success\"" | "\"error\""));
    let wraps = call_id.is_some() || get("isError").is_some() || status;
    let content = get("content").filter(|_| wraps);
    let content = content.and_then(|content| match content_text(content) {
        Some(Cow::Borrowed(text)) => Some(result_of(text, layer + 1)),
        Some(Cow::Owned(text)) => Some(result_of(&text, layer + 1).into_owned()),
        None => None,
    });
    match content {
        Some(inner) => BareResult {
            text: inner.text,
            failed: failed.or(inner.failed),
            exit_code: exit_code.or(inner.exit_code),
            call_id,
        },
        None => BareResult {
            text: Cow::Borrowed(text),
            failed,
            exit_code,
            call_id,
        },
    }
}

/// What a command printed, where the result is that and its exit code and nothing else.
fn printed<'a>(members: &[(Quoted<'a>, &'a str)]) -> Option<Text<'a>> {
    let mut texts: SmallVec<[Text<'a>; 1]> = SmallVec::new();
    let mut has_code = false;
    for (key, value) in members {
        match key.0 {
            "stdout" | "stderr" | "output" if value.starts_with('"') => {
                texts.push(value_text(value));
            }
            key if EXIT_CODES.contains(&key) => has_code = true,
            _ => return None,
        }
    }
    texts.retain(|text| !text.is_empty());
    has_code.then(|| super::messages::join(texts).unwrap_or_default())
}

/// Members that hold an exit code.
const EXIT_CODES: &[&str] = &[
    "exit_code",
    "exitCode",
    "returncode",
    "return_code",
    "exit_status",
];

/// What the members of a result say about success (P4, P32).
fn verdict(members: &[(Quoted<'_>, &str)]) -> (Option<bool>, Option<i64>) {
    let mut failed = None;
    let mut exit_code = None;
    for (key, value) in members {
        match key.0 {
            "status" => match *value {
                "\"error\"" => failed = Some(true),
                "\"success\"" | "\"ok\"" => failed = failed.or(Some(false)),
                _ => {}
            },
            "isError" | "is_error" if *value == "true" => failed = Some(true),
            "error" | "error_message" if says_something(value) => failed = Some(true),
            key if EXIT_CODES.contains(&key) => {
                exit_code = value_text(value).trim().parse().ok().or(exit_code);
            }
            _ => {}
        }
    }
    (failed, exit_code)
}

/// Whether an `error` member holds an error, not the absence of one.
fn says_something(value: &str) -> bool {
    !matches!(
        value,
        "null" | "false" | "\"\"" | "0" | "{}" | "[]" | "\"none\"" | "\"None\""
    )
}

/// Text blocks, joined; `None` when the list is anything else.
fn blocks(text: &str) -> Option<BareResult<'_>> {
    let mut result = BareResult::default();
    let mut texts: SmallVec<[Text<'_>; 1]> = SmallVec::new();
    let mut other = false;
    let mut cursor = Cursor::new(text);
    cursor
        .array(|cursor| {
            if cursor.kind() != Kind::Object {
                other = true;
                return Ok(());
            }
            let block = entry(cursor)?;
            let is_text = block.kind.is_none_or(|kind| kind.0 == "text");
            match super::messages::own_text(&block).filter(|_| is_text) {
                Some(text) => texts.push(text),
                None => other = true,
            }
            Ok(())
        })
        .ok()?;
    if other || !cursor.finished() {
        return None;
    }
    result.text = super::messages::join(texts)?;
    Some(result)
}

/// The response inside a message of role tool: `[{parts:[{type:"tool_call_response", response}]}]`.
pub(super) fn tool_response(text: Text<'_>) -> Option<Text<'_>> {
    match text {
        Cow::Borrowed(text) => response_of(text),
        Cow::Owned(text) => response_of(&text).map(own),
    }
}

fn response_of(text: &str) -> Option<Text<'_>> {
    let mut found = None;
    let mut cursor = Cursor::new(text);
    let _ = cursor.array(|cursor| {
        let message = entry(cursor)?;
        if let Some(parts) = message.parts.or(message.content) {
            Cursor::new(parts).array(|cursor| {
                let part = entry(cursor)?;
                if part.tool_result {
                    found = found.or(part.response.or(part.content));
                }
                Ok(())
            })?;
        }
        Ok(())
    });
    found.map(Cow::Borrowed)
}
