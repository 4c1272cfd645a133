//! What `debug` prints of metrics: how much passed, and the name of each metric where more is asked for.

use std::fmt::Write;

use bytes::Bytes;
use serde_json::Value;

use crate::model::Signal;
use crate::otlp::{BodyError, count_points, to_json_of};

use super::debug::{BOLD, DIM, Text};
use super::records::members;
use super::settings::Verbosity;

/// An ExportMetricsServiceRequest as text.
pub(super) fn render_metrics(body: &Bytes, verbosity: Verbosity) -> Result<String, BodyError> {
    let json = to_json_of(Signal::Metrics, body)?;
    // Our own JSON; if it were none, there would be nothing to show.
    let request: Value = serde_json::from_str(&json).unwrap_or_default();
    let mut lines = String::new();
    let mut count = 0;
    for resource in members(&request, "resourceMetrics") {
        for scope in members(resource, "scopeMetrics") {
            for metric in members(scope, "metrics") {
                count += 1;
                if verbosity != Verbosity::Basic {
                    line(&mut lines, metric);
                }
            }
        }
    }
    let points = count_points(body);
    let noun = if count == 1 { "metric" } else { "metrics" };
    let points_noun = if points == 1 { "point" } else { "points" };
    Ok(format!(
        "{BOLD}{count} {noun}, {points} data {points_noun}{BOLD:#}\n{lines}"
    ))
}

fn line(out: &mut String, metric: &Value) {
    let text = |key: &str| metric.get(key).and_then(Value::as_str).unwrap_or_default();
    let _ = writeln!(
        out,
        "{} {DIM}{}{DIM:#}",
        Text(text("name")),
        Text(text("unit"))
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::otlp::transcode_with_hint;

    #[test]
    fn metrics_are_named_and_their_points_counted() {
        let json = br#"{"resourceMetrics":[{"scopeMetrics":[{"metrics":[
            {"name":"calls","unit":"1","sum":{"dataPoints":[{"asInt":"0"},{"asDouble":1.5}]}}]}]}]}"#;
        let (body, _) = transcode_with_hint(Signal::Metrics, json).unwrap();
        let plain = |verbosity| {
            let text = render_metrics(&body, verbosity).unwrap();
            anstream::adapter::strip_str(&text).to_string()
        };
        assert_eq!(plain(Verbosity::Basic), "1 metric, 2 data points\n");
        assert_eq!(
            plain(Verbosity::Normal),
            "1 metric, 2 data points\ncalls 1\n"
        );
    }
}
