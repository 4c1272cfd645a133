//! `processors.anomaly.dialects`: how spans of an agent that nobody else knows are read.
//!
//! Invariant: a convention that could mean no span, or a key that could say nothing, is refused.

use crate::steps::conventions::{
    Condition, Configured, Convention, Key, Part, Place as Where, Role, Source,
};

use super::globs;
use super::problems::Problems;
use super::report::Problem;
use super::suggest;
use super::tree::{Entry, Node, Place, Value};

/// Most conventions: each is asked of every span.
const MAX: usize = 64;
/// Longest name of a convention in characters.
const NAME_MAX: usize = 64;

/// What a span can be, in words.
const ROLES: [(&str, Part); 5] = [
    ("tool", Part::ToolCall),
    ("model", Part::ModelCall),
    ("agent", Part::AgentRun),
    ("handoff", Part::HandOff),
    ("duplicate", Part::TransportDuplicate),
];
const ROLE_WORDS: [&str; 5] = ["tool", "model", "agent", "handoff", "duplicate"];

const CONDITION: [&str; 3] = ["span", "scope", "attributes"];
const SOURCE: [&str; 5] = ["attribute", "member", "event", "resource", "span_name"];
const SOURCE_HELP: &str = "write the key of an attribute, or one of {attribute: key, member: name}, \
     {event: name, attribute: key}, {resource: key}, {span_name: \"tool *\"}, or a list of these";

/// Reads all conventions, in order.
pub(super) fn read(entry: Option<&Entry>, problems: &mut Problems) -> Configured {
    let Some(entry) = entry else {
        return Configured::default();
    };
    let members = entry.value.members();
    if members.len() > MAX {
        let message = format!("{} dialects, {MAX} at most", members.len());
        problems.push(Problem::error(entry.key_place, message));
    }
    let mut names: Vec<(String, Place)> = Vec::new();
    let mut conventions = Vec::new();
    for member in members.iter().take(MAX) {
        if let Some((convention, place)) = one(member, problems) {
            if let Some((_, earlier)) = names.iter().find(|(name, _)| *name == convention.name) {
                let message = format!("two dialects are called `{}`", convention.name);
                problems.push(Problem::error(place, message).also(*earlier, "the other one"));
            }
            names.push((convention.name.clone(), place));
            conventions.push(convention);
        }
    }
    Configured::new(conventions)
}

fn one(member: &Node, problems: &mut Problems) -> Option<(Convention, Place)> {
    if !is_map(
        member,
        problems,
        "write {name: mine, when: {...}, tool_name: my.tool, ...}",
    ) {
        return None;
    }
    let mut allowed = vec!["name", "when", "role", "failed_when"];
    allowed.extend(Key::ALL.iter().map(|(_, word)| *word));
    problems.only_keys(member, &allowed);
    let name = name(member, problems);
    let when = match member.entry("when") {
        Some(entry) => condition(entry, problems),
        None => {
            problems.push(
                Problem::error(first(member), "`when` is missing here")
                    .help("it says which spans are meant: {attributes: {my.kind: tool}}, {span: \"my *\"}, {scope: my.agent}"),
            );
            None
        }
    };
    let role = role(member.entry("role"), problems);
    let mut keys = Vec::new();
    for (key, word) in Key::ALL {
        if let Some(entry) = member.entry(word) {
            fits(key, word, entry, &role, problems);
            let sources = sources(entry, problems);
            if !sources.is_empty() {
                keys.push((key, sources));
            }
        }
    }
    let failed_when = member.entry("failed_when");
    let failed_when = failed_when.and_then(|entry| condition(entry, problems));
    let (name, place) = name?;
    let convention = Convention {
        name,
        when: when?,
        role,
        keys,
        failed_when,
    };
    Some((convention, place))
}

fn name(member: &Node, problems: &mut Problems) -> Option<(String, Place)> {
    let Some(entry) = member.entry("name") else {
        problems.push(Problem::error(first(member), "`name` is missing here"));
        return None;
    };
    let text = entry.value.text().unwrap_or_default().trim();
    if text.is_empty() || text.chars().count() > NAME_MAX {
        let message = format!("expected a name of 1 to {NAME_MAX} characters");
        problems.push(Problem::error(entry.shown(), message));
        return None;
    }
    Some((text.to_owned(), entry.shown()))
}

