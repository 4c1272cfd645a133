//! Reads a body whole and turns its spans into steps.

use std::sync::Arc;

use bytes::Bytes;
use xxhash_rust::xxh3::xxh3_64;

use crate::actions::{self, Scripts};
use crate::dialects::{self, Configured, Origin, Part, Raw};
use crate::fingerprints;
use crate::model::{Action, Link, Name, Places, Prompt, Service, SpanId, Step, Timestamp, TraceId};
use crate::otlp::{self, BodyError, Malformed, ResourceView, ScopeView, Seen, StatusCode, Value};

use super::caches::Caches;
use super::coverage::{Coverage, Coverages};
use super::memo::Memory;
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
    /// Content that log records tell of spans: [`Step::trace`] and [`Step::span`] say of which.
    pub contents: Vec<Step>,
    /// Users that have spoken in sessions told by log records.
    pub prompts: Vec<Prompt>,
    /// Traces of steps and contents here that are none: each stands for a session told by log records alone.
    pub sessions: Vec<TraceId>,
}

impl Reading {
    /// Whether log records were read, and no spans.
    pub fn tells_records(&self) -> bool {
        self.spans == 0 && self.body.is_empty()
    }

    /// Whether there is nothing in it for the engine.
    pub fn is_empty(&self) -> bool {
        self.spans == 0
            && self.steps.is_empty()
            && self.contents.is_empty()
            && self.prompts.is_empty()
    }
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
    pub(super) memory: Arc<Memory>,
    pub(super) seed: u64,
    audiences: Audiences,
    dialects: Configured,
    sender: Option<Sender>,
    pub(super) senders: Senders,
    pub(super) coverages: Coverages,
    /// Log records are being read.
    pub(super) reads_records: bool,
    /// How many steps the body before held: room for as many is made at once.
    expected: usize,
}

/// Most steps that room is made for before they come.
const EXPECTED: usize = 1024;

/// The resource of what is being read, with its names made.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    /// Where its first attribute lies: tells resources of one body apart.
    place: usize,
    pub(super) service: Service,
    working_directory: Option<Name>,
    pub(super) session: Option<Name>,
    hash: u64,
    audience: u64,
    /// Where its agents may write.
    places: Arc<Places>,
}

impl Reader {
    /// A reader with empty caches and a memory of its own.
    pub fn new(settings: Arc<Settings>) -> Self {
        Self::sharing(settings, Arc::default())
    }

