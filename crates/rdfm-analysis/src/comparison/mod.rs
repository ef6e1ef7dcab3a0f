//! Comparison of messages, and alignment of two logs.
//!
//! - In: pairs of messages from batches. Out: the number of equal pairs and the differences in the next one; signatures
//!   that identify messages; the blocks that two sequences share.
//! - Cost: pairs whose quads are in the same order are compared term by term, with one comparison per term and pair of
//!   batches. Other pairs are compared by sorting and, if they contain blank nodes, by a search with a step limit.
//! - Law: equality is exact, and every mapping of blank nodes is checked against the quads. Equal messages have equal
//!   signatures.

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

pub use budget::{Exhausted, Limits, Reached};
pub use comparer::{Comparer, Mode, NamespaceUse, PairDifferences, Run, Side};
pub use graph::ComparableRecord;
pub use matching::isomorphism;
pub use multiset::MultisetResult;
pub use namespaces::Redeclared;
pub use sequence::blocks;
