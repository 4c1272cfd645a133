//! OpenInference's flattened lists: `llm.output_messages.{i}.message.*` and their like, whose attributes
//! come in any order.
//!
//! Invariant: bounded in what is told apart; a message of which nothing but its role came is empty, one
//! whose text a scrubber replaced is unknown.

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::otlp::{SpanView, Value};

use super::fields::{ATTRIBUTES, is_redacted};
use super::messages;
use super::raw::{Definitions, Input, RawCall, Reply, Text};
use super::values;

/// Most messages, parts, calls, tools told apart.
const ITEMS: usize = 256;

/// What the flattened lists of one span hold.
#[derive(Default)]
pub(super) struct Flat<'a> {
    outputs: SmallVec<[Message<'a>; 1]>,
    users: u32,
    first_user: Option<usize>,
    last_user: Option<usize>,
    inputs_seen: bool,
    tools: Vec<(usize, Text<'a>)>,
    tools_left_out: bool,
    /// `graph.node.id`.
    pub(super) node: Option<&'a str>,
}

#[derive(Default)]
struct Message<'a> {
    place: usize,
    content: Option<Text<'a>>,
    contents: SmallVec<[(usize, Block<'a>); 1]>,
    calls: SmallVec<[(usize, RawCall<'a>); 1]>,
    redacted: bool,
}

#[derive(Default)]
struct Block<'a> {
    kind: Option<&'a str>,
    text: Option<Text<'a>>,
}

/// Splits `12.rest` into the index and the rest.
fn indexed(key: &str) -> Option<(usize, &str)> {
    let (index, rest) = key.split_once('.')?;
    let index = index.parse().ok().filter(|index| *index < ITEMS * 16)?;
    Some((index, rest))
}

/// The entry of a list at `place`, made where it is missing; `None` beyond the bound.
fn at<T: Default>(list: &mut SmallVec<[(usize, T); 1]>, place: usize) -> Option<&mut T> {
    let found = list.iter().position(|(at, _)| *at == place);
    let found = match found {
        Some(found) => found,
        None if list.len() >= ITEMS => return None,
        None => {
            let before = list.iter().take_while(|(at, _)| *at < place).count();
            list.insert(before, (place, T::default()));
            before
        }
    };
    list.get_mut(found).map(|(_, item)| item)
}

impl<'a> Flat<'a> {
    pub(super) fn take(&mut self, key: &'a str, value: Value<'a>) {
        if key == "graph.node.id" {
            self.node = value.as_str().filter(|node| !node.is_empty());
            return;
        }
        let Some(rest) = key.strip_prefix("llm.") else {
            return;
        };
        if let Some(rest) = rest.strip_prefix("input_messages.") {
            self.inputs_seen = true;
            if let Some((place, "message.role")) = indexed(rest)
                && matches!(value, Value::Str("user" | "human"))
            {
                self.users = self.users.saturating_add(1);
                self.first_user = Some(self.first_user.map_or(place, |p| p.min(place)));
                self.last_user = self.last_user.max(Some(place));
            }
        } else if let Some(rest) = rest.strip_prefix("output_messages.") {
            if let Some((place, rest)) = indexed(rest) {
                self.output(place, rest, value);
            }
        } else if let Some(rest) = rest.strip_prefix("tools.")
            && let Some((place, "tool.json_schema")) = indexed(rest)
        {
            if self.tools.len() < ITEMS {
                let text = values::text(value).map(|text| (place, text));
                self.tools.extend(text);
            } else {
                self.tools_left_out = true;
            }
        }
    }

    fn output(&mut self, place: usize, rest: &'a str, value: Value<'a>) {
        let found = self
            .outputs
            .iter()
            .position(|message| message.place == place);
        let found = match found {
            Some(found) => found,
            None if self.outputs.len() >= ITEMS => return,
            None => {
                self.outputs.push(Message {
                    place,
                    ..Message::default()
                });
                self.outputs.len() - 1
            }
        };
        let (Some(message), Some(rest)) =
            (self.outputs.get_mut(found), rest.strip_prefix("message."))
        else {
            return;
        };
        if rest == "content" {
            message.content = readable(value, &mut message.redacted);
        } else if let Some(rest) = rest.strip_prefix("contents.") {
            let Some((place, rest)) = indexed(rest) else {
                return;
            };
            let Some(block) = at(&mut message.contents, place) else {
                return;
            };
            match rest {
                "message_content.type" => block.kind = value.as_str(),
                "message_content.text" => block.text = readable(value, &mut message.redacted),
                _ => {}
            }
        } else if let Some(rest) = rest.strip_prefix("tool_calls.") {
            let Some((place, rest)) = indexed(rest) else {
                return;
            };
            let Some(call) = at(&mut message.calls, place) else {
                return;
            };
            match rest {
                "tool_call.id" => call.id = values::text(value),
                "tool_call.function.name" => call.name = values::text(value).unwrap_or_default(),
                "tool_call.function.arguments" => {
                    let mut redacted = false;
                    call.arguments = readable(value, &mut redacted);
                }
                _ => {}
            }
        }
    }

    pub(super) fn reply(&mut self) -> Reply<'a> {
        let mut reply = Reply::default();
        let mut texts: SmallVec<[Text<'a>; 1]> = SmallVec::new();
        let mut redacted = false;
        let seen = !self.outputs.is_empty();
        for message in &mut self.outputs {
            redacted |= message.redacted;
            let mut blocks: SmallVec<[Text<'a>; 1]> = SmallVec::new();
            for (_, block) in &mut message.contents {
                let Some(text) = block.text.take() else {
                    continue;
                };
                match block.kind {
                    Some("reasoning" | "thinking") => reply.reasoning.push(text),
                    _ => blocks.push(text),
                }
            }
            // Some emitters send the same text in both places.
            match message.content.take() {
                Some(content) if !content.is_empty() || blocks.is_empty() => texts.push(content),
                _ => texts.extend(blocks),
            }
            let calls = message.calls.drain(..).map(|(_, call)| call);
            reply
                .calls
                .extend(calls.filter(|call| !call.name.is_empty()));
        }
        // A message of which nothing came but its role is an empty answer [agno, crewai].
        let empty = seen && !redacted;
        reply.text = messages::join(texts).or(empty.then_some(Cow::Borrowed("")));
        reply
    }

    pub(super) fn input(&self, span: &SpanView<'a>) -> Input<'a> {
        Input {
            user_messages: self.inputs_seen.then_some(self.users),
            goal: self.first_user.and_then(|place| user_text(span, place)),
            latest: self
                .last_user
                .filter(|_| self.users > 1)
                .and_then(|place| user_text(span, place)),
        }
    }

    /// The definitions, where all of them came: one that an SDK's limit on attributes left out would look
    /// invented.
    pub(super) fn definitions(&mut self, span: &SpanView<'a>) -> Option<Definitions<'a>> {
        self.tools.sort_by_key(|(place, _)| *place);
        let places = self.tools.iter().map(|(place, _)| *place);
        let in_a_row = places.eq(0..self.tools.len());
        if self.tools.is_empty() || self.tools_left_out || !in_a_row || !span.has_all_attributes() {
            return None;
        }
        let parts = self.tools.drain(..).map(|(_, text)| text).collect();
        Some(Definitions { parts })
    }
}

/// A text, unless a scrubber stands in its place.
fn readable<'a>(value: Value<'a>, redacted: &mut bool) -> Option<Text<'a>> {
    let text = values::text(value)?;
    *redacted |= is_redacted(&text);
    (!is_redacted(&text)).then_some(text)
}

/// The text of the input message at `place`.
fn user_text<'a>(span: &SpanView<'a>, place: usize) -> Option<Text<'a>> {
    let mut texts: SmallVec<[Text<'a>; 1]> = SmallVec::new();
    for (key, value) in span.attributes().take(ATTRIBUTES) {
        let Some(rest) = key.strip_prefix("llm.input_messages.") else {
            continue;
        };
        let Some((_, rest)) = indexed(rest).filter(|(found, _)| *found == place) else {
            continue;
        };
        if rest == "message.content" || rest.ends_with(".message_content.text") {
            texts.extend(values::text(value));
        }
    }
    messages::join(texts)
}
