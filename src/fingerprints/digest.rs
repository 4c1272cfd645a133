//! When two answers say the same: as they stand ([`raw`]), or but for volatile tokens ([`neutral`]).
//!
//! Invariant: equal raw hashes mean equal neutral ones. Neutral hashes may only be compared between calls
//! of equal key (A1): under other arguments a measured value is news.
//!
//! What the length has to do with it: a text that is read whole is told by its neutral form alone, so
//! `9 ms` equals `10 ms`; a text whose middle is not read is also told by its exact length, so that
//! output that grows in the middle is never taken for a repeat.

use std::fmt;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::volatile::{Class, mark, rewrite};
use crate::model::Excerpt;

/// Hash of the text as it stands, all of it.
pub fn raw<'a>(text: impl Into<Excerpt<'a>>) -> u64 {
    xxh3_64(text.into().whole().as_bytes())
}

/// Hash of the text with volatile tokens neutralised. An answer that is nothing but an id is that id.
pub fn neutral<'a>(text: impl Into<Excerpt<'a>>) -> u64 {
    let text = text.into();
    let mut buffer = Vec::new();
    let changed = rewrite(text.front(), &mut buffer, |_| ());
    if !text.truncated() {
        if !changed || only_ids(&buffer) {
            return xxh3_64(text.front().as_bytes());
        }
        return xxh3_64(&buffer);
    }
    let front = xxh3_64(if changed {
        &buffer
    } else {
        text.front().as_bytes()
    });
    buffer.clear();
    let changed = rewrite(text.end(), &mut buffer, |_| ());
    let end = if changed {
        &buffer
    } else {
        text.end().as_bytes()
    };
    xxh3_64_with_seed(end, front ^ text.whole().len() as u64)
}

/// Whether nothing but ids and punctuation is left.
fn only_ids(neutral: &[u8]) -> bool {
    let id = mark(Class::Id);
    let mut rest = neutral;
    let mut any = false;
    while let Some(first) = rest.first() {
        if let Some(tail) = rest.strip_prefix(id) {
            any = true;
            rest = tail;
        } else if first.is_ascii_alphanumeric() || *first >= 0x80 {
            return false;
        } else {
            rest = rest.get(1..).unwrap_or_default();
        }
    }
    any
}

/// How many volatile tokens of each kind a text holds; printed as `2 durations, 1 id`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Neutralised {
    /// Measured times.
    pub durations: u16,
    /// Moments: ISO, epoch, clock times.
    pub times: u16,
    /// UUIDs, hex and request ids.
    pub ids: u16,
    /// Process ids.
    pub pids: u16,
    /// Memory addresses.
    pub addresses: u16,
    /// Names of temporary files.
    pub temp_names: u16,
    /// Numbers of attempts.
    pub attempts: u16,
}

impl Neutralised {
    /// Whether there was none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn count(&mut self, class: Class) {
        let count = match class {
            Class::Duration => &mut self.durations,
            Class::Time => &mut self.times,
            Class::Id => &mut self.ids,
            Class::Pid => &mut self.pids,
            Class::Address => &mut self.addresses,
            Class::Temp => &mut self.temp_names,
            Class::Attempt => &mut self.attempts,
        };
        *count = count.saturating_add(1);
    }
}

impl fmt::Display for Neutralised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for (count, one, many) in [
            (self.durations, "duration", "durations"),
            (self.times, "time", "times"),
            (self.ids, "id", "ids"),
            (self.pids, "pid", "pids"),
            (self.addresses, "address", "addresses"),
            (self.temp_names, "temp name", "temp names"),
            (self.attempts, "attempt number", "attempt numbers"),
        ] {
            if count == 0 {
                continue;
            }
            let comma = if first { "" } else { ", " };
            write!(f, "{comma}{count} {}", if count == 1 { one } else { many })?;
            first = false;
        }
        Ok(())
    }
}

/// Counts the volatile tokens of a text, for evidence.
pub fn neutralised<'a>(text: impl Into<Excerpt<'a>>) -> Neutralised {
    let text = text.into();
    let mut counts = Neutralised::default();
    let mut buffer = Vec::new();
    for piece in [text.front(), text.end()] {
        buffer.clear();
        rewrite(piece, &mut buffer, |class| counts.count(class));
    }
    counts
}
