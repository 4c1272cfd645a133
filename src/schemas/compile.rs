//! From the text of a schema to its subschemas, without recursion.
//!
//! Invariant: what changes the meaning of a keyword that is read, and is not understood here, makes the whole
//! schema not assessed: a dialect that is not known, a reference that does not lead inside this document by a
//! plain pointer, one that stands in a part with a base of its own (`$id`), `$dynamicRef`, `$recursiveRef`.

use std::collections::VecDeque;

use hashbrown::HashMap;
use serde_json::{Map, Value};

use super::{Bound, DEPTH_MAX, NODES_MAX, Node, Required, Schema, TEXT_MAX, kind};

/// Compiles a schema; `None` when it is no schema, over a limit, of an unknown dialect, or refers to what is
/// not known to be inside of itself.
pub fn compile(text: &str) -> Option<Schema> {
    if text.len() > TEXT_MAX {
        return None;
    }
    let document: Value = serde_json::from_str(text).ok()?;
    let mut builder = Builder {
        dialect: Dialect::of(document.as_object()?)?,
        document: &document,
        nodes: Vec::new(),
        known: HashMap::default(),
        queue: VecDeque::new(),
    };
    builder.node(&document, 0)?;
    while let Some((value, place, depth)) = builder.queue.pop_front() {
        let node = builder.read(value, depth)?;
        *builder.nodes.get_mut(place)? = node;
    }
    Some(Schema {
        bytes: builder.nodes.len() * size_of::<Node>() + 2 * text.len(),
        nodes: builder.nodes.into(),
    })
}

/// What the words of a schema mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Dialect {
    /// Drafts 3 and 4.
    Four,
    /// Drafts 6 and 7, and 2019-09.
    Seven,
    /// Draft 2020-12.
    New,
    /// Nothing says: whatever any of them allows.
    Unsaid,
}

impl Dialect {
    /// The dialect that a document names; `None` when it names one that is not known.
    fn of(document: &Map<String, Value>) -> Option<Self> {
        let Some(named) = document.get("$schema") else {
            return Some(Self::Unsaid);
        };
        let named = named.as_str()?.trim_end_matches('#');
        let (_, address) = named.split_once("://")?;
        match address {
            "json-schema.org/draft-03/schema" | "json-schema.org/draft-04/schema" => {
                Some(Self::Four)
            }
            "json-schema.org/draft-06/schema"
            | "json-schema.org/draft-07/schema"
            | "json-schema.org/draft/2019-09/schema" => Some(Self::Seven),
            "json-schema.org/draft/2020-12/schema" => Some(Self::New),
            // Whichever is the newest when it is read.
            "json-schema.org/schema" | "spec.openapis.org/oas/3.1/dialect/base" => {
                Some(Self::Unsaid)
            }
            _ => None,
        }
    }

    /// Whether the word is one of this dialect in the form in which it stands. One that is not is passed over,
    /// as validators do; where nothing names the dialect, all words are.
    fn knows(self, keyword: &str, value: &Value) -> bool {
        match keyword {
            "prefixItems" => self >= Self::New,
            "items" if value.is_array() => self != Self::New,
            "const" => self != Self::Four,
            "exclusiveMinimum" | "exclusiveMaximum" => match value {
                Value::Bool(_) => matches!(self, Self::Four | Self::Unsaid),
                _ => self != Self::Four,
            },
            _ => true,
        }
    }

    /// A member of a subschema, if it is a word of this dialect.
    fn get<'v>(self, members: &'v Map<String, Value>, keyword: &str) -> Option<&'v Value> {
        members
            .get(keyword)
            .filter(|value| self.knows(keyword, value))
    }
}

struct Builder<'v> {
    dialect: Dialect,
    document: &'v Value,
    nodes: Vec<Node>,
    /// Places of subschemas by where they stand: a recursive schema comes back to the same ones.
    known: HashMap<*const Value, usize, foldhash::fast::FixedState>,
    queue: VecDeque<(&'v Value, usize, usize)>,
}

