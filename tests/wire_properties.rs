//! The promise of passing everything on, held against opentelemetry-proto (prost) as the oracle.
#![expect(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test may stop at the first surprise"
)]

mod wire;

use std::ops::Range;

use agent_sentinel::model::{Patch, Release, Selection, Timestamp};
use agent_sentinel::otlp::{
    AttributeValue, Entries, PatchWriter, Reason, Seen, SpanKind, StatusCode, Value, count_spans,
    halve, pack, pack_within, read, to_json, transcode,
};
use bytes::Bytes;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::Span;
use proptest::prelude::*;
use prost::Message;
use smallvec::SmallVec;
use wire::{Content, Kind, Node, encode, parse, placed, request, shake};

/// Another encoding of a request.
fn shaken(request: &ExportTraceServiceRequest, seed: u64) -> Bytes {
    let nodes = parse(Kind::Request, &request.encode_to_vec());
    Bytes::from(encode(&shake(
        Kind::Request,
        nodes,
        &mut fastrand::Rng::with_seed(seed),
    )))
}

fn decode(body: &[u8]) -> ExportTraceServiceRequest {
    ExportTraceServiceRequest::decode(body).unwrap()
}

/// Doubles compare by their bits, so messages do by their bytes.
fn assert_same(left: &ExportTraceServiceRequest, right: &ExportTraceServiceRequest) {
    if left.encode_to_vec() != right.encode_to_vec() {
        assert_eq!(left, right);
        panic!("NaN differs");
    }
}

fn owned_value(value: Value<'_>) -> AnyValue {
    use any_value::Value as Owned;
    let value = match value {
        Value::Empty => None,
        Value::Str(text) => Some(Owned::StringValue(text.to_owned())),
        Value::Bool(truth) => Some(Owned::BoolValue(truth)),
        Value::Int(number) => Some(Owned::IntValue(number)),
        Value::Double(number) => Some(Owned::DoubleValue(number)),
        Value::Bytes(bytes) => Some(Owned::BytesValue(bytes.to_vec())),
        Value::Array(array) => Some(Owned::ArrayValue(
            opentelemetry_proto::tonic::common::v1::ArrayValue {
                values: array.iter().map(owned_value).collect(),
            },
        )),
        Value::Map(map) => Some(Owned::KvlistValue(
            opentelemetry_proto::tonic::common::v1::KeyValueList {
                values: owned(map.iter()),
            },
        )),
    };
    AnyValue { value }
}

fn owned<'a>(entries: impl Iterator<Item = (&'a str, Value<'a>)>) -> Vec<KeyValue> {
    let entry = |(key, value): (&str, Value<'_>)| KeyValue {
        key: key.to_owned(),
        value: Some(owned_value(value)),
        ..KeyValue::default()
    };
    entries.map(entry).collect()
}

fn event_attributes(entries: Entries<'_>) -> Vec<KeyValue> {
    owned(entries)
}

/// What views show of a span and its surroundings, as prost types.
#[derive(Debug)]
#[expect(dead_code, reason = "compared as printed, since doubles may be NaN")]
struct Shown {
    resource: Vec<KeyValue>,
    urls: (String, String),
    scope: (String, String, Vec<KeyValue>),
    span: Span,
}

impl Shown {
    /// Without what views do not tell apart: an unset value and an empty one.
    fn comparable(&self) -> String {
        format!("{self:?}").replace("Some(AnyValue { value: None })", "None")
    }
}

