//! Terms and statements of N-Triples and N-Quads, and of formats whose rows consist of them.
//!
//! - `scan`: ends of long runs of ordinary characters. `lex`: tokens. `statement`: terms of a
//!   batch.
//! - `cells`: terms that fill the cells of a table.
//! - `short`: additional syntax of RDF Patch: numbers, booleans, prefixed names, other strings.

mod cells;
pub(crate) mod lex;
pub(crate) mod scan;
mod short;
mod statement;

pub(crate) use short::{allows_label, lex_string as lex_short_string};
pub use statement::{CellError, CellReader, parse_term};
pub(crate) use statement::{StatementGrammar, StatementReader};
