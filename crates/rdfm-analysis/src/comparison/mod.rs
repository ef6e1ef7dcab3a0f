//! Message comparison, and alignment of two logs.
//!
//! - In: message pairs from batches. Out: the number of equal pairs and the differences in the next
//!   pair; signatures that identify messages; the common blocks of two sequences.
//! - Cost: message pairs with the same quad order are compared term by term, with one comparison
//!   per term and batch pair. Other pairs are sorted and, if they contain blank nodes, compared by
//!   a search with a step limit.
//! - Law: equality is exact, and every mapping of blank nodes is checked against the quads. Equal
//!   messages have equal signatures.

mod budget;
mod comparer;
mod graph;
mod hashing;
mod matching;
mod multiset;
mod namespaces;
mod order;
mod sequence;
mod signature;

pub use budget::{Exhausted, Limits, ReachedLimits};
pub use comparer::{Comparer, Mode, NamespaceUse, PairDifferences, Run, Side};
pub use graph::ComparableRecord;
pub use matching::find_isomorphism;
pub use multiset::MultisetResult;
pub use namespaces::RedeclaredName;
pub use sequence::blocks;
