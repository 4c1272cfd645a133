//! Log records to content of spans, to steps that no span tells, and to the turns of their sessions.
//!
//! Invariant: stateless as all reading is; what belongs together in one body is put together here, the rest by the
//! engine. A step told by a record has ids made from what it tells, so that a second copy of it has the same.

use bytes::Bytes;
use hashbrown::HashMap;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::dialects::{self, Event, Part, Raw};
use crate::model::{Action, Prompt, Service, SpanId, Step, TraceId};
use crate::otlp::{self, BodyError, Records, SeenRecord};

use super::reader::{Reader, Reading, Whence, text_of};

/// Content of one body is put together for at most so many spans at a time; beyond, pieces stay pieces.
const TOGETHER: usize = 4096;

type Pieces = HashMap<(TraceId, SpanId), usize, foldhash::fast::RandomState>;

impl Reader {
    /// Reads an ExportLogsServiceRequest in protobuf: the body as it is passed on, and what it tells of agents. That
    /// reading has no body and no spans.
    ///
    /// # Errors
    /// The body cannot be taken apart as a whole; nothing of it counts as read.
    pub fn read_records(&mut self, body: Bytes) -> Result<(Records, Reading), BodyError> {
        self.begin();
        self.reads_records = true;
        let mut reading = Reading {
            body: Bytes::new(),
            spans: 0,
            steps: Vec::new(),
            links: Vec::new(),
            malformed: Default::default(),
            already_marked: 0,
            told: Vec::new(),
            resources: Vec::new(),
            coverage: Vec::new(),
            contents: Vec::new(),
            prompts: Vec::new(),
            sessions: Vec::new(),
        };
        let mut pieces = Pieces::default();
        let records = otlp::read_records(body, |seen| {
            if let Some((by, event)) = dialects::read_event(seen) {
                self.event(seen, by, event, &mut reading, &mut pieces);
            }
        })?;
        reading.resources = self.senders.end();
        reading.coverage = self.coverages.take();
        Ok((records, reading))
    }

    fn event(
        &mut self,
        seen: &SeenRecord<'_>,
        by: &'static str,
        event: Event<'_>,
        reading: &mut Reading,
        pieces: &mut Pieces,
    ) {
        let whence = Whence {
            resource: seen.resource,
            scope: seen.scope,
        };
        let record = seen.record;
        let read = |key: &str| text_of(seen.record.attributes(), key);
        let at = record.time();
        match event {
            Event::Content { raw, part } => {
                let Some(ids) = record.trace_id().zip(record.span_id()) else {
                    return;
                };
                let content = Step {
                    end: at,
                    ..self.told(whence, raw, ids, read)
                };
                self.cover(whence, &content);
                gather(content, part, &mut reading.contents, pieces);
            }
            Event::Step { raw, took, id } => {
                let Some(ids) = self.ids(seen, &raw, id.as_deref(), reading) else {
                    return;
                };
                let step = Step {
                    index: seen.index,
                    parent: record.span_id().filter(|_| record.trace_id().is_some()),
                    start: at.minus(took),
                    end: at,
                    ..self.told(whence, raw, ids, read)
                };
                if let Some(coverage) = self.coverage(whence) {
                    coverage.count(&step, by);
                }
                reading.steps.push(step);
            }
            Event::Answer { raw, id } => {
                let Some(ids) = self.ids(seen, &raw, Some(&*id), reading) else {
                    return;
                };
                let content = Step {
                    end: at,
                    ..self.told(whence, raw, ids, read)
                };
                self.cover(whence, &content);
                gather(content, false, &mut reading.contents, pieces);
            }
            Event::Prompt(conversation) => {
                let service = self.sender(whence.resource).service;
                let session = session_of(&service, &conversation);
                reading
                    .prompts
                    .extend(session.map(|session| Prompt { session, at }));
            }
        }
    }

    fn cover(&mut self, whence: Whence<'_>, content: &Step) {
        if let Some(coverage) = self.coverage(whence) {
            coverage.count_content(content);
        }
    }

    /// The ids of a step that only a record tells: its trace, or what stands for that of its session, and its own.
    /// `None` where it names no session: then it belongs to nothing.
    fn ids(
        &mut self,
        seen: &SeenRecord<'_>,
        raw: &Raw<'_>,
        id: Option<&str>,
        reading: &mut Reading,
    ) -> Option<(TraceId, SpanId)> {
        let sender = self.sender(seen.resource);
        let named = raw.conversation.as_deref().or(sender.session.as_deref());
        let session = session_of(&sender.service, named?)?;
        let trace = seen.record.trace_id();
        if trace.is_none() && !reading.sessions.contains(&session) {
            reading.sessions.push(session);
        }
        let mut hash = Xxh3::new();
        hash.update(session.as_bytes());
        hash.update(&[u8::from(raw.part == Part::ToolCall)]);
        match id {
            Some(id) => hash.update(id.as_bytes()),
            None => {
                hash.update(&seen.record.time().nanos().to_be_bytes());
                hash.update(raw.tool.as_deref().unwrap_or_default().as_bytes());
            }
        }
        let span = SpanId::from_slice(&hash.digest().to_be_bytes())?;
        Some((trace.unwrap_or(session), span))
    }
}

/// Puts content with what the same body has told of its span. Single messages add up, whole ones are told once.
fn gather(content: Step, part: bool, contents: &mut Vec<Step>, pieces: &mut Pieces) {
    let key = (content.trace, content.span);
    let known = pieces.get(&key).and_then(|at| contents.get_mut(*at));
    let Some(known) = known else {
        if pieces.len() < TOGETHER {
            pieces.insert(key, contents.len());
        }
        contents.push(content);
        return;
    };
    if let (Action::ModelCall(mine), Action::ModelCall(told)) = (&mut known.action, &content.action)
        && part
        && let (Some(mine), Some(more)) = (&mut mine.user_messages, told.user_messages)
    {
        *mine = mine.saturating_add(more);
    }
    known.complete(&content);
}

/// The trace that stands for a session told by records.
fn session_of(service: &Service, conversation: &str) -> Option<TraceId> {
    let mut hash = Xxh3::with_seed(xxh3_64(service.namespace.as_bytes()));
    hash.update(service.name.as_bytes());
    hash.update(&[0xff]);
    hash.update(conversation.as_bytes());
    TraceId::from_slice(&hash.digest128().to_be_bytes())
}
