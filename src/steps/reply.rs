//! What models and whole runs gave out.

use std::borrow::Cow;

use smallvec::SmallVec;
use xxhash_rust::xxh3::xxh3_64;

use crate::actions;
use crate::dialects::{Raw, RawCall, Text, bare_arguments};
use crate::fingerprints::identity;
use crate::model::{
    AgentRun, Answered, Arguments, Excerpt, Finish, Fit, ModelCall, Requested, Role, TextFacts,
    ToolSet, Words,
};
use crate::texts;

use super::call::{self, given};
use super::memo::KeyMaker;
use super::reader::Reader;

/// Most calls of one answer looked at.
const CALLS: usize = 64;

/// One request to a model and its answer.
pub(super) fn model_call(reader: &mut Reader, raw: Raw<'_>) -> ModelCall {
    let wishes = wishes(reader, &raw);
    let answered = answered(reader, &raw);
    let finish = raw
        .reply
        .finish
        .as_deref()
        .map_or(Finish::Unknown, finish_of);
    let tools = raw
        .definitions
        .and_then(|definitions| reader.caches.tools(&definitions, &mut reader.names));
    let requested = raw
        .reply
        .calls
        .iter()
        .take(CALLS)
        .map(|call| requested(reader, call, tools.as_ref()))
        .collect();
    // No text and no call, though it stopped to call: the call stands elsewhere (P2, P23).
    let elsewhere = finish == Finish::ToolCalls && raw.reply.calls.is_empty();
    let text = raw
        .reply
        .text
        .filter(|text| !(elsewhere && text.trim().is_empty()));
    ModelCall {
        text: text.as_ref().map(|text| facts(reader, text)),
        reasoning: reasoning(reader, &raw.reply.reasoning),
        requested,
        finish,
        failed: raw.fault.flagged(),
        handed_over: false,
        user_messages: raw.input.user_messages,
        tools,
        goal: raw.input.goal.and_then(|goal| reader.caches.goal(&goal)),
        wishes,
        answered,
    }
}

/// What calls gave back, as an input tells it. Only log records are asked: what spans tell of calls is on the spans of
/// these.
fn answered(reader: &Reader, raw: &Raw<'_>) -> SmallVec<[Answered; 1]> {
    let results = raw.input.results.iter().filter(|_| reader.reads_records);
    let each = results.take(CALLS).map(|(id, result)| {
        let (answer, outcome) = call::given_back(result, reader.source_answers);
        Answered {
            call_id: xxh3_64(id.as_bytes()),
            answer,
            outcome,
        }
    });
    each.collect()
}

/// A run of an agent as a whole.
pub(super) fn agent_run(reader: &mut Reader, raw: Raw<'_>) -> AgentRun {
    let wishes = wishes(reader, &raw);
    // A run that ends by asking for a call has not answered (P2).
    let finish = raw.reply.finish.as_deref().map(finish_of);
    let asks = !raw.reply.calls.is_empty() || finish == Some(Finish::ToolCalls);
    let output = raw
        .reply
        .text
        .filter(|text| !(asks && text.trim().is_empty()));
    AgentRun {
        output: output.as_ref().map(|output| facts(reader, output)),
        failed: raw.fault.flagged(),
        tools: raw
            .definitions
            .and_then(|definitions| reader.caches.tools(&definitions, &mut reader.names)),
        goal: raw.input.goal.and_then(|goal| reader.caches.goal(&goal)),
        wishes,
        handoff: raw.part == crate::dialects::Part::HandOff,
    }
}

fn wishes(reader: &mut Reader, raw: &Raw<'_>) -> Option<Words> {
    let wanted = reader.topics && raw.input.goal.is_some();
    wanted.then(|| reader.caches.wishes(&raw.input)).flatten()
}

