//! Messages as JSON, in the shapes that frameworks send: GenAI parts, chat completions, content blocks,
//! Anthropic and Bedrock tool blocks (P28). What a model gave out is in `parts.rs`.
//!
//! Invariant: a part without its content is unknown, never empty (P1); JSON cut short is unknown too.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::json::{Cursor, Kind, Malformed, Quoted, pick};
use super::parts::value_text;
use super::raw::{Input, Text};

/// The members of one message, part or block that are looked at, as they stand in the text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry<'a> {
    pub(super) role: Option<Quoted<'a>>,
    pub(super) kind: Option<Quoted<'a>>,
    /// `content`: a string, a list of parts, or null.
    pub(super) content: Option<&'a str>,
    pub(super) parts: Option<&'a str>,
    /// `text`, `thinking`, `refusal`, `reasoning`: a string.
    pub(super) text: Option<Quoted<'a>>,
    pub(super) reasoning: Option<Quoted<'a>>,
    /// `summary`: a list of parts that tell the reasoning.
    pub(super) summary: Option<&'a str>,
    pub(super) tool_calls: Option<&'a str>,
    /// Calls whose arguments the framework could not read [langchain].
    pub(super) broken_calls: Option<&'a str>,
    /// `function`, `toolUse`, `tool_call`: the object that holds a call's name and arguments.
    pub(super) call: Option<&'a str>,
    pub(super) id: Option<Quoted<'a>>,
    pub(super) name: Option<Quoted<'a>>,
    pub(super) arguments: Option<&'a str>,
    pub(super) response: Option<&'a str>,
    pub(super) finish: Option<Quoted<'a>>,
    pub(super) tool_result: bool,
}

/// Reads one object; of a message that LangChain serialised, what is in its constructor's arguments or its data.
pub(super) fn entry<'a>(cursor: &mut Cursor<'a>) -> Result<Entry<'a>, Malformed> {
    let (outer, inner) = members(cursor)?;
    let Some(inner) = inner else {
        return Ok(outer);
    };
    let (mut inner, _) = members(&mut Cursor::new(inner))?;
    inner.kind = inner.kind.or(outer.kind);
    Ok(inner)
}

/// Kinds of messages that LangChain puts into `{type, data}`.
const WRAPPED: &[&str] = &["human", "ai", "system", "tool", "AIMessageChunk"];

fn members<'a>(cursor: &mut Cursor<'a>) -> Result<(Entry<'a>, Option<&'a str>), Malformed> {
    let mut entry = Entry::default();
    let (mut serialised, mut constructed, mut data) = (false, None, None);
    cursor.object(|key, cursor| {
        let string = |cursor: &mut Cursor<'a>| -> Result<Option<Quoted<'a>>, Malformed> {
            if cursor.kind() == Kind::Text {
                return cursor.quoted().map(Some);
            }
            Ok(None)
        };
        match key.0 {
            "role" => entry.role = string(cursor)?,
            "type" => entry.kind = string(cursor)?,
            "content" => entry.content = Some(cursor.value()?),
            "parts" => entry.parts = Some(cursor.value()?),
            "text" | "refusal" => entry.text = string(cursor)?.or(entry.text),
            "thinking" | "reasoning" | "reasoning_content" => {
                entry.reasoning = string(cursor)?.or(entry.reasoning);
            }
            "summary" if cursor.kind() == Kind::Array => entry.summary = Some(cursor.value()?),
            "tool_calls" | "toolCalls" => entry.tool_calls = Some(cursor.value()?),
            "invalid_tool_calls" => entry.broken_calls = Some(cursor.value()?),
            "function" | "toolUse" | "functionCall" | "function_call"
                if cursor.kind() == Kind::Null => {}
            "function" | "toolUse" | "functionCall" | "function_call" => {
                entry.call = Some(cursor.value()?)
            }
            // Two ids: the one that results refer to wins.
            "call_id" | "tool_call_id" | "toolCallId" | "toolUseId" => {
                entry.id = string(cursor)?.or(entry.id);
            }
            "id" => entry.id = entry.id.or(string(cursor)?),
            "name" | "toolName" | "tool_name" => entry.name = string(cursor)?.or(entry.name),
            "arguments" | "args" | "input" => entry.arguments = Some(cursor.value()?),
            "response" | "result" | "output" => entry.response = Some(cursor.value()?),
            "finish_reason" | "stop_reason" | "finishReason" => {
                entry.finish = string(cursor)?.or(entry.finish);
            }
            "lc" => serialised = true,
            "kwargs" if cursor.kind() == Kind::Object => constructed = Some(cursor.value()?),
            "data" if cursor.kind() == Kind::Object => data = Some(cursor.value()?),
            "response_metadata" if cursor.kind() == Kind::Object => {
                entry.finish = entry.finish.or(stopped(cursor.value()?));
            }
            "toolResult" | "functionResponse" => entry.tool_result = true,
            _ => {}
        }
        Ok(())
    })?;
    entry.tool_result |= matches!(
        entry.kind.map(|kind| kind.0),
        Some("tool_call_response" | "tool_result" | "tool-result" | "function_call_output")
    );
    let wraps = entry.role.is_none() && entry.kind.is_some_and(|kind| WRAPPED.contains(&kind.0));
    let inner = constructed
        .filter(|_| serialised)
        .or(data.filter(|_| wraps));
    Ok((entry, inner))
}

