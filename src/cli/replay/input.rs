//! Recorded spans and log records in the forms in which people have them, as bodies with their arrival.
//!
//! Taken are: OTLP/JSON objects one after another in any layout; the same inside
//! `{"receivedUnixNano", "request"}`; the answers of Jaeger's and Tempo's query APIs; one binary request a
//! file (`.pb`, `.binpb`); many, each behind its length; each plain, gzip or zstd, told by its first bytes. A request of log records is one that
//! holds `resourceLogs`, or whose file is named `*.logs.*`.

use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::model::{SYNTHETIC, Signal, Timestamp};
use crate::otlp::json;
use crate::runtime::files;

use super::{frames, wrappers};

/// Most bytes of one input, inflated.
const INPUT_MAX: u64 = 4 << 30;

/// One recorded request.
#[derive(Debug)]
pub(super) struct Recorded {
    /// The request in protobuf.
    pub(super) body: Bytes,
    /// What it holds: spans or log records.
    pub(super) signal: Signal,
    /// When it arrived, where the recording says so.
    pub(super) received: Option<Timestamp>,
    /// Line of its input on which it begins, or its number where requests stand behind their lengths; 1 for a binary one.
    pub(super) line: usize,
}

/// A record that could not be read.
#[derive(Debug)]
pub(super) struct Unreadable {
    /// Line of its input on which it begins.
    pub(super) line: usize,
    /// What is wrong.
    pub(super) what: String,
}

/// Which time an input is gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    /// To see what spans of our own tell of those before them, and what log records tell of spans in the same input:
    /// only where there are some.
    Ahead,
    /// To be judged.
    Judge,
}

/// Hands every record of an input to `each`, in order. Unreadable ones do not end it.
///
/// # Errors
/// The input as a whole cannot be opened, inflated, or is too large.
pub(super) fn read(
    path: &Path,
    mut each: impl FnMut(Pass, Result<Recorded, Unreadable>),
) -> Result<(), String> {
    passes(path, [Pass::Ahead, Pass::Judge], &mut each)
}

/// Hands the records of an input to `each` ahead of all others.
///
/// # Errors
/// As [`read`].
pub(super) fn read_ahead(
    path: &Path,
    mut each: impl FnMut(Result<Recorded, Unreadable>),
) -> Result<(), String> {
    passes(path, [Pass::Ahead], &mut |_, item| each(item))
}

fn passes<const N: usize>(
    path: &Path,
    passes: [Pass; N],
    each: &mut impl FnMut(Pass, Result<Recorded, Unreadable>),
) -> Result<(), String> {
    let squeezed = files::read(path, INPUT_MAX).map_err(|error| error.without_path())?;
    let (bytes, broken) = inflate(squeezed);
    let name = path.to_string_lossy();
    let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
    let file = name.rsplit('/').next();
    let logs = file.is_some_and(|file| file.contains(".logs."));
    let ahead = logs
        || [SYNTHETIC, RESOURCE_LOGS]
            .iter()
            .any(|word| memchr::memmem::find(&bytes, word.as_bytes()).is_some());
    let due = passes.into_iter();
    let due = due.filter(|pass| ahead || *pass == Pass::Judge);
    // Nothing that is one binary request begins as requests behind their lengths do.
    let binary = name.ends_with(".pb") || name.ends_with(".binpb");
    if binary && !frames::is_framed(&bytes) {
        broken?;
        let body = Bytes::from(bytes);
        for pass in due {
            let recorded = Recorded {
                body: body.clone(),
                signal: if logs { Signal::Logs } else { Signal::Traces },
                received: None,
                line: 1,
            };
            each(pass, Ok(recorded));
        }
        return Ok(());
    }
    for pass in due {
        if frames::is_framed(&bytes) {
            frames::each(&bytes, |number, frame| {
                each(pass, framed(number, frame, logs));
            });
        } else {
            records(&bytes, logs, |item| each(pass, item));
        }
    }
    broken
}

