//! What a model gave out, from messages as JSON.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::json::{Cursor, Kind, Malformed};
use super::messages::{Entry, content_text, entry, join, own_text};
use super::printed;
use super::raw::{RawCall, Reply, Text};

/// Whose output a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// One answer of a model: all its assistant messages count.
    Model,
    /// A whole run, which may hold its inner conversation: the last assistant message with a text counts.
    Run,
}

/// Reads a list of calls that stands by itself.
pub(super) fn requested(text: Text<'_>) -> SmallVec<[RawCall<'_>; 2]> {
    fn read(text: &str) -> Reply<'_> {
        let mut found = Found::default();
        match calls(text, &mut found) {
            Ok(()) => found.reply(),
            Err(Malformed) => Reply::default(),
        }
    }
    match text {
        Cow::Borrowed(text) => read(text).calls,
        Cow::Owned(text) => read(&text).into_owned().calls,
    }
}

/// What has been found so far of one answer.
#[derive(Default)]
pub(super) struct Found<'a> {
    texts: SmallVec<[Text<'a>; 1]>,
    reasoning: SmallVec<[Text<'a>; 1]>,
    calls: SmallVec<[RawCall<'a>; 2]>,
    finish: Option<Text<'a>>,
    /// A part that should hold text holds none (P1), or holds something that is no text.
    unreadable: bool,
    /// A message was there at all.
    seen: bool,
}

/// Reads a message, a list of messages, or the blocks of one.
pub(super) fn read_output(text: &str, whose: Whose) -> Reply<'_> {
    let mut cursor = Cursor::new(text);
    let mut found = Found::default();
    let read = match cursor.kind() {
        Kind::Array => cursor.array(|cursor| element(cursor, whose, &mut found)),
        Kind::Object => element(&mut cursor, whose, &mut found),
        Kind::Text => cursor.quoted().map(|quoted| {
            found.seen = true;
            found.texts.push(quoted.decode());
        }),
        Kind::Null => Ok(()),
        Kind::Scalar | Kind::End => return plain(text),
    };
    if read.is_err() || !cursor.finished() {
        let json = text.trim_start();
        if json.starts_with("[{\"") || json.starts_with("{\"") || json.starts_with("[{ ") {
            // JSON that a length limit cut short: what it would have said is unknown.
            return Reply::default();
        }
        return plain(text);
    }
    if !found.seen && text.trim() == "[]" {
        // An empty list of blocks is an empty answer [strands].
        found.seen = true;
    }
    found.reply()
}

fn plain(text: &str) -> Reply<'_> {
    Reply {
        text: Some(Cow::Borrowed(text)),
        ..Reply::default()
    }
}

/// One element of the list: a message, or a block of the only message.
fn element<'a>(
    cursor: &mut Cursor<'a>,
    whose: Whose,
    found: &mut Found<'a>,
) -> Result<(), Malformed> {
    if cursor.kind() == Kind::Text {
        found.seen = true;
        found.texts.push(cursor.quoted()?.decode());
        return Ok(());
    }
    if cursor.kind() != Kind::Object {
        return Ok(());
    }
    let entry = entry(cursor)?;
    let kind = entry.kind.map(|kind| kind.0);
    if entry.role.is_none() && matches!(kind, Some("human" | "system" | "tool")) {
        // Somebody else's message in a history [langchain].
        return Ok(());
    }
    let is_message = entry.role.is_some()
        || entry.parts.is_some()
        || entry.tool_calls.is_some()
        || matches!(kind, Some("ai" | "AIMessage" | "AIMessageChunk"));
    if !is_message {
        return block(&entry, found);
    }
    if entry
        .role
        .is_some_and(|role| !matches!(role.0, "assistant" | "model" | "ai"))
    {
        return Ok(());
    }
    if whose == Whose::Model {
        return message(&entry, found);
    }
    let mut own = Found::default();
    message(&entry, &mut own)?;
    if !own.texts.is_empty() || own.unreadable || found.texts.is_empty() {
        *found = own;
    }
    Ok(())
}

fn message<'a>(message: &Entry<'a>, found: &mut Found<'a>) -> Result<(), Malformed> {
    found.seen = true;
    if let Some(finish) = message.finish {
        found.finish = Some(finish.decode());
    }
    if let Some(reasoning) = message.reasoning {
        found.reasoning.push(reasoning.decode());
    }
    if let Some(parts) = message.parts {
        list(parts, found)?;
    }
    if let Some(content) = message.content {
        list(content, found)?;
    }
    // The same calls may stand in the parts and beside them.
    let beside = message.tool_calls.filter(|_| found.calls.is_empty());
    for list in [beside, message.broken_calls].into_iter().flatten() {
        calls(list, found)?;
    }
    if found.calls.is_empty() && message.parts.is_none() && message.call.is_some() {
        // The single call of the first generation of function calling.
        call(message, found);
    }
    Ok(())
}

/// A list of calls.
fn calls<'a>(list: &'a str, found: &mut Found<'a>) -> Result<(), Malformed> {
    let mut cursor = Cursor::new(list);
    if cursor.kind() != Kind::Array {
        return Ok(());
    }
    cursor.array(|cursor| {
        if cursor.kind() == Kind::Object {
            let entry = entry(cursor)?;
            call(&entry, found);
        }
        Ok(())
    })
}

