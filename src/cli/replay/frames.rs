//! What the collector's file exporter writes with `format: proto` or with a compression: requests one after another,
//! each behind its length in four bytes, the highest first; squeezed one by one.

use std::borrow::Cow;
use std::io::Read;

/// Most bytes of one request, inflated.
const REQUEST_MAX: u64 = 256 << 20;
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Whether an input is of this kind: no request is of 16 MB and more, and neither JSON nor a binary request begins with a
/// zero.
pub(super) fn is_framed(bytes: &[u8]) -> bool {
    bytes.first() == Some(&0) && bytes.len() >= 4
}

/// Hands each request to `take` with its number, from 1. A length beyond the end of the input ends it.
pub(super) fn each<'a>(
    mut rest: &'a [u8],
    mut take: impl FnMut(usize, Result<Cow<'a, [u8]>, String>),
) {
    let mut number = 0;
    while let Some((head, behind)) = rest.split_first_chunk::<4>() {
        number += 1;
        let length = usize::try_from(u32::from_be_bytes(*head)).unwrap_or(usize::MAX);
        let Some((frame, next)) = behind.split_at_checked(length) else {
            let there = behind.len();
            let what = format!("breaks off: {length} bytes are announced, {there} are there");
            take(number, Err(what));
            return;
        };
        take(number, inflated(frame));
        rest = next;
    }
    if !rest.is_empty() {
        take(number + 1, Err("breaks off within a length".to_owned()));
    }
}

fn inflated(frame: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    if !frame.starts_with(&ZSTD) {
        return Ok(Cow::Borrowed(frame));
    }
    let mut out = Vec::new();
    let read = zstd::Decoder::new(frame)
        .and_then(|decoder| decoder.take(REQUEST_MAX + 1).read_to_end(&mut out));
    match read {
        Err(error) => Err(format!("cannot inflate: {error}")),
        Ok(_) if out.len() as u64 > REQUEST_MAX => {
            Err(format!("inflates to more than {REQUEST_MAX} bytes"))
        }
        Ok(_) => Ok(Cow::Owned(out)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn framed(requests: &[&[u8]]) -> Vec<u8> {
        let mut out = Vec::new();
        for request in requests {
            let length = u32::try_from(request.len()).unwrap();
            out.extend_from_slice(&length.to_be_bytes());
            out.extend_from_slice(request);
        }
        out
    }

    fn read(bytes: &[u8]) -> Vec<Result<Vec<u8>, String>> {
        let mut out = Vec::new();
        each(bytes, |_, frame| out.push(frame.map(Cow::into_owned)));
        out
    }

    #[test]
    fn plain_and_squeezed_requests() {
        let squeezed = zstd::encode_all(&b"{\"resourceSpans\":[]}"[..], 1).unwrap();
        let bytes = framed(&[b"\x0a\x00", &squeezed, b""]);
        assert!(is_framed(&bytes));
        let expected: [&[u8]; 3] = [b"\x0a\x00", b"{\"resourceSpans\":[]}", b""];
        assert_eq!(read(&bytes), expected.map(|one| Ok(one.to_vec())));
    }

    #[test]
    fn what_breaks_off_is_said_and_the_rest_is_read() {
        let mut bytes = framed(&[b"one", b"two"]);
        bytes.pop();
        let read = read(&bytes);
        assert_eq!(read[0], Ok(b"one".to_vec()));
        let Err(what) = &read[1] else {
            panic!("{read:?}")
        };
        assert_eq!(what, "breaks off: 3 bytes are announced, 2 are there");
    }

    proptest! {
        #[test]
        fn every_byte_is_in_one_frame_or_said_to_be_missing(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let read = read(&bytes);
            let taken: usize = read.iter().flatten().map(|frame| frame.len() + 4).sum();
            let squeezed = bytes.windows(4).any(|window| window == ZSTD);
            prop_assert!(squeezed || taken == bytes.len() || read.last().is_some_and(Result::is_err));
        }
    }
}