fn role(entry: Option<&Entry>, problems: &mut Problems) -> Role {
    let Some(entry) = entry else {
        return Role::Known;
    };
    if let Some(word) = entry.value.text() {
        return match part(word) {
            Some(part) => Role::One(part),
            None => {
                let problem = Problem::error(entry.shown(), format!("unknown value `{word}`"));
                problems.push(suggest::advise(problem, word, &ROLE_WORDS));
                Role::Known
            }
        };
    }
    let help = "write one of tool, model, agent, handoff, duplicate, or a condition for each: \
         {tool: {attributes: {my.kind: call}}, model: {span: \"ask *\"}}";
    if !is_map(&entry.value, problems, help) {
        return Role::Known;
    }
    problems.only_keys(&entry.value, &ROLE_WORDS);
    let cases = entry.value.entries().iter().filter_map(|case| {
        let part = part(&case.key)?;
        Some((part, condition(case, problems)?))
    });
    Role::When(cases.collect())
}

fn part(word: &str) -> Option<Part> {
    let found = ROLES.iter().find(|(own, _)| *own == word);
    found.map(|(_, part)| *part)
}

/// Reports a key that spans of this role do not have.
fn fits(key: Key, word: &str, entry: &Entry, role: &Role, problems: &mut Problems) {
    let parts: Vec<Part> = match role {
        Role::Known => return,
        Role::One(part) => vec![*part],
        Role::When(cases) => cases.iter().map(|(part, _)| *part).collect(),
    };
    if parts.is_empty() || parts.iter().any(|part| key.is_of(*part)) {
        return;
    }
    let roles = |key: Key| ROLES.iter().filter(move |(_, part)| key.is_of(*part));
    let belongs: Vec<&str> = roles(key).map(|(word, _)| *word).collect();
    let allowed: Vec<&str> = Key::ALL
        .iter()
        .filter(|(key, _)| parts.iter().any(|part| key.is_of(*part)))
        .map(|(_, word)| *word)
        .collect();
    let here: Vec<&str> = ROLES
        .iter()
        .filter(|(_, part)| parts.contains(part))
        .map(|(word, _)| *word)
        .collect();
    problems.push(
        Problem::error(
            entry.key_place,
            format!("`{word}` says nothing of spans of role {}", here.join(", ")),
        )
        .help(format!("it belongs to role {}", belongs.join(", ")))
        .help(suggest::wrapped("allowed here: ", &allowed)),
    );
}

/// A condition; `None` when it is of no use: then that is reported.
fn condition(entry: &Entry, problems: &mut Problems) -> Option<Condition> {
    let node = &entry.value;
    let help = "write {span: \"my *\"}, {scope: my.agent}, {attributes: {my.kind: tool}}, or several: all have to hold";
    if !is_map(node, problems, help) {
        return None;
    }
    problems.only_keys(node, &CONDITION);
    if node.entries().is_empty() {
        let message = format!("`{}` is empty: it would mean every span", entry.key);
        problems.push(Problem::error(entry.key_place, message).help(help));
        return None;
    }
    let mut condition = Condition::default();
    for own in node.entries() {
        match own.key.as_str() {
            "span" => condition.span = glob(own, problems),
            "scope" => condition.scope = glob(own, problems),
            "attributes" => {
                let help =
                    "write {my.kind: tool}, and \"*\" where the attribute only has to be there";
                if is_map(&own.value, problems, help) {
                    for attribute in own.value.entries() {
                        let glob = glob(attribute, problems);
                        condition.attributes.push((attribute.key.clone(), glob));
                    }
                }
            }
            _ => {}
        }
    }
    Some(condition)
}

fn glob(entry: &Entry, problems: &mut Problems) -> Option<globset::GlobMatcher> {
    if entry.value.text().is_none() {
        let message = format!("expected a glob for `{}`", entry.key);
        problems.push(
            Problem::error(entry.key_place, message)
                .help("one text, as \"my.*\"; \"*\" for any; for several write \"{one,other}\""),
        );
        return None;
    }
    globs::read(&entry.value, problems)
}

