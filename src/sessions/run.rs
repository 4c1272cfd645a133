//! A run: one trace and all that is known of it.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use smallvec::SmallVec;

use crate::lanes::{Ledger, Order, RunFacts};
use crate::model::{
    AnomalyType, CallId, Lack, Name, Service, Severity, SpanId, Timestamp, TraceId,
};

use super::agent_lane::AgentLane;
use super::content::Again;
use super::spans::Spans;
use super::telling::Telling;
use super::watch::Watch;
use super::{ConversationId, LaneId, Settle};

/// Ids of asked-for calls remembered in a run.
const ASKED_MAX: usize = 256;

/// One trace (DESIGN 2): ordered state, closed soon after its root.
#[derive(Debug)]
pub struct Run {
    /// Its trace; with `turn: conversation` the first of its traces.
    pub id: TraceId,
    /// Who sent its first step.
    pub service: Service,
    /// Hash of the resource of its first step.
    pub resource: u64,
    /// The conversation it has joined.
    pub conversation: Option<ConversationId>,
    /// Id of its session as shown: the conversation's as sent, else the trace id in hex.
    pub session: Name,
    /// Its agents, in the order in which they were met.
    pub lanes: Vec<AgentLane>,
    /// Counters over all lanes.
    pub facts: RunFacts,
    /// Its ledger until it joins a conversation.
    pub own_ledger: Ledger,
    /// Steps read so far; the index of the next one.
    pub steps: u32,
    /// Steps that are taken in but not judged for good, by their place.
    pub pending: VecDeque<Pending>,
    /// When it was last heard of (arrival).
    pub last_seen: Timestamp,
    /// When it closes, once its root has been judged.
    pub close_at: Option<Timestamp>,
    /// What was found in it.
    pub tally: Tally,
    /// What its detectors lacked.
    pub lacks: Lacks,
    /// Some step came out of order.
    pub disordered: bool,
    /// Steps came from more than one resource.
    pub many_resources: bool,
    /// Unnamed steps under different parents overlapped in time.
    pub concurrent: bool,
    /// Some of it was not judged, or judged before its end: memory ran out, the process ended, too many steps.
    pub incomplete: bool,
    /// Steps that came too late to be ordered.
    pub late_steps: u32,
    /// Bytes as accounted last.
    pub(super) accounted: u64,
    /// Calls that a lane keeps.
    pub(super) capacity: usize,
    pub(super) spans: Spans,
    pub(super) asked: SmallVec<[Asked; 2]>,
    pub(super) greatest: Order,
    /// What timers want to know, where a budget of time is set.
    pub watch: Option<Box<Watch>>,
    /// What is spent is counted.
    pub(super) meters: bool,
    /// The last spans that told of answers and of cost, for spans that tell it again.
    pub(super) told: Vec<Telling>,
    /// Places of spans that wait no longer: others stand for them.
    pub(super) freed: Vec<Site>,
    /// Steps that have learned something and are to be judged again.
    pub(super) again: Vec<Again>,
    /// What was found on the last steps that anything was found on, as bit sets by discriminant.
    pub(super) found: Vec<(Order, u32)>,
    pub(super) marked: Vec<(SpanId, Bytes)>,
}

/// A call that a model step asked for by id.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) call: CallId,
    /// Arrival of the asking step plus one.
    pub(super) by: u32,
    pub(super) lane: Option<LaneId>,
    /// Key of the arguments asked for, where they are known.
    pub(super) key: Option<u64>,
}

/// A step that waits for its last judgement.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    /// Its lane.
    pub lane: LaneId,
    /// A call, or a reply.
    pub is_call: bool,
    /// The reply claims completion.
    pub is_claim: bool,
    /// Its place in the lane.
    pub order: Order,
    /// Its span.
    pub span: SpanId,
    /// When it is judged for good.
    pub due: Timestamp,
    /// When it arrived.
    pub arrived: Timestamp,
    /// It is overdue, but its finding may fall apart when the parents of its proof come.
    pub waits_for_parents: bool,
    /// It was judged before, and has learned something since: what was found then is not found anew.
    pub again: bool,
    /// Where its span stands.
    pub site: Site,
}

