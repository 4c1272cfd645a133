//! The real binary as a child process, on ports that the system chose.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running collector. Killed when dropped.
pub struct Collector {
    child: Child,
    lines: Receiver<String>,
    log: Vec<Value>,
    _dir: tempfile::TempDir,
}

/// A collector that has ended.
pub struct Ended {
    /// How.
    pub status: ExitStatus,
    /// All it wrote to its log.
    pub log: Vec<Value>,
}

/// A configuration with receivers, health and metrics on free ports, and these exporters (indented YAML
/// below `exporters:`), all of them in the one pipeline.
pub fn config(exporters: &[(&str, String)]) -> String {
    guarded("", "", exporters)
}

/// The same with more keys for both protocols of the receiver, as `, tls: {...}`, and more extensions, as
/// `bearertokenauth: {...}`.
pub fn guarded(keys: &str, extension: &str, exporters: &[(&str, String)]) -> String {
    let started = match extension.split_once(':') {
        Some((id, _)) => format!("health_check, {id}"),
        None => "health_check".to_owned(),
    };
    let names: Vec<&str> = exporters.iter().map(|(name, _)| *name).collect();
    let exporters: String = exporters
        .iter()
        .map(|(name, settings)| format!("  {name}: {settings}\n"))
        .collect();
    format!(
        "receivers:
  otlp:
    protocols:
      grpc: {{endpoint: '127.0.0.1:0'{keys}}}
      http: {{endpoint: '127.0.0.1:0'{keys}}}
processors:
  anomaly: {{}}
exporters:
{exporters}extensions:
  health_check: {{endpoint: '127.0.0.1:0'}}
  {extension}
service:
  extensions: [{started}]
  telemetry:
    logs: {{encoding: json}}
    metrics: {{address: '127.0.0.1:0'}}
  pipelines:
    traces: {{receivers: [otlp], processors: [anomaly], exporters: [{}]}}
",
        names.join(", ")
    )
}

impl Collector {
    /// Starts the binary with `config` and waits until it says that it is ready.
    pub fn start(config: &str) -> Self {
        let mut collector = Self::spawn(config, &[]);
        collector.wait_for("ready");
        collector
    }

    /// Starts the binary with `config` and more arguments, and does not wait.
    pub fn spawn(config: &str, arguments: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.yaml");
        std::fs::write(&path, config).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_agent-sentinel"))
            .arg("run")
            .arg("--config")
            .arg(&path)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::inherit())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            lines,
            log: Vec::new(),
            _dir: dir,
        }
    }

    /// Directory of this collector's configuration file.
    pub fn dir(&self) -> PathBuf {
        self._dir.path().to_owned()
    }

    /// Process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for a log line whose message begins with `message`, and returns it. Lines before count.
    pub fn wait_for(&mut self, message: &str) -> Value {
        let begins = |line: &Value| {
            let text = line["message"].as_str().unwrap_or_default();
            text.starts_with(message)
        };
        if let Some(line) = self.log.iter().find(|line| begins(line)) {
            return line.clone();
        }
        let deadline = Instant::now() + PATIENCE;
        loop {
            let Some(line) = self.next_line(deadline) else {
                panic!("never said {message:?}; said:\n{}", show(&self.log));
            };
            if begins(&line) {
                return line;
            }
        }
    }

    fn next_line(&mut self, deadline: Instant) -> Option<Value> {
        let left = deadline.saturating_duration_since(Instant::now());
        let line = match self.lines.recv_timeout(left) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
        };
        // What is no JSON was not logged: it is kept as it stands.
        let line =
            serde_json::from_str(&line).unwrap_or_else(|_| serde_json::json!({"message": line}));
        self.log.push(line.clone());
        Some(line)
    }

    /// Where `what` listens: `grpc`, `http`, `health_check`, `metrics`.
    pub fn address(&self, what: &str) -> SocketAddr {
        let line = self.log.iter().find(|line| {
            line["message"]
                .as_str()
                .is_some_and(|text| text.starts_with("listening"))
                && line["what"] == what
        });
        let Some(line) = line else {
            panic!("{what} does not listen:\n{}", show(&self.log));
        };
        line["address"].as_str().unwrap().parse().unwrap()
    }

    /// Sends SIGTERM.
    pub fn terminate(&self) {
        let sent = Command::new("kill")
            .arg("-TERM")
            .arg(self.id().to_string())
            .status();
        assert!(sent.unwrap().success());
    }

    /// Sends SIGTERM and waits for the end.
    pub fn stop(self) -> Ended {
        self.terminate();
        self.wait()
    }

    /// Waits for the end.
    pub fn wait(mut self) -> Ended {
        let deadline = Instant::now() + PATIENCE;
        while self.next_line(deadline).is_some() {}
        assert!(
            Instant::now() < deadline,
            "still running:\n{}",
            show(&self.log)
        );
        Ended {
            status: self.child.wait().unwrap(),
            log: std::mem::take(&mut self.log),
        }
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    /// The balance that `exporter` was left with.
    pub fn balance(&self, exporter: &str) -> Balance {
        let line = self.log.iter().find(|line| {
            line["message"]
                .as_str()
                .is_some_and(|text| text.starts_with("balance"))
                && line["exporter"] == exporter
        });
        let Some(line) = line else {
            panic!("no balance of {exporter}:\n{}", show(&self.log));
        };
        let number = |key: &str| {
            line[key]
                .as_u64()
                .unwrap_or_else(|| panic!("{key} in {line}"))
        };
        Balance {
            accepted: number("accepted"),
            synthetic: number("synthetic"),
            sent: number("sent"),
            dropped: number("dropped"),
        }
    }
}

/// What one exporter was left with, in spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balance {
    /// Accepted by the receivers.
    pub accepted: u64,
    /// Made by us.
    pub synthetic: u64,
    /// Taken by the backend.
    pub sent: u64,
    /// Given up, for any reason.
    pub dropped: u64,
}

impl Balance {
    /// Whether every span is accounted for.
    pub fn adds_up(&self) -> bool {
        self.accepted + self.synthetic == self.sent + self.dropped
    }
}

/// A log for people.
pub fn show(log: &[Value]) -> String {
    log.iter().map(|line| format!("  {line}\n")).collect()
}
