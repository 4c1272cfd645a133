//! What holds where a configuration is silent, laid under what it says.

use super::components::{Section, kind_of};
use super::merge::merge;
use super::parse::parse;
use super::problems::Problems;
use super::tree::{Entry, Node, Value};

/// The defaults of every component, as a configuration.
pub(super) const TEXT: &str = include_str!("defaults.yaml");

/// Types that are another's under a second name.
const SAME: [(&str, &str); 2] = [("otlp", "otlp_grpc"), ("otlphttp", "otlp_http")];

/// `root` over the defaults of the components that it has, and of the service. `source` is the index of [`TEXT`].
pub(super) fn under(root: Node, source: usize) -> Node {
    let mut quiet = Problems::default();
    let Some(defaults) = parse(source, 0, TEXT, &mut quiet) else {
        return root;
    };
    let mut base = Node::empty_map(root.place);
    let mut entries = Vec::new();
    for section in [
        Section::Receivers,
        Section::Processors,
        Section::Exporters,
        Section::Extensions,
    ] {
        let known = defaults.get(section.key());
        if let Some(written) = root.entry(section.key()) {
            entries.push(Entry {
                value: components(written, section, known),
                ..written.clone()
            });
        } else if section == Section::Processors {
            entries.extend(unwritten(&root, defaults.entry(section.key())));
        }
    }
    let mut service = defaults.entry("service").cloned();
    // `readers` stand in place of the address.
    if root
        .at(&["service", "telemetry", "metrics", "readers"])
        .is_some()
        && let Some(service) = &mut service
    {
        service.value.remove(&["telemetry", "metrics", "address"]);
    }
    entries.extend(service);
    base.value = Value::Map(entries);
    merge(&mut base, root, &mut quiet);
    base
}

/// The processors that pipelines name and nobody has written down: all of theirs is default.
fn unwritten(root: &Node, known: Option<&Entry>) -> Option<Entry> {
    let pipelines = root.at(&["service", "pipelines"])?.value.entries();
    let named: Vec<&str> = pipelines
        .iter()
        .filter_map(|pipeline| pipeline.value.get("processors"))
        .flat_map(Node::members)
        .filter_map(Node::text)
        .collect();
    let known = known?;
    let of = known.value.entries().iter();
    let entries: Vec<Entry> = of
        .filter(|entry| named.contains(&entry.key.as_str()))
        .cloned()
        .collect();
    (!entries.is_empty()).then(|| Entry {
        value: Node {
            place: known.value.place,
            value: Value::Map(entries),
        },
        ..known.clone()
    })
}

/// The defaults of each component of a section, by its id.
fn components(written: &Entry, section: Section, known: Option<&Node>) -> Node {
    let of = |entry: &Entry| {
        let kind = kind_of(&entry.key);
        let second = SAME.iter().find(|(name, _)| *name == kind);
        let kind = match (section, second) {
            (Section::Exporters, Some((_, first))) => first,
            _ => kind,
        };
        let mut defaults = known.and_then(|known| known.get(kind))?.clone();
        if let Some(protocols) = entry.value.get("protocols") {
            only(&mut defaults, protocols);
        }
        Some(Entry {
            value: defaults,
            ..entry.clone()
        })
    };
    let entries = written.value.entries().iter().filter_map(of);
    Node {
        place: written.value.place,
        value: Value::Map(entries.collect()),
    }
}

/// Leaves the defaults of the protocols that are served: where some are named, no other is.
fn only(receiver: &mut Node, named: &Node) {
    let Value::Map(entries) = &mut receiver.value else {
        return;
    };
    for entry in entries.iter_mut().filter(|entry| entry.key == "protocols") {
        if let Value::Map(protocols) = &mut entry.value.value {
            protocols.retain(|protocol| named.get(&protocol.key).is_some());
        }
    }
}
