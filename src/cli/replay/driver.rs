//! The engine under a clock that comes from the recording.

use bytes::Bytes;

use crate::engine::{self, Engine, Output};
use crate::model::{Step, Timestamp};
use crate::steps::{Reader, Reading};

/// An engine, a reader, and the greatest event time read so far.
pub(crate) struct Driver {
    engine: Engine,
    reader: Reader,
    now: Timestamp,
    skew: std::time::Duration,
}

impl Driver {
    /// A driver that has read nothing.
    pub(crate) fn new(settings: engine::Settings, reader: Reader) -> Self {
        let skew = settings.sessions.max_clock_skew;
        Self {
            engine: Engine::new(settings),
            reader,
            now: Timestamp::ZERO,
            skew,
        }
    }

    /// Has the steps of these spans explained when they are judged.
    pub(crate) fn watch(&mut self, spans: engine::Watch) {
        self.engine.explain_spans(spans);
    }

    /// Judges one request. Without a stamp of its arrival its steps are taken in before the timers that it
    /// makes due, as the recording does not say what came first. `see` is shown every step read.
    ///
    /// # Errors
    /// The body is no request.
    pub(crate) fn feed(
        &mut self,
        body: Bytes,
        received: Option<Timestamp>,
        mut see: impl FnMut(&Step),
        out: &mut Output,
    ) -> Result<Fed, crate::otlp::BodyError> {
        let reading = self.reader.read(body)?;
        let fed = Fed {
            spans: reading.spans,
            malformed: reading.malformed.total(),
            first_malformed: reading.malformed.first.clone(),
        };
        reading.steps.iter().for_each(&mut see);
        match received {
            Some(received) => {
                self.now = self.now.max(received);
                self.engine.arrive(reading, self.now, out);
            }
            None => {
                self.now = self.now.max(greatest_end(&reading, self.skew));
                self.engine.ingest(reading, self.now, out);
                self.engine.advance(self.now, out);
            }
        }
        Ok(fed)
    }

    /// The end of the input: every wait is over.
    pub(crate) fn finish(mut self, out: &mut Output) {
        self.engine.drain(self.now, out);
    }
}

/// What one request held.
#[derive(Debug)]
pub(crate) struct Fed {
    /// Spans that are sound.
    pub(crate) spans: u32,
    /// Spans that were cut out.
    pub(crate) malformed: u64,
    /// What was wrong with the first of them.
    pub(crate) first_malformed: Option<String>,
}

/// Without a stamp a request arrives at the greatest end in it. A step far ahead of the others moves no
/// clock: its own is wrong.
fn greatest_end(reading: &Reading, skew: std::time::Duration) -> Timestamp {
    let mut ends: Vec<Timestamp> = reading.steps.iter().map(|step| step.end).collect();
    ends.sort_unstable();
    let Some(middle) = ends.get(ends.len().saturating_sub(1) / 2) else {
        return Timestamp::ZERO;
    };
    let limit = middle.plus(skew);
    ends.iter()
        .rev()
        .find(|end| **end <= limit)
        .copied()
        .unwrap_or(*middle)
}
