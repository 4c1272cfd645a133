//! What the wire tests share: any request, and a tree of its fields that can be shaken and torn without
//! changing what it means.

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{
    AnyValue, ArrayValue, EntityRef, InstrumentationScope, KeyValue, KeyValueList, any_value::Value,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::span::{Event, Link};
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        "[a-z.]{1,12}",
        any::<String>(),
        "x{100,300}"
    ]
}

fn value() -> impl Strategy<Value = AnyValue> {
    let leaf = prop_oneof![
        Just(None),
        text().prop_map(|text| Some(Value::StringValue(text))),
        any::<bool>().prop_map(|truth| Some(Value::BoolValue(truth))),
        any::<i64>().prop_map(|number| Some(Value::IntValue(number))),
        any::<f64>().prop_map(|number| Some(Value::DoubleValue(number))),
        vec(any::<u8>(), 0..9).prop_map(|bytes| Some(Value::BytesValue(bytes))),
    ]
    .prop_map(|value| AnyValue { value });
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(|values| AnyValue {
                value: Some(Value::ArrayValue(ArrayValue { values })),
            }),
            vec((text(), option::of(inner)), 0..4).prop_map(|entries| {
                let values = entries.into_iter().map(entry).collect();
                AnyValue {
                    value: Some(Value::KvlistValue(KeyValueList { values })),
                }
            }),
        ]
    })
}

fn entry((key, value): (String, Option<AnyValue>)) -> KeyValue {
    KeyValue {
        key,
        value,
        ..KeyValue::default()
    }
}

fn attributes() -> impl Strategy<Value = Vec<KeyValue>> {
    vec(
        (text(), option::weighted(0.9, value())).prop_map(entry),
        0..4,
    )
}

fn id<const N: usize>() -> impl Strategy<Value = Vec<u8>> {
    any::<[u8; N]>().prop_filter_map("zero", |id| (id != [0; N]).then(|| id.to_vec()))
}

fn id_or_none<const N: usize>() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![Just(Vec::new()), id::<N>(), Just(vec![0; N])]
}

fn event() -> impl Strategy<Value = Event> {
    (any::<u64>(), text(), attributes(), 0..3u32).prop_map(|(time, name, attributes, dropped)| {
        Event {
            time_unix_nano: time,
            name,
            attributes,
            dropped_attributes_count: dropped,
        }
    })
}

fn link() -> impl Strategy<Value = Link> {
    (
        id_or_none::<16>(),
        id_or_none::<8>(),
        text(),
        attributes(),
        any::<u32>(),
    )
        .prop_map(|(trace_id, span_id, trace_state, attributes, flags)| Link {
            trace_id,
            span_id,
            trace_state,
            attributes,
            flags,
            ..Link::default()
        })
}

/// Any valid span.
pub(crate) fn span() -> impl Strategy<Value = Span> {
    let ids = (id::<16>(), id::<8>(), id_or_none::<8>());
    let head = (
        text(),
        text(),
        0..7i32,
        any::<u64>(),
        any::<u64>(),
        any::<u32>(),
    );
    let lists = (attributes(), vec(event(), 0..3), vec(link(), 0..2));
    let status = option::of((0..4i32, text()));
    (ids, head, lists, status).prop_map(|(ids, head, lists, status)| Span {
        trace_id: ids.0,
        span_id: ids.1,
        parent_span_id: ids.2,
        name: head.0,
        trace_state: head.1,
        kind: head.2,
        start_time_unix_nano: head.3,
        end_time_unix_nano: head.4,
        flags: head.5,
        dropped_attributes_count: head.5 % 3,
        dropped_events_count: head.5 % 2,
        dropped_links_count: head.5 % 5,
        attributes: lists.0,
        events: lists.1,
        links: lists.2,
        status: status.map(|(code, message)| Status { code, message }),
    })
}

fn scope_spans() -> impl Strategy<Value = ScopeSpans> {
    let scope = (text(), text(), attributes()).prop_map(|(name, version, attributes)| {
        InstrumentationScope {
            name,
            version,
            attributes,
            dropped_attributes_count: 1,
        }
    });
    (option::of(scope), vec(span(), 0..4), text()).prop_map(|(scope, spans, schema_url)| {
        ScopeSpans {
            scope,
            spans,
            schema_url,
        }
    })
}

fn resource_spans() -> impl Strategy<Value = ResourceSpans> {
    let entity =
        (text(), text(), vec(text(), 0..3)).prop_map(|(schema_url, kind, keys)| EntityRef {
            schema_url,
            r#type: kind,
            id_keys: keys.clone(),
            description_keys: keys,
        });
    let resource =
        (attributes(), vec(entity, 0..2)).prop_map(|(attributes, entity_refs)| Resource {
            attributes,
            dropped_attributes_count: 0,
            entity_refs,
        });
    (option::of(resource), vec(scope_spans(), 0..3), text()).prop_map(
        |(resource, scope_spans, schema_url)| ResourceSpans {
            resource,
            scope_spans,
            schema_url,
        },
    )
}

