//! Checks of `tls` and `auth`, with the places of their keys.

use std::collections::BTreeMap;

use crate::exporters;
use crate::receivers;
use crate::security::{AuthReference, BearerTokenAuth};

use super::components::{Section, kind_of};
use super::problems::Problems;
use super::report::Problem;
use super::suggest;
use super::tree::{Entry, Node};

/// Reports what is wrong with what stands at `path` below `entry`: the key in it, and words that follow the key's name.
pub(super) fn faults(
    entry: &Entry,
    path: &[&str],
    faults: Vec<(&'static str, String)>,
    problems: &mut Problems,
) {
    let whole = entry.value.at(path).unwrap_or(entry);
    for (key, what) in faults {
        let at = whole.value.entry(key).unwrap_or(whole);
        let place = if key.is_empty() {
            whole.key_place
        } else {
            at.shown()
        };
        let name = if key.is_empty() {
            whole.key.as_str()
        } else {
            key
        };
        problems.push(Problem::error(place, format!("`{name}` {what}")));
    }
}

/// Where `auth` stands, and what it says.
struct Use<'a> {
    entry: &'a Entry,
    path: Vec<&'static str>,
    reference: &'a AuthReference,
}

/// Checks that every `auth` names an extension that is started, and that every one that is started guards something.
pub(super) fn references(
    root: &Node,
    receivers: &BTreeMap<String, receivers::Settings>,
    exporters: &BTreeMap<String, exporters::Settings>,
    started: &BTreeMap<String, BearerTokenAuth>,
    problems: &mut Problems,
) {
    let uses = uses(root, receivers, exporters);
    let defined: Vec<&str> = entries(root, Section::Extensions)
        .map(|entry| entry.key.as_str())
        .collect();
    for Use {
        entry,
        path,
        reference,
    } in &uses
    {
        let id = &reference.authenticator;
        if started.contains_key(id) {
            continue;
        }
        let at = entry.value.at(path).map_or(entry.key_place, Entry::shown);
        let tokens: Vec<&str> = defined
            .iter()
            .copied()
            .filter(|id| kind_of(id) == "bearertokenauth")
            .collect();
        let (message, help) = if tokens.contains(&id.as_str()) {
            let message = format!("`{id}` is not started");
            (message, format!("add it: service: {{extensions: [{id}]}}"))
        } else if defined.contains(&id.as_str()) {
            let message = format!("`{id}` is no authenticator");
            (
                message,
                "use an extension of type bearertokenauth".to_owned(),
            )
        } else {
            let help = match suggest::nearest(id, &tokens) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "define it: extensions: {bearertokenauth: {token: \"${env:TOKEN}\"}}, and name it in service.extensions".to_owned(),
            };
            (format!("authenticator `{id}` is not defined"), help)
        };
        problems.push(Problem::error(at, message).help(help));
    }
    for entry in entries(root, Section::Exporters) {
        let settings = exporters.get(&entry.key);
        if let Some((settings, reference)) = settings.and_then(|one| Some((one, one.auth()?))) {
            twice(
                entry,
                settings,
                started.get(&reference.authenticator),
                problems,
            );
        }
    }
    for entry in entries(root, Section::Extensions) {
        let used = uses
            .iter()
            .any(|one| one.reference.authenticator == entry.key);
        if started.contains_key(&entry.key) && !used {
            let message = format!("`{}` guards nothing", entry.key);
            problems.push(Problem::warning(entry.key_place, message).help(format!(
                "name it where it should: receivers: {{otlp: {{protocols: {{grpc: {{auth: {{authenticator: {}}}}}}}}}}}",
                entry.key
            )));
        }
    }
}

/// A header that is written out must not be the one that `auth` sends.
fn twice(
    entry: &Entry,
    settings: &exporters::Settings,
    auth: Option<&BearerTokenAuth>,
    problems: &mut Problems,
) {
    let (Some(headers), Some(auth)) = (settings.headers(), auth) else {
        return;
    };
    let same = |name: &&String| name.eq_ignore_ascii_case(&auth.header);
    if let Some(name) = headers.keys().find(same) {
        let at = entry.value.at(&["headers", name]).unwrap_or(entry);
        let message = format!("`{name}` is sent by `auth` too");
        problems.push(Problem::error(at.key_place, message).help("leave one of them out"));
    }
}

fn entries(root: &Node, section: Section) -> impl Iterator<Item = &Entry> {
    let section = root.get(section.key());
    section.map_or(&[][..], Node::entries).iter()
}

fn uses<'a>(
    root: &'a Node,
    receivers: &'a BTreeMap<String, receivers::Settings>,
    exporters: &'a BTreeMap<String, exporters::Settings>,
) -> Vec<Use<'a>> {
    let mut uses = Vec::new();
    for entry in entries(root, Section::Receivers) {
        let Some(settings) = receivers.get(&entry.key) else {
            continue;
        };
        let grpc = settings.protocols.grpc.as_ref();
        let grpc = grpc.and_then(|grpc| Some(("grpc", grpc.auth.as_ref()?)));
        let http = settings.protocols.http.as_ref();
        let http = http.and_then(|http| Some(("http", http.auth.as_ref()?)));
        for (protocol, reference) in grpc.into_iter().chain(http) {
            let path = vec!["protocols", protocol, "auth", "authenticator"];
            uses.push(Use {
                entry,
                path,
                reference,
            });
        }
    }
    for entry in entries(root, Section::Exporters) {
        let settings = exporters.get(&entry.key);
        if let Some(reference) = settings.and_then(exporters::Settings::auth) {
            let path = vec!["auth", "authenticator"];
            uses.push(Use {
                entry,
                path,
                reference,
            });
        }
    }
    uses
}
