//! Several sources into one tree: maps merge, lists and values replace, later wins.

use super::parse::parse;
use super::problems::Problems;
use super::report::Problem;
use super::tree::{Entry, Node, Place, Scalar, Value};

/// Most keys in a path: far more than there are levels, far fewer than a stack has room for.
const PATH_MAX: usize = 32;

/// Lays `over` over `base`.
pub(super) fn merge(base: &mut Node, over: Node, problems: &mut Problems) {
    match (&mut base.value, over.value) {
        (Value::Map(entries), Value::Map(over)) => {
            for entry in over {
                match entries.iter_mut().find(|known| known.key == entry.key) {
                    None => entries.push(entry),
                    // An overlay that only names a section does not mean to empty it.
                    Some(known) if entry.value.is_null() && is_section(&known.value) => {
                        problems.push(
                            Problem::warning(
                                entry.key_place,
                                "nothing here: the section stays as it was",
                            )
                            .also(known.key_place, "set here")
                            .help("to empty it write {}, or leave the key out"),
                        );
                    }
                    Some(known) => {
                        if !matches!(entry.value.value, Value::Map(_)) {
                            known.key_place = entry.key_place;
                        }
                        merge(&mut known.value, entry.value, problems);
                    }
                }
            }
        }
        (_, value) => {
            *base = Node {
                place: over.place,
                value,
            };
        }
    }
}

/// A map with something in it.
fn is_section(node: &Node) -> bool {
    !node.entries().is_empty()
}

/// `--set a.b.c=v` as a tree. `text` is the whole of it, the source of index `source`. The path is split
/// at `::` if it has any, else at dots; the value is YAML.
pub(super) fn from_override(
    source: usize,
    path: &str,
    value: &str,
    problems: &mut Problems,
) -> Option<Node> {
    let separator = if path.contains("::") { "::" } else { "." };
    let whole = Place {
        source,
        start: 0,
        end: path.len(),
    };
    if path.split(separator).count() > PATH_MAX {
        problems.push(Problem::error(whole, "no key is that deep"));
        return None;
    }
    if path.split(separator).any(|key| key.trim().is_empty()) {
        problems.push(
            Problem::error(whole, "a key is missing in the path")
                .help("write --set processors.anomaly.settle=0s"),
        );
        return None;
    }
    let mut node = parse(source, path.len() + 1, value, problems)?;
    if node.entries().is_empty() && value.trim().is_empty() {
        node.value = Value::Scalar(Scalar {
            text: String::new(),
            plain: true,
            typed: None,
        });
    }
    let mut end = path.len();
    for key in path.rsplit(separator) {
        let start = end - key.len();
        let place = Place { source, start, end };
        node = Node {
            place,
            value: Value::Map(vec![Entry {
                key: key.to_owned(),
                key_place: place,
                value: node,
            }]),
        };
        end = start.saturating_sub(separator.len());
    }
    Some(node)
}

/// In a `yaml:` source keys may be paths, as the collector allows: `exporters::debug::verbosity: basic`.
pub(super) fn unfold_paths(node: Node, problems: &mut Problems) -> Node {
    let Value::Map(entries) = node.value else {
        return node;
    };
    let mut root = Node::empty_map(node.place);
    for entry in entries {
        let mut value = entry.value;
        if entry.key.split("::").count() > PATH_MAX {
            problems.push(Problem::error(entry.key_place, "no key is that deep"));
            continue;
        }
        for key in entry.key.rsplit("::") {
            value = Node {
                place: entry.key_place,
                value: Value::Map(vec![Entry {
                    key: key.to_owned(),
                    key_place: entry.key_place,
                    value,
                }]),
            };
        }
        merge(&mut root, value, problems);
    }
    root
}
