//! Checks of one exporter, with the places of its keys.

use std::time::Duration;

use crate::exporters::{BuildError, QueueSettings, RetrySettings, Settings, Target};
use crate::security::ClientTls;

use crate::model::Signal;

use super::endpoints::Listeners;
use super::problems::Problems;
use super::report::Problem;
use super::security;
use super::tree::{Entry, Place};

/// Reports what keeps an exporter from working, or probably does. `signals` is what it is to send, `receivers`
/// where we listen for what is to be sent.
pub(super) fn check(
    entry: &Entry,
    settings: &Settings,
    signals: &[Signal],
    receivers: &Listeners,
    problems: &mut Problems,
) {
    for signal in signals {
        match settings.check(*signal) {
            Err(error) => unbuildable(entry, settings, *signal, &error, problems),
            Ok(None) => {}
            Ok(Some(target)) => {
                let port = target.port;
                exposed(entry, settings, *signal, &target, problems);
                if let Some(ours) = receivers.at(&target.host, port) {
                    let at = place(entry, &[endpoint_key(settings, *signal)]);
                    let message = format!(
                        "`{}` sends back to {ours}: all would go in circles",
                        entry.key
                    );
                    let problem = Problem::error(at, message);
                    problems.push(problem.help(format!(
                        "name the port of the backend; where it has {port}, give {ours} another one"
                    )));
                }
            }
        }
    }
    if let (Settings::File(file), [_, _, ..]) = (settings, signals)
        && file.path != "-"
    {
        let items: Vec<&str> = signals.iter().map(|signal| signal.items()).collect();
        let items = match items.as_slice() {
            [all @ .., last] => format!("{} and {last}", all.join(", ")),
            [] => String::new(),
        };
        let message = format!("`{}` cannot hold {items}", entry.key);
        let problem = Problem::error(entry.key_place, message);
        let last = signals.last().copied().unwrap_or(Signal::Logs).name();
        problems.push(problem.help(format!(
            "give the pipeline of {last} a file of its own, like file/{last}"
        )));
    }
    if let Some(tls) = settings.tls() {
        security::faults(entry, &["tls"], tls.faults(), problems);
    }
    match settings {
        Settings::OtlpGrpc(grpc) => {
            retry(entry, &grpc.retry_on_failure, problems);
            patience(entry, grpc.timeout, problems);
            queue(entry, &grpc.sending_queue, grpc.max_request_size, problems);
        }
        Settings::OtlpHttp(http) => {
            retry(entry, &http.retry_on_failure, problems);
            patience(entry, http.timeout, problems);
            queue(entry, &http.sending_queue, http.max_request_size, problems);
        }
        Settings::File(file) if file.path.is_empty() => {
            let help = "write path: traces.jsonl, or path: \"-\" for standard output";
            lacks(entry, "path", help, problems);
        }
        Settings::File(_) | Settings::Debug(_) => {}
    }
}

/// What travels where others can read it.
fn exposed(
    entry: &Entry,
    settings: &Settings,
    signal: Signal,
    target: &Target,
    problems: &mut Problems,
) {
    let at = place(entry, &[endpoint_key(settings, signal)]);
    let host = &target.host;
    if target.secure {
        return;
    }
    if settings.tls().is_some_and(ClientTls::is_used) {
        let message = format!("`{}` has keys for TLS and sends in plain text", entry.key);
        let problem = Problem::warning(at, message);
        problems.push(problem.help("put https:// in front, and leave `tls.insecure` out"));
        return;
    }
    if target.near {
        return;
    }
    if settings.auth().is_some() {
        let message = format!("`{}` sends its token to {host} in plain text", entry.key);
        let problem = Problem::warning(at, message);
        problems.push(problem.help("put https:// in front, or write `tls: {insecure: false}`"));
    } else if !target.said {
        let message = format!("`{}` sends to {host} in plain text", entry.key);
        let problem = Problem::warning(at, message);
        problems.push(problem.help(
            "write `tls: {insecure: true}` if that is meant, `tls: {insecure: false}` for TLS",
        ));
    }
}

/// Where a path of keys stands, or the longest part of it that is written.
fn place(entry: &Entry, path: &[&str]) -> Place {
    (1..=path.len())
        .rev()
        .find_map(|depth| entry.value.at(path.get(..depth)?))
        .unwrap_or(entry)
        .shown()
}

/// The key that says where a signal is sent to.
fn endpoint_key(settings: &Settings, signal: Signal) -> &'static str {
    match (settings, signal) {
        (Settings::OtlpHttp(http), Signal::Traces) if http.traces_endpoint.is_some() => {
            "traces_endpoint"
        }
        (Settings::OtlpHttp(http), Signal::Logs) if http.logs_endpoint.is_some() => "logs_endpoint",
        (Settings::OtlpHttp(http), Signal::Metrics) if http.metrics_endpoint.is_some() => {
            "metrics_endpoint"
        }
        _ => "endpoint",
    }
}

fn unbuildable(
    entry: &Entry,
    settings: &Settings,
    signal: Signal,
    error: &BuildError,
    problems: &mut Problems,
) {
    let endpoint = endpoint_key(settings, signal);
    let at = match error {
        BuildError::NoEndpoint(example) => {
            lacks(entry, endpoint, &format!("write {example}"), problems);
            return;
        }
        BuildError::Endpoint { .. } => place(entry, &[endpoint]),
        BuildError::Header(name) => place(entry, &["headers", name]),
        BuildError::Retry(_) => place(entry, &["retry_on_failure"]),
    };
    problems.push(Problem::error(at, error.to_string()));
}

fn retry(entry: &Entry, retry: &RetrySettings, problems: &mut Problems) {
    if let Err(message) = retry.check() {
        let key = message.split(' ').next().unwrap_or("");
        let at = place(entry, &["retry_on_failure", key]);
        problems.push(Problem::error(at, message));
    }
}

fn patience(entry: &Entry, timeout: Duration, problems: &mut Problems) {
    if timeout.is_zero() {
        let at = place(entry, &["timeout"]);
        let problem = Problem::error(at, "`timeout` is 0: no answer could come in time");
        problems.push(problem.help("write how long one attempt may take, like 30s"));
    }
}

fn queue(entry: &Entry, queue: &QueueSettings, request: u64, problems: &mut Problems) {
    if !queue.enabled {
        return;
    }
    if queue.num_consumers == 0 {
        let at = place(entry, &["sending_queue", "num_consumers"]);
        problems.push(Problem::error(
            at,
            "`num_consumers` is 0: nothing would be sent",
        ));
    }
    if queue.queue_size < request {
        let message = format!(
            "the queue holds {} bytes, less than one request may have ({request})",
            queue.queue_size
        );
        let at = place(entry, &["sending_queue", "queue_size"]);
        let problem = Problem::warning(at, message);
        problems.push(problem.help("queue_size counts bytes here, not requests; write 256MiB"));
    }
}

/// A key without which the component cannot work, unless what was written there is wrong already.
fn lacks(entry: &Entry, key: &str, help: &str, problems: &mut Problems) {
    let written = entry.value.entry(key);
    let reported =
        |w: &Entry| problems.is_dropped(w.key_place) || problems.is_dropped(w.value.place);
    if written.is_some_and(reported) {
        return;
    }
    let place = written.map_or(entry.key_place, |written| written.key_place);
    let message = format!("`{}` has no `{key}`", entry.key);
    problems.push(Problem::error(place, message).help(help));
}
