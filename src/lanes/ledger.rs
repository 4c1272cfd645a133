//! The ledger of a conversation: facts whose order does not matter to keep, so that runs can join late
//! and be merged. Every list is bounded and sorted by time.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::model::{
    CheckKind, FileLink, Member, Name, Places, RootHint, SpanId, Stash, Timestamp, TraceId,
    Verdict, Write,
};

use super::lane::forget;
use super::{Meter, NameId, Order, Reply};

/// Edits, checks and replies kept in each list before the first step that waits for judgement.
pub const FACTS_MAX: usize = 16;
/// Most links kept.
const LINKS_MAX: usize = 64;
/// Most of each, whatever waits.
const WAITING_MAX: usize = 4096;

/// A change of files that wants checking.
#[derive(Clone, Debug)]
pub struct Edit {
    /// Its place.
    pub order: Order,
    /// Its trace.
    pub trace: TraceId,
    /// Its span.
    pub span: SpanId,
    /// Its 0-based index in its run.
    pub step: u32,
    /// When it started.
    pub start: Timestamp,
    /// When it ended.
    pub end: Timestamp,
    /// Hash of the resource that sent it.
    pub resource: u64,
    /// The tool used.
    pub tool: NameId,
    /// Whether it worked; `None` when nothing says.
    pub succeeded: Option<bool>,
    /// Its paths are source files (no documentation, summaries, scratch).
    pub source: bool,
    /// Where the edits lie.
    pub root: Option<Name>,
    /// The first path it changes.
    pub path: Option<Name>,
    /// It puts edits aside, or takes them back.
    pub stash: Option<Stash>,
}

/// A verification.
#[derive(Clone, Debug)]
pub struct Check {
    /// Its place.
    pub order: Order,
    /// Its trace.
    pub trace: TraceId,
    /// Its span.
    pub span: SpanId,
    /// Its 0-based index in its run.
    pub step: u32,
    /// When it started.
    pub start: Timestamp,
    /// When it ended.
    pub end: Timestamp,
    /// Hash of the resource that sent it.
    pub resource: u64,
    /// The tool used.
    pub tool: NameId,
    /// The runner.
    pub runner: Name,
    /// Where it ran.
    pub cwd: Option<Name>,
    /// Its kind.
    pub kind: CheckKind,
    /// What it showed.
    pub verdict: Verdict,
    /// Exit code or error flag alone, for `rules: source`: `Some(0)` is a pass.
    pub exit_code: Option<i32>,
    /// Only a part was run.
    pub partial: bool,
    /// Its output was captured.
    pub seen: bool,
    /// Not a check but a run of the program, a reproduction or a build.
    pub weak: bool,
    /// It ran while the edits were put aside: it tells of another tree.
    pub aside: bool,
}

/// What a call wrote, and against what it was placed.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its place.
    pub order: Order,
    /// Its span.
    pub span: SpanId,
    /// What it wrote.
    pub writes: SmallVec<[Write; 1]>,
    /// Where it might have.
    pub places: Arc<Places>,
}

/// The first contact with a host in a conversation.
#[derive(Clone, Debug)]
pub struct Contact {
    /// The host, as read from the call.
    pub host: Name,
    /// Place of the first call that contacted it.
    pub order: Order,
    /// That call.
    pub first: Member,
}

/// What is known of a conversation.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    edits: Vec<Edit>,
    checks: Vec<Check>,
    replies: Vec<Reply>,
    /// Hosts contacted, sorted by name; bounded.
    hosts: Vec<Contact>,
    /// Place of the earliest contact that was not kept.
    unkept: Option<Order>,
    /// Links made and taken away, by order.
    links: Vec<(Order, FileLink)>,
    /// The last writes, by order.
    targets: Vec<Target>,
    /// The first word of where the workspace is: by git, and by where was gone to.
    roots: [Option<(Order, Name)>; 2],
    /// Start of the earliest step whose goal asks for tests.
    pub goal_asks_for_tests: Option<Timestamp>,
    /// Start of the earliest step that shows that a check was within reach: it ran one, or a tool with role
    /// verify was at hand.
    pub can_verify: Option<Timestamp>,
    /// What was spent; counts only where a budget is set.
    pub meter: Meter,
}

