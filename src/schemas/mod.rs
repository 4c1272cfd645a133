//! JSON schemas of tool arguments that strangers send: compiled once, checked often, never trusted.
//!
//! Invariants: nothing is fetched, from the network or from a file; `$ref` leads inside the document only;
//! compiling and checking never recurse on the input without a bound, never panic, and stop after a fixed
//! number of steps. What is over a limit or not understood is not assessed: no finding, no error.
//!
//! Why our own and not a crate: the complete ones follow every branch of `anyOf`, which on a recursive schema
//! takes seconds for a value a few levels deep, and none can be told to stop; their messages quote the value,
//! which must not leave; and here the rule is the other way round: what is not known must *pass*. So only
//! keywords are read whose being ignored makes a schema more permissive. `pattern`, `format`, `not`, `if`,
//! `patternProperties`, `contains`, `uniqueItems`, `multipleOf`, `unevaluated*` and `dependent*` are passed
//! over, and of `oneOf` only that something has to match. What changes the meaning of a keyword that is read
//! (an unknown `$schema`, a base of a part's own with references in it, `$dynamicRef`, `$recursiveRef`) makes
//! the whole schema not assessed; words that the dialect named does not have are passed over.
//!
//! Understood: `type` (a list too, `nullable`, capitals as OpenAPI dialects write them), `properties`,
//! `required`, `additionalProperties`, `items` (also as a list), `prefixItems`, `enum`, `const`, `allOf`,
//! `anyOf`, `oneOf`, `$ref`, `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum` (numbers and draft
//! 4's booleans), `minLength`, `maxLength`, `minItems`, `maxItems`, `minProperties`, `maxProperties`.

mod check;
mod compile;
#[cfg(test)]
mod tests;

use serde_json::Value;

pub use compile::compile;

/// Longest text of a schema in bytes.
pub const TEXT_MAX: usize = 64 * 1024;
/// Deepest nesting of subschemas, references included.
pub const DEPTH_MAX: usize = 16;
/// Most subschemas of one schema.
pub const NODES_MAX: usize = 2000;
/// Longest arguments in bytes that are checked.
pub const ARGUMENTS_MAX: usize = 64 * 1024;

/// A compiled schema: its subschemas, the whole first.
#[derive(Debug)]
pub struct Schema {
    nodes: Box<[Node]>,
    bytes: usize,
}

/// One subschema. What it does not name is free.
#[derive(Debug, Default)]
struct Node {
    /// Kinds of value allowed, a bit set of [`kind`]; 0 = all.
    kinds: u8,
    /// The schema `false`: nothing is allowed.
    never: bool,
    /// Where `$ref` leads: nothing beside it is read.
    target: Option<usize>,
    /// `enum`, or `const` as a list of one.
    values: Option<(&'static str, Box<[Value]>)>,
    /// `properties`, sorted by name.
    members: Box<[(Box<str>, usize)]>,
    required: Box<[Required]>,
    /// What members beside `properties` must be.
    others: Option<usize>,
    /// `prefixItems`, or `items` as a list.
    first_items: Box<[usize]>,
    items: Option<usize>,
    all: Box<[usize]>,
    /// `anyOf` and `oneOf`: of each list something has to match.
    any: Vec<(&'static str, Box<[usize]>)>,
    bounds: Vec<Bound>,
}

/// A member that must be there.
#[derive(Debug)]
struct Required {
    name: Box<str>,
    /// Its own schema gives it a default: many harnesses fill it in.
    has_default: bool,
}

/// A bound on a number, a length or a count.
#[derive(Debug)]
struct Bound {
    keyword: &'static str,
    /// Kind of the values it is about: [`kind::NUMBER`] (integers too), `TEXT`, `ARRAY` or `OBJECT`.
    of: u8,
    limit: f64,
    upper: bool,
    exclusive: bool,
}

/// Bits of the kinds of JSON value.
mod kind {
    pub(super) const NULL: u8 = 1;
    pub(super) const BOOLEAN: u8 = 2;
    pub(super) const INTEGER: u8 = 4;
    pub(super) const NUMBER: u8 = 8;
    pub(super) const TEXT: u8 = 16;
    pub(super) const ARRAY: u8 = 32;
    pub(super) const OBJECT: u8 = 64;
}
