//! Reads a body whole and turns its spans into steps.

use std::sync::Arc;

use bytes::Bytes;
use xxhash_rust::xxh3::xxh3_64;

use crate::actions::{self, Scripts};
use crate::dialects::{self, Configured, Origin, Part, Raw};
use crate::fingerprints;
use crate::model::{Action, Link, Name, Places, Service, Step, TraceId};
use crate::otlp::{self, BodyError, Malformed, Seen, StatusCode, Value};

use super::caches::Caches;
use super::coverage::{Coverage, Coverages};
use super::names::Names;
use super::senders::Senders;
use super::{Audiences, Settings, call, reply};

/// A body that was read.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The body without what was malformed: the very buffer that came when nothing was.
    pub body: Bytes,
    /// How many spans it holds.
    pub spans: u32,
    /// The steps among them, in wire order.
    pub steps: Vec<Step>,
    /// Spans that are no step, in traces that have steps here.
    pub links: Vec<Link>,
    /// What was cut out.
    pub malformed: Malformed,
    /// Spans that carry marks of a sentinel already.
    pub already_marked: u32,
    /// What those tell of findings, by [`crate::model::told_key`] and its like.
    pub told: Vec<u64>,
    /// Who sent the steps: hash as in [`Step::resource`], and what [`otlp::ResourceView::encode`] says.
    pub resources: Vec<(u64, Bytes)>,
    /// What of their content the senders sent.
    pub coverage: Vec<Coverage>,
}

/// Reads bodies. One for each reading task: it keeps buffers and caches.
#[derive(Debug)]
pub struct Reader {
    pub(super) tools: actions::Settings,
    pub(super) show_signature: bool,
    pub(super) source_answers: bool,
    pub(super) topics: bool,
    pub(super) watch: actions::Watch,
    pub(super) names: Names,
    pub(super) caches: Caches,
    pub(super) calls: fingerprints::Cache,
    pub(super) scripts: Scripts,
    audiences: Audiences,
    dialects: Configured,
    sender: Option<Sender>,
    senders: Senders,
    coverages: Coverages,
    /// How many steps the body before held: room for as many is made at once.
    expected: usize,
}

/// Most steps that room is made for before they come.
const EXPECTED: usize = 1024;

/// The resource of the spans being read, with its names made.
#[derive(Clone, Debug)]
struct Sender {
    /// Where its first attribute lies: tells resources of one body apart.
    place: usize,
    service: Service,
    working_directory: Option<Name>,
    session: Option<Name>,
    hash: u64,
    audience: u64,
    /// Where its agents may write.
    places: Arc<Places>,
}

impl Reader {
    /// A reader with empty caches.
    pub fn new(settings: Arc<Settings>) -> Self {
        Self {
            tools: actions::Settings {
                tools: settings.tools.clone(),
                workspace: settings.workspace.clone(),
            },
            show_signature: settings.show_signature,
            source_answers: settings.source_answers,
            topics: settings.topics,
            watch: settings.watch.clone(),
            names: Names::default(),
            caches: Caches::new(settings.seed),
            calls: fingerprints::Cache::new(settings.seed, fingerprints::ENTRIES),
            scripts: Scripts::with_seed(settings.seed),
            audiences: settings.audiences.clone(),
            dialects: settings.dialects.clone(),
            sender: None,
            senders: Senders::default(),
            coverages: Coverages::default(),
            expected: 0,
        }
    }

    /// Reads an ExportTraceServiceRequest in protobuf.
    ///
    /// # Errors
    /// The body cannot be taken apart as a whole; nothing of it counts as read.
    pub fn read(&mut self, body: Bytes) -> Result<Reading, BodyError> {
        let mut steps = Vec::with_capacity(self.expected.min(EXPECTED));
        let mut links = Vec::new();
        let mut already_marked = 0u32;
        let mut told = Vec::new();
        // Places in the body before mean nothing in this one.
        self.sender = None;
        self.senders.begin();
        self.coverages.take();
        let dialects = self.dialects.clone();
        let readout = otlp::read(body, |seen| {
            let said = dialects::read(seen, &dialects);
            already_marked = already_marked.saturating_add(u32::from(said.marked));
            told.extend_from_slice(&said.told);
            if said.made {
                return;
            }
            match said.raw {
                Some(raw) if raw.part != Part::TransportDuplicate => {
                    let step = self.step(seen, raw, said.marked);
                    if let Some(coverage) = self.coverage(seen) {
                        coverage.count(&step, said.by);
                    }
                    steps.push(step);
                }
                raw => {
                    if raw.is_none()
                        && let Some(coverage) = self.coverage(seen)
                    {
                        coverage.others += 1;
                    }
                    links.extend(seen.span.parent_span_id().map(|parent| Link {
                        trace: seen.span.trace_id(),
                        span: seen.span.span_id(),
                        parent,
                    }));
                }
            }
        })?;
        self.expected = steps.len();
        keep_links_of(&steps, &mut links);
        Ok(Reading {
            body: readout.body,
            spans: readout.spans,
            steps,
            links,
            malformed: readout.malformed,
            already_marked,
            told,
            resources: self.senders.end(),
            coverage: self.coverages.take(),
        })
    }