impl<'v> Builder<'v> {
    /// The place of a subschema; its content follows from the queue.
    fn node(&mut self, value: &'v Value, depth: usize) -> Option<usize> {
        if let Some(place) = self.known.get(&std::ptr::from_ref(value)) {
            return Some(*place);
        }
        if depth > DEPTH_MAX || self.nodes.len() >= NODES_MAX {
            return None;
        }
        let place = self.nodes.len();
        self.nodes.push(Node::default());
        self.known.insert(std::ptr::from_ref(value), place);
        self.queue.push_back((value, place, depth));
        Some(place)
    }

    fn list(&mut self, values: &'v Value, depth: usize) -> Option<Box<[usize]>> {
        let values = values.as_array()?.iter();
        values.map(|value| self.node(value, depth + 1)).collect()
    }

    fn read(&mut self, value: &'v Value, depth: usize) -> Option<Node> {
        let members = match value {
            Value::Bool(allowed) => {
                return Some(Node {
                    never: !allowed,
                    ..Node::default()
                });
            }
            other => other.as_object()?,
        };
        let root = std::ptr::eq(value, self.document);
        if members.contains_key("$dynamicRef")
            || members.contains_key("$recursiveRef")
            || (!root && rebases(members) && refers(value))
            || (members.contains_key("$schema")
                && !root
                && Dialect::of(members) != Some(self.dialect))
        {
            return None;
        }
        if let Some(reference) = members.get("$ref") {
            let target = self.target(reference.as_str()?)?;
            return Some(Node {
                target: Some(self.node(target, depth + 1)?),
                ..Node::default()
            });
        }
        let mut node = Node {
            kinds: kinds(members),
            bounds: bounds(members, self.dialect),
            values: values(members, self.dialect),
            ..Node::default()
        };
        self.object(members, depth, &mut node)?;
        self.array(members, depth, &mut node)?;
        if let Some(all) = members.get("allOf") {
            node.all = self.list(all, depth)?;
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(any) = members.get(keyword) {
                let any = self.list(any, depth)?;
                node.any.extend((!any.is_empty()).then_some((keyword, any)));
            }
        }
        Some(node)
    }

    /// Where a reference leads: `#` and a pointer into this document that passes no part with a base of its
    /// own. Pointers with escapes of addresses (`%25`) are left alone.
    fn target(&self, reference: &str) -> Option<&'v Value> {
        let path = reference.strip_prefix('#')?;
        if path.contains('%') {
            return None;
        }
        let target = self.document.pointer(path)?;
        let passed = path.match_indices('/').skip(1).map(|(end, _)| end);
        let foreign = passed
            .filter_map(|end| self.document.pointer(path.get(..end)?))
            .any(|part| part.as_object().is_some_and(rebases));
        (!foreign).then_some(target)
    }

    fn object(
        &mut self,
        members: &'v Map<String, Value>,
        depth: usize,
        node: &mut Node,
    ) -> Option<()> {
        let properties = members.get("properties").and_then(Value::as_object);
        if let Some(properties) = properties {
            // The map is sorted by name.
            node.members = properties
                .iter()
                .map(|(name, value)| Some((Box::from(name.as_str()), self.node(value, depth + 1)?)))
                .collect::<Option<_>>()?;
        }
        if let Some(Value::Array(names)) = members.get("required") {
            let names = names.iter().filter_map(Value::as_str);
            node.required = names
                .map(|name| Required {
                    name: name.into(),
                    has_default: properties
                        .and_then(|all| all.get(name)?.get("default"))
                        .is_some(),
                })
                .collect();
        }
        match members.get("additionalProperties") {
            // Members that a pattern allows are not known to be others.
            _ if members.contains_key("patternProperties") => {}
            None | Some(Value::Bool(true)) => {}
            Some(others) => node.others = Some(self.node(others, depth + 1)?),
        }
        Some(())
    }

    fn array(
        &mut self,
        members: &'v Map<String, Value>,
        depth: usize,
        node: &mut Node,
    ) -> Option<()> {
        let first = self.dialect.get(members, "prefixItems");
        match self.dialect.get(members, "items") {
            Some(list @ Value::Array(_)) => node.first_items = self.list(list, depth)?,
            Some(one) => node.items = Some(self.node(one, depth + 1)?),
            None => {}
        }
        if let Some(first) = first {
            node.first_items = self.list(first, depth)?;
        }
        Some(())
    }
}

