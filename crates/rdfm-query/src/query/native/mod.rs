//! Patterns of SPARQL, matched by class over the quads of a message.
//!
//! - In: a query's pattern, once; for each batch its dictionary, for each message its quads.
//! - Out: rows of classes. A pattern that has more than is covered here has no plan.
//! - Covered: triple patterns, `GRAPH`, joins, `OPTIONAL`, `UNION`, `VALUES`, filters and `BIND` without `EXISTS`,
//!   `DISTINCT`.
//! - Cost: small messages are scanned, those of many quads get an index once a pattern is tried a few times.
//! - Law: the rows are those of SPARQL's algebra, in an order that how messages are cut into batches does not change.

mod chains;
mod filters;
mod groups;
mod matching;
mod plan;

pub use matching::Matcher;
pub use plan::Plan;