    /// A reader with empty caches that shares what others of the same settings have heard.
    pub fn sharing(settings: Arc<Settings>, memory: Arc<Memory>) -> Self {
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
            caches: Caches::new(settings.seed, Arc::clone(&memory)),
            calls: fingerprints::Cache::new(settings.seed, fingerprints::ENTRIES),
            scripts: Scripts::with_seed(settings.seed),
            memory,
            seed: settings.seed,
            audiences: settings.audiences.clone(),
            dialects: settings.dialects.clone(),
            sender: None,
            senders: Senders::default(),
            coverages: Coverages::default(),
            reads_records: false,
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
        self.begin();
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
                    if let Some(coverage) = self.coverage(Whence::of(seen)) {
                        coverage.count(&step, said.by);
                    }
                    steps.push(step);
                }
                raw => {
                    if raw.is_none()
                        && let Some(coverage) = self.coverage(Whence::of(seen))
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
            contents: Vec::new(),
            prompts: Vec::new(),
            sessions: Vec::new(),
        })
    }

    /// Forgets what belongs to the body before: its places mean nothing in the next one.
    pub(super) fn begin(&mut self) {
        self.sender = None;
        self.reads_records = false;
        self.senders.begin();
        self.coverages.take();
    }

    fn step(&mut self, seen: &Seen<'_>, raw: Raw<'_>, already_marked: bool) -> Step {
        let span = seen.span;
        let whence = Whence::of(seen);
        let read = |key: &str| text_of(seen.span.attributes(), key);
        Step {
            index: seen.index,
            trace: span.trace_id(),
            span: span.span_id(),
            parent: span.parent_span_id(),
            start: span.start(),
            end: span.end(),
            already_marked,
            status_unset: span.status().code == StatusCode::Unset,
            ..self.told(whence, raw, (span.trace_id(), span.span_id()), read)
        }
    }

    /// A step as far as its dialect tells it: its place among others is for the caller to say. `attribute` finds a
    /// text of its carrier.
    pub(super) fn told<'t>(
        &mut self,
        whence: Whence<'t>,
        raw: Raw<'_>,
        ids: (TraceId, SpanId),
        attribute: impl Fn(&str) -> Option<&'t str>,
    ) -> Step {
        let sender = self.sender(whence.resource);
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
                let places = self.places(whence.resource, attribute, &sender);
                call::read(self, raw, cwd, &places)
            }
            Part::ModelCall => Action::ModelCall(Box::new(reply::model_call(self, raw))),
            Part::AgentRun | Part::HandOff => {
                Action::AgentRun(Box::new(reply::agent_run(self, raw)))
            }
        };
        Step {
            index: 0,
            trace: ids.0,
            span: ids.1,
            parent: None,
            start: Timestamp::ZERO,
            end: Timestamp::ZERO,
            resource: sender.hash,
            audience: sender.audience,
            scope: xxh3_64(whence.scope.name().as_bytes()),
            service: sender.service,
            agent,
            conversation,
            working_directory: sender.working_directory,
            already_marked: false,
            status_unset: false,
            usage,
            action,
        }
    }

    /// Where the agent of a step may write.
    fn places<'t>(
        &self,
        resource: &ResourceView<'t>,
        attribute: impl Fn(&str) -> Option<&'t str>,
        sender: &Sender,
    ) -> Arc<Places> {
        let roots = self.tools.workspace.root.as_ref();
        if !roots.is_some_and(actions::Roots::reads_spans) {
            return Arc::clone(&sender.places);
        }
        Arc::new(actions::places(
            &self.tools,
            &self.watch,
            sender.working_directory.as_deref(),
            |key| text_of(resource.attributes(), key),
            attribute,
        ))
    }

    /// Where the content of what stands here is counted.
    pub(super) fn coverage(&mut self, whence: Whence<'_>) -> Option<&mut Coverage> {
        let scope = whence.scope.name();
        let place = (place_of(whence.resource), scope.as_ptr().addr());
        if !self.coverages.turn_to(place) {
            let service = self.sender(whence.resource).service;
            let scope = self.names.name(scope);
            self.coverages.open(place, service, scope);
        }
        self.coverages.current()
    }

    /// Who sent it. Read once for all that a resource holds.
    pub(super) fn sender(&mut self, resource: &ResourceView<'_>) -> Sender {
        let place = place_of(resource);
        if let Some(sender) = self.sender.as_ref().filter(|sender| sender.place == place) {
            return sender.clone();
        }
        let Origin {
            namespace,
            service,
            working_directory,
            session,
            hash,
        } = dialects::origin(resource);
        let sender = Sender {
            place,
            service: Service {
                namespace: self.names.name(namespace),
                name: self.names.name(service),
            },
            working_directory: working_directory.map(|path| self.names.name(path)),
            session: session.map(|id| self.names.name(id)),
            hash,
            audience: self.audiences.of(resource),
            places: Arc::new(actions::places(
                &self.tools,
                &self.watch,
                working_directory,
                |key| text_of(resource.attributes(), key),
                |_| None,
            )),
        };
        self.senders.meet(sender.hash, resource);
        self.sender = Some(sender.clone());
        sender
    }
}

/// Where something stands: its resource and its scope.
#[derive(Clone, Copy)]
pub(super) struct Whence<'s> {
    pub(super) resource: &'s ResourceView<'s>,
    pub(super) scope: &'s ScopeView<'s>,
}

impl<'s> Whence<'s> {
    fn of(seen: &Seen<'s>) -> Self {
        Self {
            resource: seen.resource,
            scope: seen.scope,
        }
    }
}

/// Where the first attribute of a resource lies.
fn place_of(resource: &ResourceView<'_>) -> usize {
    let first = resource.attributes().next();
    first.map_or(0, |(key, _)| key.as_ptr().addr())
}

/// An attribute that is a text.
pub(super) fn text_of<'a>(
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
