//! Moments and measured times inside answers. Each function looks for one that begins at a place and tells
//! where it ends.

use super::volatile::{byte, wordy};

/// How many ASCII digits stand at `at`.
pub(super) fn digits(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter()
        .position(|b| !b.is_ascii_digit())
        .unwrap_or(rest.len())
}

/// Date and time of day together: `2026-03-14T09:12:03.5Z`, `2026-03-14 09:12`, `2026/03/14 09:12:03`.
pub(super) fn moment(bytes: &[u8], start: usize) -> Option<usize> {
    (digits(bytes, start) == 4).then_some(())?;
    let separator = byte(bytes, start + 4);
    matches!(separator, b'-' | b'/').then_some(())?;
    (digits(bytes, start + 5) == 2 && byte(bytes, start + 7) == separator).then_some(())?;
    (digits(bytes, start + 8) == 2).then_some(())?;
    matches!(byte(bytes, start + 10), b'T' | b't' | b' ' | b'_').then_some(())?;
    let at = start + 11;
    if let Some(end) = clock(bytes, at) {
        return Some(end);
    }
    (digits(bytes, at) == 2 && byte(bytes, at + 2) == b':' && digits(bytes, at + 3) == 2)
        .then(|| zone(bytes, at + 5))
}

/// A time of day to the second: `9:12:03`, `09:12:03,123`, with AM or PM, with a zone.
pub(super) fn clock(bytes: &[u8], start: usize) -> Option<usize> {
    let hours = digits(bytes, start);
    (1..=2).contains(&hours).then_some(())?;
    let mut at = start + hours;
    for _ in 0..2 {
        (byte(bytes, at) == b':' && digits(bytes, at + 1) == 2).then_some(())?;
        at += 3;
    }
    if matches!(byte(bytes, at), b'.' | b',') && digits(bytes, at + 1) > 0 {
        at += 1 + digits(bytes, at + 1);
    }
    (!byte(bytes, at).is_ascii_digit() && byte(bytes, at) != b':').then_some(())?;
    let after = bytes.get(at..at + 3).unwrap_or_default();
    if after.eq_ignore_ascii_case(b" am") || after.eq_ignore_ascii_case(b" pm") {
        return Some(at + 3);
    }
    Some(zone(bytes, at))
}

/// Steps over `Z`, `+02:00`, ` +0200`, ` UTC`.
fn zone(bytes: &[u8], at: usize) -> usize {
    match byte(bytes, at) {
        b'Z' | b'z' if !wordy(byte(bytes, at + 1)) => return at + 1,
        _ => {}
    }
    let sign = if byte(bytes, at) == b' ' { at + 1 } else { at };
    if bytes.get(sign..sign + 3) == Some(b"UTC") || bytes.get(sign..sign + 3) == Some(b"GMT") {
        return sign + 3;
    }
    if matches!(byte(bytes, sign), b'+' | b'-') && digits(bytes, sign + 1) >= 2 {
        let end = sign + 1 + digits(bytes, sign + 1);
        let colon = byte(bytes, end) == b':' && digits(bytes, end + 1) == 2;
        match end - sign {
            3 if colon => return end + 3,
            5 => return end,
            _ => {}
        }
    }
    at
}

/// Units of time that may follow a number directly or after blanks.
const UNITS: &[&str] = &[
    "nanoseconds",
    "microseconds",
    "milliseconds",
    "millisecond",
    "seconds",
    "second",
    "minutes",
    "minute",
    "hours",
    "hour",
    "secs",
    "sec",
    "msec",
    "mins",
    "min",
    "hrs",
    "hr",
    "ns",
    "us",
    "\u{b5}s",
    "\u{3bc}s",
    "ms",
    "s",
];
/// Units that must touch the number and be followed by another part: `1h30m`, `2m 5s`.
const PARTS: &[u8] = b"hmd";

/// A measured time with its unit; all parts of `1h 2m 3.5s`.
pub(super) fn duration(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    // Six parts are more than any clock prints.
    for _ in 0..6 {
        let end = number(bytes, at);
        (end > at).then_some(())?;
        if let Some(done) = unit(bytes, end) {
            return Some(done);
        }
        let touches = PARTS.contains(&byte(bytes, end).to_ascii_lowercase());
        touches.then_some(())?;
        at = end + 1;
        if byte(bytes, at) == b' ' {
            at += 1;
        }
        byte(bytes, at).is_ascii_digit().then_some(())?;
        // `1h30m` ends with a part.
        let last = number(bytes, at);
        if byte(bytes, end) != b'm' && byte(bytes, last) == b'm' && !wordy(byte(bytes, last + 1)) {
            return Some(last + 1);
        }
    }
    None
}

/// Digits with `,` between thousands and one fraction.
fn number(bytes: &[u8], start: usize) -> usize {
    let mut at = start + digits(bytes, start);
    // More groups are a list, and it would be read again from each of them.
    for _ in 0..6 {
        if byte(bytes, at) != b',' || digits(bytes, at + 1) != 3 {
            break;
        }
        at += 4;
    }
    if byte(bytes, at) == b'.' && digits(bytes, at + 1) > 0 {
        at += 1 + digits(bytes, at + 1);
    }
    at
}

fn unit(bytes: &[u8], at: usize) -> Option<usize> {
    let mut from = at;
    while matches!(byte(bytes, from), b' ' | b'\t') && from < at + 3 {
        from += 1;
    }
    UNITS.iter().find_map(|unit| {
        let end = from + unit.len();
        let same = bytes.get(from..end)?.eq_ignore_ascii_case(unit.as_bytes());
        (same && !wordy(byte(bytes, end))).then_some(end)
    })
}

/// Seconds, milli-, micro- or nanoseconds since 1970, for moments between 2014 and 2036.
pub(super) fn epoch(bytes: &[u8], start: usize, end: usize) -> Option<usize> {
    (digits(bytes, start) == end - start).then_some(())?;
    matches!(end - start, 10 | 13 | 16 | 19).then_some(())?;
    let leading = std::str::from_utf8(bytes.get(start..start + 10)?).ok()?;
    let seconds: u64 = leading.parse().ok()?;
    (1_400_000_000..2_100_000_000)
        .contains(&seconds)
        .then_some(())?;
    if end - start == 10 && byte(bytes, end) == b'.' && digits(bytes, end + 1) > 0 {
        return Some(end + 1 + digits(bytes, end + 1));
    }
    Some(end)
}