/// Why the model stopped, in what LangChain keeps of a response.
fn stopped(metadata: &str) -> Option<Quoted<'_>> {
    let [finish, stop] = pick(metadata, ["finish_reason", "stop_reason"]);
    let mut cursor = Cursor::new(finish.or(stop)?);
    (cursor.kind() == Kind::Text)
        .then(|| cursor.quoted().ok())
        .flatten()
}

/// Whether a message is a user's: not a tool's result and not a framework's own prompt under that role.
fn is_user(message: &Entry<'_>) -> bool {
    let by_role = match message.role {
        Some(role) => matches!(role.0, "user" | "human"),
        None => message.kind.is_some_and(|kind| kind.0 == "human"),
    };
    let content = message.parts.or(message.content);
    by_role
        && !message.tool_result
        && !only_results(content)
        && !content.is_some_and(is_framework_prompt)
}

/// `<system>Please return text or call a tool.</system>` under the role of a user [pydantic-ai].
fn is_framework_prompt(content: &str) -> bool {
    let front = content
        .get(..content.floor_char_boundary(80))
        .unwrap_or_default();
    front.contains("\"<system>") && content.contains("</system>\"")
}

/// The messages that a model was given: how many are a user's, and where the first of them stands.
/// Only the frame of the messages is read; what they hold is passed over. A request as a whole will do
/// (`{"messages": [..]}`), and so will lists of lists [langchain].
pub(super) fn input(text: Text<'_>) -> Input<'_> {
    match text {
        Cow::Borrowed(text) => read_input(text, false),
        Cow::Owned(text) => read_input(&text, false).into_owned(),
    }
}

/// The first user message of a history, still encoded; nothing behind it is read. A text that is no JSON
/// is what the user said, and so is the member of an object that names a task.
pub(super) fn first_user(text: Text<'_>) -> Option<Text<'_>> {
    match text {
        Cow::Borrowed(text) => read_input(text, true).goal,
        Cow::Owned(text) => read_input(&text, true).goal.map(super::raw::own),
    }
}

fn read_input(text: &str, first_only: bool) -> Input<'_> {
    let mut cursor = Cursor::new(text);
    let mut walk = Walk {
        first_only,
        ..Walk::default()
    };
    let read = match cursor.kind() {
        Kind::Array => walk.list(&mut cursor, LAYERS),
        Kind::Object => walk.request(&mut cursor, LAYERS),
        Kind::Text | Kind::Scalar if first_only => {
            walk.goal = Some(text);
            Ok(())
        }
        _ => Ok(()),
    };
    Input {
        // Cut short: the count would be of a part, the goal is still the first.
        user_messages: (read.is_ok() && cursor.finished() && walk.listed).then_some(walk.users),
        goal: walk.goal.map(Cow::Borrowed),
        latest: walk.latest.map(Cow::Borrowed),
        results: walk.results(),
    }
}

/// Most wrappings around messages that are looked into.
const LAYERS: u8 = 4;

/// Members that hold messages, or what wraps them.
const LISTS: &[&str] = &["messages", "inputs", "input", "contents", "history"];
/// Members that hold a task in words.
const TASKS: &[&str] = &[
    "task",
    "prompt",
    "query",
    "question",
    "input",
    "inputs",
    "user_input",
    "message",
    "topic",
];

/// What has been found of the users.
#[derive(Default)]
struct Walk<'a> {
    users: u32,
    goal: Option<&'a str>,
    latest: Option<&'a str>,
    /// Nothing behind the first user is wanted.
    first_only: bool,
    /// A list of messages was there.
    listed: bool,
    /// Messages behind the last answer of the model.
    after: SmallVec<[Entry<'a>; 2]>,
}

/// Most messages behind the last answer of the model that are looked at for results.
const AFTER: usize = 64;

impl<'a> Walk<'a> {
    /// `Err` ends the walk: the text is malformed, or what was wanted is found.
    fn list(&mut self, cursor: &mut Cursor<'a>, layers: u8) -> Result<(), Malformed> {
        self.listed = true;
        cursor.array(|cursor| {
            match cursor.kind() {
                Kind::Array if layers > 0 => return self.list(cursor, layers - 1),
                Kind::Object => {}
                _ => return Ok(()),
            }
            let message = entry(cursor)?;
            let role = message.role.map(|role| role.0);
            if matches!(role, Some("assistant" | "model" | "ai")) {
                self.after.clear();
            } else if self.after.len() < AFTER && !self.first_only {
                self.after.push(message);
            }
            if is_user(&message) {
                let content = message.parts.or(message.content);
                self.users = self.users.saturating_add(1);
                if self.goal.is_none() {
                    self.goal = content;
                } else {
                    self.latest = content;
                }
                if self.first_only {
                    return Err(Malformed);
                }
            }
            Ok(())
        })
    }

    /// What calls gave back, as told behind the last answer of the model.
    fn results(&self) -> SmallVec<[(Text<'a>, Text<'a>); 1]> {
        let mut results = SmallVec::new();
        for message in &self.after {
            if let (Some("tool" | "function"), Some(id), Some(content)) = (
                message.role.map(|role| role.0),
                message.id,
                message.content.filter(|_| message.parts.is_none()),
            ) {
                results.push((id.decode(), value_text(content)));
                continue;
            }
            let mut cursor = Cursor::new(message.parts.or(message.content).unwrap_or_default());
            if cursor.kind() != Kind::Array {
                continue;
            }
            let read = cursor.array(|cursor| {
                if cursor.kind() != Kind::Object {
                    return Ok(());
                }
                let part = entry(cursor)?;
                if let (true, Some(id), Some(result)) =
                    (part.tool_result, part.id, part.response.or(part.content))
                {
                    results.push((id.decode(), value_text(result)));
                }
                Ok(())
            });
            // What was read before it broke off stands.
            let _ = read;
        }
        results
    }

    fn request(&mut self, cursor: &mut Cursor<'a>, layers: u8) -> Result<(), Malformed> {
        let mut task = (usize::MAX, None);
        let mut found = false;
        cursor.object(|key, cursor| {
            match cursor.kind() {
                Kind::Array if !found && LISTS.contains(&key.0) => {
                    found = true;
                    return self.list(cursor, layers);
                }
                Kind::Object if !found && layers > 0 && LISTS.contains(&key.0) => {
                    self.request(cursor, layers - 1)?;
                    found = self.listed;
                }
                Kind::Text => {
                    let rank = TASKS.iter().position(|name| *name == key.0);
                    if let Some(rank) = rank.filter(|rank| *rank < task.0) {
                        task = (rank, Some(cursor.value()?));
                    }
                }
                _ => {}
            }
            Ok(())
        })?;
        self.goal = self.goal.or(task.1);
        Ok(())
    }
}

/// Whether a message's content is nothing but results of tools, which some frameworks send as a user's.
fn only_results(content: Option<&str>) -> bool {
    let mut cursor = Cursor::new(content.unwrap_or_default());
    if cursor.kind() != Kind::Array {
        return false;
    }
    let (mut results, mut others) = (0u32, 0u32);
    let _ = cursor.array(|cursor| {
        let result = cursor.kind() == Kind::Object && entry(cursor)?.tool_result;
        *(if result { &mut results } else { &mut others }) += 1;
        Ok(())
    });
    results > 0 && others == 0
}

/// Reads the text of a message's content as [`Input::goal`] holds it: a JSON string, a list of parts
/// or blocks, or plain text. `None` when its text is not captured.
pub fn goal_text<'a>(content: &Text<'a>) -> Option<Text<'a>> {
    match content {
        Cow::Borrowed(text) => content_text(text),
        Cow::Owned(text) => content_text(text).map(super::raw::own),
    }
}