/// Any valid request.
pub(crate) fn request() -> impl Strategy<Value = ExportTraceServiceRequest> {
    vec(resource_spans(), 0..4)
        .prop_map(|resource_spans| ExportTraceServiceRequest { resource_spans })
}

/// Messages that are looked into.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Request,
    ResourceSpans,
    Resource,
    ScopeSpans,
    Scope,
    Span,
    Event,
    Link,
    Status,
    KeyValue,
    AnyValue,
    Array,
    Map,
}

impl Kind {
    fn child(self, number: u32) -> Option<Self> {
        Some(match (self, number) {
            (Self::Request, 1) => Self::ResourceSpans,
            (Self::ResourceSpans, 1) => Self::Resource,
            (Self::ResourceSpans, 2) => Self::ScopeSpans,
            (Self::ScopeSpans, 1) => Self::Scope,
            (Self::ScopeSpans, 2) => Self::Span,
            (Self::Resource, 1) | (Self::Scope, 3) => Self::KeyValue,
            (Self::Span, 9) | (Self::Event, 3) | (Self::Link, 4) | (Self::Map, 1) => Self::KeyValue,
            (Self::Span, 11) => Self::Event,
            (Self::Span, 13) => Self::Link,
            (Self::Span, 15) => Self::Status,
            (Self::KeyValue, 2) | (Self::Array, 1) => Self::AnyValue,
            (Self::AnyValue, 5) => Self::Array,
            (Self::AnyValue, 6) => Self::Map,
            _ => return None,
        })
    }

    /// Whether protobuf merges several fields of this kind in this parent.
    fn merges(self, parent: Self) -> bool {
        match self {
            Self::Resource | Self::Scope | Self::Status | Self::Map => true,
            Self::Array => parent == Self::AnyValue,
            Self::AnyValue => parent == Self::KeyValue,
            _ => false,
        }
    }
}

/// A field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) number: u32,
    pub(crate) content: Content,
}

/// What a field holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    Varint(u64),
    Fixed64([u8; 8]),
    Fixed32([u8; 4]),
    Bytes(Vec<u8>),
    Message(Kind, Vec<Node>),
    /// Tag and all, as it is.
    Raw(Vec<u8>),
}

fn take_varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for place in 0.. {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        value |= u64::from(byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            break;
        }
    }
    value
}

fn skip_value(bytes: &mut &[u8], wire_type: u64) {
    match wire_type {
        0 => drop(take_varint(bytes)),
        1 => *bytes = &bytes[8..],
        2 => {
            let len = usize::try_from(take_varint(bytes)).unwrap();
            *bytes = &bytes[len..];
        }
        3 => loop {
            let key = take_varint(bytes);
            if key & 7 == 4 {
                break;
            }
            skip_value(bytes, key & 7);
        },
        5 => *bytes = &bytes[4..],
        other => panic!("wire type {other}"),
    }
}

