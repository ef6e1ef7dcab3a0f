//! Whether messages are the same, and which of two logs belong together.
//!
//! - In: pairs of messages of batches. Out: how many pairs are the same, and why the next one is not; signatures, by
//!   which messages are found again; the blocks that two sequences share.
//! - Cost: pairs whose quads stand in the same order are compared term by term, a term once a pair of batches; others
//!   by sorting and, where they hold blank nodes, by a search that is counted and bounded.
//! - Law: "the same" is exact, and every mapping of blank nodes is checked against the quads; messages that are the
//!   same have the same signature.

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
pub use comparer::{Comparer, Found, Mode, NamespaceUse, Run, Side};
pub use graph::Compared;
pub use matching::isomorphism;
pub use multiset::Settled;
pub use namespaces::Redeclared;
pub use sequence::blocks;
