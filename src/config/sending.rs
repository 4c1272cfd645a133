//! Checks of one exporter that its own settings cannot make: addresses, queue against request, retry.

use crate::exporters;

use super::endpoints::wrong_target;
use super::problems::Problems;
use super::report::Problem;
use super::tree::Entry;

/// Reports what keeps an exporter from working, or probably does.
pub(super) fn check(entry: &Entry, settings: &exporters::Settings, problems: &mut Problems) {
    let (queue, retry, max) = match settings {
        exporters::Settings::OtlpGrpc(grpc) => {
            target(entry, "endpoint", &grpc.endpoint, true, problems);
            (
                &grpc.sending_queue,
                &grpc.retry_on_failure,
                grpc.max_request_size,
            )
        }
        exporters::Settings::OtlpHttp(http) => {
            match &http.traces_endpoint {
                Some(endpoint) => target(entry, "traces_endpoint", endpoint, false, problems),
                None => target(entry, "endpoint", &http.endpoint, false, problems),
            }
            (
                &http.sending_queue,
                &http.retry_on_failure,
                http.max_request_size,
            )
        }
        exporters::Settings::File(file) => {
            if file.path.is_empty() {
                lacks(
                    entry,
                    "path",
                    "write path: traces.jsonl, or path: \"-\" for standard output",
                    problems,
                );
            }
            return;
        }
        exporters::Settings::Debug(_) => return,
    };
    if let Err(message) = retry.check() {
        let key = message.split(' ').next().unwrap_or("");
        let place = entry.value.at(&["retry_on_failure", key]);
        let place = place.or(entry.value.at(&["retry_on_failure"]));
        let problem = Problem::error(place.unwrap_or(entry).shown(), message);
        problems.push(problem);
    }
    if queue.enabled && queue.num_consumers == 0 {
        let place = entry.value.at(&["sending_queue", "num_consumers"]);
        let problem = Problem::error(
            place.unwrap_or(entry).shown(),
            "`num_consumers` is 0: nothing would be sent",
        );
        problems.push(problem);
    }
    if queue.enabled && queue.queue_size < max {
        let place = entry.value.at(&["sending_queue", "queue_size"]);
        let problem = Problem::warning(
            place.unwrap_or(entry).shown(),
            format!(
                "the queue holds {} bytes, less than one request may have ({max})",
                queue.queue_size
            ),
        )
        .help("queue_size counts bytes here, not requests; write 256MiB");
        problems.push(problem);
    }
}

fn target(entry: &Entry, key: &str, endpoint: &str, bare: bool, problems: &mut Problems) {
    if endpoint.is_empty() {
        let example = if bare {
            "write endpoint: localhost:4317"
        } else {
            "write endpoint: http://localhost:4318"
        };
        lacks(entry, key, example, problems);
        return;
    }
    if let Some(message) = wrong_target(endpoint, bare) {
        let place = entry.value.at(&[key]).unwrap_or(entry).shown();
        problems.push(Problem::error(place, message));
    }
}

/// A key without which the component cannot work, unless what was written there is wrong already.
fn lacks(entry: &Entry, key: &str, help: &str, problems: &mut Problems) {
    let written = entry.value.entry(key);
    if written
        .is_some_and(|w| problems.is_dropped(w.key_place) || problems.is_dropped(w.value.place))
    {
        return;
    }
    let place = written.map_or(entry.key_place, |written| written.key_place);
    let message = format!("`{}` has no `{key}`", entry.key);
    problems.push(Problem::error(place, message).help(help));
}
