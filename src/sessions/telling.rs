//! What is told twice: two instrumentations, or a wrapper and the request inside it, tell of one model answer;
//! wrappers repeat what the steps within have spent.
//!
//! Invariant: one answer is one reply, whichever of its spans comes first; tokens and dollars count once, where
//! they are told first, and what a span repeats of those within is taken off. Spans that do not meet in time
//! are never one. Spans of agents repeat totals: they are not heard here at all.

use smallvec::SmallVec;

use crate::lanes::{Cost, Ledger, Order, Spent};
use crate::model::{Member, ModelCall, SpanId, Step, Timestamp, Usage};

use super::Run;
use super::observe::Arrived;
use super::said::Said;
use super::spans::Spans;

/// Tellings remembered in a run: as many answers may be under way at a time.
const TELLINGS_MAX: usize = 16;

/// A place among the steps of a run, with the step as part of a proof.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asker {
    pub(super) order: Order,
    pub(super) member: Member,
}

impl Asker {
    /// Arrival plus one, as in [`crate::lanes::Call::asked_by`].
    pub(super) fn by(&self) -> u32 {
        self.member.step.saturating_add(1)
    }
}

/// A span that told of an answer, or of what a call cost.
#[derive(Clone, Debug)]
pub(super) struct Telling {
    span: SpanId,
    parent: Option<SpanId>,
    scope: u64,
    start: Timestamp,
    end: Timestamp,
    raw: Usage,
    /// What it told beyond those within and around it.
    own: Usage,
    /// What it told of an answer; `None` for a call.
    said: Option<Said>,
    /// The span that stands for this answer: itself, or the one that told it before.
    known: Asker,
    /// It was counted that it tells no tokens, no cost.
    owes: (bool, bool),
    /// Scopes of the spans beside it that told the same again.
    again: SmallVec<[u64; 1]>,
}

impl Telling {
    fn stands_for_itself(&self) -> bool {
        self.known.member.span == self.span
    }
}

/// How another span stands to one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stands {
    Above,
    Below,
    Beside,
}

/// What a span adds to what is known.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// What it tells of tokens and dollars that nothing has told before.
    pub(super) own: Usage,
    /// What it does not tell is unknown, and told by no other span.
    pub(super) expected: bool,
    /// The answer that it tells again.
    pub(super) second_of: Option<Asker>,
    /// Spans of the same answer that came before and captured nothing of it.
    pub(super) silent: SmallVec<[Asker; 1]>,
    /// Steps of which tokens, cost are no longer missed.
    owed: SmallVec<[(Asker, bool, bool); 1]>,
}

impl Run {
    /// Hears a model answer (`said`), or a call that may tell what it cost; `call` is the first span of the same
    /// call, where this is not the first.
    pub(super) fn hear(
        &mut self,
        arrived: Arrived<'_>,
        said: Option<Said>,
        call: Option<Asker>,
    ) -> Heard {
        let step = arrived.step;
        let mut heard = Heard {
            own: step.usage,
            expected: said.is_some(),
            ..Heard::default()
        };
        if said.is_none() && step.usage == Usage::default() {
            return heard;
        }
        let asker = Asker {
            order: arrived.order,
            member: arrived.member(),
        };
        let known = self.relate(step, said, call, &mut heard);
        heard.second_of = known.or(call);
        let silent: Vec<SpanId> = heard.silent.iter().map(|one| one.member.span).collect();
        for other in &mut self.told {
            if silent.contains(&other.span) {
                other.known = asker;
            }
        }
        let owes = |told: bool| heard.expected && !told;
        let tokens = step.usage.input_tokens.or(step.usage.output_tokens);
        let telling = Telling {
            span: step.span,
            parent: step.parent,
            scope: step.scope,
            start: step.start,
            end: step.end,
            raw: step.usage,
            own: heard.own,
            said,
            known: heard.second_of.unwrap_or(asker),
            owes: (owes(tokens.is_some()), owes(step.usage.cost_usd.is_some())),
            again: SmallVec::new(),
        };
        self.remember(telling);
        heard
    }

    /// The step that stands for the answer that a span told.
    pub(super) fn known_as(&self, span: SpanId) -> Option<Asker> {
        let mut told = self.told.iter().rev();
        told.find(|one| one.span == span).map(|one| one.known)
    }

