//! What a model gave out, as far as it tells two spans of one answer apart from two answers.
//!
//! Invariant: content that was not captured speaks neither for nor against.

use crate::model::ModelCall;

/// What a model gave out, as far as it tells two spans of one answer apart from two answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    /// Hash of a text that is not empty.
    text: Option<u64>,
    /// A text was captured, and it is empty.
    blank: bool,
    asked: Option<AskedFor>,
}

/// The calls that an answer asks for, folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AskedFor {
    names: u64,
    /// `None` when not all of them have one.
    ids: Option<u64>,
    keys: Option<u64>,
}

impl Said {
    /// What an answer gave out.
    pub(super) fn of(model: &ModelCall) -> Self {
        let fold = |sum: u64, part: u64| (sum.rotate_left(5) ^ part).wrapping_add(1);
        let each = || model.requested.iter();
        let asked = (!model.requested.is_empty()).then(|| AskedFor {
            names: each().fold(0, |sum, one| fold(sum, one.identity.folded)),
            ids: each().try_fold(0, |sum, one| Some(fold(sum, one.call_id?))),
            keys: each().try_fold(0, |sum, one| Some(fold(sum, one.key?))),
        });
        Self {
            text: model.text.filter(|text| text.chars > 0).map(|t| t.hash),
            blank: model.text.is_some_and(|text| text.chars == 0),
            asked,
        }
    }

    /// Nothing of the answer was captured.
    pub(super) fn is_silent(&self) -> bool {
        *self == Self::default()
    }

    /// Whether both may well be the same answer by what it holds.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let texts = self.text.is_none() || other.text.is_none() || self.text == other.text;
        match (&self.asked, &other.asked) {
            (Some(mine), Some(theirs)) => match (mine.ids, theirs.ids) {
                (Some(mine), Some(theirs)) => mine == theirs,
                _ => texts && mine.names == theirs.names && agree(mine.keys, theirs.keys),
            },
            // One of them does not capture calls.
            (Some(_), None) => self.text == other.text && (self.text.is_some() || other.blank),
            (None, Some(_)) => self.text == other.text && (other.text.is_some() || self.blank),
            (None, None) => {
                self.text == other.text && self.blank == other.blank && !self.is_silent()
            }
        }
    }
}

fn agree(a: Option<u64>, b: Option<u64>) -> bool {
    a.is_none() || b.is_none() || a == b
}
