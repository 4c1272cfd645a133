//! Answers as providers and frameworks hand them on, taken out of what they wrap around them: chat
//! completions, responses, candidates, LangChain's generations, states of graphs (`{"messages": [..]}`).
//!
//! Invariant: an object of an unknown shape is no answer: what it says is unknown, not empty (P1).

use std::borrow::Cow;

use super::json::{Cursor, Kind, pick};
use super::parts::{Found, Whose, read_output};
use super::printed;
use super::raw::{Reply, Text, own};

/// Most wrappings taken off one inside the other.
const LAYERS: u8 = 4;

/// Members that hold the text of a whole run's result, in order of precedence.
const TEXTS: [&str; 7] = [
    "raw",
    "output",
    "answer",
    "final_answer",
    "content",
    "result",
    "response",
];

/// Reads what a model, or a run, gave out, in any of these shapes. A text that is no JSON is the answer.
pub(super) fn reply(text: Text<'_>, whose: Whose) -> Reply<'_> {
    match text {
        Cow::Borrowed(text) => read(text, whose, LAYERS),
        Cow::Owned(text) => read(&text, whose, LAYERS).into_owned(),
    }
}

fn read(text: &str, whose: Whose, layers: u8) -> Reply<'_> {
    if layers == 0 {
        return read_output(text, whose);
    }
    if Cursor::new(text).kind() != Kind::Object || printed::begins(text) {
        return printed_or_list(text, whose, layers);
    }
    let [
        choices,
        generations,
        candidates,
        messages,
        output,
        outputs,
        update,
    ] = pick(
        text,
        [
            "choices",
            "generations",
            "candidates",
            "messages",
            "output",
            "outputs",
            "update",
        ],
    );
    if let Some(choices) = choices {
        return each(choices, |choice, found| {
            let [message, delta, text] = pick(choice, ["message", "delta", "text"]);
            if let Some(said) = message.or(delta).or(text) {
                found.add(said, Whose::Model);
            }
            let [finish] = pick(choice, ["finish_reason"]);
            found.stopped(finish);
        });
    }
    if let Some(generations) = generations {
        return generated(generations);
    }
    if let Some(candidates) = candidates {
        return each(candidates, |candidate, found| {
            let [content, finish] = pick(candidate, ["content", "finishReason"]);
            if let Some(content) = content {
                let [parts] = pick(content, ["parts"]);
                found.add(parts.unwrap_or(content), Whose::Model);
            }
            found.stopped(finish);
        });
    }
    if let Some(messages) = messages.filter(|list| list.starts_with('[')) {
        return read_output(messages, Whose::Run);
    }
    if let Some(inner) = outputs.or(update).or(output).filter(|v| v.starts_with('{')) {
        return read(inner, whose, layers - 1);
    }
    if let Some(list) = output.or(outputs).filter(|v| v.starts_with('[')) {
        return items(list, whose, layers);
    }
    let [role, kind] = pick(text, ["role", "lc"]);
    if whose == Whose::Run && role.is_none() && kind.is_none() {
        let found = pick(text, TEXTS);
        if let Some(said) = found.into_iter().flatten().find(|v| v.starts_with('"')) {
            return read_output(said, whose);
        }
    }
    read_output(text, whose)
}

/// An answer that Python printed, or what is no object.
fn printed_or_list(text: &str, whose: Whose, layers: u8) -> Reply<'_> {
    match printed::answer(text) {
        Some(json) => read(&json, whose, layers - 1).into_owned(),
        None if printed::begins_answer(text) => Reply::default(),
        None => read_output(text, whose),
    }
}

/// The items of a response, or the updates of a graph's state.
fn items(list: &str, whose: Whose, layers: u8) -> Reply<'_> {
    let mut cursor = Cursor::new(list);
    let mut update = None;
    let _ = cursor.array(|cursor| {
        if cursor.kind() == Kind::Object {
            let item = cursor.value()?;
            let [state] = pick(item, ["update"]);
            update = state.or(update);
        }
        Ok(())
    });
    match update {
        Some(update) => read(update, whose, layers - 1),
        None => read_output(list, whose),
    }
}

/// LangChain's `[[{text, message}]]`.
fn generated(generations: &str) -> Reply<'_> {
    let mut inner = generations;
    let mut cursor = Cursor::new(generations);
    let _ = cursor.array(|cursor| {
        if cursor.kind() == Kind::Array && inner.len() == generations.len() {
            inner = cursor.value()?;
        }
        Ok(())
    });
    each(inner, |generation, found| {
        let [message, text, about] = pick(generation, ["message", "text", "generation_info"]);
        if let Some(said) = message.or(text) {
            found.add(said, Whose::Model);
        }
        let [finish] = pick(about.unwrap_or_default(), ["finish_reason"]);
        found.stopped(finish);
    })
}

