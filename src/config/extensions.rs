//! `extensions`: health for machines, tokens for who may send.

use std::collections::BTreeMap;

use crate::control::HealthCheck;
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
    pub(super) authenticators: BTreeMap<String, BearerTokenAuth>,
}

/// One that is defined.
pub(super) enum Extension {
    Health(HealthCheck),
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
    let place = entry.value.entry("endpoint").map(Entry::shown);
    let whose = format!("extensions.{}", entry.key);
    listeners.add(&settings.endpoint, place, &whose, &Exposed::Page, problems);
    Some(settings)
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
                if started.health_check.is_some() {
                    let message = "one `health_check` is enough: they would all say the same";
                    problems.push(Problem::error(reference.place, message));
                }
                started.health_check.get_or_insert(settings);
            }
            None => {}
        }
    }
    started
}
