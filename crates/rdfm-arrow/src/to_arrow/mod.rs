//! Batches as Arrow rows.
//!
//! - In: batches, the requested columns, and the value of the source column.
//! - Out: one record batch for all messages ([`record_batch`]), several of similar size
//!   ([`Coalescer`]), or several with one row per quad ([`QuadCoalescer`]).
//! - Cost: each term is rendered once per batch. Repetitions copy the rendered bytes.
//! - Law: there is one row per message, quad or result row, in order. The strings of a record batch
//!   stay below 2 GiB.

mod cells;
mod coalesce;
pub(crate) mod limit;
pub(crate) mod lists;
mod maps;
mod quads;
mod rows;
pub(crate) mod terms;
pub(crate) mod texts;

use arrow_array::RecordBatch;
use rdfm_core::codec::spec::Kind;
use rdfm_core::model::batch::LogBatch;
use rdfm_core::model::error::ErrorClass;
use rdfm_core::model::record::ResultHead;
use rdfm_core::syntax::needed::NeededNamespaces;

pub use self::cells::RowRecord;
pub use self::coalesce::{Coalesce, Coalescer, Dropped, new_coalescer};
use self::limit::BuildError;
pub use self::quads::{QuadCoalescer, quad_record_batch};
use self::rows::RowBuilder;
use self::terms::RenderedTerms;
use crate::error::Error;
use crate::schema::Layout;

const TOO_LARGE: &str = "the strings of the messages exceed the 2 GiB limit of an Arrow batch; use smaller batches \
    (batch_messages) or smaller messages (max_message_bytes)";

/// Converts several batches of a log to one record batch.
///
/// # Errors
/// If the strings would exceed 2 GiB, rows cannot represent these results ([`RowRecord::check`]),
/// or the variables differ between batches.
pub fn record_batch<R: RowRecord, L: Into<Layout>>(
    batches: &[&LogBatch<R>],
    layout: L,
    source: Option<&str>,
) -> Result<RecordBatch, Error> {
    let head = batches.first().map(|batch| batch.head().clone());
    let mut rows = RowBuilder::<R>::new(&layout.into(), &head.unwrap_or_default());
    for batch in batches {
        check_variables(batch, rows.variables())?;
    }
    let mut make = || -> Result<(), BuildError> {
        let mut needs = NeededNamespaces::default();
        for batch in batches {
            let mut places = RenderedTerms::new(batch.table());
            rows.begin_batch(batch, &mut needs);
            for message in 0..batch.len() {
                rows.add(batch, message, source, &mut places, &mut needs)?;
            }
        }
        Ok(())
    };
    make()
        .and_then(|()| rows.finish())
        .map_err(|error| error.into_error(TOO_LARGE))
}

/// Rejects a batch whose variables differ from the given ones.
fn check_variables<R: RowRecord>(batch: &LogBatch<R>, variables: &[Box<str>]) -> Result<(), Error> {
    R::check(batch.head())?;
    if R::variables(batch.head()) == variables {
        return Ok(());
    }
    let actual = R::variables(batch.head());
    let reason = ResultHead::different_variables_reason(variables, actual, "a result table");
    Err(Error::with_class(ErrorClass::Unsupported, reason))
}

/// Returns the error for a batch of another kind.
fn wrong_kind_error(kind: Kind, actual: Kind) -> Error {
    let (kind, actual) = (kind.name(), actual.name());
    let reason =
        format!("found {actual} among {kind}; a table can contain only one of these kinds");
    Error::with_class(ErrorClass::Unsupported, reason)
}