/// The kinds that `type` allows. A name that is none (`any`, `float`) allows everything.
fn kinds(members: &Map<String, Value>) -> u8 {
    let one = |name: &Value| {
        let name = name.as_str()?;
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        Some(if is("string") {
            kind::TEXT
        } else if is("integer") {
            kind::INTEGER
        } else if is("number") {
            kind::NUMBER | kind::INTEGER
        } else if is("boolean") {
            kind::BOOLEAN
        } else if is("array") {
            kind::ARRAY
        } else if is("object") {
            kind::OBJECT
        } else if is("null") {
            kind::NULL
        } else {
            return None;
        })
    };
    let kinds = match members.get("type") {
        Some(Value::Array(names)) => names
            .iter()
            .try_fold(0, |kinds, name| Some(kinds | one(name)?)),
        Some(name) => one(name),
        None => None,
    };
    let null = members.get("nullable").and_then(Value::as_bool) == Some(true);
    match kinds {
        Some(kinds) if null && kinds != 0 => kinds | kind::NULL,
        other => other.unwrap_or(0),
    }
}

/// Whether a part of a document has a base of its own: references in it lead elsewhere. An `$id` that is a
/// mere fragment names a place (drafts 6 and 7).
fn rebases(members: &Map<String, Value>) -> bool {
    ["$id", "id"].iter().any(|keyword| {
        let id = members.get(*keyword).and_then(Value::as_str);
        id.is_some_and(|id| !id.starts_with('#'))
    })
}

/// Whether a reference stands anywhere in a part. Values are as deep as the reader of JSON lets them be.
fn refers(part: &Value) -> bool {
    let mut open = vec![part];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) if members.contains_key("$ref") => return true,
            Value::Object(members) => open.extend(members.values()),
            Value::Array(values) => open.extend(values),
            _ => {}
        }
    }
    false
}

fn values(members: &Map<String, Value>, dialect: Dialect) -> Option<(&'static str, Box<[Value]>)> {
    if let Some(value) = dialect.get(members, "const") {
        return Some(("const", Box::from([value.clone()])));
    }
    let values = members.get("enum")?.as_array()?;
    // An enumeration of nothing is a slip of whoever made it.
    (!values.is_empty()).then(|| ("enum", values.clone().into()))
}

/// Keywords of bounds: what they are about, and whether they are upper ones.
const BOUNDS: &[(&str, u8, bool)] = &[
    ("minimum", kind::NUMBER, false),
    ("maximum", kind::NUMBER, true),
    ("minLength", kind::TEXT, false),
    ("maxLength", kind::TEXT, true),
    ("minItems", kind::ARRAY, false),
    ("maxItems", kind::ARRAY, true),
    ("minProperties", kind::OBJECT, false),
    ("maxProperties", kind::OBJECT, true),
];

fn bounds(members: &Map<String, Value>, dialect: Dialect) -> Vec<Bound> {
    let mut bounds = Vec::new();
    for (keyword, of, upper) in BOUNDS {
        if let Some(limit) = members.get(*keyword).and_then(Value::as_f64) {
            let strict = if *upper {
                "exclusiveMaximum"
            } else {
                "exclusiveMinimum"
            };
            // Draft 4 says it by a boolean beside the limit.
            let exclusive =
                *of == kind::NUMBER && dialect.get(members, strict) == Some(&Value::Bool(true));
            bounds.push(Bound {
                keyword,
                of: *of,
                limit,
                upper: *upper,
                exclusive,
            });
        }
    }
    for (keyword, upper) in [("exclusiveMinimum", false), ("exclusiveMaximum", true)] {
        if let Some(limit) = dialect.get(members, keyword).and_then(Value::as_f64) {
            bounds.push(Bound {
                keyword,
                of: kind::NUMBER,
                limit,
                upper,
                exclusive: true,
            });
        }
    }
    bounds
}
