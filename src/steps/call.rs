//! One execution of a tool.

use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use crate::actions::{self, CallFacts, ExitMeaning};
use crate::dialects::{BareArguments, Fault, Raw, Text, bare_arguments, bare_result, final_answer};
use crate::fingerprints::{self, ArgumentFacts, digest, topic};
use crate::model::{
    Action, Answer, Arguments, Effects, Excerpt, Finish, Ignored, Leftout, ModelCall, Outcome,
    Places, Role, ToolCall, Topics, Verdict, within,
};
use crate::schemas;
use crate::texts;

use super::memo::KeyMaker;
use super::outcome::{self, arguments_refused};
use super::reader::Reader;
use super::reply;

/// Makes the step of a tool call; of a tool that only hands over the final answer, a claim (P17, P27).
pub(super) fn read(
    reader: &mut Reader,
    raw: Raw<'_>,
    working_directory: Option<&str>,
    places: &Arc<Places>,
) -> Action {
    let tool = raw.tool.as_deref().unwrap_or_default();
    let key = key_of(&raw, tool, working_directory, places, reader.seed);
    let mut call = match reader.memory.calls.get(key) {
        Some(known) => Box::new(ToolCall {
            given: whole_arguments(&raw),
            ..known
        }),
        None => {
            let role = actions::role(tool, &reader.tools);
            if role == Role::Finish {
                return Action::ModelCall(Box::new(claim(reader, &raw)));
            }
            let call = tool_call(reader, &raw, tool, role, working_directory, places);
            let kept = ToolCall {
                given: None,
                ..call.clone()
            };
            reader.memory.calls.put(key, kept);
            Box::new(call)
        }
    };
    // Its own id is no part of what it says.
    let id = raw.call_id.as_deref().map(|id| xxh3_64(id.as_bytes()));
    call.call_id = id.or(call.call_id);
    Action::ToolCall(call)
}

/// The key of everything that a call's step is made of, its own id aside.
fn key_of(
    raw: &Raw<'_>,
    tool: &str,
    working_directory: Option<&str>,
    places: &Places,
    seed: u64,
) -> u128 {
    let fault = &raw.fault;
    let flag = |flag: Option<bool>| flag.map_or(2, u64::from);
    let flags = [
        u64::from(raw.partial),
        u64::from(fault.status_error),
        u64::from(fault.status_ok),
        flag(fault.failed),
        flag(raw.hints.read_only),
        flag(raw.hints.destructive),
        flag(raw.hints.idempotent),
    ];
    let flags = flags.iter().fold(0, |all, flag| all << 2 | flag);
    let mut maker = KeyMaker::new(seed)
        .number(flags)
        .small(tool.as_bytes())
        .maybe(working_directory)
        .number(fault.exit_code.map_or(u64::MAX, i64::cast_unsigned))
        .number(u64::from(fault.exit_code.is_some()));
    if fault.message.is_some() || fault.flagged() {
        maker = maker
            .maybe(fault.message)
            .maybe(fault.kind.as_deref())
            .maybe(fault.exception.as_deref())
            .maybe(fault.exception_message.as_deref());
    }
    for place in places.roots.iter().chain(&places.allowed) {
        maker = maker.small(place.as_bytes());
    }
    let maker = maker
        .number(places.roots.len() as u64)
        .number(u64::from(places.infer));
    maker.texts(raw.arguments.as_deref(), raw.result.as_deref())
}

/// Arguments for a schema, of a call whose words are known already.
fn whole_arguments(raw: &Raw<'_>) -> Option<Box<str>> {
    let bare = raw.arguments.as_ref().map(bare_arguments)?;
    given(&bare.text)
}

/// The final answer handed over as arguments.
fn claim(reader: &mut Reader, raw: &Raw<'_>) -> ModelCall {
    let arguments = raw.arguments.as_ref().map(bare_arguments);
    let text = arguments.as_ref().and_then(|bare| final_answer(&bare.text));
    ModelCall {
        text: text.as_ref().map(|text| reply::facts(reader, text)),
        finish: Finish::Stop,
        handed_over: true,
        failed: raw.fault.flagged(),
        ..ModelCall::default()
    }
}