fn shown(seen: &Seen<'_>) -> Shown {
    let span = seen.span;
    let kind = match span.kind() {
        SpanKind::Unspecified => 0,
        SpanKind::Internal => 1,
        SpanKind::Server => 2,
        SpanKind::Client => 3,
        SpanKind::Producer => 4,
        SpanKind::Consumer => 5,
        SpanKind::Other(other) => other,
    };
    let code = match span.status().code {
        StatusCode::Unset => 0,
        StatusCode::Ok => 1,
        StatusCode::Error => 2,
    };
    Shown {
        resource: owned(seen.resource.attributes()),
        urls: (
            seen.resource.schema_url().to_owned(),
            seen.scope.schema_url().to_owned(),
        ),
        scope: (
            seen.scope.name().to_owned(),
            seen.scope.version().to_owned(),
            owned(seen.scope.attributes()),
        ),
        span: Span {
            trace_id: span.trace_id().as_bytes().to_vec(),
            span_id: span.span_id().as_bytes().to_vec(),
            parent_span_id: span
                .parent_span_id()
                .map(|id| id.as_bytes().to_vec())
                .unwrap_or_default(),
            name: span.name().to_owned(),
            kind,
            start_time_unix_nano: span.start().nanos(),
            end_time_unix_nano: span.end().nanos(),
            attributes: owned(span.attributes()),
            events: span
                .events()
                .map(|event| opentelemetry_proto::tonic::trace::v1::span::Event {
                    time_unix_nano: event.time().nanos(),
                    name: event.name().to_owned(),
                    attributes: event_attributes(event.attributes()),
                    ..Default::default()
                })
                .collect(),
            links: span
                .links()
                .map(|link| opentelemetry_proto::tonic::trace::v1::span::Link {
                    trace_id: link.trace_id().map_or(vec![], |id| id.as_bytes().to_vec()),
                    span_id: link.span_id().map_or(vec![], |id| id.as_bytes().to_vec()),
                    attributes: event_attributes(link.attributes()),
                    ..Default::default()
                })
                .collect(),
            status: Some(opentelemetry_proto::tonic::trace::v1::Status {
                code,
                message: span.status().message.to_owned(),
            }),
            ..Span::default()
        },
    }
}

/// The same from a decoded request.
fn expected(request: &ExportTraceServiceRequest) -> Vec<Shown> {
    let unless_zero = |id: &Vec<u8>| {
        if id.iter().all(|byte| *byte == 0) {
            vec![]
        } else {
            id.clone()
        }
    };
    let mut out = Vec::new();
    for resource in &request.resource_spans {
        for scope in &resource.scope_spans {
            for span in &scope.spans {
                let mut span = span.clone();
                span.parent_span_id = unless_zero(&span.parent_span_id);
                span.trace_state.clear();
                span.flags = 0;
                span.dropped_attributes_count = 0;
                span.dropped_events_count = 0;
                span.dropped_links_count = 0;
                for event in &mut span.events {
                    event.dropped_attributes_count = 0;
                }
                for link in &mut span.links {
                    link.trace_id = unless_zero(&link.trace_id);
                    link.span_id = unless_zero(&link.span_id);
                    link.trace_state.clear();
                    link.flags = 0;
                    link.dropped_attributes_count = 0;
                }
                let status = span.status.get_or_insert_default();
                if !(0..=2).contains(&status.code) {
                    status.code = 0;
                }
                let head = scope.scope.clone().unwrap_or_default();
                out.push(Shown {
                    resource: resource.resource.clone().unwrap_or_default().attributes,
                    urls: (resource.schema_url.clone(), scope.schema_url.clone()),
                    scope: (head.name, head.version, head.attributes),
                    span,
                });
            }
        }
    }
    out
}

fn release(body: &Bytes, spans: Selection, patches: Vec<Patch>) -> Release {
    let all = count_spans(body);
    Release {
        count: (0..all).filter(|span| spans.contains(*span)).count() as u32,
        body: body.clone(),
        spans,
        patches,
        synthetic: false,
    }
}

/// The selection of the spans that are in this group.
fn group_of(groups: &[u8], group: u8) -> Selection {
    let mut ranges = SmallVec::<[Range<u32>; 2]>::new();
    for (index, _) in groups.iter().enumerate().filter(|(_, g)| **g == group) {
        let index = index as u32;
        match ranges.last_mut() {
            Some(last) if last.end == index => last.end += 1,
            _ => ranges.push(index..index + 1),
        }
    }
    Selection::Ranges(ranges)
}

