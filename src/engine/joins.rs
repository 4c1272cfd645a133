//! Content that log records tell of steps, and the steps of sessions that only log records tell of.
//!
//! Invariant: content waits for its step, never a step for content; what waits is bounded in time, number and bytes,
//! and all that ends without a step is counted. The records themselves have been passed on long before.

use std::collections::VecDeque;
use std::time::Duration;

use foldhash::quality::RandomState;
use hashbrown::{HashMap, HashSet};

use crate::model::{Action, Prompt, Service, SpanId, Step, Timestamp, TraceId};
use crate::sessions::Learned;
use crate::steps::Reading;

use super::{Engine, Output};

/// Content waits this long: a step that takes longer to be told of than its answer is one that is sent again.
const WAITS: Duration = Duration::from_secs(60);
/// Most spans that content waits for.
const SPANS_MAX: usize = 65_536;
/// Most bytes that wait.
const BYTES_MAX: usize = 32 << 20;
/// Sessions told by records whose turns are remembered.
const SESSIONS_MAX: usize = 16_384;
/// Turns remembered of each: those before are not asked for any more.
const TURNS_MAX: usize = 8;

/// What became of the content that log records told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// It went to its step, or its step had told the same.
    Joined,
    /// Its step never came, or was too far back.
    Unmatched,
    /// A step told by a record alone.
    Alone,
    /// A step that spans of the same session tell too: left to them.
    Left,
}

impl Join {
    /// All of them, each at the place of its number.
    pub const ALL: [Self; 4] = [Self::Joined, Self::Unmatched, Self::Alone, Self::Left];

    /// The metric label.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Joined => "joined",
            Self::Unmatched => "unmatched",
            Self::Alone => "alone",
            Self::Left => "left_to_spans",
        }
    }
}

type Key = (TraceId, SpanId);

#[derive(Debug)]
struct Waiting {
    content: Step,
    records: u64,
    since: Timestamp,
}

/// Content that waits for its step.
#[derive(Debug, Default)]
pub(super) struct Joins {
    waiting: HashMap<Key, Waiting, RandomState>,
    /// In order of arrival; a place that was taken since is passed over.
    order: VecDeque<(Timestamp, Key)>,
    bytes: usize,
}

impl Joins {
    /// The content that waits for a step.
    fn take(&mut self, key: Key) -> Option<Waiting> {
        if self.waiting.is_empty() {
            return None;
        }
        let taken = self.waiting.remove(&key)?;
        self.bytes = self.bytes.saturating_sub(taken.content.weight());
        if self.waiting.is_empty() {
            self.order.clear();
        }
        Some(taken)
    }

    /// Lets content wait, together with what waits for the same step.
    fn put(&mut self, content: Step, now: Timestamp) {
        let key = (content.trace, content.span);
        // At the end of time nothing is left to wait for.
        let now = now.min(Timestamp::MAX.minus(WAITS));
        if let Some(known) = self.waiting.get_mut(&key) {
            let before = known.content.weight();
            known.content.complete(&content);
            known.records += 1;
            self.bytes = self.bytes.saturating_sub(before) + known.content.weight();
            return;
        }
        self.bytes += content.weight();
        let waiting = Waiting {
            content,
            records: 1,
            since: now,
        };
        self.waiting.insert(key, waiting);
        self.order.push_back((now, key));
    }

    /// Drops what waited too long, and the oldest of what is too much. Returns how many were dropped.
    fn expire(&mut self, now: Timestamp) -> u64 {
        let mut gone = 0;
        while let Some((since, key)) = self.order.front().copied() {
            let over = self.waiting.len() > SPANS_MAX || self.bytes > BYTES_MAX;
            if !over && now.since(since) < WAITS {
                break;
            }
            self.order.pop_front();
            if self.waiting.get(&key).is_some_and(|one| one.since == since) {
                gone += self.take(key).map_or(0, |one| one.records);
            }
        }
        gone
    }

    /// When the first of it has waited long enough.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.order.front().map(|(since, _)| since.plus(WAITS))
    }

    /// Bytes that wait.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// The turns of sessions that are told by records alone.
#[derive(Debug, Default)]
pub(super) struct Threads {
    /// Starts of the last turns of a session, sorted.
    turns: HashMap<TraceId, Vec<Timestamp>, RandomState>,
    order: VecDeque<TraceId>,
    /// Log records have come, or are to come.
    expected: bool,
    /// Conversations that spans tell of.
    spans: HashSet<u64, RandomState>,
    spans_order: VecDeque<u64>,
}

impl Threads {
    /// Before anything has come.
    pub(super) fn new(expected: bool) -> Self {
        Self {
            expected,
            ..Self::default()
        }
    }

