//! Attribute values as they lie in the buffer.
//!
//! A value may come in pieces: protobuf merges a field that occurs again. Scalars: the last occurrence holds.
//! Lists: the pieces of the case that stands last are joined. Nothing is copied for it.

use super::fields::{key_value, list};
use super::scan::{any, entry};
use super::wire::Fields;

/// The value of an attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// None was set, or one of a kind we do not know.
    Empty,
    /// A text.
    Str(&'a str),
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Double(f64),
    /// Bytes.
    Bytes(&'a [u8]),
    /// Values in order.
    Array(ArrayView<'a>),
    /// Values by key.
    Map(MapView<'a>),
}

impl<'a> Value<'a> {
    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&'a str> {
        match self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The whole number, if it is one.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// The number, whole or not.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "asked for as a double")]
            Self::Int(number) => Some(*number as f64),
            Self::Double(number) => Some(*number),
            _ => None,
        }
    }

    /// The truth value, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(truth) => Some(*truth),
            _ => None,
        }
    }

    /// The bytes, if it is bytes.
    pub fn as_bytes(&self) -> Option<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The array, if it is one.
    pub fn as_array(&self) -> Option<ArrayView<'a>> {
        match self {
            Self::Array(array) => Some(*array),
            _ => None,
        }
    }

    /// The map, if it is one.
    pub fn as_map(&self) -> Option<MapView<'a>> {
        match self {
            Self::Map(map) => Some(*map),
            _ => None,
        }
    }
}

/// Values in order. Equal when their bytes are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArrayView<'a>(pub(super) Pieces<'a>);

impl<'a> ArrayView<'a> {
    /// Its values.
    pub fn iter(&self) -> Values<'a> {
        Values(self.0.items())
    }
}

impl<'a> IntoIterator for ArrayView<'a> {
    type Item = Value<'a>;
    type IntoIter = Values<'a>;

    fn into_iter(self) -> Values<'a> {
        self.iter()
    }
}

/// Values by key, in wire order, keys as often as they came. Equal when their bytes are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MapView<'a>(pub(super) Pieces<'a>);

impl<'a> MapView<'a> {
    /// Its entries.
    pub fn iter(&self) -> Entries<'a> {
        Entries(self.0.items())
    }

    /// The value of the first entry with this key.
    pub fn get(&self, key: &str) -> Option<Value<'a>> {
        self.iter()
            .find(|(name, _)| *name == key)
            .map(|(_, value)| value)
    }
}

impl<'a> IntoIterator for MapView<'a> {
    type Item = (&'a str, Value<'a>);
    type IntoIter = Entries<'a>;

    fn into_iter(self) -> Entries<'a> {
        self.iter()
    }
}

/// The values of an array.
#[derive(Clone, Debug)]
pub struct Values<'a>(Items<'a>);

impl<'a> Iterator for Values<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        self.0.next().map(any)
    }
}

/// Keys and values of a map, or of attributes outside of spans.
#[derive(Clone, Debug)]
pub struct Entries<'a>(Items<'a>);

impl<'a> Entries<'a> {
    /// The KeyValue fields of this number in a checked message.
    pub(super) fn of(message: &'a [u8], number: u32) -> Self {
        Self(Items {
            keyed: Fields::EMPTY,
            any: Fields::EMPTY,
            list: Fields::new(message),
            item: number,
            case: 0,
            skip: 0,
        })
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = (&'a str, Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(entry)
    }
}

/// Where the content of a list lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pieces<'a> {
    One(&'a [u8]),
    /// In several fields of `holder`: a KeyValue if `keyed`, else an AnyValue. Those of `case` count,
    /// without the first `skip`, which another case has overwritten.
    Split {
        holder: &'a [u8],
        keyed: bool,
        case: u32,
        skip: u32,
    },
}

impl<'a> Pieces<'a> {
    fn items(&self) -> Items<'a> {
        let none = Items {
            keyed: Fields::EMPTY,
            any: Fields::EMPTY,
            list: Fields::EMPTY,
            item: list::VALUES,
            case: 0,
            skip: 0,
        };
        match *self {
            Self::One(bytes) => Items {
                list: Fields::new(bytes),
                ..none
            },
            Self::Split {
                holder,
                keyed,
                case,
                skip,
            } => Items {
                keyed: if keyed {
                    Fields::new(holder)
                } else {
                    Fields::EMPTY
                },
                any: if keyed {
                    Fields::EMPTY
                } else {
                    Fields::new(holder)
                },
                case,
                skip,
                ..none
            },
        }
    }
}

/// The encoded items of a list, over all of its pieces.
#[derive(Clone, Debug)]
struct Items<'a> {
    keyed: Fields<'a>,
    any: Fields<'a>,
    list: Fields<'a>,
    item: u32,
    case: u32,
    skip: u32,
}

impl<'a> Iterator for Items<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            if let Some(item) = self.list.next_bytes(self.item) {
                return Some(item);
            }
            if let Some(piece) = self.any.next_bytes(self.case) {
                if self.skip > 0 {
                    self.skip -= 1;
                } else {
                    self.list = Fields::new(piece);
                }
                continue;
            }
            self.any = Fields::new(self.keyed.next_bytes(key_value::VALUE)?);
        }
    }
}
