//! Finding the tokens of an answer that change from run to run without meaning anything (DESIGN 5, A1).
//!
//! Invariant: bare counts, status codes, ports, percentages, dates without a time and names are never
//! volatile. One pass, no backtracking beyond a token's own length, output never longer than its input
//! by more than the marks.

use super::names::words;
use super::times::{clock, duration, epoch, moment};

/// Kinds of volatile tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Duration,
    Time,
    Id,
    Pid,
    Address,
    Temp,
    Attempt,
}

/// Copies `text` to `out` with every volatile token replaced by its class's mark; `seen` hears of each.
/// Where there is none, `out` stays as it is and the answer is false.
pub(super) fn rewrite(text: &str, out: &mut Vec<u8>, mut seen: impl FnMut(Class)) -> bool {
    let bytes = text.as_bytes();
    let mut copied = 0;
    let mut at = 0;
    let mut any = false;
    while let Some(start) = next_run(bytes, at) {
        let end = run_end(bytes, start);
        at = end;
        let Some((class, from, to)) = token(bytes, start, end) else {
            continue;
        };
        if !any {
            out.reserve(bytes.len());
            any = true;
        }
        out.extend_from_slice(bytes.get(copied..from).unwrap_or_default());
        out.extend_from_slice(mark(class));
        seen(class);
        copied = to;
        at = to.max(end);
    }
    if any {
        out.extend_from_slice(bytes.get(copied..).unwrap_or_default());
    }
    any
}

/// The mark of a class: starts with a byte that is no UTF-8, so that no text can feign it.
pub(super) fn mark(class: Class) -> &'static [u8] {
    match class {
        Class::Duration => b"\xffd",
        Class::Time => b"\xfft",
        Class::Id => b"\xffi",
        Class::Pid => b"\xffp",
        Class::Address => b"\xffa",
        Class::Temp => b"\xffn",
        Class::Attempt => b"\xffr",
    }
}

pub(super) fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

pub(super) fn wordy(byte: u8) -> bool {
    WORDY.get(usize::from(byte)).copied().unwrap_or(false)
}

/// Letters, digits, `_`, and all beyond ASCII: looked up, since every byte of an answer is asked about.
static WORDY: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0u8;
    loop {
        table[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
        if byte == u8::MAX {
            break table;
        }
        byte += 1;
    }
};

fn next_run(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.iter().position(|b| wordy(*b)).map(|skip| from + skip)
}

fn run_end(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    start + rest.iter().position(|b| !wordy(*b)).unwrap_or(rest.len())
}

/// The volatile token that begins with the run `start..end`, as class and range.
fn token(bytes: &[u8], start: usize, end: usize) -> Option<(Class, usize, usize)> {
    let run = bytes.get(start..end)?;
    let hyphen = run.len() == 8 && byte(bytes, end) == b'-';
    if hyphen && let Some(to) = uuid(bytes, start) {
        return Some((Class::Id, start, to));
    }
    // Most runs are words: without a digit they may only name something.
    if !run.iter().any(u8::is_ascii_digit) {
        return temp_name(bytes, start, end)
            .map(|(from, to)| (Class::Temp, from, to))
            .or_else(|| labelled(bytes, start, end));
    }
    if run.first()?.is_ascii_digit() {
        if let Some(to) = moment(bytes, start).or_else(|| clock(bytes, start)) {
            return Some((Class::Time, start, to));
        }
        if let Some(to) = duration(bytes, start) {
            return Some((Class::Duration, start, to));
        }
        if let Some(to) = epoch(bytes, start, end) {
            return Some((Class::Time, start, to));
        }
        if let Some(class) = address(run) {
            return Some((class, start, end));
        }
    }
    if hex_id(run) {
        return Some((Class::Id, start, end));
    }
    if let Some((from, to)) = temp_name(bytes, start, end) {
        return Some((Class::Temp, from, to));
    }
    if prefixed_id(run) {
        return Some((Class::Id, start, end));
    }
    labelled(bytes, start, end)
}

