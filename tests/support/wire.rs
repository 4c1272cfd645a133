//! Takes OTLP bodies apart by the protobuf rules alone.

use bytes::Bytes;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;

/// One field: its number, where it begins (tag included), its payload.
struct Field<'a> {
    number: u64,
    payload: &'a [u8],
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first().expect("a varint that ends");
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            break;
        }
    }
    value
}

fn fields(mut bytes: &[u8]) -> Vec<Field<'_>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let length = match tag & 7 {
            0 => {
                let before = bytes;
                varint(&mut bytes);
                let length = before.len() - bytes.len();
                bytes = before;
                length
            }
            1 => 8,
            2 => usize::try_from(varint(&mut bytes)).unwrap(),
            5 => 4,
            other => panic!("wire type {other}"),
        };
        let (payload, rest) = bytes.split_at(length);
        bytes = rest;
        fields.push(Field {
            number: tag >> 3,
            payload,
        });
    }
    fields
}

fn inner(body: &[u8], number: u64) -> Vec<&[u8]> {
    let fields = fields(body).into_iter();
    fields
        .filter(|field| field.number == number)
        .map(|field| field.payload)
        .collect()
}

/// The encoded spans of a request, in wire order.
pub fn spans(body: &[u8]) -> Vec<Bytes> {
    let resources = inner(body, 1).into_iter();
    let scopes = resources.flat_map(|resource| inner(resource, 2));
    let spans = scopes.flat_map(|scope| inner(scope, 2));
    spans.map(Bytes::copy_from_slice).collect()
}

/// The encoded spans of many requests.
pub fn all_spans<'a>(bodies: impl IntoIterator<Item = &'a Bytes>) -> Vec<Bytes> {
    bodies.into_iter().flat_map(|body| spans(body)).collect()
}

/// Trace id and span id of an encoded span.
pub fn ids(span: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let one = |number| inner(span, number).last().expect("an id").to_vec();
    (one(1), one(2))
}

/// Keys of the attributes of an encoded span.
pub fn attribute_keys(span: &[u8]) -> Vec<String> {
    let attributes = inner(span, 9).into_iter();
    let keys = attributes.flat_map(|attribute| inner(attribute, 1));
    keys.map(|key| String::from_utf8(key.to_vec()).unwrap())
        .collect()
}

/// Says how `out` differs from `sent` beyond attributes and events of ours appended to it; `None` when
/// it does not.
pub fn difference(sent: &[u8], out: &[u8]) -> Option<String> {
    let Some(added) = out.strip_prefix(sent) else {
        return Some("the span does not begin with the bytes that were sent".to_owned());
    };
    for field in fields(added) {
        let name = match field.number {
            9 => inner(field.payload, 1),
            11 => inner(field.payload, 2),
            other => return Some(format!("field {other} was added")),
        };
        let name = String::from_utf8_lossy(name.last().copied().unwrap_or_default()).into_owned();
        if !name.starts_with("sentinel.") {
            return Some(format!("{name} was added"));
        }
    }
    None
}

/// As [`difference`] for spans that were written anew on their way (JSON became protobuf): says how their
/// meaning differs beyond what we added.
pub fn difference_in_meaning(sent: &[u8], out: &[u8]) -> Option<String> {
    let ours = |key: &str| key.starts_with("sentinel.");
    let sent = Span::decode(sent).unwrap();
    let mut out = Span::decode(out).unwrap();
    out.attributes.retain(|attribute| !ours(&attribute.key));
    out.events.retain(|event| !ours(&event.name));
    (sent != out).then(|| format!("sent {sent:?}, got {out:?}"))
}

/// Checks that every span sent came out once, different only as `difference` allows, and nothing else did.
/// Returns how many were marked.
pub fn assert_all_passed(
    sent: &[Bytes],
    out: &[Bytes],
    difference: impl Fn(&[u8], &[u8]) -> Option<String>,
) -> usize {
    let mut left: Vec<Option<&Bytes>> = out.iter().map(Some).collect();
    let mut marked = 0;
    for span in sent {
        let own = ids(span);
        let found = left
            .iter_mut()
            .find(|out| out.is_some_and(|out| ids(out) == own));
        let out = found.and_then(Option::take).expect("every span comes out");
        if let Some(difference) = difference(span, out) {
            panic!("span {}: {difference}", hex::encode(own.1));
        }
        marked += usize::from(
            attribute_keys(out)
                .iter()
                .any(|key| key.starts_with("sentinel.")),
        );
    }
    let more = left.iter().flatten().count();
    assert_eq!(more, 0, "spans came out that nobody sent");
    marked
}
