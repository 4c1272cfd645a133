//! Tool calls that a model wrote as plain text instead of making them (A11).
//!
//! Invariant: conservative. Prose that explains a call, or JSON that merely has a `name`, is none.

use super::members::{Value, members};
use super::visible::strip;

/// Tags that models put around a call when their template is lost.
const TAGS: &[(&str, &str)] = &[
    ("<tool_call>", "</tool_call>"),
    ("<function_call>", "</function_call>"),
    ("<function_calls>", "</function_calls>"),
    ("<invoke name=", "</invoke>"),
    ("<function=", "</function>"),
    ("<tool_use>", "</tool_use>"),
    ("<|tool_call|>", ""),
    ("<|tool_calls_section_begin|>", ""),
    ("<|tool_call_begin|>", ""),
    ("<\u{ff5c}tool\u{2581}calls\u{2581}begin\u{ff5c}>", ""),
    ("<|python_tag|>", ""),
    ("[TOOL_CALLS]", ""),
    ("[TOOL_REQUEST]", ""),
    ("<|channel|>commentary to=", ""),
];

/// Languages of a code fence that holds a call.
const FENCES: &[&str] = &[
    "```tool_code",
    "```tool_call",
    "```function_call",
    "```tool_use",
];

/// Whether a text without think blocks writes a tool call out: known tags, `tool_code` fences, or JSON
/// with a name and arguments as all there is (alone, in a fence, or as the last paragraph).
pub(super) fn call_as_text(text: &str) -> bool {
    let text = strip(text);
    // Every tag begins with one of two bytes, every fence and every object holds one of two others.
    let bytes = text.as_bytes();
    if memchr::memchr2(b'<', b'[', bytes).is_some()
        && TAGS.iter().any(|(open, close)| tagged(text, open, close))
    {
        return true;
    }
    if memchr::memchr2(b'`', b'{', bytes).is_none() {
        return false;
    }
    if FENCES.iter().any(|fence| text.contains(fence)) {
        return true;
    }
    let last = text.rsplit("\n\n").next().unwrap_or_default();
    [text, last].into_iter().any(|part| is_call(unfenced(part)))
}

/// A tag that opens outside of inline code, and closes where it must.
fn tagged(text: &str, open: &str, close: &str) -> bool {
    let Some((before, after)) = text.split_once(open) else {
        return false;
    };
    // `<tool_call>` between backticks is talk about tags.
    let quoted = before.ends_with('`') || before.matches("```").count() % 2 == 1;
    // An answer cut off inside the tag is a call as well, if the tag begins a line.
    let begins_line = before.trim_end_matches([' ', '\t']).is_empty() || before.ends_with('\n');
    !quoted && (close.is_empty() || after.contains(close) || begins_line)
}

/// The inside of a fence that is all there is; else the text.
fn unfenced(text: &str) -> &str {
    let text = strip(text);
    let Some(inner) = text.strip_prefix("```").and_then(|t| t.strip_suffix("```")) else {
        return text;
    };
    let (language, body) = inner.split_once('\n').unwrap_or(("", inner));
    if matches!(language.trim(), "" | "json" | "tool" | "JSON") {
        strip(body)
    } else {
        text
    }
}

/// JSON of a call: a name that could be a tool's, and an object of arguments, little else.
fn is_call(text: &str) -> bool {
    let text = text
        .strip_prefix('[')
        .and_then(|t| t.strip_suffix(']'))
        .map_or(text, strip);
    if !text.starts_with('{') || !text.ends_with('}') {
        return false;
    }
    let (mut name, mut arguments, mut others) = (false, false, 0);
    for (key, value) in members(text) {
        match (key, value) {
            ("name" | "tool" | "tool_name" | "function" | "action", Value::Text(tool)) => {
                name = !tool.is_empty() && !tool.contains(char::is_whitespace);
            }
            (
                "arguments" | "parameters" | "args" | "input" | "tool_input" | "action_input"
                | "params" | "kwargs",
                Value::Raw(raw),
            ) => arguments = raw.starts_with('{'),
            ("arguments" | "action_input", Value::Text(_)) => arguments = true,
            ("function", Value::Raw(raw)) if raw.starts_with('{') => return is_call(raw),
            ("id" | "type" | "call_id" | "thought" | "thoughts" | "reasoning", _) => {}
            _ => others += 1,
        }
    }
    name && arguments && others == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_seen() {
        for text in [
            r#"{"name": "read_file", "arguments": {"path": "a.py"}}"#,
            "```json\n{\"name\": \"bash\", \"parameters\": {\"command\": \"ls\"}}\n```",
            "I will look first.\n\n{\"tool\": \"search\", \"args\": {\"q\": \"x\"}}",
            "<tool_call>\n{\"name\": \"x\"}\n</tool_call>",
            "Let me run it.\n<function=bash>\n<parameter=command>ls</parameter>\n</function>",
            "<invoke name=\"bash\"><parameter name=\"command\">ls</parameter></invoke>",
            "```tool_code\nprint(search(query='x'))\n```",
            "[TOOL_CALLS] [{\"name\": \"x\", \"arguments\": {}}]",
            r#"[{"type":"function","id":"1","function":{"name":"f","arguments":"{}"}}]"#,
            "<tool_call>{\"name\": \"x\", \"argum",
            r#"{"action": "lookup", "action_input": "tides"}"#,
        ] {
            assert!(call_as_text(text), "{text}");
        }
    }

    #[test]
    fn talk_about_calls_is_none() {
        for text in [
            "",
            "The model wraps calls in `<tool_call>` tags, which end with `</tool_call>`.",
            r#"{"name": "Ada", "age": 36}"#,
            r#"{"name": "a b c", "arguments": {"x": 1}}"#,
            "Use {\"name\": \"x\", \"arguments\": {}} as the body of the request, then wait.",
            "```python\nprint(1)\n```",
            "```xml\n<tool_call>x</tool_call>\n```",
            r#"{"name": "svc", "parameters": {"a": 1}, "replicas": 3}"#,
            "I called read_file(path='a.py') and it worked.",
        ] {
            assert!(!call_as_text(text), "{text}");
        }
    }
}
