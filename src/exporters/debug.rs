//! What `debug` prints: a line a request, a line a span, and what is wrong with it in bright letters.
//!
//! Invariant: strangers' texts cannot steer the terminal, and no line grows without bound. Colour is
//! always written; the stream that is handed in strips it where nobody sees it.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Write};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use bytes::Bytes;

use crate::model::printable;
use crate::otlp::{BodyError, EventView, Seen, SpanView, StatusCode, Value, read};

use super::settings::Verbosity;

pub(super) const DIM: Style = Style::new().dimmed();
pub(super) const BOLD: Style = Style::new().bold();
pub(super) const RED: Style = AnsiColor::Red.on_default().bold();
pub(super) const YELLOW: Style = AnsiColor::Yellow.on_default().bold();

/// Most characters of a name or value.
const TEXT_AT_MOST: usize = 200;

/// Elements of a list or map that are shown.
const ELEMENTS_AT_MOST: usize = 20;

/// Levels of lists and maps that are shown.
const LEVELS_AT_MOST: u32 = 6;

/// A body as text.
pub(super) fn render(body: &Bytes, verbosity: Verbosity) -> Result<String, BodyError> {
    let mut lines = String::new();
    let (mut services, mut marked) = (Vec::<String>::new(), 0u32);
    let mut unjudged = BTreeSet::new();
    let readout = read(body.clone(), |seen| {
        let service = seen.resource.attribute("service.name");
        let service = Text(service.and_then(|name| name.as_str()).unwrap_or("?")).to_string();
        if !services.contains(&service) && services.len() < ELEMENTS_AT_MOST {
            services.push(service);
        }
        let mark = Mark::of(seen.span);
        marked += u32::from(mark.is_some());
        let lacking = seen.span.attribute("sentinel.not_assessed");
        let lacking = lacking.and_then(|types| types.as_str());
        unjudged.extend(lacking.map(|types| Text(types).to_string()));
        if verbosity != Verbosity::Basic || mark.is_some() {
            span(&mut lines, seen, mark.as_ref());
        }
        if verbosity == Verbosity::Detailed {
            details(&mut lines, seen);
        }
    })?;
    let mut text = String::new();
    let noun = if readout.spans == 1 { "span" } else { "spans" };
    let from = services.join(", ");
    let _ = write!(text, "{BOLD}{} {noun}{BOLD:#} from {from}", readout.spans);
    if marked > 0 {
        let _ = write!(text, ", {RED}{marked} marked{RED:#}");
    }
    text.push('\n');
    text.push_str(&lines);
    for types in unjudged.iter().take(ELEMENTS_AT_MOST) {
        let _ = writeln!(
            text,
            "{DIM}  not judged in a run that ended: {types} (docs/why-silent.md){DIM:#}"
        );
    }
    Ok(text)
}

/// What we have written on a span.
struct Mark<'a> {
    kind: &'a str,
    severity: &'a str,
    message: &'a str,
    link: &'a str,
}

impl<'a> Mark<'a> {
    fn of(span: &SpanView<'a>) -> Option<Self> {
        let text = |key| span.attribute(key).and_then(|value| value.as_str());
        let of_event = |key| {
            let mut events = span.events().filter(|e| e.name() == "sentinel.anomaly");
            let event: Option<EventView<'a>> = events.next();
            event.and_then(|event| event.attribute(key)?.as_str())
        };
        let either = |key| text(key).or_else(|| of_event(key)).unwrap_or_default();
        let kind = text("sentinel.anomaly.type").or_else(|| text("sentinel.note.type"))?;
        Some(Self {
            kind,
            severity: either("sentinel.anomaly.severity"),
            message: either("sentinel.anomaly.message"),
            link: either("sentinel.anomaly.trace_url"),
        })
    }

    fn style(&self) -> Style {
        match self.severity {
            "error" | "critical" => RED,
            _ => YELLOW,
        }
    }
}