/// A span's place: which body, and where in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// Number of the body, by arrival.
    pub body: u64,
    /// Position of the span in it.
    pub index: u32,
    /// The span came with marks.
    pub marked: bool,
}

impl Site {
    /// The place of a span that left long ago: no body has this number.
    pub const GONE: Self = Self {
        body: u64::MAX,
        index: u32::MAX,
        marked: false,
    };
}

/// What was found in a run so far: for the span of its agent.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Reports of severity warning and above.
    pub anomalies: u32,
    /// The worst severity of them.
    pub worst: Option<Severity>,
    /// Their types, as a bit set by discriminant.
    pub types: u32,
    /// Milliseconds wasted, summed over the episodes as last reported.
    pub waste_ms: u64,
    /// Tokens wasted, where known.
    pub waste_tokens: Option<u64>,
    /// Findings reported, of any severity.
    pub findings: u32,
}

/// What each detector lacked, as bit sets of [`Lack`] by type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lacks([u16; AnomalyType::ALL.len()]);

impl Lacks {
    /// Notes that a detector lacked something; `true` when that is news.
    pub fn note(&mut self, anomaly: AnomalyType, lack: Lack) -> bool {
        let bit = 1u16 << (lack as u8);
        let Some(bits) = self.0.get_mut(usize::from(anomaly as u8)) else {
            return false;
        };
        let new = *bits & bit == 0;
        *bits |= bit;
        new
    }

    /// What a detector lacked.
    pub fn of(&self, anomaly: AnomalyType) -> impl Iterator<Item = Lack> + use<> {
        let bits = self.0.get(usize::from(anomaly as u8)).copied().unwrap_or(0);
        Lack::ALL
            .into_iter()
            .filter(move |lack| bits & (1 << (*lack as u8)) != 0)
    }

    /// Whether nothing was lacked.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|bits| *bits == 0)
    }

    /// Takes in what another run lacked.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine |= theirs;
        }
    }
}

