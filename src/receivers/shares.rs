//! A budget that all clients have together, shared so that none of them takes it all while others wait.
//!
//! The lower half of the budget is for whoever comes first. In the upper half a client that holds something already
//! gets no more than its share: the whole, divided by the number of clients that hold something or were turned away
//! since the budget was last empty. So a client alone may have everything; one of two at most half while the other is
//! there; and who holds nothing always gets in while anything is left.
//!
//! Invariant: what was taken is given back when its [`Held`] is dropped, once. No clock is read.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::{HashMap, HashSet};

/// Most clients that are remembered to wait. More are no reason to divide further.
const WAITING_AT_MOST: usize = 1024;

/// Who sends, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Client {
    /// Somebody at an address; of IPv6 the network of one site, which may have as many addresses as it likes.
    Address(IpAddr),
    /// Who has this token, wherever they are: a part of its hash.
    Token(u64),
}

impl Client {
    /// Who is at an address.
    pub fn at(address: IpAddr) -> Self {
        Self::Address(match address.to_canonical() {
            IpAddr::V4(address) => IpAddr::V4(address),
            IpAddr::V6(address) => IpAddr::V6((u128::from(address) & !u128::from(u64::MAX)).into()),
        })
    }
}

/// What is taken of a budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Load {
    /// Bytes of bodies.
    pub(super) bytes: usize,
    /// Requests, or connections.
    pub(super) number: usize,
}

impl Load {
    fn plus(self, more: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(more.bytes),
            number: self.number.saturating_add(more.number),
        }
    }

    fn minus(self, less: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_sub(less.bytes),
            number: self.number.saturating_sub(less.number),
        }
    }

    fn divided(self, by: usize) -> Self {
        let by = by.max(1);
        Self {
            bytes: self.bytes / by,
            number: self.number / by,
        }
    }

    fn is_nothing(self) -> bool {
        self == Self::default()
    }
}

/// Why something was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    /// The budget is spent.
    Full,
    /// The client has its share, and others are there.
    Share,
}

/// A budget.
#[derive(Debug)]
pub(super) struct Shares {
    most: Load,
    /// Off: first come, first served.
    fair: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    total: Load,
    held: HashMap<Client, Load>,
    waiting: HashSet<Client>,
}

impl Shares {
    /// Nothing of `most` is taken.
    pub(super) fn new(most: Load, fair: bool) -> Arc<Self> {
        Arc::new(Self {
            most,
            fair,
            state: Mutex::default(),
        })
    }

    /// Takes `load` for `client`. What is larger than the whole budget is taken when nothing else is.
    pub(super) fn take(self: &Arc<Self>, client: Client, load: Load) -> Result<Held, Over> {
        self.add(client, load, 0)?;
        Ok(Held {
            shares: Arc::clone(self),
            client,
            load,
        })
    }

    /// Whether `client` would be turned away whatever it brings.
    pub(super) fn ask(&self, client: Client) -> Result<(), Over> {
        let mut state = self.state();
        let full = state.total.number >= self.most.number || state.total.bytes >= self.most.bytes;
        if full && !state.total.is_nothing() {
            state.wait(client);
            return Err(Over::Full);
        }
        self.judge(
            &state,
            client,
            Load {
                bytes: 1,
                number: 1,
            },
        )
    }

    /// Bytes that are taken.
    pub(super) fn bytes(&self) -> usize {
        self.state().total.bytes
    }

    /// Adds `load` to what `client` holds; `same` bytes of that belong to the same body.
    fn add(&self, client: Client, load: Load, same: usize) -> Result<(), Over> {
        let mut state = self.state();
        let total = state.total.plus(load);
        let alone = state.total.bytes == same || load.bytes == 0;
        let beyond = total.number > self.most.number || (!alone && total.bytes > self.most.bytes);
        if beyond {
            state.wait(client);
            return Err(Over::Full);
        }
        self.judge(&state, client, load)?;
        state.total = total;
        let held = state.held.entry(client).or_default();
        *held = held.plus(load);
        state.waiting.remove(&client);
        Ok(())
    }

