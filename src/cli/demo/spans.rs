//! Spans as they were captured -> spans as the OpenTelemetry SDK keeps them, moved to the present.

use std::borrow::Cow;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use opentelemetry::trace::{
    Event, Link, SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState,
};
use opentelemetry::{Array, InstrumentationScope, KeyValue, StringValue, Value};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};

use super::DemoError;
use crate::model::Timestamp;
use crate::otlp::{self, ScopeView, SpanView, StatusCode};

/// What the SDK sends in one request.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) resource: Resource,
    pub(super) spans: Vec<SpanData>,
}

/// The requests of one run, so moved in time that its last span ends at `now`.
pub(super) fn requests(bodies: &[Bytes], now: Timestamp) -> Result<Vec<Request>, DemoError> {
    let mut end = Timestamp::ZERO;
    for body in bodies {
        read(body, |seen| end = end.max(seen.span.end()))?;
    }
    let mut maker = Maker {
        moved: Moved { end, now },
        resources: Vec::new(),
        unsendable: None,
    };
    let mut requests = Vec::new();
    for body in bodies {
        let first = requests.len();
        read(body, |seen| {
            let resource = maker.resource(seen.resource.attributes());
            let span = maker.span(seen.scope, seen.span);
            match requests.get_mut(first..).and_then(<[Request]>::last_mut) {
                Some(open) if open.resource == resource => open.spans.push(span),
                _ => requests.push(Request {
                    resource,
                    spans: vec![span],
                }),
            }
        })?;
    }
    match maker.unsendable {
        None => Ok(requests),
        Some(key) => Err(DemoError::Data(format!(
            "the SDK has no value such as that of `{key}`"
        ))),
    }
}

fn read(body: &Bytes, visit: impl FnMut(&otlp::Seen<'_>)) -> Result<(), DemoError> {
    let readout =
        otlp::read(body.clone(), visit).map_err(|error| DemoError::Data(error.to_string()))?;
    match readout.malformed.first {
        None => Ok(()),
        Some(first) => Err(DemoError::Data(first)),
    }
}

/// Where a time lies when the run ends now.
#[derive(Clone, Copy, Debug)]
struct Moved {
    end: Timestamp,
    now: Timestamp,
}

impl Moved {
    fn time(self, then: Timestamp) -> SystemTime {
        let now = self.now.minus(self.end.since(then));
        UNIX_EPOCH + Duration::from_nanos(now.nanos())
    }
}

struct Maker {
    moved: Moved,
    /// One for all spans that name it, as in an SDK: the order of its attributes is that of a hash table.
    resources: Vec<(Vec<KeyValue>, Resource)>,
    /// Key of a value that the SDK does not have.
    unsendable: Option<String>,
}

impl Maker {
    fn resource<'a>(
        &mut self,
        attributes: impl Iterator<Item = (&'a str, otlp::Value<'a>)>,
    ) -> Resource {
        let attributes = self.attributes(attributes);
        let known = self.resources.iter().find(|(of, _)| *of == attributes);
        if let Some((_, resource)) = known {
            return resource.clone();
        }
        let resource = Resource::builder_empty()
            .with_attributes(attributes.iter().cloned())
            .build();
        self.resources.push((attributes, resource.clone()));
        resource
    }

    fn scope(&mut self, scope: &ScopeView<'_>) -> InstrumentationScope {
        let mut builder = InstrumentationScope::builder(scope.name().to_owned())
            .with_attributes(self.attributes(scope.attributes()));
        if !scope.version().is_empty() {
            builder = builder.with_version(scope.version().to_owned());
        }
        if !scope.schema_url().is_empty() {
            builder = builder.with_schema_url(scope.schema_url().to_owned());
        }
        builder.build()
    }

    fn span(&mut self, scope: &ScopeView<'_>, span: &SpanView<'_>) -> SpanData {
        let parent = span.parent_span_id();
        SpanData {
            span_context: context(
                TraceId::from_bytes(*span.trace_id().as_bytes()),
                SpanId::from_bytes(*span.span_id().as_bytes()),
            ),
            parent_span_id: parent.map_or(SpanId::INVALID, |id| SpanId::from_bytes(*id.as_bytes())),
            parent_span_is_remote: false,
            span_kind: match span.kind() {
                otlp::SpanKind::Server => SpanKind::Server,
                otlp::SpanKind::Client => SpanKind::Client,
                otlp::SpanKind::Producer => SpanKind::Producer,
                otlp::SpanKind::Consumer => SpanKind::Consumer,
                _ => SpanKind::Internal,
            },
            name: Cow::Owned(span.name().to_owned()),
            start_time: self.moved.time(span.start()),
            end_time: self.moved.time(span.end()),
            attributes: self.attributes(span.attributes()),
            dropped_attributes_count: 0,
            events: self.events(span),
            links: self.links(span),
            status: match span.status().code {
                StatusCode::Unset => Status::Unset,
                StatusCode::Ok => Status::Ok,
                StatusCode::Error => Status::error(span.status().message.to_owned()),
            },
            instrumentation_scope: self.scope(scope),
        }
    }

    fn events(&mut self, span: &SpanView<'_>) -> SpanEvents {
        let mut events = SpanEvents::default();
        for event in span.events() {
            let attributes = self.attributes(event.attributes());
            let time = self.moved.time(event.time());
            let name = event.name().to_owned();
            events.events.push(Event::new(name, time, attributes, 0));
        }
        events
    }

    fn links(&mut self, span: &SpanView<'_>) -> SpanLinks {
        let mut links = SpanLinks::default();
        for link in span.links() {
            if let (Some(trace), Some(span)) = (link.trace_id(), link.span_id()) {
                let context = context(
                    TraceId::from_bytes(*trace.as_bytes()),
                    SpanId::from_bytes(*span.as_bytes()),
                );
                let attributes = self.attributes(link.attributes());
                links.links.push(Link::new(context, attributes, 0));
            }
        }
        links
    }

    fn attributes<'a>(
        &mut self,
        attributes: impl Iterator<Item = (&'a str, otlp::Value<'a>)>,
    ) -> Vec<KeyValue> {
        let mut made = Vec::new();
        for (key, sent) in attributes {
            match value(sent) {
                Some(value) => made.push(KeyValue::new(key.to_owned(), value)),
                None => self.unsendable = Some(key.to_owned()),
            }
        }
        made
    }
}

