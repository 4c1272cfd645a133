//! How long to wait before the next attempt.

use std::time::Duration;

use super::settings::RetrySettings;

/// A backend's wish to wait is followed up to this multiple of the longest interval: hours would be a
/// loss in slow motion.
const WISH_AT_MOST: u32 = 10;

/// Exponential backoff with jitter (otlp_conformance ).
#[derive(Clone, Debug)]
pub(super) struct Backoff {
    settings: RetrySettings,
    interval: Duration,
}

impl Backoff {
    pub(super) fn new(settings: &RetrySettings) -> Self {
        Self {
            settings: settings.clone(),
            interval: settings.initial_interval,
        }
    }

    /// The next wait: never shorter than the backend's wish, within reason, and never zero.
    pub(super) fn next(&mut self, wish: Option<Duration>) -> Duration {
        let jitter = self.settings.randomization_factor.clamp(0.0, 1.0);
        let factor = 1.0 + jitter * (fastrand::f64() * 2.0 - 1.0);
        let own = self.interval.mul_f64(factor);
        let grown = self.interval.as_secs_f64() * self.settings.multiplier.max(1.0);
        self.interval = Duration::try_from_secs_f64(grown)
            .unwrap_or(self.settings.max_interval)
            .min(self.settings.max_interval);
        let most = self.settings.max_interval.saturating_mul(WISH_AT_MOST);
        // Many clients are told the same wait; they must not all come back at once.
        let wish = wish.map(|wish| wish.min(most).mul_f64(1.0 + 0.1 * fastrand::f64()));
        own.max(wish.unwrap_or_default())
            .max(Duration::from_millis(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steady() -> RetrySettings {
        RetrySettings {
            randomization_factor: 0.0,
            ..RetrySettings::default()
        }
    }

    #[test]
    fn q_01_waits_grow_to_the_longest() {
        let mut backoff = Backoff::new(&steady());
        let waits: Vec<f64> = (0..8).map(|_| backoff.next(None).as_secs_f64()).collect();
        assert_eq!(waits.get(..3), Some(&[5.0, 7.5, 11.25][..]));
        assert_eq!(waits.last(), Some(&30.0));
    }

    #[test]
    fn q_01_jitter_stays_within_its_share() {
        for _ in 0..1000 {
            let wait = Backoff::new(&RetrySettings::default()).next(None);
            assert!((2.5..=7.5).contains(&wait.as_secs_f64()), "{wait:?}");
        }
    }

    #[test]
    fn q_03_wishes_are_followed_within_reason() {
        let wait = |wish| Backoff::new(&steady()).next(Some(wish)).as_secs_f64();
        assert!((5.0..=5.0).contains(&wait(Duration::ZERO)));
        assert!((20.0..=22.0).contains(&wait(Duration::from_secs(20))));
        assert!((300.0..=330.0).contains(&wait(Duration::from_secs(86_400))));
        let eager = RetrySettings {
            initial_interval: Duration::ZERO,
            ..steady()
        };
        assert!(Backoff::new(&eager).next(None) > Duration::ZERO);
    }
}
