//! `extensions`: health for machines, pages for people, tokens for who may send.

use std::collections::BTreeMap;

use crate::control::{HealthCheck, ZpagesSettings};
use crate::security::BearerTokenAuth;

use super::components::{Section, defined, kind_of};
use super::endpoints::{Exposed, Listeners};
use super::pipelines::Reference;
use super::problems::Problems;
use super::report::Problem;
use super::security;
use super::tree::{Entry, Node};

/// All that are defined, or all that are started.
#[derive(Debug, Default)]
pub(super) struct Extensions {
    pub(super) health_check: Option<HealthCheck>,
    pub(super) zpages: Option<ZpagesSettings>,
    pub(super) authenticators: BTreeMap<String, BearerTokenAuth>,
}

/// One that is defined.
pub(super) enum Extension {
    Health(HealthCheck),
    Pages(ZpagesSettings),
    Tokens(BearerTokenAuth),
}

/// Reads all that are defined, by id.
pub(super) fn read(
    root: &Node,
    listeners: &mut Listeners,
    problems: &mut Problems,
) -> BTreeMap<String, Extension> {
    let mut read = BTreeMap::new();
    for entry in defined(root, Section::Extensions, problems) {
        let extension = match kind_of(&entry.key) {
            "bearertokenauth" => tokens(entry, problems).map(Extension::Tokens),
            "zpages" => pages(entry, listeners, problems).map(Extension::Pages),
            _ => health(entry, listeners, problems).map(Extension::Health),
        };
        if let Some(extension) = extension {
            read.insert(entry.key.clone(), extension);
        }
    }
    read
}

fn health(
    entry: &Entry,
    listeners: &mut Listeners,
    problems: &mut Problems,
) -> Option<HealthCheck> {
    let settings = problems.read::<HealthCheck>(entry)?;
    listens(entry, &settings.endpoint, listeners, problems);
    Some(settings)
}

fn pages(
    entry: &Entry,
    listeners: &mut Listeners,
    problems: &mut Problems,
) -> Option<ZpagesSettings> {
    let settings = problems.read::<ZpagesSettings>(entry)?;
    listens(entry, &settings.endpoint, listeners, problems);
    Some(settings)
}

/// Checks where an extension listens.
fn listens(entry: &Entry, endpoint: &str, listeners: &mut Listeners, problems: &mut Problems) {
    let place = entry.value.entry("endpoint").map(Entry::shown);
    let whose = format!("extensions.{}", entry.key);
    listeners.add(endpoint, place, &whose, &Exposed::Page, problems);
}

fn tokens(entry: &Entry, problems: &mut Problems) -> Option<BearerTokenAuth> {
    let before = problems.errors();
    let settings = problems.read::<BearerTokenAuth>(entry)?;
    // What could not be read has been reported: that it is missing now is no news.
    if problems.errors() == before {
        security::faults(entry, &[], settings.faults(), problems);
    }
    Some(settings)
}

/// Those of `read` that `service.extensions` names.
pub(super) fn started(
    mut read: BTreeMap<String, Extension>,
    used: &[Reference],
    problems: &mut Problems,
) -> Extensions {
    let mut started = Extensions::default();
    for reference in used {
        match read.remove(&reference.id) {
            Some(Extension::Tokens(settings)) => {
                started
                    .authenticators
                    .insert(reference.id.clone(), settings);
            }
            Some(Extension::Health(settings)) => {
                one(&mut started.health_check, settings, reference, problems);
            }
            Some(Extension::Pages(settings)) => {
                one(&mut started.zpages, settings, reference, problems);
            }
            None => {}
        }
    }
    started
}

/// Takes an extension of which one is enough.
fn one<T>(place: &mut Option<T>, settings: T, reference: &Reference, problems: &mut Problems) {
    if place.is_some() {
        let kind = kind_of(&reference.id);
        let message = format!("one `{kind}` is enough: they would all say the same");
        problems.push(Problem::error(reference.place, message));
    }
    place.get_or_insert(settings);
}
