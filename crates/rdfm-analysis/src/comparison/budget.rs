//! Limits of the search for matching blank nodes, for one comparison and for all comparisons of two
//! logs.
//!
//! - In: comparisons that count their steps, in visited quads. Out: their results, or an error if a
//!   limit is reached.
//! - Law: work that is nearly linear in the number of quads does not count towards the total. A
//!   long log of simple messages therefore never reaches the total limit.

/// Steps per quad of a comparison that do not count towards the total.
const FREE_STEPS: u64 = 64;

/// The comparison needs more steps than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

/// The remaining steps of a comparison.
#[derive(Debug)]
pub struct Steps(u64);

impl Steps {
    /// Allows the given number of steps.
    pub fn new(steps: u64) -> Self {
        Self(steps)
    }

    /// Uses the given number of steps.
    ///
    /// # Errors
    /// If fewer steps remain.
    pub fn spend(&mut self, steps: usize) -> Result<(), Exhausted> {
        let left = self.0.checked_sub(steps as u64);
        self.0 = left.unwrap_or(0);
        left.map(|_| ()).ok_or(Exhausted)
    }
}

/// Limits of the search for matching blank nodes, in visited quads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Limit of one comparison.
    pub each: u64,
    /// Limit of all comparisons together, not counting [`FREE_STEPS`] per quad.
    pub total: u64,
}

/// The limits that were reached so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReachedLimits {
    /// Whether the limit of one comparison was reached.
    pub each: bool,
    /// Whether the limit of all comparisons together was reached.
    pub total: bool,
}

/// The limits, and the remaining steps of the total.
#[derive(Debug)]
pub struct Budget {
    limits: Limits,
    remaining: u64,
    reached: ReachedLimits,
}

impl Budget {
    /// Creates a budget with the given limits.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            remaining: limits.total,
            reached: ReachedLimits::default(),
        }
    }

    /// Runs a comparison of messages with the given number of quads.
    ///
    /// # Errors
    /// If the comparison reaches one of the limits.
    pub fn run<T>(
        &mut self,
        quads: usize,
        compare: impl FnOnce(&mut Steps) -> Result<T, Exhausted>,
    ) -> Result<T, Exhausted> {
        let free = FREE_STEPS.saturating_mul(quads as u64);
        let granted = self.limits.each.min(self.remaining.saturating_add(free));
        let mut steps = Steps::new(granted);
        let result = compare(&mut steps);
        let used = granted - steps.0;
        self.remaining = self.remaining.saturating_sub(used.saturating_sub(free));
        if result.is_err() {
            self.reached.each |= granted == self.limits.each;
            self.reached.total |= granted < self.limits.each;
        }
        result
    }

    /// Restores the full total for another pass over a log.
    pub fn renew(&mut self) {
        self.remaining = self.limits.total;
    }

    /// The limits that were reached.
    pub fn reached_limits(&self) -> ReachedLimits {
        self.reached
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, Exhausted, FREE_STEPS, Limits, ReachedLimits, Steps};

    fn spend(steps: usize) -> impl Fn(&mut Steps) -> Result<(), Exhausted> {
        move |left: &mut Steps| left.spend(steps)
    }

    #[test]
    fn a_fixed_number_of_steps_per_quad_is_free() {
        let mut budget = Budget::new(Limits {
            each: 1000,
            total: 10,
        });
        for _ in 0..100 {
            assert_eq!(budget.run(1, spend(FREE_STEPS as usize)), Ok(()));
        }
        assert_eq!(budget.run(1, spend(FREE_STEPS as usize + 10)), Ok(()));
        assert_eq!(
            budget.run(1, spend(FREE_STEPS as usize + 1)),
            Err(Exhausted)
        );
        let total = ReachedLimits {
            each: false,
            total: true,
        };
        assert_eq!(budget.reached_limits(), total);
        assert_eq!(budget.run(1, spend(FREE_STEPS as usize)), Ok(()));
        budget.renew();
        assert_eq!(budget.run(1, spend(FREE_STEPS as usize + 10)), Ok(()));
    }

    #[test]
    fn each_comparison_has_a_limit() {
        let mut budget = Budget::new(Limits {
            each: 100,
            total: 1000,
        });
        assert_eq!(budget.run(50, spend(101)), Err(Exhausted));
        let each = ReachedLimits {
            each: true,
            total: false,
        };
        assert_eq!(budget.reached_limits(), each);
    }
}