fn patch(number: u8) -> Bytes {
    let mut writer = PatchWriter::new();
    for n in 0..number % 4 {
        writer = writer
            .attribute(
                "sentinel.text",
                AttributeValue::Str(&"x".repeat(usize::from(number))),
            )
            .attribute("sentinel.int", AttributeValue::Int(-i64::from(n)))
            .attribute("sentinel.double", AttributeValue::Double(0.5))
            .attribute("sentinel.bool", AttributeValue::Bool(n == 0))
            .event(
                "sentinel.anomaly",
                Timestamp::from_nanos(u64::from(number)),
                &[
                    ("a", AttributeValue::Int(1)),
                    ("b", AttributeValue::Bool(false)),
                ],
            );
    }
    if number.is_multiple_of(5) {
        writer = writer.status(StatusCode::Error, "stuck");
    }
    writer.finish()
}

/// Patches for some of the spans.
fn patches(count: usize, seed: u64) -> Vec<Patch> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..count as u32)
        .filter(|_| random.bool())
        .map(|span| Patch {
            span,
            bytes: patch(span.to_le_bytes()[0].wrapping_mul(37)),
        })
        .collect()
}

fn patched(spans: Vec<wire::Placed>, patches: &[Patch]) -> Vec<wire::Placed> {
    let mut spans = spans;
    for patch in patches {
        spans[patch.span as usize].2.extend_from_slice(&patch.bytes);
    }
    spans
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Any encoding of any valid request passes as it is, and views show what prost decodes.
    #[test]
    fn r_14_any_valid_request_passes_and_is_understood(request in request(), seed: u64) {
        let body = shaken(&request, seed);
        assert_same(&decode(&body), &request);
        let mut spans = Vec::new();
        let readout = read(body.clone(), |seen| {
            assert_eq!(seen.index as usize, spans.len());
            spans.push(shown(seen));
        }).unwrap();
        let expected = expected(&request);
        prop_assert_eq!(spans.len(), expected.len());
        for (ours, theirs) in spans.iter().zip(&expected) {
            prop_assert_eq!(ours.comparable(), theirs.comparable());
        }
        prop_assert_eq!(readout.malformed.total(), 0);
        prop_assert_eq!(readout.spans as usize, expected.len());
        prop_assert_eq!(readout.spans, count_spans(&body));
        let packed = pack(&release(&readout.body, Selection::All, vec![]));
        prop_assert_eq!(packed.as_ptr(), body.as_ptr());
        prop_assert_eq!(packed.len(), body.len());
    }

    /// Patches are what decode, append, encode would make, and no other byte of a span or envelope changes.
    #[test]
    fn patches_append_and_change_nothing_else(request in request(), seed: u64) {
        let body = shaken(&request, seed);
        let patches = patches(count_spans(&body) as usize, seed);
        let packed = pack(&release(&body, Selection::All, patches.clone()));
        let mut merged = request;
        let mut index = 0;
        for resource in &mut merged.resource_spans {
            for scope in &mut resource.scope_spans {
                for span in &mut scope.spans {
                    if let Some(patch) = patches.iter().find(|patch| patch.span == index) {
                        span.merge(patch.bytes.clone()).unwrap();
                    }
                    index += 1;
                }
            }
        }
        assert_same(&decode(&packed), &merged);
        prop_assert_eq!(placed(&packed), patched(placed(&body), &patches));
        let unknown = |body: &[u8]| {
            let all = parse(Kind::Request, body).into_iter();
            all.filter(|node| !matches!(node.content, Content::Message(..))).collect::<Vec<Node>>()
        };
        prop_assert_eq!(unknown(&packed), unknown(&body));
    }

    /// However spans are parted, each leaves once, patched, in its own envelopes.
    #[test]
    fn v_05_parts_hold_each_span_once_with_its_envelopes(
        request in request(), seed: u64, groups in proptest::collection::vec(0..3u8, 64),
    ) {
        let body = shaken(&request, seed);
        let all = placed(&body);
        let groups = &groups[..all.len().min(64)];
        prop_assume!(groups.len() == all.len());
        let patches = patches(all.len(), seed);
        let all = patched(all, &patches);
        for group in 0..3 {
            let chosen = release(&body, group_of(groups, group), patches.clone());
            let packed = pack(&chosen);
            let expected: Vec<_> = all
                .iter()
                .zip(groups)
                .filter(|(_, g)| **g == group)
                .map(|(span, _)| span.clone())
                .collect();
            prop_assert_eq!(placed(&packed), expected);
            prop_assert_eq!(count_spans(&packed), chosen.count);
            decode(&packed);
        }
    }

    /// Cut to any size: nothing is lost, doubled or out of place, and only a lone span may be larger.
    #[test]
    fn e_07_pieces_fit_and_hold_each_span_once(request in request(), seed: u64, max in 0..4000usize) {
        let body = shaken(&request, seed);
        let all = placed(&body);
        let patches = patches(all.len(), seed);
        let pieces = pack_within(&release(&body, Selection::All, patches.clone()), max);
        let mut spans = Vec::new();
        for piece in &pieces {
            decode(&piece.body);
            prop_assert_eq!(piece.spans, count_spans(&piece.body));
            if piece.spans > 0 {
                prop_assert_eq!(piece.oversize, piece.body.len() > max);
            }
            prop_assert!(!piece.oversize || piece.spans == 1);
            spans.extend(placed(&piece.body));
        }
        let expected = patched(all, &patches);
        if pieces.len() == 1 {
            prop_assert_eq!(&spans, &expected);
        } else {
            // Envelopes are put together anew: their own fields in their order, then the spans.
            prop_assert_eq!(spans, expected);
        }
    }

    /// Halving down to single spans ends, and loses nothing.
    #[test]
    fn halves_of_halves_are_the_spans(request in request(), seed: u64) {
        let body = shaken(&request, seed);
        let mut open = vec![body.clone()];
        let mut single = Vec::new();
        while let Some(body) = open.pop() {
            match halve(&body) {
                Some((left, right)) => open.extend([right, left]),
                None => single.extend(placed(&body)),
            }
        }
        prop_assert_eq!(single, placed(&body));
    }

    /// Malformed spans go, by themselves, and are counted exactly.
    #[test]
    fn v_01_malformed_spans_take_no_neighbour_along(request in request(), seed: u64, at in proptest::collection::vec((any::<prop::sample::Index>(), 0..BAD.len()), 0..6)) {
        let mut nodes = parse(Kind::Request, &shaken(&request, seed));
        let mut scopes = scopes(&mut nodes);
        prop_assume!(!scopes.is_empty());
        let mut expected = Vec::new();
        for (place, bad) in at {
            let place = place.index(scopes.len());
            let scope = &mut scopes[place];
            let position = seed as usize % (scope.len() + 1);
            let (reason, span) = BAD[bad];
            scope.insert(position, Node { number: 2, content: Content::Bytes(span()) });
            expected.push(reason);
        }
        drop(scopes);
        let body = Bytes::from(encode(&nodes));
        let mut seen = 0;
        let readout = read(body, |at| {
            assert_eq!(at.index, seen);
            seen += 1;
        }).unwrap();
        prop_assert_eq!(readout.spans, seen);
        prop_assert_eq!(readout.malformed.total(), expected.len() as u64);
        prop_assert_eq!(readout.malformed.first.is_some(), !expected.is_empty());
        for (reason, count) in readout.malformed.by_reason {
            prop_assert_eq!(expected.iter().filter(|r| **r == reason).count() as u64, count);
        }
        let mut before = request;
        let mut after = decode(&readout.body);
        without_empty(&mut before);
        without_empty(&mut after);
        assert_same(&after, &before);
    }

    /// Whatever the bytes: no panic; and what prost decodes we read, what we pass on it decodes.
    #[test]
    fn no_bytes_panic_and_prost_agrees(request in request(), seed: u64, flips in 0..4usize) {
        let mut body = shaken(&request, seed).to_vec();
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..flips {
            match random.u8(..3) {
                0 if !body.is_empty() => {
                    let place = random.usize(..body.len());
                    body[place] = random.u8(..);
                }
                1 => body.truncate(random.usize(..=body.len())),
                _ => body.insert(random.usize(..=body.len()), random.u8(..)),
            }
        }
        all_of_it(&Bytes::from(body))?;
    }

    #[test]
    fn random_bytes_never_panic(body in proptest::collection::vec(any::<u8>(), 0..300)) {
        all_of_it(&Bytes::from(body))?;
    }

    /// JSON as opentelemetry-proto writes it becomes what it encodes.
    #[test]
    fn j_json_becomes_the_same_message(request in request()) {
        let json = serde_json::to_string(&finite(request.clone())).unwrap();
        let body = transcode(json.as_bytes()).unwrap();
        assert_same(&decode(&body), &finite(request));
    }

    /// Protobuf to JSON and back loses nothing that JSON can carry.
    #[test]
    fn j_json_and_back_is_the_same_message(request in request(), seed: u64) {
        let json = to_json(&shaken(&request, seed)).unwrap();
        serde_json::from_str::<serde_json::Value>(&json).unwrap();
        prop_assert!(!json.contains('\n'));
        let back = transcode(json.as_bytes()).unwrap();
        assert_same(&decode(&back), &canonical_nan(request));
    }

    /// Torn JSON never panics.
    #[test]
    fn no_json_panics(request in request(), seed: u64, noise in ".{0,8}") {
        let mut json = to_json(&request.encode_to_vec()).unwrap();
        let mut random = fastrand::Rng::with_seed(seed);
        let place = json.floor_char_boundary(random.usize(..=json.len()));
        if random.bool() {
            json.insert_str(place, &noise);
        } else {
            json.truncate(place);
        }
        if let Ok(body) = transcode(json.as_bytes()) {
            read(body, |_| {}).unwrap();
        }
        let _ = transcode(noise.as_bytes());
    }
}

