//! Flattened lists whose attributes come in any order: OpenInference's `llm.output_messages.{i}.message.*`,
//! OpenLLMetry's `gen_ai.completion.{i}.*` (the first generation of GenAI conventions), and their like.
//!
//! Invariant: bounded in what is told apart; a message of which nothing but its role came is empty, one
//! whose text a scrubber replaced is unknown.

use std::borrow::Cow;

use smallvec::SmallVec;

use crate::otlp::{SpanView, Value};

use super::fields::{ATTRIBUTES, is_redacted};
use super::json::write_text;
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
    functions: SmallVec<[(usize, Function<'a>); 1]>,
    /// Where the texts of input messages stand.
    prompts: &'static str,
    finish: Option<Text<'a>>,
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

/// A tool of `llm.request.functions`.
#[derive(Default)]
struct Function<'a> {
    name: Option<Text<'a>>,
    parameters: Option<Text<'a>>,
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
            self.prompts = "llm.input_messages.";
            self.inputs_seen = true;
            if let Some((place, "message.role")) = indexed(rest) {
                self.role(place, value);
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

    /// Takes an attribute of the first generation of GenAI conventions.
    pub(super) fn take_indexed(&mut self, key: &'a str, value: Value<'a>) {
        if let Some(rest) = key.strip_prefix("gen_ai.prompt.") {
            self.prompts = "gen_ai.prompt.";
            self.inputs_seen = true;
            if let Some((place, "role")) = indexed(rest) {
                self.role(place, value);
            }
        } else if let Some(rest) = key.strip_prefix("gen_ai.completion.") {
            if let Some((place, rest)) = indexed(rest) {
                self.completion(place, rest, value);
            }
        } else if let Some(rest) = key.strip_prefix("llm.request.functions.")
            && let Some((place, rest)) = indexed(rest)
            && let Some(function) = at(&mut self.functions, place)
        {
            match rest {
                "name" => function.name = values::text(value),
                "parameters" | "input_schema" => function.parameters = values::text(value),
                _ => {}
            }
        }
    }

    fn role(&mut self, place: usize, role: Value<'a>) {
        if matches!(role, Value::Str("user" | "human")) {
            self.users = self.users.saturating_add(1);
            self.first_user = Some(self.first_user.map_or(place, |p| p.min(place)));
            self.last_user = self.last_user.max(Some(place));
        }
    }

    fn message(&mut self, place: usize) -> Option<&mut Message<'a>> {
        let found = self
            .outputs
            .iter()
            .position(|message| message.place == place);
        let found = match found {
            Some(found) => found,
            None if self.outputs.len() >= ITEMS => return None,
            None => {
                self.outputs.push(Message {
                    place,
                    ..Message::default()
                });
                self.outputs.len() - 1
            }
        };
        self.outputs.get_mut(found)
    }

    fn completion(&mut self, place: usize, rest: &'a str, value: Value<'a>) {
        if rest == "finish_reason" {
            self.finish = values::text(value);
        }
        let Some(message) = self.message(place) else {
            return;
        };
        match rest {
            "content" => message.content = readable(value, &mut message.redacted),
            "reasoning" | "reasoning_content" | "thinking" => {
                if let Some(block) = at(&mut message.contents, 0) {
                    block.kind = Some("reasoning");
                    block.text = readable(value, &mut message.redacted);
                }
            }
            "function_call.name" | "function_call.arguments" => {
                if let Some(call) = at(&mut message.calls, 0) {
                    called(
                        call,
                        rest.strip_prefix("function_call.").unwrap_or(rest),
                        value,
                    );
                }
            }
            _ => {
                let rest = rest.strip_prefix("tool_calls.").and_then(indexed);
                if let Some((place, rest)) = rest
                    && let Some(call) = at(&mut message.calls, place)
                {
                    called(call, rest, value);
                }
            }
        }
    }

    fn output(&mut self, place: usize, rest: &'a str, value: Value<'a>) {
        let (Some(message), Some(rest)) = (self.message(place), rest.strip_prefix("message."))
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
            let rest = rest.strip_prefix("tool_call.").unwrap_or(rest);
            called(call, rest.strip_prefix("function.").unwrap_or(rest), value);
        }
    }

    /// Whether any message given out stands here.
    pub(super) fn has_outputs(&self) -> bool {
        !self.outputs.is_empty()
    }

    /// Whether any message taken in stands here.
    pub(super) fn has_inputs(&self) -> bool {
        self.inputs_seen
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
        reply.finish = self.finish.take();
        reply
    }

    pub(super) fn input(&self, span: &SpanView<'a>) -> Input<'a> {
        Input {
            user_messages: self.inputs_seen.then_some(self.users),
            goal: self
                .first_user
                .and_then(|place| user_text(span, self.prompts, place)),
            latest: self
                .last_user
                .filter(|_| self.users > 1)
                .and_then(|place| user_text(span, self.prompts, place)),
            ..Input::default()
        }
    }

    /// The definitions, where all of them came: one that an SDK's limit on attributes left out would look
    /// invented.
    pub(super) fn definitions(&mut self, span: &SpanView<'a>) -> Option<Definitions<'a>> {
        for (place, function) in self.functions.drain(..) {
            self.tools.extend(function.told().map(|text| (place, text)));
        }
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

impl<'a> Function<'a> {
    /// The definition as JSON, or the bare name.
    fn told(self) -> Option<Text<'a>> {
        let name = self.name?;
        let Some(parameters) = self.parameters.filter(|text| text.starts_with('{')) else {
            return Some(name);
        };
        let mut out = String::from("{\"name\":");
        write_text(&name, &mut out);
        out.push_str(",\"parameters\":");
        out.push_str(&parameters);
        out.push('}');
        Some(Cow::Owned(out))
    }
}

/// One member of a call that a model asks for.
fn called<'a>(call: &mut RawCall<'a>, member: &str, value: Value<'a>) {
    match member {
        "id" => call.id = values::text(value),
        "name" => call.name = values::text(value).unwrap_or_default(),
        "arguments" => {
            let mut redacted = false;
            call.arguments = readable(value, &mut redacted);
        }
        _ => {}
    }
}

/// A text, unless a scrubber stands in its place.
fn readable<'a>(value: Value<'a>, redacted: &mut bool) -> Option<Text<'a>> {
    let text = values::text(value)?;
    *redacted |= is_redacted(&text);
    (!is_redacted(&text)).then_some(text)
}

/// The text of the input message at `place`.
fn user_text<'a>(span: &SpanView<'a>, prompts: &str, place: usize) -> Option<Text<'a>> {
    let mut texts: SmallVec<[Text<'a>; 1]> = SmallVec::new();
    for (key, value) in span.attributes().take(ATTRIBUTES) {
        let Some(rest) = key.strip_prefix(prompts) else {
            continue;
        };
        let Some((_, rest)) = indexed(rest).filter(|(found, _)| *found == place) else {
            continue;
        };
        if matches!(rest, "message.content" | "content") || rest.ends_with(".message_content.text")
        {
            texts.extend(values::text(value));
        }
    }
    messages::join(texts)
}