/// Takes valid bytes apart.
pub(crate) fn parse(kind: Kind, mut bytes: &[u8]) -> Vec<Node> {
    let mut nodes = Vec::new();
    while !bytes.is_empty() {
        let field = bytes;
        let key = take_varint(&mut bytes);
        let number = u32::try_from(key >> 3).unwrap();
        let mut value = bytes;
        skip_value(&mut bytes, key & 7);
        let content = match key & 7 {
            0 => Content::Varint(take_varint(&mut value)),
            1 => Content::Fixed64(value[..8].try_into().unwrap()),
            2 => {
                let len = usize::try_from(take_varint(&mut value)).unwrap();
                match kind.child(number) {
                    Some(child) => Content::Message(child, parse(child, &value[..len])),
                    None => Content::Bytes(value[..len].to_vec()),
                }
            }
            3 => Content::Raw(field[..field.len() - bytes.len()].to_vec()),
            _ => Content::Fixed32(value[..4].try_into().unwrap()),
        };
        nodes.push(Node { number, content });
    }
    nodes
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Puts bytes together.
pub(crate) fn encode(nodes: &[Node]) -> Vec<u8> {
    let mut out = Vec::new();
    for node in nodes {
        let mut key = |wire_type| put_varint(&mut out, u64::from(node.number << 3 | wire_type));
        match &node.content {
            Content::Varint(value) => {
                key(0);
                put_varint(&mut out, *value);
            }
            Content::Fixed64(bytes) => {
                key(1);
                out.extend(bytes);
            }
            Content::Fixed32(bytes) => {
                key(5);
                out.extend(bytes);
            }
            Content::Bytes(bytes) => {
                key(2);
                put_varint(&mut out, bytes.len() as u64);
                out.extend(bytes);
            }
            Content::Message(_, nodes) => {
                let bytes = encode(nodes);
                key(2);
                put_varint(&mut out, bytes.len() as u64);
                out.extend(bytes);
            }
            Content::Raw(bytes) => out.extend(bytes),
        }
    }
    out
}

/// A field of a number that no version of OTLP has.
fn unknown(random: &mut fastrand::Rng) -> Node {
    let number = [17, 99, 1000, 536_870_911][random.usize(..4)];
    let content = match random.u8(..6) {
        0 => Content::Varint(random.u64(..)),
        1 => Content::Fixed64(random.u64(..).to_le_bytes()),
        2 => Content::Fixed32(random.u32(..).to_le_bytes()),
        3 => {
            let mut group = Vec::new();
            put_varint(&mut group, u64::from(number << 3 | 3));
            if random.bool() {
                group.extend(encode(&[unknown(random)]));
            }
            put_varint(&mut group, u64::from(number << 3 | 4));
            Content::Raw(group)
        }
        // Not UTF-8, not a message: it is nobody's business.
        4 => Content::Bytes(vec![0xff; random.usize(..200)]),
        _ => Content::Bytes(Vec::new()),
    };
    Node { number, content }
}

/// Another encoding of the same message: unknown fields added, order changed, singular messages torn,
/// scalars preceded by values that do not hold.
pub(crate) fn shake(kind: Kind, nodes: Vec<Node>, random: &mut fastrand::Rng) -> Vec<Node> {
    let mut queues: Vec<Vec<Node>> = Vec::new();
    for mut node in nodes {
        let mut earlier = None;
        if let Content::Message(child, inner) = node.content {
            let mut inner = shake(child, inner, random);
            if child.merges(kind) && random.u8(..3) == 0 {
                let tail = inner.split_off(random.usize(..=inner.len()));
                earlier = Some(Content::Message(child, inner));
                inner = tail;
            }
            node.content = Content::Message(child, inner);
        } else if random.u8(..8) == 0 && kind != Kind::AnyValue {
            earlier = decoy(kind, &node, random);
        }
        let queue = match queues
            .iter_mut()
            .find(|queue| queue[0].number == node.number)
        {
            Some(queue) => queue,
            None => {
                queues.push(Vec::new());
                queues.last_mut().unwrap()
            }
        };
        let number = node.number;
        queue.extend(earlier.map(|content| Node { number, content }));
        queue.push(node);
    }
    while random.u8(..3) == 0 {
        queues.push(vec![unknown(random)]);
    }
    let mut out = Vec::new();
    queues.iter_mut().for_each(|queue| queue.reverse());
    while !queues.is_empty() {
        let place = random.usize(..queues.len());
        out.extend(queues[place].pop());
        if queues[place].is_empty() {
            queues.remove(place);
        }
    }
    if kind == Kind::AnyValue && random.u8(..6) == 0 && out.iter().any(|node| node.number < 9) {
        // An earlier case of the oneof, which the later one overrules.
        let content = match random.bool() {
            true => Content::Message(Kind::Array, vec![]),
            false => Content::Message(Kind::Map, vec![]),
        };
        let number = if matches!(content, Content::Message(Kind::Array, _)) {
            5
        } else {
            6
        };
        out.insert(0, Node { number, content });
    }
    out
}

/// An earlier occurrence of a singular scalar.
fn decoy(kind: Kind, node: &Node, random: &mut fastrand::Rng) -> Option<Content> {
    let repeated = kind == Kind::Resource && node.number == 3;
    match node.content {
        Content::Varint(_) => Some(Content::Varint(random.u64(..1000))),
        Content::Fixed64(_) => Some(Content::Fixed64(random.u64(..).to_le_bytes())),
        Content::Fixed32(_) => Some(Content::Fixed32(random.u32(..).to_le_bytes())),
        Content::Bytes(_) if !repeated && node.number < 17 => {
            Some(Content::Bytes(b"decoy".to_vec()))
        }
        _ => None,
    }
}

/// Where a span stands, as bytes: the other fields of its ResourceSpans, of its ScopeSpans, and itself.
pub(crate) type Placed = (Vec<u8>, Vec<u8>, Vec<u8>);

/// All spans of a body.
pub(crate) fn placed(body: &[u8]) -> Vec<Placed> {
    let mut out = Vec::new();
    for resource in within(&parse(Kind::Request, body), Kind::ResourceSpans) {
        let resource_head = head(resource, Kind::ScopeSpans);
        for scope in within(resource, Kind::ScopeSpans) {
            let scope_head = head(scope, Kind::Span);
            for span in within(scope, Kind::Span) {
                out.push((resource_head.clone(), scope_head.clone(), encode(span)));
            }
        }
    }
    out
}

fn within(nodes: &[Node], kind: Kind) -> impl Iterator<Item = &[Node]> {
    nodes.iter().filter_map(move |node| match &node.content {
        Content::Message(child, inner) if *child == kind => Some(&inner[..]),
        _ => None,
    })
}

/// The fields that are not of this kind.
fn head(nodes: &[Node], kind: Kind) -> Vec<u8> {
    let others = nodes
        .iter()
        .filter(|node| !matches!(node.content, Content::Message(child, _) if child == kind));
    encode(&others.cloned().collect::<Vec<_>>())
}
