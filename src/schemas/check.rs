//! Holding arguments against a compiled schema.
//!
//! Invariant: one check takes at most [`STEPS_MAX`] steps, each of a bounded amount of work, and goes at most
//! [`FRAMES_MAX`] deep; it ends in "not assessed" where it would need more.

use std::fmt::Write as _;

use serde_json::{Number, Value};

use crate::model::{Breach, Fit, Name, Shape};

use super::{ARGUMENTS_MAX, Bound, Node, Schema, kind};

/// Most steps of one check.
const STEPS_MAX: u32 = 10_000;
/// Most subschemas entered one inside the other.
const FRAMES_MAX: usize = 96;

impl Shape for Schema {
    fn check(&self, arguments: &str, strict: bool) -> (Fit, Option<Breach>) {
        if arguments.len() > ARGUMENTS_MAX {
            return (Fit::Unassessed, None);
        }
        let empty = arguments.trim().is_empty();
        let value = match serde_json::from_str::<Value>(arguments) {
            // A tool without arguments is called with nothing at all.
            _ if empty => Value::Object(Default::default()),
            Ok(value) if strict || value.is_object() => value,
            Err(_) if strict => Value::String(arguments.to_owned()),
            _ => return (Fit::Unassessed, None),
        };
        let mut walk = Walk {
            schema: self,
            steps: STEPS_MAX,
            frames: 0,
            path: Vec::new(),
            lenient: None,
            strict,
        };
        match walk.enter(0, &value, true) {
            Err(Stop::OutOfSteps) => (Fit::Unassessed, None),
            Err(Stop::Broken(breach)) => (Fit::Breaks { lenient: false }, Some(breach)),
            Ok(()) => match walk.lenient {
                Some(breach) => (Fit::Breaks { lenient: true }, Some(breach)),
                None => (Fit::Fits, None),
            },
        }
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Why a walk ends early.
enum Stop {
    Broken(Breach),
    OutOfSteps,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Member(&'a str),
    Item(usize),
}

struct Walk<'a> {
    schema: &'a Schema,
    steps: u32,
    frames: usize,
    path: Vec<Step<'a>>,
    /// The first breach that tools commonly put up with.
    lenient: Option<Breach>,
    /// A member that the whole does not name counts as one that it refuses.
    strict: bool,
}

impl<'a> Walk<'a> {
    fn spend(&mut self, steps: usize) -> Result<(), Stop> {
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        self.steps = self.steps.checked_sub(steps).ok_or(Stop::OutOfSteps)?;
        Ok(())
    }

    /// A breach here, or at a member of what is here.
    fn broken(
        &mut self,
        keyword: &'static str,
        member: Option<&str>,
        lenient: bool,
    ) -> Result<(), Stop> {
        let breach = Breach {
            pointer: pointer(&self.path, member),
            keyword,
        };
        if !lenient {
            return Err(Stop::Broken(breach));
        }
        self.lenient.get_or_insert(breach);
        Ok(())
    }

    /// Checks a value. `needed` says that it could not as well be missing.
    fn enter(&mut self, place: usize, value: &'a Value, needed: bool) -> Result<(), Stop> {
        self.spend(1)?;
        let schema = self.schema;
        let Some(node) = schema.nodes.get(place) else {
            return Ok(());
        };
        if self.frames >= FRAMES_MAX {
            return Err(Stop::OutOfSteps);
        }
        self.frames += 1;
        let checked = match node.target {
            Some(target) => self.enter(target, value, needed),
            None => self.node(node, value, needed),
        };
        self.frames -= 1;
        checked
    }

    fn node(&mut self, node: &'a Node, value: &'a Value, needed: bool) -> Result<(), Stop> {
        // Null where a value may as well be missing says that it is missing.
        let null = value.is_null() && !needed;
        if null && !self.strict {
            return Ok(());
        }
        if node.never {
            return self.broken("false", None, false);
        }
        if node.kinds != 0 && node.kinds & kind_of(value) == 0 {
            let lenient = null || converts(value, node.kinds);
            return self.broken("type", None, lenient);
        }
        if let Some((keyword, values)) = &node.values {
            let mut found = false;
            for allowed in values {
                found = found || self.same(allowed, value)?;
            }
            if !found {
                return self.broken(keyword, None, false);
            }
        }
        for bound in &node.bounds {
            self.bound(bound, value)?;
        }
        self.members(node, value)?;
        self.items(node, value)?;
        for place in &node.all {
            self.enter(*place, value, needed)?;
        }
        for (keyword, places) in &node.any {
            self.any(keyword, places, value, needed)?;
        }
        Ok(())
    }

    fn bound(&mut self, bound: &Bound, value: &Value) -> Result<(), Stop> {
        let measure = match value {
            Value::Number(number) if bound.of == kind::NUMBER => float(number),
            Value::String(text) if bound.of == kind::TEXT => {
                self.spend(text.len() / 256 + 1)?;
                count(text.chars().count())
            }
            Value::Array(items) if bound.of == kind::ARRAY => count(items.len()),
            Value::Object(members) if bound.of == kind::OBJECT => count(members.len()),
            _ => return Ok(()),
        };
        let outside = if bound.upper {
            measure > bound.limit
        } else {
            measure < bound.limit
        };
        let on_it = bound.exclusive && float_eq(measure, bound.limit);
        if outside || on_it {
            return self.broken(bound.keyword, None, false);
        }
        Ok(())
    }

    fn members(&mut self, node: &'a Node, value: &'a Value) -> Result<(), Stop> {
        let Value::Object(members) = value else {
            return Ok(());
        };
        for required in &node.required {
            self.spend(1)?;
            if !members.contains_key(&*required.name) {
                self.broken("required", Some(&required.name), required.has_default)?;
            }
        }
        for (name, member) in members {
            self.spend(1)?;
            let known = node
                .members
                .binary_search_by(|(other, _)| (**other).cmp(name.as_str()))
                .ok()
                .and_then(|at| node.members.get(at));
            let others = known.map(|(_, place)| *place).or(node.others);
            let refuses = match node.others.and_then(|at| self.schema.nodes.get(at)) {
                Some(others) => others.never,
                None => self.strict && self.path.is_empty() && !node.members.is_empty(),
            };
            if known.is_none() && refuses {
                self.broken("additionalProperties", Some(name), true)?;
                continue;
            }
            let Some(place) = others else {
                continue;
            };
            let needed = node.required.iter().any(|one| *one.name == **name);
            self.spend(node.required.len() / 8)?;
            self.path.push(Step::Member(name));
            self.enter(place, member, needed)?;
            self.path.pop();
        }
        Ok(())
    }

    fn items(&mut self, node: &'a Node, value: &'a Value) -> Result<(), Stop> {
        let Value::Array(items) = value else {
            return Ok(());
        };
        if node.items.is_none() && node.first_items.is_empty() {
            return Ok(());
        }
        for (at, item) in items.iter().enumerate() {
            let Some(place) = node.first_items.get(at).copied().or(node.items) else {
                return Ok(());
            };
            self.path.push(Step::Item(at));
            self.enter(place, item, true)?;
            self.path.pop();
        }
        Ok(())
    }

    /// One of several subschemas has to match. Matching none but leniently is a lenient breach.
    fn any(
        &mut self,
        keyword: &'static str,
        places: &[usize],
        value: &'a Value,
        needed: bool,
    ) -> Result<(), Stop> {
        let before = self.lenient.take();
        let (frames, depth) = (self.frames, self.path.len());
        let mut leniently = false;
        for place in places {
            self.lenient = None;
            match self.enter(*place, value, needed) {
                Ok(()) if self.lenient.is_none() => {
                    self.lenient = before;
                    return Ok(());
                }
                Ok(()) => leniently = true,
                Err(Stop::OutOfSteps) => return Err(Stop::OutOfSteps),
                Err(Stop::Broken(_)) => {
                    self.frames = frames;
                    self.path.truncate(depth);
                }
            }
        }
        self.lenient = before;
        self.broken(keyword, None, leniently)
    }

    /// Whether two values are equal, numbers by value.
    fn same(&mut self, a: &Value, b: &Value) -> Result<bool, Stop> {
        self.spend(1)?;
        Ok(match (a, b) {
            (Value::Number(a), Value::Number(b)) => a == b || float_eq(float(a), float(b)),
            (Value::String(a), Value::String(b)) => {
                let equal = a.len() == b.len();
                self.spend(if equal { a.len() / 256 } else { 0 })?;
                equal && a == b
            }
            (Value::Array(a), Value::Array(b)) => {
                if a.len() != b.len() {
                    return Ok(false);
                }
                for (a, b) in a.iter().zip(b) {
                    if !self.same(a, b)? {
                        return Ok(false);
                    }
                }
                true
            }
            (Value::Object(a), Value::Object(b)) => {
                if a.len() != b.len() {
                    return Ok(false);
                }
                for ((name, a), (other, b)) in a.iter().zip(b) {
                    if name != other || !self.same(a, b)? {
                        return Ok(false);
                    }
                }
                true
            }
            (a, b) => a == b,
        })
    }
}

fn kind_of(value: &Value) -> u8 {
    match value {
        Value::Null => kind::NULL,
        Value::Bool(_) => kind::BOOLEAN,
        // 1.0 is an integer since draft 6.
        Value::Number(number) if number.is_f64() && float(number).fract() != 0.0 => kind::NUMBER,
        Value::Number(_) => kind::INTEGER,
        Value::String(_) => kind::TEXT,
        Value::Array(_) => kind::ARRAY,
        Value::Object(_) => kind::OBJECT,
    }
}

/// Whether common harnesses turn the value into one of these kinds: numbers and booleans written as text and
/// the other way round, lists and objects as JSON in a text.
fn converts(value: &Value, kinds: u8) -> bool {
    match value {
        Value::String(text) => {
            let text = text.trim();
            let number = || text.parse::<f64>().is_ok_and(f64::is_finite);
            let whole = || text.parse::<i64>().is_ok();
            (kinds & kind::NUMBER != 0 && number())
                || (kinds & kind::INTEGER != 0 && whole())
                || (kinds & kind::BOOLEAN != 0
                    && ["true", "false"]
                        .iter()
                        .any(|b| text.eq_ignore_ascii_case(b)))
                || (kinds & kind::ARRAY != 0 && text.starts_with('['))
                || (kinds & kind::OBJECT != 0 && text.starts_with('{'))
        }
        Value::Number(_) | Value::Bool(_) => kinds & kind::TEXT != 0,
        _ => false,
    }
}

fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::NAN)
}

fn float_eq(a: f64, b: f64) -> bool {
    a == b
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn count(number: usize) -> f64 {
    number as f64
}

/// The path as a JSON pointer, cut where it is too long.
fn pointer(path: &[Step<'_>], member: Option<&str>) -> Name {
    let mut out = String::new();
    let steps = path.iter().copied().chain(member.map(Step::Member));
    for step in steps {
        out.push('/');
        match step {
            Step::Item(at) => {
                let _ = write!(out, "{at}");
            }
            Step::Member(name) => {
                let end = name.floor_char_boundary(Breach::POINTER_MAX);
                for c in name.get(..end).unwrap_or_default().chars() {
                    match c {
                        '~' => out.push_str("~0"),
                        '/' => out.push_str("~1"),
                        c => out.push(c),
                    }
                }
            }
        }
        if out.len() > Breach::POINTER_MAX {
            out.truncate(out.floor_char_boundary(Breach::POINTER_MAX - 3));
            out.push_str("...");
            break;
        }
    }
    Name::from(out)
}