    /// Notes what an answer says of which its span told nothing: spans still to come are held against that.
    pub(super) fn note_said(&mut self, span: SpanId, model: &ModelCall) {
        let silent = |one: &Telling| one.said.is_some_and(|said| said.is_silent());
        for one in self.told.iter_mut().filter(|one| one.span == span) {
            if silent(one) {
                one.said = Some(Said::of(model));
            }
        }
    }

    /// Holds a span against those remembered: takes off what they told, and returns the answer that it repeats.
    fn relate(
        &mut self,
        step: &Step,
        said: Option<Said>,
        call: Option<Asker>,
        heard: &mut Heard,
    ) -> Option<Asker> {
        let (mut around, mut within) = (Usage::default(), Usage::default());
        let (mut alike, mut nested) = (None, None);
        let places = self.places(step, call);
        let below = |span: SpanId| {
            let mut each = self.told.iter().zip(&places);
            each.any(|(other, place)| other.span == span && *place == Some(Stands::Below))
        };
        let counted_below: SmallVec<[bool; TELLINGS_MAX]> = self
            .told
            .iter()
            .map(|other| other.stands_for_itself() || below(other.known.member.span))
            .collect();
        let each = self.told.iter_mut().zip(&places).zip(counted_below);
        for (at, ((other, place), counted_below)) in each.enumerate().rev() {
            let Some(place) = *place else { continue };
            let likeness = said
                .as_ref()
                .and_then(|said| likeness(said, step, other, place));
            match place {
                Stands::Beside if likeness.is_none() && call.is_none() => continue,
                Stands::Above | Stands::Beside => around = either(around, other.raw),
                Stands::Below if counted_below => within = plus(within, other.own),
                // It was counted with a span beside: it is part of this one all the same.
                Stands::Below => within = plus(within, other.raw),
            }
            let both_models = said.is_some() && other.said.is_some();
            heard.expected &=
                !both_models && (place == Stands::Below || around == Usage::default());
            other.pay_debts(&step.usage, &mut heard.owed);
            match likeness {
                Some(Likeness::Content) if alike.is_none() => alike = Some((at, place)),
                Some(Likeness::Silent) if nested.is_none() => nested = Some((at, place)),
                Some(Likeness::OtherSilent) if other.stands_for_itself() => {
                    heard.silent.push(other.known);
                }
                _ => {}
            }
        }
        heard.own = less(step.usage, around, within);
        let (at, place) = alike.or(nested)?;
        let known = self.told.get_mut(at)?;
        if place == Stands::Beside {
            known.again.push(step.scope);
        }
        Some(known.known)
    }

    /// How those remembered that meet a span in time, or tell of the same call, stand to it.
    fn places(&self, step: &Step, call: Option<Asker>) -> SmallVec<[Option<Stands>; TELLINGS_MAX]> {
        let place = |other: &Telling| {
            let meet = other.start <= step.end && step.start <= other.end;
            let same_call = call.is_some_and(|c| c.member.span == other.known.member.span);
            if !meet && !same_call {
                return None;
            }
            let place = stands(&self.spans, step, other);
            let apart = place == Stands::Beside && call.is_some() && !same_call;
            (!apart).then_some(place)
        };
        self.told.iter().map(place).collect()
    }

    /// Keeps a telling. What the oldest has told stays with one under the same parent, for the spans around.
    fn remember(&mut self, telling: Telling) {
        if self.told.len() >= TELLINGS_MAX {
            let old = self.told.remove(0);
            let same = |other: &&mut Telling| old.parent.is_some() && other.parent == old.parent;
            if let Some(heir) = self.told.iter_mut().find(same) {
                heir.own = plus(heir.own, old.own);
            }
        }
        self.told.push(telling);
    }

    /// Misses no longer what a span has told of others.
    pub(super) fn settle(&mut self, heard: &Heard, ledger: &mut Ledger) {
        for (asker, tokens, cost) in &heard.owed {
            self.facts.forgive(asker.member.end, *tokens, *cost);
            if !*cost || !self.meters {
                continue;
            }
            ledger.meter.forgive(asker.order);
            if let Some(turn) = self.facts.turns.of_mut(asker.member.start) {
                turn.forgive(asker.order);
            }
            for lane in &mut self.lanes {
                lane.lane.meter.forgive(asker.order);
            }
        }
    }

