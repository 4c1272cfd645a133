//! Component ids (`type` or `type/name`), the types there are, and what to do about those that the
//! OpenTelemetry collector has and this program has not.

use super::problems::Problems;
use super::report::Problem;
use super::suggest;
use super::tree::{Entry, Node, Value};

/// A section of components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Receivers,
    Processors,
    Exporters,
    Extensions,
}

impl Section {
    /// Its key at the top of the configuration.
    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::Receivers => "receivers",
            Self::Processors => "processors",
            Self::Exporters => "exporters",
            Self::Extensions => "extensions",
        }
    }

    /// One of them.
    pub(super) const fn one(self) -> &'static str {
        match self {
            Self::Receivers => "receiver",
            Self::Processors => "processor",
            Self::Exporters => "exporter",
            Self::Extensions => "extension",
        }
    }

    /// The types there are.
    pub(super) const fn kinds(self) -> &'static [&'static str] {
        match self {
            Self::Receivers => &["otlp"],
            Self::Processors => &["anomaly"],
            Self::Exporters => crate::exporters::Settings::KINDS,
            Self::Extensions => &["health_check", "bearertokenauth", "zpages"],
        }
    }

    /// What to do instead of a type that the collector has.
    pub(super) fn advice(self, kind: &str) -> Option<&'static str> {
        const FRONT: &str =
            "keep it in a collector in front that sends OTLP here; no other receiver is built in";
        const BESIDE: &str = "keep it in a collector in front of or behind this one";
        const LATER: &str = "not in this release; remove it here and from service.extensions";
        match (self, kind) {
            (Self::Receivers, _) => COLLECTOR_RECEIVERS.contains(&kind).then_some(FRONT),
            (Self::Processors, "batch") => Some(
                "not needed: requests leave as they came and are cut at max_request_size; remove it",
            ),
            (Self::Processors, "memory_limiter") => Some(
                "not needed: memory is bounded by max_state, max_held and sending_queue.queue_size; remove it",
            ),
            (Self::Processors, "groupbytrace" | "groupbyattrs") => {
                Some("not needed: `anomaly` groups by session and trace itself; remove it")
            }
            (Self::Processors, _) => COLLECTOR_PROCESSORS.contains(&kind).then_some(BESIDE),
            (Self::Exporters, "logging") => Some("it is called `debug` now"),
            (Self::Exporters, "jaeger") => Some("use `otlp_grpc`: Jaeger takes OTLP on port 4317"),
            (Self::Exporters, "zipkin" | "kafka" | "loadbalancing" | "otelarrow" | "nop") => {
                Some("send by `otlp_grpc` or `otlp_http` to a collector that has it")
            }
            (Self::Extensions, "basicauth" | "oidc") => {
                Some("use `bearertokenauth`, or `tls.client_ca_file` of the receiver")
            }
            (Self::Extensions, _) => COLLECTOR_EXTENSIONS.contains(&kind).then_some(LATER),
            _ => None,
        }
    }
}

/// A type of component, for those who ask what there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Component {
    /// Its section: `receivers`, `processors`, `exporters` or `extensions`.
    pub section: &'static str,
    /// Its type.
    pub kind: &'static str,
    /// The signals it takes; none for an extension.
    pub signals: &'static [&'static str],
    /// How far its configuration may be relied on, in the collector's words.
    pub stability: &'static str,
}

/// All of them, section by section.
pub fn components() -> Vec<Component> {
    const ALL: &[&str] = &["traces", "logs", "metrics"];
    let of = |section: Section| {
        let signals = match section {
            Section::Receivers | Section::Exporters => ALL,
            // Of log records it reads what they tell of steps; metrics it does not read.
            Section::Processors => &["traces", "logs"],
            Section::Extensions => &[],
        };
        section.kinds().iter().map(move |kind| Component {
            section: section.key(),
            kind,
            signals,
            stability: "beta",
        })
    };
    let sections = [
        Section::Receivers,
        Section::Processors,
        Section::Exporters,
        Section::Extensions,
    ];
    sections.into_iter().flat_map(of).collect()
}

const COLLECTOR_RECEIVERS: &[&str] = &[
    "jaeger",
    "zipkin",
    "kafka",
    "opencensus",
    "prometheus",
    "hostmetrics",
    "filelog",
    "skywalking",
    "datadog",
    "otelarrow",
    "otlpjsonfile",
    "nop",
];

const COLLECTOR_PROCESSORS: &[&str] = &[
    "attributes",
    "resource",
    "resourcedetection",
    "k8sattributes",
    "filter",
    "transform",
    "span",
    "redaction",
    "tail_sampling",
    "probabilistic_sampler",
    "routing",
];

const COLLECTOR_EXTENSIONS: &[&str] = &[
    "pprof",
    "file_storage",
    "basicauth",
    "oidc",
    "memory_limiter",
    "headers_setter",
    "healthcheckv2",
    "opamp",
];

/// The type of an id: what stands before the slash.
pub(super) fn kind_of(id: &str) -> &str {
    id.split('/').next().unwrap_or(id)
}

/// The entries of a section whose id and type are right; the others are reported.
pub(super) fn defined<'a>(
    root: &'a Node,
    section: Section,
    problems: &mut Problems,
) -> Vec<&'a Entry> {
    let Some(entry) = root.entry(section.key()) else {
        return Vec::new();
    };
    match &entry.value.value {
        Value::Map(_) => {}
        _ if entry.value.is_null() => {}
        _ => problems.push(
            Problem::error(
                entry.key_place,
                format!("`{}` has to be a map of components", section.key()),
            )
            .help(format!("write {}: {{}}", section.kinds()[0])),
        ),
    }
    let mut good = Vec::new();
    for entry in entry.value.entries() {
        if problems.is_dropped(entry.key_place) {
            continue;
        }
        match check_id(&entry.key, section) {
            None => good.push(entry),
            Some((message, helps)) => {
                problems.push(Problem::error(entry.key_place, message).helps(helps));
                problems.drop(entry.key_place);
            }
        }
    }
    good
}

fn check_id(id: &str, section: Section) -> Option<(String, Vec<String>)> {
    let kind = kind_of(id);
    let name = id.split_once('/').map(|(_, name)| name);
    if name.is_some_and(|name| name.trim().is_empty()) {
        let message = format!("`{id}` has a slash and no name after it");
        return Some((message, vec![format!("write `{kind}` or `{kind}/name`")]));
    }
    if section.kinds().contains(&kind) {
        return None;
    }
    if let Some(advice) = section.advice(kind) {
        let message = format!("there is no {} `{kind}` here", section.one());
        return Some((message, vec![advice.to_owned()]));
    }
    let message = format!("unknown {} type `{kind}`", section.one());
    let near =
        suggest::nearest(kind, section.kinds()).map(|near| format!("did you mean `{near}`?"));
    let allowed = suggest::wrapped("there are: ", section.kinds());
    Some((message, near.into_iter().chain([allowed]).collect()))
}