fn context(trace: TraceId, span: SpanId) -> SpanContext {
    SpanContext::new(trace, span, TraceFlags::SAMPLED, false, TraceState::NONE)
}

fn value(sent: otlp::Value<'_>) -> Option<Value> {
    Some(match sent {
        otlp::Value::Str(text) => Value::String(text.to_owned().into()),
        otlp::Value::Bool(truth) => Value::Bool(truth),
        otlp::Value::Int(number) => Value::I64(number),
        otlp::Value::Double(number) => Value::F64(number),
        otlp::Value::Array(array) => Value::Array(list(array)?),
        otlp::Value::Empty | otlp::Value::Bytes(_) | otlp::Value::Map(_) => return None,
    })
}

/// The SDK's arrays hold values of one kind.
fn list(array: otlp::ArrayView<'_>) -> Option<Array> {
    let texts = array.iter().map(|item| item.as_str());
    let texts: Option<Vec<StringValue>> = texts
        .map(|text| text.map(|text| StringValue::from(text.to_owned())))
        .collect();
    let numbers = || -> Option<Vec<i64>> { array.iter().map(|item| item.as_int()).collect() };
    texts
        .map(Array::String)
        .or_else(|| numbers().map(Array::I64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::demo::cases;

    const NOW: Timestamp = Timestamp::from_nanos(1_900_000_000_000_000_000);

    #[test]
    fn nothing_of_a_run_is_left_behind() {
        for case in cases::load().unwrap() {
            let mut captured = Vec::new();
            for body in &case.bodies {
                read(body, |seen| {
                    captured.push((
                        seen.span.name().to_owned(),
                        seen.span.attributes().count(),
                        seen.span.events().count(),
                        seen.span.end().since(seen.span.start()),
                    ));
                })
                .unwrap();
            }
            let requests = requests(&case.bodies, NOW).unwrap();
            assert!(requests.len() >= case.bodies.len());
            let spans = requests.iter().flat_map(|request| &request.spans);
            let made: Vec<_> = spans
                .map(|span| {
                    (
                        span.name.to_string(),
                        span.attributes.len(),
                        span.events.len(),
                        span.end_time.duration_since(span.start_time).unwrap(),
                    )
                })
                .collect();
            assert_eq!(made, captured, "{}", case.title);
        }
    }

    #[test]
    fn a_run_ends_now_and_has_one_resource() {
        for case in cases::load().unwrap() {
            let requests = requests(&case.bodies, NOW).unwrap();
            let spans = requests.iter().flat_map(|request| &request.spans);
            let end = spans.map(|span| span.end_time).max().unwrap();
            assert_eq!(end, UNIX_EPOCH + Duration::from_nanos(NOW.nanos()));
            let order = |request: &Request| -> Vec<String> {
                let attributes = request.resource.iter();
                attributes.map(|(key, _)| key.to_string()).collect()
            };
            assert!(requests.iter().all(|r| order(r) == order(&requests[0])));
        }
    }
}
