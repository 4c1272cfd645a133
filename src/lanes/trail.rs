//! What the goal of a run names, and what followed from it: whether a call is on the goal (goal_drift).
//!
//! Invariant: how a call stands depends on what stands before it in the run's order, however it arrived,
//! as long as nothing is displaced by more than the steps that wait for judgement. Bounded: at most
//! [`Trail::FOLLOWED_MAX`] words that followed, [`Trail::GOAL_MAX`] of goals, and the waiting steps' own.

use hashbrown::HashSet;

use crate::model::{Bearing, Topics, Words};

use super::Order;

type Set = HashSet<u32, foldhash::fast::FixedState>;

/// What a run's calls are compared with. Made with the first goal or call that carries words.
#[derive(Clone, Debug, Default)]
pub struct Trail {
    past: Past,
    /// What no longer changes once nothing before it waits; by order.
    waiting: Vec<Entry>,
    /// Something has come since the bearings were worked out.
    stale: bool,
}

/// All that is known up to one step.
#[derive(Clone, Debug, Default)]
struct Past {
    goal: Set,
    followed: Set,
    /// Some call has shared a word with the goal itself.
    anchored: bool,
    /// The answer of a call was not captured.
    blind: bool,
}

#[derive(Clone, Debug)]
struct Entry {
    order: Order,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Goal(Words),
    Call {
        topics: Topics,
        /// It belongs to every goal: a check, a wait, a question.
        any_goal: bool,
    },
}

impl Trail {
    /// Most words that followed from the goal; beyond them a run is not judged any more.
    pub const FOLLOWED_MAX: usize = 7168;
    /// Most words of goals.
    pub const GOAL_MAX: usize = 3584;
    /// Most steps that wait.
    const WAITING_MAX: usize = 4096;

    /// Notes what users want, as a step at `order` shows.
    pub fn note_goal(&mut self, order: Order, words: &Words) {
        if words.iter().all(|word| self.past.goal.contains(word)) {
            return;
        }
        self.add(order, What::Goal(words.clone()));
    }

    /// Notes a call.
    pub fn note_call(&mut self, order: Order, topics: &Topics, any_goal: bool) {
        let topics = topics.clone();
        self.add(order, What::Call { topics, any_goal });
    }

    fn add(&mut self, order: Order, what: What) {
        if self.waiting.len() >= Self::WAITING_MAX {
            let first = self.waiting.remove(0);
            self.past.take(&first.what);
        }
        let at = self.waiting.partition_point(|other| other.order <= order);
        self.waiting.insert(at, Entry { order, what });
        self.stale = true;
    }

    /// Works out how the waiting calls stand and tells `mark`; nothing when nothing has come since.
    /// Costs a look-up a word of what waits.
    pub fn follow(&mut self, mut mark: impl FnMut(Order, Bearing)) {
        if !std::mem::take(&mut self.stale) {
            return;
        }
        match self.waiting.as_slice() {
            // The usual case: what comes is judged at once.
            [one] => {
                if matches!(one.what, What::Call { .. }) {
                    mark(one.order, self.past.bearing(&one.what));
                }
            }
            several => {
                let mut past = self.past.clone();
                for entry in several {
                    let bearing = past.take(&entry.what);
                    if matches!(entry.what, What::Call { .. }) {
                        mark(entry.order, bearing);
                    }
                }
            }
        }
    }

    /// What stands before `floor`, the first step that waits for judgement, does not change any more.
    pub fn settle(&mut self, floor: Option<Order>) {
        let over = match floor {
            Some(floor) => self.waiting.partition_point(|entry| entry.order < floor),
            None => self.waiting.len(),
        };
        for entry in self.waiting.drain(..over) {
            self.past.take(&entry.what);
        }
        if self.waiting.is_empty() && self.waiting.capacity() > 16 {
            self.waiting.shrink_to(4);
        }
    }

    /// Bytes held on the heap.
    pub fn heap_bytes(&self) -> usize {
        let sets = self.past.goal.allocation_size() + self.past.followed.allocation_size();
        let words = self.waiting.iter().map(|entry| match &entry.what {
            // Goals are shared with the caches of the reader.
            What::Goal(_) => 0,
            What::Call { topics, .. } => {
                4 * (topics.asked.len() + topics.answered.as_ref().map_or(0, |words| words.len()))
            }
        });
        sets + self.waiting.capacity() * size_of::<Entry>() + words.sum::<usize>()
    }
}