/// `8-4-4-4-12` hex digits.
fn uuid(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    for (place, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if place > 0 {
            (byte(bytes, at) == b'-').then_some(())?;
            at += 1;
        }
        let group = bytes.get(at..at + length)?;
        group.iter().all(u8::is_ascii_hexdigit).then_some(())?;
        at += length;
    }
    (!wordy(byte(bytes, at))).then_some(at)
}

/// `0x7ffd1c2a` is an address; `0x1f` a number; `0x80070005` and `0xC0000005` are error codes and stay.
fn address(run: &[u8]) -> Option<Class> {
    let hex = run
        .strip_prefix(b"0x")
        .or_else(|| run.strip_prefix(b"0X"))?;
    let code = hex.len() == 8
        && [b"8007", b"8000", b"8004", b"c000", b"C000"]
            .iter()
            .any(|family| hex.starts_with(*family));
    (hex.len() >= 6 && hex.iter().all(u8::is_ascii_hexdigit) && !code).then_some(Class::Address)
}

/// Eight or more hex digits, at least one a letter and one a digit.
fn hex_id(run: &[u8]) -> bool {
    run.len() >= 8
        && run.iter().all(u8::is_ascii_hexdigit)
        && run.iter().any(u8::is_ascii_digit)
        && run.iter().any(u8::is_ascii_alphabetic)
}

/// `req_011CSHoE`, `msg_01Ab3`, `call_x7Yz12`: a known prefix and a tail with a digit.
fn prefixed_id(run: &[u8]) -> bool {
    [
        b"req_".as_slice(),
        b"request_",
        b"msg_",
        b"call_",
        b"toolu_",
        b"chatcmpl_",
        b"trace_",
        b"span_",
        b"run_",
        b"sess_",
    ]
    .iter()
    .filter_map(|prefix| run.strip_prefix(*prefix))
    .any(|tail| tail.len() >= 6 && tail.iter().any(u8::is_ascii_digit))
}

/// A name that was made up for a temporary file: `tmp.Qw81aZ`, `tmpx2f8_a1k`, and the part below a temp
/// directory that looks random.
fn temp_name(bytes: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let run = bytes.get(start..end)?;
    if run.eq_ignore_ascii_case(b"tmp") && byte(bytes, end) == b'.' {
        let tail = run_end(bytes, end + 1);
        let random = bytes.get(end + 1..tail)?;
        return (random.len() >= 6).then_some((end + 1, tail));
    }
    if let Some(tail) = run.strip_prefix(b"tmp")
        && tail.len() >= 6
        && (tail.len() == 8 || random(tail))
    {
        return Some((start + 3, end));
    }
    let before = bytes.get(..start)?;
    if !matches!(before.last(), Some(b'/' | b'\\')) {
        return None;
    }
    let below = [b"/tmp/".as_slice(), b"/T/", b"\\Temp\\", b"/temp/"]
        .iter()
        .any(|root| before.ends_with(root));
    // Asked first: the rest of a path may be long, and would be read again from each of its parts.
    below.then_some(())?;
    let part_end = path_part_end(bytes, start);
    let part = bytes.get(start..part_end)?;
    part.split(|b| !wordy(*b))
        .any(random)
        .then_some((start, part_end))
}

fn path_part_end(bytes: &[u8], start: usize) -> usize {
    let part = |b: &u8| wordy(*b) || matches!(b, b'-' | b'.' | b'~' | b'+');
    let rest = bytes.get(start..).unwrap_or_default();
    let length = rest.iter().position(|b| !part(b)).unwrap_or(rest.len());
    let whole = rest.get(..length).unwrap_or_default();
    // A sentence may end here, and an ending says what the file is.
    let cut = whole.iter().rposition(|b| *b == b'.').filter(|at| *at > 0);
    start + cut.unwrap_or(length)
}

/// Six or more letters and digits mixed so that no name would be: both kinds, or capitals inside.
fn random(part: &[u8]) -> bool {
    part.len() >= 6
        && part.iter().any(u8::is_ascii_digit)
        && part.iter().any(u8::is_ascii_alphabetic)
}

