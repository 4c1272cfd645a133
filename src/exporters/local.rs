//! Exporters that write where they are: `debug` for people, `file` for programs.
//!
//! Invariant: `file` writes a request a line, and a line that was broken off by a full disk does not spoil
//! the next.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use crate::model::Signal;
use crate::otlp::{BodyError, to_json_of};

use super::debug::render;
use super::metrics::render_metrics;
use super::outcome::Outcome;
use super::records::render_records;
use super::settings::Verbosity;
use super::transport::{Attempting, Transport};

/// Where it is written. For `debug` a stream that strips colour where nobody sees it.
pub type Sink = Box<dyn Write + Send>;

/// What is written of a body.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// Text for people.
    Debug(Verbosity),
    /// A line of OTLP/JSON.
    Json,
}

/// Writes bodies to a sink.
pub(super) struct Local {
    form: Form,
    signal: Signal,
    sink: Arc<Mutex<Torn>>,
}

/// A sink, and whether its last line was broken off.
struct Torn {
    sink: Sink,
    torn: bool,
}

impl Local {
    pub(super) fn new(form: Form, signal: Signal, sink: Sink) -> Self {
        let sink = Arc::new(Mutex::new(Torn { sink, torn: false }));
        Self { form, signal, sink }
    }
}

impl Transport for Local {
    fn send(&self, body: Bytes) -> Attempting<'_> {
        let (form, signal, sink) = (self.form, self.signal, Arc::clone(&self.sink));
        // A pipe that nobody reads must not hold up the tasks that serve connections.
        let writing = tokio::task::spawn_blocking(move || {
            let text = match form.write(signal, &body) {
                Ok(text) => text,
                Err(error) => {
                    let why = error.to_string();
                    return Outcome::Refused { why, divide: true };
                }
            };
            let mut sink = sink.lock().unwrap_or_else(PoisonError::into_inner);
            match sink.write(text.as_bytes()) {
                Ok(()) => Outcome::Delivered(<_>::default()),
                Err(error) => Outcome::unreachable(format!("cannot write: {error}")),
            }
        });
        Box::pin(async move {
            writing.await.unwrap_or_else(|panic| Outcome::Refused {
                why: panic.to_string(),
                divide: false,
            })
        })
    }
}

impl Form {
    fn write(self, signal: Signal, body: &Bytes) -> Result<String, BodyError> {
        match (self, signal) {
            (Self::Debug(verbosity), Signal::Traces) => render(body, verbosity),
            (Self::Debug(verbosity), Signal::Logs) => render_records(body, verbosity),
            (Self::Debug(verbosity), Signal::Metrics) => render_metrics(body, verbosity),
            (Self::Json, _) => {
                let mut line = to_json_of(signal, body)?;
                line.push('\n');
                Ok(line)
            }
        }
    }
}

impl Torn {
    fn write(&mut self, text: &[u8]) -> std::io::Result<()> {
        if self.torn {
            self.sink.write_all(b"\n")?;
        }
        self.torn = true;
        self.sink.write_all(text)?;
        self.torn = false;
        self.sink.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::mpsc;

    use super::*;

    /// Takes ten bytes, fails once, and then takes everything.
    struct FullOnce(usize, mpsc::Sender<Vec<u8>>);

    impl Write for FullOnce {
        fn write(&mut self, data: &[u8]) -> io::Result<usize> {
            let room = match self.0 {
                0 => {
                    self.0 = usize::MAX;
                    return Err(io::Error::other("disk full"));
                }
                room => room.min(data.len()),
            };
            if self.0 != usize::MAX {
                self.0 -= room;
            }
            let taken = data.get(..room).unwrap_or_default().to_vec();
            self.1.send(taken).map_err(io::Error::other)?;
            Ok(room)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn q_09_a_full_disk_spoils_its_own_line_only() {
        let (sender, written) = mpsc::channel();
        let mut sink = Torn {
            sink: Box::new(FullOnce(10, sender)),
            torn: false,
        };
        assert!(sink.write(b"{\"a request\":1}\n").is_err());
        sink.write(b"{\"a request\":1}\n").unwrap();
        sink.write(b"{\"another\":2}\n").unwrap();
        let text: Vec<u8> = written.try_iter().flatten().collect();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "{\"a reques\n{\"a request\":1}\n{\"another\":2}\n"
        );
    }
}