/// A request behind its length, binary or JSON.
fn framed(
    number: usize,
    frame: Result<Cow<'_, [u8]>, String>,
    logs: bool,
) -> Result<Recorded, Unreadable> {
    let unreadable = |what: String| Unreadable { line: number, what };
    let frame = frame.map_err(unreadable)?;
    if frame.first() == Some(&b'{') {
        let text = std::str::from_utf8(&frame).map_err(|error| unreadable(error.to_string()))?;
        return record(text, logs, number);
    }
    Ok(Recorded {
        body: Bytes::from(frame.into_owned()),
        signal: if logs { Signal::Logs } else { Signal::Traces },
        received: None,
        line: number,
    })
}

/// The member that tells a request of log records.
const RESOURCE_LOGS: &str = "resourceLogs";

/// What could be inflated, and what kept the rest from it: a recording that breaks off is read up to there.
fn inflate(bytes: Vec<u8>) -> (Vec<u8>, Result<(), String>) {
    let limit = INPUT_MAX + 1;
    let mut out = Vec::new();
    let read = if bytes.starts_with(&[0x1f, 0x8b]) {
        flate2::read::MultiGzDecoder::new(bytes.as_slice())
            .take(limit)
            .read_to_end(&mut out)
    } else if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        zstd::Decoder::new(bytes.as_slice())
            .and_then(|decoder| decoder.take(limit).read_to_end(&mut out))
    } else {
        return (bytes, Ok(()));
    };
    let whole = match read {
        Err(error) => Err(format!("cannot inflate the rest: {error}")),
        Ok(_) if out.len() as u64 > INPUT_MAX => {
            Err(format!("inflates to more than {INPUT_MAX} bytes"))
        }
        Ok(_) => Ok(()),
    };
    (out, whole)
}

/// How many broken records may be looked for beyond their first line: each may reach to the end of the input.
const FAR_AT_MOST: u32 = 32;

/// The JSON values of a text. After a broken one reading goes on at the next line that begins with `{`.
fn records(text: &[u8], logs: bool, mut each: impl FnMut(Result<Recorded, Unreadable>)) {
    let mut at = 0;
    let mut line = 1;
    let mut far = 0;
    let mut bound = 0;
    while let Some(start) = next_value(text, at) {
        line += newlines(text.get(at..start).unwrap_or_default());
        let mut rest = text.get(start..).unwrap_or_default();
        if far > FAR_AT_MOST {
            if bound <= start {
                bound = start + resume(rest);
            }
            rest = text.get(start..bound).unwrap_or_default();
        }
        let mut stream = serde_json::Deserializer::from_slice(rest).into_iter::<&RawValue>();
        let (item, consumed) = match stream.next() {
            Some(Ok(value)) => (record(value.get(), logs, line), stream.byte_offset()),
            Some(Err(error)) => {
                far += u32::from(error.line() > 1);
                let what = format!("no JSON: {error}");
                (Err(Unreadable { line, what }), resume(rest))
            }
            None => return,
        };
        each(item);
        line += newlines(rest.get(..consumed).unwrap_or_default());
        at = start + consumed.max(1);
    }
}

fn newlines(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count()
}

fn next_value(text: &[u8], from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    rest.iter()
        .position(|byte| !byte.is_ascii_whitespace())
        .map(|at| from + at)
}

/// How far to skip behind a broken record: to the next line that begins with a brace.
fn resume(rest: &[u8]) -> usize {
    memchr::memmem::find(rest, b"\n{").map_or(rest.len(), |at| at + 1)
}

/// What stands around a request. Unknown members are ignored.
#[derive(Debug, Deserialize)]
struct Envelope<'a> {
    #[serde(rename = "receivedUnixNano", default, borrow)]
    received: Option<&'a RawValue>,
    #[serde(default, borrow)]
    request: Option<&'a RawValue>,
}

fn record(text: &str, logs: bool, line: usize) -> Result<Recorded, Unreadable> {
    let unreadable = |what: String| Unreadable { line, what };
    if !text.starts_with('{') {
        return Err(unreadable("no OTLP request: must be an object".to_owned()));
    }
    let envelope: Envelope<'_> = serde_json::from_str(text)
        .map_err(|error| unreadable(format!("no OTLP request: {error}")))?;
    let received = match envelope.received {
        None => None,
        Some(raw) => Some(nanos(raw.get()).ok_or_else(|| {
            unreadable("`receivedUnixNano` is no number of nanoseconds".to_owned())
        })?),
    };
    let request = envelope.request.map_or(text, RawValue::get);
    let request = wrappers::unwrap(request).map_err(unreadable)?;
    let signal = if logs || holds_logs(&request) {
        Signal::Logs
    } else {
        Signal::Traces
    };
    let (body, _) = json::transcode_with_hint(signal, request.as_bytes())
        .map_err(|error| unreadable(error.to_string()))?;
    Ok(Recorded {
        body,
        signal,
        received,
        line,
    })
}

