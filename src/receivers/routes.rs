//! What a receiver takes, and where what is passed on goes.
//!
//! Invariant: what a relay was given is with its exporters when the call returns; nothing of it waits here.

use std::fmt;

use bytes::Bytes;

use crate::model::{Pressure, Release, Selection, Signal};

/// The signals that one receiver takes.
#[derive(Debug, Default)]
pub struct Routes {
    /// Spans: they go to the engine.
    pub traces: bool,
    /// Log records: they are passed on at once.
    pub logs: Option<Relay>,
    /// Log records are read as well, for what they tell of agents: that goes to the engine.
    pub reads_logs: bool,
    /// Metrics: they are passed on unread.
    pub metrics: Option<Relay>,
}

impl Routes {
    /// A receiver of spans alone.
    pub fn traces() -> Self {
        Self {
            traces: true,
            ..Self::default()
        }
    }

    /// Whether a signal is taken.
    pub fn takes(&self, signal: Signal) -> bool {
        match signal {
            Signal::Traces => self.traces,
            Signal::Logs => self.logs.is_some(),
            Signal::Metrics => self.metrics.is_some(),
        }
    }

    /// The signals taken, in the order of [`Signal::ALL`].
    pub(super) fn taken(&self) -> impl Iterator<Item = Signal> {
        Signal::ALL.into_iter().filter(|signal| self.takes(*signal))
    }
}

/// Hands requests to exporters as they came.
pub struct Relay {
    pass: Box<dyn Fn(Release) + Send + Sync>,
    pressure: Pressure,
}

impl Relay {
    /// A relay by way of `pass`, which must not wait. While `pressure` is on, requests are refused retryably.
    pub fn new(pass: impl Fn(Release) + Send + Sync + 'static, pressure: Pressure) -> Self {
        Self {
            pass: Box::new(pass),
            pressure,
        }
    }

    /// Whether any exporter has room.
    pub(super) fn has_room(&self) -> bool {
        !self.pressure.is_on()
    }

    /// Passes on a request that holds `items` log records or data points.
    pub(super) fn pass(&self, body: Bytes, items: u64) {
        (self.pass)(Release {
            body,
            spans: Selection::All,
            count: u32::try_from(items).unwrap_or(u32::MAX),
            patches: Vec::new(),
            synthetic: false,
        });
    }
}

impl fmt::Debug for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Relay")
            .field("pressure", &self.pressure)
            .finish_non_exhaustive()
    }
}
