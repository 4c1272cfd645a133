//! How findings speak: one sentence each, short, without a word of any result.

use std::time::Duration;

use crate::lanes::{NameId, Names};
use crate::model::Timestamp;

/// Most bytes of a message.
const MESSAGE_MAX: usize = 240;
/// Most bytes of a name inside a message.
const NAME_MAX: usize = 48;

/// A tool's name fit to be shown: no control characters, not too long.
pub(super) fn tool(names: &Names, id: NameId) -> String {
    name(&names.text(id))
}

/// A name fit to be shown.
pub(super) fn name(text: &str) -> String {
    let clean: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if clean.len() <= NAME_MAX {
        return clean;
    }
    let end = clean.floor_char_boundary(NAME_MAX);
    format!("{}...", clean.get(..end).unwrap_or_default())
}

/// A message cut to the bytes allowed.
pub(super) fn message(mut text: String) -> String {
    if text.len() > MESSAGE_MAX {
        text.truncate(text.floor_char_boundary(MESSAGE_MAX - 3));
        text.push_str("...");
    }
    text
}

/// A span of time as people say it: `350 ms`, `4.2 s`, `12 min`, `3.5 h`.
pub(super) fn span(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 1.0 {
        format!("{} ms", time.as_millis())
    } else if seconds < 120.0 {
        format!("{:.1} s", seconds)
    } else if seconds < 7200.0 {
        format!("{:.0} min", seconds / 60.0)
    } else {
        format!("{:.1} h", seconds / 3600.0)
    }
}

/// A moment as a time of day in UTC, to the millisecond: `12:03:04.120`.
pub(super) fn clock(moment: Timestamp) -> String {
    let ms = moment.nanos() / 1_000_000 % 86_400_000;
    let (seconds, ms) = (ms / 1000, ms % 1000);
    let (minutes, second) = (seconds / 60, seconds % 60);
    format!(
        "{:02}:{:02}:{second:02}.{ms:03}",
        minutes / 60,
        minutes % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_messages_are_bounded() {
        assert_eq!(name("a\nb"), "a b");
        assert!(name(&"\u{e9}".repeat(100)).len() <= NAME_MAX + 3);
        let long = message("\u{e9}".repeat(200));
        assert!(long.len() <= MESSAGE_MAX && long.ends_with("..."));
        assert_eq!(message("short".to_owned()), "short");
    }

    #[test]
    fn times_of_day() {
        let moment = Timestamp::from_nanos(1_700_000_000_120_999_999);
        assert_eq!(clock(moment), "22:13:20.120");
        assert_eq!(clock(Timestamp::ZERO), "00:00:00.000");
    }

    #[test]
    fn spans_of_time() {
        for (ms, words) in [
            (350, "350 ms"),
            (4200, "4.2 s"),
            (720_000, "12 min"),
            (12_600_000, "3.5 h"),
        ] {
            assert_eq!(span(Duration::from_millis(ms)), words);
        }
    }
}