/// What all elements of a list say together; unknown when the list is cut short.
fn each<'a>(list: &'a str, mut take: impl FnMut(&'a str, &mut Found<'a>)) -> Reply<'a> {
    let mut cursor = Cursor::new(list);
    let mut found = Found::default();
    let read = cursor.array(|cursor| {
        take(cursor.value()?, &mut found);
        Ok(())
    });
    match read {
        Ok(()) => found.reply(),
        Err(_) => Reply::default(),
    }
}

/// The text of a member that holds JSON in a string as well as JSON itself.
pub(super) fn unquoted(text: Text<'_>) -> Text<'_> {
    match text {
        Cow::Borrowed(text) => super::parts::value_text(text),
        Cow::Owned(text) => own(super::parts::value_text(&text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(text: &str, whose: Whose) -> (Option<String>, usize, Option<String>) {
        let reply = reply(Cow::Borrowed(text), whose);
        (
            reply.text.map(Cow::into_owned),
            reply.calls.len(),
            reply.finish.map(Cow::into_owned),
        )
    }

    #[test]
    fn answers_of_all_providers() {
        for (text, expected) in [
            (
                r#"{"id":"x","choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"t","arguments":"{}"}}]}}],"usage":{}}"#,
                (Some(""), 1, Some("tool_calls")),
            ),
            (
                r#"{"content":[{"type":"text","text":"hi"}],"role":"assistant","stop_reason":"end_turn"}"#,
                (Some("hi"), 0, Some("end_turn")),
            ),
            (
                r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"hi"},{"functionCall":{"name":"t","args":{}}}]},"finishReason":"STOP"}]}"#,
                (Some("hi"), 1, Some("STOP")),
            ),
            (
                r#"{"object":"response","output":[{"type":"function_call","call_id":"c","name":"t","arguments":"{}"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}]}"#,
                (Some("hi"), 1, None),
            ),
            (
                "ChatCompletion(id='x', choices=[Choice(finish_reason='tool_calls', message=ChatCompletionMessage(content=None, role='assistant', tool_calls=[ChatCompletionMessageToolCall(id='c', function=Function(arguments='{}', name='t'), type='function')]))])",
                (Some(""), 1, Some("tool_calls")),
            ),
            (
                "[ResponseReasoningItem(id='r', summary=[Summary(text='why', type='summary_text')], type='reasoning'), ResponseOutputMessage(id='m', content=[ResponseOutputText(annotations=[], text='hi', type='output_text')], role='assistant', status='completed', type='message')]",
                (Some("hi"), 0, None),
            ),
            ("Point(x=1)", (Some("Point(x=1)"), 0, None)),
            ("ChatCompletion(id='x', choices=[Ch", (None, 0, None)),
            (
                r#"{"generations":[[{"text":"","generation_info":{"finish_reason":"stop"},"message":{"lc":1,"type":"constructor","id":["AIMessage"],"kwargs":{"content":"","type":"ai","tool_calls":[],"invalid_tool_calls":[{"name":"t","args":"{\"a\"","id":"c"}]}}}]]}"#,
                (Some(""), 1, Some("stop")),
            ),
        ] {
            let (said, calls, finish) = says(text, Whose::Model);
            assert_eq!(
                (said.as_deref(), calls, finish.as_deref()),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn results_of_runs() {
        for (text, expected) in [
            (
                r#"{"messages":[{"type":"human","content":"do"},{"type":"ai","content":"a"},{"type":"tool","content":"t"},{"type":"ai","content":"done"}]}"#,
                Some("done"),
            ),
            (
                r#"{"outputs":{"messages":[{"lc":1,"kwargs":{"type":"ai","content":"done"}}]},"kwargs":{}}"#,
                Some("done"),
            ),
            (
                r#"{"messages":[{"type":"human","data":{"content":"do","type":"human"}},{"type":"ai","data":{"content":"done","type":"ai","tool_calls":[]}}]}"#,
                Some("done"),
            ),
            (r#"{"output":"done"}"#, Some("done")),
            (r#"{"rows":3}"#, None),
            (r#""done""#, Some("done")),
            ("done", Some("done")),
            ("{}", None),
        ] {
            assert_eq!(says(text, Whose::Run).0.as_deref(), expected, "{text}");
        }
    }
}
