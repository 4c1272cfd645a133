//! Answers as Python prints the objects that hold them: `ResponseFunctionToolCall(arguments='{..}', name='t', ..)`
//! where a text should stand [OpenAI Agents by OpenTelemetry's instrumentation, hand-written exporters].
//!
//! Invariant: only what is named a message, a block or a call is taken for one; other objects are the answer
//! itself, such as code that the model wrote. One that is cut short says nothing.

use super::json::{Cursor, Kind, pick};
use super::python;

/// Kinds of blocks and items, and roles, that tell an answer from any other object.
const KINDS: &[&str] = &[
    "\"message\"",
    "\"output_text\"",
    "\"text\"",
    "\"refusal\"",
    "\"reasoning\"",
    "\"thinking\"",
    "\"function_call\"",
    "\"function\"",
    "\"tool_use\"",
    "\"tool_call\"",
    "\"ai\"",
];
const ROLES: &[&str] = &["\"assistant\"", "\"model\""];

/// The JSON of an answer that Python printed.
pub(super) fn answer(text: &str) -> Option<String> {
    if !begins(text) {
        return None;
    }
    let json = python::objects_to_json(text)?;
    says_so(&json).then_some(json)
}

/// Whether a text sets out to be such an answer, whole or cut short.
pub(super) fn begins_answer(text: &str) -> bool {
    let text = text.trim_start().trim_start_matches('[');
    [
        "ResponseFunctionToolCall(",
        "ResponseOutputMessage(",
        "ResponseOutputText(",
        "ResponseReasoningItem(",
        "ChatCompletion(",
        "ChatCompletionMessage(",
    ]
    .iter()
    .any(|class| text.starts_with(class))
}

/// A class and its parenthesis, or a dictionary, alone or in a list.
pub(super) fn begins(text: &str) -> bool {
    let text = text.trim_start();
    let first = text.strip_prefix('[').unwrap_or(text).trim_start();
    let name = first
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'))
        .count();
    let of_class = first.starts_with(|c: char| c.is_ascii_uppercase())
        && first.as_bytes().get(name) == Some(&b'(');
    of_class || python::begins_dict(first)
}

fn says_so(json: &str) -> bool {
    let mut cursor = Cursor::new(json);
    let mut first = json;
    if cursor.kind() == Kind::Array {
        let read = cursor.array(|cursor| {
            if first.len() == json.len() {
                first = cursor.value()?;
            }
            Ok(())
        });
        if read.is_err() || first.len() == json.len() {
            return false;
        }
    }
    let [kind, role, choices] = pick(first, ["type", "role", "choices"]);
    kind.is_some_and(|kind| KINDS.contains(&kind))
        || role.is_some_and(|role| ROLES.contains(&role))
        || choices.is_some_and(|list| list.starts_with('['))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_from_other_objects() {
        for text in [
            "ResponseFunctionToolCall(arguments='{}', call_id='c', name='t', type='function_call')",
            "[TextBlock(citations=None, text='hi', type='text')]",
            "ChatCompletionMessage(content='hi', role='assistant', tool_calls=None)",
            "ChatCompletion(id='x', choices=[Choice(index=0)])",
            "{'text': '', 'type': 'output_text'}",
        ] {
            assert!(answer(text).is_some(), "{text}");
        }
        for text in [
            "Point(x=1, y=2)",
            "[Point(x=1)]",
            "Done(everything) and more",
            "{'rows': 3}",
            "[]",
            "print('hi')",
            "ResponseFunctionToolCall(arguments='{",
        ] {
            assert_eq!(answer(text), None, "{text}");
        }
        assert!(begins_answer("ResponseFunctionToolCall(arguments='{"));
    }
}
