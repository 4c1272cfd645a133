//! Leaves out of a body what was malformed.

use std::ops::Range;

use bytes::Bytes;

use super::malformed::BodyError;
use super::plan::{Choice, Fate, Plan};

/// The body without the fields at these places.
pub(super) fn without(body: Bytes, cuts: &[Range<usize>]) -> Result<Bytes, BodyError> {
    if cuts.is_empty() {
        return Ok(body);
    }
    let plan = Plan::new(&body, &mut Cuts(cuts));
    plan.map(Plan::write)
        .map_err(|error| BodyError::new(String::new(), error.to_string()))
}

/// Leaves out the fields at these places.
struct Cuts<'c>(&'c [Range<usize>]);

impl Cuts<'_> {
    fn spares(&mut self, field: &Range<usize>) -> bool {
        match self.0 {
            [cut, rest @ ..] if cut == field => {
                self.0 = rest;
                false
            }
            _ => true,
        }
    }
}

impl<'p> Choice<'p> for Cuts<'_> {
    fn envelope(&mut self, field: &Range<usize>) -> bool {
        self.spares(field)
    }

    fn span(&mut self, field: &Range<usize>) -> Fate<'p> {
        if self.spares(field) {
            Fate::Keep
        } else {
            Fate::Drop
        }
    }

    fn done(&self) -> bool {
        // An envelope that lost its last span is only known at its end.
        false
    }

    fn keeps_empty(&self) -> bool {
        true
    }
}
