//! What was left out when two calls or two answers were compared: classes and counts, never what stood there.

use std::fmt;

/// Kinds of things left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Leftout {
    /// Measured times.
    Duration,
    /// Moments: ISO, epoch, clock times.
    Time,
    /// UUIDs, hex and request ids.
    Id,
    /// Process ids.
    Pid,
    /// Memory addresses.
    Address,
    /// Names of temporary files.
    TempName,
    /// Numbers of attempts.
    Attempt,
    /// Members of the arguments that only decorate a call.
    Decoration,
}

impl Leftout {
    /// All, in the order in which they are told, with their names for one and for many.
    const ALL: [(Self, &'static str, &'static str); 8] = [
        (Self::Duration, "duration", "durations"),
        (Self::Time, "time", "times"),
        (Self::Id, "id", "ids"),
        (Self::Pid, "pid", "pids"),
        (Self::Address, "address", "addresses"),
        (Self::TempName, "temp name", "temp names"),
        (Self::Attempt, "attempt number", "attempt numbers"),
        (Self::Decoration, "decoration", "decorations"),
    ];
}

/// How many of each kind, up to [`Ignored::MOST`]; printed as `2 durations, 1 id`. Four bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ignored(u32);

impl Ignored {
    /// Beyond it nothing is counted; printed as `15+`.
    pub const MOST: u8 = 15;

    /// Whether there was none.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// How many of a kind.
    pub fn count(self, kind: Leftout) -> u8 {
        u8::try_from(self.0 >> shift(kind) & u32::from(Self::MOST)).unwrap_or(Self::MOST)
    }

    /// Counts some of a kind.
    pub fn add(&mut self, kind: Leftout, count: u8) {
        let sum = self.count(kind).saturating_add(count).min(Self::MOST);
        self.0 &= !(u32::from(Self::MOST) << shift(kind));
        self.0 |= u32::from(sum) << shift(kind);
    }

    /// The greater count of each kind.
    pub fn most(self, other: Self) -> Self {
        let mut most = Self::default();
        for (kind, ..) in Leftout::ALL {
            most.add(kind, self.count(kind).max(other.count(kind)));
        }
        most
    }

    /// The same without a kind.
    pub fn without(self, kind: Leftout) -> Self {
        Self(self.0 & !(u32::from(Self::MOST) << shift(kind)))
    }

    /// Of this kind alone.
    pub fn only(self, kind: Leftout) -> Self {
        let mut only = Self::default();
        only.add(kind, self.count(kind));
        only
    }
}

const fn shift(kind: Leftout) -> u32 {
    4 * kind as u32
}

impl fmt::Display for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        for (kind, one, many) in Leftout::ALL {
            let count = self.count(kind);
            if count == 0 {
                continue;
            }
            let more = if count == Self::MOST { "+" } else { "" };
            write!(
                f,
                "{comma}{count}{more} {}",
                if count == 1 { one } else { many }
            )?;
            comma = ", ";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_stop_at_fifteen_and_touch_no_neighbour() {
        let mut ignored = Ignored::default();
        assert!(ignored.is_empty());
        ignored.add(Leftout::Time, 14);
        ignored.add(Leftout::Time, 200);
        ignored.add(Leftout::Decoration, 1);
        ignored.add(Leftout::Duration, 2);
        assert_eq!(ignored.to_string(), "2 durations, 15+ times, 1 decoration");
        assert_eq!(ignored.count(Leftout::Id), 0);
        assert_eq!(
            ignored.without(Leftout::Time).to_string(),
            "2 durations, 1 decoration"
        );
        assert_eq!(
            ignored.only(Leftout::Decoration).to_string(),
            "1 decoration"
        );
        let mut other = Ignored::default();
        other.add(Leftout::Id, 3);
        other.add(Leftout::Duration, 1);
        assert_eq!(
            ignored.most(other).to_string(),
            "2 durations, 15+ times, 3 ids, 1 decoration"
        );
    }
}
