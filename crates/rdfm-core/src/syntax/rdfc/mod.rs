//! Canonical labels of blank nodes: RDFC-1.0 with SHA-256.
//!
//! - In: the terms and distinct quads of a dataset, as ranks. Out: the number of each blank node.
//! - Cost: near linear if the quads of each blank node identify it, and exponential in the worst
//!   case, so the number of steps is limited. Existing libraries have no such limit.
//! - Law: datasets that are equal up to labels get the same numbers.
//!
//! Method: <https://www.w3.org/TR/rdf-canon/>, section 4. Names in comments refer to its steps.

mod hashing;
mod issuer;
mod labels;

pub use hashing::{Hash, TextHasher};
pub use labels::{CANONICAL, END, RankedDataset, Terms, number, write_label};

/// Default of [`Effort::max_steps`].
pub const MAX_STEPS: u64 = 2_000_000;

/// Limits the work for each message.
#[derive(Clone, Copy)]
pub struct Effort<'a> {
    /// Maximum number of steps. One step is one visited quad.
    pub max_steps: u64,
    /// Whether to stop; called every few thousand steps.
    pub is_cancelled: &'a (dyn Fn() -> bool + Sync),
}

impl Effort<'_> {
    /// An effort that is not cancelled.
    pub fn new(max_steps: u64) -> Self {
        Self {
            max_steps,
            is_cancelled: &|| false,
        }
    }
}

/// The reason why a dataset has no labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelError {
    /// The labels need more steps than allowed.
    TooManySteps,
    /// [`Effort::is_cancelled`] returned true.
    Cancelled,
}
