//! What was spent in one unit that a budget may be for: a session, an agent's lane, a turn.
//!
//! Invariant: amounts do not depend on the order in which steps come, and can be told as of any step that is
//! still judged. Dollars are added up as whole picodollars: ten times a tenth is one.

use crate::model::{AnomalyType, Timestamp, TraceId};

use super::lane::forget;
use super::{Order, RunFacts};

/// Picodollars of a dollar.
const PICO: f64 = 1e12;

/// What one step cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Cost {
    /// It is of a kind that costs nothing by itself.
    #[default]
    None,
    /// It cost something, nothing says how much.
    Unknown,
    /// So many dollars.
    Known(f64),
}

/// One step as a meter sees it.
#[derive(Clone, Copy, Debug)]
pub struct Spent {
    /// Its place.
    pub order: Order,
    /// Its trace.
    pub trace: TraceId,
    /// When it started.
    pub start: Timestamp,
    /// It executed a tool.
    pub is_call: bool,
    /// What it cost.
    pub cost: Cost,
    /// Dollars up to and including it, added in order of arrival as the source does.
    sum_usd: f64,
}

impl Spent {
    /// A step that no meter has seen.
    pub fn new(order: Order, trace: TraceId, start: Timestamp, is_call: bool, cost: Cost) -> Self {
        Self {
            order,
            trace,
            start,
            is_call,
            cost,
            sum_usd: 0.0,
        }
    }

    fn pico(&self) -> u128 {
        match self.cost {
            Cost::Known(usd) => pico(usd),
            Cost::None | Cost::Unknown => 0,
        }
    }
}

/// What has been spent by some step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Amount {
    /// Tool calls executed.
    pub calls: u64,
    /// Dollars known to be spent.
    pub usd: f64,
    /// Steps whose cost is known.
    pub priced: u64,
    /// Steps whose cost is not known.
    pub unpriced: u64,
}

/// The limits of a budget, each passed once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Limit {
    /// Tool calls.
    Steps = 1,
    /// Dollars.
    Cost = 2,
    /// Time.
    Time = 4,
    /// Silence.
    Idle = 8,
}

impl Limit {
    /// The limit that a finding of this type and reason speaks of.
    pub fn of(anomaly: AnomalyType, reason: Option<&str>) -> Option<Self> {
        match (anomaly, reason) {
            (AnomalyType::BudgetSteps, _) => Some(Self::Steps),
            (AnomalyType::BudgetCost, _) => Some(Self::Cost),
            (AnomalyType::BudgetTime, Some("idle" | "hung")) => Some(Self::Idle),
            (AnomalyType::BudgetTime, _) => Some(Self::Time),
            _ => None,
        }
    }
}

/// The meter of one unit.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    calls: u64,
    pico_usd: u128,
    sum_usd: f64,
    priced: u64,
    unpriced: u64,
    steps: u64,
    first_start: Option<Timestamp>,
    /// The last steps, by order: those that wait for judgement, and some before them.
    recent: Vec<Spent>,
    passed: u8,
    warned: u8,
}

impl Meter {
    /// Steps kept before the first that waits: as many as may be judged again when one comes late.
    pub const KEPT: usize = 64;

    /// Notes a step. O(distance from the end).
    pub fn add(&mut self, mut spent: Spent) {
        self.count(&spent);
        if let Cost::Known(usd) = spent.cost {
            self.sum_usd += usd;
        }
        spent.sum_usd = self.sum_usd;
        self.keep(spent);
    }

    /// Another step tells what the one at `order` cost: it is no longer missed.
    pub fn forgive(&mut self, order: Order) {
        let unknown = |spent: &&mut Spent| spent.order == order && spent.cost == Cost::Unknown;
        if let Some(spent) = self.recent.iter_mut().rev().find(unknown) {
            spent.cost = Cost::None;
            self.unpriced = self.unpriced.saturating_sub(1);
        }
    }

    /// What was spent up to and including the step at `order`. With `source` as the source counts it: in
    /// order of arrival, dollars as a running sum of doubles.
    pub fn as_of(&self, order: Order, trace: TraceId, source: bool) -> Amount {
        let later = self
            .recent
            .iter()
            .rev()
            .filter(|spent| !source || spent.trace == trace)
            .take_while(|spent| spent.order > order);
        let mut amount = Amount {
            calls: self.calls,
            usd: 0.0,
            priced: self.priced,
            unpriced: self.unpriced,
        };
        let mut pico_usd = self.pico_usd;
        for spent in later {
            amount.calls = amount.calls.saturating_sub(u64::from(spent.is_call));
            pico_usd = pico_usd.saturating_sub(spent.pico());
            match spent.cost {
                Cost::Known(_) => amount.priced = amount.priced.saturating_sub(1),
                Cost::Unknown => amount.unpriced = amount.unpriced.saturating_sub(1),
                Cost::None => {}
            }
        }
        amount.usd = if source {
            let mut own = self.recent.iter().rev().filter(|s| s.trace == trace);
            own.find(|spent| spent.order <= order)
                .map_or(self.sum_usd, |spent| spent.sum_usd)
        } else {
            dollars(pico_usd)
        };
        amount
    }

