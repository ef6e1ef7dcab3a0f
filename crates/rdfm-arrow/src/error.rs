//! Why Arrow could not be made of batches, or batches of Arrow.
//!
//! - In: what a layer below refused. Out: what a caller can do about it, the row if it is of one, a reason.
//! - Law: an error of the class [`Malformed`](ErrorClass::Malformed) without a row means that the columns have
//!   other types than rows have.

use std::fmt;

use arrow_schema::ArrowError;
use rdfm_core::model::error::{ErrorClass, LimitExceeded};
use rdfm_core::model::remedy::Reason;

/// Why Arrow could not be made or read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What a caller can do.
    pub class: ErrorClass,
    /// The row, counted from the index of the first message; none where it is of no single one.
    pub row: Option<u64>,
    /// What is wrong, what was expected, the way out. No row.
    pub reason: Reason,
}

impl Error {
    /// No rows hold it.
    pub(crate) fn refused(class: ErrorClass, reason: impl Into<Reason>) -> Self {
        Self {
            class,
            row: None,
            reason: reason.into(),
        }
    }

    /// The columns are not those of rows.
    pub(crate) fn shape(reason: String) -> Self {
        Self::refused(ErrorClass::Malformed, reason)
    }

    /// A row breaks the rules.
    pub(crate) fn in_row(row: u64, class: ErrorClass, reason: impl Into<Reason>) -> Self {
        Self {
            class,
            row: Some(row),
            reason: reason.into(),
        }
    }
}

impl fmt::Display for Error {
    /// As in `arrow: quad 0, object: expected a term, found null (row 3)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "arrow: {}", self.reason)?;
        match self.row {
            Some(row) => write!(f, " (row {row})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

/// Arrow that cannot be read.
impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        Self::shape(error.to_string())
    }
}

impl From<LimitExceeded> for Error {
    fn from(limit: LimitExceeded) -> Self {
        Self {
            class: ErrorClass::Limit,
            row: None,
            reason: limit.0,
        }
    }
}