/// A reason, and a span that has it.
type Bad = (Reason, fn() -> Vec<u8>);

/// Spans that are malformed.
const BAD: [Bad; 9] = [
    (Reason::TraceId, || bad(|span| span.trace_id = vec![1; 15])),
    (Reason::TraceId, || bad(|span| span.trace_id.clear())),
    (Reason::SpanId, || bad(|span| span.span_id = vec![0; 8])),
    (Reason::ParentSpanId, || {
        bad(|span| span.parent_span_id = vec![1; 7])
    }),
    (Reason::Link, || {
        bad(|span| {
            span.links = vec![opentelemetry_proto::tonic::trace::v1::span::Link {
                span_id: vec![1],
                ..Default::default()
            }];
        })
    }),
    (Reason::Utf8, || {
        [bad(|_| {}), vec![0x2a, 2, 0xc3, 0x28]].concat()
    }),
    (Reason::Frame, || {
        [bad(|_| {}), vec![0x2a, 5, b'x']].concat()
    }),
    (Reason::Frame, || [bad(|_| {}), vec![0x28, 1]].concat()),
    (Reason::Nesting, || {
        let mut value = AnyValue::default();
        for _ in 0..64 {
            let array = opentelemetry_proto::tonic::common::v1::ArrayValue {
                values: vec![value],
            };
            value = AnyValue {
                value: Some(any_value::Value::ArrayValue(array)),
            };
        }
        bad(|span| {
            span.attributes.push(KeyValue {
                value: Some(value),
                ..KeyValue::default()
            });
        })
    }),
];