impl Past {
    /// How a step stands, and from now on what it adds.
    fn take(&mut self, what: &What) -> Bearing {
        let bearing = self.bearing(what);
        match what {
            What::Goal(words) => {
                let room = Trail::GOAL_MAX.saturating_sub(self.goal.len());
                self.goal.extend(words.iter().copied().take(room));
            }
            What::Call { topics, .. } if bearing != Bearing::Off => {
                let of_goal = |word: &u32| self.goal.contains(word);
                self.anchored |= bearing == Bearing::On && topics.asked.iter().any(of_goal);
                self.blind |= topics.answered.is_none();
                let answered = topics.answered.iter().flat_map(|words| words.iter());
                for word in topics.asked.iter().chain(answered) {
                    if self.followed.len() >= Trail::FOLLOWED_MAX {
                        break;
                    }
                    self.followed.insert(*word);
                }
            }
            What::Call { .. } => {}
        }
        bearing
    }

    fn bearing(&self, what: &What) -> Bearing {
        let What::Call { topics, any_goal } = what else {
            return Bearing::Unread;
        };
        let of_goal = |word: &u32| self.goal.contains(word);
        if self.goal.is_empty() {
            return Bearing::NoGoal;
        }
        if topics.asked.iter().any(of_goal) {
            return Bearing::On;
        }
        if topics.asked.is_empty() || topics.more || *any_goal {
            return Bearing::Neutral;
        }
        if !self.anchored {
            return Bearing::NoGoal;
        }
        if topics.asked.iter().any(|word| self.followed.contains(word)) {
            return Bearing::On;
        }
        if self.blind {
            return Bearing::NoResults;
        }
        if self.followed.len() >= Trail::FOLLOWED_MAX {
            return Bearing::TooMuch;
        }
        Bearing::Off
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Timestamp;

    fn order(end: u64) -> Order {
        Order {
            end: Timestamp::from_nanos(end),
            ..Order::default()
        }
    }

    fn words(words: &[u32]) -> Words {
        words.into()
    }

    fn call(asked: &[u32], answered: Option<&[u32]>) -> Topics {
        Topics {
            asked: words(asked),
            more: false,
            answered: answered.map(words),
        }
    }

    /// The bearings of some calls, a nanosecond apart, after a goal of 1 and 2; taken in in this order.
    fn bearings(calls: &[(u64, Topics)]) -> Vec<Bearing> {
        let mut trail = Trail::default();
        let mut found = vec![(0, Bearing::Unread); calls.len()];
        trail.note_goal(order(0), &words(&[1, 2]));
        for (end, topics) in calls {
            trail.note_call(order(*end), topics, false);
        }
        trail.follow(|order, bearing| {
            let at = calls.iter().position(|(end, _)| *end == order.end.nanos());
            found[at.expect("known")] = (order.end.nanos(), bearing);
        });
        found.sort_by_key(|(end, _)| *end);
        found.into_iter().map(|(_, bearing)| bearing).collect()
    }

    #[test]
    fn what_followed_is_on_the_goal_and_what_strayed_is_not_followed() {
        let calls = [
            (1, call(&[1, 7], Some(&[8]))),
            (2, call(&[8], Some(&[9]))),
            (3, call(&[5], Some(&[6]))),
            (4, call(&[6], Some(&[]))),
            (5, call(&[], Some(&[20]))),
            (6, call(&[20, 7], Some(&[]))),
        ];
        let expected = [
            Bearing::On,
            Bearing::On,
            Bearing::Off,
            Bearing::Off,
            Bearing::Neutral,
            Bearing::On,
        ];
        assert_eq!(bearings(&calls), expected);
        let mut shuffled = calls.to_vec();
        shuffled.rotate_left(2);
        shuffled.swap(0, 3);
        assert_eq!(bearings(&shuffled), expected);
    }

    #[test]
    fn without_a_start_or_without_answers_nothing_is_said() {
        let stray = call(&[5], Some(&[]));
        assert_eq!(bearings(&[(1, stray.clone())]), [Bearing::NoGoal]);
        let blind = [(1, call(&[1], None)), (2, stray.clone())];
        assert_eq!(bearings(&blind), [Bearing::On, Bearing::NoResults]);
        let cut = Topics {
            more: true,
            ..stray
        };
        let long = [(1, call(&[1], Some(&[]))), (2, cut)];
        assert_eq!(bearings(&long), [Bearing::On, Bearing::Neutral]);
    }

    #[test]
    fn it_is_bounded() {
        let mut trail = Trail::default();
        trail.note_goal(order(0), &words(&[1]));
        for n in 0..10_000u32 {
            let far = n * 10 + 100;
            trail.note_call(
                order(u64::from(n) + 1),
                &call(&[1], Some(&[far, far + 1])),
                false,
            );
            if n % 3 == 0 {
                trail.follow(|_, _| ());
                trail.settle(None);
            }
        }
        trail.note_call(order(20_000), &call(&[7], Some(&[])), false);
        let mut last = Bearing::Unread;
        trail.follow(|_, bearing| last = bearing);
        assert_eq!(last, Bearing::TooMuch);
        assert!(trail.heap_bytes() < 128 * 1024, "{}", trail.heap_bytes());
    }
}