fn span(out: &mut String, seen: &Seen<'_>, mark: Option<&Mark<'_>>) {
    let span = seen.span;
    let sign = mark.map_or(' ', |_| '!');
    let style = mark.map_or(Style::new(), Mark::style);
    let time = span.end().since(span.start());
    let status = match span.status().code {
        StatusCode::Error => "error",
        StatusCode::Ok | StatusCode::Unset => "",
    };
    let _ = writeln!(
        out,
        "{style}{sign} {:<40}{style:#} {:>9}  {RED}{status:<5}{RED:#} {DIM}trace {} span {}{DIM:#}",
        Text(span.name()).to_string(),
        Took(time).to_string(),
        span.trace_id(),
        span.span_id(),
    );
    if let Some(mark) = mark {
        let _ = writeln!(
            out,
            "{style}    {} ({}){style:#} {}",
            Text(mark.kind),
            Text(mark.severity),
            Text(mark.message)
        );
        if !mark.link.is_empty() {
            let _ = writeln!(out, "    {DIM}{}{DIM:#}", Text(mark.link));
        }
    }
}

fn details(out: &mut String, seen: &Seen<'_>) {
    let span = seen.span;
    if let Some(parent) = span.parent_span_id() {
        let _ = writeln!(out, "    {DIM}parent{DIM:#} {parent}");
    }
    if !span.status().message.is_empty() {
        let _ = writeln!(
            out,
            "    {DIM}status{DIM:#} {}",
            Text(span.status().message)
        );
    }
    for (key, value) in span.attributes() {
        let _ = writeln!(out, "    {DIM}{}{DIM:#} {}", Text(key), Shown(value, 0));
    }
    for event in span.events() {
        let _ = writeln!(out, "    {DIM}event{DIM:#} {}", Text(event.name()));
        for (key, value) in event.attributes() {
            let _ = writeln!(out, "      {DIM}{}{DIM:#} {}", Text(key), Shown(value, 0));
        }
    }
}

/// A stranger's text on one line, bounded, with all that is not drawn spelled out.
pub(super) struct Text<'a>(pub(super) &'a str);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.0.char_indices().nth(TEXT_AT_MOST);
        let head = end.and_then(|(end, _)| self.0.get(..end));
        f.write_str(&printable(head.unwrap_or(self.0)))?;
        if end.is_some() {
            write!(f, "... ({} bytes)", self.0.len())?;
        }
        Ok(())
    }
}

/// A value and how deep it lies.
struct Shown<'a>(Value<'a>, u32);

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(value, level) = *self;
        match value {
            Value::Empty => f.write_str("(empty)"),
            Value::Str(text) => Text(text).fmt(f),
            Value::Bool(yes) => yes.fmt(f),
            Value::Int(n) => n.fmt(f),
            Value::Double(n) => n.fmt(f),
            Value::Bytes(bytes) => write!(f, "({} bytes)", bytes.len()),
            Value::Array(_) | Value::Map(_) if level >= LEVELS_AT_MOST => f.write_str("..."),
            Value::Array(values) => {
                f.write_str("[")?;
                for (n, value) in values.iter().take(ELEMENTS_AT_MOST).enumerate() {
                    let comma = if n > 0 { ", " } else { "" };
                    write!(f, "{comma}{}", Shown(value, level + 1))?;
                }
                f.write_str("]")
            }
            Value::Map(entries) => {
                f.write_str("{")?;
                for (n, (key, value)) in entries.iter().take(ELEMENTS_AT_MOST).enumerate() {
                    let comma = if n > 0 { ", " } else { "" };
                    write!(f, "{comma}{}: {}", Text(key), Shown(value, level + 1))?;
                }
                f.write_str("}")
            }
        }
    }
}

/// A duration in the unit that suits it.
struct Took(Duration);

