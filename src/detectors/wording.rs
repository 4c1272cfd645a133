//! How findings speak: one sentence each, short, without a word of any result.

use std::time::Duration;

use crate::lanes::{NameId, Names};
use crate::model::{Timestamp, printable_within};

/// Most bytes of a message.
const MESSAGE_MAX: usize = 240;
/// Most bytes of a name inside a message.
const NAME_MAX: usize = 51;

/// A tool's name fit to be shown ([`name`]).
pub(super) fn tool(names: &Names, id: NameId) -> String {
    name(&names.text(id))
}

/// A name fit to be shown between backticks: every character of it is seen and none obeyed ([`printable`]),
/// it does not end its own quotation, and it is not too long.
///
/// [`printable`]: crate::model::printable
pub(super) fn name(text: &str) -> String {
    let shown = printable_within(text, NAME_MAX);
    if shown.contains('`') {
        return shown.replace('`', "'");
    }
    shown
}

/// A message cut to the bytes allowed. Names in it are shown already; what else it holds is so here.
pub(super) fn message(text: String) -> String {
    printable_within(&text, MESSAGE_MAX)
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
        assert!(name(&"\u{e9}".repeat(100)).len() <= NAME_MAX);
        let long = message("\u{e9}".repeat(200));
        assert!(long.len() <= MESSAGE_MAX && long.ends_with("..."));
        assert_eq!(message("short".to_owned()), "short");
    }

    #[test]
    fn names_neither_break_out_nor_turn_around() {
        for (stranger, shown) in [
            ("a\nb", "a\\nb"),
            ("ls\u{2028}ERROR: disk full", "ls\\u{2028}ERROR: disk full"),
            ("x\u{202e}exe.txt", "x\\u{202e}exe.txt"),
            ("ls` worked; `rm", "ls' worked; 'rm"),
            ("re\u{200b}ad\u{e0041}", "re\\u{200b}ad\\u{e0041}"),
            (
                "\u{645}\u{6cc}\u{200c}\u{62e}",
                "\u{645}\u{6cc}\u{200c}\u{62e}",
            ),
        ] {
            assert_eq!(name(stranger), shown);
        }
        assert_eq!(message("a\u{202e}b".to_owned()), "a\\u{202e}b");
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