/// All that is written in the strings, parts and blocks of a content, joined by line feeds.
pub(super) fn content_text(content: &str) -> Option<Text<'_>> {
    let mut cursor = Cursor::new(content);
    let mut texts = SmallVec::new();
    let read = match cursor.kind() {
        Kind::Text => cursor.quoted().map(|quoted| texts.push(quoted.decode())),
        Kind::Array => cursor.array(|cursor| part_text(cursor, &mut texts)),
        Kind::Object => part_text(&mut cursor, &mut texts),
        Kind::Null => return None,
        Kind::Scalar | Kind::End => return Some(Cow::Borrowed(content)),
    };
    if read.is_err() || !cursor.finished() {
        // Not JSON after all: a text that happens to begin like it.
        return Some(Cow::Borrowed(content));
    }
    join(texts)
}

fn part_text<'a>(
    cursor: &mut Cursor<'a>,
    texts: &mut SmallVec<[Text<'a>; 1]>,
) -> Result<(), Malformed> {
    match cursor.kind() {
        Kind::Text => texts.push(cursor.quoted()?.decode()),
        Kind::Object => {
            let part = entry(cursor)?;
            if let Some(text) = own_text(&part) {
                texts.push(text);
            }
        }
        _ => {}
    }
    Ok(())
}

/// The text that a part or block itself carries: `content` or `text`, strings both.
pub(super) fn own_text<'a>(part: &Entry<'a>) -> Option<Text<'a>> {
    if let Some(text) = part.text {
        return Some(text.decode());
    }
    let mut cursor = Cursor::new(part.content?);
    (cursor.kind() == Kind::Text)
        .then(|| cursor.quoted().ok())
        .flatten()
        .map(Quoted::decode)
}

/// Joins texts by line feeds; `None` when there are none.
pub(super) fn join<'a>(texts: SmallVec<[Text<'a>; 1]>) -> Option<Text<'a>> {
    if texts.len() > 1 {
        return Some(Cow::Owned(texts.join("\n")));
    }
    texts.into_iter().next()
}
