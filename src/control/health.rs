//! Whether this process does its work, as the probes of orchestrators ask it.
//!
//! Invariant: healthy means that the engine has turned its loop lately. A process that is up and does
//! nothing is the worst state, so it must not look well.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use serde::Serialize;

use crate::model::Timestamp;

/// How long the engine may be silent before it counts as dead. It beats at least once a second.
pub const SILENCE: Duration = Duration::from_secs(5);

/// Where the process stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// Not everything listens yet.
    Starting = 0,
    /// Everything listens.
    Running = 1,
    /// A signal has come: nothing new is taken.
    Stopping = 2,
}

/// Shared by the parts that work and the part that answers.
#[derive(Debug)]
pub struct Health {
    phase: AtomicU8,
    /// Wall clock in nanoseconds when everything listened; 0 before.
    up_since: AtomicU64,
    /// The caller's clock in nanoseconds at the engine's last turn.
    beat: AtomicU64,
    panics: AtomicU64,
}

/// What a probe is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// 200 or 503.
    pub status: u16,
    /// JSON in the collector's form.
    pub body: String,
}

/// The collector's form of the answer.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    status: &'a str,
    up_since: String,
    uptime: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Health {
    /// A process that starts, with an engine that has just turned its loop.
    pub fn new(now: Timestamp) -> Self {
        Self {
            phase: AtomicU8::new(Phase::Starting as u8),
            up_since: AtomicU64::new(0),
            beat: AtomicU64::new(now.nanos()),
            panics: AtomicU64::new(0),
        }
    }

    /// Moves on to `phase`.
    pub fn enter(&self, phase: Phase, now: Timestamp) {
        if phase == Phase::Running {
            self.up_since.store(now.nanos(), Ordering::Relaxed);
        }
        self.phase.store(phase as u8, Ordering::Release);
    }

    /// Where the process stands.
    pub fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Starting,
            1 => Phase::Running,
            _ => Phase::Stopping,
        }
    }

    /// The engine has turned its loop.
    pub fn beat(&self, now: Timestamp) {
        self.beat.store(now.nanos(), Ordering::Relaxed);
    }

    /// The engine has panicked and was built anew.
    pub fn panicked(&self) {
        self.panics.fetch_add(1, Ordering::Relaxed);
    }

    /// How often the engine has panicked.
    pub fn panics(&self) -> u64 {
        self.panics.load(Ordering::Relaxed)
    }

    /// Time since the engine's last turn.
    pub fn silent_for(&self, now: Timestamp) -> Duration {
        now.since(Timestamp::from_nanos(self.beat.load(Ordering::Relaxed)))
    }

    /// Whether work is done: running, and the engine has turned within [`SILENCE`].
    pub fn is_well(&self, now: Timestamp) -> bool {
        self.phase() == Phase::Running && self.is_live(now)
    }

    /// Whether the engine has turned within [`SILENCE`], whatever the phase.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.silent_for(now) <= SILENCE
    }

    /// The answer to a readiness probe.
    pub fn ready(&self, now: Timestamp) -> Answer {
        self.answer(self.is_well(now), now)
    }

    /// The answer to a liveness probe: starting and stopping are alive.
    pub fn live(&self, now: Timestamp) -> Answer {
        self.answer(self.is_live(now), now)
    }

    fn answer(&self, well: bool, now: Timestamp) -> Answer {
        let since = Timestamp::from_nanos(self.up_since.load(Ordering::Relaxed));
        let body = if well {
            Body {
                status: "Server available",
                up_since: rfc3339(since),
                uptime: uptime(now.since(since)),
                reason: None,
            }
        } else {
            Body {
                status: "Server not available",
                // The collector's zero time.
                up_since: "0001-01-01T00:00:00Z".to_owned(),
                uptime: String::new(),
                reason: Some(self.reason(now)),
            }
        };
        Answer {
            status: if well { 200 } else { 503 },
            body: serde_json::to_string(&body).unwrap_or_default(),
        }
    }

    fn reason(&self, now: Timestamp) -> String {
        if !self.is_live(now) {
            let silent = self.silent_for(now).as_secs();
            return format!("the engine has not answered for {silent} s");
        }
        match self.phase() {
            Phase::Starting => "starting".to_owned(),
            Phase::Running | Phase::Stopping => "stopping".to_owned(),
        }
    }
}

/// A duration in seconds as Go prints it: `1h2m3.5s`.
fn uptime(span: Duration) -> String {
    let (seconds, millis) = (span.as_secs(), span.subsec_millis());
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let mut text = String::new();
    if hours > 0 {
        text += &format!("{hours}h");
    }
    if seconds >= 60 {
        text += &format!("{minutes}m");
    }
    text + &format!("{}.{millis:03}s", seconds % 60)
}

/// A moment as RFC 3339 in UTC with milliseconds.
pub fn rfc3339(moment: Timestamp) -> String {
    let seconds = moment.nanos() / 1_000_000_000;
    let millis = moment.nanos() / 1_000_000 % 1000;
    let (year, month, day) = civil(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// Year, month and day of a day number since 1970, in the proleptic Gregorian calendar: years are
/// counted from March so that the leap day is the last one, in eras of 400 years.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_nanos(1_700_000_000_000_000_000);

    #[test]
    fn starting_and_stopping_are_not_ready_but_alive() {
        let health = Health::new(START);
        assert_eq!(health.ready(START).status, 503);
        assert!(health.ready(START).body.contains("starting"));
        assert_eq!(health.live(START).status, 200);
        health.enter(Phase::Running, START);
        assert_eq!(health.ready(START).status, 200);
        health.enter(Phase::Stopping, START);
        assert_eq!(health.ready(START).status, 503);
        assert!(health.ready(START).body.contains("stopping"));
    }

    #[test]
    fn a_dead_engine_is_unhealthy() {
        let health = Health::new(START);
        health.enter(Phase::Running, START);
        let still_well = START.plus(SILENCE);
        assert_eq!(health.ready(still_well).status, 200);
        let later = START.plus(SILENCE + Duration::from_secs(2));
        assert_eq!(health.ready(later).status, 503);
        assert_eq!(health.live(later).status, 503);
        assert_eq!(
            health.ready(later).body,
            r#"{"status":"Server not available","upSince":"0001-01-01T00:00:00Z","uptime":"","reason":"the engine has not answered for 7 s"}"#
        );
        health.beat(later);
        assert_eq!(health.ready(later).status, 200);
    }

    #[test]
    fn the_answer_has_the_collectors_form() {
        let health = Health::new(START);
        health.enter(Phase::Running, START);
        let later = START.plus(Duration::from_millis(3_723_250));
        health.beat(later);
        assert_eq!(
            health.ready(later).body,
            r#"{"status":"Server available","upSince":"2023-11-14T22:13:20.000Z","uptime":"1h2m3.250s"}"#
        );
    }

    #[test]
    fn calendar() {
        let at = |seconds: u64| rfc3339(Timestamp::from_nanos(seconds * 1_000_000_000));
        assert_eq!(at(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00.000Z");
        assert_eq!(at(4_107_542_399), "2100-02-28T23:59:59.000Z");
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00.000Z");
    }
}
