//! What the query APIs of Jaeger and Tempo put around OTLP.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Wrappers inside wrappers are followed this deep.
const DEPTH_MAX: usize = 3;

/// The members that tell which wrapper it is.
#[derive(Debug, Deserialize)]
struct Wrapper<'a> {
    #[serde(default, borrow)]
    result: Option<&'a RawValue>,
    #[serde(default, borrow)]
    trace: Option<&'a RawValue>,
    #[serde(default, borrow)]
    batches: Option<&'a RawValue>,
    #[serde(default, borrow)]
    data: Option<&'a RawValue>,
}

/// The request inside a wrapper; a text without one is given back as it is.
///
/// # Errors
/// Jaeger's own span format, and wrapped JSON that cannot be read.
pub(super) fn unwrap(text: &str) -> Result<Cow<'_, str>, String> {
    let mut text = text;
    for _ in 0..DEPTH_MAX {
        let Ok(wrapper) = serde_json::from_str::<Wrapper<'_>>(text) else {
            break;
        };
        if let Some(batches) = wrapper.batches {
            return tempo(batches.get()).map(Cow::Owned);
        }
        if wrapper
            .data
            .is_some_and(|data| data.get().contains("\"operationName\""))
        {
            return Err(
                "this is Jaeger's own JSON; ask its API for OTLP: GET /api/v3/traces/ID".to_owned(),
            );
        }
        match wrapper.result.or(wrapper.trace) {
            Some(inner) => text = inner.get(),
            None => break,
        }
    }
    Ok(Cow::Borrowed(text))
}

/// Tempo names the list `batches` and writes ids in base64.
fn tempo(batches: &str) -> Result<String, String> {
    let mut value: Value = serde_json::from_str(batches).map_err(|error| error.to_string())?;
    ids_to_hex(&mut value);
    Ok(format!("{{\"resourceSpans\":{value}}}"))
}

fn ids_to_hex(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(ids_to_hex),
        Value::Object(members) => {
            for (key, value) in members.iter_mut() {
                match (key.as_str(), &*value) {
                    ("traceId" | "spanId" | "parentSpanId", Value::String(id)) => {
                        if let Some(hex) = hex_of_base64(id) {
                            *value = Value::String(hex);
                        }
                    }
                    ("attributes", _) => {}
                    _ => ids_to_hex(value),
                }
            }
        }
        _ => {}
    }
}

/// Hex of an id in base64: 24 characters for 16 bytes, 12 for 8. Anything else is no base64 id.
fn hex_of_base64(id: &str) -> Option<String> {
    let data = id.trim_end_matches('=');
    if !matches!((id.len(), data.len()), (24, 22) | (12, 11)) {
        return None;
    }
    let mut bits: u32 = 0;
    let mut count = 0;
    let mut bytes = Vec::new();
    for byte in data.bytes() {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    Some(hex::encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tempo_and_jaeger_are_unwrapped() {
        assert_eq!(
            unwrap(r#"{"resourceSpans":[]}"#).unwrap(),
            r#"{"resourceSpans":[]}"#
        );
        assert_eq!(
            unwrap(r#"{"result":{"resourceSpans":[]}}"#).unwrap(),
            r#"{"resourceSpans":[]}"#
        );
        let tempo = r#"{"batches":[{"scopeSpans":[{"spans":[{"traceId":"AAAAAAAAAAAAAAAAAAAAAQ==","spanId":"AAAAAAAAAAI="}]}]}]}"#;
        let out = unwrap(tempo).unwrap();
        assert!(
            out.contains(r#""traceId":"00000000000000000000000000000001""#),
            "{out}"
        );
        assert!(out.contains(r#""spanId":"0000000000000002""#), "{out}");
        assert_eq!(unwrap(&format!(r#"{{"trace":{tempo}}}"#)).unwrap(), out);
    }

    #[test]
    fn jaegers_own_format_is_named() {
        let text = r#"{"data":[{"spans":[{"operationName":"x"}]}]}"#;
        assert!(unwrap(text).unwrap_err().contains("/api/v3/traces"));
    }
}