fn bad(spoil: impl FnOnce(&mut Span)) -> Vec<u8> {
    let mut span = Span {
        trace_id: vec![1; 16],
        span_id: vec![2; 8],
        ..Span::default()
    };
    spoil(&mut span);
    span.encode_to_vec()
}

/// The fields of every ScopeSpans.
fn scopes(nodes: &mut [Node]) -> Vec<&mut Vec<Node>> {
    let mut found = Vec::new();
    for node in nodes {
        match &mut node.content {
            Content::Message(Kind::ScopeSpans, inner) => found.push(inner),
            Content::Message(_, inner) => found.extend(scopes(inner)),
            _ => {}
        }
    }
    found
}

fn without_empty(request: &mut ExportTraceServiceRequest) {
    for resource in &mut request.resource_spans {
        resource.scope_spans.retain(|scope| !scope.spans.is_empty());
    }
    let resources = &mut request.resource_spans;
    resources.retain(|resource| !resource.scope_spans.is_empty());
}

fn all_of_it(body: &Bytes) -> Result<(), TestCaseError> {
    let readout = read(body.clone(), |seen| drop(shown(seen)));
    let json = to_json(body);
    let _ = halve(body);
    let everything = release(
        body,
        Selection::All,
        vec![Patch {
            span: 0,
            bytes: patch(9),
        }],
    );
    let _ = (pack(&everything), pack_within(&everything, 100));
    let part = release(
        body,
        Selection::Ranges(std::iter::once(1..3).collect()),
        vec![],
    );
    let _ = (pack(&part), pack_within(&part, 100), transcode(body));
    let oracle = ExportTraceServiceRequest::decode(body.clone());
    match (readout, oracle) {
        (Err(_), oracle) => prop_assert!(oracle.is_err()),
        (Ok(readout), oracle) => {
            prop_assert!(ExportTraceServiceRequest::decode(readout.body.clone()).is_ok());
            let mut again = 0;
            let second = read(readout.body.clone(), |_| again += 1).unwrap();
            prop_assert_eq!((again, second.malformed.total()), (readout.spans, 0));
            prop_assert_eq!(second.body.as_ptr(), readout.body.as_ptr());
            prop_assert!(to_json(&readout.body).is_ok());
            for (reason, _) in &readout.malformed.by_reason {
                if matches!(reason, Reason::Utf8 | Reason::Frame) {
                    prop_assert!(oracle.is_err());
                }
            }
            if oracle.is_err() {
                // An envelope without spans may be what was broken.
                prop_assert!(readout.malformed.total() > 0 || readout.body != *body);
            } else {
                prop_assert!(json.is_ok());
            }
        }
    }
    Ok(())
}

