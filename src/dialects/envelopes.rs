//! What frameworks wrap around arguments, taken off (P3, P24).
//!
//! Invariant: where a wrapping is not certain, the text stays as it was sent.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::json::{Cursor, Kind, Malformed, Quoted};
use super::parts::value_text;
use super::python;
use super::raw::{Text, own};

/// Most wrappings taken off one inside the other.
pub(super) const LAYERS: u8 = 4;

/// Arguments without their wrapping.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BareArguments<'a> {
    /// What is left.
    pub text: Text<'a>,
    /// The framework itself says that the model wrote no JSON.
    pub invalid: bool,
}

/// Takes the wrappings off arguments: strings in strings, `{args, kwargs}`, `{input: {..}}`.
pub fn bare_arguments<'a>(text: &Text<'a>) -> BareArguments<'a> {
    match text {
        Cow::Borrowed(text) => arguments_of(text, 0),
        Cow::Owned(text) => {
            let bare = arguments_of(text, 0);
            BareArguments {
                text: own(bare.text),
                invalid: bare.invalid,
            }
        }
    }
}

fn arguments_of(text: &str, layer: u8) -> BareArguments<'_> {
    let as_sent = BareArguments {
        text: Cow::Borrowed(text),
        invalid: false,
    };
    if layer >= LAYERS {
        return as_sent;
    }
    let mut cursor = Cursor::new(text);
    match cursor.kind() {
        Kind::Text => {
            let Ok(quoted) = cursor.quoted() else {
                return as_sent;
            };
            if !cursor.finished() {
                return as_sent;
            }
            // Only a string that holds an object is JSON in JSON; any other is the argument.
            let inner = quoted.decode();
            if !matches!(Cursor::new(&inner).kind(), Kind::Object | Kind::Text) {
                return as_sent;
            }
            match inner {
                Cow::Borrowed(inner) => arguments_of(inner, layer + 1),
                Cow::Owned(inner) => {
                    let bare = arguments_of(&inner, layer + 1);
                    BareArguments {
                        text: own(bare.text),
                        invalid: bare.invalid,
                    }
                }
            }
        }
        Kind::Object if python::begins_dict(text) => match python::to_json(text) {
            Some(json) => {
                let bare = arguments_of(&json, layer + 1);
                BareArguments {
                    text: own(bare.text),
                    invalid: bare.invalid,
                }
            }
            None => as_sent,
        },
        Kind::Object => open_arguments(text, layer).unwrap_or(as_sent),
        _ => as_sent,
    }
}

/// `Some` when the object is one of the known envelopes.
fn open_arguments(text: &str, layer: u8) -> Option<BareArguments<'_>> {
    const ENVELOPES: &[&str] = &[
        "args",
        "kwargs",
        "input",
        "arguments",
        "input_str",
        "INVALID_JSON",
        "sanitize_inputs_outputs",
    ];
    let first = text
        .trim_start()
        .strip_prefix('{')?
        .trim_start()
        .strip_prefix('"')?;
    if !ENVELOPES.iter().any(|key| first.starts_with(key)) {
        return None;
    }
    let members = members(text).ok()?;
    let get = |name: &str| members.iter().find(|(key, _)| key.0 == name).map(|m| m.1);
    if let Some(raw) = get("INVALID_JSON") {
        return Some(BareArguments {
            text: value_text(raw),
            invalid: true,
        });
    }
    if let Some(inner) = get("input_str") {
        // The inputs beside it are what the tool got, the text is how Python prints them.
        if let Some(inputs) = get("inputs").filter(|inputs| inputs.starts_with('{')) {
            return Some(arguments_of(inputs, layer + 1));
        }
        return Some(match value_text(inner) {
            Cow::Borrowed(inner) => arguments_of(inner, layer + 1),
            Cow::Owned(inner) => {
                let bare = arguments_of(&inner, layer + 1);
                BareArguments {
                    text: own(bare.text),
                    invalid: bare.invalid,
                }
            }
        });
    }
    let known = |key: &str| matches!(key, "args" | "kwargs" | "sanitize_inputs_outputs");
    if let Some(kwargs) = get("kwargs").filter(|kwargs| kwargs.starts_with('{')) {
        let bare_args = get("args").is_none_or(|args| matches!(args, "[]" | "null" | "{}"));
        if bare_args && members.iter().all(|(key, _)| known(key.0)) {
            return Some(arguments_of(kwargs, layer + 1));
        }
    }
    let mut filled = members.iter().filter(|(_, value)| *value != "null");
    let (key, value) = filled.next()?;
    let only = filled.next().is_none();
    let wraps = matches!(key.0, "kwargs" | "input" | "arguments" | "args");
    (only && wraps && value.starts_with('{')).then(|| arguments_of(value, layer + 1))
}

/// The members of the object that `text` is, values as they stand.
pub(super) fn members(text: &str) -> Result<SmallVec<[(Quoted<'_>, &str); 8]>, Malformed> {
    let mut members = SmallVec::new();
    let mut cursor = Cursor::new(text);
    if cursor.kind() != Kind::Object {
        return Err(Malformed);
    }
    cursor.object(|key, cursor| {
        members.push((key, cursor.value()?));
        Ok(())
    })?;
    if cursor.finished() {
        Ok(members)
    } else {
        Err(Malformed)
    }
}

/// The text that a finishing tool (`final_answer`, `submit`, `finish`) hands over: the arguments where
/// they are plain, else the member that holds it. `None` when there is none.
pub fn final_answer<'a>(arguments: &Text<'a>) -> Option<Text<'a>> {
    const NAMES: &[&str] = &[
        "answer",
        "final_answer",
        "result",
        "response",
        "text",
        "message",
        "output",
        "content",
        "summary",
        "value",
    ];
    let find = |text: &str| -> Option<String> {
        let members = members(text).ok()?;
        NAMES
            .iter()
            .find_map(|name| members.iter().find(|(key, _)| key.0 == *name))
            .filter(|(_, value)| *value != "null")
            .map(|(_, value)| value_text(value).into_owned())
    };
    match Cursor::new(arguments).kind() {
        Kind::Object => find(arguments).map(Cow::Owned),
        Kind::Text => Some(own(value_text(arguments))),
        Kind::End | Kind::Null => None,
        Kind::Array | Kind::Scalar => Some(arguments.clone()),
    }
}
