//! Errors in conversions between batches and Arrow.
//!
//! - In: an error from a lower layer. Out: its class, the row if a single row caused it, and a
//!   reason.
//! - Law: an error of the class [`Malformed`](ErrorClass::Malformed) without a row means that the
//!   columns have the wrong types.

use std::fmt;

use arrow_schema::ArrowError;
use rdfm_core::model::error::{ErrorClass, LimitExceeded};
use rdfm_core::model::remedy::Reason;

/// An error in a conversion to or from Arrow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Class of the error.
    pub class: ErrorClass,
    /// Row number, counted from the index of the first message. `None` if no single row caused the
    /// error.
    pub row: Option<u64>,
    /// The problem, the expected value and the remedy, without the row.
    pub reason: Reason,
}

impl Error {
    /// Creates an error for data that rows cannot represent.
    pub(crate) fn with_class(class: ErrorClass, reason: impl Into<Reason>) -> Self {
        Self {
            class,
            row: None,
            reason: reason.into(),
        }
    }

    /// Creates an error for missing columns or columns of the wrong type.
    pub(crate) fn wrong_columns(reason: String) -> Self {
        Self::with_class(ErrorClass::Malformed, reason)
    }

    /// Creates an error in one row.
    pub(crate) fn in_row(row: u64, class: ErrorClass, reason: impl Into<Reason>) -> Self {
        Self {
            class,
            row: Some(row),
            reason: reason.into(),
        }
    }
}

impl fmt::Display for Error {
    /// Formats the error like `arrow: quad 0, object: expected a term, found null (row 3)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "arrow: {}", self.reason)?;
        match self.row {
            Some(row) => write!(f, " (row {row})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

/// Converts an error of the Arrow library, which means that the data cannot be read.
impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        Self::wrong_columns(error.to_string())
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
