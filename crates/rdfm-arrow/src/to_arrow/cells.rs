//! The records of messages as row columns: a quad or operation list, or the cells of a result row.
//!
//! - In: messages of batches. Out: one array from [`OutputLists`], or one array per variable from
//!   [`Cells`].
//! - Law: all results of a log have the same variables, without duplicates.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::ArrowError;
use rdfm_core::codec::batch::LogRecord;
use rdfm_core::model::error::ErrorClass;
use rdfm_core::model::record::{Operation, Record, ResultHead};
use rdfm_core::model::table::TermTable;
use rdfm_core::model::term::{Quad, TermId};

use super::limit::{BuildError, charge};
use super::lists::{OutputListRecord, OutputLists};
use super::terms::{RenderedTerms, TermColumns};
use crate::error::Error;
use crate::schema::{TermLayout, check_variables};

/// Records that rows can contain.
pub trait RowRecord: LogRecord {
    /// Builder of the record columns.
    type Columns: RecordColumns<Self> + Send;

    /// Returns the variables of a log if there is a column for each of them. Returns an empty slice
    /// if records are in a single column.
    fn variables(head: &Self::Head) -> &[Box<str>];

    /// Rejects a log that rows cannot represent.
    ///
    /// # Errors
    /// If the log is the answer to an ASK query, or a variable occurs twice or contains a NUL.
    fn check(head: &Self::Head) -> Result<(), Error>;
}

/// A builder of record columns, with one row per message.
pub trait RecordColumns<R: Record>: Sized {
    /// Creates a builder without rows.
    fn new(head: &R::Head, terms: TermLayout) -> Self;

    /// Creates an empty builder with capacity for about the same number of rows.
    fn empty_like(&self) -> Self;

    /// Adds a row, and adds the size of its strings to `bytes`, the total of the record batch.
    fn add(
        &mut self,
        table: &TermTable,
        records: &[R],
        places: &mut RenderedTerms,
        bytes: &mut usize,
    ) -> Result<(), BuildError>;

    /// Returns the number of records.
    fn records(&self) -> usize;

    /// Keeps the first `rows` rows, which contain `records` records.
    fn truncate(&mut self, rows: usize, records: usize);

    /// Returns the arrays.
    fn finish(self) -> Result<Vec<ArrayRef>, ArrowError>;
}

macro_rules! listed {
    ($record:ty) => {
        impl RowRecord for $record {
            type Columns = OutputLists<Self>;

            fn variables((): &()) -> &[Box<str>] {
                &[]
            }

            fn check((): &()) -> Result<(), Error> {
                Ok(())
            }
        }
    };
}

listed!(Quad);
listed!(Operation);

impl<R: OutputListRecord> RecordColumns<R> for OutputLists<R> {
    fn new(_: &R::Head, terms: TermLayout) -> Self {
        Self::new(terms)
    }

    fn empty_like(&self) -> Self {
        Self::empty_like(self)
    }

    fn add(
        &mut self,
        table: &TermTable,
        records: &[R],
        places: &mut RenderedTerms,
        bytes: &mut usize,
    ) -> Result<(), BuildError> {
        Self::add(self, table, records, places, bytes)
    }

    fn records(&self) -> usize {
        Self::records(self)
    }

    fn truncate(&mut self, rows: usize, records: usize) {
        Self::truncate(self, rows, records);
    }

    fn finish(self) -> Result<Vec<ArrayRef>, ArrowError> {
        Ok(vec![Arc::new(Self::finish(self, None)?)])
    }
}

/// The cells of result rows, as one column of terms for each variable.
pub struct Cells {
    terms: TermColumns,
}

impl RowRecord for TermId {
    type Columns = Cells;

    fn variables(head: &Arc<ResultHead>) -> &[Box<str>] {
        &head.variables
    }

    fn check(head: &Arc<ResultHead>) -> Result<(), Error> {
        if head.boolean.is_some() {
            let reason = "the answer to an ASK query is not a table; the JSON and XML result formats can represent it";
            return Err(Error::with_class(ErrorClass::Unsupported, reason));
        }
        check_variables(&head.variables)
            .map_err(|reason| Error::with_class(ErrorClass::Unsupported, reason))
    }
}

impl RecordColumns<TermId> for Cells {
    fn new(head: &Arc<ResultHead>, terms: TermLayout) -> Self {
        Self {
            terms: TermColumns::new(head.variables.len(), terms),
        }
    }

    fn empty_like(&self) -> Self {
        Self {
            terms: self.terms.empty_like(),
        }
    }

    fn add(
        &mut self,
        table: &TermTable,
        cells: &[TermId],
        places: &mut RenderedTerms,
        bytes: &mut usize,
    ) -> Result<(), BuildError> {
        for (column, id) in cells.iter().enumerate() {
            // Cells without a term also take memory.
            charge(bytes, TermId::BYTES)?;
            self.terms.add_optional(table, column, *id, places, bytes)?;
        }
        Ok(())
    }

    fn records(&self) -> usize {
        self.terms.count() * self.terms.len()
    }

    fn truncate(&mut self, rows: usize, _: usize) {
        self.terms.truncate(rows);
    }

    fn finish(self) -> Result<Vec<ArrayRef>, ArrowError> {
        self.terms.finish()
    }
}
