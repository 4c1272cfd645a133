//! Numbers of the processor beside those of its detectors: one table of what they may be.

use std::time::Duration;

use crate::model::Range;
use crate::sessions::{Settings, Settle};

use super::problems::Problems;
use super::report::Problem;
use super::tree::Entry;

/// One number: its path, what it may be, what it is.
struct Key {
    path: &'static [&'static str],
    range: Range,
    value: fn(&Settings) -> Option<f64>,
}

fn seconds(time: Duration) -> Option<f64> {
    Some(time.as_secs_f64())
}

/// A run or a conversation that is closed sooner is judged in pieces.
const OPEN: Range = Range::seconds(1.0, f64::INFINITY);

/// `max_held: 0` is allowed and documented: nothing waits.
const KEYS: [Key; 5] = [
    Key {
        path: &["max_state"],
        range: Range::bytes_from(1 << 20),
        value: |s| Some(s.max_state as f64),
    },
    Key {
        path: &["run", "max_steps"],
        range: Range::count_from(1),
        value: |s| Some(s.run.max_steps.into()),
    },
    Key {
        path: &["run", "idle_timeout"],
        range: OPEN,
        value: |s| seconds(s.run.idle_timeout),
    },
    Key {
        path: &["conversation", "idle_timeout"],
        range: OPEN,
        value: |s| seconds(s.conversation.idle_timeout),
    },
    Key {
        path: &["settle"],
        range: Range::seconds(0.0, 600.0),
        value: |s| match s.settle {
            Settle::Fixed(settle) => seconds(settle),
            Settle::Auto => None,
        },
    },
];

/// Reports what is out of range, and says of numbers that are none what would be one.
pub(super) fn check(entry: &Entry, settings: &Settings, problems: &mut Problems) {
    for key in KEYS {
        let Some(written) = entry.value.at(key.path) else {
            continue;
        };
        let words = key.range.words();
        if problems.is_dropped(written.key_place) {
            problems.expect(written.shown(), &words);
            continue;
        }
        let fault = (key.value)(settings).and_then(|value| key.range.fault(value));
        if let Some(fault) = fault {
            let problem = Problem::error(written.shown(), format!("`{}` {fault}", written.key));
            problems.push(problem.help(format!("allowed: {words}")));
        }
    }
}
