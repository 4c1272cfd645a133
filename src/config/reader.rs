//! serde over the tree: the same derived structs as anywhere, with the position of every error.
//!
//! Invariant: structs are read from maps only, texts take any scalar as it is typed, and what was
//! dropped before is not seen.

use std::cell::RefCell;
use std::collections::HashSet;

use serde::de::{self, DeserializeSeed, Deserializer, Visitor};

use super::secrets::Secrecy;
use super::tree::{Entry, Node, Place, Scalar, Value};
use super::wrong::{BOOLEAN, Kind, Wrong, expected_words};

/// What is passed over.
pub(super) type Dropped = RefCell<HashSet<Place>>;

/// Reads one node.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    node: &'a Node,
    /// Whether the value is a secret, by the names of the keys above it.
    secrecy: Secrecy,
    dropped: &'a Dropped,
}

impl<'a> Reader<'a> {
    /// A reader of a component, or of what stands in one.
    pub(super) fn new(node: &'a Node, secrecy: Secrecy, dropped: &'a Dropped) -> Self {
        Self {
            node,
            secrecy,
            dropped,
        }
    }
}

impl<'a> Reader<'a> {
    /// Where the value stands.
    pub(super) fn place(self) -> Place {
        self.node.place
    }

    fn scalar(self) -> Option<&'a Scalar> {
        match &self.node.value {
            Value::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// What stands here, in words.
    pub(super) fn describe(self) -> String {
        match &self.node.value {
            Value::List(_) => "a list".to_owned(),
            Value::Map(_) => "a map".to_owned(),
            Value::Scalar(scalar) if scalar.is_null() => "nothing".to_owned(),
            Value::Scalar(_) if self.secrecy.hides() => "another text".to_owned(),
            Value::Scalar(scalar) => match &scalar.typed {
                Some(typed) => format!("what `{typed}` stands for"),
                None if !scalar.plain => format!("the text {:?}", short(&scalar.text)),
                None if scalar.as_bool().is_some() || scalar.as_float().is_some() => {
                    scalar.text.clone()
                }
                None => format!("`{}`", short(&scalar.text)),
            },
        }
    }

    /// The text that must not be shown, and what is shown instead.
    pub(super) fn hidden(self) -> Option<(String, String)> {
        let scalar = self.scalar()?;
        let shown = match &scalar.typed {
            _ if self.secrecy.hides() => "***".to_owned(),
            Some(typed) => typed.clone(),
            None => return None,
        };
        Some((scalar.text.clone(), shown))
    }

    /// Whether something of this map was dropped.
    pub(super) fn is_incomplete(self) -> bool {
        let dropped = self.dropped.borrow();
        self.node
            .entries()
            .iter()
            .any(|entry| dropped.contains(&entry.key_place) || dropped.contains(&entry.value.place))
    }

    fn wants<T>(self, expected: &str) -> Result<T, Wrong> {
        Err(Wrong::new(Kind::Type {
            expected: expected.to_owned(),
        }))
    }

    fn text<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.scalar() {
            Some(scalar) if !scalar.is_null() => visitor.visit_str(&scalar.text),
            _ => self.wants(&expected_words(&visitor)),
        }
    }

    fn number<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        let Some(scalar) = self.scalar() else {
            return self.wants(&expected_words(&visitor));
        };
        if let Some(number) = scalar.as_int() {
            if let Ok(number) = u64::try_from(number) {
                return visitor.visit_u64(number);
            }
            if let Ok(number) = i64::try_from(number) {
                return visitor.visit_i64(number);
            }
        }
        match scalar.as_float() {
            Some(number) => visitor.visit_f64(number),
            None => self.wants(&expected_words(&visitor)),
        }
    }
}

fn short(text: &str) -> String {
    let mut chars = text.chars();
    let mut shown: String = chars.by_ref().take(40).collect();
    if chars.next().is_some() {
        shown.push_str("...");
    }
    shown
}

macro_rules! numbers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
            self.number(visitor)
        }
    )*};
}

