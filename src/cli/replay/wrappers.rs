//! What the query APIs of Jaeger and Tempo put around OTLP.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::otlp::json;

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
/// Wrapped JSON that cannot be read.
pub(super) fn unwrap(text: &str) -> Result<Cow<'_, str>, String> {
    let mut text = text;
    let mut wrapped = false;
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
            return super::jaeger::to_otlp(text).map(Cow::Owned);
        }
        match wrapper.result.or(wrapper.trace) {
            Some(inner) => (text, wrapped) = (inner.get(), true),
            None => break,
        }
    }
    // Tempo's second API names the list as OTLP does, and writes ids in base64 all the same.
    if wrapped {
        return in_hex(text).map(Cow::Owned);
    }
    Ok(Cow::Borrowed(text))
}

/// Tempo names the list `batches` and writes ids in base64.
fn tempo(batches: &str) -> Result<String, String> {
    Ok(format!("{{\"resourceSpans\":{}}}", in_hex(batches)?))
}

/// The same JSON with ids in hex.
fn in_hex(json: &str) -> Result<String, String> {
    let mut value: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
    ids_to_hex(&mut value);
    Ok(value.to_string())
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
    matches!(id.len(), 24 | 12)
        .then(|| json::base64(id))
        .flatten()
        .filter(|bytes| matches!(bytes.len(), 16 | 8))
        .map(hex::encode)
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
        let second = tempo.replacen("batches", "resourceSpans", 1);
        assert_eq!(unwrap(&format!(r#"{{"trace":{second}}}"#)).unwrap(), out);
    }

    #[test]
    fn jaegers_own_format_is_read_or_named() {
        let text = r#"{"data":[{"spans":[{"traceID":"1","spanID":"2","operationName":"x"}]}]}"#;
        assert!(unwrap(text).unwrap().contains("resourceSpans"));
        let text = r#"{"data":[{"spans":{"operationName":"x"}}]}"#;
        assert!(unwrap(text).unwrap_err().contains("Jaeger"));
    }
}