impl Display for Took {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs_f64();
        if seconds >= 1.0 {
            write!(f, "{seconds:.2} s")
        } else if seconds >= 1e-3 {
            write!(f, "{:.0} ms", seconds * 1e3)
        } else {
            write!(f, "{:.0} us", seconds * 1e6)
        }
    }
}

#[cfg(test)]
mod tests {
    use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
    use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
    use opentelemetry_proto::tonic::resource::v1::Resource;
    use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span};
    use prost::Message;

    use super::*;

    fn text(key: &str, value: &str) -> KeyValue {
        KeyValue {
            key: key.to_owned(),
            value: Some(AnyValue {
                value: Some(any_value::Value::StringValue(value.to_owned())),
            }),
            ..KeyValue::default()
        }
    }

    fn body() -> Bytes {
        let quiet = Span {
            trace_id: vec![1; 16],
            span_id: vec![2; 8],
            name: "chat small-model".to_owned(),
            end_time_unix_nano: 1_450_000_000,
            ..Span::default()
        };
        let marked = Span {
            trace_id: vec![1; 16],
            span_id: vec![3; 8],
            parent_span_id: vec![2; 8],
            name: "execute_tool search\u{1b}[2J".to_owned(),
            end_time_unix_nano: 120_000_000,
            attributes: vec![
                text("query", &"long ".repeat(100)),
                text("sentinel.anomaly.type", "stuck"),
                text("sentinel.anomaly.severity", "error"),
                text(
                    "sentinel.anomaly.message",
                    "search gave the same answer 3 times",
                ),
            ],
            ..Span::default()
        };
        let request = ExportTraceServiceRequest {
            resource_spans: vec![ResourceSpans {
                resource: Some(Resource {
                    attributes: vec![text("service.name", "shop")],
                    ..Resource::default()
                }),
                scope_spans: vec![ScopeSpans {
                    spans: vec![quiet, marked],
                    ..ScopeSpans::default()
                }],
                ..ResourceSpans::default()
            }],
        };
        request.encode_to_vec().into()
    }

    fn plain(verbosity: Verbosity) -> String {
        let text = render(&body(), verbosity).unwrap();
        anstream::adapter::strip_str(&text).to_string()
    }

    #[test]
    fn basic_shows_marked_spans_only() {
        insta::assert_snapshot!(plain(Verbosity::Basic));
    }

    #[test]
    fn normal_shows_a_line_a_span() {
        insta::assert_snapshot!(plain(Verbosity::Normal));
    }

    #[test]
    fn detailed_shows_attributes() {
        insta::assert_snapshot!(plain(Verbosity::Detailed));
    }

    #[test]
    fn what_was_not_judged_and_where_to_look_is_said() {
        let span = Span {
            trace_id: vec![1; 16],
            span_id: vec![2; 8],
            attributes: vec![
                text("sentinel.anomaly.type", "stuck"),
                text("sentinel.anomaly.trace_url", "https://ui/t"),
                text("sentinel.not_assessed", "invalid_args,loop"),
            ],
            ..Span::default()
        };
        let request = ExportTraceServiceRequest {
            resource_spans: vec![ResourceSpans {
                scope_spans: vec![ScopeSpans {
                    spans: vec![span],
                    ..ScopeSpans::default()
                }],
                ..ResourceSpans::default()
            }],
        };
        let text = render(&request.encode_to_vec().into(), Verbosity::Basic).unwrap();
        let text = anstream::adapter::strip_str(&text).to_string();
        assert!(text.contains("    https://ui/t\n"), "{text}");
        assert!(text.contains("not judged in a run that ended"), "{text}");
        assert!(text.contains("invalid_args,loop"), "{text}");
    }

    #[test]
    fn strangers_cannot_steer_the_terminal() {
        let text = render(&body(), Verbosity::Detailed).unwrap();
        assert!(!text.contains("\u{1b}[2J"));
        assert!(text.contains("\u{1b}["), "coloured");
    }
}
