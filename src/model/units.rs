//! Durations and sizes as people write them in configuration: `300ms`, `1h30m`, `64MiB`, `3.5MiB`.
//! The two modules are meant for `#[serde(with = "...")]`.

use std::time::Duration;

/// Reads a Go-style duration: one or more numbers with a unit (`ns us ms s m h d`); `0` needs none.
/// `None` when it is none, negative, or longer than 2^63 nanoseconds.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let mut rest = text;
    let mut total = 0f64;
    while !rest.is_empty() {
        let number_end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at_checked(number_end)?;
        let unit_end = tail
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(tail.len());
        let (unit, tail) = tail.split_at_checked(unit_end)?;
        let seconds = match unit {
            "ns" => 1e-9,
            "us" | "µs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        total += number.parse::<f64>().ok()? * seconds;
        rest = tail;
    }
    (!text.is_empty() && total < 9.2e9).then(|| Duration::from_nanos(nanos(total)))
}

/// Rounds to whole nanoseconds so that `0.1s` is 100 ms exactly.
fn nanos(seconds: f64) -> u64 {
    // Bounded by the caller to 9.2e9 s, which fits.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bounded above and never negative"
    )]
    let whole = (seconds * 1e9).round() as u64;
    whole
}

/// Reads a size in bytes: a number, optionally with `B KB MB GB TB KiB MiB GiB TiB` (also `Ki`, `Mi`, `Gi`).
pub fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(end)?;
    let factor = match unit.trim() {
        "" | "B" => 1.0,
        "K" | "KB" | "kB" => 1e3,
        "M" | "MB" => 1e6,
        "G" | "GB" => 1e9,
        "T" | "TB" => 1e12,
        "Ki" | "KiB" => 1024.0,
        "Mi" | "MiB" => 1_048_576.0,
        "Gi" | "GiB" => 1_073_741_824.0,
        "Ti" | "TiB" => 1_099_511_627_776.0,
        _ => return None,
    };
    let bytes = number.parse::<f64>().ok()? * factor;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bounded above and never negative"
    )]
    (bytes.is_finite() && bytes < 9.2e18).then(|| bytes.round() as u64)
}

/// Serde for durations.
pub mod duration {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, de::Error};

    /// Reads a duration text; a bare number other than 0 is refused, since its unit would be a guess.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let text = String::deserialize(deserializer)?;
        super::parse_duration(&text).ok_or_else(|| {
            D::Error::custom(format!(
                "`{text}` is no duration; write a number with a unit, like 300ms, 2s or 1h30m"
            ))
        })
    }
}

/// Serde for durations that may be absent.
pub mod optional_duration {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, de::Error};

    /// Reads a duration text or null.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        let Some(text) = Option::<String>::deserialize(deserializer)? else {
            return Ok(None);
        };
        super::parse_duration(&text).map(Some).ok_or_else(|| {
            D::Error::custom(format!(
                "`{text}` is no duration; write a number with a unit, like 300ms, 2s or 1h30m"
            ))
        })
    }
}

/// Serde for sizes in bytes.
pub mod size {
    use serde::{Deserialize, Deserializer, de::Error};

    /// Reads a size text or number.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        super::parse_size(&text).ok_or_else(|| {
            D::Error::custom(format!(
                "`{text}` is no size; write bytes, or a number with a unit like 64MiB or 3.5MB"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(parse_duration("300ms"), Some(Duration::from_millis(300)));
        assert_eq!(parse_duration("1h30m"), Some(Duration::from_secs(5400)));
        assert_eq!(parse_duration("0.1s"), Some(Duration::from_millis(100)));
        assert_eq!(parse_duration("0"), Some(Duration::ZERO));
        for wrong in ["", "5", "-1s", "s", "1x", "1s5", "1e400s", "99999999999h"] {
            assert_eq!(parse_duration(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(parse_size("64MiB"), Some(64 << 20));
        assert_eq!(parse_size("3.5MiB"), Some(3_670_016));
        assert_eq!(parse_size("67108864"), Some(67_108_864));
        for wrong in ["", "MiB", "-1", "5 furlongs", "1e99"] {
            assert_eq!(parse_size(wrong), None, "{wrong}");
        }
    }
}
