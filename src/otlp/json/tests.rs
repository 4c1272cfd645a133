//! One test a line of the OTLP/JSON checklist.

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

use super::{DEPTH_MAX, to_json, transcode, transcode_with_hint};
use crate::model::Signal;
use crate::otlp::{Reason, read};

const IDS: &str = r#""traceId":"0102030405060708090a0b0c0d0e0f10","spanId":"a1a2a3a4a5a6a7a8""#;

/// A request of one span with these members.
fn with_span(members: &str) -> String {
    format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{{{members}}}]}}]}}]}}"#)
}

fn span(members: &str) -> Span {
    let body = transcode(with_span(members).as_bytes()).unwrap();
    let request = ExportTraceServiceRequest::decode(body).unwrap();
    request.resource_spans[0].scope_spans[0].spans[0].clone()
}

fn refused(members: &str) -> String {
    transcode(with_span(members).as_bytes())
        .unwrap_err()
        .to_string()
}

/// The value of an attribute written as this JSON.
fn value(json: &str) -> Option<Value> {
    let span = span(&format!(r#""attributes":[{{"key":"k","value":{json}}}]"#));
    assert_eq!(span.attributes[0].key, "k");
    span.attributes[0].value.clone().unwrap().value
}

fn bad_value(json: &str) -> String {
    refused(&format!(r#""attributes":[{{"key":"k","value":{json}}}]"#))
}

#[test]
fn j_01_ids_are_hex_of_either_case() {
    let span = span(
        r#""traceId":"5B8EFFF798038103D269B633813FC60C","spanId":"eee19b7ec3c1b174",
           "parentSpanId":"EEE19b7ec3c1b173","links":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"EEE19B7EC3C1B174"}]"#,
    );
    assert_eq!(span.trace_id[..2], [0x5b, 0x8e]);
    assert_eq!(span.span_id[0], 0xee);
    assert_eq!(span.parent_span_id[7], 0x73);
    assert_eq!(span.links[0].trace_id, span.trace_id);
    assert_eq!(span.links[0].span_id, span.span_id);
}

#[test]
fn j_01_base64_ids_are_refused_by_that_name() {
    for (id, name) in [
        ("W47/95gDgQPSabYzgT/GDA==", "traceId"),
        ("W47_95gDgQPSabYzgT_GDA", "traceId"),
        ("7uGbfsPBsXQ=", "spanId"),
    ] {
        let error = refused(&format!(r#""{name}":"{id}""#));
        assert!(error.contains("base64"), "{error}");
        let path = format!("resourceSpans[0].scopeSpans[0].spans[0].{name}: ");
        assert!(error.starts_with(&path), "{error}");
    }
}

#[test]
fn j_02_enums_are_integers() {
    assert_eq!(span(r#""kind":3,"status":{"code":2}"#).kind, 3);
    assert_eq!(span(r#""kind":42"#).kind, 42);
    let error = refused(r#""kind":"SPAN_KIND_CLIENT""#);
    assert!(
        error.contains("spans[0].kind: enum values are integers"),
        "{error}"
    );
    assert!(refused(r#""status":{"code":"STATUS_CODE_ERROR"}"#).contains("status.code"));
}

#[test]
fn j_03_unknown_names_are_ignored_at_every_level() {
    let noise = r#""unknown":{"a":[1,"x",null,true,{"b":-1.5e3}]}"#;
    let json = format!(
        r#"{{{noise},"resourceSpans":[{{{noise},"resource":{{{noise},"attributes":[{{{noise},"key":"k","value":{{{noise},"futureValue":{{}}}}}}]}},
           "scopeSpans":[{{{noise},"scope":{{{noise}}},"spans":[{{{noise},{IDS},"status":{{{noise}}},"events":[{{{noise}}}],"links":[{{{noise}}}]}}]}}]}}]}}"#
    );
    let body = transcode(json.as_bytes()).unwrap();
    let request = ExportTraceServiceRequest::decode(body).unwrap();
    let resource = &request.resource_spans[0];
    let attribute = &resource.resource.as_ref().unwrap().attributes[0];
    assert_eq!(attribute.value.as_ref().unwrap().value, None);
    assert_eq!(resource.scope_spans[0].spans[0].events.len(), 1);
}

#[test]
fn j_04_snake_case_is_an_unknown_name_with_a_hint() {
    let json = with_span(r#""start_time_unix_nano":"5","trace_id":"00""#);
    let (body, hint) = transcode_with_hint(Signal::Traces, json.as_bytes()).unwrap();
    assert_eq!(
        hint.unwrap(),
        "`start_time_unix_nano` was ignored: OTLP/JSON names are lowerCamelCase, here `startTimeUnixNano`"
    );
    let request = ExportTraceServiceRequest::decode(body).unwrap();
    assert_eq!(
        request.resource_spans[0].scope_spans[0].spans[0],
        Span::default()
    );
    let json = with_span(r#""my_own":1"#);
    let (_, hint) = transcode_with_hint(Signal::Traces, json.as_bytes()).unwrap();
    assert_eq!(hint, None);
}

#[test]
fn a_body_without_a_field_of_a_request_is_told_of() {
    let hint = |signal, json: &str| {
        let (body, hint) = transcode_with_hint(signal, json.as_bytes()).unwrap();
        assert!(body.is_empty(), "{json}");
        hint
    };
    let misspelt =
        "body has no `resourceSpans`: `resource_spans` is spelled `resourceSpans` in OTLP/JSON";
    let other = "body has no `resourceSpans`: `resourceLogs` was ignored, and all else in it";
    for (json, said) in [
        (r#"{"resource_spans":[{}]}"#, Some(misspelt)),
        (r#"{"resourceLogs":[{}],"resource_spans":[]}"#, Some(other)),
        (r#"{"resourceSpans":[],"future":1}"#, None),
        (r#"{"future":1,"resourceSpans":null}"#, None),
        ("{}", None),
    ] {
        assert_eq!(hint(Signal::Traces, json).as_deref(), said, "{json}");
    }
    let logs = hint(Signal::Logs, r#"{"resource_logs":[]}"#).unwrap();
    assert!(
        logs.ends_with("is spelled `resourceLogs` in OTLP/JSON"),
        "{logs}"
    );
    let long = hint(Signal::Traces, &format!(r#"{{"{}":1}}"#, "x".repeat(5000)));
    assert!(long.unwrap().len() < 200);
}

#[test]
fn j_05_wide_integers_as_string_and_number() {
    for time in ["\"18446744073709551615\"", "18446744073709551615"] {
        assert_eq!(
            span(&format!(r#""endTimeUnixNano":{time}"#)).end_time_unix_nano,
            u64::MAX
        );
    }
    for number in ["\"9007199254740993\"", "9007199254740993"] {
        assert_eq!(
            value(&format!(r#"{{"intValue":{number}}}"#)),
            Some(Value::IntValue(9_007_199_254_740_993))
        );
    }
    for wrong in [
        "18446744073709551616",
        "-1",
        "\"\"",
        "\"x\"",
        "1.5",
        "true",
        "[]",
    ] {
        let error = refused(&format!(r#""endTimeUnixNano":{wrong}"#));
        assert!(
            error.contains("spans[0].endTimeUnixNano: must be a"),
            "{error}"
        );
    }
    let json = to_json(&transcode(with_span(r#""endTimeUnixNano":7"#).as_bytes()).unwrap());
    assert!(json.unwrap().contains(r#""endTimeUnixNano":"7""#));
}

#[test]
fn j_06_null_is_absence() {
    let span = span(
        r#""traceId":null,"name":null,"kind":null,"attributes":null,"events":null,"status":null,"startTimeUnixNano":null"#,
    );
    assert_eq!(span, Span::default());
    for json in [
        r#"{"resourceSpans":null}"#,
        r#"{"resourceSpans":[{"resource":null,"scopeSpans":null,"schemaUrl":null}]}"#,
    ] {
        transcode(json.as_bytes()).unwrap();
    }
    assert_eq!(
        value(r#"{"stringValue":null,"intValue":1}"#),
        Some(Value::IntValue(1))
    );
    let array = value(r#"{"arrayValue":{"values":[null,{"intValue":1}]}}"#);
    let Some(Value::ArrayValue(array)) = array else {
        panic!("no array")
    };
    assert_eq!(array.values.len(), 2);
    assert!(refused(r#""events":[null]"#).contains("events[0]: must be an object"));
}

#[test]
fn j_07_an_omitted_list_is_empty() {
    assert_eq!(
        value(r#"{"arrayValue":{}}"#),
        Some(Value::ArrayValue(Default::default()))
    );
    assert_eq!(
        value(r#"{"kvlistValue":{}}"#),
        Some(Value::KvlistValue(Default::default()))
    );
    assert_eq!(
        value(r#"{"arrayValue":{"values":null}}"#),
        Some(Value::ArrayValue(Default::default()))
    );
    assert_eq!(value("{}"), None);
}

#[test]
fn j_08_doubles_that_json_has_no_number_for() {
    let double = |json: &str| match value(&format!(r#"{{"doubleValue":{json}}}"#)) {
        Some(Value::DoubleValue(number)) => number,
        other => panic!("{other:?}"),
    };
    assert!(double("\"NaN\"").is_nan());
    assert_eq!(double("\"Infinity\""), f64::INFINITY);
    assert_eq!(double("\"-Infinity\""), f64::NEG_INFINITY);
    assert_eq!(double("\"1.5\""), 1.5);
    assert_eq!(double("2e-3"), 0.002);
    assert!(double("-0.0").is_sign_negative());
    for wrong in ["\"nan\"", "\"inf\"", "1e999", "\"\"", "\"+1\""] {
        let error = bad_value(&format!(r#"{{"doubleValue":{wrong}}}"#));
        assert!(error.contains("attributes[0].value.doubleValue"), "{error}");
    }
    for text in ["\"NaN\"", "\"Infinity\"", "\"-Infinity\"", "1e300"] {
        let json = with_span(&format!(
            r#""attributes":[{{"key":"k","value":{{"doubleValue":{text}}}}}]"#
        ));
        let out = to_json(&transcode(json.as_bytes()).unwrap()).unwrap();
        assert!(out.contains(&format!(r#""doubleValue":{text}"#)), "{out}");
    }
}

#[test]
fn j_09_bytes_in_either_base64() {
    for text in ["+/+/", "-_-_"] {
        assert_eq!(
            value(&format!(r#"{{"bytesValue":"{text}"}}"#)),
            Some(Value::BytesValue(vec![0xfb, 0xff, 0xbf]))
        );
    }
    for text in ["Zg==", "Zg"] {
        assert_eq!(
            value(&format!(r#"{{"bytesValue":"{text}"}}"#)),
            Some(Value::BytesValue(vec![b'f']))
        );
    }
    assert!(bad_value(r#"{"bytesValue":"*"}"#).contains("bytesValue: must be base64"));
}

#[test]
fn j_10_integers_written_as_other_numbers() {
    assert_eq!(value(r#"{"intValue":7.0}"#), Some(Value::IntValue(7)));
    assert_eq!(
        value(r#"{"intValue":"1.5e18"}"#),
        Some(Value::IntValue(1_500_000_000_000_000_000))
    );
    assert_eq!(span(r#""kind":3.0"#).kind, 3);
    assert_eq!(
        span(r#""startTimeUnixNano":1.8e18"#).start_time_unix_nano,
        1_800_000_000_000_000_000
    );
}

#[test]
fn j_11_duplicate_keys() {
    assert_eq!(span(r#""name":"a","name":"b""#).name, "b");
    assert_eq!(span(r#""kind":3,"kind":0"#).kind, 0);
    assert_eq!(span(r#""name":"a","name":"""#).name, "");
    assert_eq!(span(r#""name":"a","name":null"#).name, "a");
    assert_eq!(
        value(r#"{"intValue":1,"stringValue":""}"#),
        Some(Value::StringValue(String::new()))
    );
    assert_eq!(span(r#""events":[{}],"events":[{},{}]"#).events.len(), 3);
    let status = span(r#""status":{"code":2},"status":{"message":"m"}"#)
        .status
        .unwrap();
    assert_eq!((status.code, status.message.as_str()), (2, "m"));
}

#[test]
fn j_11_texts_are_strict_utf8() {
    for lone in [
        r"\ud800",
        r"\ud800x",
        r"\ud800\n",
        r"\ud800\ud800",
        r"\udc00",
    ] {
        let error = refused(&format!(r#""name":"{lone}""#));
        assert!(error.contains("name: half of a surrogate pair"), "{error}");
    }
    assert_eq!(
        span(r#""name":"\ud83d\ude00\u0000\"\\\/\b\f\n\r\tz""#).name,
        "\u{1f600}\0\"\\/\u{8}\u{c}\n\r\tz"
    );
    let error = transcode(b"\xef\xbb\xbf{}").unwrap_err().to_string();
    assert_eq!(
        error,
        "body: a byte order mark is not allowed in JSON (at byte 0)"
    );
    let error = transcode(b"{\"a\":\"\xff\"}").unwrap_err();
    assert_eq!((error.what(), error.offset()), ("is not UTF-8", 6));
    assert!(refused("\"name\":\"a\nb\"").contains("control character"));
}

/// A text value within so many arrays.
fn nested(arrays: usize) -> String {
    let value = format!(
        "{}{}{}",
        r#"{"arrayValue":{"values":["#.repeat(arrays),
        r#"{"intValue":"1"}"#,
        "]}}".repeat(arrays)
    );
    format!(
        r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{{{IDS},"attributes":[{{"key":"k","value":{value}}}]}},{{{IDS}}}]}}]}}]}}"#
    )
}

#[test]
fn j_12_depth_is_limited() {
    // 63 arrays around a value make 64 levels.
    let deep = read(transcode(nested(63).as_bytes()).unwrap(), |_| {}).unwrap();
    assert_eq!((deep.spans, deep.malformed.total()), (2, 0));
    assert!(to_json(&deep.body).is_ok());
    let deeper = read(transcode(nested(64).as_bytes()).unwrap(), |_| {}).unwrap();
    assert_eq!(deeper.spans, 1);
    assert_eq!(
        deeper.malformed.by_reason.as_slice(),
        [(Reason::Nesting, 1)]
    );
    for arrays in [90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 100_000] {
        let bottomless = read(transcode(nested(arrays).as_bytes()).unwrap(), |_| {}).unwrap();
        assert_eq!(bottomless.spans, 1, "{arrays}");
        assert_eq!(
            bottomless.malformed.by_reason.as_slice(),
            [(Reason::Nesting, 1)]
        );
    }
    for unclosed in
        ["{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"attributes\":[{\"value\":"]
    {
        let text = format!("{unclosed}{}", "{\"arrayValue\":{\"values\":[".repeat(1000));
        assert!(transcode(text.as_bytes()).is_err());
        for wrong in ["]", "}", "{\"a\"]", "{,}", "[,]", "[1 2]", "{\"a\":1]"] {
            let error = transcode(format!("{text}{wrong}{}", "]}}".repeat(1000)).as_bytes());
            assert!(error.is_err(), "{wrong}");
        }
    }
    let depth = DEPTH_MAX as usize - 1;
    let unknown = |depth| format!(r#"{{"x":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
    assert!(transcode(unknown(depth).as_bytes()).is_ok());
    assert!(transcode(unknown(depth + 1).as_bytes()).is_err());
    assert!(transcode("[".repeat(1_000_000).as_bytes()).is_err());
    assert!(transcode("{\"x\":".repeat(1_000_000).as_bytes()).is_err());
}

/// A span with a number within so many maps.
fn nested_maps(maps: usize) -> String {
    let value = format!(
        "{}{}{}",
        r#"{"kvlistValue":{"values":[{"key":"k","value":"#.repeat(maps),
        r#"{"intValue":"1"}"#,
        "}]}}".repeat(maps)
    );
    format!(r#"{IDS},"attributes":[{{"key":"k","value":{value}}}]"#)
}

#[test]
fn j_12_maps_may_nest_as_deep_as_values_may() {
    let maps = 63;
    let deeper = nested_maps(80);
    let deeper = read(transcode(with_span(&deeper).as_bytes()).unwrap(), |_| {}).unwrap();
    assert_eq!(
        deeper.malformed.by_reason.as_slice(),
        [(Reason::Nesting, 1)]
    );
    let json = with_span(&nested_maps(maps));
    let readout = read(transcode(json.as_bytes()).unwrap(), |_| {}).unwrap();
    assert_eq!(readout.spans, 1);
    assert_eq!(to_json(&readout.body).unwrap(), json);
}

#[test]
fn j_14_ids_of_wrong_length_cut_their_span_only() {
    let cases = [
        ("0102", "spans[1].traceId: must be 16 bytes, has 2"),
        (
            "abc",
            "must be 16 bytes, in JSON 32 hex digits, has 3 bytes: \"abc\"",
        ),
        ("not-hexadecimal!", "has 15 bytes: \"not-hexadecimal\""),
        ("", "must be 16 bytes, has 0"),
        ("00000000000000000000000000000000", "must not be all zero"),
    ];
    for (id, message) in cases {
        let json = format!(
            r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{{{IDS}}},{{{IDS},"traceId":"{id}"}},{{{IDS}}}]}}]}}]}}"#
        );
        let readout = read(transcode(json.as_bytes()).unwrap(), |_| {}).unwrap();
        assert_eq!(readout.spans, 2, "{id}");
        assert_eq!(
            readout.malformed.by_reason.as_slice(),
            [(Reason::TraceId, 1)]
        );
        let first = readout.malformed.first.unwrap();
        assert!(first.contains(message), "{first}");
    }
}
