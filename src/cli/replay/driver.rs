//! The engine under a clock that comes from the recording.

use bytes::Bytes;

use crate::engine::{self, Engine, Output};
use crate::model::{AnomalyType, Step, Timestamp};
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

    /// The types that are looked for.
    pub(crate) fn types(&self) -> impl Iterator<Item = AnomalyType> + '_ {
        self.engine.types()
    }

    /// Has the steps of these spans explained when they are judged.
    pub(crate) fn watch(&mut self, spans: engine::Watch) {
        self.engine.explain_spans(spans);
    }

    /// Notes what a request that is still to be judged tells of findings; one that cannot be read tells nothing.
    pub(crate) fn foresee(&mut self, body: Bytes) {
        if let Ok(reading) = self.reader.read(body) {
            self.engine.foresee(&reading);
        }
    }

    /// Notes that log records are among what is still to be judged, and what those of one request tell of spans, unless
    /// it says when it arrived: which of the two came first is not known then, and spans do not wait for content.
    pub(crate) fn foresee_records(&mut self, body: Bytes, received: Option<Timestamp>) {
        self.engine.expect_records();
        if received.is_none()
            && let Ok((_, reading)) = self.reader.read_records(body)
        {
            self.engine.foresee_contents(reading, self.now);
        }
    }

    /// Judges what the log records of one request tell. Content of spans was taken ahead where it has no stamp.
    ///
    /// # Errors
    /// The body is no request.
    pub(crate) fn feed_records(
        &mut self,
        body: Bytes,
        received: Option<Timestamp>,
        mut see: impl FnMut(&Step),
        out: &mut Output,
    ) -> Result<Fed, crate::otlp::BodyError> {
        let (records, mut reading) = self.reader.read_records(body)?;
        if received.is_none() {
            reading.contents.clear();
        }
        self.engine.place(&mut reading);
        let fed = Fed {
            spans: 0,
            malformed: records.malformed.total(),
            first_malformed: records.malformed.first.clone(),
        };
        self.judge(reading, received, &mut see, out);
        Ok(fed)
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
        self.judge(reading, received, &mut see, out);
        Ok(fed)
    }

    fn judge(
        &mut self,
        reading: Reading,
        received: Option<Timestamp>,
        see: &mut impl FnMut(&Step),
        out: &mut Output,
    ) {
        reading.steps.iter().for_each(see);
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
/// clock: its own is wrong. One that began beside the others is not ahead of them, however long it took.
fn greatest_end(reading: &Reading, skew: std::time::Duration) -> Timestamp {
    greatest(
        reading.steps.iter().map(|step| (step.start, step.end)),
        skew,
    )
}

fn greatest(
    steps: impl Iterator<Item = (Timestamp, Timestamp)>,
    skew: std::time::Duration,
) -> Timestamp {
    let mut steps: Vec<_> = steps.map(|(start, end)| (end, start)).collect();
    steps.sort_unstable();
    let Some((middle, _)) = steps.get(steps.len().saturating_sub(1) / 2) else {
        return Timestamp::ZERO;
    };
    let limit = middle.plus(skew);
    steps
        .iter()
        .rev()
        .find(|(end, start)| *end <= limit || *start <= limit)
        .map_or(*middle, |(end, _)| *end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_step_moves_the_clock_and_a_wrong_clock_does_not() {
        let at = |seconds: u64| Timestamp::from_nanos(seconds * 1_000_000_000);
        let arrival = |steps: &[(u64, u64)]| {
            let steps = steps.iter().map(|(start, end)| (at(*start), at(*end)));
            greatest(steps, std::time::Duration::from_secs(300))
        };
        assert_eq!(arrival(&[]), Timestamp::ZERO);
        assert_eq!(arrival(&[(1, 2), (2, 2_400)]), at(2_400));
        assert_eq!(arrival(&[(1, 2), (3, 4), (90_000, 90_001)]), at(4));
        assert_eq!(arrival(&[(90_000, 90_001)]), at(90_001));
    }
}