fn requested(reader: &mut Reader, call: &RawCall<'_>, tools: Option<&ToolSet>) -> Requested {
    let bare = call.arguments.as_ref().map(bare_arguments);
    let facts = bare
        .as_ref()
        .map(|bare| reader.calls.facts(&call.name, &bare.text));
    let arguments = match (&bare, &facts) {
        (Some(bare), Some(facts)) if bare.invalid || !facts.json => Arguments::NotJson,
        (Some(_), Some(_)) => Arguments::Valid,
        _ => Arguments::Unknown,
    };
    let identity = identity(&call.name);
    let text = bare
        .as_ref()
        .map(|bare| bare.text.as_ref())
        .filter(|_| arguments == Arguments::Valid);
    let (mut fit, mut breach, mut kept) = (Fit::Unassessed, None, None);
    match (tools, text) {
        (Some(tools), Some(text)) => {
            let shape = tools
                .definition(identity)
                .and_then(|one| one.shape.as_ref());
            if let Some(shape) = shape {
                (fit, breach) = shape.check(text, false);
            }
        }
        (None, Some(text)) => kept = given(text),
        (_, None) => {}
    }
    // Only a name that no definition holds raises the question.
    let silent = !tools.is_some_and(|tools| tools.holds(identity.bare))
        && matches!(
            actions::role(&call.name, &reader.tools),
            Role::Finish | Role::Delegate | Role::Ask
        );
    Requested {
        call_id: call.id.as_deref().map(|id| xxh3_64(id.as_bytes())),
        tool: reader.names.name(&call.name),
        identity,
        key: facts.map(|facts| facts.key),
        arguments,
        role: actions::role(&call.name, &reader.tools),
        fit,
        breach,
        given: kept,
        silent,
    }
}

/// The features of a text, remembered: an answer comes again as the output of its run, and in other runs.
pub(super) fn facts(reader: &mut Reader, text: &Text<'_>) -> TextFacts {
    let key = KeyMaker::new(reader.seed).text(Some(text));
    if let Some(known) = reader.memory.texts.get(key) {
        return known;
    }
    let facts = texts::read(Excerpt::of(text));
    reader.memory.texts.put(key, facts);
    facts
}

fn reasoning(reader: &mut Reader, parts: &[Text<'_>]) -> Option<TextFacts> {
    let joined: Text<'_> = match parts {
        [] => return None,
        [one] => Cow::Borrowed(one.as_ref()),
        several => Cow::Owned(several.join("\n")),
    };
    Some(facts(reader, &joined))
}

/// Reasons in all spellings that providers and frameworks use.
fn finish_of(reason: &str) -> Finish {
    let mut folded = [0u8; 24];
    let mut len = 0;
    for byte in reason.bytes().filter(u8::is_ascii_alphanumeric) {
        let Some(place) = folded.get_mut(len) else {
            return Finish::Unknown;
        };
        *place = byte.to_ascii_lowercase();
        len += 1;
    }
    match folded.get(..len).unwrap_or_default() {
        b"stop" | b"endturn" | b"stopsequence" | b"complete" | b"completed" | b"end" | b"eos"
        | b"finished" => Finish::Stop,
        b"length"
        | b"maxtokens"
        | b"maxoutputtokens"
        | b"modelcontextwindowexc"
        | b"incomplete" => Finish::Length,
        b"toolcalls" | b"toolcall" | b"tooluse" | b"functioncall" | b"functioncalls" => {
            Finish::ToolCalls
        }
        b"contentfilter"
        | b"contentfiltered"
        | b"safety"
        | b"refusal"
        | b"guardrailintervened"
        | b"recitation"
        | b"blocklist"
        | b"prohibitedcontent" => Finish::Filtered,
        b"error" | b"failed" | b"malformedfunctioncall" => Finish::Error,
        _ => Finish::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finish_reasons_in_all_spellings() {
        for (reason, finish) in [
            ("tool_calls", Finish::ToolCalls),
            ("tool-calls", Finish::ToolCalls),
            ("toolUse", Finish::ToolCalls),
            ("STOP", Finish::Stop),
            ("end_turn", Finish::Stop),
            ("MAX_TOKENS", Finish::Length),
            ("content_filter", Finish::Filtered),
            ("", Finish::Unknown),
            ("a reason nobody has heard of yet", Finish::Unknown),
        ] {
            assert_eq!(finish_of(reason), finish, "{reason}");
        }
    }
}