fn list<'a>(content: &'a str, found: &mut Found<'a>) -> Result<(), Malformed> {
    let mut cursor = Cursor::new(content);
    match cursor.kind() {
        Kind::Text => found.texts.push(cursor.quoted()?.decode()),
        Kind::Array => cursor.array(|cursor| {
            match cursor.kind() {
                Kind::Text => found.texts.push(cursor.quoted()?.decode()),
                Kind::Object => {
                    let entry = entry(cursor)?;
                    block(&entry, found)?;
                }
                _ => {}
            }
            Ok(())
        })?,
        Kind::Object => {
            let entry = entry(&mut cursor)?;
            block(&entry, found)?;
        }
        _ => {}
    }
    Ok(())
}

/// One part or block.
fn block<'a>(part: &Entry<'a>, found: &mut Found<'a>) -> Result<(), Malformed> {
    found.seen = true;
    let kind = part.kind.map(|kind| kind.0);
    match kind {
        Some("text" | "output_text" | "refusal") => push_text(own_text(part), found),
        Some("reasoning" | "thinking" | "redacted_thinking") => {
            let text = part
                .reasoning
                .map(|quoted| quoted.decode())
                .or_else(|| own_text(part))
                .or_else(|| content_text(part.summary?))
                .or_else(|| content_text(part.content?));
            found.reasoning.extend(text);
        }
        Some("tool_call" | "tool_use" | "tool-call" | "function_call" | "function") => {
            call(part, found);
        }
        None if part.call.is_some() => call(part, found),
        None if part.text.is_some() => push_text(own_text(part), found),
        None if part.reasoning.is_some() => {
            found
                .reasoning
                .extend(part.reasoning.map(|quoted| quoted.decode()));
        }
        _ if part.tool_result => {}
        _ => found.unreadable = true,
    }
    Ok(())
}

fn push_text<'a>(text: Option<Text<'a>>, found: &mut Found<'a>) {
    match text {
        Some(text) => match printed::answer(&text) {
            // A Python object written out in place of what it says.
            Some(json) => found.merge(read_output(&json, Whose::Model).into_owned()),
            None if printed::begins_answer(&text) => found.unreadable = true,
            None => found.texts.push(text),
        },
        None => found.unreadable = true,
    }
}

/// A call in any of its shapes: `{function:{name,arguments}}`, `{name,args}`, `{tool_name,arguments}`,
/// `{toolUse:{toolUseId,name,input}}`, `{type:"tool_use",id,name,input}`.
fn call<'a>(outer: &Entry<'a>, found: &mut Found<'a>) {
    let inner = outer.call.and_then(|text| {
        let mut cursor = Cursor::new(text);
        (cursor.kind() == Kind::Object)
            .then(|| entry(&mut cursor).ok())
            .flatten()
    });
    let inner = inner.as_ref().unwrap_or(outer);
    let Some(name) = inner.name.or(outer.name) else {
        found.unreadable = true;
        return;
    };
    found.calls.push(RawCall {
        id: outer.id.or(inner.id).map(|quoted| quoted.decode()),
        name: name.decode(),
        arguments: inner.arguments.or(outer.arguments).map(value_text),
    });
}

/// A JSON value as text: a string as what it says, anything else as it stands.
pub(super) fn value_text(value: &str) -> Text<'_> {
    let mut cursor = Cursor::new(value);
    if cursor.kind() == Kind::Text
        && let Ok(quoted) = cursor.quoted()
    {
        return quoted.decode();
    }
    Cow::Borrowed(value)
}

impl<'a> Found<'a> {
    /// Takes in a message, a list of them, a text, given as JSON.
    pub(super) fn add(&mut self, value: &'a str, whose: Whose) {
        let mut cursor = Cursor::new(value);
        let read = match cursor.kind() {
            Kind::Array => cursor.array(|cursor| element(cursor, whose, self)),
            Kind::Object => element(&mut cursor, whose, self),
            Kind::Text => cursor.quoted().map(|quoted| {
                self.seen = true;
                self.texts.push(quoted.decode());
            }),
            _ => Ok(()),
        };
        self.unreadable |= read.is_err();
    }

    /// Takes in what was read of a part by itself.
    fn merge(&mut self, reply: Reply<'a>) {
        let only_asks = !reply.calls.is_empty() || !reply.reasoning.is_empty();
        match reply.text {
            Some(text) if !(only_asks && text.is_empty()) => self.texts.push(text),
            None if !only_asks => self.unreadable = true,
            _ => {}
        }
        self.reasoning.extend(reply.reasoning);
        self.calls.extend(reply.calls);
        self.finish = reply.finish.or(self.finish.take());
    }

    /// Notes why the model stopped, given as JSON.
    pub(super) fn stopped(&mut self, reason: Option<&'a str>) {
        if let Some(reason) = reason.filter(|reason| reason.starts_with('"')) {
            self.finish = Some(value_text(reason));
        }
    }

    /// What it all comes to.
    pub(super) fn reply(self) -> Reply<'a> {
        let empty = self.seen && !self.unreadable;
        Reply {
            text: join(self.texts).or(empty.then_some(Cow::Borrowed(""))),
            reasoning: self.reasoning,
            calls: self.calls,
            finish: self.finish,
        }
    }
}

/// The last word of a JSON list of words, or the text itself where it is none.
pub(super) fn last_word(text: &str) -> Text<'_> {
    let mut cursor = Cursor::new(text);
    let mut last = None;
    if cursor.kind() == Kind::Array {
        let _ = cursor.array(|cursor| {
            if cursor.kind() == Kind::Text {
                last = Some(cursor.quoted()?.decode());
            }
            Ok(())
        });
    }
    last.unwrap_or_else(|| value_text(text))
}
