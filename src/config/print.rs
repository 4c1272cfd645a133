//! The tree back as YAML or JSON, secrets replaced.
//!
//! Invariant: what is printed reads back as the same tree, secrets apart.

use std::fmt::Write;

use super::secrets::Secrecy;
use super::tree::{Entry, Node, Scalar, Value};

/// What stands in place of a secret.
const HIDDEN: &str = "\"***\"";

/// Where a scalar comes from, in words, if that is to stand behind it.
pub(super) type Origin<'a> = &'a dyn Fn(&Node) -> Option<String>;

/// The whole tree as a block document.
pub(super) fn yaml(root: &Node, origin: Origin<'_>) -> String {
    let mut out = Printer {
        out: String::new(),
        origin,
        as_written: false,
    };
    match &root.value {
        Value::Map(entries) if entries.is_empty() => out.out.push_str("{}\n"),
        _ => out.block(root, 0, Secrecy::Root),
    }
    out.out
}

/// The whole tree as a block document, with secrets and references to the environment as they are written.
pub(super) fn as_written(root: &Node) -> String {
    let mut out = Printer {
        out: String::new(),
        origin: &|_| None,
        as_written: true,
    };
    out.block(root, 0, Secrecy::Root);
    out.out
}

/// The whole tree as JSON, indented.
pub(super) fn json(root: &Node) -> String {
    let mut text = format!("{:#}", in_json(root, Secrecy::Root));
    text.push('\n');
    text
}

fn in_json(node: &Node, secrecy: Secrecy) -> serde_json::Value {
    match &node.value {
        Value::Scalar(scalar) if scalar.is_null() => serde_json::Value::Null,
        Value::Scalar(_) if secrecy.hides() => "***".into(),
        Value::Scalar(scalar) => {
            let number = scalar
                .as_int()
                .and_then(|number| i64::try_from(number).ok());
            let truth = scalar.as_bool().map(serde_json::Value::from);
            truth
                .or(number.map(Into::into))
                .or(scalar.as_float().map(Into::into))
                .unwrap_or_else(|| scalar.text.as_str().into())
        }
        Value::List(members) => members.iter().map(|one| in_json(one, secrecy)).collect(),
        Value::Map(entries) => {
            let member = |entry: &Entry| {
                let secrecy = secrecy.below(&entry.key);
                (entry.key.clone(), in_json(&entry.value, secrecy))
            };
            serde_json::Value::Object(entries.iter().map(member).collect())
        }
    }
}

struct Printer<'a> {
    out: String,
    origin: Origin<'a>,
    /// Secrets are not hidden, and `$` is no plain sign.
    as_written: bool,
}

impl Printer<'_> {
    /// Writes the entries or members of a node that has some, one a line.
    fn block(&mut self, node: &Node, indent: usize, secrecy: Secrecy) {
        match &node.value {
            Value::Scalar(_) => {
                let _ = write!(self.out, "{:indent$}", "");
                self.scalar(node, secrecy);
            }
            Value::Map(entries) => {
                for entry in entries {
                    let secrecy = secrecy.below(&entry.key);
                    let key = quoted_if_needed(&entry.key);
                    let _ = write!(self.out, "{:indent$}{key}:", "");
                    self.value(&entry.value, indent + 2, secrecy);
                }
            }
            Value::List(members) => {
                for member in members {
                    let _ = write!(self.out, "{:indent$}-", "");
                    self.value(member, indent + 2, secrecy);
                }
            }
        }
    }

    /// Writes what comes after a key or a dash.
    fn value(&mut self, node: &Node, indent: usize, secrecy: Secrecy) {
        match &node.value {
            Value::Scalar(_) => {
                self.out.push(' ');
                self.scalar(node, secrecy);
            }
            Value::Map(entries) if entries.is_empty() => self.empty(node, " {}"),
            Value::List(members) if members.is_empty() => self.empty(node, " []"),
            _ => {
                self.out.push('\n');
                self.block(node, indent, secrecy);
            }
        }
    }

    fn scalar(&mut self, node: &Node, secrecy: Secrecy) {
        if let Value::Scalar(scalar) = &node.value {
            let text = match (self.as_written, scalar.plain) {
                (false, _) => shown(scalar, secrecy),
                (true, true) if scalar.is_null() => "null".to_owned(),
                (true, true) if is_typed(scalar) => scalar.text.trim().to_owned(),
                (true, _) => quoted_if_needed(&scalar.text),
            };
            self.out.push_str(&text);
        }
        self.empty(node, "");
    }

    /// Ends the line of a node without parts.
    fn empty(&mut self, node: &Node, words: &str) {
        self.out.push_str(words);
        if let Some(origin) = (self.origin)(node) {
            let _ = write!(self.out, "  # {origin}");
        }
        self.out.push('\n');
    }
}

/// Whether it is a number or a switch.
fn is_typed(scalar: &Scalar) -> bool {
    scalar.as_bool().is_some() || scalar.as_float().is_some() || scalar.as_int().is_some()
}

fn shown(scalar: &Scalar, secrecy: Secrecy) -> String {
    if scalar.is_null() {
        return "null".to_owned();
    }
    if secrecy.hides() {
        return HIDDEN.to_owned();
    }
    if is_typed(scalar) {
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
    use super::super::tree::Place;
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
            let printed = yaml(&tree, &|_| None);
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