/// The stock writer has no form for doubles that are no numbers.
fn finite(request: ExportTraceServiceRequest) -> ExportTraceServiceRequest {
    each_double(
        request,
        |number| if number.is_finite() { number } else { 0.25 },
    )
}

/// JSON has one NaN.
fn canonical_nan(request: ExportTraceServiceRequest) -> ExportTraceServiceRequest {
    each_double(
        request,
        |number| if number.is_nan() { f64::NAN } else { number },
    )
}

fn each_double(
    mut request: ExportTraceServiceRequest,
    change: impl Fn(f64) -> f64,
) -> ExportTraceServiceRequest {
    fn value(any: &mut AnyValue, change: &impl Fn(f64) -> f64) {
        match &mut any.value {
            Some(any_value::Value::DoubleValue(number)) => *number = change(*number),
            Some(any_value::Value::ArrayValue(array)) => {
                array.values.iter_mut().for_each(|any| value(any, change));
            }
            Some(any_value::Value::KvlistValue(map)) => entries(&mut map.values, change),
            _ => {}
        }
    }
    fn entries(all: &mut [KeyValue], change: &impl Fn(f64) -> f64) {
        let values = all.iter_mut().filter_map(|entry| entry.value.as_mut());
        values.for_each(|any| value(any, change));
    }
    for resource in &mut request.resource_spans {
        if let Some(resource) = &mut resource.resource {
            entries(&mut resource.attributes, &change);
        }
        for scope in &mut resource.scope_spans {
            if let Some(scope) = &mut scope.scope {
                entries(&mut scope.attributes, &change);
            }
            for span in &mut scope.spans {
                entries(&mut span.attributes, &change);
                span.events
                    .iter_mut()
                    .for_each(|e| entries(&mut e.attributes, &change));
                span.links
                    .iter_mut()
                    .for_each(|l| entries(&mut l.attributes, &change));
            }
        }
    }
    request
}