/// Whether a request is one of log records.
fn holds_logs(request: &str) -> bool {
    #[derive(Deserialize)]
    struct Members<'a> {
        #[serde(rename = "resourceLogs", default, borrow)]
        logs: Option<&'a RawValue>,
        #[serde(rename = "resourceSpans", default, borrow)]
        spans: Option<&'a RawValue>,
    }
    // The word may stand in a text.
    memchr::memmem::find(request.as_bytes(), RESOURCE_LOGS.as_bytes()).is_some()
        && serde_json::from_str::<Members<'_>>(request)
            .is_ok_and(|members| members.logs.is_some() && members.spans.is_none())
}

/// A number of nanoseconds, as a number or a string.
fn nanos(raw: &str) -> Option<Timestamp> {
    raw.trim_matches('"')
        .parse()
        .ok()
        .map(Timestamp::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        records(text.as_bytes(), false, |item| {
            out.push(match item {
                Ok(recorded) => format!("{} ok {:?}", recorded.line, recorded.received),
                Err(unreadable) => format!("{} bad", unreadable.line),
            });
        });
        out
    }

    #[test]
    fn objects_in_any_layout() {
        assert_eq!(
            lines("{} {}\n\n{\n\"resourceSpans\": []\n}\n{}"),
            ["1 ok None", "1 ok None", "3 ok None", "6 ok None"]
        );
    }

    #[test]
    fn a_broken_record_is_named_and_skipped() {
        assert_eq!(
            lines("{}\n{\"a\": \n{}\nnonsense\n{}"),
            ["1 ok None", "2 bad", "3 ok None", "4 bad", "5 ok None"]
        );
    }

    #[test]
    fn arrival_stands_in_the_envelope() {
        let text = r#"{"receivedUnixNano": "42", "request": {"resourceSpans": []}}"#;
        assert_eq!(lines(text), ["1 ok Some(Timestamp(42))"]);
        assert_eq!(
            lines(r#"{"receivedUnixNano": "x", "request": {}}"#),
            ["1 bad"]
        );
    }

    #[test]
    fn compressed_input_is_told_by_its_first_bytes() {
        use std::io::Write;
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(b"{}").unwrap();
        let whole = (b"{}".to_vec(), Ok(()));
        assert_eq!(inflate(gzip.finish().unwrap()), whole);
        assert_eq!(inflate(zstd::encode_all(&b"{}"[..], 1).unwrap()), whole);
        assert!(inflate(vec![0x1f, 0x8b, 0, 0]).1.is_err());
    }

    #[test]
    fn what_came_before_a_break_is_read() {
        use std::io::Write;
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(b"{}\n{}\n{}\n").unwrap();
        let mut squeezed = gzip.finish().unwrap();
        squeezed.truncate(squeezed.len() - 4);
        let (text, whole) = inflate(squeezed);
        assert_eq!(text, b"{}\n{}\n{}\n");
        assert!(whole.unwrap_err().starts_with("cannot inflate the rest: "));
    }

    #[test]
    fn what_is_no_object_is_told_so() {
        for text in ["1", "[]", "[[[]]]", "\"x\"", "null", "true"] {
            let unreadable = record(text, false, 1).unwrap_err();
            assert_eq!(unreadable.what, "no OTLP request: must be an object");
        }
    }

    #[test]
    fn many_broken_records_do_not_read_the_rest_again_each() {
        // Each line opens what none closes; read to the end from each, it would take minutes.
        let text = format!("{}{{}}\n{{}}{{}}\n", "{\"a\":\n".repeat(60_000));
        let seen = lines(&text);
        assert_eq!(seen.len(), 60_003);
        assert!(seen[..60_000].iter().all(|line| line.ends_with(" bad")));
        assert_eq!(
            seen[60_000..],
            ["60001 ok None", "60002 ok None", "60002 ok None"]
        );
    }
}
