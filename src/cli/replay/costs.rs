//! What findings have cost, without counting one call twice.
//!
//! Invariant: episodes of one run may overlap, so of a run the dearest one counts; runs are added up.

use std::collections::BTreeMap;

use crate::model::{TraceId, Waste};

/// The costs of several runs.
#[derive(Debug, Default)]
pub(super) struct Costs(BTreeMap<TraceId, Waste>);

impl Costs {
    /// Notes what an episode of a run has cost by now.
    pub(super) fn add(&mut self, run: TraceId, waste: &Waste) {
        let known = self.0.entry(run).or_default();
        known.calls = known.calls.max(waste.calls);
        known.ms = known.ms.max(waste.ms);
        known.tokens = known.tokens.max(waste.tokens);
        known.cost_usd = match (known.cost_usd, waste.cost_usd) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        };
    }

    /// Takes in what is known of others.
    pub(super) fn merge(&mut self, other: &Self) {
        for (run, waste) in &other.0 {
            self.add(*run, waste);
        }
    }

    /// All runs together. What is unknown for all is unknown.
    pub(super) fn sum(&self) -> Waste {
        let mut sum = Waste::default();
        for waste in self.0.values() {
            sum.calls = sum.calls.saturating_add(waste.calls);
            sum.ms = sum.ms.saturating_add(waste.ms);
            if let Some(tokens) = waste.tokens {
                sum.tokens = Some(sum.tokens.unwrap_or(0).saturating_add(tokens));
            }
            if let Some(usd) = waste.cost_usd {
                sum.cost_usd = Some(sum.cost_usd.unwrap_or(0.0) + usd);
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dearest_of_a_run_counts_and_runs_add_up() {
        let run = |byte| TraceId::from_slice(&[byte; 16]).unwrap();
        let waste = |calls, tokens| Waste {
            calls,
            ms: 10,
            tokens,
            cost_usd: None,
        };
        let mut costs = Costs::default();
        costs.add(run(1), &waste(3, Some(5)));
        costs.add(run(1), &waste(6, None));
        costs.add(run(2), &waste(1, None));
        let sum = costs.sum();
        assert_eq!((sum.calls, sum.ms, sum.tokens), (7, 20, Some(5)));
        assert_eq!(sum.cost_usd, None);
    }
}