    fn judge(&self, state: &State, client: Client, load: Load) -> Result<(), Over> {
        let own = state.held.get(&client).copied().unwrap_or_default();
        let waiting = state.waiting.iter();
        let waiting = waiting.filter(|one| **one != client && !state.held.contains_key(*one));
        let holding = state.held.len() - usize::from(state.held.contains_key(&client));
        let others = holding + waiting.count();
        if !self.fair || others == 0 {
            return Ok(());
        }
        let (total, half) = (state.total.plus(load), self.most.divided(2));
        let (wants, share) = (own.plus(load), self.most.divided(others + 1));
        let bytes = total.bytes > half.bytes && own.bytes > 0 && wants.bytes > share.bytes;
        let number = total.number > half.number && own.number > 0 && wants.number > share.number;
        if bytes || number {
            return Err(Over::Share);
        }
        Ok(())
    }

    fn give_back(&self, client: Client, load: Load) {
        let mut state = self.state();
        state.total = state.total.minus(load);
        if let Some(held) = state.held.get_mut(&client) {
            *held = held.minus(load);
            if held.is_nothing() {
                state.held.remove(&client);
            }
        }
        if state.total.is_nothing() {
            // There was room for everybody: who has not come back wants nothing.
            state.waiting.clear();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn wait(&mut self, client: Client) {
        if self.waiting.len() < WAITING_AT_MOST {
            self.waiting.insert(client);
        }
    }
}

/// A part of a budget, given back when dropped.
#[derive(Debug)]
pub(super) struct Held {
    shares: Arc<Shares>,
    client: Client,
    load: Load,
}

impl Held {
    /// Takes `bytes` more.
    pub(super) fn grow(&mut self, bytes: usize) -> Result<(), Over> {
        let load = Load { bytes, number: 0 };
        self.shares.add(self.client, load, self.load.bytes)?;
        self.load = self.load.plus(load);
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.shares.give_back(self.client, self.load);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(n: u64) -> Client {
        Client::Token(n)
    }

    fn budget(bytes: usize) -> Arc<Shares> {
        Shares::new(Load { bytes, number: 100 }, true)
    }

    fn bytes(bytes: usize) -> Load {
        Load { bytes, number: 1 }
    }

    #[test]
    fn a_client_alone_may_have_everything() {
        let shares = budget(100);
        let held: Vec<Held> = (0..10)
            .map(|_| shares.take(client(1), bytes(10)).unwrap())
            .collect();
        assert_eq!(shares.take(client(1), bytes(1)).unwrap_err(), Over::Full);
        drop(held);
        assert_eq!(shares.bytes(), 0);
        assert!(shares.state().held.is_empty());
    }

    #[test]
    fn what_is_larger_than_everything_is_taken_alone() {
        let shares = budget(100);
        let large = shares.take(client(1), bytes(1000)).unwrap();
        assert_eq!(shares.take(client(2), bytes(1)).unwrap_err(), Over::Full);
        drop(large);
        assert!(shares.take(client(2), bytes(1)).is_ok());
    }

    #[test]
    fn a_greedy_one_gets_no_more_than_half_while_another_waits() {
        let shares = budget(100);
        let mut greedy: Vec<Held> = (0..10)
            .map(|_| shares.take(client(1), bytes(10)).unwrap())
            .collect();
        // Full: the other is turned away once, and remembered.
        assert_eq!(shares.take(client(2), bytes(10)).unwrap_err(), Over::Full);
        greedy.pop();
        assert_eq!(shares.take(client(1), bytes(10)).unwrap_err(), Over::Share);
        let other = shares.take(client(2), bytes(10)).unwrap();
        greedy.truncate(5);
        // Above the half, both have a share of 50.
        assert_eq!(shares.take(client(1), bytes(10)).unwrap_err(), Over::Share);
        let more = shares.take(client(2), bytes(40)).unwrap();
        assert_eq!(shares.ask(client(1)), Err(Over::Full));
        drop((other, more));
        // Nobody else is there any more.
        assert!(shares.take(client(1), bytes(50)).is_ok());
    }

    #[test]
    fn below_the_half_nobody_is_asked_whose_it_is() {
        let shares = budget(100);
        let _small: Vec<Held> = (2..12)
            .map(|n| shares.take(client(n), bytes(1)).unwrap())
            .collect();
        // Eleven clients, a share of 9: but there is room.
        let _large = shares.take(client(1), bytes(30)).unwrap();
        assert!(shares.take(client(1), bytes(10)).is_ok());
        assert_eq!(shares.take(client(1), bytes(20)).unwrap_err(), Over::Share);
        // Who holds nothing gets in.
        assert!(shares.take(client(99), bytes(20)).is_ok());
    }

    #[test]
    fn numbers_are_shared_like_bytes() {
        let shares = Shares::new(
            Load {
                bytes: 1000,
                number: 4,
            },
            true,
        );
        let one = || shares.take(client(1), bytes(0));
        let _held = [one().unwrap(), one().unwrap()];
        let _other = shares.take(client(2), bytes(0)).unwrap();
        assert_eq!(one().unwrap_err(), Over::Share);
        assert!(shares.take(client(2), bytes(0)).is_ok());
    }

    #[test]
    fn without_fairness_who_comes_first_has_it() {
        let shares = Shares::new(bytes(100), false);
        let shares = Shares::new(
            Load {
                number: 100,
                ..shares.most
            },
            false,
        );
        let _other = shares.take(client(2), bytes(10)).unwrap();
        let _first = shares.take(client(1), bytes(60)).unwrap();
        assert!(shares.take(client(1), bytes(30)).is_ok());
    }

    #[test]
    fn a_body_that_grows_counts_as_it_comes() {
        let shares = budget(100);
        let mut held = shares.take(client(1), bytes(0)).unwrap();
        held.grow(60).unwrap();
        let mut other = shares.take(client(2), bytes(0)).unwrap();
        other.grow(30).unwrap();
        assert_eq!(held.grow(5), Err(Over::Share));
        assert_eq!(other.grow(20), Err(Over::Full));
        drop(held);
        assert_eq!(shares.bytes(), 30);
        // Alone it may grow beyond everything.
        other.grow(700).unwrap();
    }

    proptest::proptest! {
        /// Whatever comes and goes: the books hold, the budget too, and who holds nothing gets in while there is room.
        #[test]
        fn the_books_hold(steps in proptest::collection::vec((0u64..5, 1usize..60, proptest::bool::ANY), 1..200)) {
            let shares = Shares::new(Load { bytes: 100, number: 8 }, true);
            let mut held: Vec<Held> = Vec::new();
            for (who, size, leaves) in steps {
                if leaves && !held.is_empty() {
                    held.swap_remove(size % held.len());
                } else {
                    let before = shares.bytes();
                    let holds = held.iter().any(|one| one.client == client(who));
                    let room = held.len() < 8 && (before == 0 || before + size <= 100);
                    match shares.take(client(who), bytes(size)) {
                        Ok(taken) => {
                            proptest::prop_assert!(room);
                            held.push(taken);
                        }
                        Err(Over::Full) => proptest::prop_assert!(!room),
                        Err(Over::Share) => proptest::prop_assert!(room && holds),
                    }
                }
                let sum: usize = held.iter().map(|one| one.load.bytes).sum();
                proptest::prop_assert_eq!(sum, shares.bytes());
                proptest::prop_assert!(sum <= 100);
            }
            drop(held);
            let state = shares.state();
            proptest::prop_assert!(state.total.is_nothing() && state.held.is_empty() && state.waiting.is_empty());
        }
    }

    #[test]
    fn one_site_of_ipv6_is_one_client() {
        let at = |text: &str| Client::at(text.parse().unwrap());
        assert_eq!(at("2001:db8::1"), at("2001:db8::2:3"));
        assert_ne!(at("2001:db8:0:1::1"), at("2001:db8:0:2::1"));
        assert_eq!(at("::ffff:10.0.0.1"), at("10.0.0.1"));
        assert_ne!(at("10.0.0.1"), at("10.0.0.2"));
    }
}