/// The places of one key; none when it is of no use: then that is reported.
fn sources(entry: &Entry, problems: &mut Problems) -> Vec<Source> {
    let nodes = match &entry.value.value {
        Value::List(members) => members.as_slice(),
        _ => std::slice::from_ref(&entry.value),
    };
    let found: Vec<Source> = nodes
        .iter()
        .filter_map(|node| source(node, entry, problems))
        .collect();
    if nodes.is_empty() {
        let message = format!("`{}` names no place", entry.key);
        problems.push(Problem::error(entry.key_place, message).help(SOURCE_HELP));
    }
    found
}

fn source(node: &Node, under: &Entry, problems: &mut Problems) -> Option<Source> {
    if let Some(text) = node.text() {
        return Some(Source {
            place: Where::Attribute(key_of(text, node.place, problems)?),
            member: Vec::new(),
        });
    }
    if !matches!(node.value, Value::Map(_)) {
        let message = format!("expected a place for `{}`", under.key);
        problems.push(Problem::error(under.key_place, message).help(SOURCE_HELP));
        return None;
    }
    if !problems.only_keys(node, &SOURCE) {
        return None;
    }
    let mut text = |word: &str| {
        let entry = node.entry(word)?;
        let text = entry.value.text().filter(|text| !text.is_empty());
        if text.is_none() {
            let message = format!("expected a text for `{word}`");
            problems.push(Problem::error(entry.key_place, message));
        }
        text.map(|text| (text, entry.value.place))
    };
    let [attribute, event, resource, span_name, member] =
        ["attribute", "event", "resource", "span_name", "member"].map(&mut text);
    let place = match (attribute, event, resource, span_name) {
        (Some((key, at)), None, None, None) => Where::Attribute(key_of(key, at, problems)?),
        (Some((key, at)), Some((event, _)), None, None) => Where::Event {
            name: event.to_owned(),
            attribute: key_of(key, at, problems)?,
        },
        (None, None, Some((key, at)), None) => Where::Resource(key_of(key, at, problems)?),
        (None, None, None, Some((pattern, at))) => span_name_of(pattern, at, problems)?,
        _ => {
            let message = "this names no place, or more than one";
            problems.push(Problem::error(first(node), message).help(SOURCE_HELP));
            return None;
        }
    };
    let member = member.map_or_else(Vec::new, |(path, _)| {
        path.split('.').map(str::to_owned).collect()
    });
    Some(Source { place, member })
}

/// The key of an attribute.
fn key_of(text: &str, place: Place, problems: &mut Problems) -> Option<String> {
    if text.is_empty() || text.contains(|c: char| c == '*' || c.is_whitespace()) {
        problems.push(
            Problem::error(place, format!("`{text}` is no key of an attribute")).help(
                "one key as it stands on the span; for several write [first, second]; for the span's name {span_name: \"*\"}",
            ),
        );
        return None;
    }
    Some(text.to_owned())
}

fn span_name_of(pattern: &str, place: Place, problems: &mut Problems) -> Option<Where> {
    match pattern.split_once('*') {
        Some((before, after)) if !after.contains('*') => Some(Where::SpanName {
            before: before.to_owned(),
            after: after.to_owned(),
        }),
        _ => {
            problems.push(
                Problem::error(
                    place,
                    format!("`{pattern}` does not say which part of the name is meant"),
                )
                .help("one `*` stands for it: \"*\", \"tool *\", \"call_*_done\""),
            );
            None
        }
    }
}

fn is_map(node: &Node, problems: &mut Problems, help: &str) -> bool {
    let is = matches!(node.value, Value::Map(_));
    if !is {
        let message = "expected a map of keys and values";
        problems.push(Problem::error(node.place, message).help(help));
    }
    is
}

/// Where to point for a map: its first key.
fn first(node: &Node) -> Place {
    let entry = node.entries().first();
    entry.map_or(node.place, |entry| entry.key_place)
}