/// A value that its name calls volatile: `pid 3100`, `attempt 2`, `"durationMs":210`, `elapsed=12`,
/// `request id: 8Kx2`.
fn labelled(bytes: &[u8], start: usize, end: usize) -> Option<(Class, usize, usize)> {
    let mut at = end;
    while matches!(byte(bytes, at), b'"' | b'\'' | b'\\') && at < end + 3 {
        at += 1;
    }
    let gap = |at: usize| {
        let rest = bytes.get(at..).unwrap_or_default();
        at + rest.iter().take(4).take_while(|b| **b == b' ').count()
    };
    let after = gap(at);
    let separated = matches!(byte(bytes, after), b':' | b'=');
    // Whether a blank alone stands between: only some names allow it.
    let blank = !separated && after > at && at == end;
    at = if separated {
        gap(after + 1)
    } else if blank {
        after
    } else {
        return None;
    };
    if byte(bytes, at) == b'#' {
        at += 1;
    }
    while matches!(byte(bytes, at), b'"' | b'\'' | b'\\') {
        at += 1;
    }
    // A value holds a digit. Seldom is there one: the name is looked at last.
    let longest = value_end(bytes, at, None);
    if !bytes.get(at..longest)?.iter().any(u8::is_ascii_digit) {
        return None;
    }
    let name = std::str::from_utf8(bytes.get(start..end)?).ok()?;
    let (class, spaced) = label(name, bytes, start)?;
    (separated || spaced).then_some(())?;
    let to = value_end(bytes, at, Some(class));
    let value = bytes.get(at..to)?;
    value
        .iter()
        .any(u8::is_ascii_digit)
        .then_some((class, at, to))
}

/// The class of values under this name, and whether a blank alone may stand between.
fn label(name: &str, bytes: &[u8], start: usize) -> Option<(Class, bool)> {
    let mut request = false;
    for word in words(name) {
        let is = |other: &str| word.eq_ignore_ascii_case(other);
        if is("pid") || is("ppid") {
            return Some((Class::Pid, true));
        }
        if is("attempt") {
            return Some((Class::Attempt, true));
        }
        if is("duration") || is("elapsed") || is("took") {
            return Some((Class::Duration, false));
        }
        if is("started") || is("timestamp") {
            return Some((Class::Time, false));
        }
        if request && is("id") {
            return Some((Class::Id, true));
        }
        request = is("request") || is("req") || is("correlation");
    }
    // `request id`, `request-id`: the first word stands in the run before.
    let before = bytes.get(..start.checked_sub(1)?)?;
    let joined = name.eq_ignore_ascii_case("id") && matches!(byte(bytes, start - 1), b' ' | b'-');
    (joined && before.to_ascii_lowercase_tail(7).ends_with(b"request")).then_some((Class::Id, true))
}

/// The last bytes in lower case, without copying the rest.
trait Tail {
    fn to_ascii_lowercase_tail(&self, length: usize) -> Vec<u8>;
}

impl Tail for [u8] {
    fn to_ascii_lowercase_tail(&self, length: usize) -> Vec<u8> {
        let from = self.len().saturating_sub(length);
        self.get(from..).unwrap_or_default().to_ascii_lowercase()
    }
}

/// Most bytes of a labelled value. No moment or id is longer.
const VALUE_MAX: usize = 256;

/// Where the value that begins at `at` ends; without a class, the longest that any class would take.
fn value_end(bytes: &[u8], at: usize, class: Option<Class>) -> usize {
    let inside = |b: &u8| match class {
        Some(Class::Pid | Class::Attempt) => b.is_ascii_digit(),
        Some(Class::Duration) => b.is_ascii_digit() || *b == b'.',
        None | Some(Class::Time) => wordy(*b) || matches!(b, b'-' | b':' | b'.' | b'+' | b'/'),
        _ => wordy(*b) || matches!(b, b'-' | b'.'),
    };
    let rest = bytes.get(at..).unwrap_or_default();
    // Labels may stand inside the value of a label before them.
    let length = rest
        .iter()
        .take(VALUE_MAX)
        .take_while(|b| inside(b))
        .count();
    let value = rest.get(..length).unwrap_or_default();
    // A full stop belongs to the sentence.
    let stop = value
        .iter()
        .rev()
        .take_while(|b| matches!(b, b'.' | b':'))
        .count();
    at + length - stop
}
