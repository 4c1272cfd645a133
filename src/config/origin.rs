//! Where a value comes from, in words: `sentinel.yaml:12`, `env:NAME at sentinel.yaml:12`, `--set`, `default`.

use super::report::SourceText;
use super::tree::{Node, Value};

/// Where `node` was written. What is in none of `texts` holds by default.
pub(super) fn of(node: &Node, texts: &[SourceText]) -> String {
    let Some(text) = texts.get(node.place.source) else {
        return "default".to_owned();
    };
    let place = match text.name.as_str() {
        "--set" => "--set".to_owned(),
        name => {
            let before = text.text.get(..node.place.start).unwrap_or_default();
            format!("{name}:{}", before.matches('\n').count() + 1)
        }
    };
    match &node.value {
        Value::Scalar(scalar) => match &scalar.typed {
            Some(typed) => match references(typed) {
                // Only signs were escaped.
                None => place,
                Some(names) => format!("{names} at {place}"),
            },
            None => place,
        },
        _ => place,
    }
}

/// The variables that a text names.
fn references(typed: &str) -> Option<String> {
    let mut names = Vec::new();
    let mut rest = typed;
    while let Some((_, behind)) = rest.split_once("${") {
        let Some((reference, next)) = behind.split_once('}') else {
            break;
        };
        let name = reference.strip_prefix("env:").unwrap_or(reference);
        let name = name.split(":-").next().unwrap_or(name);
        names.push(format!("env:{name}"));
        rest = next;
    }
    (!names.is_empty()).then(|| names.join(" and "))
}
