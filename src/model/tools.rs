//! What a model was told of its tools: their names, the shape of their arguments, and hints.

use std::fmt;
use std::sync::Arc;

use super::{Name, ToolIdentity};

/// What the definition of one tool says.
#[derive(Clone, Debug, Default)]
pub struct Definition {
    /// Its name, as it is looked up.
    pub identity: ToolIdentity,
    /// What its arguments must look like; `None` when nothing usable was sent.
    pub shape: Option<Arc<dyn Shape>>,
    /// What it is said to do.
    pub hints: Hints,
}

/// What a tool's arguments must look like, made ready for checking.
pub trait Shape: fmt::Debug + Send + Sync {
    /// Holds arguments against it. Total and bounded: what takes too long, or is no JSON object, is not
    /// assessed. When `strict` other values and plain texts count too, and so does a member that the whole
    /// does not name.
    fn check(&self, arguments: &str, strict: bool) -> (Fit, Option<Breach>);

    /// Bytes that it holds, roughly.
    fn bytes(&self) -> usize;
}

/// Whether arguments fit the tool's schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fit {
    /// No schema, no arguments, or more than is looked at.
    #[default]
    Unassessed,
    /// They fit.
    Fits,
    /// They break it.
    Breaks {
        /// Only in a way that tools commonly put up with: a number written as text, null for what may be
        /// missing, a member that the tool does not know.
        lenient: bool,
    },
}

/// Where and how a schema is broken. Never by which value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// JSON pointer to the member of the arguments, at most [`Breach::POINTER_MAX`] bytes.
    pub pointer: Name,
    /// The keyword of the schema.
    pub keyword: &'static str,
}

impl Breach {
    /// Longest pointer in bytes; a longer one is cut.
    pub const POINTER_MAX: usize = 120;
}

/// The behaviour hints of the Model Context Protocol (`ToolAnnotations`), as far as they were sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// `readOnlyHint`: it changes nothing.
    pub read_only: Option<bool>,
    /// `destructiveHint`: it may destroy; only said of tools that are not read-only.
    pub destructive: Option<bool>,
    /// `idempotentHint`: a second call with the same arguments changes nothing more.
    pub idempotent: Option<bool>,
}

impl Hints {
    /// These, completed by what only the others say.
    pub fn or(self, others: Self) -> Self {
        Self {
            read_only: self.read_only.or(others.read_only),
            destructive: self.destructive.or(others.destructive),
            idempotent: self.idempotent.or(others.idempotent),
        }
    }
}

/// The tools a model was given, shared between all steps that carry the same text.
#[derive(Clone, Debug, Default)]
pub struct ToolSet {
    /// Hash of the raw definitions.
    pub id: u64,
    /// Folded names, sorted.
    pub names: Arc<[Name]>,
    tools: Arc<Tools>,
}

#[derive(Debug, Default)]
struct Tools {
    definitions: Box<[Definition]>,
    /// Hashes of the names in all three readings, sorted, each with the place of its definition.
    places: Box<[(u64, u32)]>,
    open: bool,
}

impl ToolSet {
    /// A set. `open` says that there are more tools than were named: a missing one proves nothing.
    pub fn new(id: u64, names: Arc<[Name]>, definitions: Vec<Definition>, open: bool) -> Self {
        let mut places: Vec<(u64, u32)> = (0u32..)
            .zip(&definitions)
            .flat_map(|(place, one)| {
                let identity = one.identity;
                [identity.exact, identity.folded, identity.bare].map(|hash| (hash, place))
            })
            .collect();
        places.sort_unstable();
        places.dedup();
        Self {
            id,
            names,
            tools: Arc::new(Tools {
                definitions: definitions.into(),
                places: places.into(),
                open,
            }),
        }
    }

    /// What was sent of the tools.
    pub fn definitions(&self) -> &[Definition] {
        &self.tools.definitions
    }

    /// Whether a name stands among the definitions, in one of its readings. Readings never meet by chance:
    /// each is hashed with its own seed.
    pub fn holds(&self, hash: u64) -> bool {
        self.find(hash).next().is_some()
    }

    /// Whether more tools are at hand than the definitions name.
    pub fn is_open(&self) -> bool {
        self.tools.open
    }

    /// The definition of a tool: by its name as sent, else folded, else without the prefix of a server;
    /// `None` where several answer to it.
    pub fn definition(&self, tool: ToolIdentity) -> Option<&Definition> {
        [tool.exact, tool.folded, tool.bare]
            .into_iter()
            .find_map(|hash| {
                let mut found = self.find(hash);
                let first = found.next()?;
                Some(found.next().is_none().then_some(first))
            })?
    }

    fn find(&self, hash: u64) -> impl Iterator<Item = &Definition> {
        let places = &self.tools.places;
        let from = places.partition_point(|(other, _)| *other < hash);
        let same = places.get(from..).unwrap_or_default().iter();
        same.take_while(move |(other, _)| *other == hash)
            .filter_map(|(_, place)| {
                let place = usize::try_from(*place).ok()?;
                self.tools.definitions.get(place)
            })
    }

    /// This holder's part of the bytes held: all who hold the same set share it.
    pub fn bytes(&self) -> usize {
        let shapes = self.tools.definitions.iter();
        let shapes: usize = shapes
            .filter_map(|one| one.shape.as_ref())
            .map(|shape| shape.bytes() / Arc::strong_count(shape).max(1))
            .sum();
        let own = self.tools.definitions.len() * (size_of::<Definition>() + 48) + shapes;
        own / Arc::strong_count(&self.tools).max(1)
    }
}

impl PartialEq for ToolSet {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(exact: u64, bare: u64, read_only: bool) -> Definition {
        Definition {
            identity: ToolIdentity {
                exact,
                folded: exact + 100,
                bare,
            },
            hints: Hints {
                read_only: Some(read_only),
                ..Hints::default()
            },
            ..Definition::default()
        }
    }

    #[test]
    fn definitions_by_name_and_none_where_two_answer_to_it() {
        let tools = vec![tool(1, 7, true), tool(2, 7, false), tool(3, 8, false)];
        let set = ToolSet::new(0, [].into(), tools, false);
        let of = |exact, bare| {
            let identity = ToolIdentity {
                exact,
                folded: exact + 100,
                bare,
            };
            set.definition(identity).and_then(|one| one.hints.read_only)
        };
        assert_eq!(of(1, 7), Some(true));
        assert_eq!(of(2, 7), Some(false));
        assert_eq!(of(9, 7), None, "two servers have it");
        assert_eq!(of(9, 8), Some(false));
        assert!(set.holds(7) && set.holds(101) && !set.holds(9));
        assert!(
            ToolSet::default()
                .definition(ToolIdentity::default())
                .is_none()
        );
    }

    #[test]
    fn hints_complete_each_other() {
        let first = tool(1, 1, true).hints;
        let second = Hints {
            read_only: Some(false),
            destructive: Some(true),
            idempotent: None,
        };
        assert_eq!(
            first.or(second),
            Hints {
                read_only: Some(true),
                destructive: Some(true),
                idempotent: None
            }
        );
    }
}