macro_rules! texts {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
            self.text(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = Wrong;

    numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }
    texts! { deserialize_char deserialize_str deserialize_string deserialize_identifier }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match &self.node.value {
            Value::List(_) => self.deserialize_seq(visitor),
            Value::Map(_) => self.deserialize_map(visitor),
            Value::Scalar(scalar) if scalar.is_null() => visitor.visit_unit(),
            Value::Scalar(scalar) => match (scalar.as_bool(), scalar.as_float()) {
                (Some(yes), _) => visitor.visit_bool(yes),
                (None, Some(_)) => self.number(visitor),
                (None, None) => visitor.visit_str(&scalar.text),
            },
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.scalar().and_then(Scalar::as_bool) {
            Some(yes) => visitor.visit_bool(yes),
            None => self.wants(BOOLEAN),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        if self.node.is_null() {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.text(visitor)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.text(visitor)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        if self.node.is_null() {
            visitor.visit_unit()
        } else {
            self.wants("nothing")
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match &self.node.value {
            Value::List(members) => visitor.visit_seq(Members {
                members: members.iter(),
                reader: self,
            }),
            _ if self.node.is_null() => visitor.visit_seq(Members {
                members: [].iter(),
                reader: self,
            }),
            _ => self.wants("a list"),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Wrong> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match &self.node.value {
            Value::Map(entries) => visitor.visit_map(Entries {
                entries: entries.iter(),
                current: None,
                reader: self,
            }),
            // `debug:` with nothing after it means all defaults.
            _ if self.node.is_null() => visitor.visit_map(Entries {
                entries: [].iter(),
                current: None,
                reader: self,
            }),
            _ => self.wants("a map of keys and values"),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        match &self.node.value {
            Value::Scalar(scalar) if !scalar.is_null() => {
                visitor.visit_enum(de::value::StrDeserializer::new(&scalar.text))
            }
            Value::Map(entries) if entries.len() == 1 => {
                visitor.visit_enum(de::value::MapAccessDeserializer::new(Entries {
                    entries: entries.iter(),
                    current: None,
                    reader: self,
                }))
            }
            _ => self.wants("one of the words allowed here"),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_unit()
    }
}

struct Members<'a> {
    members: std::slice::Iter<'a, Node>,
    reader: Reader<'a>,
}

impl<'de> de::SeqAccess<'de> for Members<'_> {
    type Error = Wrong;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Wrong> {
        let dropped = self.reader.dropped;
        let next = self
            .members
            .find(|member| !dropped.borrow().contains(&member.place));
        let Some(node) = next else {
            return Ok(None);
        };
        let reader = Reader {
            node,
            ..self.reader
        };
        seed.deserialize(reader)
            .map(Some)
            .map_err(|wrong| wrong.at(reader, node.place, node.place))
    }
}

struct Entries<'a> {
    entries: std::slice::Iter<'a, Entry>,
    current: Option<&'a Entry>,
    reader: Reader<'a>,
}

impl<'de> de::MapAccess<'de> for Entries<'_> {
    type Error = Wrong;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Wrong> {
        let dropped = self.reader.dropped;
        self.current = self.entries.find(|entry| {
            let dropped = dropped.borrow();
            !dropped.contains(&entry.key_place) && !dropped.contains(&entry.value.place)
        });
        let Some(entry) = self.current else {
            return Ok(None);
        };
        seed.deserialize(de::value::StrDeserializer::new(&entry.key))
            .map(Some)
            .map_err(|wrong: Wrong| wrong.at(self.reader, entry.key_place, entry.key_place))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Wrong> {
        let Some(entry) = self.current.take() else {
            return Err(Wrong::new(Kind::Words("a value without a key".to_owned())));
        };
        let reader = Reader {
            node: &entry.value,
            secrecy: self.reader.secrecy.below(&entry.key),
            ..self.reader
        };
        seed.deserialize(reader)
            .map_err(|wrong| wrong.at(reader, entry.key_place, entry.shown()))
    }
}
