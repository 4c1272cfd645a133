//! Inflating within a limit: no body, however squeezed, becomes larger than the configuration says.

use std::io::Read;

use bytes::Bytes;
use flate2::bufread::MultiGzDecoder;
use http::HeaderValue;

/// Largest zstd window, as a power of two: 8 MiB is what encoders use without being asked for more.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;

/// How a body was squeezed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Squeezed {
    /// Not at all.
    No,
    /// RFC 1952, any number of members.
    Gzip,
    /// RFC 8878.
    Zstd,
}

/// What we say we understand, in `grpc-accept-encoding` and `Accept-Encoding`.
pub(super) const ACCEPTED: &str = "identity,gzip,zstd";

impl Squeezed {
    /// Reads `grpc-encoding` or `Content-Encoding`, in any case. The error is the word we do not know.
    pub(super) fn read(header: Option<&HeaderValue>) -> Result<Self, String> {
        let Some(header) = header else {
            return Ok(Self::No);
        };
        let word = String::from_utf8_lossy(header.as_bytes());
        match word.trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Ok(Self::No),
            "gzip" | "x-gzip" => Ok(Self::Gzip),
            "zstd" => Ok(Self::Zstd),
            other => Err(other.chars().take(64).collect()),
        }
    }
}

/// Why a body could not be inflated.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum InflateError {
    /// It would be larger than the limit.
    #[error("larger than {0} bytes when inflated")]
    TooLarge(usize),
    /// It is not what it says it is, or cut off.
    #[error("{0}")]
    Broken(String),
}

/// Inflates `body` to at most `limit` bytes. An empty body is empty, whatever its encoding says.
pub(super) fn inflate(body: Bytes, how: Squeezed, limit: usize) -> Result<Bytes, InflateError> {
    if body.is_empty() {
        return Ok(body);
    }
    let broken = |kind: &str, error: std::io::Error| {
        InflateError::Broken(format!("the body is no complete {kind} stream: {error}"))
    };
    match how {
        Squeezed::No => Ok(body),
        Squeezed::Gzip => {
            let out = within(MultiGzDecoder::new(&*body), body.len(), limit)
                .map_err(|error| broken("gzip", error))?;
            out.ok_or(InflateError::TooLarge(limit))
        }
        Squeezed::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(&*body)
                .map_err(|error| broken("zstd", error))?;
            decoder
                .window_log_max(ZSTD_WINDOW_LOG_MAX)
                .map_err(|error| broken("zstd", error))?;
            let out = within(decoder, body.len(), limit).map_err(|error| broken("zstd", error))?;
            out.ok_or(InflateError::TooLarge(limit))
        }
    }
}

/// Reads to the end, or `None` as soon as there is more than `limit`.
fn within(reader: impl Read, squeezed: usize, limit: usize) -> std::io::Result<Option<Bytes>> {
    // Spans shrink about eightfold; a lie in either direction costs only a copy.
    let mut out = Vec::with_capacity(squeezed.saturating_mul(8).min(limit).min(16 << 20));
    let cap = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    reader.take(cap).read_to_end(&mut out)?;
    Ok((out.len() <= limit).then(|| Bytes::from(out)))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(data: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    fn run(body: Vec<u8>, how: Squeezed) -> Result<Bytes, InflateError> {
        inflate(Bytes::from(body), how, 1 << 20)
    }

    #[test]
    fn h_12_members_one_after_another_decode_whole() {
        let mut two = gzip(b"first ");
        two.extend(gzip(b"second"));
        assert_eq!(run(two, Squeezed::Gzip).unwrap(), "first second");
    }

    #[test]
    fn h_12_cut_off_or_followed_by_garbage_is_broken() {
        let whole = gzip(&[7; 5000]);
        for end in 1..whole.len() {
            let cut = whole.get(..end).unwrap().to_vec();
            assert!(
                matches!(run(cut, Squeezed::Gzip), Err(InflateError::Broken(_))),
                "cut at {end}"
            );
        }
        for tail in [&b"garbage"[..], &[0, 0, 0]] {
            let mut long = whole.clone();
            long.extend(tail);
            assert!(matches!(
                run(long, Squeezed::Gzip),
                Err(InflateError::Broken(_))
            ));
        }
        let whole = zstd::bulk::compress(&[7; 5000], 1).unwrap();
        for end in 1..whole.len() {
            let cut = whole.get(..end).unwrap().to_vec();
            assert!(
                matches!(run(cut, Squeezed::Zstd), Err(InflateError::Broken(_))),
                "cut at {end}"
            );
        }
    }

    #[test]
    fn r_03_a_bomb_stops_at_the_limit() {
        let zeros = vec![0; 8 << 20];
        let bomb = gzip(&zeros);
        assert_eq!(
            run(bomb, Squeezed::Gzip),
            Err(InflateError::TooLarge(1 << 20))
        );
        let bomb = zstd::bulk::compress(&zeros, 1).unwrap();
        assert_eq!(
            run(bomb, Squeezed::Zstd),
            Err(InflateError::TooLarge(1 << 20))
        );
    }

    #[test]
    fn h_11_words_are_read_in_any_case_and_unknown_ones_named() {
        let word = |text: &'static str| Squeezed::read(Some(&HeaderValue::from_static(text)));
        assert_eq!(word("GZIP"), Ok(Squeezed::Gzip));
        assert_eq!(word("zstd"), Ok(Squeezed::Zstd));
        assert_eq!(word("identity"), Ok(Squeezed::No));
        assert_eq!(Squeezed::read(None), Ok(Squeezed::No));
        assert_eq!(word("deflate"), Err("deflate".to_owned()));
        assert_eq!(word("gzip, zstd"), Err("gzip, zstd".to_owned()));
    }
}
