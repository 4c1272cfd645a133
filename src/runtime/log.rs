//! Our own log: stderr, one line an event, for people or as JSON.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::control::{Encoding, Logs};

/// Libraries whose own tales nobody wants below warnings.
const QUIET: &str = "hyper=warn,h2=warn,tonic=warn,tower=warn,opentelemetry=warn,opentelemetry_sdk=warn,opentelemetry-otlp=warn";

/// Sends all events of this process to stderr from now on. A second call in one process changes nothing.
pub fn install(logs: &Logs) {
    // The log is set up once; tests that share a process keep the first.
    let _ = tracing::subscriber::set_global_default(subscriber(logs, std::io::stderr));
    std::panic::set_hook(Box::new(panicked));
}

/// A panic is a line in the log like everything else, without a back trace.
fn panicked(info: &std::panic::PanicHookInfo<'_>) {
    let payload = info.payload();
    let words = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no words");
    let place = info
        .location()
        .map_or_else(String::new, ToString::to_string);
    let thread = std::thread::current();
    let thread = thread.name().unwrap_or("unnamed");
    tracing::error!(place, thread, "panic, a failure of ours: {words}");
}

fn subscriber<W>(logs: &Logs, writer: W) -> Box<dyn tracing::Subscriber + Send + Sync>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let filter = EnvFilter::new(format!("{},{QUIET}", logs.level.name()));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        .with_target(false);
    match logs.encoding {
        Encoding::Console => {
            let ansi = std::io::IsTerminal::is_terminal(&std::io::stderr());
            Box::new(builder.with_ansi(ansi && !no_color()).finish())
        }
        Encoding::Json => Box::new(
            builder
                .json()
                .flatten_event(true)
                .with_current_span(false)
                .with_span_list(false)
                .finish(),
        ),
    }
}

fn no_color() -> bool {
    matches!(super::environment::get("NO_COLOR"), Ok(Some(value)) if !value.is_empty())
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::control::LogLevel;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn written(logs: &Logs) -> String {
        let kept = Kept::default();
        let writer = kept.clone();
        let subscriber = subscriber(logs, move || writer.clone());
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!(what = "grpc", "listening");
            tracing::debug!("not shown");
            tracing::info!(target: "hyper::proto", "not shown");
        });
        let bytes = kept.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn json_is_one_flat_object_a_line() {
        let text = written(&Logs {
            level: LogLevel::Info,
            encoding: Encoding::Json,
        });
        let lines: Vec<serde_json::Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 1, "{text}");
        assert_eq!(lines[0]["message"], "listening");
        assert_eq!(lines[0]["what"], "grpc");
        assert_eq!(lines[0]["level"], "INFO");
    }

    #[test]
    fn console_is_one_line() {
        let text = written(&Logs::default());
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.contains("INFO listening what=\"grpc\""), "{text}");
    }
}
