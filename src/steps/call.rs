//! One execution of a tool.

use xxhash_rust::xxh3::xxh3_64;

use crate::actions::{self, CallFacts};
use crate::dialects::{Raw, bare_arguments, bare_result, final_answer};
use crate::fingerprints::{self, digest};
use crate::model::{Action, Answer, Arguments, Excerpt, Finish, ModelCall, Role, ToolCall};
use crate::texts;

use super::outcome::{self, arguments_refused};
use super::reader::Reader;
use super::reply;

/// Makes the step of a tool call; of a tool that only hands over the final answer, a claim (P17, P27).
pub(super) fn read(reader: &mut Reader, raw: Raw<'_>, working_directory: Option<&str>) -> Action {
    let tool = raw.tool.unwrap_or_default();
    let arguments = raw.arguments.as_ref().map(bare_arguments);
    let role = actions::role(&tool, &reader.tools);
    if role == Role::Finish {
        let text = arguments.as_ref().and_then(|bare| final_answer(&bare.text));
        return Action::ModelCall(Box::new(ModelCall {
            text: text.as_ref().map(reply::facts),
            finish: Finish::Stop,
            failed: raw.fault.flagged(),
            ..ModelCall::default()
        }));
    }
    let result = raw.result.as_ref().map(bare_result);
    let answer_text = result.as_ref().map(|result| result.text.as_ref());
    let signs = outcome::signs(&raw.fault, result.as_ref(), role);
    let facts = arguments
        .as_ref()
        .map(|bare| reader.calls.facts(&tool, &bare.text));
    let excerpt = answer_text.map(Excerpt::of);
    let root = reader.tools.workspace.root.as_deref();
    let call = CallFacts {
        tool: &tool,
        role,
        arguments: arguments.as_ref().map(|bare| bare.text.as_ref()),
        answer: excerpt.map(|text| actions::Excerpt {
            front: text.front(),
            back: text.end(),
        }),
        exit_code: signs.exit_code,
        error_flag: signs.said(&raw.fault),
        cwd: root.or(working_directory),
    };
    let understood = actions::effects(&call, &reader.tools, &mut reader.scripts);
    let outcome = outcome::outcome(signs, understood.exit, &raw.fault, answer_text);
    let invalid = arguments.as_ref().is_some_and(|bare| bare.invalid);
    let state = match &facts {
        None => Arguments::Unknown,
        Some(_) if invalid => Arguments::NotJson,
        Some(facts)
            if !facts.json && !facts.truncated && call.arguments.is_some_and(begins_json) =>
        {
            Arguments::NotJson
        }
        Some(_) if outcome.failed() && arguments_refused(&raw.fault, answer_text) => {
            Arguments::Refused
        }
        Some(_) => Arguments::Valid,
    };
    let call_id = raw
        .call_id
        .as_deref()
        .or(result.as_ref().and_then(|result| result.call_id.as_deref()));
    let signature = call
        .arguments
        .filter(|_| reader.show_signature)
        .map(|arguments| fingerprints::signature(&tool, arguments).0);
    Action::ToolCall(Box::new(ToolCall {
        call_id: call_id.map(|id| xxh3_64(id.as_bytes())),
        key: facts.map(|facts| facts.key),
        exact: facts.map(|facts| facts.exact),
        signature,
        answer: answer_text.map(answer).unwrap_or_default(),
        outcome,
        role: understood.role,
        effects: understood.effects,
        sketch: facts.map(|facts| facts.sketch).unwrap_or_default(),
        arguments: state,
        truncated: facts.is_some_and(|facts| facts.truncated)
            || excerpt.is_some_and(|text| text.truncated()),
        unparsed: understood.unparsed,
        tool: reader.names.name(&tool),
    }))
}

fn begins_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

/// What came back, as hashes and flags.
fn answer(text: &str) -> Answer {
    let text = Excerpt::of(text);
    Answer {
        known: true,
        raw: digest::raw(text),
        digest: digest::neutral(text),
        canonical: fingerprints::agentbudget_digest(text),
        acknowledges: texts::acknowledges(text),
        informs: texts::informs(text),
        pending: texts::pending_state(text),
    }
}
