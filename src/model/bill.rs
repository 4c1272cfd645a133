//! What was spent: sums in which the unknown is counted, and never taken for zero.

use super::Usage;

/// What a run has spent by some moment, or between two. Missing usage is counted, never taken for zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bill {
    /// Tokens of the steps that tell them.
    pub tokens: u64,
    /// Dollars of the steps that tell them.
    pub cost_usd: f64,
    /// Model calls that tell no tokens.
    pub uncounted: u32,
    /// Model calls that tell no cost.
    pub unpriced: u32,
    /// Steps that tell tokens.
    pub counted: u32,
    /// Steps that tell cost.
    pub priced: u32,
}

impl Bill {
    /// What one step tells; `expected`: it should (model calls).
    pub fn of(usage: &Usage, expected: bool) -> Self {
        let tokens = match (usage.input_tokens, usage.output_tokens) {
            (None, None) => None,
            (input, output) => Some(input.unwrap_or(0).saturating_add(output.unwrap_or(0))),
        };
        Self {
            tokens: tokens.unwrap_or(0),
            cost_usd: usage.cost_usd.unwrap_or(0.0),
            counted: tokens.is_some().into(),
            uncounted: (expected && tokens.is_none()).into(),
            priced: usage.cost_usd.is_some().into(),
            unpriced: (expected && usage.cost_usd.is_none()).into(),
        }
    }

    /// Both together.
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            cost_usd: self.cost_usd + other.cost_usd,
            uncounted: self.uncounted.saturating_add(other.uncounted),
            unpriced: self.unpriced.saturating_add(other.unpriced),
            counted: self.counted.saturating_add(other.counted),
            priced: self.priced.saturating_add(other.priced),
        }
    }

    /// What was spent since an earlier moment of the same run.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(earlier.tokens),
            cost_usd: (self.cost_usd - earlier.cost_usd).max(0.0),
            uncounted: self.uncounted.saturating_sub(earlier.uncounted),
            unpriced: self.unpriced.saturating_sub(earlier.unpriced),
            counted: self.counted.saturating_sub(earlier.counted),
            priced: self.priced.saturating_sub(earlier.priced),
        }
    }

    /// Tokens, unless a model call is among them that does not tell, or none tells.
    pub fn known_tokens(&self) -> Option<u64> {
        (self.counted > 0 && self.uncounted == 0).then_some(self.tokens)
    }

    /// Dollars, unless a model call is among them that does not tell, or none tells.
    pub fn known_cost(&self) -> Option<f64> {
        (self.priced > 0 && self.unpriced == 0).then_some(self.cost_usd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(tokens: Option<u64>, cost_usd: Option<f64>) -> Usage {
        Usage {
            input_tokens: tokens,
            output_tokens: None,
            cost_usd,
        }
    }

    #[test]
    fn one_that_does_not_tell_makes_the_sum_unknown() {
        let told = Bill::of(&usage(Some(7), None), true);
        let silent = Bill::of(&usage(None, None), true);
        let tool = Bill::of(&usage(None, Some(0.5)), false);
        assert_eq!(Bill::default().known_tokens(), None);
        assert_eq!(told.plus(&told).known_tokens(), Some(14));
        assert_eq!(told.plus(&silent).known_tokens(), None);
        assert_eq!(
            told.plus(&tool).known_tokens(),
            Some(7),
            "tools need not tell"
        );
        assert_eq!(tool.known_cost(), Some(0.5));
        assert_eq!(
            tool.plus(&told).known_cost(),
            None,
            "a model call without price"
        );
        let all = told.plus(&silent).plus(&tool);
        assert_eq!(all.since(&silent), told.plus(&tool));
    }
}
