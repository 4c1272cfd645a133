//! What the system asks of us: to stop, and to stop at once.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens for the signals that end a process in good order.
#[derive(Debug)]
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

/// A wish to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// SIGTERM.
    Terminate,
    /// SIGINT.
    Interrupt,
}

impl Stop {
    /// The name that people know.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Terminate => "SIGTERM",
            Self::Interrupt => "SIGINT",
        }
    }
}

impl Signals {
    /// Starts listening; from here on no signal ends the process by itself. Needs a tokio runtime.
    pub fn install() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the next wish to stop. SIGHUP is none: it would lose what is held, so it is only logged.
    pub async fn stop(&mut self) -> Stop {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return Stop::Terminate,
                _ = self.interrupt.recv() => return Stop::Interrupt,
                _ = self.hangup.recv() => {
                    tracing::warn!("SIGHUP: configuration is read at start only; restart to apply a new one");
                }
            }
        }
    }
}
