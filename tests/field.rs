//! Runs as people reported them, each small and with what must be said of it, in two shapes of emitters.
//! What a case stands for is a kind of mistake; what it expects is never bent to what is found.

#[path = "support/field.rs"]
mod field;

use field::{Case, Shape};

/// Cases that are known to come out otherwise, with the reason.
const KNOWN: &[(&str, &str)] = &[];

fn check(cases: &[Case], shape: Shape) {
    let mut wrong = Vec::new();
    for case in cases {
        let problems = field::wrong(case, &field::play(case, shape));
        let known = KNOWN.iter().find(|(id, _)| *id == case.id);
        match known {
            Some((id, reason)) if problems.is_empty() => {
                wrong.push(format!("{id}: comes out right now, though: {reason}"));
            }
            None if !problems.is_empty() => {
                wrong.push(format!(
                    "{}: {}\n    {}",
                    case.id,
                    problems.join("; "),
                    case.why
                ));
            }
            _ => {}
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} cases in shape {shape:?}:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

#[test]
fn every_case_as_expected_with_agents_named_on_every_span() {
    let cases = field::load("cases");
    assert_eq!(cases.len(), 163);
    check(&cases, Shape::Plain);
}

#[test]
fn every_case_as_expected_in_the_shape_of_an_sdk() {
    check(&field::load("cases"), Shape::Sdk);
}

#[test]
fn what_other_tools_get_wrong() {
    let cases = field::load("rivals");
    assert_eq!(cases.len(), 13);
    check(&cases, Shape::Plain);
    check(&cases, Shape::Sdk);
}
