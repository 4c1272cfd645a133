//! Who sent the spans: the resource.

use xxhash_rust::xxh3::Xxh3;

use crate::otlp::{ResourceView, Value};

use super::fields::{ATTRIBUTES, is_placeholder};
use super::raw::Text;
use super::values;

/// What a resource says of its process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin<'a> {
    /// `service.namespace`, empty when not set.
    pub namespace: &'a str,
    /// `service.name`, empty when not set.
    pub service: &'a str,
    /// `process.working_directory`.
    pub working_directory: Option<&'a str>,
    /// A session named by the resource, for spans that name none.
    pub session: Option<&'a str>,
    /// Hash of all attributes: equal means the same process.
    pub hash: u64,
}

/// Reads a resource.
pub fn origin<'a>(resource: &ResourceView<'a>) -> Origin<'a> {
    let mut origin = Origin::default();
    let mut hasher = Xxh3::new();
    for (key, value) in resource.attributes().take(ATTRIBUTES) {
        hasher.update(key.as_bytes());
        hasher.update(&[0xff]);
        match value {
            Value::Str(text) => {
                hasher.update(text.as_bytes());
                match key {
                    "service.namespace" => origin.namespace = text,
                    "service.name" => origin.service = text,
                    "process.working_directory" if !text.is_empty() => {
                        origin.working_directory = Some(text);
                    }
                    "session.id" if !is_placeholder(text) => origin.session = Some(text),
                    _ => {}
                }
            }
            other => hasher.update(values::text(other).unwrap_or_default().as_bytes()),
        }
        hasher.update(&[0xff]);
    }
    origin.hash = hasher.digest();
    origin
}

/// The environment was renamed in the conventions: either key means both.
const RENAMED: [&str; 2] = ["deployment.environment.name", "deployment.environment"];

/// One attribute of a resource as text; of an attribute sent twice the later one counts, as in [`origin`].
pub fn resource_text<'a>(resource: &ResourceView<'a>, key: &str) -> Option<Text<'a>> {
    let find = |wanted: &str| {
        let mut attributes = resource.attributes().take(ATTRIBUTES);
        let found = attributes.rfind(|(key, _)| *key == wanted);
        found.and_then(|(_, value)| values::text(value))
    };
    find(key).or_else(|| {
        let other = RENAMED.iter().find(|other| **other != key);
        other
            .filter(|_| RENAMED.contains(&key))
            .and_then(|other| find(other))
    })
}
