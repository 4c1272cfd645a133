//! The tree back as YAML, secrets replaced.
//!
//! Invariant: what is printed reads back as the same tree, secrets apart.

use std::fmt::Write;

use super::secrets::Secrecy;
use super::tree::{Node, Scalar, Value};

/// What stands in place of a secret.
const HIDDEN: &str = "\"***\"";

/// The whole tree as a block document.
pub(super) fn yaml(root: &Node) -> String {
    let mut out = String::new();
    match &root.value {
        Value::Map(entries) if entries.is_empty() => out.push_str("{}\n"),
        _ => block(root, 0, Secrecy::Root, &mut out),
    }
    out
}

/// Writes the entries or members of a node that has some, one a line.
fn block(node: &Node, indent: usize, secrecy: Secrecy, out: &mut String) {
    match &node.value {
        Value::Scalar(scalar) => {
            let _ = writeln!(out, "{:indent$}{}", "", shown(scalar, secrecy));
        }
        Value::Map(entries) => {
            for entry in entries {
                let secrecy = secrecy.below(&entry.key);
                let key = quoted_if_needed(&entry.key);
                let _ = write!(out, "{:indent$}{key}:", "");
                value(&entry.value, indent + 2, secrecy, out);
            }
        }
        Value::List(members) => {
            for member in members {
                let _ = write!(out, "{:indent$}-", "");
                value(member, indent + 2, secrecy, out);
            }
        }
    }
}

/// Writes what comes after a key or a dash.
fn value(node: &Node, indent: usize, secrecy: Secrecy, out: &mut String) {
    match &node.value {
        Value::Scalar(scalar) => {
            let _ = writeln!(out, " {}", shown(scalar, secrecy));
        }
        Value::Map(entries) if entries.is_empty() => out.push_str(" {}\n"),
        Value::List(members) if members.is_empty() => out.push_str(" []\n"),
        _ => {
            out.push('\n');
            block(node, indent, secrecy, out);
        }
    }
}

fn shown(scalar: &Scalar, secrecy: Secrecy) -> String {
    if scalar.is_null() {
        return "null".to_owned();
    }
    if secrecy.hides() {
        return HIDDEN.to_owned();
    }
    let typed = scalar.as_bool().is_some() || scalar.as_float().is_some();
    if typed || scalar.as_int().is_some() {
        return scalar.text.trim().to_owned();
    }
    // Values are expanded when they are read; keys are not.
    quoted_if_needed(&scalar.text.replace('$', "$$"))
}

/// Plain where plain is safe beyond doubt, else double-quoted in JSON's way, which is YAML's too.
fn quoted_if_needed(text: &str) -> String {
    let plain = Scalar {
        text: text.to_owned(),
        plain: true,
        typed: None,
    };
    let safe = text
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/' | b':'))
        && text
            .bytes()
            .next()
            .is_some_and(|b| b.is_ascii_alphabetic() || b == b'/')
        && !text.ends_with(':')
        && !plain.is_null()
        && plain.as_bool().is_none();
    if safe {
        text.to_owned()
    } else {
        serde_json::Value::from(text).to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::expand::expand;
    use super::super::parse::parse;
    use super::super::problems::Problems;
    use super::super::tree::{Entry, Place};
    use super::*;

    const NOWHERE: Place = Place {
        source: 0,
        start: 0,
        end: 0,
    };

    fn text(text: String) -> Node {
        Node {
            place: NOWHERE,
            value: Value::Scalar(Scalar {
                text,
                plain: false,
                typed: None,
            }),
        }
    }

    fn texts(node: &Node, found: &mut Vec<String>) {
        match &node.value {
            Value::Scalar(scalar) => found.push(scalar.text.clone()),
            Value::List(members) => members.iter().for_each(|member| texts(member, found)),
            Value::Map(entries) => entries.iter().for_each(|entry| {
                found.push(entry.key.clone());
                texts(&entry.value, found);
            }),
        }
    }

    proptest! {
        /// Whatever a value is, it is printed so that it reads back as the same text.
        #[test]
        fn reads_back(keys in proptest::collection::btree_set("\\PC{1,8}|[a-c]|on|no|1", 0..4),
                      value in "\\PC{0,12}|true|null|~|1e3|-5|0x1|[ -~]{0,5}\n") {
            let entries = keys.into_iter().map(|key| Entry {
                key,
                key_place: NOWHERE,
                value: Node { place: NOWHERE, value: Value::List(vec![text(value.clone()), text("x".to_owned())]) },
            });
            let tree = Node { place: NOWHERE, value: Value::Map(entries.collect()) };
            let printed = yaml(&tree);
            let mut problems = Problems::default();
            let mut read = parse(0, 0, &printed, &mut problems).expect("parsed");
            expand(&mut read, &|_| None, &mut problems);
            prop_assert_eq!(problems.errors(), 0, "{}", printed);
            let (mut before, mut after) = (Vec::new(), Vec::new());
            let secret = tree.entries().iter().any(|entry| Secrecy::Root.below(&entry.key).hides());
            texts(&tree, &mut before);
            texts(&read, &mut after);
            prop_assert!(secret || before == after, "{}", printed);
        }
    }
}
