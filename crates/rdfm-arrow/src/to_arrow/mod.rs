//! Batches as Arrow rows.
//!
//! - In: batches, the columns wanted, and the text of the source column.
//! - Out: record batches: one of all messages ([`record_batch`]), or several of even size ([`Coalescer`]).
//! - Cost: a term is rendered once a batch, its repetitions are copies of the bytes already there.
//! - Law: a row a message, in order; strings together stay below 2 GiB a record batch.

mod coalesce;
pub(crate) mod limit;
mod maps;
pub(crate) mod quads;
mod rows;
pub(crate) mod texts;

use arrow_array::RecordBatch;
use rdfm_core::model::batch::MessageBatch;
use rdfm_core::syntax::needed::Needs;

pub use self::coalesce::Coalescer;
use self::limit::MakeError;
use self::quads::Places;
use self::rows::Rows;
use crate::error::Error;
use crate::schema::Column;

const TOO_LARGE: &str = "the strings of the messages pass the 2 GiB of an Arrow batch; use smaller batches \
    (batch_quads, batch_bytes), or smaller messages (max_message_bytes)";

/// Several batches as one record batch.
///
/// # Errors
/// The strings would pass 2 GiB.
pub fn record_batch(
    batches: &[&MessageBatch],
    columns: &[Column],
    source: Option<&str>,
) -> Result<RecordBatch, Error> {
    let make = || -> Result<RecordBatch, MakeError> {
        let mut rows = Rows::new(columns);
        let mut needs = Needs::default();
        for batch in batches {
            let mut places = Places::new(batch.table());
            rows.begin_batch(batch, &mut needs);
            for message in 0..batch.len() {
                rows.add(batch, message, source, &mut places, &mut needs)?;
            }
        }
        rows.finish()
    };
    make().map_err(|error| error.told(TOO_LARGE))
}
