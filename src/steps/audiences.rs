//! Which overrides mean the sender of a span, as far as its resource tells.
//!
//! Invariant: decided once a resource, by the task that reads it; without overrides nothing is looked at.

use std::sync::Arc;

use globset::GlobMatcher;

use crate::dialects;
use crate::otlp::ResourceView;

/// A condition on one resource attribute: that it is there, and what it is like.
#[derive(Clone, Debug)]
pub struct Condition {
    /// The attribute's key.
    pub key: String,
    /// What its value has to be like.
    pub value: GlobMatcher,
}

impl Condition {
    fn holds(&self, resource: &ResourceView<'_>) -> bool {
        dialects::resource_text(resource, &self.key).is_some_and(|text| self.value.is_match(&*text))
    }
}

/// For each override, in order, what has to hold of a resource.
#[derive(Clone, Debug, Default)]
pub struct Audiences(Arc<[Vec<Condition>]>);

impl Audiences {
    /// Most overrides there can be: they are told apart by the bits of a word.
    pub const MAX: usize = 64;

    /// From the conditions of each override; those beyond [`Audiences::MAX`] are never met.
    pub fn new(overrides: Vec<Vec<Condition>>) -> Self {
        Self(overrides.into())
    }

    /// The overrides that a resource is meant by, as a bit set.
    pub(super) fn of(&self, resource: &ResourceView<'_>) -> u64 {
        let meant = self.0.iter().take(Self::MAX).enumerate();
        meant
            .filter(|(_, conditions)| conditions.iter().all(|one| one.holds(resource)))
            .fold(0, |all, (at, _)| all | 1 << at)
    }
}