impl Run {
    pub(super) fn new(
        id: TraceId,
        service: Service,
        resource: u64,
        capacity: usize,
        meters: bool,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            service,
            resource,
            conversation: None,
            session: Name::from(id.to_string()),
            lanes: Vec::new(),
            facts: RunFacts::default(),
            own_ledger: Ledger::default(),
            steps: 0,
            pending: VecDeque::new(),
            last_seen: now,
            close_at: None,
            tally: Tally::default(),
            lacks: Lacks::default(),
            disordered: false,
            many_resources: false,
            concurrent: false,
            incomplete: false,
            late_steps: 0,
            accounted: size_of::<Self>() as u64,
            capacity,
            spans: Spans::default(),
            asked: SmallVec::new(),
            greatest: Order::default(),
            watch: None,
            meters,
            told: Vec::new(),
            freed: Vec::new(),
            again: Vec::new(),
            found: Vec::new(),
            marked: Vec::new(),
        }
    }

    /// A lane by its id.
    pub fn lane(&self, id: LaneId) -> Option<&AgentLane> {
        self.lanes.get(usize::from(id.0))
    }

    /// A lane by its id.
    pub fn lane_mut(&mut self, id: LaneId) -> Option<&mut AgentLane> {
        self.lanes.get_mut(usize::from(id.0))
    }

    /// Whether a span of this run has been seen.
    pub fn has_span(&self, span: SpanId) -> bool {
        self.spans.has(span)
    }

    /// How long a finding on a step that arrives now stays provisional (DESIGN 3.7).
    pub(super) fn settle_time(&self, settle: Settle, is_claim: bool, refused: bool) -> Duration {
        match settle {
            Settle::Fixed(span) => span,
            Settle::Auto if refused => Duration::from_secs(10),
            Settle::Auto if self.many_resources => Duration::from_secs(6),
            Settle::Auto if is_claim || self.disordered => Duration::from_millis(500),
            Settle::Auto => Duration::ZERO,
        }
    }

    /// Lets a step wait for judgement. O(distance from the end).
    pub(super) fn wait(&mut self, pending: Pending) {
        let later = self
            .pending
            .iter()
            .rev()
            .take_while(|other| other.order > pending.order);
        let at = self.pending.len() - later.count();
        self.pending.insert(at, pending);
    }

    /// Takes a step out of those that wait.
    pub fn judged(&mut self, order: Order) {
        if let Ok(at) = self
            .pending
            .binary_search_by(|other| other.order.cmp(&order))
        {
            self.pending.remove(at);
        }
    }

    /// Forgets what no waiting step needs any more.
    pub(super) fn forget(&mut self) {
        if self.pending.is_empty() && self.pending.capacity() > 4 {
            self.pending.shrink_to(0);
        }
        let first = |of_call: bool, lane: Option<LaneId>| {
            self.pending
                .iter()
                .find(|p| p.is_call == of_call && lane.is_none_or(|lane| p.lane == lane))
                .map(|p| p.order)
        };
        let first_call = first(true, None);
        let first_of_all = self.pending.front().map(|pending| pending.order);
        self.facts.forget(self.capacity, first_call, first_of_all);
        self.facts.asks.forget(first_of_all);
        if let Some(trail) = &mut self.facts.trail {
            trail.settle(first_of_all);
        }
        let floors: SmallVec<[_; 4]> = self
            .lanes
            .iter()
            .map(|lane| (first(true, Some(lane.id)), first(false, Some(lane.id))))
            .collect();
        for (lane, (call, reply)) in self.lanes.iter_mut().zip(floors) {
            lane.lane.forget(self.capacity, call, reply);
        }
    }

    /// Works out how the calls that came since stand to the goal (goal_drift).
    pub fn follow(&mut self) {
        let Some(trail) = &mut self.facts.trail else {
            return;
        };
        let lanes = &mut self.lanes;
        trail.follow(|order, bearing| {
            for lane in lanes.iter_mut() {
                if let Some(at) = lane.find_call(order) {
                    if let Some(call) = lane.lane.call_mut(at) {
                        call.more.bearing = bearing;
                    }
                    break;
                }
            }
        });
    }

    /// Drops a waiting claim whose text stands on a later span too. Its lane keeps the reply.
    pub(super) fn supersede_claim(&mut self, hash: Option<u64>, gone: &mut Vec<Site>) {
        let lanes = &self.lanes;
        self.pending.retain(|pending| {
            let text = lanes.get(usize::from(pending.lane.0)).and_then(|lane| {
                let at = lane
                    .find_reply(pending.order)
                    .filter(|_| pending.is_claim)?;
                lane.lane.replies().get(at)?.text
            });
            let keep = text.is_none() || text.map(|text| text.hash) != hash;
            if !keep {
                gone.push(pending.site);
            }
            keep
        });
    }

    pub(super) fn note_asked(&mut self, asked: Asked) {
        if self.asked.len() >= ASKED_MAX {
            self.asked.remove(0);
        }
        self.asked.push(asked);
    }

    pub(super) fn asked_by(&self, call: Option<CallId>) -> Option<&Asked> {
        let call = call?;
        self.asked.iter().rev().find(|asked| asked.call == call)
    }

    /// Bytes held, this struct included. O(lanes).
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.session.len()
            + self.lanes.capacity() * size_of::<AgentLane>()
            + self.lanes.iter().map(AgentLane::heap_bytes).sum::<usize>()
            + self.facts.heap_bytes()
            + self.told.capacity() * size_of::<Telling>()
            + self.found.capacity() * size_of::<(Order, u32)>()
            + self.own_ledger.heap_bytes()
            + self.pending.capacity() * size_of::<Pending>()
            + self.spans.heap_bytes()
            + self
                .marked
                .iter()
                .map(|(_, patch)| patch.len() + 40)
                .sum::<usize>()
    }
}
