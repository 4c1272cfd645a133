//! A YAML document as a tree in which every node knows where it was written.
//!
//! Invariant: keys of one map are unique, the tree is at most [`DEPTH_MAX`] deep, and aliases and
//! merge keys are already resolved.

/// Deepest nesting of maps and lists.
pub(super) const DEPTH_MAX: usize = 64;

/// A stretch of one source text, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Place {
    /// Index of the source: the files in the order given, then the `--set` overrides.
    pub(super) source: usize,
    /// Where it starts.
    pub(super) start: usize,
    /// Where it ends; not before its start.
    pub(super) end: usize,
}

/// One value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) place: Place,
    pub(super) value: Value,
}

/// What a node holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Scalar(Scalar),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// One text, number, boolean or nothing.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scalar {
    /// The text after YAML escapes and expansion.
    pub(super) text: String,
    /// Not quoted, so that it may be a number, a boolean or nothing.
    pub(super) plain: bool,
    /// The text before expansion, when expansion changed it.
    pub(super) typed: Option<String>,
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) key_place: Place,
    pub(super) value: Node,
}

impl Entry {
    /// Where to point for its value: the value itself when it is a word, else the key.
    pub(super) fn shown(&self) -> Place {
        match &self.value.value {
            Value::Scalar(scalar) if !scalar.is_null() => self.value.place,
            _ => self.key_place,
        }
    }
}

impl Scalar {
    /// Whether it says that there is no value.
    pub(super) fn is_null(&self) -> bool {
        self.plain && matches!(self.text.as_str(), "" | "~" | "null" | "Null" | "NULL")
    }

    /// The boolean it is, if any. Strict: `yes` and `on` are texts.
    pub(super) fn as_bool(&self) -> Option<bool> {
        match self.text.as_str() {
            "true" | "True" | "TRUE" if self.is_typed() => Some(true),
            "false" | "False" | "FALSE" if self.is_typed() => Some(false),
            _ => None,
        }
    }

    /// The whole number it is, if any: decimal, `0x` or `0o`.
    pub(super) fn as_int(&self) -> Option<i128> {
        if !self.is_typed() {
            return None;
        }
        let text = self.text.trim();
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let number = if let Some(hex) = digits.strip_prefix("0x") {
            unsigned(hex, 16)
        } else if let Some(octal) = digits.strip_prefix("0o") {
            unsigned(octal, 8)
        } else {
            unsigned(digits, 10)
        }?;
        Some(if negative { -number } else { number })
    }

    /// The finite number it is, if any.
    pub(super) fn as_float(&self) -> Option<f64> {
        let text = self.text.trim();
        let numeric = text
            .bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'));
        let number: f64 = (self.is_typed() && numeric)
            .then(|| text.parse().ok())
            .flatten()?;
        number.is_finite().then_some(number)
    }

    /// Whether the text may be taken for a number or a boolean: it is plain, or came by expansion
    /// (inside `{}` a reference to the environment has to be quoted).
    fn is_typed(&self) -> bool {
        self.plain || self.typed.is_some()
    }
}

fn unsigned(digits: &str, radix: u32) -> Option<i128> {
    let valid = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    valid
        .then(|| u64::from_str_radix(digits, radix).ok().map(i128::from))
        .flatten()
}

impl Node {
    /// An empty map standing at `place`.
    pub(super) fn empty_map(place: Place) -> Self {
        Self {
            place,
            value: Value::Map(Vec::new()),
        }
    }

    /// Whether it is written as nothing.
    pub(super) fn is_null(&self) -> bool {
        matches!(&self.value, Value::Scalar(scalar) if scalar.is_null())
    }

    /// Its entries; none when it is no map.
    pub(super) fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Its members; none when it is no list.
    pub(super) fn members(&self) -> &[Node] {
        match &self.value {
            Value::List(members) => members,
            _ => &[],
        }
    }

    /// Its text, when it is a scalar that is not nothing.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(scalar) if !scalar.is_null() => Some(&scalar.text),
            _ => None,
        }
    }

    /// Takes away the entry at the end of a path of keys, if it is there.
    pub(super) fn remove(&mut self, path: &[&str]) {
        let (Value::Map(entries), Some((first, rest))) = (&mut self.value, path.split_first())
        else {
            return;
        };
        if rest.is_empty() {
            entries.retain(|entry| entry.key != *first);
        } else if let Some(entry) = entries.iter_mut().find(|entry| entry.key == *first) {
            entry.value.remove(rest);
        }
    }

    /// What it holds, in a line: `threshold: 4, tools: {ls: {ignore: true}}`.
    pub(super) fn words(&self) -> String {
        match &self.value {
            Value::Scalar(scalar) => scalar.text.clone(),
            Value::List(members) => {
                let members: Vec<String> = members.iter().map(Self::words).collect();
                format!("[{}]", members.join(", "))
            }
            Value::Map(entries) => {
                let braced = |entry: &Entry| match &entry.value.value {
                    Value::Map(_) => format!("{}: {{{}}}", entry.key, entry.value.words()),
                    _ => format!("{}: {}", entry.key, entry.value.words()),
                };
                let entries: Vec<String> = entries.iter().map(braced).collect();
                entries.join(", ")
            }
        }
    }

    /// The entry of a key.
    pub(super) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The entry at the end of a path of keys.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Entry> {
        let (first, rest) = path.split_first()?;
        let entry = self.entry(first)?;
        if rest.is_empty() {
            Some(entry)
        } else {
            entry.value.at(rest)
        }
    }

    /// How many nodes it has, itself included.
    pub(super) fn size(&self) -> usize {
        1 + match &self.value {
            Value::Scalar(_) => 0,
            Value::List(members) => members.iter().map(Self::size).sum(),
            Value::Map(entries) => entries.iter().map(|entry| entry.value.size()).sum(),
        }
    }

    /// How deep it is: 0 for a scalar.
    pub(super) fn depth(&self) -> usize {
        match &self.value {
            Value::Scalar(_) => 0,
            Value::List(members) => 1 + members.iter().map(Self::depth).max().unwrap_or(0),
            Value::Map(entries) => {
                1 + entries
                    .iter()
                    .map(|entry| entry.value.depth())
                    .max()
                    .unwrap_or(0)
            }
        }
    }
}