    /// Tool calls ever executed.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Start of the earliest step.
    pub fn first_start(&self) -> Option<Timestamp> {
        self.first_start
    }

    /// Whether a limit has been reported as passed.
    pub fn has_passed(&self, limit: Limit) -> bool {
        self.passed & limit as u8 != 0
    }

    /// Notes that a limit has been reported as passed.
    pub fn note_passed(&mut self, limit: Limit) {
        self.passed |= limit as u8;
    }

    /// Notes that a limit is near; `true` when that is news.
    pub fn note_near(&mut self, limit: Limit) -> bool {
        let news = self.warned & limit as u8 == 0;
        self.warned |= limit as u8;
        news
    }

    /// Whether it was noted that a limit is near.
    pub fn is_near(&self, limit: Limit) -> bool {
        self.warned & limit as u8 != 0
    }

    /// Takes in all that another one has counted.
    pub fn merge(&mut self, other: Self) {
        self.calls += other.calls;
        self.pico_usd = self.pico_usd.saturating_add(other.pico_usd);
        self.sum_usd += other.sum_usd;
        self.priced += other.priced;
        self.unpriced += other.unpriced;
        self.steps += other.steps;
        self.first_start = earliest(self.first_start, other.first_start);
        self.passed |= other.passed;
        self.warned |= other.warned;
        other.recent.into_iter().for_each(|spent| self.keep(spent));
    }

    /// Gives away the steps that `belongs` says yes to, as far as they are remembered.
    pub fn split_off(&mut self, mut belongs: impl FnMut(&Spent) -> bool) -> Self {
        let whole = self.steps == self.recent.len() as u64;
        let mut given = Self::default();
        for spent in self.recent.extract_if(.., |spent| belongs(spent)) {
            given.count(&spent);
            given.recent.push(spent);
        }
        self.calls = self.calls.saturating_sub(given.calls);
        self.pico_usd = self.pico_usd.saturating_sub(given.pico_usd);
        self.priced = self.priced.saturating_sub(given.priced);
        self.unpriced = self.unpriced.saturating_sub(given.unpriced);
        self.steps = self.steps.saturating_sub(given.steps);
        if whole {
            self.first_start = self.recent.iter().filter_map(known_start).min();
        }
        given
    }

    /// Forgets the steps that no judgement needs any more: all but the last [`Meter::KEPT`] before `floor`.
    pub fn forget(&mut self, floor: Option<Order>) {
        forget(&mut self.recent, |spent| spent.order, floor, Self::KEPT);
    }

    /// Bytes held on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.recent.capacity() * size_of::<Spent>()
    }

    fn count(&mut self, spent: &Spent) {
        self.steps += 1;
        self.calls += u64::from(spent.is_call);
        self.pico_usd = self.pico_usd.saturating_add(spent.pico());
        self.priced += u64::from(matches!(spent.cost, Cost::Known(_)));
        self.unpriced += u64::from(spent.cost == Cost::Unknown);
        self.first_start = earliest(self.first_start, known_start(spent));
    }

    fn keep(&mut self, spent: Spent) {
        let later = self.recent.iter().rev();
        let later = later.take_while(|other| other.order > spent.order).count();
        self.recent.insert(self.recent.len() - later, spent);
    }
}

/// A start of zero was not sent.
fn known_start(spent: &Spent) -> Option<Timestamp> {
    (spent.start != Timestamp::ZERO).then_some(spent.start)
}

fn earliest(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Dollars as picodollars. What is no amount was refused when it was read.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates: beyond any amount there is"
)]
fn pico(usd: f64) -> u128 {
    (usd * PICO).round() as u128
}

#[expect(
    clippy::cast_precision_loss,
    reason = "exact up to nine thousand dollars"
)]
fn dollars(pico_usd: u128) -> f64 {
    pico_usd as f64 / PICO
}

/// The turns of a run, each with its meter. Turns begin where the inputs of its first agent grow.
#[derive(Clone, Debug)]
pub struct Turns {
    turns: Vec<(Timestamp, Meter)>,
    gone: u16,
}

impl Default for Turns {
    fn default() -> Self {
        Self {
            turns: vec![(Timestamp::ZERO, Meter::default())],
            gone: 0,
        }
    }
}

impl Turns {
    /// Turns remembered.
    const MAX: usize = 33;

    /// The turn of a step that started at `start`: its number and its meter.
    pub fn of(&self, start: Timestamp) -> Option<(u16, &Meter)> {
        let at = self.place(start);
        let number = u16::try_from(at).unwrap_or(u16::MAX);
        let (_, meter) = self.turns.get(at)?;
        Some((self.gone.saturating_add(number), meter))
    }

    /// The meter of the turn of a step that started at `start`.
    pub fn of_mut(&mut self, start: Timestamp) -> Option<&mut Meter> {
        let at = self.place(start);
        self.turns.get_mut(at).map(|(_, meter)| meter)
    }