    fn step(&mut self, seen: &Seen<'_>, raw: Raw<'_>, already_marked: bool) -> Step {
        let sender = self.sender(seen);
        let span = seen.span;
        let agent = raw.agent.as_deref().map(|agent| self.names.name(agent));
        let conversation = raw
            .conversation
            .as_deref()
            .map(|id| self.names.name(id))
            .or_else(|| sender.session.clone());
        let mut usage = raw.usage;
        let action = match raw.part {
            Part::ToolCall | Part::TransportDuplicate => {
                if usage.cost_usd.is_none() {
                    usage = Default::default();
                }
                let cwd = sender.working_directory.as_deref();
                let places = self.places(seen, &sender);
                call::read(self, raw, cwd, &places)
            }
            Part::ModelCall => Action::ModelCall(Box::new(reply::model_call(self, raw))),
            Part::AgentRun | Part::HandOff => {
                Action::AgentRun(Box::new(reply::agent_run(self, raw)))
            }
        };
        Step {
            index: seen.index,
            trace: span.trace_id(),
            span: span.span_id(),
            parent: span.parent_span_id(),
            start: span.start(),
            end: span.end(),
            resource: sender.hash,
            audience: sender.audience,
            scope: xxh3_64(seen.scope.name().as_bytes()),
            service: sender.service,
            agent,
            conversation,
            working_directory: sender.working_directory,
            already_marked,
            status_unset: span.status().code == StatusCode::Unset,
            usage,
            action,
        }
    }

    /// Where the agent of a span may write.
    fn places(&self, seen: &Seen<'_>, sender: &Sender) -> Arc<Places> {
        let roots = self.tools.workspace.root.as_ref();
        if !roots.is_some_and(actions::Roots::reads_spans) {
            return Arc::clone(&sender.places);
        }
        Arc::new(actions::places(
            &self.tools,
            &self.watch,
            sender.working_directory.as_deref(),
            |key| text_of(seen.resource.attributes(), key),
            |key| text_of(seen.span.attributes(), key),
        ))
    }

    /// Where the content of a span is counted.
    fn coverage(&mut self, seen: &Seen<'_>) -> Option<&mut Coverage> {
        let scope = seen.scope.name();
        let place = (place_of(seen), scope.as_ptr().addr());
        if !self.coverages.turn_to(place) {
            let service = self.sender(seen).service;
            let scope = self.names.name(scope);
            self.coverages.open(place, service, scope);
        }
        self.coverages.current()
    }

    /// Who sent the span. Read once for all spans of a resource.
    fn sender(&mut self, seen: &Seen<'_>) -> Sender {
        let place = place_of(seen);
        if let Some(sender) = self.sender.as_ref().filter(|sender| sender.place == place) {
            return sender.clone();
        }
        let Origin {
            namespace,
            service,
            working_directory,
            session,
            hash,
        } = dialects::origin(seen.resource);
        let sender = Sender {
            place,
            service: Service {
                namespace: self.names.name(namespace),
                name: self.names.name(service),
            },
            working_directory: working_directory.map(|path| self.names.name(path)),
            session: session.map(|id| self.names.name(id)),
            hash,
            audience: self.audiences.of(seen.resource),
            places: Arc::new(actions::places(
                &self.tools,
                &self.watch,
                working_directory,
                |key| text_of(seen.resource.attributes(), key),
                |_| None,
            )),
        };
        self.senders.meet(sender.hash, seen.resource);
        self.sender = Some(sender.clone());
        sender
    }
}

/// Where the first attribute of a span's resource lies.
fn place_of(seen: &Seen<'_>) -> usize {
    let first = seen.resource.attributes().next();
    first.map_or(0, |(key, _)| key.as_ptr().addr())
}

/// An attribute that is a text.
fn text_of<'a>(
    mut attributes: impl Iterator<Item = (&'a str, Value<'a>)>,
    key: &str,
) -> Option<&'a str> {
    attributes.find(|(own, _)| *own == key)?.1.as_str()
}

/// Drops the links of traces without steps: nobody asks for them.
fn keep_links_of(steps: &[Step], links: &mut Vec<Link>) {
    if links.is_empty() {
        return;
    }
    let mut traces: Vec<TraceId> = steps.iter().map(|step| step.trace).collect();
    traces.sort_unstable();
    traces.dedup();
    links.retain(|link| traces.binary_search(&link.trace).is_ok());
}