impl Ledger {
    /// Most hosts kept.
    pub const HOSTS_MAX: usize = 256;

    /// The edits kept, by order.
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// The checks kept, by order.
    pub fn checks(&self) -> &[Check] {
        &self.checks
    }

    /// The last model replies of all lanes and runs, by order.
    pub fn replies(&self) -> &[Reply] {
        &self.replies
    }

    /// The hosts contacted so far, sorted by name.
    pub fn hosts(&self) -> &[Contact] {
        &self.hosts
    }

    /// Notes an edit.
    pub fn add_edit(&mut self, edit: Edit) {
        keep(&mut self.edits, edit, |e| e.order);
    }

    /// Notes a check.
    pub fn add_check(&mut self, check: Check) {
        keep(&mut self.checks, check, |c| c.order);
    }

    /// Notes a model reply.
    pub fn add_reply(&mut self, reply: Reply) {
        keep(&mut self.replies, reply, |r| r.order);
    }

    /// Changes the reply of a span, but not its order.
    pub fn change_reply(&mut self, span: SpanId, change: impl FnOnce(&mut Reply)) {
        let mut known = self.replies.iter_mut().rev();
        if let Some(reply) = known.find(|reply| reply.span == span) {
            change(reply);
        }
    }

    /// Forgets the reply of a span: another one tells the same answer.
    pub fn drop_reply(&mut self, span: SpanId) {
        self.replies.retain(|reply| reply.span != span);
    }

    /// Notes a contact with a host; the earliest one is kept. Beyond [`Ledger::HOSTS_MAX`] hosts none is.
    pub fn add_host(&mut self, contact: Contact) {
        match self
            .hosts
            .binary_search_by(|known| known.host.cmp(&contact.host))
        {
            Ok(at) => {
                if let Some(known) = self.hosts.get_mut(at).filter(|k| contact.order < k.order) {
                    *known = contact;
                }
            }
            Err(at) => {
                if self.hosts.len() < Self::HOSTS_MAX {
                    self.hosts.insert(at, contact);
                } else {
                    let first = self.unkept.map_or(contact.order, |o| o.min(contact.order));
                    self.unkept = Some(first);
                }
            }
        }
    }

    /// Whether a contact at or before a place was not kept: whose hosts were seen before is not known then.
    pub fn hosts_unkept_by(&self, place: Order) -> bool {
        self.unkept.is_some_and(|first| first <= place)
    }

    /// The links as they stood before a place.
    pub fn links_before(&self, place: Order) -> Vec<FileLink> {
        let before = self.links.iter().take_while(|(order, _)| *order < place);
        before.map(|(_, link)| link.clone()).collect()
    }

    /// Whether a link lies at a path, as far as is known.
    pub fn has_link(&self, path: &str) -> bool {
        self.links.iter().any(|(_, link)| *link.path == *path)
    }

    /// Notes a link made or taken away; the last 64 are kept.
    pub fn add_link(&mut self, order: Order, link: FileLink) {
        if self.links.len() >= LINKS_MAX {
            self.links.remove(0);
        }
        let at = self.links.partition_point(|(other, _)| *other <= order);
        self.links.insert(at, (order, link));
    }

    /// Notes what a call wrote.
    pub fn add_target(&mut self, target: Target) {
        keep(&mut self.targets, target, |t| t.order);
    }

    /// What a call wrote, if it is among the last.
    pub fn target(&self, span: SpanId) -> Option<&Target> {
        self.targets.iter().rev().find(|target| target.span == span)
    }

