//! Who has been idle the longest: an exact order with one entry per key, corrected lazily.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::model::Timestamp;

/// Keys by the time they were last seen. An entry may lag behind the truth, never run ahead of it, so an
/// entry at the top that is true is the longest idle of all.
#[derive(Debug)]
pub(super) struct IdleQueue<K> {
    heap: BinaryHeap<Reverse<(Timestamp, K)>>,
}

impl<K: Ord> Default for IdleQueue<K> {
    fn default() -> Self {
        Self {
            heap: BinaryHeap::new(),
        }
    }
}

impl<K: Ord + Copy> IdleQueue<K> {
    /// Adds a new key. Each key is added once; it leaves by [`IdleQueue::pop_idle`].
    pub(super) fn add(&mut self, key: K, seen: Timestamp) {
        self.heap.push(Reverse((seen, key)));
    }

    /// Takes out the longest idle key, if it was last seen at or before `limit`. `last_seen` tells the truth
    /// about a key; `None` = it is gone.
    pub(super) fn pop_idle(
        &mut self,
        limit: Timestamp,
        mut last_seen: impl FnMut(&K) -> Option<Timestamp>,
    ) -> Option<K> {
        while let Some(Reverse((noted, key))) = self.heap.peek().copied() {
            if noted > limit {
                return None;
            }
            self.heap.pop();
            match last_seen(&key) {
                None => {}
                Some(seen) if seen > noted => self.heap.push(Reverse((seen, key))),
                Some(_) => return Some(key),
            }
        }
        None
    }

    /// A moment before which nobody can have become idle: the earliest noted one.
    pub(super) fn earliest(&self) -> Option<Timestamp> {
        self.heap.peek().map(|Reverse((noted, _))| *noted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_idle_goes_first_though_entries_lag() {
        let at = Timestamp::from_nanos;
        let mut queue = IdleQueue::default();
        queue.add(1, at(10));
        queue.add(2, at(20));
        queue.add(3, at(30));
        let seen = |key: &i32| match key {
            1 => Some(at(40)),
            2 => None,
            _ => Some(at(30)),
        };
        assert_eq!(queue.pop_idle(at(100), seen), Some(3));
        assert_eq!(queue.pop_idle(at(39), seen), None);
        assert_eq!(queue.pop_idle(at(40), seen), Some(1));
        assert_eq!(queue.pop_idle(at(100), seen), None);
    }
}