    /// Counts what only the second span of a call or of an answer tells, with the first one.
    pub(super) fn pay_again(
        &mut self,
        arrived: Arrived<'_>,
        heard: &Heard,
        known: Asker,
        ledger: &mut Ledger,
    ) {
        self.settle(heard, ledger);
        let Member { start, end, .. } = known.member;
        self.facts.pay(end, &heard.own, false);
        if let Some(usd) = heard.own.cost_usd {
            let trace = arrived.step.trace;
            let spent = Spent::new(known.order, trace, start, false, Cost::Known(usd));
            self.count(spent, arrived.lane, ledger);
        }
    }
}

impl Telling {
    /// What was counted as not told, and another span tells now.
    fn pay_debts(&mut self, told: &Usage, owed: &mut SmallVec<[(Asker, bool, bool); 1]>) {
        let tokens = self.owes.0 && told.input_tokens.or(told.output_tokens).is_some();
        let cost = self.owes.1 && told.cost_usd.is_some();
        if tokens || cost {
            owed.push((self.known, tokens, cost));
            self.owes = (self.owes.0 && !tokens, self.owes.1 && !cost);
        }
    }
}

/// Why two spans are of one answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Likeness {
    /// By what it holds.
    Content,
    /// This span captured nothing.
    Silent,
    /// The other one captured nothing.
    OtherSilent,
}

/// Whether another span tells of the same answer (P7, P22): from above or below, or from beside by another
/// instrumentation, once each. Where one of them captures nothing, those beside must have spent the same.
fn likeness(said: &Said, step: &Step, other: &Telling, stands: Stands) -> Option<Likeness> {
    let theirs = other.said.as_ref()?;
    let beside = stands == Stands::Beside;
    if beside
        && (step.scope == other.scope
            || !other.stands_for_itself()
            || other.again.contains(&step.scope))
    {
        return None;
    }
    let spent = |usage: &Usage| usage.input_tokens.zip(usage.output_tokens);
    let spent_same = spent(&step.usage).is_some() && spent(&step.usage) == spent(&other.raw);
    match (said.is_silent(), theirs.is_silent()) {
        (false, false) => said.is_like(theirs).then_some(Likeness::Content),
        _ if beside && !spent_same => None,
        (true, _) => Some(Likeness::Silent),
        (false, true) => Some(Likeness::OtherSilent),
    }
}

fn stands(spans: &Spans, step: &Step, other: &Telling) -> Stands {
    if spans.is_below(step.parent, other.span) {
        Stands::Above
    } else if spans.is_below(other.parent, step.span) {
        Stands::Below
    } else {
        Stands::Beside
    }
}

fn either(a: Usage, b: Usage) -> Usage {
    Usage {
        input_tokens: a.input_tokens.or(b.input_tokens),
        output_tokens: a.output_tokens.or(b.output_tokens),
        cost_usd: a.cost_usd.or(b.cost_usd),
    }
}

fn plus(a: Usage, b: Usage) -> Usage {
    fn sum<T>(a: Option<T>, b: Option<T>, add: impl Fn(T, T) -> T) -> Option<T> {
        match (a, b) {
            (Some(a), Some(b)) => Some(add(a, b)),
            (a, b) => a.or(b),
        }
    }
    Usage {
        input_tokens: sum(a.input_tokens, b.input_tokens, u64::saturating_add),
        output_tokens: sum(a.output_tokens, b.output_tokens, u64::saturating_add),
        cost_usd: sum(a.cost_usd, b.cost_usd, |a, b| a + b),
    }
}

/// What a span tells that spans around it have not told, less what spans within it have.
fn less(raw: Usage, around: Usage, within: Usage) -> Usage {
    let tokens = |raw: Option<u64>, around: Option<u64>, within: Option<u64>| match around {
        Some(_) => None,
        None => raw.map(|raw| raw.saturating_sub(within.unwrap_or(0))),
    };
    Usage {
        input_tokens: tokens(raw.input_tokens, around.input_tokens, within.input_tokens),
        output_tokens: tokens(
            raw.output_tokens,
            around.output_tokens,
            within.output_tokens,
        ),
        cost_usd: match around.cost_usd {
            Some(_) => None,
            None => raw
                .cost_usd
                .map(|usd| (usd - within.cost_usd.unwrap_or(0.0)).max(0.0)),
        },
    }
}