    fn note(&mut self, prompt: &Prompt) {
        let turns = self.turns.entry(prompt.session).or_insert_with(|| {
            self.order.push_back(prompt.session);
            Vec::new()
        });
        if let Err(at) = turns.binary_search(&prompt.at) {
            turns.insert(at, prompt.at);
        }
        if turns.len() > TURNS_MAX {
            turns.remove(0);
        }
        if self.order.len() > SESSIONS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.turns.remove(&oldest);
        }
    }

    /// The trace that stands for the turn of a session in which something ended: a turn is a run.
    fn turn(&self, session: TraceId, end: Timestamp) -> TraceId {
        let turns = self.turns.get(&session).map_or(&[][..], Vec::as_slice);
        let begun = turns.partition_point(|start| *start <= end);
        let Some(start) = begun.checked_sub(1).and_then(|at| turns.get(at)) else {
            return session;
        };
        let mut bytes = *session.as_bytes();
        for (byte, mask) in bytes.iter_mut().skip(8).zip(start.nanos().to_be_bytes()) {
            *byte ^= mask;
        }
        TraceId::from_slice(&bytes).unwrap_or(session)
    }

    /// Notes that spans tell of a conversation.
    fn note_spans(&mut self, step: &Step) {
        let Some(id) = conversation_of(step) else {
            return;
        };
        if self.spans.insert(id) {
            self.spans_order.push_back(id);
        }
        if self.spans_order.len() > SESSIONS_MAX
            && let Some(oldest) = self.spans_order.pop_front()
        {
            self.spans.remove(&oldest);
        }
    }

    fn have_spans(&self, step: &Step) -> bool {
        conversation_of(step).is_some_and(|id| self.spans.contains(&id))
    }
}

fn conversation_of(step: &Step) -> Option<u64> {
    let Service { namespace, name } = &step.service;
    let conversation = step.conversation.as_ref()?;
    let mut hash = xxhash_rust::xxh3::Xxh3::new();
    for part in [namespace, name, conversation] {
        hash.update(part.as_bytes());
        hash.update(&[0xff]);
    }
    Some(hash.digest())
}

impl Engine {
    /// Log records are among what is still to come.
    pub fn expect_records(&mut self) {
        self.threads.expected = true;
    }

    /// Takes in content of steps that are still to come: in a recording it may stand behind them.
    pub fn foresee_contents(&mut self, mut reading: Reading, now: Timestamp) {
        // What is lacking is told with the steps.
        for of in &mut reading.coverage {
            (of.steps, of.others, of.lacks) = (0, 0, [0; 4]);
        }
        self.contents.meet(&reading.coverage, now, &mut Vec::new());
        for content in reading.contents {
            let until = content.end.max(now);
            self.joins.put(content, until);
        }
        self.expire_content(now);
    }

    /// Gives steps that spans tell the content that came before them.
    pub(super) fn complete(&mut self, reading: &mut Reading) {
        for step in &mut reading.steps {
            if self.threads.expected {
                self.threads.note_spans(step);
            }
            self.complete_step(step);
        }
    }

    fn complete_step(&mut self, step: &mut Step) {
        if let Some(waiting) = self.joins.take((step.trace, step.span)) {
            step.complete(&waiting.content);
            self.count(Join::Joined, waiting.records);
        }
    }

    /// Gives the steps of sessions that only log records tell of to the turns of these, and leaves those to spans that
    /// spans tell. Done once it changes nothing more.
    pub fn place(&mut self, reading: &mut Reading) {
        self.threads.expected = true;
        for prompt in reading.prompts.drain(..) {
            self.threads.note(&prompt);
        }
        let sessions = std::mem::take(&mut reading.sessions);
        let mut steps = std::mem::take(&mut reading.steps);
        steps.retain_mut(|step| {
            let alone = sessions.contains(&step.trace);
            if alone && self.threads.have_spans(step) {
                self.count(Join::Left, 1);
                return false;
            }
            self.complete_step(step);
            if alone {
                step.trace = self.threads.turn(step.trace, step.end);
            }
            true
        });
        reading.steps = steps;
        reading.sessions = sessions;
    }

    /// Takes in what log records tell: content of spans, and steps of sessions that have none.
    pub(super) fn take_in_records(
        &mut self,
        mut reading: Reading,
        now: Timestamp,
        out: &mut Output,
    ) {
        self.place(&mut reading);
        let sessions = std::mem::take(&mut reading.sessions);
        let contents = std::mem::take(&mut reading.contents);
        self.count(Join::Alone, reading.steps.len() as u64);
        self.take_in_steps(reading, now, out);
        for content in contents {
            let session = sessions.contains(&content.trace).then_some(content.trace);
            self.join(content, session, now, out);
        }
        self.expire_content(now);
    }

    /// `session`: the content's trace is none, but stands for this session.
    fn join(
        &mut self,
        mut content: Step,
        session: Option<TraceId>,
        now: Timestamp,
        out: &mut Output,
    ) {
        if let Some(session) = session {
            content.trace = self.threads.turn(session, content.end);
        }
        match self.sessions.learn(&content, now) {
            Learned::Unknown => {
                content.trace = session.unwrap_or(content.trace);
                self.joins.put(content, now);
            }
            Learned::TooLate => self.count(Join::Unmatched, 1),
            Learned::Nothing => self.count(Join::Joined, 1),
            Learned::News(run) => {
                self.count(Join::Joined, 1);
                if let Action::ModelCall(_) = content.action {
                    self.sessions.check_arguments(run);
                }
                self.settle_run(run, now, None, out);
            }
        }
    }

    /// Gives up content whose step never came.
    pub(super) fn expire_content(&mut self, now: Timestamp) {
        let gone = self.joins.expire(now);
        self.count(Join::Unmatched, gone);
    }

    /// The end of everything: nothing waits any more.
    pub(super) fn give_up_content(&mut self) {
        let left = self.joins.waiting.values().map(|one| one.records).sum();
        self.joins = Joins::default();
        self.count(Join::Unmatched, left);
    }

    fn count(&mut self, join: Join, records: u64) {
        if let Some(cell) = self.counters.joins.get_mut(join as usize) {
            *cell += records;
        }
    }
}
