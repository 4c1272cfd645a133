//! Fingerprints and text measures against what the source systems themselves compute
//! (tests/fixtures/vectors: recorded from their code).
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use agent_sentinel::fingerprints::{agentbudget_canonical, exact, signature};
use agent_sentinel::texts;
use serde_json::Value;

fn cases(file: &str) -> Vec<Value> {
    let set: Value = serde_json::from_str(file).unwrap();
    set["cases"].as_array().unwrap().clone()
}

#[test]
fn signatures_are_those_of_the_source() {
    let cases = cases(include_str!("fixtures/vectors/sentinel_signature.json"));
    assert_eq!(cases.len(), 21);
    for case in &cases {
        let tool = case["tool"].as_str().unwrap();
        let arguments = case["args_json"].as_str().unwrap();
        let canonical = case["canonical"].as_str().unwrap();
        assert_eq!(
            signature(tool, arguments).to_string(),
            case["signature"].as_str().unwrap(),
            "{case}"
        );
        assert_eq!(exact(tool, arguments), exact(tool, canonical), "{case}");
    }
}

/// Python takes a combining mark after a hex run for a word boundary, the regex crate does not.
const KNOWN_DIFFERENCE: &str = "12345678\u{301}";

#[test]
fn canonical_observations_are_those_of_the_source() {
    let cases = cases(include_str!(
        "fixtures/vectors/agentbudget_canonicalize.json"
    ));
    assert_eq!(cases.len(), 138);
    let mut different = Vec::new();
    for case in &cases {
        let input = case["input"].as_str().unwrap();
        if agentbudget_canonical(input) != case["output"].as_str().unwrap() {
            different.push(input);
        }
    }
    assert_eq!(different, [KNOWN_DIFFERENCE]);
}

#[test]
fn entropies_are_those_of_the_formula() {
    let cases = cases(include_str!(
        "fixtures/vectors/sentinel_semantic_stuttering.json"
    ));
    assert_eq!(cases.len(), 37);
    for case in &cases {
        for step in case["steps"].as_array().unwrap() {
            let facts = texts::read(step["response"].as_str().unwrap());
            let measure = &case["measure"];
            let bits = measure["entropy_bits"].as_f64().unwrap();
            assert!(
                (facts.repetition.entropy_bits - bits).abs() < 1e-9,
                "{}: {} is not {bits}",
                case["id"],
                facts.repetition.entropy_bits
            );
            let ngrams = measure["ngrams"].as_u64().unwrap();
            assert_eq!(u64::from(facts.repetition.source_ngrams), ngrams, "{case}");
        }
    }
}

#[test]
fn lengths_are_those_of_python() {
    let cases = cases(include_str!(
        "fixtures/vectors/promptise_empty_response.json"
    ));
    let mut compared = 0;
    for case in &cases {
        let responses: Vec<&str> = case["steps"]
            .as_array()
            .unwrap()
            .iter()
            .map(|step| step["response"].as_str().unwrap_or_default())
            .collect();
        for finding in case["expect"].as_array().unwrap() {
            let Some(lengths) = finding["details"]["lengths"].as_array() else {
                continue;
            };
            let last = usize::try_from(finding["at_step"].as_u64().unwrap()).unwrap();
            let first = last + 1 - lengths.len();
            // Steps that are no responses would shift the places.
            let plain = case["steps"].as_array().unwrap()[first..=last]
                .iter()
                .all(|step| step["response"].is_string());
            if !plain {
                continue;
            }
            for (text, length) in responses[first..=last].iter().zip(lengths) {
                assert_eq!(
                    u64::from(texts::read(*text).chars),
                    length.as_u64().unwrap(),
                    "{text:?}"
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 40, "only {compared} lengths compared");
}
