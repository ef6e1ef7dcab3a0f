//! Matches SPARQL patterns against the quads of a message, represented by classes.
//!
//! - In: the pattern of a query, the dictionary of each batch, and the quads of each message.
//! - Out: rows of classes. A pattern with an unsupported part has no plan.
//! - Supported: triple patterns, `GRAPH`, joins, `OPTIONAL`, `UNION`, `VALUES`, filters and `BIND`
//!   without `EXISTS`, and `DISTINCT`.
//! - Cost: small messages are scanned. Messages with many quads are indexed after a pattern has
//!   been matched a few times.
//! - Gain: 21 times, without decoding (`make bench-gains PATHS=native-query`).
//! - Law: the rows are those of the SPARQL algebra. Their order does not depend on batch
//!   boundaries.

mod chains;
mod filters;
mod groups;
mod matching;
mod plan;

pub use matching::Matcher;
pub use plan::Plan;
