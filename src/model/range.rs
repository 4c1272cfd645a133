//! What values a number of the configuration may have.
//!
//! Invariant: a range is said in one way, whether a value is out of it or no number at all.

use std::time::Duration;

/// The values that a key takes: from the least to the most, both included unless `above`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    unit: Unit,
    least: f64,
    most: f64,
    /// The least itself is too little.
    above: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Count,
    Number,
    Dollars,
    Time,
    Bytes,
}

impl Range {
    /// Any whole number.
    pub const ANY: Self = Self::new(Unit::Count, f64::NEG_INFINITY, f64::INFINITY);
    /// Any time.
    pub const ANY_TIME: Self = Self::new(Unit::Time, 0.0, f64::INFINITY);

    const fn new(unit: Unit, least: f64, most: f64) -> Self {
        Self {
            unit,
            least,
            most,
            above: false,
        }
    }

    /// Whole numbers.
    pub const fn count(least: u32, most: u32) -> Self {
        Self::new(Unit::Count, least as f64, most as f64)
    }

    /// Whole numbers without an upper end.
    pub const fn count_from(least: u32) -> Self {
        Self::new(Unit::Count, least as f64, f64::INFINITY)
    }

    /// Numbers.
    pub const fn number(least: f64, most: f64) -> Self {
        Self::new(Unit::Number, least, most)
    }

    /// US dollars.
    pub const fn dollars(least: f64, most: f64) -> Self {
        Self::new(Unit::Dollars, least, most)
    }

    /// Durations, in seconds; [`f64::INFINITY`] for no upper end.
    pub const fn seconds(least: f64, most: f64) -> Self {
        Self::new(Unit::Time, least, most)
    }

    /// Sizes in bytes without an upper end.
    pub const fn bytes_from(least: u32) -> Self {
        Self::new(Unit::Bytes, least as f64, f64::INFINITY)
    }

    /// The same without its least value.
    pub const fn above(self) -> Self {
        Self {
            above: true,
            ..self
        }
    }

    /// What is allowed, in words: `a whole number from 2 to 2048`.
    pub fn words(&self) -> String {
        let what = match self.unit {
            Unit::Count => "a whole number",
            Unit::Number => "a number",
            Unit::Dollars => "an amount of dollars",
            Unit::Time => "a duration",
            Unit::Bytes => "a size",
        };
        let (least, most) = (self.shown(self.least), self.shown(self.most));
        if self.least.is_infinite() {
            what.to_owned()
        } else if self.above && self.most.is_infinite() {
            format!("{what} above {least}")
        } else if self.above {
            format!("{what} above {least}, at most {most}")
        } else if self.least >= self.most {
            format!("{most} only")
        } else if self.most.is_infinite() {
            format!("{what} of {least} or more")
        } else {
            format!("{what} from {least} to {most}")
        }
    }

    /// What is wrong with a value, if anything: `is 1, must be at least 2`.
    pub fn fault(&self, value: f64) -> Option<String> {
        let is = self.shown(value);
        let (least, most) = (self.shown(self.least), self.shown(self.most));
        if value.is_nan() || value < self.least || (self.above && value <= self.least) {
            let end = if self.above { "above" } else { "at least" };
            Some(format!("is {is}, must be {end} {least}"))
        } else if value > self.most {
            Some(format!("is {is}, must be at most {most}"))
        } else {
            None
        }
    }

    fn shown(&self, value: f64) -> String {
        match self.unit {
            Unit::Count | Unit::Number | Unit::Dollars => format!("{value}"),
            Unit::Time => time(value),
            Unit::Bytes if value >= 1_048_576.0 => format!("{}MiB", value / 1_048_576.0),
            Unit::Bytes => format!("{value} bytes"),
        }
    }
}

/// A duration as people write it, in the largest unit that divides it.
fn time(seconds: f64) -> String {
    let Ok(exact) = Duration::try_from_secs_f64(seconds) else {
        return format!("{seconds}s");
    };
    let nanos = exact.as_nanos();
    if nanos == 0 {
        return "0s".to_owned();
    }
    let units = [
        (86_400_000_000_000, "d"),
        (3_600_000_000_000, "h"),
        (60_000_000_000, "m"),
        (1_000_000_000, "s"),
        (1_000_000, "ms"),
        (1_000, "us"),
    ];
    units
        .into_iter()
        .find(|(unit, _)| nanos.is_multiple_of(*unit))
        .map_or_else(
            || format!("{nanos}ns"),
            |(unit, name)| format!("{}{name}", nanos / unit),
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_faults() {
        let day = 86_400.0;
        for (range, words, value, fault) in [
            (
                Range::count(2, 9),
                "a whole number from 2 to 9",
                1.0,
                "is 1, must be at least 2",
            ),
            (
                Range::count(2, 9),
                "a whole number from 2 to 9",
                10.0,
                "is 10, must be at most 9",
            ),
            (
                Range::count(4, 4),
                "4 only",
                3.0,
                "is 3, must be at least 4",
            ),
            (
                Range::count_from(1),
                "a whole number of 1 or more",
                0.0,
                "is 0, must be at least 1",
            ),
            (
                Range::number(0.0, 1.0).above(),
                "a number above 0, at most 1",
                0.0,
                "is 0, must be above 0",
            ),
            (
                Range::seconds(0.0, 30.0 * day).above(),
                "a duration above 0s, at most 30d",
                31.0 * day,
                "is 31d, must be at most 30d",
            ),
            (
                Range::seconds(1.0, f64::INFINITY),
                "a duration of 1s or more",
                0.5,
                "is 500ms, must be at least 1s",
            ),
            (
                Range::bytes_from(1 << 20),
                "a size of 1MiB or more",
                7.0,
                "is 7 bytes, must be at least 1MiB",
            ),
        ] {
            assert_eq!(range.words(), words);
            assert_eq!(range.fault(value).as_deref(), Some(fault), "{words}");
        }
        assert_eq!(Range::count(2, 9).fault(2.0), None);
        assert_eq!(Range::ANY.fault(-5.0), None);
        assert!(Range::number(0.0, 1.0).fault(f64::NAN).is_some());
    }
}
