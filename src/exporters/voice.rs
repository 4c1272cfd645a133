//! What an exporter says in the log: a line per change of state, and then at most one a minute. A backend that
//! takes only part of what it gets, as one that limits rates does, changes its state with every answer: from the
//! fifth change of a minute on they are summed up.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::model::printable;

use super::counters::Counters;

/// How often something that goes on is told again.
pub(super) const AGAIN_AFTER: Duration = Duration::from_secs(60);

/// Changes of state told one by one within a minute. Even, so that the last one told is that it works.
const CHANGES_AT_MOST: u32 = 4;

/// Most of a backend's words that go into one line.
const WORDS_AT_MOST: usize = 300;

/// The log of one exporter.
#[derive(Debug)]
pub(super) struct Voice {
    name: String,
    /// Where it sends to; `None` for this host's files and terminal.
    endpoint: Option<String>,
    items: &'static str,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Answers that settled something, ever.
    settled: u64,
    /// Attempts that failed since the last that did not.
    failures: u64,
    /// Changes of state within this minute, and the failures of those that were not told.
    changes: u32,
    untold: u64,
    /// The last failure's words.
    last: String,
    /// Lost spans not told yet, and the words of the last.
    lost: u64,
    lost_why: String,
    /// Losses were told within this minute.
    told_loss: bool,
}

impl State {
    /// Whether this change of state is to be told.
    fn changes(&mut self) -> bool {
        self.changes = self.changes.saturating_add(1);
        self.changes <= CHANGES_AT_MOST
    }
}

impl Voice {
    /// Of the exporter `name`, which sends `items` to `endpoint`.
    pub(super) fn new(name: String, endpoint: Option<String>, items: &'static str) -> Self {
        Self {
            name,
            endpoint,
            items,
            state: Mutex::default(),
        }
    }

    /// How often the backend has settled something so far: to be asked when an attempt begins.
    pub(super) fn settled(&self) -> u64 {
        self.state().settled
    }

    /// An attempt failed and will be repeated. `begun` is what [`Voice::settled`] said when it began: if the
    /// backend has worked since, this is old news and no change of state.
    pub(super) fn failed(&self, why: &str, begun: u64) {
        let mut state = self.state();
        if state.settled != begun {
            return;
        }
        state.failures += 1;
        state.last = bounded(why);
        if state.failures == 1 && state.changes() {
            tracing::warn!(exporter = %self.name, endpoint = self.endpoint.as_deref(), why = %state.last, "the backend does not take data; keeping it and trying again");
        }
    }

    /// The backend has answered in a way that settles something.
    pub(super) fn works(&self) {
        let mut state = self.state();
        state.settled += 1;
        let failures = std::mem::take(&mut state.failures);
        if failures > 0 && !state.changes() {
            state.untold += failures;
        } else if failures > 0 {
            tracing::info!(exporter = %self.name, failures, "the backend takes data again");
        }
    }

    /// Spans are lost for `reason`.
    pub(super) fn lost(&self, spans: u64, reason: &str, why: &str) {
        if spans == 0 {
            return;
        }
        let mut state = self.state();
        if state.told_loss {
            state.lost += spans;
            state.lost_why = bounded(&format!("{reason}: {why}"));
        } else {
            state.told_loss = true;
            tracing::warn!(exporter = %self.name, endpoint = self.endpoint.as_deref(), spans, reason, why = %bounded(why), "{} dropped", self.items);
        }
    }

    /// Once a minute.
    pub(super) fn tick(&self, counters: &Counters) {
        let mut state = self.state();
        if state.failures > 0 {
            let balance = counters.balance();
            let spans = balance.queued + balance.in_flight;
            tracing::warn!(exporter = %self.name, endpoint = self.endpoint.as_deref(), failures = state.failures, spans, why = %state.last, "the backend still takes no data");
        } else if state.untold > 0 {
            tracing::warn!(exporter = %self.name, endpoint = self.endpoint.as_deref(), failures = state.untold, why = %state.last, "the backend takes only part of the data at a time; the rest is tried again");
        }
        state.untold = 0;
        // What was told last is that it fails: its return is the second change.
        state.changes = u32::from(state.failures > 0);
        state.told_loss = state.lost > 0;
        let lost = std::mem::take(&mut state.lost);
        if lost > 0 {
            tracing::warn!(exporter = %self.name, endpoint = self.endpoint.as_deref(), spans = lost, last = %state.lost_why, "more {} dropped", self.items);
        }
    }

    /// The words of the failure that is going on.
    pub(super) fn failing(&self) -> Option<String> {
        let state = self.state();
        (state.failures > 0).then(|| state.last.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stranger's words, short and on one line.
pub(super) fn bounded(words: &str) -> String {
    let end = words.char_indices().nth(WORDS_AT_MOST);
    let head = end.and_then(|(end, _)| words.get(..end));
    let mut short = printable(head.unwrap_or(words)).into_owned();
    if end.is_some() {
        short.push_str("...");
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_words_stay_on_one_short_line() {
        assert_eq!(bounded("no\r\nroom\x1b[31m"), "no\\r\\nroom\\x1b[31m");
        assert_eq!(bounded(&"x".repeat(5000)).len(), WORDS_AT_MOST + 3);
    }

    #[test]
    fn it_fails_until_it_works() {
        let voice = Voice::new("otlp".to_owned(), None, "spans");
        assert_eq!(voice.failing(), None);
        voice.failed("refused", voice.settled());
        voice.failed("still refused", voice.settled());
        assert_eq!(voice.failing().as_deref(), Some("still refused"));
        voice.works();
        assert_eq!(voice.failing(), None);
    }

    #[test]
    fn a_backend_that_takes_every_other_request_is_summed_up() {
        let voice = Voice::new("otlp".to_owned(), None, "spans");
        for _ in 0..100 {
            voice.failed("429", voice.settled());
            voice.failed("429", voice.settled());
            voice.works();
        }
        // Two ups and two downs were told.
        assert_eq!(voice.state().untold, 2 * 98);
        let counters = Counters::default();
        voice.tick(&counters);
        assert_eq!(voice.state().untold, 0);
        assert_eq!(voice.state().changes, 0);
        voice.failed("429", voice.settled());
        voice.tick(&counters);
        assert_eq!(voice.state().changes, 1);
        for _ in 0..3 {
            voice.works();
            voice.failed("429", voice.settled());
        }
        voice.works();
        assert_eq!(voice.state().untold, 1 + 1);
    }

    #[test]
    fn what_failed_before_the_backend_came_back_is_old_news() {
        let voice = Voice::new("otlp".to_owned(), None, "spans");
        let hanging = voice.settled();
        voice.failed("no answer", voice.settled());
        voice.works();
        voice.failed("no answer", hanging);
        assert_eq!(voice.failing(), None);
        voice.failed("down again", voice.settled());
        assert_eq!(voice.failing().as_deref(), Some("down again"));
    }
}
