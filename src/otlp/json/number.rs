//! Numbers, hex and base64 as they stand in JSON texts.

/// Reads a whole number exactly, also written `7.0` or `1.5e18`. `None` when the text is no number, is not whole or
/// does not fit.
pub(super) fn whole(text: &str) -> Option<i128> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)?),
        None => (rest, 0),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((_, "")) => return None,
        Some((whole, fraction)) => (whole, fraction),
        None => (mantissa, ""),
    };
    let digits = || whole.bytes().chain(fraction.bytes());
    if whole.is_empty() || !digits().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let significant = digits().rev().skip_while(|digit| *digit == b'0').count();
    let zeros = i64::try_from(whole.len() + fraction.len() - significant).ok()?;
    let mut value = 0i128;
    for digit in digits().take(significant) {
        value = value
            .checked_mul(10)?
            .checked_add(i128::from(digit - b'0'))?;
    }
    if value == 0 {
        return Some(0);
    }
    let scale = exponent
        .checked_sub(i64::try_from(fraction.len()).ok()?)?
        .checked_add(zeros)?;
    let scale = u32::try_from(scale).ok()?;
    let value = value.checked_mul(10i128.checked_pow(scale)?)?;
    Some(if negative { -value } else { value })
}

/// An exponent; one too long to be anything but absurd saturates.
fn parse_exponent(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes() {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let size = digits.iter().fold(0i64, |sum, digit| {
        sum.saturating_mul(10)
            .saturating_add(i64::from(digit - b'0'))
            .min(1_000_000_000)
    });
    Some(if negative { -size } else { size })
}

/// Reads a double: a number, `NaN`, `Infinity` or `-Infinity`. `None` also when a finite number is too large.
pub(super) fn double(text: &str) -> Option<f64> {
    match text {
        "NaN" => return Some(f64::NAN),
        "Infinity" => return Some(f64::INFINITY),
        "-Infinity" => return Some(f64::NEG_INFINITY),
        _ => {}
    }
    // Rust's parser also knows words and a leading plus; JSON does not.
    let plain = text
        .bytes()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'));
    let number: f64 = text
        .parse()
        .ok()
        .filter(|_| plain && !text.starts_with('+'))?;
    number.is_finite().then_some(number)
}

/// Reads hex digits of either case.
pub(super) fn hex(text: &str) -> Option<smallvec::SmallVec<[u8; 16]>> {
    let digit = |byte: u8| {
        char::from(byte)
            .to_digit(16)
            .and_then(|d| u8::try_from(d).ok())
    };
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else {
        return None;
    };
    pairs
        .iter()
        .map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?))
        .collect()
}

/// Reads base64 of the standard or the URL-safe alphabet, padded or not; `None` when it is none.
pub fn base64(text: &str) -> Option<Vec<u8>> {
    let bare = text.trim_end_matches('=');
    let padding = text.len() - bare.len();
    if padding > 0 && (padding > 2 || !text.len().is_multiple_of(4)) || bare.len() % 4 == 1 {
        return None;
    }
    let mut out = Vec::with_capacity(bare.len() / 4 * 3 + 2);
    let mut bits = 0u32;
    let mut held = 0;
    for byte in bare.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held).to_le_bytes()[0]);
        }
    }
    Some(out)
}

/// Writes padded base64 of the standard alphabet.
pub(super) fn put_base64(out: &mut String, bytes: &[u8]) {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for chunk in bytes.chunks(3) {
        let mut triple = [0; 3];
        for (place, byte) in triple.iter_mut().zip(chunk) {
            *place = *byte;
        }
        let [a, b, c] = triple.map(usize::from);
        let sextets = [
            a >> 2,
            (a & 3) << 4 | b >> 4,
            (b & 15) << 2 | c >> 6,
            c & 63,
        ];
        for (place, sextet) in sextets.into_iter().enumerate() {
            let digit = ALPHABET.get(sextet).filter(|_| place <= chunk.len());
            out.push(digit.map_or('=', |digit| char::from(*digit)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_exact() {
        for (text, value) in [
            ("0", 0),
            ("-0", 0),
            ("7.0", 7),
            ("1.5e18", 1_500_000_000_000_000_000),
            ("9007199254740993", 9_007_199_254_740_993),
            ("18446744073709551615", i128::from(u64::MAX)),
            ("-9223372036854775808", i128::from(i64::MIN)),
            ("1200e-2", 12),
            ("0e999999999999999999999", 0),
            (
                "100000000000000000000000000000000000000000e-30",
                100_000_000_000,
            ),
        ] {
            assert_eq!(whole(text), Some(value), "{text}");
        }
        for text in [
            "",
            "-",
            ".5",
            "5.",
            "1.5",
            "1e-1",
            "1e",
            "1e999999999",
            "x",
            "+1",
            " 1",
            "1_0",
        ] {
            assert_eq!(whole(text), None, "{text}");
        }
    }

    #[test]
    fn base64_of_both_alphabets() {
        for text in ["+/+/", "-_-_"] {
            assert_eq!(base64(text), Some(vec![0xfb, 0xff, 0xbf]));
        }
        for (text, bytes) in [
            ("", &b""[..]),
            ("Zg==", b"f"),
            ("Zg", b"f"),
            ("Zm8=", b"fo"),
        ] {
            assert_eq!(base64(text).as_deref(), Some(bytes));
        }
        for text in ["Z", "Zg=", "Zg===", "Z*==", "====", "Zm9vZ"] {
            assert_eq!(base64(text), None, "{text}");
        }
    }

    #[test]
    fn base64_writes_what_it_reads() {
        for len in 0..9u8 {
            let bytes: Vec<u8> = (0..len).map(|byte| byte.wrapping_mul(97)).collect();
            let mut text = String::new();
            put_base64(&mut text, &bytes);
            assert_eq!(text.len() % 4, 0);
            assert_eq!(base64(&text), Some(bytes));
        }
    }
}
