//! When two answers say the same: as they stand ([`raw`]), or but for volatile tokens ([`neutral`]).
//!
//! Invariant: equal raw hashes mean equal neutral ones. Neutral hashes may only be compared between calls
//! of equal key (A1): under other arguments a measured value is news.
//!
//! What the length has to do with it: a text that is read whole is told by its neutral form alone, so
//! `9 ms` equals `10 ms`; a text whose middle is not read is also told by its exact length, so that
//! output that grows in the middle is never taken for a repeat.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::volatile::{Class, mark, rewrite};
use crate::model::{Excerpt, Ignored, Leftout};

/// Hash of the text as it stands, all of it.
pub fn raw<'a>(text: impl Into<Excerpt<'a>>) -> u64 {
    xxh3_64(text.into().whole().as_bytes())
}

/// Hash of the text with volatile tokens neutralised. An answer that is nothing but an id, or a
/// moment, is that one.
pub fn neutral<'a>(text: impl Into<Excerpt<'a>>) -> u64 {
    counted(text).0
}

/// [`neutral`], and how many volatile tokens of each kind it leaves out.
pub fn counted<'a>(text: impl Into<Excerpt<'a>>) -> (u64, Ignored) {
    let text = text.into();
    let mut ignored = Ignored::default();
    let mut buffer = Vec::new();
    let changed = rewrite(text.front(), &mut buffer, |class| note(&mut ignored, class));
    if !text.truncated() {
        if !changed || only_ids(&buffer) {
            return (xxh3_64(text.front().as_bytes()), Ignored::default());
        }
        return (xxh3_64(&buffer), ignored);
    }
    let front = xxh3_64(if changed {
        &buffer
    } else {
        text.front().as_bytes()
    });
    buffer.clear();
    let changed = rewrite(text.end(), &mut buffer, |class| note(&mut ignored, class));
    let end = if changed {
        &buffer
    } else {
        text.end().as_bytes()
    };
    let digest = xxh3_64_with_seed(end, front ^ text.whole().len() as u64);
    (digest, ignored)
}

/// Whether nothing but ids, or but moments, and punctuation is left: then they are what was asked for.
fn only_ids(neutral: &[u8]) -> bool {
    let mut rest = neutral;
    let mut any = false;
    while let Some(first) = rest.first() {
        let marked = [Class::Id, Class::Time]
            .into_iter()
            .find_map(|class| rest.strip_prefix(mark(class)));
        if let Some(tail) = marked {
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

/// Counts the volatile tokens of a text, for evidence.
#[cfg(test)]
pub fn neutralised<'a>(text: impl Into<Excerpt<'a>>) -> Ignored {
    counted(text).1
}

fn note(ignored: &mut Ignored, class: Class) {
    let kind = match class {
        Class::Duration => Leftout::Duration,
        Class::Time => Leftout::Time,
        Class::Id => Leftout::Id,
        Class::Pid => Leftout::Pid,
        Class::Address => Leftout::Address,
        Class::Temp => Leftout::TempName,
        Class::Attempt => Leftout::Attempt,
    };
    ignored.add(kind, 1);
}