    /// Notes a word of where the workspace is.
    pub fn add_root_hint(&mut self, order: Order, hint: &RootHint) {
        let [by_git, by_going] = &mut self.roots;
        let slot = if hint.top_level { by_git } else { by_going };
        if slot.as_ref().is_none_or(|(first, _)| order < *first) {
            *slot = Some((order, hint.path.clone()));
        }
    }

    /// Where the workspace is, as far as was told by a place: git's word first.
    pub fn root_by(&self, place: Order) -> Option<&Name> {
        let told = self.roots.iter().flatten();
        told.filter(|(order, _)| *order <= place)
            .map(|(_, path)| path)
            .next()
    }

    /// Notes that the goal of a step that started at `start` asks for tests.
    pub fn note_goal_asks_for_tests(&mut self, start: Timestamp) {
        self.goal_asks_for_tests = earliest(self.goal_asks_for_tests, Some(start));
    }

    /// Notes that a check was within reach at `start`.
    pub fn note_can_verify(&mut self, start: Timestamp) {
        self.can_verify = earliest(self.can_verify, Some(start));
    }

    /// Whether checks were asked for, or within reach, by `at`.
    pub fn checks_expected_by(&self, at: Timestamp) -> bool {
        [self.goal_asks_for_tests, self.can_verify]
            .iter()
            .flatten()
            .any(|since| *since <= at)
    }

    /// Forgets what no judgement needs any more: all but the last [`FACTS_MAX`] facts of each kind before
    /// `floor`, the place of the first step that waits.
    pub fn forget(&mut self, floor: Option<Order>) {
        forget(&mut self.edits, |e| e.order, floor, FACTS_MAX);
        forget(&mut self.checks, |c| c.order, floor, FACTS_MAX);
        forget(&mut self.replies, |r| r.order, floor, FACTS_MAX);
        forget(&mut self.targets, |t| t.order, floor, FACTS_MAX);
        self.meter.forget(floor);
    }

    /// Takes in all that another ledger knows: a run joins its conversation. Never re-judges.
    pub fn merge(&mut self, other: Self) {
        other.edits.into_iter().for_each(|e| self.add_edit(e));
        other.checks.into_iter().for_each(|c| self.add_check(c));
        other.replies.into_iter().for_each(|r| self.add_reply(r));
        other.hosts.into_iter().for_each(|h| self.add_host(h));
        other.targets.into_iter().for_each(|t| self.add_target(t));
        for (order, link) in other.links {
            self.add_link(order, link);
        }
        for (top_level, told) in [true, false].into_iter().zip(other.roots) {
            if let Some((order, path)) = told {
                self.add_root_hint(order, &RootHint { top_level, path });
            }
        }
        self.unkept = match (self.unkept, other.unkept) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self.goal_asks_for_tests = earliest(self.goal_asks_for_tests, other.goal_asks_for_tests);
        self.can_verify = earliest(self.can_verify, other.can_verify);
        self.meter.merge(other.meter);
    }

    /// Bytes held on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.edits.capacity() * size_of::<Edit>()
            + self.checks.capacity() * size_of::<Check>()
            + self.replies.capacity() * size_of::<Reply>()
            + self.targets.capacity() * size_of::<Target>()
            + self.links.capacity() * size_of::<(Order, FileLink)>()
            + self.meter.heap_bytes()
            + self
                .hosts
                .iter()
                .map(|h| h.host.len() + size_of::<Contact>() + 16)
                .sum::<usize>()
    }
}

fn earliest(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Inserts in order. The hard bound is far beyond what one request holds; [`Ledger::forget`] is the usual one.
fn keep<T>(list: &mut Vec<T>, item: T, order: impl Fn(&T) -> Order) {
    let at = list.partition_point(|other| order(other) <= order(&item));
    if list.len() >= WAITING_MAX {
        if at == 0 {
            return;
        }
        list.remove(0);
        list.insert(at - 1, item);
    } else {
        list.insert(at, item);
    }
}