fn tool_call(
    reader: &mut Reader,
    raw: &Raw<'_>,
    tool: &str,
    role: Role,
    working_directory: Option<&str>,
    places: &Arc<Places>,
) -> ToolCall {
    let bare = raw.arguments.as_ref().map(bare_arguments);
    let arguments = bare.as_ref().map(|bare| bare.text.as_ref());
    let whole = arguments.filter(|_| !raw.partial);
    let facts = whole.map(|arguments| reader.calls.facts(tool, arguments));
    let result = raw.result.as_ref().map(bare_result);
    let answer_text = result.as_ref().map(|result| result.text.as_ref());
    let excerpt = answer_text.map(Excerpt::of);
    let signs = outcome::signs(&raw.fault, result.as_ref(), role);
    let call = CallFacts {
        tool,
        role,
        arguments,
        answer: excerpt.map(|text| actions::Excerpt {
            front: text.front(),
            back: text.end(),
        }),
        exit_code: signs.exit_code,
        error_flag: signs.said(&raw.fault),
        cwd: start(places, working_directory),
        infer: places.infer,
    };
    let understood = actions::effects(&call, &reader.tools, &mut reader.scripts);
    let (watch, tools) = (&reader.watch, &reader.tools);
    let reach = actions::reach(&call, &understood.effects, watch, tools, places);
    let outcome = outcome::outcome(signs, understood.exit, &raw.fault, answer_text);
    let unknown_tool = outcome != Outcome::Succeeded
        && outcome != Outcome::Unknown
        && outcome::tool_unknown(&raw.fault, answer_text, tool);
    let refused = outcome.failed() && !unknown_tool && arguments_refused(&raw.fault, answer_text);
    let call_id = result.as_ref().and_then(|result| result.call_id.as_deref());
    let (answer, mut ignored) = excerpt
        .map(|text| answer_of(text, &understood.effects, tool, reader.source_answers))
        .unwrap_or_default();
    ignored.add(
        Leftout::Decoration,
        facts.map_or(0, |facts| facts.decoration),
    );
    ToolCall {
        tool: reader.names.name(tool),
        call_id: call_id.map(|id| xxh3_64(id.as_bytes())),
        key: facts.map(|facts| facts.key),
        exact: facts.map(|facts| facts.exact),
        signature: whole
            .filter(|_| reader.show_signature)
            .map(|arguments| fingerprints::signature(tool, arguments).0),
        answer,
        outcome,
        role: understood.role,
        effects: understood.effects,
        reach,
        sketch: facts.map(|facts| facts.sketch).unwrap_or_default(),
        identity: fingerprints::identity(tool),
        unknown_tool,
        arguments: state(bare.as_ref(), facts.as_ref(), refused),
        truncated: facts.is_some_and(|facts| facts.truncated)
            || excerpt.is_some_and(|text| text.truncated()),
        given: arguments.and_then(given),
        hints: raw.hints,
        unparsed: understood.unparsed,
        ignored,
        nameless: whole.is_some_and(|arguments| !begins_json(arguments)),
        topics: arguments
            .filter(|_| reader.topics)
            .map(|arguments| topics(arguments, answer_text)),
    }
}

/// What came back from a call that did this. "4 passed" for one file after another tells of each file: where a check
/// passed, the answers are equal, what they say is not.
fn answer_of(text: Excerpt<'_>, effects: &Effects, tool: &str, source: bool) -> (Answer, Ignored) {
    let (mut answer, ignored) = answer(text, tool, source);
    let verdict = effects.verification.as_ref().map(|check| check.verdict);
    if matches!(verdict, Some(Verdict::Passed | Verdict::PassedBySummary)) {
        answer.acknowledges = true;
        answer.informs = false;
    }
    (answer, ignored)
}

/// Where calls start: in the working directory if it is part of the workspace, else in its first directory.
fn start<'a>(places: &'a Places, working_directory: Option<&'a str>) -> Option<&'a str> {
    let inside = |dir: &&str| places.roots.iter().any(|root| within(dir, root));
    let root = places.roots.first().map(|root| &**root);
    working_directory
        .filter(inside)
        .or(root)
        .or(working_directory)
}

/// What a call is about.
fn topics(arguments: &str, answer: Option<&str>) -> Box<Topics> {
    let asked = topic::of([arguments], topic::ASKED);
    Box::new(Topics {
        asked: asked.words,
        more: asked.more,
        answered: answer.map(|answer| topic::of([answer], topic::ANSWERED).words),
    })
}

/// Arguments to be held against a schema later; not those that no schema is held against.
pub(super) fn given(arguments: &str) -> Option<Box<str>> {
    (arguments.len() <= schemas::ARGUMENTS_MAX).then(|| arguments.into())
}

/// The state of arguments, known where they were captured. Plain text is as good as JSON to a tool that took it.
fn state(
    bare: Option<&BareArguments<'_>>,
    facts: Option<&ArgumentFacts>,
    refused: bool,
) -> Arguments {
    let (Some(bare), Some(facts)) = (bare, facts) else {
        return Arguments::Unknown;
    };
    let broken = !facts.json && !facts.truncated && begins_json(&bare.text);
    if bare.invalid || broken {
        Arguments::NotJson
    } else if refused {
        Arguments::Refused
    } else {
        Arguments::Valid
    }
}

/// Whether a text sets out to be JSON. One that sets out to be a Python dictionary is the carrier's doing.
fn begins_json(text: &str) -> bool {
    let text = text.trim_start();
    let inner = text.trim_start_matches(['{', '[', ' ']);
    text.starts_with(['{', '[']) && !inner.starts_with('\'')
}

/// A result that is told apart from its call: what it is, and whether the call worked. What a command's exit code means
/// is not known then.
pub(super) fn given_back(result: &Text<'_>, source: bool) -> (Answer, Outcome) {
    let bare = bare_result(result);
    let fault = Fault::default();
    let signs = outcome::signs(&fault, Some(&bare), Role::Other);
    let (answer, _) = answer(Excerpt::of(&bare.text), "", source);
    let plain = signs.exit_code.is_none_or(|code| code == 0);
    let outcome = if plain {
        outcome::outcome(signs, ExitMeaning::Plain, &fault, Some(&bare.text))
    } else {
        Outcome::Unknown
    };
    (answer, outcome)
}

/// What came back, as hashes and flags, and what its digest leaves out. A picture that was not recorded is not known.
fn answer(text: Excerpt<'_>, tool: &str, source: bool) -> (Answer, Ignored) {
    if texts::stands_for_a_picture(text) {
        return (Answer::default(), Ignored::default());
    }
    let acknowledges = texts::acknowledges(text);
    let (neutral, ignored) = if actions::tells_time(tool) {
        (digest::raw(text), Ignored::default())
    } else {
        digest::counted(text)
    };
    let answer = Answer {
        known: true,
        raw: digest::raw(text),
        digest: neutral,
        canonical: if source {
            fingerprints::agentbudget_digest(text)
        } else {
            0
        },
        acknowledges,
        informs: !acknowledges && texts::tells(text),
        pending: texts::pending_state(text),
    };
    (answer, ignored)
}