    fn place(&self, start: Timestamp) -> usize {
        let passed = self.turns.partition_point(|(begin, _)| *begin <= start);
        passed.saturating_sub(1)
    }

    /// The turns after the first begin at these moments, ascending. What is remembered of a turn goes where
    /// it belongs.
    pub fn begin_at(&mut self, starts: &[Timestamp]) {
        let known = self.turns.iter().skip(1).map(|(start, _)| *start);
        if known.eq(starts.iter().copied()) {
            return;
        }
        let mut at = 1;
        while let Some((start, _)) = self.turns.get(at) {
            if starts.contains(start) {
                at += 1;
                continue;
            }
            let (_, meter) = self.turns.remove(at);
            if let Some((_, before)) = self.turns.get_mut(at - 1) {
                before.merge(meter);
            }
        }
        for start in starts {
            let at = self.place(*start);
            let Some((begin, meter)) = self.turns.get_mut(at) else {
                continue;
            };
            if begin == start {
                continue;
            }
            let later = meter.split_off(|spent| spent.start >= *start);
            self.turns.insert(at + 1, (*start, later));
        }
        while self.turns.len() > Self::MAX {
            self.turns.remove(0);
            self.gone = self.gone.saturating_add(1);
        }
    }

    pub(super) fn forget(&mut self, floor: Option<Order>) {
        for (_, meter) in &mut self.turns {
            meter.forget(floor);
        }
    }

    /// Bytes held on the heap.
    pub fn heap_bytes(&self) -> usize {
        let meters = self.turns.iter().map(|(_, meter)| meter.heap_bytes());
        self.turns.capacity() * size_of::<(Timestamp, Meter)>() + meters.sum::<usize>()
    }
}

impl RunFacts {
    /// Whether the clock of a step that ended at `end` runs ahead of all others: it measures nothing then.
    pub fn is_ahead(&self, end: Timestamp) -> bool {
        end > self.latest_end
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn trace() -> TraceId {
        TraceId::from_slice(&[1; 16]).unwrap()
    }

    fn at(end: u64) -> Order {
        Order {
            end: Timestamp::from_nanos(end),
            ..Order::default()
        }
    }

    fn spent(end: u64, cost: Cost) -> Spent {
        Spent::new(at(end), trace(), Timestamp::from_nanos(end), true, cost)
    }

    #[test]
    fn ten_times_a_tenth_is_one() {
        let mut meter = Meter::default();
        (1..=10).for_each(|n| meter.add(spent(n, Cost::Known(0.1))));
        assert_eq!(meter.as_of(at(10), trace(), false).usd, 1.0);
        assert_eq!(meter.as_of(at(3), trace(), false).usd, 0.3);
        assert!(
            meter.as_of(at(3), trace(), true).usd > 0.3,
            "as the source adds"
        );
    }

    #[test]
    fn a_turn_that_is_found_late_takes_its_steps() {
        let mut turns = Turns::default();
        for n in [10, 20, 30, 40] {
            let start = Timestamp::from_nanos(n);
            turns.of_mut(start).unwrap().add(spent(n, Cost::None));
        }
        turns.begin_at(&[Timestamp::from_nanos(25)]);
        let calls = |n| {
            let (turn, meter) = turns.of(Timestamp::from_nanos(n)).unwrap();
            (turn, meter.calls(), meter.first_start().unwrap().nanos())
        };
        assert_eq!((calls(12), calls(40)), ((0, 2, 10), (1, 2, 30)));
        turns.begin_at(&[]);
        let (turn, meter) = turns.of(Timestamp::from_nanos(40)).unwrap();
        assert_eq!((turn, meter.calls()), (0, 4));
    }

    proptest! {
        #[test]
        fn amounts_do_not_depend_on_arrival(
            steps in prop::collection::vec((0..50u64, prop::option::of(0..1000u32)), 1..30)
                .prop_shuffle(),
            asked in 0..50u64,
        ) {
            let cost = |cost: Option<u32>| {
                cost.map_or(Cost::Unknown, |n| Cost::Known(f64::from(n) / 1000.0))
            };
            let mut meter = Meter::default();
            steps.iter().for_each(|(end, usd)| meter.add(spent(*end, cost(*usd))));
            let mut sorted = steps.clone();
            sorted.sort_by_key(|(end, _)| *end);
            let mut other = Meter::default();
            let mut rest = Meter::default();
            for (n, (end, usd)) in sorted.iter().enumerate() {
                let to = if n % 2 == 0 { &mut other } else { &mut rest };
                to.add(spent(*end, cost(*usd)));
            }
            other.merge(rest);
            let by = |meter: &Meter| meter.as_of(at(asked), trace(), false);
            prop_assert_eq!(by(&meter), by(&other));
            let calls = sorted.iter().filter(|(end, _)| *end <= asked).count();
            prop_assert_eq!(by(&meter).calls, calls as u64);
        }
    }
}
